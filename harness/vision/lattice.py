"""The lattice of nine places on which a face's pips lie, and the patterns of the six values."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from harness.vision.faces import Floats

Point = tuple[float, float]
_CORNERS: tuple[Point, ...] = ((-1, -1), (1, -1), (1, 1), (-1, 1))
PATTERNS: tuple[tuple[int, Floats], ...] = tuple(
    (value, np.array(sites, np.float32))
    for value, sites in (
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
)
"""Each value's pips (n, 2) on the lattice; what can lie two ways is here twice."""
LATTICE = np.array([*_CORNERS, (0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)], np.float32)
PLACES = tuple(
    tuple(int(np.abs(LATTICE - site).sum(axis=1).argmin()) for site in sites)
    for _, sites in PATTERNS
)
"""Which rows of the lattice each pattern takes."""
USUAL, NEAR = 0.48, 0.3
"""Where pip rows usually lie, in half edges, and how far off a pip may be."""
REACH = (0.33, 0.68)
"""Least and greatest distance of pip rows from the face's middle, in half edges."""


def fit_lattice(sites: Floats, spots: Floats) -> Floats:
    """Give the lattice that takes sites to spots: affine where they span the face, else similar."""
    n = len(sites)
    if n >= 4:
        # Least squares: the sites of these patterns lie about 0, their axes uncorrelated.
        matrix = np.empty((2, 3), np.float32)
        matrix[:, 2] = middle = spots.sum(axis=0) / n
        matrix[:, :2] = (spots - middle).T @ sites / (sites * sites).sum(axis=0)
        return matrix
    z = [complex(x, y) for x, y in sites.tolist()]
    w = [complex(x, y) for x, y in spots.tolist()]
    z0, w0 = sum(z) / n, sum(w) / n
    k = sum((a - z0).conjugate() * (b - w0) for a, b in zip(z, w, strict=True))
    k /= sum(abs(a - z0) ** 2 for a in z)
    shift = w0 - k * z0
    return np.array([[k.real, -k.imag, shift.real], [k.imag, k.real, shift.imag]], np.float32)


def fit_pattern(spots: Floats, sites: Floats) -> tuple[NDArray[np.intp], Floats, float] | None:
    """Fit a pattern (n, 2) to spots; gives each pip's spot, the lattice (2, 3) and the misfit.

    None if it does not fit.
    """
    if len(sites) == 1:
        away = np.hypot(spots[:, 0], spots[:, 1])
        k = int(np.argmin(away))
        if away[k] > 0.22:
            return None
        matrix = np.array([[0.432, 0, 0], [0, 0.432, 0]], np.float32)
        matrix[:, 2] = spots[k]
        return np.array([k]), matrix, float(away[k]) * 0.4
    expected = sites * np.float32(USUAL)
    for reach in (NEAR, 0.2, 0.16):
        off = expected[:, None] - spots
        distance = np.hypot(off[..., 0], off[..., 1])
        if distance.min(axis=1).max() > reach:
            return None
        chosen = distance.argmin(axis=1)
        if len(set(chosen.tolist())) < len(sites):
            return None
        picked = spots[chosen]
        matrix = fit_lattice(sites, picked)
        expected = sites @ matrix[:, :2].T + matrix[:, 2]
    error = picked - expected
    return chosen, matrix, math.sqrt(float((error * error).sum()) / len(sites))


def sound(matrix: Floats, value: int) -> bool:
    """Tell whether a lattice is one that a face in its frame can have.

    The two rows of a six may stand close together.
    """
    a, b = complex(*matrix[:, 0]), complex(*matrix[:, 1])
    short, long = sorted((abs(a), abs(b)))
    least, ratio = (0.25, 2.0) if value == 6 else (REACH[0], 1.45)
    if short < least or long > REACH[1] or long > ratio * short:
        return False
    return (
        abs(a.imag) < 0.3 * abs(a) and abs(b.real) < 0.3 * abs(b) and np.hypot(*matrix[:, 2]) < 0.2
    )
