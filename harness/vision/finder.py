"""Finds dice in a picture: a small network looks at the whole picture at half size and gives each
die's top face as a frame, the way down to its bottom, its state and a first idea of its value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import cv2
import numpy as np

from harness.vision.faces import Floats, Frame, Picture, Pyramid
from harness.vision.network import Network

STRIDE = 8
STATES = ("flat", "leaning", "stacked", "under", "obstructed", "moving")
LEAST_SCORE = 0.25
SURE = 0.4
"""Score from which something found counts as a die."""
USUAL = np.array([2.0, 0.6, 0.4, 0.5, 0.5, 0.4], np.float32)
"""How often each state is met, relative to its weight in training."""
_LOG_USUAL = np.log(USUAL)
_BESIDE, _NEAR = np.ones((3, 3), np.uint8), np.ones((5, 5), np.uint8)
HALF = complex(0.5, 0.5)
SMALL = 50.0
"""Edge (px) below which dice are looked at closely at once: at half size they are too small."""
CLOSE = 36.0
"""Edge (px of the network's input) at which dice are seen best."""
MOST_AREA = 77_000
"""Pixels of the network's input for a close look."""
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
        return self.values.index(max(self.values)) + 1


@dataclass(frozen=True, slots=True)
class Scene:
    """All dice found in a picture, best first, and the middles of chips and coins (px)."""

    dice: tuple[Found, ...]
    chips: tuple[tuple[float, float], ...]


def _chances(logits: Floats) -> tuple[float, ...]:
    highest = max(numbers := logits.tolist())
    e = [math.exp(v - highest) for v in numbers]
    whole = sum(e)
    return tuple(v / whole for v in e)


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
        self._network = Network(weights)

    def find(self, pyramid: Pyramid, count: int | None = None) -> Scene:
        """Find dice in a picture at half its size; if they are small, then again more closely.

        `count` is how many there must be.
        """
        scene = self._find(pyramid.level(1), _View(2.0, HALF))
        surely = [d.frame for d in scene.dice if d.score >= SURE]
        if not surely or median(f.edge for f in surely) >= SMALL:
            return scene
        enough = count is not None and len(surely) >= count
        return self._find_close(pyramid, [d.frame for d in scene.dice], enough, turned=False)

    def find_again(self, pyramid: Pyramid, frames: Sequence[Frame], enough: bool) -> Scene:
        """Look for dice another way than at first, upside down and at the size they are seen best.

        `frames` are those seen at first; unless they are `enough`, more is looked at than them.
        """
        return self._find_close(pyramid, frames, enough, turned=True)

    def _find_close(
        self, pyramid: Pyramid, frames: Sequence[Frame], enough: bool, turned: bool
    ) -> Scene:
        edge = median(f.edge for f in frames)
        level = 1 if CLOSE / edge <= 0.5 else 0
        whole = pyramid.level(level)
        size = float(1 << level)
        left, top, right, bottom = _around(frames, pyramid.level(0), edge, enough)
        x0, y0 = int(left / size), int(top / size)
        part = whole[y0 : -int(-bottom // size), x0 : -int(-right // size)]
        scale = min(
            1.0, CLOSE * size / edge, math.sqrt(MOST_AREA / (part.shape[0] * part.shape[1]))
        )
        if scale < 1.0:
            shape = (max(16, round(part.shape[1] * scale)), max(16, round(part.shape[0] * scale)))
            small = np.asarray(cv2.resize(part, shape, interpolation=cv2.INTER_AREA), np.uint8)
        else:
            small = np.ascontiguousarray(part)
        grow = size / scale
        origin = complex(x0, y0) * size + HALF * (grow - 1)
        if turned:
            corner = complex(small.shape[1] - 1, small.shape[0] - 1)
            small = np.asarray(cv2.rotate(small, cv2.ROTATE_180), np.uint8)
            return self._find(small, _View(-grow, origin + grow * corner))
        return self._find(small, _View(grow, origin))

    def _find(self, small: Picture, view: _View) -> Scene:
        grid = self._look(small)
        heat = grid[0]
        peaks = np.asarray(cv2.dilate(heat, _BESIDE))
        least = math.log(LEAST_SCORE / (1 - LEAST_SCORE))
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
        highest = np.asarray(cv2.dilate(chips, _NEAR))
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
        return np.asarray(self._network.run([small])[0], np.float32)


def _around(
    frames: Sequence[Frame], picture: Picture, edge: float, enough: bool
) -> tuple[int, int, int, int]:
    """Give the part of a picture (left, top, right, bottom) that holds dice and their sides.

    Unless the dice are `enough`, as much about them as a close look can take.
    """
    height, width = picture.shape[:2]
    x = [f.centre.real for f in frames]
    y = [f.centre.imag for f in frames]
    room = 1.3 * max(f.edge for f in frames)
    across, down = max(x) - min(x), max(y) - min(y)
    if not enough:
        area = MOST_AREA * max(1.0, edge / CLOSE) ** 2
        # (across + 2 room) (down + 2 room) = area
        middle = (across + down) / 2
        room = max(room, (math.sqrt(middle**2 - across * down + area) - middle) / 2)
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
    size = 16.0 * math.exp(min(max(float(cell[4]), -3.0), 3.0)) * view.grow
    return Found(
        _frame(view.picture(middle), size, cell[5:9]),
        1 / (1 + math.exp(-float(cell[0]))),
        complex(float(cell[9]), float(cell[10])) * size,
        _chances(cell[11:17] + _LOG_USUAL),
        _chances(cell[17:23]),
    )
