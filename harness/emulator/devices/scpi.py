"""SCPI as instruments speak it: headers in long and short form, lists of channels, an error queue.

Source: SCPI-1999, volume 1, and IEEE 488.2. A line may hold several commands, separated by `;`; a
command that does not begin with `:` or `*` stands under the last one's node. Lines end with LF.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

Act = Callable[[str], str | None]
"""From a command's parameters as written to its answer, None for a command without one."""


class ScpiError(Exception):
    """The instrument puts an error into its queue, as `-222,"Data out of range"`."""

    def __init__(self, number: int, text: str) -> None:
        self.entry = f'{number},"{text}"'
        super().__init__(self.entry)


OUT_OF_RANGE = (-222, "Data out of range")
UNDEFINED = (-113, "Undefined header")
WRONG_TYPE = (-104, "Data type error")
_MOST_CHANNELS = 400


class Scpi:
    """An instrument made of patterns such as `MEASure[:SCALar]:VOLTage[:DC]?` and their acts."""

    def __init__(self, identity: str, acts: Mapping[str, Act], reset: Callable[[], None]) -> None:
        self._errors: list[str] = []
        self._no_error = '+0,"No error"'
        common: dict[str, Act] = {
            "*IDN?": lambda given: identity,
            "*RST": lambda given: reset(),
            "*CLS": lambda given: self._errors.clear(),
            "*OPC?": lambda given: "1",
            "*OPC": lambda given: None,
            "*WAI": lambda given: None,
            "*ESR?": lambda given: "0",
            "*TST?": lambda given: "0",
            "SYSTem:ERRor[:NEXT]?": lambda given: self._next_error(),
            "SYSTem:REMote": lambda given: None,
            "SYSTem:LOCal": lambda given: None,
        }
        self._acts = [(_pattern(text), act) for text, act in {**common, **acts}.items()]

    def reply(self, line: bytes) -> bytes:
        """Answer one line without its LF; empty if it asks nothing."""
        answers, node = [], ""
        for part in line.decode("ascii", "replace").strip().split(";"):
            command = part.strip()
            if not command:
                continue
            header, _, given = command.partition(" ")
            rooted = header.startswith(("*", ":"))
            header = header.removeprefix(":") if rooted else node + header
            if not header.startswith("*"):
                node = header.rpartition(":")[0] + ":" if ":" in header else ""
            try:
                answer = self._act(header, given.strip())
            except ScpiError as error:
                self._errors.append(error.entry)
                del self._errors[20:]
                continue
            if answer is not None:
                answers.append(answer)
        return ";".join(answers).encode("ascii") + b"\n" if answers else b""

    def _act(self, header: str, given: str) -> str | None:
        for pattern, act in self._acts:
            if pattern.fullmatch(header):
                return act(given)
        raise ScpiError(*UNDEFINED)

    def _next_error(self) -> str:
        return self._errors.pop(0) if self._errors else self._no_error


def number(text: str) -> float:
    """Read a number as SCPI writes them."""
    try:
        value = float(text)
    except ValueError:
        raise ScpiError(*WRONG_TYPE) from None
    if not math.isfinite(value):
        raise ScpiError(*OUT_OF_RANGE)
    return value


def switch(text: str) -> bool:
    """Read `ON`, `OFF`, `1` or `0`."""
    if text.upper() in ("ON", "1"):
        return True
    if text.upper() in ("OFF", "0"):
        return False
    raise ScpiError(*WRONG_TYPE)


def channel_list(text: str) -> list[str]:
    """Read `(@101,103:105)`; channels of a range are spelled out."""
    match = re.search(r"\(@([0-9,: ]*)\)", text)
    if match is None:
        raise ScpiError(-109, "Missing parameter")
    channels: list[str] = []
    for part in filter(None, match[1].replace(" ", "").split(",")):
        first, _, last = part.partition(":")
        if not (first.isdigit() and (last or first).isdigit()):
            raise ScpiError(*WRONG_TYPE)
        low, high = int(first), int(last or first)
        if high - low > _MOST_CHANNELS:
            raise ScpiError(*OUT_OF_RANGE)
        channels += [str(each) for each in range(low, high + 1)]
    return channels


def _pattern(text: str) -> re.Pattern[str]:
    """Make a regular expression of a header: capitals are the short form, brackets optional."""
    out = []
    for token in re.findall(r"\[|\]|:|\*|\?|<n>|[A-Z]+[a-z]*|[0-9]+", text):
        if token == "[":
            out.append("(?:")
        elif token == "]":
            out.append(")?")
        elif token == "<n>":
            out.append("[0-9]*")
        elif token[0].isalpha():
            short = "".join(letter for letter in token if letter.isupper())
            out.append(f"{short}(?:{token[len(short) :].upper()})?" if short != token else short)
        else:
            out.append(re.escape(token))
    return re.compile("".join(out), re.IGNORECASE)
