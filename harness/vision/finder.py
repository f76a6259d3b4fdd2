"""Finds dice in a picture: a small network looks at the whole picture at half size and gives each
die's top face as a frame, the way down to its bottom, its state and a first idea of its value.
"""

from __future__ import annotations

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


class Finder:
    """Looks for dice. Holds the network; one per thread."""

    def __init__(self, weights: Path = WEIGHTS) -> None:
        self._net = cv2.dnn.readNetFromONNX(str(weights))

    def find(self, pyramid: Pyramid, level: int = 1) -> Scene:
        """Find dice; `level` says how often the picture is halved before the network sees it."""
        small = pyramid.level(level)
        grid = self._look(small)
        heat = grid[0]
        peaks = np.asarray(cv2.dilate(heat, np.ones((3, 3), np.uint8)))
        least = float(np.log(LEAST_SCORE / (1 - LEAST_SCORE)))
        ys, xs = np.nonzero((heat >= peaks) & (heat > least))
        grow = float(1 << level)
        found = [
            self._decode(grid[:, y, x], int(x), int(y), grow) for y, x in zip(ys, xs, strict=True)
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
        cy, cx = np.nonzero(
            (chips >= np.asarray(cv2.dilate(chips, np.ones((5, 5), np.uint8)))) & (chips > 0)
        )
        return Scene(
            tuple(kept),
            tuple(
                (((x + 0.5) * STRIDE) * grow - 0.5, ((y + 0.5) * STRIDE) * grow - 0.5)
                for y, x in zip(cy.tolist(), cx.tolist(), strict=True)
            ),
        )

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

    @staticmethod
    def _decode(cell: Floats, x: int, y: int, grow: float) -> Found:
        cx = ((x + float(cell[2]) + 0.5) * STRIDE) * grow - 0.5
        cy = ((y + float(cell[3]) + 0.5) * STRIDE) * grow - 0.5
        size = 16.0 * float(np.exp(np.clip(cell[4], -3, 3))) * grow
        frame = _frame(complex(cx, cy), size, cell[5:9])
        return Found(
            frame,
            float(1 / (1 + np.exp(-cell[0]))),
            complex(float(cell[9]), float(cell[10])) * size,
            _chances(cell[11:17] + np.log(USUAL)),
            _chances(cell[17:23]),
        )
