"""Finds dice in a picture: a small network looks at the whole picture at half size and gives each
die's top face as a frame, the way down to its bottom, its state and a first idea of its value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from harness.vision.faces import Floats, Frame, Picture, Pyramid

STRIDE = 8
STATES = ("flat", "leaning", "stacked", "under", "obstructed", "moving")
LEAST_SCORE = 0.25
USUAL = np.array([2.0, 0.6, 0.4, 0.5, 0.5, 0.4], np.float32)
"""How often each state is met, relative to its weight in training."""
HALF = complex(0.5, 0.5)
CLOSE = 45.0
"""Edge (px of the network's input) at which small dice are looked at closely."""
MOST_AREA = 95_000
"""Pixels of the network's input for a close look."""
LEAST_ZOOM = 0.58
"""Size of the picture below which a close look is not worth it."""
WEIGHTS = Path(__file__).with_name("weights") / "finder.onnx"


@dataclass(frozen=True, slots=True)
class Found:
    """A die as found: `score` 0 to 1, `foot` from the top face's centre to the bottom's (px).

    `states` are the chances of `STATES`, `values` those of 1 to 6.
    """

    frame: Frame
    score: float
    foot: complex
    states: tuple[float, ...]
    values: tuple[float, ...]

    @property
    def value(self) -> int:
        """The likeliest value, 1 to 6."""
        return int(np.argmax(self.values)) + 1


@dataclass(frozen=True, slots=True)
class Scene:
    """All dice found in a picture, best first, and the middles of chips and coins (px)."""

    dice: tuple[Found, ...]
    chips: tuple[tuple[float, float], ...]


def _chances(logits: Floats) -> tuple[float, ...]:
    e = np.exp(logits - logits.max())
    return tuple(float(v) for v in e / e.sum())


def _frame(centre: complex, size: float, numbers: Floats) -> Frame:
    """Find the half edges u, v from p = u^2 + v^2 and q = u^2 v^2, given relative to the size."""
    q = complex(float(numbers[0]), float(numbers[1]))
    q = q / max(abs(q), 1e-6)
    p = complex(float(numbers[2]), float(numbers[3]))
    root = (p * p - 4 * q) ** 0.5
    u, v = ((p + root) / 2) ** 0.5, ((p - root) / 2) ** 0.5
    if (u.conjugate() * v).imag < 0:
        v = -v
    return Frame(centre, u * size, v * size)


@dataclass(frozen=True, slots=True)
class _View:
    """How the network's input px lie in the picture: grow * px + origin."""

    grow: float
    origin: complex

    def picture(self, px: complex) -> complex:
        """Give the picture's pixel of an input px."""
        return self.grow * px + self.origin


class Finder:
    """Looks for dice. Holds the network; one per thread."""

    def __init__(self, weights: Path = WEIGHTS) -> None:
        self._net = cv2.dnn.readNetFromONNX(str(weights), engine=cv2.dnn.ENGINE_CLASSIC)

    def find(self, pyramid: Pyramid) -> Scene:
        """Find dice in a picture at half its size."""
        return self._find(pyramid.level(1), _View(2.0, HALF))

    def find_again(self, pyramid: Pyramid, frames: Sequence[Frame]) -> Scene:
        """Look for dice another way than at first, where they have been seen (`frames`).

        Small dice are looked at more closely, others upside down.
        """
        edge = float(np.median([f.edge for f in frames]))
        picture = pyramid.level(0)
        left, top, right, bottom = _around(frames, picture)
        area = (right - left) * (bottom - top)
        scale = min(1.0, CLOSE / edge, math.sqrt(MOST_AREA / area))
        if scale < LEAST_ZOOM:
            small = pyramid.level(1)
            corner = complex(small.shape[1] - 1, small.shape[0] - 1)
            turned = np.asarray(cv2.rotate(small, cv2.ROTATE_180), np.uint8)
            return self._find(turned, _View(-2.0, 2.0 * corner + HALF))
        part = picture[top:bottom, left:right]
        part = np.asarray(
            cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8
        )
        origin = complex(left, top) + HALF * (1 / scale - 1)
        return self._find(part, _View(1 / scale, origin))

    def _find(self, small: Picture, view: _View) -> Scene:
        grid = self._look(small)
        heat = grid[0]
        peaks = np.asarray(cv2.dilate(heat, np.ones((3, 3), np.uint8)))
        least = float(np.log(LEAST_SCORE / (1 - LEAST_SCORE)))
        ys, xs = np.nonzero((heat >= peaks) & (heat > least))
        found = [
            _decode(grid[:, y, x], complex(x, y), view)
            for y, x in zip(ys.tolist(), xs.tolist(), strict=True)
        ]
        found.sort(key=lambda f: -f.score)
        kept: list[Found] = []
        for f in found:
            if all(
                abs(f.frame.centre - k.frame.centre) > 0.55 * min(f.frame.edge, k.frame.edge)
                for k in kept
            ):
                kept.append(f)
        chips = grid[1]
        highest = np.asarray(cv2.dilate(chips, np.ones((5, 5), np.uint8)))
        cy, cx = np.nonzero((chips >= highest) & (chips > 0))
        middles = [
            view.picture(_input(complex(x, y)))
            for y, x in zip(cy.tolist(), cx.tolist(), strict=True)
        ]
        return Scene(tuple(kept), tuple((m.real, m.imag) for m in middles))

    def _look(self, small: Picture) -> Floats:
        """Run the network on a picture, its sides filled up to multiples of 16 px."""
        h, w = small.shape[:2]
        down, right = -h % 16, -w % 16
        if down or right:
            small = np.asarray(
                cv2.copyMakeBorder(small, 0, down, 0, right, cv2.BORDER_REPLICATE), np.uint8
            )
        self._net.setInput(cv2.dnn.blobFromImage(small, 1 / 255))
        grid = np.asarray(self._net.forward(), np.float32)
        return np.asarray(grid[0], np.float32)


def _around(frames: Sequence[Frame], picture: Picture) -> tuple[int, int, int, int]:
    """Give the part of a picture (left, top, right, bottom) that holds dice and their sides."""
    room = 1.3 * max(f.edge for f in frames)
    x = [f.centre.real for f in frames]
    y = [f.centre.imag for f in frames]
    height, width = picture.shape[:2]
    return (
        max(0, int(min(x) - room)),
        max(0, int(min(y) - room)),
        min(width, int(max(x) + room) + 1),
        min(height, int(max(y) + room) + 1),
    )


def _input(cell: complex) -> complex:
    """Give the network's input px in the middle of a grid cell."""
    return (cell + HALF) * STRIDE - HALF


def _decode(cell: Floats, at: complex, view: _View) -> Found:
    middle = _input(at + complex(float(cell[2]), float(cell[3])))
    size = 16.0 * float(np.exp(np.clip(cell[4], -3, 3))) * view.grow
    return Found(
        _frame(view.picture(middle), size, cell[5:9]),
        float(1 / (1 + np.exp(-cell[0]))),
        complex(float(cell[9]), float(cell[10])) * size,
        _chances(cell[11:17] + np.log(USUAL)),
        _chances(cell[17:23]),
    )
