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
from typing import Self

from pydantic import Field

from harness.rig.device import LinkRecord, SerialSettings, Surroundings, repeat_read
from harness.rig.errors import (
    CorruptReplyError,
    DeviceRefusalError,
    NoReplyError,
    ShortReplyError,
    WrongEchoError,
)
from harness.rig.text_exchange import TextExchange

CODES = {1: "unknown command", 2: "wrong or missing words", 3: "not now", 4: "device fault"}
LONGEST = 120
_MOST_STALE = 16
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


class AdapterSettings(SerialSettings):
    """What the sections of both adapters may say."""

    baud: int = Field(default=115200, ge=300, le=1_000_000)
    read_repeats: int = Field(default=2, ge=0, le=5)


class Adapter:
    """The host's end. A request is sent once; its sequence number tells a late reply apart."""

    def __init__(self, exchange: TextExchange, read_repeats: int) -> None:
        self.name = exchange.device
        self.link = LinkRecord(exchange.device)
        self._exchange = exchange
        self._read_repeats = read_repeats
        self._sequence = -1

    @classmethod
    def on_line(cls, name: str, settings: AdapterSettings, around: Surroundings) -> Self:
        """Open the adapter's port; nothing is asked yet."""
        exchange = TextExchange(
            around.line(settings.port, settings.framing, name),
            name,
            end=b"\n",
            longest=_MOST_STALE * LONGEST,
            probe=None,
            reply_s=settings.reply_ms / 1000,
            late_s=settings.late_ms / 1000,
        )
        return cls(exchange, settings.read_repeats)

    def read(self, body: str) -> list[str]:
        """Ask what changes nothing; give the words after `OK`."""
        return repeat_read(lambda: self._ask(body), self.link, self._read_repeats)

    def read_number(self, body: str) -> int:
        """Ask for one number."""
        return self.number(self.read(body))

    def order(self, body: str) -> None:
        """Order something, once."""
        with self.link.once():
            self._ask(body)

    def number(self, words: list[str]) -> int:
        """Take the one number out of a reply's words."""
        if len(words) != 1 or not words[0].isdigit():
            raise self.odd(words)
        return int(words[0])

    def odd(self, words: list[str]) -> CorruptReplyError:
        """Give the error for a sound reply whose words are not what was asked for."""
        return CorruptReplyError(
            self.name,
            expected="a reply of the adapter's protocol",
            found=" ".join(words)[:80] or "no words",
            remedy="check the adapter's version",
        )

    def _ask(self, body: str) -> list[str]:
        self._sequence = sequence = (self._sequence + 1) & 0xFF
        return self._exchange.ask(
            line(sequence, body),
            lambda data: reply_size(sequence, data),
            lambda data: parse_reply(sequence, data[data.rfind(b"\n", 0, -1) + 1 :], self.name),
            changes=not body.endswith("?"),
        )


def reply_size(sequence: int, data: bytes) -> int:
    """Give the length up to the end of the reply; 0 while it is not there.

    Replies to a few earlier requests that still come are passed over.
    """
    begins = 0
    while ends := data.find(b"\n", begins) + 1:
        stale = _LINE.fullmatch(data[begins:ends])
        if stale is None or checksum(data[begins : data.rindex(b"*", 0, ends)]) != stale[3]:
            return ends
        if not 0 < (sequence - int(stale[1], 16)) & 0xFF <= _MOST_STALE:
            return ends
        begins = ends
    return 0
