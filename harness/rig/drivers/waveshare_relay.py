"""Waveshare Modbus RTU Relay: eight (or 16, 32) relays as coils, with device-timed pulses.

Source: the maker's Modbus RTU Relay protocol: FC01/FC05 coils from 0, "flash on" FC05 at 0x0200 +
channel with a value in steps of 100 ms, software version in holding register 0x8000.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal, Self, cast

from harness.rig.device import Capability, DeviceSettings, Surroundings, numbered, open_closed
from harness.rig.drivers.modbus_serial import ModbusUnit, UnitSettings, maker_version
from harness.rig.modbus_rtu import READ_COILS, read_bits, write_coil
from harness.verdicts import ConfigurationError

_STEP_MS = 100
_FLASH_ON = 0x0200
_MOST_STEPS = 0x7FFF
_ON, _OFF = 0xFF00, 0x0000


class WaveshareRelaySettings(UnitSettings):
    """Section of a `waveshare-relay`. pulse: who times a press, the host (coil) or the relay."""

    channels: Literal[1, 2, 4, 8, 16, 32] = 8
    pulse: Literal["coil", "timed"] = "coil"

    def channel_problem(self, channel: str, use: Capability) -> str | None:
        """Relays are numbered from 0."""
        return numbered(channel, self.channels)

    @property
    def press_step_ms(self) -> int | None:
        """100 ms with timed pulses."""
        return _STEP_MS if self.pulse == "timed" else None


class WaveshareRelay:
    """The relays, opened."""

    settings_type: ClassVar[type[DeviceSettings]] = WaveshareRelaySettings
    provides: ClassVar[frozenset[Capability]] = frozenset({"outputs"})

    def __init__(self, unit: ModbusUnit, settings: WaveshareRelaySettings) -> None:
        self.name = unit.name
        self.link = unit.link
        self._unit = unit
        self._settings = settings

    @classmethod
    def open(cls, name: str, settings: DeviceSettings, around: Surroundings) -> Self:
        """Open the port and read the relays once."""
        own = cast("WaveshareRelaySettings", settings)
        unit = ModbusUnit(name, own, around)
        unit.first_contact(read_bits(own.unit, READ_COILS, 0, own.channels))
        return cls(unit, own)

    def identify(self) -> str | None:
        """Give the software version, as `Modbus RTU Relay V1.00`; None where it has no register."""
        return maker_version(self._unit, "Modbus RTU Relay")

    def switch(self, channel: str, on: bool) -> None:
        """Close or open one relay; sent once."""
        address = int(channel)
        self._unit.write(write_coil(self._settings.unit, address, _ON if on else _OFF))

    def pulse(self, channel: str, seconds: float) -> None:
        """Have the relay close for a whole number of 100 ms steps; sent once."""
        steps = round(seconds * 1000 / _STEP_MS)
        if not 1 <= steps <= _MOST_STEPS or abs(steps * _STEP_MS - seconds * 1000) > 1e-6:
            raise ConfigurationError(
                self.name,
                expected="a pulse in whole steps of 100 ms",
                found=f"{seconds * 1000:g} ms",
                remedy="correct press_ms in the rig file",
            )
        self._unit.write(write_coil(self._settings.unit, _FLASH_ON + int(channel), steps))

    def states(self) -> Mapping[str, bool]:
        """Read every relay back."""
        count = self._settings.channels
        bits = self._unit.read(read_bits(self._settings.unit, READ_COILS, 0, count), count)
        return {str(channel): closed for channel, closed in enumerate(bits)}

    def all_open(self) -> None:
        """Open every relay that reads closed; one that flashes is stopped by that too."""
        open_closed(self)

    def close(self) -> None:
        """Nothing to give back: the line belongs to the bench."""
