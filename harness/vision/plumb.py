"""Tells a leaning die by geometry: the upright edges of dice that lie flat all point to one nadir.

A die's top face and its bottom face, `E` px apart at the face's distance, give the image of a
vertical edge. Under a pinhole camera the vertical edges of flat dice meet in the nadir V, and
foot / E = g (V - bottom), with one g = cos(tilt) / focal length for the whole picture. That is
linear in g and gV; a die that leans does not fit.

How well it must fit depends on how surely the feet are seen, on where the dice lie, and on what is
known of the camera. So it is weighed how much likelier all upright edges together are if a die
leans than if all lie flat (Bayes), over all cameras that are usual.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from harness.vision.faces import Frame

FOCAL = (
    (300.0, 0.05),
    (380.0, 0.1),
    (520.0, 0.15),
    (720.0, 0.15),
    (1000.0, 0.2),
    (1400.0, 0.2),
    (2000.0, 0.15),
)
"""Focal lengths (px, for pictures whose longer side is 640 px), and how usual each is."""
SPREAD = 0.15
"""Standard deviation of the focal length about each of these, relative to it."""
TILT = 0.2
"""Standard deviation, along each axis, of the sine of a camera's tilt."""
NOISE, DOUBTED = 0.005, 0.83
"""Standard deviation of a slope along each axis: at best, and for a foot's doubt of one edge."""
ASLANT = 1.0
"""By how much worse slopes are seen for each edge of their length beyond `STEEP`."""
STEEP = 0.2
OUTLIERS, WORSE = 0.14, 2.5
"""Part of the slopes that are seen worse than they should, and how much worse. All these are fitted
to emulated pictures (650 arrangements of three dice)."""
BEFOREHAND, BEFOREHAND_KNOWN = 0.1, 0.25
"""Chance that one of the dice leans before their upright edges are looked at. That it leans in each
picture of a calibrated camera is suspected more: there it costs few readings."""
LOOKS, BOUNDS = 0.16, (0.1, 10.0)
"""Chance of a lean, summed over both networks, that tells nothing; how much looks count at most."""
_SINES = np.array([0.174, 0.25, 0.35, 0.5, 0.68])
_LEANS = (_SINES[:, None] * np.exp(1j * np.arange(16) * math.pi / 8)).ravel()
"""Errors that leans of 10 to 43 degrees to all sides make."""
_TERMS = np.stack(
    [
        _LEANS.real,
        _LEANS.imag,
        -(_LEANS.real**2) / 2,
        -(_LEANS.imag**2) / 2,
        -_LEANS.real * _LEANS.imag,
    ]
)
_MANY = 5
"""Dice above which no more than one slope is taken to be seen worse."""

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]


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
        aslant = 1 + ASLANT * max(0.0, abs(self.slope) - STEEP)
        return (NOISE**2 + (DOUBTED * self.doubt / self.scale) ** 2) * aslant**2


def lean_chances(
    dice: Sequence[Upright], size: tuple[int, int], known: tuple[complex, float] | None = None
) -> list[float]:
    """Give the chance that each die leans, by all dice's upright edges; at most one does.

    `size` is the picture's width and height (px). `known`: the nadir (px) and g (1/px) of a
    calibrated camera. Without it a die alone gives 0: nothing compares with it.
    """
    if not dice or (known is None and len(dice) < 2):
        return [0.0] * len(dice)
    slopes = np.array([d.slope for d in dice])
    bottoms = np.array([d.bottom for d in dice])
    expected, cameras, parts = _cameras(bottoms, size, known)
    worse, shares = _outliers(len(dice))
    variances = np.array([d.variance for d in dice]) * np.where(worse, WORSE**2, 1.0)
    seen = np.eye(2 * len(dice)) * np.tile(variances, 2)[:, None]
    flat, leaning = _likelihoods(slopes - expected[:, None], cameras[:, None] + seen)
    weights = np.log(parts[:, None] * shares)
    flat, leaning = flat + weights, leaning + weights[..., None]
    odds = _summed(leaning, (0, 1)) - _summed(flat, (0, 1))
    before = BEFOREHAND if known is None else BEFOREHAND_KNOWN
    odds = np.exp(np.clip(odds, -50, 50)) * (before / (1 - before) / len(dice))
    return [float(o) for o in odds / (1 + odds.sum())]


def with_looks(chances: Sequence[float], looks: Sequence[float]) -> list[float]:
    """Weigh the chance that each die leans with how it looks.

    `looks` are the chances of a lean that the two networks see in each die alone, summed. They tell
    little where the camera looks aslant, but something where upright edges tell less.
    """
    odds = [
        chance * min(max((look / LOOKS) ** 1.5, BOUNDS[0]), BOUNDS[1])
        for chance, look in zip(chances, looks, strict=True)
    ]
    flat = 1 - sum(chances)
    return [o / (flat + sum(odds)) for o in odds]


def _cameras(
    bottoms: Complexes, size: tuple[int, int], known: tuple[complex, float] | None
) -> tuple[Complexes, Floats, Floats]:
    """Give for each kind of camera (k) the slopes of flat dice, their covariance, how usual it is.

    Slopes are complex (k, n), the covariance (k, 2n, 2n) is that of their real, then their
    imaginary parts.
    """
    n = len(bottoms)
    if known is not None:
        nadir, g = known
        return g * (nadir - bottoms)[None], np.zeros((1, 2 * n, 2 * n)), np.ones(1)
    away = bottoms - complex((size[0] - 1) / 2, (size[1] - 1) / 2)
    g_of = 640 / max(size) / np.array([focal for focal, _ in FOCAL])
    across = np.repeat([1.0, 0.0], n)
    tilted = TILT**2 * (np.outer(across, across) + np.outer(1 - across, 1 - across))
    turned = np.concatenate([away.real, away.imag])
    zoomed = ((SPREAD * g_of) ** 2)[:, None, None] * np.outer(turned, turned)
    return -g_of[:, None] * away, tilted + zoomed, np.array([part for _, part in FOCAL])


def _outliers(n: int) -> tuple[NDArray[np.bool_], Floats]:
    """Give which slopes may be seen worse than usual (m, n), and how likely each choice is (m)."""
    most = n if n <= _MANY else 1
    chosen = [c for count in range(most + 1) for c in combinations(range(n), count)]
    worse = np.array([[k in c for k in range(n)] for c in chosen])
    counts = worse.sum(axis=1)
    return worse, OUTLIERS**counts * (1 - OUTLIERS) ** (n - counts)


def _likelihoods(errors: Complexes, covariance: Floats) -> tuple[Floats, Floats]:
    """Give the logarithmic likelihood of slopes' errors if all lie flat, and if each die leans.

    `errors` (..., n) complex, `covariance` (..., 2n, 2n); gives (...) and (..., n).
    """
    n = errors.shape[-1]
    inverse = np.linalg.inv(covariance)
    y = np.concatenate([errors.real, errors.imag], axis=-1)
    y = np.broadcast_to(y, inverse.shape[:-1])
    pull = (inverse @ y[..., None])[..., 0]
    whole = (y * pull).sum(axis=-1) - np.linalg.slogdet(inverse)[1]
    own = np.arange(n)
    across, along = inverse[..., own, own], inverse[..., own + n, own + n]
    both = inverse[..., own, own + n]
    # For n dice: what each lean of each die takes off half the errors' square, all at once.
    parts = np.stack([pull[..., :n], pull[..., n:], across, along, both], axis=-1)
    less = (parts.reshape(-1, len(_TERMS)) @ _TERMS).reshape(*across.shape, -1)
    lean = _summed(less, (-1,)) - whole[..., None] / 2
    return -whole / 2, lean - math.log(len(_LEANS))


def _summed(logarithms: Floats, axes: tuple[int, ...]) -> Floats:
    """Give the logarithm of the sum, along axes, of numbers given by their logarithms."""
    highest = logarithms.max(axes, keepdims=True)
    total = np.exp(logarithms - highest).sum(axes)
    return np.asarray(np.log(total) + highest.reshape(total.shape), np.float64)


def fit_nadir(dice: Sequence[Upright], width: int) -> tuple[complex, float]:
    """Fit the nadir (px) and g (1/px) to dice that lie flat, spread over the picture."""
    kept = list(dice)
    for _ in range(4):
        slope, bottom, g = _fit(kept, width)
        off = {id(d): abs(d.slope - slope + g * (d.bottom - bottom)) for d in dice}
        most = max(3 * float(np.median(list(off.values()))), 1e-3)
        kept = [d for d in dice if off[id(d)] <= most]
    g = max(g, 1e-6)
    return (slope + g * bottom) / g, g


def _fit(dice: Sequence[Upright], width: int) -> tuple[complex, complex, float]:
    """Fit `slope - g (px - bottom)` to slopes, g kept near its usual value; give all three."""
    usual, spread = 640 / width / 850, 640 / width / 1400
    seen = [(d.slope, d.bottom, 1 / (0.03**2 + d.variance)) for d in dice]
    whole = sum(weight for _, _, weight in seen)
    middle_s = sum(slope * weight for slope, _, weight in seen) / whole
    middle_b = sum(bottom * weight for _, bottom, weight in seen) / whole
    top, under = usual / spread**2, 1 / spread**2
    for slope, bottom, weight in seen:
        ds, db = slope - middle_s, bottom - middle_b
        top -= weight * (ds.conjugate() * db).real
        under += weight * abs(db) ** 2
    return middle_s, middle_b, min(max(top / under, 0.0), 5 * usual)
