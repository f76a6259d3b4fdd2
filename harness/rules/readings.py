"""Readings: how a book is read where its source is silent or can be read two ways.

Some readings are options, which a regulator may rule otherwise. The options there are stand here;
a book says which of them it has, their defaults, and whether a default is the source's text or a
reading of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from harness.rules.areas import Basis, Options, OptionValue
from harness.rules.strict_toml import Table, suggestion
from harness.verdicts import ConfigurationError, as_toml

OPTION_VALUES: Mapping[str, tuple[OptionValue, ...]] = {
    "double-wins-on-triple": (True, False),
    "pair-counts-once": (True, False),
    "inspection-profile": ("full", "cover", "minimum"),
    "automated-without-cover": (True, False),
    "tumble-event": ("stroke", "activation"),
    "void-refunds": (True, False),
    "leaning-die": ("no-result", "tap", "ask"),
    "commit": ("third-key", "entry-key"),
    "clear": ("required", "unspecified"),
}
"""Every option there is, with the values it can take."""

_WORDS: Mapping[str, bool] = {
    "true": True,
    "yes": True,
    "on": True,
    "false": False,
    "no": False,
    "off": False,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """One open question of a source and the answer built.

    `basis` tells text from reading, `clauses` are the tags it concerns. An option has `option`
    (its name), `default` and `values`; for other readings these are None and empty.
    """

    id: str
    says: str
    basis: Basis
    clauses: tuple[str, ...]
    option: str | None = None
    default: OptionValue | None = None
    values: tuple[OptionValue, ...] = ()


def read_readings(top: Table) -> tuple[Reading, ...]:
    """Read the `readings` list of a book; mistakes go to the table's problems."""
    readings: list[Reading] = []
    seen: set[str] = set()
    for table in top.tables("readings"):
        id_ = table.text("id")
        table.describe(id_)
        says = table.text("says")
        basis: Basis | None = table.choice("basis", get_args(Basis))
        clauses = table.texts("clauses")
        option, default, values = _read_option(table)
        table.close()
        for key, name in (("id", id_), ("option", option)):
            if name is not None and f"{key} {name}" in seen:
                table.refuse(key, f"each {key} once", f"{name!r} again", "rename or remove one")
            seen.add(f"{key} {name}")
        if id_ and says and basis and clauses:
            readings.append(Reading(id_, says, basis, clauses, option, default, values))
    return tuple(readings)


def _read_option(
    table: Table,
) -> tuple[str | None, OptionValue | None, tuple[OptionValue, ...]]:
    if not (table.has("option") or table.has("default") or table.has("values")):
        return None, None, ()
    option = table.choice("option", tuple(OPTION_VALUES))
    known = OPTION_VALUES.get(option or "", ())
    values = table.raw("values", "the list of values the option can take")
    if values is not None and (
        not isinstance(values, list)
        or not values
        or (option and any(not _among(value, known) for value in values))
    ):
        table.refuse("values", f"values out of {spell(known)}", spell(values))
        values = None
    default = table.raw("default", "one of the option's values")
    if isinstance(values, list) and default is not None and not _among(default, values):
        table.refuse("default", f"one of {spell(values)}", spell([default]))
    allowed = tuple(value for value in known if isinstance(values, list) and _among(value, values))
    return option, default if isinstance(default, bool | str) else None, allowed


def _among(value: object, values: Sequence[object]) -> bool:
    return any(type(value) is type(known) and value == known for known in values)


def spell(values: object) -> str:
    """Write option values as TOML does, separated by commas."""
    if not isinstance(values, list | tuple):
        return as_toml(values)
    return ", ".join(
        str(value).lower() if isinstance(value, bool) else str(value) for value in values
    )


def resolve_options(
    book: str, readings: Sequence[Reading], given: Mapping[str, object] | None
) -> dict[str, OptionValue]:
    """Give the value in force of each of a book's options.

    given: values by option name, typed or as words of the command line (`"false"`). A name the book
    does not have, or a value it does not allow, raises ConfigurationError.
    """
    options = {r.option: r for r in readings if r.option is not None}
    in_force = {
        name: reading.default for name, reading in options.items() if reading.default is not None
    }
    for name, value in (given or {}).items():
        reading = options.get(name)
        if reading is None:
            raise ConfigurationError(
                f"rule book {book}",
                expected="an option of this book",
                found=f"option {name!r}",
                remedy=suggestion(name, sorted(options)),
            )
        in_force[name] = _value(book, reading, value)
    return in_force


def _value(book: str, reading: Reading, given: object) -> OptionValue:
    typed = given
    if isinstance(given, str) and any(isinstance(value, bool) for value in reading.values):
        typed = _WORDS.get(given.lower(), given)
    for value in reading.values:
        if type(value) is type(typed) and value == typed:
            return value
    raise ConfigurationError(
        f"rule book {book}",
        expected=f"option {reading.option} to be one of {spell(reading.values)}",
        found=as_toml(given),
        remedy="give one of these values",
    )


def departures(readings: Sequence[Reading], options: Options) -> tuple[Reading, ...]:
    """Give the readings whose default is the source's own text and whose option says otherwise."""
    return tuple(
        reading
        for reading in readings
        if reading.basis == "text"
        and reading.option is not None
        and reading.option in options
        and options[reading.option] != reading.default
    )
