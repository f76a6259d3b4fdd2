"""Advantech ADAM-4000 digital modules, and ICP DAS ones with their host watchdog: ASCII lines.

Source: ADAM 4000 manual, digital I/O command set; ICP DAS DCON protocol for `~` commands.
A line ends with CR; with checksums on, two hexadecimal digits before it are the sum of all
characters before them modulo 256. Valid commands are answered by `!...` or `>`, invalid ones by
`?AA`; a syntax or checksum error, or another module's address, by silence. While a host watchdog
has tripped, outputs are open and output commands are answered by `!`, which says "ignored".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from harness.emulator.clock import Due, Timeline
from harness.emulator.wiring import Wiring

_BAUD_CODES = {1200: 3, 2400: 4, 4800: 5, 9600: 6, 19200: 7, 38400: 8, 57600: 9, 115200: 10}


@dataclass(frozen=True, slots=True)
class AdamModel:
    """How many outputs and inputs a model has, and how `$AA6` packs them into hexadecimal."""

    outputs: int
    inputs: int
    pack: Callable[[int, int], str]


MODELS = {
    "4050": AdamModel(8, 7, lambda out, data: f"{out:02X}{data:02X}00"),
    "4051": AdamModel(0, 16, lambda out, data: f"{data:04X}00"),
    "4052": AdamModel(0, 8, lambda out, data: f"{data:02X}0000"),
    "4053": AdamModel(0, 16, lambda out, data: f"{data:04X}00"),
    "4055": AdamModel(8, 8, lambda out, data: f"{out:02X}{data:02X}00"),
    "4060": AdamModel(4, 0, lambda out, data: f"{out:02X}0000"),
    "4068": AdamModel(8, 0, lambda out, data: f"{out:02X}0000"),
}
_FORM = re.compile(r"([$#%~])([0-9A-F]{2}|\*\*)([0-9A-Z]*)")


class Adam4000:
    """One module; `answer` takes a line without CR and gives a whole reply."""

    def __init__(
        self,
        timeline: Timeline,
        wiring: Wiring,
        device: str,
        *,
        model: str,
        address: int,
        checksum: bool,
        baud: int,
    ) -> None:
        self._timeline = timeline
        self._wiring = wiring
        self._device = device
        self._name = model
        self._model = MODELS[model]
        self._address = f"{address:02X}"
        self._checksum = checksum
        self._baud = baud
        self._outputs = 0
        self._watchdog_s: float | None = None
        self._watchdog: Due | None = None
        self._tripped = False
        self._was_reset = True
        self._sampled: str | None = None

    def answer(self, line: bytes) -> bytes:
        """Answer one line."""
        text = self._body(line)
        match = None if text is None else _FORM.fullmatch(text)
        if match is None:
            return b""
        lead, address, rest = match.groups()
        if address == "**":
            self._to_all(lead)
            return b""
        if address != self._address:
            return b""
        reply = {"$": self._ask, "#": self._write, "~": self._guard}.get(lead, self._invalid)(rest)
        return self._line(reply) if reply else b""

    def _body(self, line: bytes) -> str | None:
        if not line.isascii():
            return None
        if not self._checksum:
            return line.decode("ascii")
        body, given = line[:-2], line[-2:]
        return body.decode("ascii") if body and given == _sum(body) else None

    def _line(self, reply: str) -> bytes:
        data = reply.encode("ascii")
        return data + (_sum(data) if self._checksum else b"") + b"\r"

    def _to_all(self, lead: str) -> None:
        if lead == "#":
            self._sampled = self._channels()
        elif lead == "~":
            self._feed()

    def _ask(self, rest: str) -> str:
        if rest == "6":
            return f"!{self._channels()}"
        if rest == "4" and self._sampled is not None:
            return f"!1{self._sampled}"
        if rest == "M":
            return f"!{self._address}{self._name}"
        if rest == "F":
            return f"!{self._address}A2.00"
        if rest == "2":
            checksum = 0x40 if self._checksum else 0
            return f"!{self._address}40{_BAUD_CODES.get(self._baud, 6):02X}{checksum:02X}"
        if rest == "5":
            was_reset, self._was_reset = self._was_reset, False
            return f"!{self._address}{int(was_reset)}"
        return self._invalid(rest)

    def _write(self, rest: str) -> str:
        match = re.fullmatch(r"(00|0[A-B]|[1AB][0-9A-F])([0-9A-F]{2})", rest)
        if match is None or not self._model.outputs:
            return self._invalid(rest)
        where, value = match[1], int(match[2], 16)
        mask = (1 << self._model.outputs) - 1
        if where[0] == "0":
            wanted = value & mask
        elif value > 1 or int(where[1], 16) >= self._model.outputs:
            return self._invalid(rest)
        else:
            bit = 1 << int(where[1], 16)
            wanted = self._outputs | bit if value else self._outputs & ~bit
        if self._tripped:
            return "!"
        self._drive(wanted)
        return ">"

    def _guard(self, rest: str) -> str:
        """Serve the host watchdog: `0` status, `1` clear, `2` setting, `3EVV` set."""
        if rest == "0":
            status = (0x80 if self._watchdog_s else 0) | (0x04 if self._tripped else 0)
            return f"!{self._address}{status:02X}"
        if rest == "1":
            self._tripped = False
            return f"!{self._address}"
        if rest == "2":
            enabled, tenths = bool(self._watchdog_s), round((self._watchdog_s or 0) * 10)
            return f"!{self._address}{int(enabled)}{tenths:02X}"
        match = re.fullmatch(r"3([01])([0-9A-F]{2})", rest)
        if match is None or (match[1] == "1" and match[2] == "00"):
            return self._invalid(rest)
        self._watchdog_s = int(match[2], 16) / 10 if match[1] == "1" else None
        self._feed()
        return f"!{self._address}"

    def _invalid(self, _rest: str) -> str:
        return f"?{self._address}"

    def _feed(self) -> None:
        if self._watchdog is not None:
            self._watchdog.cancel()
        if self._watchdog_s is not None:
            self._watchdog = self._timeline.after(self._watchdog_s, self._trip)

    def _trip(self) -> None:
        self._tripped, self._watchdog_s = True, None
        self._drive(0)

    def _drive(self, outputs: int) -> None:
        changed, self._outputs = self._outputs ^ outputs, outputs
        for channel in range(self._model.outputs):
            if changed >> channel & 1:
                self._wiring.drive((self._device, f"out-{channel}"), bool(outputs >> channel & 1))

    def _channels(self) -> str:
        data = sum(
            self._wiring.reads((self._device, str(channel))) << channel
            for channel in range(self._model.inputs)
        )
        return self._model.pack(self._outputs, data)


def is_press(line: bytes) -> bool:
    """Tell whether a command switches an output on."""
    return line.startswith(b"#") and line[3:4] != b"*" and line[5:7] != b"00"


def disguised(reply: bytes, checksum: bool) -> bytes:
    """Give a reply that names another module, where it names one; else one that says `?`."""
    body = reply[:-3] if checksum else reply[:-1]
    body = b"?" + (b"7F" if body[1:3] != b"7F" else b"7E")
    return body + (_sum(body) if checksum else b"") + b"\r"


def _sum(data: bytes) -> bytes:
    return b"%02X" % (sum(data) & 0xFF)
