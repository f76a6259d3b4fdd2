"""Tells a leaning die by geometry: the upright edges of dice that lie flat all point to one nadir.

A die's top face and its bottom face, `E` px apart at the face's distance, give the image of a
vertical edge. Under a pinhole camera the vertical edges of flat dice meet in the nadir V, and
foot / E = g (V - bottom), with one g = cos(tilt) / focal length for the whole picture. That is
linear in g and gV; a die that leans does not fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.vision.faces import Frame

USUAL_G, SPREAD_G = 1 / 700, 1 / 400
"""Usual 1 / focal length (1/px) for pictures whose longer side is 640 px, how much it varies."""


NOISE = 0.045
"""Standard deviation with which a slope is seen when both looks agree."""
SURE_TO = 0.03
"""Part of an edge by which two looks at a foot may differ without making it doubtful."""


def face_scale(frame: Frame) -> float:
    """Give the edge in px as it would be seen square on: the longest extent of the face."""
    u, v = frame.across, frame.along
    # The greater singular value of the matrix whose columns are u and v.
    total = abs(u) ** 2 + abs(v) ** 2
    area = (u.conjugate() * v).imag
    return 2.0 * math.sqrt((total + math.sqrt(max(0.0, total * total - 4 * area * area))) / 2)


@dataclass(frozen=True, slots=True)
class Upright:
    """A die's upright edge as seen: its top face and the way to its bottom.

    `foot` leads from the top face's centre to the bottom's (px); `doubt` is how far two looks at it
    differ (px).
    """

    frame: Frame
    foot: complex
    doubt: float = 0.0

    @property
    def scale(self) -> float:
        """Give the die's edge in px as seen square on."""
        return face_scale(self.frame)

    @property
    def slope(self) -> complex:
        """Give the image of the upright edge, in edges."""
        return self.foot / self.scale

    @property
    def bottom(self) -> complex:
        """Give the pixel of the bottom face's centre."""
        return self.frame.centre + self.foot

    @property
    def noise(self) -> float:
        """Give the standard deviation of the slope."""
        return NOISE + self.doubt / self.scale


def upright_errors(
    dice: Sequence[Upright], width: int, known: tuple[complex, float] | None = None
) -> list[float]:
    """Give how far each die's upright edge is off the common nadir: about the sine of its lean.

    An error counts for less where two looks differ, and where a die is seen aslant: feet are seen
    less exactly there. `width` is the picture's longer side (px). `known`: the nadir (px) and g
    (1/px) of a calibrated camera. Without it a die alone gives 0: there is nothing to compare with.
    """
    if known is not None:
        nadir, g = known
        return [_counted(d, g * (nadir - d.bottom)) for d in dice]
    errors = [0.0] * len(dice)
    if len(dice) < 2:
        return errors
    for k, die in enumerate(dice):
        w, g = _fit([d for n, d in enumerate(dice) if n != k], width)
        errors[k] = _counted(die, w - g * die.bottom)
    return errors


def _counted(die: Upright, expected: complex) -> float:
    aslant = 1 + 3 * max(0.0, abs(expected) - 0.2)
    doubtful = min(1.8, 1 + max(0.0, die.doubt / die.scale - SURE_TO) / 0.1)
    return abs(die.slope - expected) / (aslant * doubtful)


def fit_nadir(dice: Sequence[Upright], width: int) -> tuple[complex, float]:
    """Fit the nadir (px) and g (1/px) to dice that lie flat, spread over the picture."""
    kept = list(dice)
    w, g = 0j, 0.0
    for _ in range(3):
        w, g = _fit(kept, width)
        off = {id(d): abs(d.slope - (w - g * d.bottom)) for d in dice}
        most = max(3 * float(np.median(list(off.values()))), 1e-3)
        kept = [d for d in dice if off[id(d)] <= most]
    return w / max(g, 1e-6), max(g, 1e-6)


def _fit(dice: Sequence[Upright], width: int) -> tuple[complex, float]:
    """Fit slope = w - g bottom, g kept near its usual value; gives w and g."""
    usual, spread = USUAL_G * 640 / width, SPREAD_G * 640 / width
    seen = [(d.slope, d.bottom, d.noise**-2.0) for d in dice]
    whole = sum(weight for _, _, weight in seen)
    middle_s = sum(slope * weight for slope, _, weight in seen) / whole
    middle_b = sum(bottom * weight for _, bottom, weight in seen) / whole
    top, under = usual / spread**2, 1 / spread**2
    for slope, bottom, weight in seen:
        ds, db = slope - middle_s, bottom - middle_b
        top -= weight * (ds.conjugate() * db).real
        under += weight * abs(db) ** 2
    g = min(max(top / under, 0.0), 5 * usual)
    return middle_s + g * middle_b, g
