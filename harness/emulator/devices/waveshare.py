"""Waveshare's Modbus RTU relay and input modules.

Source: the maker's published protocol (V2). Relays are coils from 0; coil 0x00FF is all of them;
value 0x5500 toggles; 0x0200+ch pulses a relay on, 0x0400+ch off, for value x 100 ms; registers
0x4000 address, 0x2000 baud rate, 0x8000 version (x 100).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.emulator.clock import Due, Timeline
from harness.emulator.devices.modbus_model import (
    ILLEGAL_ADDRESS,
    ILLEGAL_VALUE,
    ModbusError,
    ModbusModel,
)
from harness.emulator.wiring import Wiring

_ALL = 0x00FF
_FLASH_ON = 0x0200
_FLASH_OFF = 0x0400
_ADDRESS = 0x4000
_BAUD = 0x2000
_VERSION = 0x8000
_BAUDS = (4800, 9600, 19200, 38400, 57600, 115200, 128000, 256000)
PULSE_STEP_S = 0.1


class WaveshareSettings(ModbusModel):
    """The registers that every module of the make has. `unit` is its address on the bus."""

    def __init__(self, unit: int, baud: int) -> None:
        self.unit = unit
        self.on_new_unit: Callable[[int], None] = lambda unit: None
        self._baud = _BAUDS.index(baud) if baud in _BAUDS else 1

    def read_holding(self, address: int, count: int) -> Sequence[int]:
        """Read address, baud rate or version."""
        values = {_ADDRESS: self.unit, _BAUD: self._baud, _VERSION: 200}
        if count != 1 or address not in values:
            raise ModbusError(ILLEGAL_ADDRESS)
        return [values[address]]

    def write_register(self, address: int, value: int) -> None:
        """Set the address (at once) or the baud rate (after a restart)."""
        if address == _ADDRESS:
            if not 1 <= value <= 255:
                raise ModbusError(ILLEGAL_VALUE)
            self.on_new_unit(value)
            self.unit = value
        elif address == _BAUD:
            if value & 0xFF >= len(_BAUDS) or value >> 8 > 2:
                raise ModbusError(ILLEGAL_VALUE)
            self._baud = value & 0xFF
        else:
            raise ModbusError(ILLEGAL_ADDRESS)


class WaveshareRelay(WaveshareSettings):
    """Relays as coils, with pulses timed by the module itself."""

    def __init__(
        self,
        timeline: Timeline,
        wiring: Wiring,
        device: str,
        *,
        unit: int,
        baud: int,
        channels: int,
    ) -> None:
        super().__init__(unit, baud)
        self._timeline = timeline
        self._wiring = wiring
        self._device = device
        self._coils = [False] * channels
        self._pulses: dict[int, Due] = {}

    def read_coils(self, address: int, count: int) -> Sequence[bool]:
        """Read what the coils are set to (not the contacts)."""
        if address + count > len(self._coils):
            raise ModbusError(ILLEGAL_ADDRESS)
        return self._coils[address : address + count]

    def write_coil(self, address: int, value: int) -> None:
        """Switch, toggle or pulse one relay or all of them."""
        channel = address & 0xFF
        if channel == _ALL:
            channels = list(range(len(self._coils)))
        elif channel < len(self._coils):
            channels = [channel]
        else:
            raise ModbusError(ILLEGAL_ADDRESS)
        command = address & 0xFF00
        if command in (_FLASH_ON, _FLASH_OFF):
            if value > 0x7FFF:
                raise ModbusError(ILLEGAL_VALUE)
            for each in channels:
                self._pulse(each, command == _FLASH_ON, value * PULSE_STEP_S)
        elif command:
            raise ModbusError(ILLEGAL_ADDRESS)
        elif value not in (0xFF00, 0x0000, 0x5500):
            raise ModbusError(ILLEGAL_VALUE)
        else:
            for each in channels:
                self._set(each, not self._coils[each] if value == 0x5500 else value == 0xFF00)

    def write_coils(self, address: int, values: Sequence[bool]) -> None:
        """Switch several relays."""
        if address + len(values) > len(self._coils):
            raise ModbusError(ILLEGAL_ADDRESS)
        for offset, value in enumerate(values):
            self._set(address + offset, value)

    def _pulse(self, channel: int, on: bool, seconds: float) -> None:
        """Put a relay on (or off) for a time; no time at all leaves it off."""
        self._set(channel, on and seconds > 0)
        if seconds > 0:
            self._pulses[channel] = self._timeline.after(
                seconds, lambda: self._set(channel, not on)
            )

    def _set(self, channel: int, on: bool) -> None:
        pulse = self._pulses.pop(channel, None)
        if pulse is not None:
            pulse.cancel()
        self._coils[channel] = on
        self._wiring.drive((self._device, str(channel)), on)


class WaveshareInputs(WaveshareSettings):
    """Eight inputs as discrete inputs."""

    def __init__(self, wiring: Wiring, device: str, unit: int, baud: int, channels: int) -> None:
        super().__init__(unit, baud)
        self._wiring = wiring
        self._device = device
        self._channels = channels

    def read_discretes(self, address: int, count: int) -> Sequence[bool]:
        """Read inputs."""
        if address + count > self._channels:
            raise ModbusError(ILLEGAL_ADDRESS)
        return [
            self._wiring.reads((self._device, str(channel)))
            for channel in range(address, address + count)
        ]
