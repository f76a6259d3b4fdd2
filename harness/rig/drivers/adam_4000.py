"""Advantech ADAM-4000 digital modules and ICP DAS ones that speak DCON: ASCII, with or without sum.

Source: the ADAM-4000 manual, digital I/O commands. `$AA6` reads all channels, `#AA1cDD` writes one
output, `$AAM` names the module; a valid answer begins with `!` or `>`, `?AA` says the command was
invalid, and on a syntax or checksum error a module is silent. The optional checksum is the sum of
the characters modulo 256, two hexadecimal digits before the carriage return. ICP DAS adds the host
watchdog: `~AA3EVV` arms it (VV tenths of a second), `~**` feeds it, `~AA1` clears a tripped one.
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
    numbered,
    repeat_read,
)
from harness.rig.errors import (
    CorruptReplyError,
    DeviceRefusalError,
    LateReplyError,
    NoReplyError,
    RigError,
    ShortReplyError,
    WrongUnitError,
)
from harness.rig.serial_line import SerialLine
from harness.verdicts import ConfigurationError

_LONGEST = 64


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
    def releases_itself(self) -> bool:
        """Tell whether the watchdog is armed."""
        return self.watchdog_s is not None


def command(text: str, checksum: bool) -> bytes:
    """Give a command as sent."""
    data = text.encode("ascii")
    if checksum:
        data += b"%02X" % (sum(data) & 0xFF)
    return data + b"\r"


def parse_reply(data: bytes, module: int, checksum: bool, device: str) -> str:
    """Take the text after the delimiter out of one reply. Any byte string is safe to pass.

    Raises NoReplyError, ShortReplyError, CorruptReplyError, WrongUnitError or DeviceRefusalError.
    """
    if not data:
        raise NoReplyError(
            device,
            expected=f"a reply of module {module:02X}",
            found="silence",
            remedy="check power, wiring, module number, baud rate and whether it uses checksums",
            received=b"",
        )
    if not data.endswith(b"\r"):
        raise ShortReplyError(
            device,
            expected="a reply to its carriage return",
            found=f"{len(data)} bytes without one",
            remedy="check the cable and the baud rate",
            received=data,
        )
    body = data[:-1]
    if checksum:
        body, given = body[:-2], body[-2:]
        if not body or given != b"%02X" % (sum(body) & 0xFF):
            raise _corrupt(data, "a reply with a right checksum", device)
    match = re.fullmatch(rb"([!>?])([\x20-\x7e]*)", body)
    if match is None:
        raise _corrupt(data, "a reply that begins with !, > or ?", device)
    text = match[2].decode("ascii")
    if match[1] != b"?":
        return text
    if not re.fullmatch("[0-9A-F]{2}", text):
        raise _corrupt(data, "?AA", device)
    if int(text, 16) != module:
        raise WrongUnitError(
            device,
            expected=f"a reply of module {module:02X}",
            found=f"module {text}",
            remedy="give every module on the bus its own number",
            received=data,
        )
    raise DeviceRefusalError(
        device,
        expected="a valid command",
        found="the module says it is invalid",
        remedy="correct the model in the rig file; a tripped watchdog refuses outputs too",
        received=data,
    )


def parse_channels(text: str, model: str, device: str) -> tuple[int, int]:
    """Take outputs and inputs, as bits, out of the six digits that `$AA6` is answered by."""
    layout = _MODELS[model]
    if not re.fullmatch("[0-9A-F]{6}", text):
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
        self._line = line
        self._doubtful = False
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
        text = self._read(f"${self._settings.module:02X}M")
        return text[2:]

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
        raise ConfigurationError(
            self.name,
            expected="presses that the host times",
            found="a device-timed pulse",
            remedy="correct the rig file",
        )

    def all_open(self) -> None:
        """Open every output that reads closed."""
        for channel, closed in self.states().items():
            if closed:
                self.switch(channel, on=False)

    def _channels(self) -> tuple[int, int]:
        own = self._settings
        ask = f"${own.module:02X}6"

        def once() -> tuple[int, int]:
            return parse_channels(self._ask(ask), own.model, self.name)

        return repeat_read(once, self.link, own.read_repeats)

    def _read(self, text: str) -> str:
        return repeat_read(lambda: self._ask(text), self.link, self._settings.read_repeats)

    def _order(self, text: str) -> None:
        self.link.exchanges += 1
        try:
            reply = self._ask(text)
            if reply not in ("", f"{self._settings.module:02X}"):
                raise _corrupt(reply.encode(), "a bare acknowledgement", self.name)
        except RigError as error:
            self.link.failed(error)
            raise

    def _ask(self, text: str) -> str:
        own, line = self._settings, self._line
        with line.turn:
            line.subject = self.name
            if text.startswith("$"):
                line.come_back()
            if self._doubtful:
                self._resynchronise()
            line.discard()
            request = command(text, own.checksum)
            line.write(request)
            wire_s = (len(request) + _LONGEST) * own.framing.char_s
            data = line.read_line(b"\r", time.monotonic() + own.reply_ms / 1000 + wire_s, _LONGEST)
            try:
                return parse_reply(data, own.module, own.checksum, self.name)
            except NoReplyError:
                self._doubtful = True
                late = line.read_line(b"\r", time.monotonic() + own.late_ms / 1000, _LONGEST)
                if not late:
                    raise
                self._doubtful = False
                raise LateReplyError(
                    self.name,
                    expected=f"a reply within {own.reply_ms} ms",
                    found="one after that, thrown away",
                    remedy="raise reply_ms in the rig file if the module is meant to be this slow",
                    received=late,
                ) from None

    def _resynchronise(self) -> None:
        """After a silence: ask for the module's status and throw away all that comes."""
        own, line = self._settings, self._line
        line.discard()
        line.write(command(f"${own.module:02X}5", own.checksum))
        reply_s = own.reply_ms / 1000
        if not line.read_line(b"\r", time.monotonic() + reply_s + 0.1, _LONGEST):
            parse_reply(b"", own.module, own.checksum, self.name)  # still silent: say so
        while line.read_line(b"\r", time.monotonic() + reply_s, _LONGEST):
            pass
        self._doubtful = False

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
            try:
                with self._line.turn:
                    self._line.write(command("~**", self._settings.checksum))
                    time.sleep(6 * self._settings.framing.char_s)
            except RigError as error:
                self.link.failed(error)
                return

    def close(self) -> None:
        """Stop feeding the watchdog, and disarm it."""
        self._stop.set()
        if self._feeder is None:
            return
        self._feeder.join(timeout=2.0)
        try:
            self._order(f"~{self._settings.module:02X}3000")
        except RigError:
            return  # the watchdog trips, which opens the outputs too
