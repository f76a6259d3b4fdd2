"""A fault's parameters: their names, defaults and what they may be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.emulator.bench import Bench

Undo = Callable[[], None]


class UnknownFaultError(Exception):
    """There is no such fault, or no such parameter of it; the message is one line."""


class Parameters:
    """The values of one armed fault, defaults filled in; each getter checks what it gives."""

    def __init__(self, fault: str, bench: Bench, values: Mapping[str, object]) -> None:
        self._fault = fault
        self._bench = bench
        self._values = values

    def word(self, name: str, allowed: tuple[str, ...]) -> str:
        """Give one of a few words."""
        value = str(self._values[name])
        if value not in allowed:
            raise self.wrong(name, f"one of {', '.join(allowed)}")
        return value

    def number(self, name: str, low: float = 0.0, high: float = math.inf) -> float:
        """Give a number within its limits."""
        try:
            value = float(str(self._values[name]))
        except ValueError:
            raise self.wrong(name, "a number") from None
        if not low <= value <= high:
            raise self.wrong(name, f"a number from {low:g} to {high:g}")
        return value

    def whole(self, name: str, low: int = 0, high: int = 1_000_000) -> int:
        """Give a whole number within its limits."""
        value = self.number(name, low, high)
        if value != int(value):
            raise self.wrong(name, "a whole number")
        return int(value)

    def seconds(self, name: str) -> float:
        """Give a time in s from a parameter in ms."""
        return self.number(name) / 1000

    def key(self, name: str) -> str:
        """Give a key of the terminal."""
        return self.word(name, self._bench.table.keypad.keys)

    def area(self, name: str) -> str:
        """Give an area that this table has lamps for."""
        value = str(self._values[name])
        if not self._bench.table.lamps.of(value):
            raise self.wrong(name, "an area of this table's lamps")
        return value

    def device(self, name: str) -> str:
        """Give a device of the rig file: by name, or `lamps` or `keys` for what serves those."""
        value = str(self._values[name])
        rig = self._bench.rig
        if value in rig.devices:
            return value
        maps = {"lamps": rig.lamps[""], "keys": rig.keys}.get(value, {})
        for channels in maps.values():
            return channels[0].device
        raise self.wrong(name, f"one of {', '.join(rig.devices)}")

    def dice(self, name: str) -> tuple[str, ...]:
        """Give three face values, `1-2-3` or a list."""
        value = self._values[name]
        parts = value if isinstance(value, list) else str(value).split("-")
        faces = tuple(str(part) for part in parts)
        if len(faces) != 3 or any(face not in "123456" or len(face) != 1 for face in faces):
            raise self.wrong(name, "three face values, as in 1-2-3")
        return faces

    def given(self, name: str) -> str:
        """Give a value as it was written."""
        return str(self._values[name])

    def wrong(self, name: str, expected: str) -> UnknownFaultError:
        """Make the error for a value that will not do."""
        return UnknownFaultError(
            f"{self._fault}:{name}: expected {expected}, found {self._values[name]}"
        )


Arm = Callable[["Bench", Parameters], Undo]
