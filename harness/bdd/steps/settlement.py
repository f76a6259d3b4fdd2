"""Wagers that are settled, or not: void rounds, tokens, invalidated games."""

from __future__ import annotations

from fractions import Fraction

from pytest_bdd import parsers, then, when

from harness.bdd.capabilities import needs
from harness.bdd.sitting import Sitting
from harness.bdd.steps.payouts import posted
from harness.bdd.steps.wording import dice
from harness.rules.settlement import Settled, Wager, settle
from harness.verdicts import Verdict

STAKE = Fraction(10)


@then("all wagers are void and handed back")
def all_void(sitting: Sitting) -> None:
    """Settle every wager of the layout, and a token, on a round without result."""
    wagers = [Wager(area, STAKE) for area in sitting.book.areas]
    wagers.append(Wager(next(iter(sitting.book.areas)), STAKE, promotional=True))
    wrong = [
        f"{one.wager.area}: {one.outcome}, {one.returned} of {STAKE} handed back"
        for one in settle(sitting.book, None, wagers, void=True, options=sitting.options)
        if one.outcome != "void" or one.returned != STAKE or one.pays != 0
    ]
    _tell(sitting, wrong, "every wager, a token too, is void and handed back", "void")


@then(parsers.re(r"a token of 10 on (?P<area>[a-z0-9\-]+) wins on (?P<result>[1-6],[1-6],[1-6])"))
def token_wins(sitting: Sitting, area: str, result: str) -> None:
    """Settle a winning token: winnings are paid, the token itself is forfeited."""
    one = _settled(sitting, area, result)
    wrong = []
    if one is not None and (one.outcome != "win" or not one.pays or one.returned != 0):
        wrong = [f"{area} on {result}: {one.outcome}, pays {one.pays}, returns {one.returned}"]
    _tell(sitting, wrong, f"winnings paid on {area}, the token forfeited", "token")


@then(parsers.re(r"a token of 10 on (?P<area>[a-z0-9\-]+) loses on (?P<result>[1-6],[1-6],[1-6])"))
def token_loses(sitting: Sitting, area: str, result: str) -> None:
    """Settle a losing token: it is forfeited."""
    one = _settled(sitting, area, result)
    wrong = []
    if one is not None and (one.outcome != "lose" or one.returned != 0):
        wrong = [f"{area} on {result}: {one.outcome}, returns {one.returned}"]
    _tell(sitting, wrong, f"the token on {area} is forfeited", "token")


def _settled(sitting: Sitting, area: str, result: str) -> Settled | None:
    paytable = posted(sitting)
    if paytable is None:
        return None
    wager = Wager(area, STAKE, promotional=True)
    return settle(sitting.book, dice(result), [wager], paytable, options=sitting.options)[0]


def _tell(sitting: Sitting, wrong: list[str], good: str, fault: str) -> None:
    sitting.scenario.check(
        Verdict.RIG_FAULT if wrong else Verdict.PASS,
        "; ".join(wrong[:5]) or good,
        part=("harness",),
        fault=f"settled-wrongly-{fault}",
    )


@when(parsers.re(r"the casino supervisor invalidates the game because of (?P<reason>.+)"))
@needs("operator")
def invalidated(sitting: Sitting, reason: str) -> None:
    """Have the operator hear the casino supervisor invalidate the outcome."""
    sitting.round.told(
        "no-result",
        f"Did the casino supervisor invalidate the game because of {reason}?",
        by="casino-supervisor",
        reason=reason,
    )
