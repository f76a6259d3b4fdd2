"""What the Modbus RTU drivers share: a unit on a bus, reads that may be repeated."""

from __future__ import annotations

import time
from typing import Literal

from pydantic import Field

from harness.rig.device import LinkRecord, SerialSettings, Surroundings, repeat_read
from harness.rig.errors import CorruptReplyError, NoReplyError, RigError, ShortReplyError
from harness.rig.modbus_rtu import Request, RtuMaster, bits_of, read_registers
from harness.rig.serial_line import Framing, SerialLine

_RATES = (9600, 19200, 38400, 57600, 115200, 4800, 2400)
_MAYBE_BAUD = (NoReplyError, CorruptReplyError, ShortReplyError)


class UnitSettings(SerialSettings):
    """A unit on a Modbus RTU bus."""

    unit: int = Field(default=1, ge=1, le=247)
    read_repeats: int = Field(default=2, ge=0, le=5)

    @property
    def bus_address(self) -> int | None:
        """The unit number."""
        return self.unit


Area = Literal["discrete", "coil"]
READ_FUNCTION = {"discrete": 0x02, "coil": 0x01}


class ModbusUnit:
    """One unit, opened: reads are repeated if their reply is spoilt, writes never."""

    def __init__(self, name: str, settings: UnitSettings, around: Surroundings) -> None:
        self.name = name
        self.settings = settings
        self.link = LinkRecord(name)
        line = around.line(settings.port, settings.framing, name)
        self.master = RtuMaster(line, settings.reply_ms / 1000, settings.late_ms / 1000)

    def read(self, request: Request, count: int) -> tuple[bool, ...]:
        """Read `count` bits."""
        data = repeat_read(
            lambda: self.master.exchange(request, self.name), self.link, self.settings.read_repeats
        )
        return bits_of(data, count)

    def write(self, request: Request) -> None:
        """Write once."""
        with self.link.once():
            self.master.exchange(request, self.name)

    def first_contact(self, request: Request) -> None:
        """Hear from the unit once; where it is silent, find out whether the baud rate is why."""
        try:
            self.read(request, 1)
        except _MAYBE_BAUD as error:
            rate = _rate_that_answers(self.master.line, request, self.name)
            if rate is None:
                raise
            raise type(error)(
                self.name,
                expected=f"an answer at {self.settings.baud} baud, as the rig file says",
                found=f"none, but one at {rate} baud",
                remedy=f"set baud = {rate} in the rig file, or change the device's rate",
                received=error.received,
            ) from error


def maker_version(unit: ModbusUnit, product: str) -> str | None:
    """Give a Waveshare module's software version, None where register 0x8000 is not answered."""
    try:
        ask = read_registers(unit.settings.unit, 0x8000, 1)
        data = unit.master.exchange(ask, unit.name, late_s=0)
    except RigError:
        return None
    return f"{product} V{int.from_bytes(data, 'big') / 100:.2f}"


def _rate_that_answers(line: SerialLine, request: Request, name: str) -> int | None:
    """Put a harmless question at other usual rates; give the first that is answered soundly.

    An answer counts only if it comes again, twice, after a quiet while: else it may be the late
    answer to a question put before.
    """
    configured = line.framing
    try:
        for rate in _RATES:
            if rate == configured.baud:
                continue
            line.close()
            line.framing = Framing(rate, configured.bits, configured.parity, configured.stop)
            line.open()
            master = RtuMaster(line, reply_s=0.12, late_s=0)
            try:
                master.exchange(request, name)
                line.read_until_silence(0.5, time.monotonic() + 1.0)
                master.exchange(request, name)
                master.exchange(request, name)
            except RigError:
                continue
            return rate
    finally:
        line.close()
        line.framing = configured
        line.open()
    return None
