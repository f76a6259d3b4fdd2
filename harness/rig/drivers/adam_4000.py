"""Advantech ADAM-4000 digital modules and ICP DAS ones that speak DCON: ASCII, with or without sum.

Source: the ADAM-4000 manual, digital I/O commands; ICP DAS' DCON manual. `$AA6` reads all channels,
`#AA1cDD` writes one output, `$AAM` names the module; `!` begins a valid answer to `$` and `~`, `>`
one to `#`; `?AA` (ADAM) or `?` (DCON) says the command was invalid, and on a syntax or checksum
error a module is silent. The optional checksum is the sum of the characters modulo 256, two
hexadecimal digits before the carriage return. ICP DAS adds the host watchdog: `~AA3EVV` arms it (VV
tenths of a second), `~**` feeds it, `~AA1` clears a tripped one; once it tripped, outputs are at
their safe values and every `#` is answered by `!`: ignored.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self, cast

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
    DeviceRefusalError,
    NoReplyError,
    RigError,
    ShortReplyError,
    WrongUnitError,
)
from harness.rig.serial_line import SerialLine
from harness.rig.text_exchange import TextExchange

_LONGEST = 64
_IDLE = b"\x00\xff\r\n"
"""What a line may show before an answer begins: drivers switching over, a converter's LF."""


@dataclass(frozen=True, slots=True)
class _Model:
    """Where a model's channels lie in the six digits of `$AA6`: (first digit, bits)."""

    outputs: tuple[int, int] | None
    inputs: tuple[int, int] | None


_MODELS = {
    "4050": _Model((0, 8), (2, 7)),
    "4051": _Model(None, (0, 16)),
    "4052": _Model(None, (0, 8)),
    "4053": _Model(None, (0, 16)),
    "4055": _Model((0, 8), (2, 8)),
    "4060": _Model((0, 4), None),
    "4068": _Model((0, 8), None),
}


class Adam4000Settings(SerialSettings):
    """Section of an `adam-4000`.

    watchdog_s: arms the host watchdog of an ICP DAS module, so that a dead host lets the keys go.
    A channel is an input's number, or `out-N` for an output.
    """

    module: int = Field(default=1, ge=0, le=255)
    model: Literal["4050", "4051", "4052", "4053", "4055", "4060", "4068"]
    checksum: bool = False
    invert: bool = False
    watchdog_s: float | None = Field(default=None, ge=0.1, le=25.5)
    read_repeats: int = Field(default=2, ge=0, le=5)

    @property
    def has_checksum(self) -> bool:
        """Modules may be set up with or without."""
        return self.checksum

    def channel_problem(self, channel: str, use: Capability) -> str | None:
        """Say which channels the model has."""
        model = _MODELS[self.model]
        if use == "outputs":
            if model.outputs is None:
                return f"a model with outputs, not {self.model}"
            word, dash, number = channel.partition("-")
            wrong = numbered(number, model.outputs[1])
            return (
                None
                if word == "out" and dash and wrong is None
                else (f"out-0 to out-{model.outputs[1] - 1}")
            )
        if model.inputs is None:
            return f"a model with inputs, not {self.model}"
        return numbered(channel, model.inputs[1])

    @property
    def bus_address(self) -> int | None:
        """The module's number."""
        return self.module

    @property
    def releases_itself(self) -> bool:
        """Tell whether the watchdog is armed."""
        return self.watchdog_s is not None


def command(text: str, checksum: bool) -> bytes:
    """Give a command as sent."""
    data = text.encode("ascii")
    if checksum:
        data += b"%02X" % (sum(data) & 0xFF)
    return data + b"\r"


def reply_size(data: bytes) -> int:
    """Give the length of a whole reply with all that idles before it; 0 while it is not whole."""
    begins = len(data) - len(data.lstrip(_IDLE))
    return data.find(b"\r", begins) + 1


def parse_reply(
    data: bytes, module: int, checksum: bool, device: str, mark: Literal["!", ">"] = "!"
) -> str:
    """Take the text after the delimiter out of one reply. Any byte string is safe to pass.

    mark: the delimiter of a valid answer to what was asked. Raises NoReplyError, ShortReplyError,
    CorruptReplyError, WrongUnitError or DeviceRefusalError.
    """
    body = data.lstrip(_IDLE)
    if not body:
        raise NoReplyError(
            device,
            expected=f"a reply of module {module:02X}",
            found="silence",
            remedy="check power, wiring, module number, baud rate and whether it uses checksums",
            received=data,
        )
    if not body.endswith(b"\r"):
        raise ShortReplyError(
            device,
            expected="a reply to its carriage return",
            found=f"{len(data)} bytes without one",
            remedy="check the cable and the baud rate",
            received=data,
        )
    body = body[:-1]
    if checksum:
        body, given = body[:-2], body[-2:]
        if not body or given.upper() != b"%02X" % (sum(body) & 0xFF):
            raise _corrupt(data, "a reply with a right checksum", device)
    match = re.fullmatch(rb"([!>?])([\x20-\x7e]*)", body)
    if match is None:
        raise _corrupt(data, "a reply that begins with !, > or ?", device)
    given_mark, text = match[1].decode(), match[2].decode("ascii")
    if given_mark == mark:
        return text
    if given_mark == "!":
        raise DeviceRefusalError(
            device,
            expected="an order carried out",
            found="the module ignores it: its host watchdog has tripped",
            remedy="outputs are at their safe values; set watchdog_s in the rig file and run again",
            received=data,
        )
    if given_mark == ">":
        raise _corrupt(data, "a reply that begins with ! or ?", device)
    if text and not re.fullmatch("[0-9A-Fa-f]{2}", text):
        raise _corrupt(data, "? or ?AA", device)
    if text:
        _of_module(text, module, data, device)
    raise DeviceRefusalError(
        device,
        expected="a valid command",
        found="the module says it is invalid",
        remedy="correct the model in the rig file; a tripped watchdog refuses outputs too",
        received=data,
    )


def _of_module(text: str, module: int, data: bytes, device: str) -> None:
    if text.upper() != f"{module:02X}":
        raise WrongUnitError(
            device,
            expected=f"a reply of module {module:02X}",
            found=f"module {text}",
            remedy="give every module on the bus its own number",
            received=data,
        )


def parse_channels(text: str, model: str, device: str) -> tuple[int, int]:
    """Take outputs and inputs, as bits, out of the six digits that `$AA6` is answered by."""
    layout = _MODELS[model]
    if not re.fullmatch("[0-9A-Fa-f]{6}", text):
        raise CorruptReplyError(
            device,
            expected="six hexadecimal digits",
            found=repr(text[:_LONGEST]),
            remedy="correct the model in the rig file",
            received=text.encode("ascii", "replace"),
        )

    def bits(place: tuple[int, int] | None) -> int:
        if place is None:
            return 0
        first, count = place
        digits = 4 if count > 8 else 2
        return int(text[first : first + digits], 16) & ((1 << count) - 1)

    return bits(layout.outputs), bits(layout.inputs)


def _corrupt(data: bytes, expected: str, device: str) -> CorruptReplyError:
    return CorruptReplyError(
        device,
        expected=expected,
        found=repr(data[:_LONGEST]),
        remedy="check wiring, baud rate and whether the module uses checksums",
        received=data,
    )


class Adam4000:
    """The module, opened."""

    settings_type: ClassVar[type[DeviceSettings]] = Adam4000Settings
    provides: ClassVar[frozenset[Capability]] = frozenset({"inputs", "outputs"})

    def __init__(self, name: str, settings: Adam4000Settings, line: SerialLine) -> None:
        self.name = name
        self.link = LinkRecord(name)
        self._settings = settings
        self._exchange = TextExchange(
            line,
            name,
            end=b"\r",
            longest=_LONGEST,
            probe=command(f"${settings.module:02X}5", settings.checksum),
            reply_s=settings.reply_ms / 1000,
            late_s=settings.late_ms / 1000,
        )
        self._stop = threading.Event()
        self._feeder: threading.Thread | None = None

    @classmethod
    def open(cls, name: str, settings: DeviceSettings, around: Surroundings) -> Self:
        """Open the port, read the channels once, arm the watchdog if there is one."""
        own = cast("Adam4000Settings", settings)
        module = cls(name, own, around.line(own.port, own.framing, name))
        module._channels()
        if own.watchdog_s is not None:
            module._arm(own.watchdog_s)
        return module

    def identify(self) -> str | None:
        """Give the module's own name, as `4051`."""
        module = self._settings.module

        def once() -> str:
            text = self._ask(f"${module:02X}M")
            _of_module(text[:2], module, text.encode(), self.name)
            return text[2:]

        return repeat_read(once, self.link, self._settings.read_repeats)

    def read(self, channels: Sequence[str]) -> Mapping[str, bool]:
        """Read these inputs, all in one exchange."""
        _, bits = self._channels()
        invert = self._settings.invert
        return {channel: bool(bits >> int(channel) & 1) != invert for channel in channels}

    def states(self) -> Mapping[str, bool]:
        """Read every output back."""
        bits, _ = self._channels()
        place = _MODELS[self._settings.model].outputs
        count = 0 if place is None else place[1]
        return {f"out-{n}": bool(bits >> n & 1) for n in range(count)}

    def switch(self, channel: str, on: bool) -> None:
        """Close or open one output; sent once."""
        number = int(channel.removeprefix("out-"))
        self._order(f"#{self._settings.module:02X}1{number:X}{int(on):02X}")

    def pulse(self, channel: str, seconds: float) -> None:
        """Refuse: the module times no pulses; its watchdog lets the keys go."""
        raise no_pulse(self.name)

    def all_open(self) -> None:
        """Open every output that reads closed."""
        open_closed(self)

    def _channels(self) -> tuple[int, int]:
        own = self._settings
        ask = f"${own.module:02X}6"

        def once() -> tuple[int, int]:
            return parse_channels(self._ask(ask), own.model, self.name)

        return repeat_read(once, self.link, own.read_repeats)

    def _order(self, text: str) -> None:
        module = self._settings.module
        with self.link.once():
            reply = self._ask(text)
            if reply.upper() not in ("", f"{module:02X}"):
                raise _corrupt(reply.encode(), "a bare acknowledgement", self.name)

    def _ask(self, text: str) -> str:
        own = self._settings
        mark: Literal["!", ">"] = ">" if text.startswith("#") else "!"
        return self._exchange.ask(
            command(text, own.checksum),
            reply_size,
            lambda data: parse_reply(data, own.module, own.checksum, self.name, mark),
            changes=not text.startswith("$"),
        )

    def _arm(self, seconds: float) -> None:
        module = f"{self._settings.module:02X}"
        self._order(f"~{module}1")
        self._order(f"~{module}31{round(seconds * 10):02X}")
        self._feeder = threading.Thread(
            target=self._feed, args=(seconds / 3,), name=f"watchdog {self.name}", daemon=True
        )
        self._feeder.start()

    def _feed(self, every_s: float) -> None:
        """Tell the module that this host lives. `~**` has no reply."""
        while not self._stop.wait(every_s):
            line = self._exchange.line
            try:
                with line.turn:
                    line.write(command("~**", self._settings.checksum))
                    time.sleep(6 * self._settings.framing.char_s)
            except RigError as error:
                self.link.failed(error)
                return

    def close(self) -> None:
        """Stop feeding the watchdog, and disarm it."""
        own = self._settings
        self._stop.set()
        if self._feeder is None or own.watchdog_s is None:
            return
        self._feeder.join(timeout=2.0)
        try:
            self._order(f"~{own.module:02X}30{round(own.watchdog_s * 10):02X}")
        except RigError:
            return  # the watchdog trips, which opens the outputs too
