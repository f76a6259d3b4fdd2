"""What a table must have: confirmed by the operator, or seen by the bench."""

from __future__ import annotations

import time

from pytest_bdd import given, parsers, then

from harness.bdd.capabilities import needs
from harness.bdd.sitting import Sitting
from harness.verdicts import Verdict
from harness.vision.readings import legible


@then(
    parsers.re(
        r"the operator confirms of the (?P<part>table|layout|shaker|cover|dice|terminal|dealer) "
        r"that (?P<statement>.+)"
    )
)
@needs("operator")
def operator_confirms(sitting: Sitting, part: str, statement: str) -> None:
    """Ask the operator; the answer is recorded as theirs, never assumed."""
    sitting.confirm(statement, part)


@then("the layout has an area for each wager of the rule book and no other")
@needs("lamps")
def layout_areas(sitting: Sitting) -> None:
    """Compare the areas that this bench senses with those of the book."""
    lamps = sitting.bench.rig.lamps
    sensed = set(lamps.map if lamps is not None else ())
    missing, extra = set(sitting.book.areas) - sensed, sensed - set(sitting.book.areas)
    told = [f"no area for {', '.join(sorted(missing))}"] if missing else []
    told += [f"areas of no wager: {', '.join(sorted(extra))}"] if extra else []
    sitting.scenario.check(
        Verdict.DUT_FAIL if told else Verdict.PASS,
        "; ".join(told) or f"{len(sensed)} areas, those of the rule book",
        part=("layout",),
        fault="areas-differ",
    )


@given("the dice can be read with the cover off")
@then("the dice can be read with the cover off")
@needs("dice-camera")
def dice_readable(sitting: Sitting) -> None:
    """Look for three legible dice."""
    sitting.look = sitting.eyes.look_at_leisure()
    seen = sitting.seen()
    verdict = Verdict.PASS
    if seen.reason is not None:
        poses = ("leaning", "stacked", "missing", "extra", "moving")
        verdict = Verdict.NO_RESULT if seen.reason in poses else Verdict.RIG_FAULT
    sitting.scenario.check(
        verdict,
        "three dice, each with one legible face up" if seen.reason is None else seen.reason,
        part=("dice" if verdict is Verdict.NO_RESULT else "camera:dice",),
        fault=seen.reason or "",
    )


@then("no die was visible while the cover was on")
@needs("dice-camera", "cover")
def nothing_visible(sitting: Sitting) -> None:
    """Judge the pictures taken through the whole shake, and one more of the dice at rest."""
    dealing = sitting.round.dealing
    if dealing.cover_moved_unbidden:
        sitting.round.judge()  # an open cover hides nothing, which proves nothing about the cover
        return
    resting = sitting.eyes.take(time.monotonic())
    pictures = [*dealing.under_cover, resting]
    looked = len(pictures)
    seen = dealing.dice_seen_under_cover + legible(sitting.eyes.read_as_it_is(resting))
    sitting.keep_glimpses(pictures, seen)
    sitting.scenario.check(
        Verdict.DUT_FAIL if seen else Verdict.PASS,
        f"dice were seen in {seen} of {looked} pictures taken with the cover on",
        part=("cover",),
        fault="does-not-hide",
        by_camera=True,
    )
