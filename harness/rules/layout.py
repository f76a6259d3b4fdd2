"""The areas of a rule book's layout, read from its file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import get_args

from harness.rules.areas import (
    AnyTriple,
    Area,
    Basis,
    Double,
    ExactSet,
    Kind,
    OddEven,
    OnTriple,
    Pair,
    Parity,
    Single,
    ThreeOfFour,
    Total,
    TotalRange,
    Triple,
)
from harness.rules.strict_toml import Table
from harness.verdicts import as_toml

KIND_NAMES = (
    "single",
    "double",
    "triple",
    "any-triple",
    "pair",
    "total",
    "total-range",
    "odd-even",
    "exact-set",
    "three-of-four",
)
"""Kinds of area that a book can name."""

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def read_areas(top: Table) -> tuple[dict[str, Area], set[str]]:
    """Read the `areas` list of a book, in the book's order; mistakes go to the table's problems.

    No two areas may win on the same terms, and ranges of totals may not overlap. Gives the areas,
    and the ids of all of them, of mistaken ones too.
    """
    areas: dict[str, Area] = {}
    named: set[str] = set()
    kinds: dict[Kind, str] = {}
    for table in top.tables("areas"):
        id_ = table.text("id")
        table.describe(id_)
        kind = _kind(table)
        wager = table.text("wager")
        clause = table.text("clause")
        losing = table.text("losing_clause") if table.has("losing_clause") else clause
        basis: Basis | None = table.choice("basis", get_args(Basis))
        table.close()
        if id_ is not None and not _ID.fullmatch(id_):
            table.refuse("id", "small letters, digits and hyphens", repr(id_))
        if id_ is not None and id_ in named:
            table.refuse("id", "each area once", f"{id_!r} again", "rename or remove one")
        if id_ is not None:
            named.add(id_)
        if kind is not None:
            if kind in kinds:
                table.refuse(
                    "kind", "areas that differ", f"the same as {kinds[kind]}", "remove one"
                )
            kinds.setdefault(kind, str(id_))
        if id_ and kind and wager and clause and losing and basis:
            areas.setdefault(id_, Area(id_, kind, wager, clause, losing, basis))
    _refuse_overlaps(top, areas)
    return areas, named


def _kind(table: Table) -> Kind | None:
    match table.choice("kind", KIND_NAMES):
        case "single":
            return None if (n := table.whole("number", 1, 6)) is None else Single(n)
        case "double":
            return None if (n := table.whole("number", 1, 6)) is None else Double(n)
        case "triple":
            return None if (n := table.whole("number", 1, 6)) is None else Triple(n)
        case "any-triple":
            return AnyTriple()
        case "pair":
            numbers = _faces(table, 2)
            return None if numbers is None else Pair((numbers[0], numbers[1]))
        case "total":
            return None if (n := table.whole("total", 3, 18)) is None else Total(n)
        case "total-range":
            return _total_range(table)
        case "odd-even":
            parity: Parity | None = table.choice("parity", get_args(Parity))
            on_triple: OnTriple | None = table.choice("on_triple", get_args(OnTriple))
            return OddEven(parity, on_triple) if parity and on_triple else None
        case "exact-set":
            numbers = table.wholes("numbers", 3, 1, 6)
            if numbers is None:
                return None
            if len(set(numbers)) == 1:
                table.refuse("numbers", "not all one number", as_toml(numbers), 'use kind "triple"')
                return None
            low, middle, high = sorted(numbers)
            return ExactSet((low, middle, high))
        case "three-of-four":
            numbers = _faces(table, 4)
            if numbers is None:
                return None
            return ThreeOfFour((numbers[0], numbers[1], numbers[2], numbers[3]))
        case _:
            for key in ("number", "numbers", "total", "totals", "parity", "on_triple"):
                table.has(key)
            return None


def _faces(table: Table, length: int) -> tuple[int, ...] | None:
    numbers = table.wholes("numbers", length, 1, 6)
    if numbers is not None and len(set(numbers)) != length:
        table.refuse("numbers", "different numbers", as_toml(numbers))
        return None
    return None if numbers is None else tuple(sorted(numbers))


def _total_range(table: Table) -> TotalRange | None:
    totals = table.wholes("totals", 2, 3, 18)
    on_triple: OnTriple | None = table.choice("on_triple", get_args(OnTriple))
    if totals is None or on_triple is None:
        return None
    low, high = totals
    if low >= high:
        table.refuse("totals", "a lower total before a higher one", as_toml([low, high]))
        return None
    return TotalRange((low, high), on_triple)


def _refuse_overlaps(top: Table, areas: Mapping[str, Area]) -> None:
    ranges = [(a, a.kind) for a in areas.values() if isinstance(a.kind, TotalRange)]
    for i, (area, kind) in enumerate(ranges):
        for other, other_kind in ranges[:i]:
            low = max(kind.totals[0], other_kind.totals[0])
            high = min(kind.totals[1], other_kind.totals[1])
            if low <= high:
                top.refuse(
                    "areas",
                    "ranges of totals that do not overlap",
                    f"{other.id} and {area.id} both win on {low} to {high}",
                )
