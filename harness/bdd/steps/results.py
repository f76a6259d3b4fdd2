"""Dice laid, read, entered and cleared: the closed loop of one result."""

from __future__ import annotations

from pytest_bdd import given, parsers, then, when

from harness.bdd.capabilities import needs
from harness.bdd.sitting import Sitting
from harness.bdd.steps.wording import dice
from harness.verdicts import Verdict

RESULT = r"(?P<result>[1-6],[1-6],[1-6])"


@given(parsers.re(rf"the dice lie at {RESULT}"))
@needs("presenter", "dice-camera")
def dice_lie(sitting: Sitting, result: str) -> None:
    """Lay the dice and read them by camera; on a bench that cannot, its result is entered alone."""
    if sitting.closed_loop or sitting.scenario.facts.result is None:
        sitting.lay(dice(result))
    else:
        sitting.meant = dice(result)
        sitting.scenario.check(Verdict.PASS, "no dice were laid: keys and lamps only")


@when("what the dice show is entered on the terminal and then cleared")
@needs("keys", "lamps", "clear-key")
def enter_and_clear(sitting: Sitting) -> None:
    """Enter the values that the camera read, sense the lamps, clear, sense again."""
    sitting.enter_what_lies()


@when("what the dice show is entered on the terminal")
@needs("keys", "lamps")
def enter_shown(sitting: Sitting) -> None:
    """Enter the values that the camera read and sense the lamps; cleared where that can be."""
    sitting.enter_what_lies()


@then("exactly the winning areas were lit, and none after clearing")
@then("exactly the winning areas were lit")
def winning_areas_lit(sitting: Sitting) -> None:
    """Judge the entry: missing and extra lamps both count, as do late and lingering ones."""
    kept = sitting.scenario.entries[-1]
    if kept.judgement.verdict is Verdict.PASS:
        sitting.scenario.check(Verdict.PASS, kept.judgement.what)
