"""Irregularities, provoked on purpose: what matters is how they are handled."""

from __future__ import annotations

from typing import cast

from pytest_bdd import parsers, then, when

from harness.bdd.capabilities import needs
from harness.bdd.sitting import Sitting
from harness.bdd.steps.dealing import WHO, announce, person
from harness.rig.roles import Pose
from harness.rules.judgement import judge_entry
from harness.verdicts import Verdict

POSE = r"(?P<pose>leaning|stacked)"


@when(parsers.re(rf"the dice come to rest with one of them {POSE}"))
@needs("presenter", "dice-camera")
def dice_without_reading(sitting: Sitting, pose: str) -> None:
    """Lay the dice so that one has no reading, and look; how they lie is known, not read."""
    sitting.lay((2, 4, 5), cast("Pose", pose))
    sitting.round.note("dice-at-rest", state=pose)


@when(parsers.re(r"the dice come to rest flat"))
@needs("presenter", "dice-camera")
def dice_flat(sitting: Sitting) -> None:
    """Lay the dice flat, as they lie once they were tapped, and look."""
    sitting.lay((2, 4, 5))
    assert sitting.look is not None
    sitting.round.dealing.judge_look(sitting.look)


@then(parsers.re(rf"no value is read from dice of which one is {POSE}"))
def not_read(sitting: Sitting, pose: str) -> None:
    """Hold our own eyes to it: a value would be a guess."""
    seen = sitting.seen()
    sitting.scenario.check(
        Verdict.RIG_FAULT if seen.values else Verdict.PASS,
        f"read as {seen.values} with a {pose} die" if seen.values else f"refused: {seen.reason}",
        part=("camera:dice",),
        fault="misread",
    )


@then(parsers.re(rf"the operator is asked for a ruling on the {POSE} die"))
@needs("operator")
def asked_for_ruling(sitting: Sitting, pose: str) -> None:
    """Ask; where the source is silent nothing is assumed."""
    clause = next(iter(sitting.scenario.facts.clauses), "")
    answer = sitting.ask(
        f"A die is {pose} and the rule says nothing of it. Is the round without a result?", clause
    )
    sitting.scenario.check(
        {"yes": Verdict.PASS, "no": Verdict.PROCEDURE_FAIL}.get(answer, Verdict.PENDING),
        f"the operator's ruling on the {pose} die, that there is no result: {answer}",
        part=("dealer",),
        fault="ruling",
        depends_on=("A17",),
    )


@then(parsers.re(r"the round ends (?:without a result|as (?P<outcome>void|settled|stopped))"))
def round_ends_as(sitting: Sitting, outcome: str | None) -> None:
    """End the round; the irregularity was provoked, so only its handling counts."""
    sitting.round.note("round-end")
    wanted = outcome or "no-result"
    sitting.round.judge()
    found = sitting.round.outcome
    sitting.scenario.check(
        Verdict.PASS if found == wanted else Verdict.PROCEDURE_FAIL,
        f"the round is {found}",
        part=("dealer",),
        fault="outcome",
    )


@when("the dice have been read and announced")
@needs("operator", "dice-camera")
def read_and_announced(sitting: Sitting) -> None:
    """Put what the camera read, and its announcement, on the timeline."""
    assert sitting.look is not None
    sitting.round.dealing.judge_look(sitting.look)
    announce(sitting)


@when(parsers.re(r"the dealer enters (?P<a>[1-6]), (?P<b>[1-6]) and (?P<c>[1-6]) instead"))
@needs("keys", "lamps")
def wrong_entry(sitting: Sitting, a: str, b: str, c: str) -> None:
    """Enter values that are not the dice's, as a dealer might."""
    sitting.round.enter((int(a), int(b), int(c)), provoked=True)


@then(parsers.re(r"the areas of (?P<result>[1-6],[1-6],[1-6]) are lit and no other"))
def lit_as_entered(sitting: Sitting, result: str) -> None:
    """See the equipment do as it was told: what was entered is what is lit."""
    entry = sitting.round.last_entry
    judged = judge_entry(entry, sitting.book, sitting.options, sitting.limits)
    sitting.scenario.check(
        judged.verdict,
        f"{result} entered: {judged.what}",
        part=("lamps",),
        fault="not-as-entered",
        entry=entry.index,
    )


@then(parsers.re(r"the entry is told as an error of the dealer under (?P<clause>[a-z0-9.\-]+)"))
def told_as_dealers(sitting: Sitting, clause: str) -> None:
    """See the monitor name the clause, and nothing else, for the wrong entry."""
    _only(sitting, clause)


@then(parsers.re(r"the departure from (?P<clause>[a-z0-9.\-]+) is noticed, and no other"))
def departure_noticed(sitting: Sitting, clause: str) -> None:
    """See the monitor name the clause of a provoked slip, and nothing else."""
    _only(sitting, clause)


def _only(sitting: Sitting, clause: str) -> None:
    taken = sitting.round.take_departures()
    found = sorted({departure.deviation.clause for departure in taken})
    sitting.scenario.check(
        Verdict.PASS if found == [clause] else Verdict.RIG_FAULT,
        f"noticed: {', '.join(found) or 'nothing'}; provoked: {clause}",
        part=("harness",),
        fault="not-noticed",
        clauses=(clause,),
    )


@when(parsers.re(rf'the {WHO} announces "no result"'))
@needs("operator")
def no_result(sitting: Sitting, by: str) -> None:
    """Have the operator hear the announcement."""
    sitting.round.told(
        "no-result",
        f"Did the {by} announce 'no result'?",
        by=person(by),
        reason=sitting.round.irregularity,
    )


@when(parsers.re(rf"the {WHO} taps the table"))
@needs("operator")
def tap(sitting: Sitting, by: str) -> None:
    """Have the operator see the tap."""
    sitting.round.told("tap", f"Did the {by} in charge tap the table?", by=person(by))


@when("an inspector is told at once")
@needs("operator")
def inspector_told(sitting: Sitting) -> None:
    """Have the operator confirm the notice."""
    sitting.round.told("inspector-told", "Was an inspector told at once?")


@when("the fault has been rectified")
@needs("operator")
def rectified(sitting: Sitting) -> None:
    """Have the operator confirm the repair."""
    sitting.round.told("fault-rectified", "Has the fault been rectified?")


@when(parsers.re(r"it is noticed that (?P<what>.+)"))
@needs("operator")
def fault_noticed(sitting: Sitting, what: str) -> None:
    """Put a fault of the equipment, provoked or staged, on the timeline."""
    sitting.round.irregularity = what
    sitting.round.told("fault", f"Was it noticed that {what}?", what=what)
