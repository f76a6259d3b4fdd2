"""Which results an inspection asks for (`inspection-profile`): all 216, a smallest cover, or one.

A row of examples that reads `each of 216` stands for one scenario for each of these results.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from harness.observations import Dice

if TYPE_CHECKING:
    from harness.rules.books import RuleBook

Inspection = Literal["full", "cover", "minimum"]
EVERY_RESULT = "each of 216"
FACES = range(1, 7)


def results_of(inspection: Inspection, book: RuleBook) -> tuple[Dice, ...]:
    """Give the results to test.

    `full`: every ordered result. `cover`: a smallest set that lights every area of the book,
    the values of each in an order that has every key pressed first.
    `minimum`: one result, the legal least; of all, one that lights the most areas.
    """
    every = tuple((a, b, c) for a in FACES for b in FACES for c in FACES)
    if inspection == "full":
        return every
    if inspection == "minimum":
        return (max(every, key=lambda dice: len(book.winning_areas(dice))),)
    from harness.diagnosis.plan import in_varied_orders, plan_cover  # scipy: only this needs it

    return tuple(in_varied_orders(sorted(plan_cover(book).results)))


def written(dice: Dice) -> str:
    """Write a result as in every interface: `1,1,2`."""
    return ",".join(str(value) for value in dice)


def expand_rows(rows: Iterable[Sequence[str]], results: tuple[Dice, ...]) -> list[Sequence[str]]:
    """Give rows of examples with each `each of 216` cell replaced by a row for every result."""
    expanded: list[Sequence[str]] = []
    for row in rows:
        if EVERY_RESULT not in row:
            expanded.append(row)
            continue
        for dice in results:
            expanded.append([written(dice) if cell == EVERY_RESULT else cell for cell in row])
    return expanded
