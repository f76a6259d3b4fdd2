"""The lines that our own serial adapters speak (`line-shaker`, `line-terminal`).

No maker of shakers or entry terminals publishes a serial protocol, so this one is ours. It is a
plain request/reply protocol in printable ASCII, 8N1, one reply to each request:

    request   #SS COMMAND[ WORD]...*CC\\n
    reply     #SS OK[ WORD]...*CC\\n
              #SS ERR CODE[ WORD]...*CC\\n

`SS` is the sequence number, two upper-case hexadecimal digits; the host counts 00, 01 ... FF, 00;
the reply carries its request's. `CC` is the sum of all bytes from `#` up to, without, `*`, modulo
256, two upper-case hexadecimal digits. Words are separated by one space and hold no `#`, `*`,
space or line end. A line is at most 120 bytes. An adapter stays silent on a line whose checksum
or form is wrong, and answers a sound line that it does not know with `ERR 1`. A request that
repeats the sequence number and text of the last one is not carried out again: the last reply is
sent again. Codes: 1 unknown command, 2 wrong or missing words, 3 not now, 4 device fault.
"""

from __future__ import annotations

import re
import time

from harness.rig.errors import (
    CorruptReplyError,
    DeviceRefusalError,
    LateReplyError,
    NoReplyError,
    ShortReplyError,
    WrongEchoError,
)
from harness.rig.serial_line import SerialLine

CODES = {1: "unknown command", 2: "wrong or missing words", 3: "not now", 4: "device fault"}
LONGEST = 120
_LINE = re.compile(rb"#([0-9A-F]{2}) ([\x21-\x7e]+(?: [\x21-\x7e]+)*)\*([0-9A-F]{2})\n")


def checksum(data: bytes) -> bytes:
    """Give the two digits after `*` for the bytes before it."""
    return b"%02X" % (sum(data) & 0xFF)


def line(sequence: int, body: str) -> bytes:
    """Give a whole line."""
    text = b"#%02X %b" % (sequence & 0xFF, body.encode("ascii"))
    return text + b"*" + checksum(text) + b"\n"


def parse_reply(sequence: int, data: bytes, device: str) -> list[str]:
    """Take the words after `OK` out of one reply line. Any byte string is safe to pass.

    Raises NoReplyError, ShortReplyError, CorruptReplyError, WrongEchoError (another sequence
    number) or DeviceRefusalError.
    """
    if not data:
        raise NoReplyError(
            device,
            expected=f"a reply to request {sequence:02X}",
            found="silence",
            remedy="check power, wiring and baud rate of the adapter",
            received=b"",
        )
    if not data.endswith(b"\n"):
        raise ShortReplyError(
            device,
            expected="a line to its end",
            found=f"{len(data)} bytes without a line end",
            remedy="check the cable and the baud rate",
            received=data,
        )
    match = _LINE.fullmatch(data)
    if (
        match is None
        or len(data) > LONGEST
        or checksum(data[: data.rindex(b"*")]) != match[3]
        or b"#" in match[2]
        or b"*" in match[2]
    ):
        raise CorruptReplyError(
            device,
            expected="a line with a right checksum",
            found=repr(data[:LONGEST]),
            remedy="check the cable, ground and baud rate",
            received=data,
        )
    if int(match[1], 16) != sequence & 0xFF:
        raise WrongEchoError(
            device,
            expected=f"the reply to request {sequence & 0xFF:02X}",
            found=f"the one to {match[1].decode()}",
            remedy="check for a second program on the port",
            received=data,
        )
    words = match[2].decode("ascii").split(" ")
    if words[0] == "OK":
        return words[1:]
    if words[0] == "ERR" and len(words) > 1 and re.fullmatch("[0-9]{1,3}", words[1]):
        code = int(words[1])
        raise DeviceRefusalError(
            device,
            expected="OK",
            found=f"error {code}, {CODES.get(code, 'unknown')}: {' '.join(words[2:])}".rstrip(": "),
            remedy="see the adapter's protocol",
            received=data,
            code=code,
        )
    raise CorruptReplyError(
        device,
        expected="OK or ERR",
        found=repr(words[0]),
        remedy="check what is on this port",
        received=data,
    )


class AdapterLink:
    """The host's end. A request is sent once; its sequence number tells a late reply apart."""

    def __init__(self, serial: SerialLine, device: str, reply_s: float, late_s: float) -> None:
        self.device = device
        self._serial = serial
        self._reply_s = reply_s
        self._late_s = late_s
        self._sequence = -1

    def ask(self, body: str) -> list[str]:
        """Send one request and give the words after `OK`."""
        serial = self._serial
        with serial.turn:
            serial.subject = self.device
            if body.endswith("?"):
                serial.come_back()
            serial.discard()
            self._sequence = (self._sequence + 1) & 0xFF
            request = line(self._sequence, body)
            serial.write(request)
            wire_s = (len(request) + LONGEST) * serial.framing.char_s
            data = self._reply(time.monotonic() + self._reply_s + wire_s)
            try:
                return parse_reply(self._sequence, data, self.device)
            except NoReplyError:
                late = serial.read_line(b"\n", time.monotonic() + self._late_s, LONGEST)
                if not late:
                    raise
                raise LateReplyError(
                    self.device,
                    expected=f"a reply within {self._reply_s * 1000:.0f} ms",
                    found="one after that, thrown away",
                    remedy="raise reply_ms in the rig file if the adapter is meant to be this slow",
                    received=late,
                ) from None

    def _reply(self, deadline: float) -> bytes:
        """Read a line; replies to earlier requests that still come are passed over."""
        while True:
            data = self._serial.read_line(b"\n", deadline, LONGEST)
            match = _LINE.fullmatch(data)
            if match is None or checksum(data[: data.rindex(b"*")]) != match[3]:
                return data
            behind = (self._sequence - int(match[1], 16)) & 0xFF
            if behind == 0 or behind > 16:
                return data
