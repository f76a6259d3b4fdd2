"""One toss on the bench, and what lay there: never a reading of dice that move or are not read."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

from harness.campaign.qualify_identity import Identity
from harness.dealing.errors import NoMotionError
from harness.dealing.look import Eyes, Look
from harness.rig.bench import Bench
from harness.vision.readings import NO_RESULT_REASONS
from harness.vision.rest import FRAMES

Outcome = Literal[
    "read", "leaning", "stacked", "missing", "extra", "restless", "unread", "unidentified"
]
"""`restless`: did not come to rest in time. `unread`: at rest, and the picture could not be read.
`unidentified`: read, and the dice could not be told apart for certain."""

STROKES = 3
"""Strokes of a toss by hand."""
_LOOKS = 3
"""Times that dice at rest are looked at before they are given up as unread."""


@dataclass(frozen=True, slots=True)
class Toss:
    """One toss. `values`: of die 1, 2, 3 where told apart, else ascending; None unless read.

    `reason` is the eyes' word for why not. `strokes` were sensed (None: nothing senses them); with
    none sensed it is a toss all the same if the camera saw dice moved. `unmoved`: how many dice the
    camera did not see move; they count as they lie. `took_s`: from the start of the toss to the
    reading.
    """

    outcome: Outcome
    values: tuple[int, ...] | None
    reason: str | None
    strokes: int | None
    unmoved: int
    confidence: float
    took_s: float
    look: Look


class Tosser:
    """Tosses and reads on one bench. identity: None where dice cannot be told apart.

    The bench must have a shaker and a dice camera; a cover is kept off, so that the camera sees.
    """

    def __init__(self, bench: Bench, eyes: Eyes, identity: Identity | None) -> None:
        bench.need("shaker", "dice_cameras")
        self._bench = bench
        self._eyes = eyes
        self._identity = identity
        if bench.cover is not None and bench.rig.table.cover != "none":
            bench.cover.take_off()
        self._last = eyes.look_at_leisure()

    def toss(self) -> Toss:
        """Toss once and read. Raises what shaker, sensors and cameras raise."""
        began = time.monotonic()
        strokes = self._shaken()
        look = self._eyes.look(time.monotonic(), moved=True, before=self._last)
        for _ in range(_LOOKS - 1):
            if outcome_of_reason(look.seen.reason) != "unread":
                break
            look = self._eyes.look(time.monotonic(), moved=False, before=self._last)
        unmoved = (
            sum("did not visibly move" in why for why in look.toss.why_not) if look.toss else 0
        )
        if strokes == 0 and unmoved == len(look.readings[0].dice) > 0:
            raise NoMotionError(
                "shaker",
                expected="the dice tossed",
                found="no stroke sensed and the dice as they lay before",
                remedy="have the shaker repaired",
            )
        self._last = look
        outcome = outcome_of_reason(look.seen.reason)
        values: tuple[int, ...] | None = None
        if outcome == "read":
            values = self._values(look)
            outcome = "read" if values is not None else "unidentified"
        return Toss(
            outcome,
            values,
            look.seen.reason,
            strokes,
            unmoved,
            look.seen.confidence,
            time.monotonic() - began,
            look,
        )

    def _shaken(self) -> int | None:
        shaker, sense = self._bench.shaker, self._bench.shake_sense
        assert shaker is not None
        before = 0 if sense is None else sense.strokes()
        if self._bench.rig.table.shaker == "manual":
            shaker.shake(STROKES)
        else:
            shaker.activate("dealer")
        return None if sense is None else sense.strokes() - before

    def _values(self, look: Look) -> tuple[int, ...] | None:
        if self._identity is None:
            return look.seen.values
        dice = [die for die in look.readings[0].dice if die.value is not None]
        if len(dice) != 3:
            return None
        values = self._identity.values(dice, look.frames[:FRAMES][-1].image)
        return values if values is not None and sorted(values) == list(look.seen.values) else None


def outcome_of_reason(reason: str | None) -> Outcome:
    """Give what a toss came to from the eyes' word for why the dice were not read."""
    if reason is None:
        return "read"
    if reason in NO_RESULT_REASONS:
        return reason  # type: ignore[return-value]  # these four are outcomes
    return "restless" if reason == "moving" else "unread"
