"""Dice drawn by casting rays at rounded cubes, several a pixel, the nearest winning.

The body is the common part of a cube, twelve edge planes and a ball. Light is linear, BGR,
1 = a white floor in full light.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.emulator.scene.camera import Camera
from harness.emulator.scene.dice import Die
from harness.emulator.scene.lights import Lighting, Picture, unit
from harness.emulator.scene.poses import Placed
from harness.emulator.scene.surface import shade

Flags = NDArray[np.bool_]
Rect = tuple[int, int, int, int]
"""x0, y0, x1, y1 in pixels, the far ones excluded."""


class DiceCanvas:
    """Draws dice over a linear picture, `samples` x `samples` rays a pixel."""

    def __init__(self, camera: Camera, lighting: Lighting, samples: int = 2) -> None:
        self.camera, self.lighting, self.samples = camera, lighting, samples
        size = (camera.height * samples, camera.width * samples)
        self._depth = np.empty(size, dtype=np.float32)
        self._colour = np.empty((*size, 3), dtype=np.float32)

    def draw(self, picture: Picture, dice: Sequence[Placed]) -> list[Rect]:
        """Draw the dice into `picture` (h, w, 3) in place and give the rectangles touched."""
        seen = [(placed, footprint(placed, self.camera)) for placed in dice]
        rects = [(placed, rect) for placed, rect in seen if rect is not None]
        merged = merge([rect for _, rect in rects])
        for rect in merged:
            self._depth[self._block(rect)] = np.inf
            self._colour[self._block(rect)] = 0
        for placed, rect in rects:
            others = [other for other in dice if other is not placed]
            self._cast(placed, others, rect)
        for rect in merged:
            x0, y0, x1, y1 = rect
            block, size = self._block(rect), (x1 - x0, y1 - y0)
            covered = (self._depth[block] < np.inf).astype(np.float32)
            cover = cv2.resize(covered, size, interpolation=cv2.INTER_AREA)
            colour = cv2.resize(self._colour[block], size, interpolation=cv2.INTER_AREA)
            part = picture[y0:y1, x0:x1]
            part *= 1 - cover[..., None]
            part += colour
        return merged

    def _block(self, rect: Rect) -> tuple[slice, slice]:
        x0, y0, x1, y1 = (edge * self.samples for edge in rect)
        return slice(y0, y1), slice(x0, x1)

    def _cast(self, placed: Placed, others: Sequence[Placed], rect: Rect) -> None:
        turn, n = placed.rotation, self.samples
        origin = (self.camera.position - placed.position) @ turn
        base, du, dv = ((v @ turn).astype(np.float32) for v in self.camera.ray_basis())
        u = ((np.arange(rect[0] * n, rect[2] * n) + 0.5) / n - 0.5).astype(np.float32)
        v = ((np.arange(rect[1] * n, rect[3] * n) + 0.5) / n - 0.5).astype(np.float32)
        ways = (base + du * u[:, None]).T[:, None, :] + (dv * v[:, None]).T[:, :, None]
        depth, ball = _enter(placed.die, origin, ways)
        block = self._block(rect)
        nearer = depth < self._depth[block]
        if not nearer.any():
            return
        t = depth[nearer]
        way = ways[:, nearer]
        at = origin.astype(np.float32)[:, None] + t * way
        colour = shade(placed, others, self.lighting, at=at, way=unit(way), on_ball=ball[nearer])
        self._depth[block][nearer] = t
        self._colour[block][nearer] = colour


def footprint(placed: Placed, camera: Camera, margin: int = 3) -> Rect | None:
    """Give the rectangle of pixels a die can touch, or None when it is out of the picture."""
    return bounds(camera.project(placed.vertices()), camera, margin)


def bounds(points: NDArray[np.float64], camera: Camera, margin: int) -> Rect | None:
    """Give the rectangle about points (n, 2) that lies in the picture, None if none does."""
    low = np.floor(points.min(axis=0)).astype(int) - margin
    high = np.ceil(points.max(axis=0)).astype(int) + margin + 1
    x0, y0 = max(0, int(low[0])), max(0, int(low[1]))
    x1, y1 = min(camera.width, int(high[0])), min(camera.height, int(high[1]))
    return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


def merge(rects: Sequence[Rect]) -> list[Rect]:
    """Join rectangles that overlap until none do."""
    done: list[Rect] = []
    for rect in rects:
        current = rect
        while (hit := next((r for r in done if _overlap(r, current)), None)) is not None:
            done.remove(hit)
            low = min(hit[0], current[0]), min(hit[1], current[1])
            current = (*low, max(hit[2], current[2]), max(hit[3], current[3]))
        done.append(current)
    return done


def _overlap(a: Rect, b: Rect) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _enter(die: Die, origin: NDArray[np.float64], ways: Picture) -> tuple[Picture, Flags]:
    """Give where rays (3, h, w) enter the body (inf if they miss), and whether on its ball."""
    half = die.edge_mm / 2
    near = np.zeros(ways.shape[1:], dtype=np.float32)
    far = np.full(ways.shape[1:], np.inf, dtype=np.float32)
    missed = np.zeros(ways.shape[1:], dtype=bool)
    radius = die.style.edge_round * half
    edge = (2 * (half - radius) + radius * 2**0.5) / 2**0.5
    planes: list[tuple[Picture, float, float]] = []
    for k in range(3):
        planes += [(s * ways[k], s * float(origin[k]), half) for s in (-1.0, 1.0)]
        j = (k + 1) % 3
        for s in (-1.0, 1.0):
            slope = (ways[k] + s * ways[j]) * 0.5**0.5
            start = float(origin[k] + s * origin[j]) * 0.5**0.5
            planes += [(slope, start, edge), (-slope, -start, edge)]
    with np.errstate(divide="ignore", invalid="ignore"):
        for slope, start, reach in planes:
            cross = (reach - start) / slope
            if start > reach:
                missed |= slope >= 0
                np.maximum(near, cross, out=near)
            else:
                np.minimum(far, np.where(slope > 0, cross, np.inf), out=far)
    a = (ways * ways).sum(axis=0)
    b = np.tensordot(origin.astype(np.float32), ways, 1)
    ball = die.style.corner_round * half
    root = b * b - a * float(origin @ origin - ball * ball)
    missed |= root <= 0
    root = np.sqrt(np.maximum(root, 0))
    enter, leave = (-b - root) / a, (-b + root) / a
    on_ball = enter > near
    near = np.maximum(near, enter)
    missed |= near >= np.minimum(far, leave)
    near[missed] = np.inf
    return near, on_ball
