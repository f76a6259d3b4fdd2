"""Tells a leaning die by geometry: the upright edges of dice that lie flat all point to one nadir.

A die's top face and its bottom face, `E` px apart at the face's distance, give the image of a
vertical edge. Under a pinhole camera the vertical edges of flat dice meet in the nadir V, and
foot / E = g (V - bottom), with one g = cos(tilt) / focal length for the whole picture. That is
linear in g and gV; a die that leans does not fit.

How well it must fit depends on how surely the feet are seen, and on where the dice lie: two of them
close together tell little of a third one far away. So besides the error it is weighed how much
likelier it is of a die that leans than of one that lies flat (Bayes): each misses leans that the
other sees.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.vision.faces import Frame

USUAL_G, SPREAD_G = 1 / 850, 1 / 1400
"""Usual 1 / focal length (1/px) for pictures whose longer side is 640 px, how much it varies."""
NOISE = 0.03
"""Standard deviation with which a slope is seen at best."""
DOUBTED = 1.15
"""Standard deviation of a slope for a foot's doubt of one edge, as measured on synthetic dice."""
BEFOREHAND = 0.1
"""Chance that a die leans before its upright edge is looked at."""
SURE_TO = 0.05
"""Part of an edge up to which a foot's doubt is the usual one."""
TAIL = 0.05
"""Part of the slopes that are seen three times as badly as they should."""
_SINES = np.array([0.174, 0.25, 0.35, 0.5, 0.68])
_LEANS = (_SINES[:, None] * np.exp(1j * np.arange(16) * math.pi / 8)).ravel()
"""Errors that leans of 10 to 43 degrees to all sides make."""
_STATES = np.concatenate([np.zeros(1), _LEANS])


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

    `foot` leads from the top face's centre to the bottom's (px); `doubt` is how far off it may be
    (px).
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
    def variance(self) -> float:
        """Give the variance of the slope, along each axis."""
        return NOISE**2 + (DOUBTED * self.doubt / self.scale) ** 2


@dataclass(frozen=True, slots=True)
class _Line:
    """Slopes of flat dice as seen over the picture: `slope - g (px - bottom)`.

    `variance` is that of the slope at the bottom, `spread` that of g.
    """

    slope: complex
    bottom: complex
    g: float
    variance: float
    spread: float

    def at(self, px: complex) -> complex:
        """Give the slope of a flat die whose bottom is there."""
        return self.slope - self.g * (px - self.bottom)


def upright_errors(
    dice: Sequence[Upright], width: int, known: tuple[complex, float] | None = None
) -> list[float]:
    """Give how far each die's upright edge is off the common nadir: about the sine of its lean.

    An error counts for less where the foot is doubted, and where a die is seen aslant: feet are
    seen less exactly there. `width` is the picture's longer side (px). `known`: the nadir (px) and
    g (1/px) of a calibrated camera. Without it a die alone gives 0: nothing compares with it.
    """
    lines = _lines(dice, width, known)
    return [
        0.0 if line is None else _counted(die, line.at(die.bottom))
        for die, line in zip(dice, lines, strict=True)
    ]


def _counted(die: Upright, expected: complex) -> float:
    aslant = 1 + 3 * max(0.0, abs(expected) - 0.2)
    doubtful = min(1.8, 1 + max(0.0, die.doubt / die.scale - SURE_TO) / 0.1)
    return abs(die.slope - expected) / (aslant * doubtful)


def lean_chances(
    dice: Sequence[Upright], width: int, known: tuple[complex, float] | None = None
) -> list[float]:
    """Give the chance, by its upright edge and the other dice's, that each die leans.

    Parameters are those of `upright_errors`; a die alone, without a calibrated camera, gives 0.
    """
    lines = _lines(dice, width, known)
    return [0.0 if line is None else _chance(d, line) for d, line in zip(dice, lines, strict=True)]


def _lines(
    dice: Sequence[Upright], width: int, known: tuple[complex, float] | None
) -> list[_Line | None]:
    """Give for each die what is known of flat dice without it."""
    if known is not None:
        nadir, g = known
        return [_Line(0j, nadir, g, 0.0, 0.0)] * len(dice)
    if len(dice) < 2:
        return [None] * len(dice)
    return [_fit([d for n, d in enumerate(dice) if n != k], width) for k in range(len(dice))]


def _chance(die: Upright, line: _Line) -> float:
    away = die.bottom - line.bottom
    across = die.variance + line.variance
    along = across + line.spread * abs(away) ** 2
    error = die.slope - line.at(die.bottom)
    off = (error - _STATES) * (away.conjugate() / abs(away) if away else 1.0)
    square = off.real**2 / along + off.imag**2 / across
    likely = (1 - TAIL) * np.exp(-square / 2) + TAIL / 9 * np.exp(-square / 18)
    leaning = BEFOREHAND * float(likely[1:].mean())
    return leaning / (leaning + (1 - BEFOREHAND) * float(likely[0]))


def fit_nadir(dice: Sequence[Upright], width: int) -> tuple[complex, float]:
    """Fit the nadir (px) and g (1/px) to dice that lie flat, spread over the picture."""
    kept = list(dice)
    line = _fit(kept, width)
    for _ in range(3):
        line = _fit(kept, width)
        off = {id(d): abs(d.slope - line.at(d.bottom)) for d in dice}
        most = max(3 * float(np.median(list(off.values()))), 1e-3)
        kept = [d for d in dice if off[id(d)] <= most]
    g = max(line.g, 1e-6)
    return (line.slope + line.g * line.bottom) / g, g


def _fit(dice: Sequence[Upright], width: int) -> _Line:
    """Fit the line to slopes, g kept near its usual value."""
    usual, spread = USUAL_G * 640 / width, SPREAD_G * 640 / width
    seen = [(d.slope, d.bottom, 1 / d.variance) for d in dice]
    whole = sum(weight for _, _, weight in seen)
    middle_s = sum(slope * weight for slope, _, weight in seen) / whole
    middle_b = sum(bottom * weight for _, bottom, weight in seen) / whole
    top, under = usual / spread**2, 1 / spread**2
    for slope, bottom, weight in seen:
        ds, db = slope - middle_s, bottom - middle_b
        top -= weight * (ds.conjugate() * db).real
        under += weight * abs(db) ** 2
    g = min(max(top / under, 0.0), 5 * usual)
    return _Line(middle_s, middle_b, g, 1 / whole, 1 / under)
