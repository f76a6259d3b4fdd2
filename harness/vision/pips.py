"""Reads a face by its pips alone: spots found on the flattened face, fitted to the six patterns.

A pattern is told by which of the nine places of a 3 x 3 lattice hold a pip. A place counts as empty
only where the bare body is seen: where light hides the body, the face is not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

from harness.vision.faces import Floats, Frame, Pyramid

SIDE, FACE = 60, 40.0
RADII = (0.15, 0.2, 0.3)
"""Radii of pips looked for, in half edges."""
INNER, OUTER = 0.5, 1.35
LEAST_CONTRAST = 7.0
"""Grey levels by which a pip must stand out."""

Point = tuple[float, float]
_CORNERS: tuple[Point, ...] = ((-1, -1), (1, -1), (1, 1), (-1, 1))
PATTERNS: tuple[tuple[int, tuple[Point, ...]], ...] = (
    (1, ((0, 0),)),
    (2, (_CORNERS[0], _CORNERS[2])),
    (2, (_CORNERS[1], _CORNERS[3])),
    (3, (_CORNERS[0], (0, 0), _CORNERS[2])),
    (3, (_CORNERS[1], (0, 0), _CORNERS[3])),
    (4, _CORNERS),
    (5, (*_CORNERS, (0, 0))),
    (6, (*_CORNERS, (-1, 0), (1, 0))),
    (6, (*_CORNERS, (0, -1), (0, 1))),
)
_LATTICE: tuple[Point, ...] = (*_CORNERS, (0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))
REACH = (0.33, 0.68)
"""Least and greatest distance of pip rows from the face's middle, in half edges."""

INSET = 0.09
"""Part of the face at its border in which no pip's middle lies."""
_MEAN = np.full((1, 3), 1 / 3, np.float32)
_NEIGHBOURS = np.ones((5, 5), np.uint8)
_RING = np.stack([np.cos(np.arange(8) * np.pi / 4), np.sin(np.arange(8) * np.pi / 4)], 1).astype(
    np.float32
)

WhyNot = Literal["blank", "pattern", "glare", "ambiguous"]


@dataclass(frozen=True, slots=True)
class PipReading:
    """What the pips say: a value, or why not. `contrast` in grey levels, `misfit` in half edges."""

    value: int | None
    why_not: WhyNot | None
    contrast: float
    misfit: float
    pips: tuple[Point, ...]
    """Face coordinates of the pips found."""


@dataclass(frozen=True, slots=True)
class _Spots:
    where: Floats
    """(n, 2) face coordinates."""
    step: Floats
    """(n, 3) colour of the spot less colour around it, of the length of its contrast."""
    half: Floats
    """(n,) contrast that half of what is around exceeds."""


def _find_spots(flat: Floats) -> _Spots:
    """Find round spots that differ from what is around them on every side, strongest first."""
    best = np.zeros((SIDE, SIDE), np.float32)
    scale = np.zeros((SIDE, SIDE), np.intp)
    for k, radius in enumerate(RADII):
        r = radius * FACE / 2
        step = cv2.GaussianBlur(flat, (0, 0), INNER * r) - cv2.GaussianBlur(flat, (0, 0), OUTER * r)
        size = np.asarray(cv2.transform(step * step, _MEAN))
        better = size > best
        best[better] = size[better]
        scale[better] = k
    peak = cv2.dilate(best, _NEIGHBOURS)
    margin = int((SIDE - FACE) / 2 + INSET * FACE)
    inside = np.zeros((SIDE, SIDE), bool)
    inside[margin:-margin, margin:-margin] = True
    ys, xs = np.nonzero((best >= peak) & inside & (best > (LEAST_CONTRAST * 0.5) ** 2))
    order = np.argsort(-best[ys, xs])[:14]
    ys, xs = ys[order], xs[order]
    where = np.stack([xs, ys], axis=1).astype(np.float32)
    soft = cv2.GaussianBlur(flat, (0, 0), 0.07 * FACE / 2)
    heart = soft[ys, xs]
    reach = np.asarray(RADII, np.float32)[scale[ys, xs]] * FACE / 2 * 1.75
    ring = where[:, None, :] + reach[:, None, None] * _RING[None]
    px = np.clip(np.rint(ring).astype(np.intp), 0, SIDE - 1)
    around = soft[px[..., 1], px[..., 0]]
    middle = heart - np.median(around, axis=1)
    norm = np.sqrt((middle**2).sum(axis=1, keepdims=True)) + 1e-6
    sides = ((heart[:, None, :] - around) * (middle / norm)[:, None, :]).sum(axis=2)
    # The third weakest of eight sides: an edge or a corner has more weak sides, a pip between two
    # others has two.
    ranked = np.sort(sides, axis=1) / 3**0.5
    weak = ranked[:, 2:3]
    step = middle / norm * np.maximum(weak, 0) * 3**0.5
    strong = weak[:, 0] > LEAST_CONTRAST
    order = np.flatnonzero(strong)[np.argsort(-weak[strong, 0])]
    where = (where - (SIDE - 1) / 2) * np.float32(2 / FACE)
    return _Spots(where[order], step[order].astype(np.float32), ranked[order, 3])


def _fit(spots: Floats, pattern: tuple[Point, ...]) -> tuple[Floats, Floats, float] | None:
    """Fit a pattern to spots; gives each pip's spot, the lattice (2, 3) and the misfit, or None."""
    sites = np.asarray(pattern, np.float32)
    matrix = np.array([[0.48, 0, 0], [0, 0.48, 0]], np.float32)
    if len(pattern) == 1:
        away = np.hypot(spots[:, 0], spots[:, 1])
        k = int(np.argmin(away))
        if away[k] > 0.22:
            return None
        matrix[:, :2] *= 0.9
        matrix[:, 2] = spots[k]
        return np.array([k], np.float32), matrix, float(away[k]) * 0.4
    chosen = np.zeros(len(pattern), np.intp)
    misfit = 1.0
    for turn in range(3):
        expected = sites @ matrix[:, :2].T + matrix[:, 2]
        distance = np.hypot(
            expected[:, None, 0] - spots[None, :, 0], expected[:, None, 1] - spots[None, :, 1]
        )
        chosen = np.argmin(distance, axis=1)
        if distance[np.arange(len(sites)), chosen].max() > (0.3, 0.2, 0.16)[turn]:
            return None
        if len(set(chosen.tolist())) < len(sites):
            return None
        matrix = _lattice(sites, spots[chosen])
        expected = sites @ matrix[:, :2].T + matrix[:, 2]
        error = spots[chosen] - expected
        misfit = float(np.sqrt((error**2).sum(axis=1).mean()))
    return chosen.astype(np.float32), matrix, misfit


def _lattice(sites: Floats, spots: Floats) -> Floats:
    """Give the lattice that takes sites to spots: affine where they span the face, else similar."""
    n = len(sites)
    if n >= 4:
        design = np.c_[sites, np.ones(n, np.float32)]
        solution = np.linalg.lstsq(design, spots, rcond=None)[0]
        return solution.T.astype(np.float32)
    z = sites[:, 0] + 1j * sites[:, 1]
    w = spots[:, 0] + 1j * spots[:, 1]
    z0, w0 = z.mean(), w.mean()
    k = np.vdot(z - z0, w - w0) / np.vdot(z - z0, z - z0)
    shift = w0 - k * z0
    return np.array([[k.real, -k.imag, shift.real], [k.imag, k.real, shift.imag]], np.float32)


def _sound(matrix: Floats) -> bool:
    """Tell whether a lattice is one that a face in its frame can have."""
    a, b = complex(*matrix[:, 0]), complex(*matrix[:, 1])
    if not (REACH[0] <= min(abs(a), abs(b)) and max(abs(a), abs(b)) <= REACH[1]):
        return False
    if max(abs(a), abs(b)) > 1.45 * min(abs(a), abs(b)):
        return False
    return (
        abs(a.imag) < 0.3 * abs(a) and abs(b.real) < 0.3 * abs(b) and np.hypot(*matrix[:, 2]) < 0.2
    )


def read_pips(pyramid: Pyramid, frame: Frame) -> PipReading:
    """Read one face by its pips."""
    flat = pyramid.lay_flat(frame, SIDE, FACE).astype(np.float32)
    spots = _find_spots(flat)
    size = np.sqrt((spots.step**2).mean(axis=1))
    found: list[tuple[float, int, Floats, Floats, float]] = []
    ambiguous = False
    led = np.zeros(len(size), bool)
    for lead in range(len(size)):
        contrast = float(size[lead])
        if contrast < LEAST_CONTRAST or contrast < 0.25 * float(size[0]):
            break
        if led[lead]:
            continue
        along = spots.step @ spots.step[lead] / (3 * contrast * np.maximum(size, 1e-6))
        alike = (along > 0.8) & (size > 0.4 * contrast) & (size < 1.7 * contrast)
        led |= (along > 0.9) & (size > 0.7 * contrast)
        inner = np.abs(spots.where).max(axis=1) < 0.76
        if (inner & ~alike & (along > 0.5) & (spots.half > 0.5 * contrast)).any():
            continue
        where = spots.where[alike & inner]
        for value, pattern in PATTERNS:
            if len(pattern) != len(where):
                continue
            fit = _fit(where, pattern)
            if fit is None:
                continue
            chosen, matrix, misfit = fit
            if _sound(matrix) and misfit < 0.075:
                found.append((contrast, value, where[chosen.astype(np.intp)], matrix, misfit))
    if not found:
        blank = len(size) == 0 or float(size[0]) < LEAST_CONTRAST
        return PipReading(
            None,
            "blank" if blank else "pattern",
            float(size[0]) if len(size) else 0.0,
            1.0,
            tuple((float(x), float(y)) for x, y in spots.where[:6]),
        )
    strongest = max(f[0] for f in found)
    found = [f for f in found if f[0] > 0.6 * strongest]
    found.sort(key=lambda f: (-len(f[2]), f[4]))
    contrast, value, picked, matrix, misfit = found[0]
    if any(f[1] != value and f[0] > 0.7 * contrast and len(f[2]) >= len(picked) for f in found[1:]):
        ambiguous = True
    pips = tuple((float(x), float(y)) for x, y in picked)
    if ambiguous:
        return PipReading(None, "ambiguous", contrast, misfit, pips)
    if not _body_seen(flat, matrix, picked, contrast):
        return PipReading(None, "glare", contrast, misfit, pips)
    return PipReading(value, None, contrast, misfit, pips)


def _body_seen(flat: Floats, matrix: Floats, picked: Floats, contrast: float) -> bool:
    """Tell whether the bare body is seen at every empty place of the lattice."""
    smooth = np.asarray(cv2.GaussianBlur(flat, (0, 0), 0.14 * FACE / 2), np.float32)
    sites = np.asarray(_LATTICE, np.float32) @ matrix[:, :2].T + matrix[:, 2]
    free = 0.5 if len(picked) == 1 else 0.3
    empty = np.array([np.hypot(*(picked - s).T).min() > free for s in sites])
    if not empty.any():
        return True
    # The body's colour, between the lattice's places.
    between = (
        np.asarray(
            [
                (-0.5, -1),
                (0.5, -1),
                (1, -0.5),
                (1, 0.5),
                (0.5, 1),
                (-0.5, 1),
                (-1, 0.5),
                (-1, -0.5),
                (0.5, 0.5),
                (-0.5, 0.5),
                (0.5, -0.5),
                (-0.5, -0.5),
            ],
            np.float32,
        )
        @ matrix[:, :2].T
        + matrix[:, 2]
    )
    body = np.median(_sample(smooth, between), axis=0)
    off = np.sqrt(((_sample(smooth, sites[empty]) - body) ** 2).mean(axis=1))
    return bool(off.max() < max(0.75 * contrast, 12.0))


def _sample(flat: Floats, where: Floats) -> Floats:
    px = np.clip(np.rint(where * FACE / 2 + (SIDE - 1) / 2).astype(int), 0, SIDE - 1)
    return np.asarray(flat[px[:, 1], px[:, 0]], np.float32)
