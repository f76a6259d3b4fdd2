"""Modbus RTU inputs: any unit whose inputs are coils (FC01) or discrete inputs (FC02).

Source: MODBUS Application Protocol V1.1b3, 6.1 and 6.2 (at most 2000 bits a request).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from pydantic import Field

from harness.rig.device import Capability, DeviceSettings, Surroundings, numbered
from harness.rig.drivers.modbus_serial import READ_FUNCTION, Area, ModbusUnit, UnitSettings
from harness.rig.modbus_rtu import read_bits


class ModbusInputsSettings(UnitSettings):
    """Section of a `modbus-rtu`: area, address of the first input, how many there are."""

    area: Area = "discrete"
    base: int = Field(default=0, ge=0, le=0xFFFF)
    channels: int = Field(ge=1, le=2000)
    invert: bool = False

    def channel_problem(self, channel: str, use: Capability) -> str | None:
        """Inputs are numbered from 0."""
        return numbered(channel, self.channels)


class ModbusInputs:
    """The inputs, opened. One read takes every input at one time, in one exchange."""

    settings_type: ClassVar[type[DeviceSettings]] = ModbusInputsSettings
    provides: ClassVar[frozenset[Capability]] = frozenset({"inputs"})

    def __init__(self, unit: ModbusUnit, settings: ModbusInputsSettings) -> None:
        self.name = unit.name
        self.link = unit.link
        self._unit = unit
        self._settings = settings
        self._request = read_bits(
            settings.unit, READ_FUNCTION[settings.area], settings.base, settings.channels
        )

    @classmethod
    def open(cls, name: str, settings: DeviceSettings, around: Surroundings) -> Self:
        """Open the port and read the inputs once."""
        own = cast("ModbusInputsSettings", settings)
        unit = ModbusUnit(name, own, around)
        inputs = cls(unit, own)
        unit.first_contact(inputs._request)
        return inputs

    def identify(self) -> str | None:
        """Modbus inputs of this kind do not say what they are."""
        return None

    def read(self, channels: Sequence[str]) -> Mapping[str, bool]:
        """Read these inputs, all in one exchange."""
        bits = self._unit.read(self._request, self._settings.channels)
        invert = self._settings.invert
        return {channel: bits[int(channel)] != invert for channel in channels}

    def close(self) -> None:
        """Nothing to give back: the line belongs to the bench."""
