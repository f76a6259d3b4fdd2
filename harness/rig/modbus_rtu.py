"""A small Modbus RTU master.

Source: MODBUS over Serial Line V1.02 (2.5.1: frames, t3.5 silence, CRC) and MODBUS Application
Protocol V1.1b3 (functions, exception codes). A request is sent once: nothing here sends again.
Replies are read to their exact length, and silence, a broken-off frame, a bad CRC, another unit,
another function, an answer to another question and an exception reply are distinct errors.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache

from harness.rig.errors import (
    CorruptReplyError,
    DeviceRefusalError,
    LateReplyError,
    NoReplyError,
    ReplyError,
    ShortReplyError,
    WrongEchoError,
    WrongFunctionError,
    WrongUnitError,
)
from harness.rig.serial_line import SerialLine

READ_COILS = 0x01
READ_DISCRETE_INPUTS = 0x02
READ_HOLDING_REGISTERS = 0x03
WRITE_SINGLE_COIL = 0x05
_READS = (READ_COILS, READ_DISCRETE_INPUTS, READ_HOLDING_REGISTERS)

EXCEPTIONS = {
    1: "illegal function",
    2: "illegal data address",
    3: "illegal data value",
    4: "server device failure",
    5: "acknowledge",
    6: "server device busy",
    8: "memory parity error",
    10: "gateway path unavailable",
    11: "gateway target device failed to respond",
}
_IDLE = b"\x00\xff"
"""No unit answers from 0 or 255: such bytes are a line that idles while drivers switch over."""
_EXCEPTION_SIZE = 5
_MOST_BYTES = 512
_AWAKE_S = 0.00015
_TAIL_S = 0.1
"""A frame that began must go on within this time (USB adapters hold bytes back up to 16 ms)."""


def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0xA001 if crc & 1 else 0)
        table.append(crc)
    return tuple(table)


_CRC = _crc_table()


def crc16(data: bytes) -> bytes:
    """Give the CRC of a frame as its two bytes on the wire, low byte first."""
    crc = 0xFFFF
    for byte in data:
        crc = (crc >> 8) ^ _CRC[(crc ^ byte) & 0xFF]
    return crc.to_bytes(2, "little")


def gap_s(baud: int, char_s: float) -> float:
    """Give the silence t3.5 between frames in seconds: 3.5 characters, 1.75 ms above 19200."""
    return 0.00175 if baud > 19200 else 3.5 * char_s


@lru_cache(maxsize=1024)
def _frame(unit: int, function: int, body: bytes) -> bytes:
    head = bytes((unit, function)) + body
    return head + crc16(head)


@dataclass(frozen=True, slots=True)
class Request:
    """One question: unit, function, the bytes after it, and how many bytes a sound reply has.

    `echo`: the reply repeats the request (single writes).
    """

    unit: int
    function: int
    body: bytes
    reply_size: int
    echo: bool = False

    @property
    def frame(self) -> bytes:
        """Give the request as sent."""
        return _frame(self.unit, self.function, self.body)


def read_bits(unit: int, function: int, start: int, count: int) -> Request:
    """Ask for `count` coils (0x01) or discrete inputs (0x02) from address `start`."""
    body = start.to_bytes(2, "big") + count.to_bytes(2, "big")
    return Request(unit, function, body, 5 + (count + 7) // 8)


def read_registers(unit: int, start: int, count: int) -> Request:
    """Ask for `count` holding registers from address `start`."""
    body = start.to_bytes(2, "big") + count.to_bytes(2, "big")
    return Request(unit, READ_HOLDING_REGISTERS, body, 5 + 2 * count)


def write_coil(unit: int, address: int, value: int) -> Request:
    """Write one coil with a raw 16-bit value (0xFF00 on, 0x0000 off, or a maker's own)."""
    body = address.to_bytes(2, "big") + value.to_bytes(2, "big")
    return Request(unit, WRITE_SINGLE_COIL, body, 8, echo=True)


def bits_of(data: bytes, count: int) -> tuple[bool, ...]:
    """Unpack bits, lowest address in the lowest bit of the first byte."""
    return tuple(bool(data[i // 8] >> (i % 8) & 1) for i in range(count))


def parse_reply(request: Request, frame: bytes, device: str) -> bytes:
    """Take the data out of one whole reply frame (the bytes between function and CRC).

    For reads the byte count is checked and left out. Raises the `ReplyError` that fits; any byte
    string is safe to pass.
    """
    if not frame:
        raise NoReplyError(
            device,
            expected=f"a reply of {request.reply_size} bytes from unit {request.unit}",
            found="silence",
            remedy="check power, wiring (A/B), unit number and baud rate",
            received=b"",
        )
    if len(frame) < 4 or crc16(frame[:-2]) != frame[-2:]:
        if len(frame) < request.reply_size and _is_prefix(request, frame):
            raise _short(request, frame, device)
        raise CorruptReplyError(
            device,
            expected="a reply with a right CRC",
            found=f"CRC wrong over {len(frame)} bytes",
            remedy="check wiring, termination, ground and baud rate",
            received=frame,
        )
    if frame[0] != request.unit:
        raise WrongUnitError(
            device,
            expected=f"a reply of unit {request.unit}",
            found=f"unit {frame[0]}",
            remedy="give every module on the bus its own unit number",
            received=frame,
        )
    if frame[1] == request.function | 0x80 and len(frame) == _EXCEPTION_SIZE:
        code = frame[2]
        raise DeviceRefusalError(
            device,
            expected=f"a reply to function {request.function:#04x}",
            found=f"exception {code}, {EXCEPTIONS.get(code, 'not in the specification')}",
            remedy="compare channel numbers and area in the rig file with the module's manual",
            received=frame,
            code=code,
        )
    if frame[1] != request.function:
        raise WrongFunctionError(
            device,
            expected=f"a reply to function {request.function:#04x}",
            found=f"function {frame[1]:#04x}",
            remedy="check for a second master on the bus and the module's type",
            received=frame,
        )
    if len(frame) != request.reply_size:
        raise _short(request, frame, device)
    if request.echo:
        if frame[2:-2] != request.body:
            raise WrongEchoError(
                device,
                expected=f"the echo {request.body.hex(' ')}",
                found=frame[2:-2].hex(" "),
                remedy="check for a second master on the bus",
                received=frame,
            )
        return frame[2:-2]
    if frame[2] != len(frame) - 5:
        raise _short(request, frame, device)
    return frame[3:-2]


def _is_prefix(request: Request, frame: bytes) -> bool:
    """Tell a sound frame that broke off from noise."""
    head = bytes((request.unit, request.function))
    if request.echo:
        head += request.body
    elif request.function != WRITE_SINGLE_COIL:
        head += bytes((request.reply_size - 5,))
    size = min(len(frame), len(head))
    return frame[:size] == head[:size]


def _short(request: Request, frame: bytes, device: str) -> ShortReplyError:
    return ShortReplyError(
        device,
        expected=f"a reply of {request.reply_size} bytes",
        found=f"{len(frame)} bytes",
        remedy="check the cable and the number of channels in the rig file",
        received=frame,
    )


def _sleep(seconds: float) -> None:
    """Sleep; the last of it awake, since the system's sleep overshoots by about as much."""
    end = time.monotonic() + seconds
    if seconds > _AWAKE_S:
        time.sleep(seconds - _AWAKE_S)
    while time.monotonic() < end:
        pass


class RtuMaster:
    """The one master on a line. Exchanges of several threads take turns.

    reply_s: how long a unit may take from the end of the request to the start of its reply.
    late_s: how long after a time-out a late reply is waited for and thrown away, so that it is
    never taken for the answer to the next question.
    """

    def __init__(self, line: SerialLine, reply_s: float = 0.3, late_s: float = 1.5) -> None:
        self.line = line
        self.reply_s = reply_s
        self.late_s = late_s
        self._gap_s = gap_s(line.framing.baud, line.framing.char_s)
        self._doubtful = False

    def exchange(self, request: Request, device: str, late_s: float | None = None) -> bytes:
        """Send one request once and give its reply's data.

        late_s: for a question that the unit may not know, how long a late reply is waited for at
        once; the next question makes sure of it in any case.
        Raises a `ReplyError`, or LinkLostError where the port went away.
        """
        line = self.line
        with line.turn:
            line.subject = device
            if request.function in _READS:
                line.come_back()
            if self._doubtful:
                self._resynchronise(request, device)
            return self._ask(request, device, late_s)

    def _ask(self, request: Request, device: str, late_s: float | None = None) -> bytes:
        line = self.line
        self._await_gap()
        frame = request.frame
        line.write(frame)
        sent_at = time.monotonic() + len(frame) * line.framing.char_s
        idle, reply, beyond = self._receive(request, sent_at)
        try:
            return parse_reply(request, reply or idle, device)
        except NoReplyError as silence:
            raise self._after_silence(silence, sent_at, late_s) from None
        except CorruptReplyError as error:
            if not reply:
                raise self._after_silence(error, sent_at, late_s) from None
            # have all of it in the record, and a silent line for the next question
            heard = reply + beyond + self._until_silence()
            if request.function in _READS and heard.startswith(frame):
                raise CorruptReplyError(
                    device,
                    expected="a reply",
                    found="the request itself, come back",
                    remedy="switch off the echo of the RS-485 adapter",
                    received=heard,
                ) from None
            return parse_reply(request, heard, device)

    def _resynchronise(self, request: Request, device: str) -> None:
        """After a silence: put a harmless question, then throw away all that still comes.

        A unit answers in order, so once it answered this, an answer to the question that went
        silent is either here or will never come.
        """
        probe = request
        if request.function == WRITE_SINGLE_COIL:
            probe = read_bits(request.unit, READ_COILS, 0, 1)
        try:
            self._ask(probe, device)
        except (NoReplyError, LateReplyError):
            raise
        except ReplyError:
            pass  # whatever it says, it is an answer, and it is thrown away
        while self.line.read_exactly(1, time.monotonic() + self.reply_s):
            self._until_silence()
        self._doubtful = False

    def _await_gap(self) -> None:
        """Wait until the line has been silent for t3.5; whatever lay in the input is stale."""
        line = self.line
        give_up = time.monotonic() + 0.5
        while True:
            stale = line.discard()
            wait = line.quiet_since + self._gap_s - time.monotonic()
            if wait <= 0:
                return
            if stale and time.monotonic() > give_up:
                raise CorruptReplyError(
                    line.subject,
                    expected="a silent line before a request",
                    found="bytes that nobody asked for, without end",
                    remedy="look for a second master or a wrong baud rate",
                    received=stale[-64:],
                )
            _sleep(wait)

    def _receive(self, request: Request, sent_at: float) -> tuple[bytes, bytes, bytes]:
        """Collect one reply to its exact length; give what idled before it, it, what came beyond.

        A frame that began must go on; bytes that begin no reply to this request do not cut the
        time short in which the reply may come.
        """
        line, char_s = self.line, self.line.framing.char_s
        deadline = sent_at + self.reply_s + self._gap_s + _EXCEPTION_SIZE * char_s
        asked = bytes((request.unit, request.function))
        refused = bytes((request.unit, request.function | 0x80))
        idle = data = b""
        while True:
            size = request.reply_size if asked.startswith(data[:2]) else _EXCEPTION_SIZE
            if len(data) >= size:
                break
            chunk = line.read_some(_MOST_BYTES, deadline)
            if not chunk:
                return idle, data, b""
            if not data:
                begin = chunk.lstrip(_IDLE)
                idle += chunk[: len(chunk) - len(begin)]
                chunk = begin
            data += chunk
            if not data:
                if len(idle) >= _MOST_BYTES:
                    return idle, data, b""
                continue
            goes_on = time.monotonic() + (size - len(data)) * char_s + _TAIL_S
            began = asked.startswith(data[:2]) or refused.startswith(data[:2])
            deadline = goes_on if began else max(deadline, goes_on)
        return idle, data[:size], data[size:]

    def _until_silence(self) -> bytes:
        silence = max(self._gap_s, 0.02)
        return self.line.read_until_silence(silence, time.monotonic() + 0.5)

    def _after_silence(
        self, silence: ReplyError, sent_at: float, late_s: float | None
    ) -> ReplyError:
        """Wait for a late reply and throw it away: the next question starts on a clean line."""
        self._doubtful = True
        wait_s = self.late_s if late_s is None else late_s
        head = self.line.read_exactly(1, time.monotonic() + wait_s)
        if not head:
            return silence
        late_ms = (time.monotonic() - sent_at) * 1000
        late = head + self._until_silence()
        self._doubtful = False
        return LateReplyError(
            silence.subject,
            expected=f"a reply within {self.reply_s * 1000:.0f} ms",
            found=f"one of {len(late)} bytes after {late_ms:.0f} ms, thrown away",
            remedy="raise reply_ms in the rig file if the device is meant to be this slow",
            received=late,
        )
