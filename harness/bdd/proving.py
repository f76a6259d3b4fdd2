"""Before any scenario a bench shows that it may judge: self-check, picture, negative control."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from harness.bdd.kept_pictures import kept_picture, lamp_frames
from harness.dealing.selfcheck import (
    CONTROL_DICE,
    CONTROL_KEYED,
    OTHER_DICE,
    Proof,
    aim_proof,
    control_proof,
    picture_proof,
)
from harness.evidence.records import outside
from harness.rig.errors import NotCapableError, RigError
from harness.rig.selfcheck import (
    Check,
    calibrations,
    dark_levels,
    identities,
    inputs_follow,
    outputs_open,
    references,
    supply_regulates,
)
from harness.rules.judgement import judge_entry
from harness.verdicts import Verdict

if TYPE_CHECKING:
    from harness.bdd.sitting import Sitting
    from harness.dealing.look import Look


class UnfitBenchError(RigError):
    """A bench that failed its self-check: it judges nothing today."""

    def __init__(self, part: str, what: str, found: str, fault: str) -> None:
        super().__init__(
            part,
            expected=f"a bench that passes its self-check ({what})",
            found=found,
            remedy="see `sicbo-hil doctor` for what to do, then run again",
        )
        self._fault = fault

    def to_json(self) -> dict[str, object]:
        """Give the error with its located part."""
        return {**super().to_json(), "part": self.subject, "fault": self._fault}


def prove(sitting: Sitting) -> None:
    """Have a bench show that it may judge, before any scenario.

    Each point is recorded. A mismatch is made on purpose and must be caught. Raises UnfitBenchError
    with the first failure.
    """
    for check in _rig_checks(sitting):
        good = {Verdict.PASS: True, Verdict.RIG_FAULT: False}.get(check.verdict)
        _record_proof(sitting, "self-check", check.part, f"{check.what}: {check.found}", good)
        if good is False:
            raise UnfitBenchError(check.part, check.what, check.found, check.fault)
    sitting.tidy()
    looked: Look | None = None
    if sitting.eyes_or_none is not None:
        if sitting.lays:
            looked = _laid_for_proof(sitting)
        looked = looked or sitting.eyes.look_at_leisure()
        _prove(sitting, "self-check", picture_proof(looked, sitting.shown))
    if sitting.bench.keys is None or not sitting.bench.lamps:
        return
    seen = looked.seen if looked is not None and sitting.shown is not None else None
    entry = sitting.taker.enter(
        sitting.take_index(),
        [str(key) for key in CONTROL_KEYED],
        mode="entered" if seen is None else "presented",
        shown=CONTROL_DICE,
        seen=seen,
    )
    sitting.record.entry(
        entry,
        judge_entry(entry, sitting.book, sitting.options, sitting.limits),
        scenario=outside(sitting.book.id, sitting.rig, "negative-control"),
        frames=[kept_picture(frame) for frame in looked.frames]
        if looked is not None and seen
        else (),
        lamp_frames=lamp_frames(entry),
        options=sitting.options,
        limits=sitting.limits,
        provoked=True,
    )
    _prove(
        sitting,
        "negative-control",
        control_proof(entry, sitting.book, sitting.options, sitting.limits),
    )


def _laid_for_proof(sitting: Sitting) -> Look | None:
    """Lay two throws in turn and give the look at the second; None where none can be laid.

    A program in the emulator's place may have no hands: what needs them is not applicable then.
    """
    try:
        for dice in (OTHER_DICE, CONTROL_DICE):
            sitting.lay(dice)
            assert sitting.look is not None
            _prove(sitting, "self-check", aim_proof(sitting.eyes.misaimed(sitting.look)))
    except NotCapableError as error:
        sitting.lays, sitting.shown = False, None
        _record_proof(sitting, "self-check", "presenter", f"lays no dice: {error.found}", None)
    looked, sitting.look = sitting.look, None
    return looked if sitting.lays else None


def _rig_checks(sitting: Sitting) -> Iterator[Check]:
    yield from identities(sitting.bench)
    yield from calibrations(sitting.bench, datetime.now(UTC).date())
    yield from outputs_open(sitting.bench)
    yield from references(sitting.bench)
    yield from inputs_follow(sitting.bench)
    yield from supply_regulates(sitting.bench)
    yield from _dark_levels(sitting)


def _dark_levels(sitting: Sitting) -> Iterator[Check]:
    """Check dark levels with the table cleared; a lamp that another path sees lit is lit."""
    if sitting.bench.rig.limits.dark_level_max is None or sitting.bench.keys is None:
        return
    sitting.taker.clear()
    samples = sitting.taker.sense_all()
    shining = frozenset[str]().union(*(s.lit for s in samples if s.levels is None))
    for check in dark_levels(sitting.bench):
        if check.part.removeprefix("input:") not in shining:
            yield check


def _prove(sitting: Sitting, topic: str, proof: Proof) -> None:
    _record_proof(sitting, topic, proof.part, proof.what, proof.held)
    if not proof.held:
        raise UnfitBenchError(proof.part, topic, proof.what, proof.fault)


def _record_proof(sitting: Sitting, topic: str, part: str, what: str, good: bool | None) -> None:
    sitting.record.rig_fact(sitting.rig, topic, part, what, good=good)
