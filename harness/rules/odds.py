"""Odds rows of a rule book: what a wager pays, N to 1, by which clause, and how binding it is.

`floor`: posted odds may be higher, never lower. `fixed`: posted odds are these. `posted`: the
source points elsewhere, so only the paytable posted at the table tells.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Literal, get_args

from harness.rules.areas import Area
from harness.rules.strict_toml import Table, suggestion

OddsRule = Literal["floor", "fixed", "posted"]


@dataclass(frozen=True, slots=True)
class Odds:
    """The odds of one area, for one number of dice that show it.

    `to_one` is N of "N to 1", None where the rule is `posted`.
    """

    rule: OddsRule
    to_one: Fraction | None
    clause: str


def read_odds(
    top: Table, areas: Mapping[str, Area], named: Collection[str]
) -> dict[tuple[str, int], Odds]:
    """Read the `odds` list of a book: each area and count of dice has one row, and only one.

    `named` are the ids of all areas, of those too whose own mistakes kept them out of `areas`.
    """
    odds: dict[tuple[str, int], Odds] = {}
    first: dict[tuple[str, int], str] = {}
    unclear: set[str] = set()
    for table in top.tables("odds"):
        clause = table.text("clause")
        table.describe(clause)
        rule: OddsRule | None = table.choice("rule", get_args(OddsRule))
        to_one = None if rule == "posted" else table.positive("to_one")
        if rule == "posted" and table.has("to_one"):
            table.refuse("to_one", "no odds in a row that says posted", "some", "take it out")
        count = table.whole("dice", 1, 3) if table.has("dice") else None
        matched = _matched(table, areas, named)
        table.close()
        if count is None and table.has("dice"):  # nobody knows which count the row is for
            unclear |= {area.id for area in matched}
            continue
        for area in matched:
            if count is not None and count not in area.counts:
                known = ", ".join(map(str, area.counts))
                table.refuse(
                    "dice",
                    f"a count of dice with which {area.id} can win",
                    str(count),
                    "take it out" if area.counts == (0,) else f"one of {known}",
                )
                continue
            for key in [(area.id, c) for c in area.counts if count in (None, c)]:
                if key in first:
                    table.refuse(
                        "areas",
                        "one row of odds for each area",
                        f"{area.id} here and in {first[key]}",
                        "keep one",
                    )
                elif rule is not None and clause is not None:
                    odds[key] = Odds(rule, to_one, clause)
                first.setdefault(key, table.where)
    for area in areas.values():
        for c in area.counts:
            if (area.id, c) not in first and area.id not in unclear:
                on = f" on {c} dice" if c else ""
                top.refuse("odds", f"odds for {area.id}{on}", "none", "add a row")
    return odds


def _matched(table: Table, areas: Mapping[str, Area], named: Collection[str]) -> list[Area]:
    matched: dict[str, Area] = {}
    for pattern in table.texts("areas") or ():
        hits = [area for id_, area in areas.items() if fnmatchcase(id_, pattern)]
        if named and not any(fnmatchcase(id_, pattern) for id_ in named):
            table.refuse(
                "areas",
                "ids of areas, or patterns as total-*",
                repr(pattern),
                suggestion(pattern, sorted(named)),
            )
        matched |= {area.id: area for area in hits}
    return list(matched.values())
