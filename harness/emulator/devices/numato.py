"""Numato USB relay and GPIO modules: a serial port over USB with a command prompt.

Source: the maker's command list. The module echoes what it is sent, answers on a line of its own
and prompts with `>`. Channels from 10 on are A, B, C and so on, past F. Firmwares differ in their
line ends (`newline`) and may put notifications, lines that begin with `#`, in between.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.emulator.wiring import Wiring

_INDEX = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
PROMPT = b">"


class Numato:
    """One module; `answer` takes a line without CR and gives what follows its echo."""

    def __init__(
        self,
        wiring: Wiring,
        device: str,
        *,
        relays: int,
        gpios: int,
        newline: bytes = b"\n\r",
        notify: Callable[[], bool] = lambda: False,
    ) -> None:
        self._wiring = wiring
        self._device = device
        self._newline = newline
        self._notify = notify
        self._relays = [False] * relays
        self._gpios = gpios
        self._id = "00000000"

    def answer(self, line: bytes) -> bytes:
        """Answer one line; what is unknown or out of range gets a bare prompt."""
        said = self._said(line.decode("latin-1").split()).encode()
        reply = self._newline
        if self._notify():
            reply += b"#gpio changed" + self._newline
        return reply + (said + self._newline if said else b"") + PROMPT

    def _said(self, words: list[str]) -> str:
        if words == ["ver"]:
            return "00000008"
        if words == ["id", "get"]:
            return self._id
        if len(words) == 3 and words[:2] == ["id", "set"] and len(words[2]) == 8:
            self._id = words[2]
        elif words[:1] == ["relay"]:
            return self._relay(words[1:])
        elif words[:1] == ["gpio"]:
            return self._gpio(words[1:])
        return ""

    def _relay(self, words: list[str]) -> str:
        if words == ["readall"]:
            return _hexadecimal(self._relays)
        if len(words) == 2 and words[0] == "writeall":
            digits = (len(self._relays) + 3) // 4
            if len(words[1]) == digits and all(
                each in "0123456789abcdefABCDEF" for each in words[1]
            ):
                for channel in range(len(self._relays)):
                    self._set(channel, bool(int(words[1], 16) >> channel & 1))
        elif len(words) == 2 and len(words[1]) == 1 and words[1] in _INDEX:
            channel = _INDEX.index(words[1])
            if channel < len(self._relays):
                if words[0] == "read":
                    return "on" if self._relays[channel] else "off"
                if words[0] in ("on", "off"):
                    self._set(channel, words[0] == "on")
        return ""

    def _gpio(self, words: list[str]) -> str:
        if words == ["readall"]:
            return _hexadecimal([self._reads(channel) for channel in range(self._gpios)])
        if len(words) == 2 and words[0] == "read" and len(words[1]) == 1 and words[1] in _INDEX:
            channel = _INDEX.index(words[1])
            if channel < self._gpios:
                return "1" if self._reads(channel) else "0"
        return ""

    def _reads(self, channel: int) -> bool:
        return self._wiring.reads((self._device, f"gpio-{channel}"))

    def _set(self, channel: int, on: bool) -> None:
        self._relays[channel] = on
        self._wiring.drive((self._device, f"relay-{channel}"), on)


def is_press(line: bytes) -> bool:
    """Tell whether a command closes a relay."""
    return line.split()[:2] == [b"relay", b"on"]


def _hexadecimal(bits: list[bool]) -> str:
    digits = max(1, (len(bits) + 3) // 4)
    return f"{sum(bit << channel for channel, bit in enumerate(bits)):0{digits}x}"
