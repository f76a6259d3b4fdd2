"""TOML read strictly: every key asked for, every mistake collected with its key path.

A `Table` is asked for its keys one after another; what was asked for and is wrong, or is there and
was never asked for, becomes a `Problem`. Nothing is raised until all is read.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from datetime import date
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from harness.verdicts import Problem, as_toml

Word = TypeVar("Word", bound=str)


class Table:
    """One TOML table under reading.

    `where` is its key path (empty at the top), `problems` the list shared by the whole file. Every
    getter gives None for a key that is missing or wrong, and has then noted a problem.
    """

    def __init__(self, values: dict[str, object], where: str, problems: list[Problem]) -> None:
        self._values = values
        self._asked: set[str] = set()
        self._note = ""
        self.where = where
        self.problems = problems

    def describe(self, note: str | None) -> None:
        """Add a name (an id) that is shown with each problem of this table."""
        self._note = f" ({note})" if note else ""

    def path(self, key: str) -> str:
        """Give the full key path of a key of this table."""
        return f"{self.where}.{key}{self._note}" if self.where else key

    def has(self, key: str) -> bool:
        """Tell whether the key is there."""
        self._asked.add(key)
        return key in self._values

    def refuse(self, key: str, expected: str, found: str, remedy: str = "correct it") -> None:
        """Note a mistake at a key."""
        self.problems.append(Problem(self.path(key), expected, found, remedy))

    def raw(self, key: str, expected: str) -> object | None:
        """Give a value as it is, or None and a problem if the key is missing."""
        self._asked.add(key)
        if key not in self._values:
            self.refuse(key, expected, "nothing", "add the key")
            return None
        return self._values[key]

    def text(self, key: str) -> str | None:
        """Give a text that is not empty."""
        value = self.raw(key, "a text")
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            self.refuse(key, "a text", as_toml(value))
            return None
        return value

    def choice(self, key: str, allowed: Sequence[Word]) -> Word | None:
        """Give one of the allowed words."""
        expected = "one of " + ", ".join(allowed)
        value = self.raw(key, expected)
        if value is None:
            return None
        for word in allowed:
            if value == word:
                return word
        self.refuse(key, expected, as_toml(value), suggestion(str(value), allowed))
        return None

    def whole(self, key: str, low: int, high: int) -> int | None:
        """Give a whole number within limits, both included."""
        value = self.raw(key, f"a whole number from {low} to {high}")
        if value is None:
            return None
        if type(value) is not int or not low <= value <= high:
            self.refuse(key, f"a whole number from {low} to {high}", as_toml(value))
            return None
        return value

    def wholes(self, key: str, length: int, low: int, high: int) -> tuple[int, ...] | None:
        """Give a list of whole numbers of a given length, each within limits."""
        expected = f"{length} whole numbers from {low} to {high}"
        value = self.raw(key, expected)
        if value is None:
            return None
        if (
            not isinstance(value, list)
            or len(value) != length
            or any(type(item) is not int or not low <= item <= high for item in value)
        ):
            self.refuse(key, expected, as_toml(value))
            return None
        return tuple(value)

    def positive(self, key: str) -> Fraction | None:
        """Give an exact number above zero, written as a whole number or as a text (`"7/2"`)."""
        expected = 'a number above zero, as 8 or "7/2"'
        value = self.raw(key, expected)
        if value is None:
            return None
        number = None
        if isinstance(value, int | str) and not isinstance(value, bool):
            try:
                number = Fraction(value)
            except (ValueError, ZeroDivisionError):
                number = None
        if number is None or number <= 0:
            self.refuse(key, expected, as_toml(value))
            return None
        return number

    def flag(self, key: str) -> bool | None:
        """Give true or false."""
        value = self.raw(key, "true or false")
        if value is None:
            return None
        if not isinstance(value, bool):
            self.refuse(key, "true or false", as_toml(value))
            return None
        return value

    def day(self, key: str) -> date | None:
        """Give a date."""
        value = self.raw(key, "a date, as 2024-11-02")
        if value is None:
            return None
        if type(value) is not date:
            self.refuse(key, "a date, as 2024-11-02", as_toml(value))
            return None
        return value

    def texts(self, key: str) -> tuple[str, ...] | None:
        """Give a list of one or more texts, none twice."""
        expected = "a list of one or more texts, none twice"
        value = self.raw(key, expected)
        if value is None:
            return None
        if (
            not isinstance(value, list)
            or not value
            or any(not isinstance(item, str) or not item for item in value)
            or len(set(value)) != len(value)
        ):
            self.refuse(key, expected, as_toml(value))
            return None
        return tuple(value)

    def table(self, key: str) -> Table | None:
        """Give a table within this one."""
        value = self.raw(key, "a table")
        if value is None:
            return None
        if not isinstance(value, dict):
            self.refuse(key, "a table", as_toml(value))
            return None
        return Table(value, self.path(key), self.problems)

    def tables(self, key: str) -> Iterator[Table]:
        """Go through a list of one or more tables."""
        value = self.raw(key, "a list of one or more tables")
        if value is None:
            return
        if not isinstance(value, list) or not value:
            self.refuse(key, "a list of one or more tables", as_toml(value))
            return
        for index, item in enumerate(value):
            if isinstance(item, dict):
                yield Table(item, f"{self.path(key)}[{index}]", self.problems)
            else:
                self.refuse(f"{key}[{index}]", "a table", as_toml(item))

    def close(self) -> None:
        """Note every key that was never asked for, with the nearest one that was."""
        for key in self._values:
            if key not in self._asked:
                self.refuse(
                    key,
                    "no such key",
                    f"unknown key {key!r}",
                    suggestion(key, sorted(self._asked)),
                )


def suggestion(found: str, known: Sequence[str]) -> str:
    """Say which known word was perhaps meant, or which there are."""
    near = get_close_matches(found, known, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return "known here: " + ", ".join(known) if known else "take it out"


def read_toml(file: Path, problems: list[Problem]) -> Table | None:
    """Read a TOML file as the top table; None and a problem when it is absent or no TOML."""
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        problems.append(Problem("(file)", "a file of this name", "none", "write it"))
    except OSError as error:
        problems.append(Problem("(file)", "a file that can be read", error.strerror or str(error)))
    except (ValueError, RecursionError) as error:
        problems.append(Problem("(file)", "TOML in UTF-8", str(error)))
    else:
        return Table(values, "", problems)
    return None
