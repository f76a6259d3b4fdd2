"""Tells a leaning die by geometry: the upright edges of dice that lie flat all point to one nadir.

A die's top face and its bottom face, `E` px apart at the face's distance, give the image of a
vertical edge. Under a pinhole camera the vertical edges of flat dice meet in the nadir V, and
foot / E = g (V - bottom), with one g = cos(tilt) / focal length for the whole picture. That is
linear in g and gV; a die that leans does not fit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.vision.faces import Frame

USUAL_G, SPREAD_G = 1 / 900, 1 / 900
"""Usual 1 / focal length (1/px) for pictures whose longer side is 640 px, how much it varies."""


def face_scale(frame: Frame) -> float:
    """Give the edge in px as it would be seen square on: the longest extent of the face."""
    u, v = frame.across, frame.along
    matrix = np.array([[u.real, v.real], [u.imag, v.imag]])
    return 2.0 * float(np.linalg.norm(matrix, 2))


def upright_errors(
    frames: Sequence[Frame],
    feet: Sequence[complex],
    width: int,
    known: tuple[complex, float] | None = None,
) -> list[float]:
    """Give how far each die's upright edge is off the common nadir: about the sine of its lean.

    `feet` lead from the top faces' centres to the bottom faces' (px), `width` is the
    picture's longer side. `known`: the nadir (px) and g (1/px) of a calibrated camera. Without it
    a die alone gives 0: nothing is there to compare it with.
    """
    n = len(frames)
    scale = np.array([face_scale(f) for f in frames])
    slope = np.array(feet) / scale
    bottom = np.array([f.centre for f in frames]) + np.array(feet)
    if known is not None:
        nadir, g = known
        return [_discounted(s, g * (nadir - b)) for s, b in zip(slope, bottom, strict=True)]
    errors = [0.0] * n
    if n < 2:
        return errors
    grow = width / 640
    for k in range(n):
        others = [i for i in range(n) if i != k]
        w, g = _fit(slope[others], bottom[others], USUAL_G / grow, SPREAD_G / grow)
        errors[k] = _discounted(slope[k], w - g * bottom[k])
    return errors


def _discounted(slope: complex, expected: complex) -> float:
    """Give the error of a slope; aslant, where feet are seen less exactly, it counts for less."""
    return float(abs(slope - expected)) / (1 + 3 * max(0.0, float(abs(expected)) - 0.2))


def fit_nadir(
    frames: Sequence[Frame], feet: Sequence[complex], width: int
) -> tuple[complex, float]:
    """Fit the nadir (px) and g (1/px) to dice that lie flat, spread over the picture."""
    slope = np.array(feet) / np.array([face_scale(f) for f in frames])
    bottom = np.array([f.centre for f in frames]) + np.array(feet)
    keep = np.ones(len(slope), bool)
    w, g = 0j, 0.0
    for _ in range(3):
        w, g = _fit(slope[keep], bottom[keep], USUAL_G * 640 / width, SPREAD_G * 640 / width)
        off = np.abs(slope - (w - g * bottom))
        keep = off <= max(3 * float(np.median(off)), 1e-3)
    return w / max(g, 1e-6), max(g, 1e-6)


def _fit(
    slope: np.ndarray, bottom: np.ndarray, usual: float, spread: float
) -> tuple[complex, float]:
    """Fit slope = w - g bottom, g kept near its usual value; gives w and g."""
    noise = 0.05
    middle_s, middle_b = slope.mean(), bottom.mean()
    ds, db = slope - middle_s, bottom - middle_b
    weight = 1 / noise**2
    top = -weight * float((ds.conjugate() * db).real.sum()) + usual / spread**2
    g = top / (weight * float((np.abs(db) ** 2).sum()) + 1 / spread**2)
    g = float(np.clip(g, 0.0, 5 * usual))
    return complex(middle_s + g * middle_b), g
