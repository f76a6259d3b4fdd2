"""Which die is which: by colour, or by the chamber it lies in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.verdicts import ConfigurationError
from harness.vision.readings import DieSeen

ToldBy = Literal["alike", "colour", "place"]
"""How dice are told apart: not at all, by the colour of their bodies, by where they lie."""

_LEAST_APART = {"colour": 25.0, "place": 1.5}
"""CIELAB units (8 bit, as OpenCV's) between bodies' colours; edges of a die between chambers."""
_SURE = 0.5
"""A die is known if it lies at most half as far from its own mark as from any other's."""


class Identity:
    """Learns three marks from the first toss and knows the dice by them from then on.

    `marks`: shape (3, m), a row a die: CIELAB colours, or places in edges of a die; None before the
    first toss.
    """

    def __init__(self, by: Literal["colour", "place"], marks: NDArray[np.float64] | None) -> None:
        self._by = by
        self.marks = marks

    def values(
        self, dice: Sequence[DieSeen], image: NDArray[np.uint8]
    ) -> tuple[int, int, int] | None:
        """Give the values of die 1, 2 and 3; None if one cannot be told for certain.

        dice: three that were read. Raises ConfigurationError if the first toss shows dice that are
        not apart.
        """
        seen = self._measured(dice, image)
        if self.marks is None:
            order = np.lexsort(seen.T[::-1])
            self.marks = self._apart(seen[order])
        gaps = np.linalg.norm(self.marks[:, None] - seen[None], axis=2)  # mark, die
        best = min(permutations(range(3)), key=lambda p: sum(gaps[i, p[i]] for i in range(3)))
        for mark, die in enumerate(best):
            others = np.delete(gaps[:, die], mark)
            if gaps[mark, die] > _SURE * others.min():
                return None
        one, two, three = (dice[die].value or 0 for die in best)
        return one, two, three

    def _apart(self, marks: NDArray[np.float64]) -> NDArray[np.float64]:
        least = min(float(np.linalg.norm(marks[a] - marks[b])) for a, b in ((0, 1), (0, 2), (1, 2)))
        if least < _LEAST_APART[self._by]:
            what = "colours" if self._by == "colour" else "places"
            raise ConfigurationError(
                "dice",
                expected=f"three dice of clearly different {what}",
                found=f"{what} only {least:.1f} apart (at least {_LEAST_APART[self._by]:g})",
                remedy="use dice that differ, or qualify them without telling them apart",
            )
        return marks

    def _measured(self, dice: Sequence[DieSeen], image: NDArray[np.uint8]) -> NDArray[np.float64]:
        if self._by == "place":
            edges = [_edge(die) for die in dice]
            return np.asarray(np.array([die.centre_px for die in dice]) / np.mean(edges))
        lab = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2LAB), np.uint8)
        return np.array([_body_colour(die, lab) for die in dice])


def _edge(die: DieSeen) -> float:
    corners = np.asarray(die.corners_px)
    return float(np.hypot(*(corners - np.roll(corners, 1, axis=0)).T).mean())


def _body_colour(die: DieSeen, lab: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Give the median colour of a top face: pips cover less than half of it."""
    mask = np.zeros(lab.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.rint(die.corners_px).astype(np.int32), 1)
    return np.asarray(np.median(lab[mask > 0], axis=0), np.float64)
