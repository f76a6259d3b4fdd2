"""Reads faces whose pips plain spots do not tell: a network marks pips, geometry reads the marks.

The network says only where pips are, whatever light lies over a face, and was never shown a value.
What its marks spell is fitted to the patterns of the six values like any other spots.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from harness.vision.faces import Floats, Frame, Picture, Pyramid
from harness.vision.lattice import LATTICE, NEAR, PATTERNS, PLACES, USUAL, fit_pattern, sound
from harness.vision.network import Network
from harness.vision.pips import PipReading

SIDE, FACE, STRIDE = 64, 40.0, 2
"""Side of the network's input and of the face in it, px; px a cell of its marks."""
MARKED, MAYBE = 0.4, 0.15
"""Chance of a pip from which there is one, and from which there may be."""
WITHIN = 0.86
"""Reach, in half edges, in which pips are looked for."""
MISFIT = 0.085
"""How far marks may lie off a pattern, in half edges."""
BURNT = 247.0
"""Grey level of the weakest channel from which a place without a mark may hide a pip."""
NEAR_ONE, NEAR_MANY, FARTHER = 0.42, 0.32, 0.55
"""How far from its middle the body about a pip is looked at, in half edges: beside one alone, which
may be large, beside each of several, and farther off."""
SHOWN, ALIKE, BRIGHTER = 6.0, 0.5, 18.0
"""Grey levels by which each pip must stand out, the least cosine between its step of colour and the
mean one, and grey levels by which it may be brighter than the others if what is about it is not."""
DIMMED = 0.15
"""Least part of the clearest pip's contrast that each has: larger images of lamps have less."""
BESIDE, BARE = 0.27, 0.11
"""How far from a place without a mark the body is looked at, in half edges, and by what part of
the pips' contrast the place may differ from it and be bare."""
WEIGHTS = Path(__file__).with_name("weights") / "pip_map.onnx"
_RING = np.stack([np.cos(np.arange(8) * np.pi / 4), np.sin(np.arange(8) * np.pi / 4)], 1).astype(
    np.float32
)
_BESIDE, _HEART = np.ones((3, 3), np.uint8), np.ones((5, 5), np.uint8)


class PipMap:
    """Marks pips. Holds the network; one per thread."""

    def __init__(self, weights: Path = WEIGHTS) -> None:
        self._network = Network(weights)

    def read(self, pyramid: Pyramid, frames: Sequence[Frame]) -> list[PipReading | None]:
        """Read each face; None where the marks spell no value, or light may hide more pips."""
        if not frames:
            return []
        faces = [pyramid.lay_flat(frame, SIDE, FACE) for frame in frames]
        return [_spell(face, marks) for face, marks in zip(faces, self._marks(faces), strict=True)]

    def _marks(self, faces: Sequence[Picture]) -> list[Floats]:
        """Give the chance of a pip's middle in each cell, the mean of four looks turned about."""
        turned = [np.ascontiguousarray(np.rot90(face, k)) for face in faces for k in range(4)]
        chances = 1 / (1 + np.exp(-self._network.run(turned)[:, 0]))
        return [
            np.mean([np.rot90(chances[4 * n + k], -k) for k in range(4)], axis=0)
            for n in range(len(faces))
        ]


def _spell(face: Picture, marks: Floats) -> PipReading | None:
    """Read what marks spell on a face laid flat."""
    highest = np.asarray(cv2.dilate(marks, _BESIDE))
    ys, xs = np.nonzero((marks >= highest) & (marks > MAYBE))
    where = np.array(
        [_middle(marks, x, y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)], np.float32
    )
    if not len(where):
        return None
    chances = marks[ys, xs]
    inside = np.abs(where).max(axis=1) < WITHIN
    where, chances = where[inside], chances[inside]
    if not len(where) or chances.min() < MARKED:
        return None
    found = [
        (value, where[fit[0]], fit[1], fit[2])
        for value, sites in PATTERNS
        if len(sites) == len(where)
        and (fit := fit_pattern(where, sites)) is not None
        and fit[2] < MISFIT
        and sound(fit[1], value)
    ]
    if len(found) != 1:
        return None
    value, pips, matrix, misfit = found[0]
    if not _all_seen(np.asarray(cv2.blur(face, (3, 3)), np.float32), pips, matrix):
        return None
    points = tuple((float(a), float(b)) for a, b in pips)
    return PipReading(value, None, 0.0, misfit, points, frozenset({value}))


def _middle(marks: Floats, x: int, y: int) -> tuple[float, float]:
    """Give the face coordinates of a mark: the middle of what is marked about its highest cell."""
    top, left = max(y - 1, 0), max(x - 1, 0)
    part = marks[top : y + 2, left : x + 2]
    ys, xs = np.mgrid[top : top + part.shape[0], left : left + part.shape[1]]
    whole = float(part.sum())
    cell = np.array([float((part * xs).sum()), float((part * ys).sum())]) / whole
    px = cell * STRIDE + (STRIDE - 1) / 2
    a, b = (px - (SIDE - 1) / 2) * 2 / FACE
    return float(a), float(b)


def _all_seen(smooth: Floats, pips: Floats, matrix: Floats) -> bool:
    """Tell whether marks are pips for anyone to see, and no other value may be hidden.

    Pips stand out alike, lamps do not. Where another value would have a pip and there is no mark,
    the bare body must be seen.
    """
    near = NEAR_ONE if len(pips) == 1 else NEAR_MANY
    steps = _sample(smooth, pips) - np.median(_ring(smooth, pips, near), axis=1)
    about = np.sort(_ring(smooth, pips, FARTHER), axis=1)[:, 1]
    brightest = np.asarray(cv2.dilate(smooth, _HEART), np.float32)
    hearts = _sample(brightest, pips)
    mean = steps.mean(axis=0)
    contrast = float(np.sqrt((mean**2).sum()))
    along = steps @ mean / (contrast + 1e-6)
    # Light that lies over a bright pip lies about it too, and farther than a lamp's image does.
    brighter = hearts - hearts.min(axis=0)
    about = np.maximum(about - about.min(axis=0), 0)
    sizes = np.sqrt((steps**2).sum(axis=1)) + 1e-6
    if along.min() < max(SHOWN, DIMMED * along.max()) or (along / sizes).min() < ALIKE:
        return False
    if mean.sum() > 0 and (brighter - about).max() > BRIGHTER:
        return False
    places = LATTICE @ matrix[:, :2].T + matrix[:, 2]
    off = places[:, None] - pips
    marked = np.hypot(off[..., 0], off[..., 1]).min(axis=1) < NEAR * USUAL * 2
    beside = np.median(_ring(smooth, places, BESIDE), axis=1)
    bare = np.sqrt(((_sample(smooth, places) - beside) ** 2).sum(axis=1))
    uneven = bare > max(BARE * contrast, SHOWN)
    hidden = ~marked & (uneven | (_sample(brightest, places).min(axis=1) > BURNT))
    seen = set(np.flatnonzero(marked).tolist())
    veiled = set(np.flatnonzero(hidden).tolist())
    return not any(seen < set(rival) and set(rival) - seen <= veiled for rival in PLACES)


def _ring(face: Floats, where: Floats, reach: float) -> Floats:
    ring = _sample(face, (where[:, None] + reach * _RING).reshape(-1, 2))
    return ring.reshape(len(where), len(_RING), 3)


def _sample(face: Floats, where: Floats) -> Floats:
    px = np.clip(np.rint(where * FACE / 2 + (SIDE - 1) / 2).astype(np.intp), 1, SIDE - 2)
    return np.asarray(face[px[:, 1], px[:, 0]], np.float32)
