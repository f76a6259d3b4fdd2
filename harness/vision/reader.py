"""Reads dice: finds them, reads each top face twice by independent means, refuses when in doubt."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.vision.calibration import Profile
from harness.vision.decision import Die, decide
from harness.vision.faces import Pyramid
from harness.vision.finder import Finder
from harness.vision.judge import Judge
from harness.vision.pictures import as_picture, fit_size
from harness.vision.pips import read_pips
from harness.vision.quality import picture_fault
from harness.vision.readings import DiceReading, DieSeen

NOT_AN_IMAGE = DiceReading("unreadable", (), "not-an-image", 0.0, (), 0.0)


class DiceReader:
    """Reads pictures of dice. Holds the networks: one reader per thread."""

    def __init__(self, profile: Profile | None = None) -> None:
        self._profile = profile
        self._finder = Finder()
        self._judge = Judge()

    def read(self, image: NDArray[Any], dice: int | None = 3) -> DiceReading:
        """Read one picture, (h, w) or (h, w, 3 or 4) as OpenCV gives it, 8 or 16 bits.

        `dice` is how many there must be, None any number but none. Gives sorted values, or the
        reason for none; never raises for what a picture shows.
        """
        began = time.perf_counter()
        picture = as_picture(image)
        if picture is None:
            return NOT_AN_IMAGE
        picture, scale = fit_size(picture)
        pyramid = Pyramid(picture)
        scene = self._finder.find(pyramid)
        judged = self._judge.judge(pyramid, [found.frame for found in scene.dice])
        seen = tuple(
            Die(found, face, read_pips(pyramid, face.frame))
            for found, face in zip(scene.dice, judged, strict=True)
        )
        decision = decide(seen, scene.chips, dice)
        reason = decision.reason
        if reason is not None:
            reason = picture_fault(pyramid.level(1), bool(seen)) or reason
        ms = (time.perf_counter() - began) * 1000
        from_picture = _unscaled(decision.dice, scale)
        if reason is None:
            return DiceReading(
                "values", decision.values, None, decision.confidence, from_picture, ms
            )
        verdict = (
            "no-result" if reason in ("leaning", "stacked", "missing", "extra") else "unreadable"
        )
        return DiceReading(verdict, (), reason, decision.confidence, from_picture, ms)  # type: ignore[arg-type]


def _unscaled(dice: tuple[DieSeen, ...], scale: float) -> tuple[DieSeen, ...]:
    """Give the dice in pixels of the picture as it came, before it was shrunk."""
    if scale == 1.0:
        return dice

    def back(points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        moved = (np.asarray(points).reshape(-1, 2) + 0.5) / scale - 0.5
        return tuple((float(x), float(y)) for x, y in moved)

    return tuple(
        DieSeen(
            d.value,
            d.state,
            back((d.centre_px,))[0],
            back(d.corners_px),
            d.confidence,
            back(d.pips_px),
        )
        for d in dice
    )
