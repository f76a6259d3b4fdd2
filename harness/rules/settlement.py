"""Settlement of wagers in exact arithmetic: who wins, at what odds, by which clause.

Amounts are fractions, in the unit of the stake. Where they are written out, a whole number stands
plain and any other as a fraction in lowest terms (`"5"`, `"7/2"`), which is what `str` gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from harness.observations import Dice
from harness.rules.areas import Area, Options, Pair, check_dice
from harness.rules.books import RuleBook
from harness.rules.paytable import Paytable, odds_in_force, require_lawful
from harness.rules.strict_toml import suggestion
from harness.verdicts import InvalidFileError, Problem

Outcome = Literal["win", "lose", "void", "pending"]
"""`pending`: a winner whose odds are as posted, and none are known."""

_NOTHING = Fraction(0)


@dataclass(frozen=True, slots=True)
class Wager:
    """A stake on an area; `promotional` marks a promotional token or coupon of that amount."""

    area: str
    stake: Fraction
    promotional: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """A wager as it ends.

    `odds` is N of "N to 1", None unless a win. `pays` is the winnings without the stake, None while
    pending. `returned` is how much of the stake (or token) is handed back, None where the source
    does not say. `clause` is the most specific tag that governs: the odds row of a win, the wager's
    definition for a loss, the rule that voids; None where the source has none.
    """

    wager: Wager
    outcome: Outcome
    odds: Fraction | None
    pays: Fraction | None
    returned: Fraction | None
    clause: str | None

    def to_json(self) -> dict[str, object]:
        """Give the settled wager as `rules settle --json` prints it."""
        return {
            "area": self.wager.area,
            "stake": str(self.wager.stake),
            "promotional": self.wager.promotional,
            "outcome": self.outcome,
            "odds": None if self.odds is None else str(self.odds),
            "pays": None if self.pays is None else str(self.pays),
            "returned": None if self.returned is None else str(self.returned),
            "clause": self.clause,
        }


def settle(
    book: RuleBook,
    dice: Dice | None,
    wagers: Sequence[Wager],
    paytable: Paytable | None = None,
    void: bool = False,
    *,
    options: Options | None = None,
) -> list[Settled]:
    """Settle each wager, in the order given.

    dice: the result; may be None if the round is void, and is then of no account. paytable: odds as
    posted; without them the odds are those the book lists (a floor is paid as such). Raises
    InvalidFileError for stakes not above zero and areas the book has not (all at once),
    PaytableBreachError for posted odds that the book forbids.
    """
    _refuse_mistaken(book, wagers)
    in_force = book.in_force(options)
    require_lawful(book, paytable)
    if void:
        return [_void(book, wager, in_force) for wager in wagers]
    result = check_dice(dice or ())
    return [_settle_one(book, result, wager, paytable, in_force) for wager in wagers]


def winning_odds(
    book: RuleBook, area: Area, dice: Dice, paytable: Paytable | None, options: Options
) -> Fraction | None:
    """Give N of "N to 1" for an area that wins on these dice; None where only a paytable can tell.

    Where `pair-counts-once` is turned off, a pair is paid once for each two dice that make it.
    """
    odds = odds_in_force(book, area, area.count(dice), paytable)
    if (
        odds is not None
        and isinstance(area.kind, Pair)
        and options.get("pair-counts-once", True) is False
    ):
        low, high = area.kind.numbers
        return odds * dice.count(low) * dice.count(high)
    return odds


def _settle_one(
    book: RuleBook, dice: Dice, wager: Wager, paytable: Paytable | None, options: Options
) -> Settled:
    area = book.areas[wager.area]
    if not area.wins(dice, options):
        return Settled(wager, "lose", None, _NOTHING, _NOTHING, area.losing_clause)
    clause = book.odds[area.id, area.count(dice)].clause
    odds = winning_odds(book, area, dice, paytable, options)
    returned = _returned_to_winner(book, wager)
    if odds is None:
        return Settled(wager, "pending", None, None, returned, clause)
    return Settled(wager, "win", odds, odds * wager.stake, returned, clause)


def _returned_to_winner(book: RuleBook, wager: Wager) -> Fraction | None:
    if not wager.promotional:
        return wager.stake
    kept = book.settlement.promotional_returned
    if kept is None:
        return None
    return wager.stake if kept else _NOTHING


def _void(book: RuleBook, wager: Wager, options: Options) -> Settled:
    # A token is handed back too: only a valid result forfeits it.
    refunds = options.get("void-refunds", True) is True
    returned = wager.stake if refunds else _NOTHING
    return Settled(wager, "void", None, _NOTHING, returned, book.settlement.void_clause)


def _refuse_mistaken(book: RuleBook, wagers: Sequence[Wager]) -> None:
    problems: list[Problem] = []
    for index, wager in enumerate(wagers):
        where = f"wager {index + 1} ({wager.area})"
        if wager.area not in book.areas:
            remedy = suggestion(wager.area, sorted(book.areas))
            problems.append(Problem(where, f"an area of {book.id}", "no such area", remedy))
        if wager.stake <= 0:
            problems.append(Problem(where, "a stake above zero", str(wager.stake)))
    if problems:
        raise InvalidFileError("wagers", problems)
