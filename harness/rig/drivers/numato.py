"""Numato USB relay and GPIO modules: a serial port over USB with a command prompt.

Source: the maker's command list. The module echoes the command, gives its answer on a line of its
own and prompts with `>`; line ends differ by firmware (CR, LF CR, CR LF). Channels from 10 on are
written A, B, C and so on, past F. Lines that begin with `#` are notifications and may come in
between.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from pydantic import Field

from harness.rig.device import (
    Capability,
    DeviceSettings,
    LinkRecord,
    SerialSettings,
    Surroundings,
    no_pulse,
    numbered,
    open_closed,
    repeat_read,
)
from harness.rig.errors import (
    CorruptReplyError,
    NoReplyError,
    ShortReplyError,
    WrongEchoError,
)
from harness.rig.serial_line import SerialLine
from harness.rig.text_exchange import TextExchange

_INDEX = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
_LONGEST = 512
_IDLE = b"\x00\xff"


class NumatoSettings(SerialSettings):
    """Section of a `numato`: how many relays and GPIOs the module has.

    Channels are `relay-N` and `gpio-N`, N in decimal.
    """

    baud: int = Field(default=19200, ge=300, le=1_000_000)
    relays: int = Field(default=0, ge=0, le=32)
    gpios: int = Field(default=0, ge=0, le=32)
    invert: bool = False
    read_repeats: int = Field(default=2, ge=0, le=5)

    @property
    def has_checksum(self) -> bool:
        """The command lines have none."""
        return False

    def channel_problem(self, channel: str, use: Capability) -> str | None:
        """Relays are outputs, GPIOs inputs."""
        word, count = ("relay", self.relays) if use == "outputs" else ("gpio", self.gpios)
        if count == 0:
            return f"a module with {word}s set in the rig file"
        prefix, dash, number = channel.partition("-")
        if prefix == word and dash and numbered(number, count) is None:
            return None
        return f"{word}-0 to {word}-{count - 1}"


def reply_size(command: str, data: bytes) -> int:
    """Give the length up to the prompt that follows a command's echo; 0 while it is not there.

    A prompt that came before, of what an earlier program left behind, is passed over.
    """
    echo = data.find(command.encode("ascii"))
    return 0 if echo < 0 else data.find(b">", echo) + 1


def parse_reply(command: str, data: bytes, device: str) -> str:
    """Take the answer out of what came up to the prompt: `""` where there is none.

    Any byte string is safe to pass. Raises NoReplyError, ShortReplyError (no prompt),
    WrongEchoError (another command's echo) or CorruptReplyError.
    """
    if not data:
        raise NoReplyError(
            device,
            expected=f"an echo of {command!r}",
            found="silence",
            remedy="check the USB cable and the port",
            received=b"",
        )
    if not data.endswith(b">"):
        raise ShortReplyError(
            device,
            expected="an answer up to the prompt",
            found=repr(data[-40:]),
            remedy="check the USB cable",
            received=data,
        )
    try:
        text = data[:-1].lstrip(_IDLE).decode("ascii")
    except UnicodeDecodeError:
        raise _corrupt(data, device) from None
    lines = [line.strip() for line in re.split("[\r\n]+", text)]
    lines = [line.lstrip("> ") for line in lines if line and not line.startswith("#")]
    lines = [line for line in lines if line]
    if not lines or lines[0] != command:
        raise WrongEchoError(
            device,
            expected=f"the echo {command!r}",
            found=repr(lines[0][:40]) if lines else "none",
            remedy="close other programs that use the port",
            received=data,
        )
    if len(lines) > 2:
        raise _corrupt(data, device)
    return lines[1] if len(lines) == 2 else ""


def _corrupt(data: bytes, device: str) -> CorruptReplyError:
    return CorruptReplyError(
        device,
        expected="an echo and at most one line",
        found=repr(data[:80]),
        remedy="check the module's firmware",
        received=data,
    )


class Numato:
    """The module, opened."""

    settings_type: ClassVar[type[DeviceSettings]] = NumatoSettings
    provides: ClassVar[frozenset[Capability]] = frozenset({"inputs", "outputs"})

    def __init__(self, name: str, settings: NumatoSettings, line: SerialLine) -> None:
        self.name = name
        self.link = LinkRecord(name)
        self._settings = settings
        self._exchange = TextExchange(
            line,
            name,
            end=b">",
            longest=_LONGEST,
            probe=b"\r",
            reply_s=settings.reply_ms / 1000,
            late_s=settings.late_ms / 1000,
        )

    @classmethod
    def open(cls, name: str, settings: DeviceSettings, around: Surroundings) -> Self:
        """Open the port and ask for the version once."""
        own = cast("NumatoSettings", settings)
        line = around.line(own.port, own.framing, name)
        module = cls(name, own, line)
        with line.turn:
            # an empty command ends whatever half a command an earlier program left behind
            line.subject = name
            line.write(b"\r")
            line.read_until_silence(0.03, time.monotonic() + 0.3)
        module._read("ver")
        return module

    def identify(self) -> str | None:
        """Give version and id, as `ver 00000008 id 00000000`."""
        return f"ver {self._read('ver')} id {self._read('id get')}"

    def read(self, channels: Sequence[str]) -> Mapping[str, bool]:
        """Read these GPIOs, all in one exchange."""
        text = self._read("gpio readall")
        if not re.fullmatch("[0-9A-Fa-f]{1,8}", text):
            raise self._odd(text, "hexadecimal digits")
        bits, invert = int(text, 16), self._settings.invert
        return {
            channel: bool(bits >> int(channel.removeprefix("gpio-")) & 1) != invert
            for channel in channels
        }

    def states(self) -> Mapping[str, bool]:
        """Read every relay back, one by one."""
        states = {}
        for number in range(self._settings.relays):
            text = self._read(f"relay read {_INDEX[number]}")
            if text not in ("on", "off"):
                raise self._odd(text, "on or off")
            states[f"relay-{number}"] = text == "on"
        return states

    def switch(self, channel: str, on: bool) -> None:
        """Close or open one relay; sent once."""
        number = int(channel.removeprefix("relay-"))
        with self.link.once():
            answer = self._ask(f"relay {'on' if on else 'off'} {_INDEX[number]}")
            if answer:
                raise self._odd(answer, "a prompt and nothing else")

    def pulse(self, channel: str, seconds: float) -> None:
        """Refuse: the module times no pulses."""
        raise no_pulse(self.name)

    def all_open(self) -> None:
        """Open every relay that reads closed."""
        open_closed(self)

    def _odd(self, text: str, expected: str) -> CorruptReplyError:
        return CorruptReplyError(
            self.name,
            expected=expected,
            found=repr(text[:40]),
            remedy="correct the number of relays and GPIOs in the rig file",
            received=text.encode(),
        )

    def _read(self, command: str) -> str:
        return repeat_read(lambda: self._ask(command), self.link, self._settings.read_repeats)

    def _ask(self, command: str) -> str:
        return self._exchange.ask(
            command.encode("ascii") + b"\r",
            lambda data: reply_size(command, data),
            lambda data: parse_reply(command, data, self.name),
            changes=command.startswith(("relay on", "relay off")),
        )

    def close(self) -> None:
        """Nothing to give back: the line belongs to the bench."""
