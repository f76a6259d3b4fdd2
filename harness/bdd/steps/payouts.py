"""Odds posted at the table against the rule book, and settlement at these odds."""

from __future__ import annotations

from collections.abc import Callable, Collection
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path

from pytest_bdd import parsers, then

from harness.bdd.sitting import Sitting
from harness.rules.areas import ALL_RESULTS
from harness.rules.paytable import Paytable, check_paytable, read_paytable
from harness.rules.settlement import Wager, settle
from harness.verdicts import Verdict

AREAS = r"(?P<areas>[a-z0-9\-*]+(?:, [a-z0-9\-*]+)*)"
ODDS = r"(?P<odds>[0-9]+(\.[0-9]+)?)"


def posted(sitting: Sitting) -> Paytable | None:
    """Give the odds posted at this table; None, and PENDING, where the rig file names none."""
    name = sitting.bench.rig.table.paytable
    if name is None:
        sitting.scenario.check(
            Verdict.PENDING, "the rig file names no paytable: the odds posted are not known"
        )
        return None
    return read_paytable(Path(sitting.bench.rig.path).parent / name, sitting.book)


def named(sitting: Sitting, areas: str) -> list[str]:
    """Give the areas that a step names; `*` stands for any characters."""
    patterns = areas.split(", ")
    return [area for area in sitting.book.areas if any(fnmatchcase(area, p) for p in patterns)]


@then("no odds posted at the table break the rule book")
def lawful(sitting: Sitting) -> None:
    """Check the whole paytable against the book's odds."""
    paytable = posted(sitting)
    if paytable is None:
        return
    breaches = check_paytable(sitting.book, paytable)
    unposted = sorted({area for area, count in sitting.book.odds if (area, count) not in paytable})
    told = [str(breach) for breach in breaches]
    told += [f"no odds posted for {', '.join(unposted)}"] if unposted else []
    sitting.scenario.check(
        Verdict.DUT_FAIL if told else Verdict.PASS,
        "; ".join(told) or "every area is posted at odds that the rule book allows",
        part=("paytable",),
        fault="odds-not-allowed",
    )


@then(
    parsers.re(
        r"whether the odds posted satisfy section (?P<section>[0-9A-Za-z:.\-]+) is left open"
    )
)
def left_open(sitting: Sitting, section: str) -> None:
    """Say that a section no rule book here holds decides which odds may be posted."""
    sitting.scenario.check(
        Verdict.PENDING,
        f"compliance of the posted odds with section {section}, which is not among the rule books",
        depends_on=("A4",),
    )


@then(parsers.re(rf"the odds posted for {AREAS} are at least {ODDS} to 1"))
def at_least(sitting: Sitting, areas: str, odds: str) -> None:
    """Compare with a floor."""
    _compare(sitting, areas, None, lambda found: found >= Fraction(odds), f"at least {odds}")


@then(parsers.re(rf"the odds posted for {AREAS} are exactly {ODDS} to 1"))
def exactly(sitting: Sitting, areas: str, odds: str) -> None:
    """Compare with fixed odds."""
    _compare(sitting, areas, None, lambda found: found == Fraction(odds), f"exactly {odds}")


@then(parsers.re(rf"the odds posted for {AREAS} on (?P<dice>[1-3]) dice are exactly {ODDS} to 1"))
@then(parsers.re(rf"the odds posted for {AREAS} on (?P<dice>1) die are exactly {ODDS} to 1"))
def exactly_on_dice(sitting: Sitting, areas: str, dice: str, odds: str) -> None:
    """Compare with the odds fixed for a count of dice."""
    _compare(sitting, areas, int(dice), lambda found: found == Fraction(odds), f"exactly {odds}")


@then(parsers.re(rf"the odds posted for {AREAS} on (?P<dice>1) die are at least {ODDS} to 1"))
def at_least_on_dice(sitting: Sitting, areas: str, dice: str, odds: str) -> None:
    """Compare with the floor for a count of dice."""
    _compare(sitting, areas, int(dice), lambda found: found >= Fraction(odds), f"at least {odds}")


def _compare(
    sitting: Sitting,
    areas: str,
    dice: int | None,
    allowed: Callable[[Fraction], bool],
    demanded: str,
) -> None:
    paytable = posted(sitting)
    if paytable is None:
        return
    wrong = []
    for area in named(sitting, areas):
        counts = sitting.book.areas[area].counts
        for count in (dice,) if dice is not None else counts:
            found = paytable.get((area, count))
            if found is None or not allowed(found):
                wrong.append(f"{area}: {'nothing' if found is None else found}")
    sitting.scenario.check(
        Verdict.DUT_FAIL if wrong else Verdict.PASS,
        f"posted {'; '.join(dict.fromkeys(wrong))}, demanded {demanded} to 1"
        if wrong
        else f"posted odds of {areas} are {demanded} to 1",
        part=("paytable",),
        fault="odds-not-allowed",
    )


@then(parsers.re(rf"a wager on each of {AREAS} is paid at the posted odds on every result"))
def settled_everywhere(sitting: Sitting, areas: str) -> None:
    """Settle a wager of 1 on all 216 results: it wins where its area is lit, and is paid as posted.

    The lit areas are those that the book's table names; that the table under test lights them is
    what the every-result scenarios show.
    """
    paytable = posted(sitting)
    if paytable is None:
        return
    table = sitting.book.table(sitting.options)
    wrong: list[str] = []
    pending = False
    wagers = [Wager(area, Fraction(1)) for area in named(sitting, areas)]
    lawful_odds = _lawful_part(sitting, paytable, [wager.area for wager in wagers])
    for dice in ALL_RESULTS:
        for settled in settle(sitting.book, dice, wagers, lawful_odds):
            area = settled.wager.area
            wins = area in table[dice]
            count = sitting.book.areas[area].count(dice) if wins else 0
            pays = paytable.get((area, count)) if wins else Fraction(0)
            pending = pending or settled.outcome == "pending"
            if settled.outcome != "pending" and (
                (settled.outcome == "win") != wins or settled.pays != pays
            ):
                wrong.append(f"{area} on {','.join(map(str, dice))}: {settled.pays}, not {pays}")
    verdict = Verdict.PASS
    if wrong:
        verdict = Verdict.DUT_FAIL
    elif pending:
        verdict = Verdict.PENDING
    sitting.scenario.check(
        verdict,
        "; ".join(wrong[:5]) or f"{areas}: settled on 216 results",
        part=("paytable",),
        fault="paid-wrongly",
    )


def _lawful_part(sitting: Sitting, paytable: Paytable, areas: Collection[str]) -> Paytable:
    """Give the odds of some areas without those that the book forbids, another check's finding."""
    forbidden = {
        (breach.area, count)
        for breach in check_paytable(sitting.book, paytable)
        for count in breach.dice or sitting.book.areas[breach.area].counts
    }
    return {
        (area, count): odds
        for (area, count), odds in paytable.items()
        if area in areas and (area, count) not in forbidden
    }
