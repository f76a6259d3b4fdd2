"""Return to player: what an area hands back on average for each unit staked, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from harness.rules.areas import ALL_RESULTS, Area, Options
from harness.rules.books import RuleBook
from harness.rules.paytable import Paytable, require_lawful
from harness.rules.settlement import winning_odds


@dataclass(frozen=True, slots=True)
class AreaReturn:
    """How many of the 216 results win, and the mean amount handed back per unit, stake included.

    `value` is None where odds are as posted and none were given.
    """

    wins: int
    value: Fraction | None


def returns(
    book: RuleBook, paytable: Paytable | None = None, options: Options | None = None
) -> dict[str, AreaReturn]:
    """Give the return of every area, in the book's order, over 216 equally likely results.

    Where the book sets a floor and nothing is posted, this is the least lawful return. Raises
    PaytableBreachError for posted odds that the book forbids.
    """
    in_force = book.in_force(options)
    require_lawful(book, paytable)
    return {id_: _return(book, area, paytable, in_force) for id_, area in book.areas.items()}


def _return(book: RuleBook, area: Area, paytable: Paytable | None, options: Options) -> AreaReturn:
    winning = [dice for dice in ALL_RESULTS if area.wins(dice, options)]
    handed_back = Fraction(0)
    for dice in winning:
        odds = winning_odds(book, area, dice, paytable, options)
        if odds is None:
            return AreaReturn(len(winning), None)
        handed_back += odds + 1
    return AreaReturn(len(winning), handed_back / len(ALL_RESULTS))
