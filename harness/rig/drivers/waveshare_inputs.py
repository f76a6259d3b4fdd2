"""Waveshare Modbus RTU IO 8CH: eight discrete inputs.

Source: the maker's protocol: FC02 inputs from 0, software version in holding register 0x8000.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from harness.rig.device import Capability, DeviceSettings, Surroundings, numbered
from harness.rig.drivers.modbus_serial import ModbusUnit, UnitSettings, maker_version
from harness.rig.modbus_rtu import READ_DISCRETE_INPUTS, read_bits

_INPUTS = 8


class WaveshareInputsSettings(UnitSettings):
    """Section of a `waveshare-inputs`; invert: inputs that read 1 when idle."""

    invert: bool = False

    def channel_problem(self, channel: str, use: Capability) -> str | None:
        """Inputs are numbered from 0."""
        return numbered(channel, _INPUTS)


class WaveshareInputs:
    """The inputs, opened. One exchange reads all eight."""

    settings_type: ClassVar[type[DeviceSettings]] = WaveshareInputsSettings
    provides: ClassVar[frozenset[Capability]] = frozenset({"inputs"})

    def __init__(self, unit: ModbusUnit, settings: WaveshareInputsSettings) -> None:
        self.name = unit.name
        self.link = unit.link
        self._unit = unit
        self._invert = settings.invert
        self._request = read_bits(settings.unit, READ_DISCRETE_INPUTS, 0, _INPUTS)

    @classmethod
    def open(cls, name: str, settings: DeviceSettings, around: Surroundings) -> Self:
        """Open the port and read the inputs once."""
        own = cast("WaveshareInputsSettings", settings)
        inputs = cls(ModbusUnit(name, own, around), own)
        inputs._unit.first_contact(inputs._request)
        return inputs

    def identify(self) -> str | None:
        """Give the software version; None where the module has no such register."""
        return maker_version(self._unit, "Modbus RTU IO 8CH")

    def read(self, channels: Sequence[str]) -> Mapping[str, bool]:
        """Read these inputs, all in one exchange."""
        bits = self._unit.read(self._request, _INPUTS)
        return {channel: bits[int(channel)] != self._invert for channel in channels}

    def close(self) -> None:
        """Nothing to give back: the line belongs to the bench."""
