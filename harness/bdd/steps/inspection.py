"""Inspections: of the entry terminal, of the shaker, before opening and at a shift's start."""

from __future__ import annotations

from pytest_bdd import parsers, then, when

from harness.bdd.capabilities import needs
from harness.bdd.sitting import Sitting
from harness.bdd.steps.dealing import WHO, person
from harness.verdicts import Verdict


@when(parsers.re(rf"the {WHO} inspects the entry device with what the dice show"))
@needs("keys", "lamps", "operator")
def inspect_terminal(sitting: Sitting, by: str) -> None:
    """Enter one result and put the inspection, as it came out, on the timeline."""
    kept = sitting.enter_what_lies()
    passed = kept.judgement.verdict is Verdict.PASS
    sitting.round.told(
        "inspect-terminal",
        f"Did the {by} assigned to the table make this inspection?",
        by=person(by),
        passed=passed,
    )


@when(parsers.re(rf"the {WHO} runs the shaker (?P<runs>[0-9]+) times"))
@needs("shaker", "shake-sense", "dice-camera", "operator")
def inspect_shaker(sitting: Sitting, by: str, runs: str) -> None:
    """Run the machine, judge each toss, and put each run on the timeline as it came out."""
    for _ in range(int(runs)):
        passed = sitting.round.inspect_toss()
        sitting.round.told(
            "inspect-shaker-run",
            f"Did the {by} assigned to the table make this run?",
            by=person(by),
            passed=passed,
        )


@when("the shift begins")
def shift_begins(sitting: Sitting) -> None:
    """Put the shift's start on the timeline."""
    sitting.round.note("shift-start")


@then("the table may open")
@when("the table opens")
def table_opens(sitting: Sitting) -> None:
    """Open the table: an inspection that is missing or did not pass shows with the first round.

    A table whose inspection just failed stays closed, as the rule demands.
    """
    if sitting.round.inspection_failed:
        sitting.scenario.check(
            Verdict.PASS, "the inspection was not passed: the table stays closed"
        )
        return
    sitting.round.note("table-open")
    sitting.round.note("round-start")
    before = len(sitting.scenario.checks)
    sitting.round.judge()
    if len(sitting.scenario.checks) == before:
        sitting.scenario.check(Verdict.PASS, "the inspections demanded were made and passed")


@when("the table opens too soon")
def opens_too_soon(sitting: Sitting) -> None:
    """Open the table and begin a round on purpose; what is wrong with it is for the next step."""
    sitting.round.note("table-open")
    sitting.round.note("round-start")


@then("every toss was proper")
def tosses_proper(sitting: Sitting) -> None:
    """Judge the tosses by the reading A9: each die moved, rests flat, unstacked and readable."""
    improper = sitting.round.improper_tosses
    sitting.scenario.check(
        Verdict.DUT_FAIL if improper else Verdict.PASS,
        "; ".join(improper) or "each die moved and came to rest flat, unstacked and readable",
        part=("shaker",),
        fault="toss-not-proper",
        depends_on=("A9",),
        by_camera=True,
    )


@then("play may begin")
def play_may_begin(sitting: Sitting) -> None:
    """Begin a round: an inspection of this shift that is missing or did not pass shows here."""
    if sitting.round.inspection_failed:
        sitting.scenario.check(Verdict.PASS, "inspection not passed: play does not begin")
        return
    sitting.round.note("round-start")
    before = len(sitting.scenario.checks)
    sitting.round.judge()
    if len(sitting.scenario.checks) == before:
        sitting.scenario.check(Verdict.PASS, "the inspection of this shift was made and passed")
