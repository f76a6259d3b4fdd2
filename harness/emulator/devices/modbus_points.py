"""A plain Modbus device: so many points in the coil or the discrete input area.

Some makers (Advantech ADAM-6000) put inputs in the coil area, so a point is an input unless the
bench drives it, whatever its area.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.emulator.devices.modbus_model import (
    ILLEGAL_ADDRESS,
    ILLEGAL_FUNCTION,
    ILLEGAL_VALUE,
    ModbusError,
    ModbusModel,
)
from harness.emulator.wiring import Wiring


class ModbusPoints(ModbusModel):
    """Points `base` to `base + channels - 1` of one area; `outputs` are those that are driven."""

    def __init__(
        self,
        wiring: Wiring,
        device: str,
        *,
        area: str,
        base: int,
        channels: int,
        outputs: frozenset[int],
    ) -> None:
        self._wiring = wiring
        self._device = device
        self._area = area
        self._base = base
        self._channels = channels
        self._outputs = dict.fromkeys(outputs, False)

    def read_coils(self, address: int, count: int) -> Sequence[bool]:
        """Read points of the coil area."""
        return self._read("coil", address, count)

    def read_discretes(self, address: int, count: int) -> Sequence[bool]:
        """Read points of the discrete input area."""
        return self._read("discrete", address, count)

    def write_coil(self, address: int, value: int) -> None:
        """Switch one output."""
        if value not in (0xFF00, 0x0000):
            raise ModbusError(ILLEGAL_VALUE)
        self.write_coils(address, [value == 0xFF00])

    def write_coils(self, address: int, values: Sequence[bool]) -> None:
        """Switch several outputs; all or none."""
        if not self._outputs:
            raise ModbusError(ILLEGAL_FUNCTION)
        channels = range(address - self._base, address - self._base + len(values))
        if any(channel not in self._outputs for channel in channels):
            raise ModbusError(ILLEGAL_ADDRESS)
        for channel, on in zip(channels, values, strict=True):
            self._outputs[channel] = on
            self._wiring.drive((self._device, str(channel)), on)

    def _read(self, area: str, address: int, count: int) -> Sequence[bool]:
        if area != self._area and not (area == "coil" and self._outputs):
            raise ModbusError(ILLEGAL_FUNCTION)
        first = address - self._base
        if first < 0 or first + count > self._channels:
            raise ModbusError(ILLEGAL_ADDRESS)
        return [
            self._outputs[channel]
            if area == "coil" and channel in self._outputs
            else self._wiring.reads((self._device, str(channel)))
            for channel in range(first, first + count)
        ]
