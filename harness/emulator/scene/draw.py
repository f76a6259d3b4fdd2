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
from harness.emulator.scene.lights import Lighting, Picture, dot, unit
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
            self._lay_over(picture, rect, *self._resolved(rect))
        return merged

    def smear(self, picture: Picture, placed: Placed, shift: NDArray[np.float64]) -> list[Rect]:
        """Draw one die that moves by `shift` (x, y, pixels) while the picture is exposed."""
        kernel = _line(shift)
        rect = footprint(placed, self.camera, 3 + len(kernel) // 2)
        if rect is None:
            return []
        self._depth[self._block(rect)] = np.inf
        self._colour[self._block(rect)] = 0
        self._cast(placed, [], rect)
        cover, colour = (
            np.asarray(cv2.filter2D(layer, -1, kernel), np.float32)
            for layer in self._resolved(rect)
        )
        self._lay_over(picture, rect, cover, colour)
        return [rect]

    def _resolved(self, rect: Rect) -> tuple[Picture, Picture]:
        """Give how much of each pixel is covered, (h, w), and by what light, (h, w, 3)."""
        block, size = self._block(rect), (rect[2] - rect[0], rect[3] - rect[1])
        covered = (self._depth[block] < np.inf).astype(np.float32)
        cover = cv2.resize(covered, size, interpolation=cv2.INTER_AREA)
        colour = cv2.resize(self._colour[block], size, interpolation=cv2.INTER_AREA)
        return np.asarray(cover, np.float32), np.asarray(colour, np.float32)

    @staticmethod
    def _lay_over(picture: Picture, rect: Rect, cover: Picture, colour: Picture) -> None:
        part = picture[rect[1] : rect[3], rect[0] : rect[2]]
        part *= 1 - cover[..., None]
        part += colour

    def _block(self, rect: Rect) -> tuple[slice, slice]:
        x0, y0, x1, y1 = (edge * self.samples for edge in rect)
        return slice(y0, y1), slice(x0, x1)

    def _cast(self, placed: Placed, others: Sequence[Placed], rect: Rect) -> None:
        turn, n = placed.rotation, self.samples
        rows, columns = np.nonzero(self._silhouette(placed, rect))
        u = ((columns + 0.5) / n + rect[0] - 0.5).astype(np.float32)
        v = ((rows + 0.5) / n + rect[1] - 0.5).astype(np.float32)
        origin = ((self.camera.position - placed.position) @ turn).astype(np.float32)
        base, du, dv = ((w @ turn).astype(np.float32)[:, None] for w in self.camera.ray_basis())
        ways = base + du * u + dv * v
        t, ball = _enter(placed.die, origin, ways)
        depth = self._depth[self._block(rect)]
        hit = np.flatnonzero(t < depth[rows, columns])
        rows, columns, t, way = rows[hit], columns[hit], t[hit], ways[:, hit]
        at = origin[:, None] + t * way
        colour = shade(placed, others, self.lighting, at=at, way=unit(way), on_ball=ball[hit])
        depth[rows, columns] = t
        self._colour[self._block(rect)][rows, columns] = colour

    def _silhouette(self, placed: Placed, rect: Rect) -> NDArray[np.uint8]:
        """Mark the samples whose rays meet the die's planes."""
        n = self.samples
        points = placed.position + _hull(placed.die) @ placed.rotation.T
        fine = (self.camera.project(points) - np.array(rect[:2]) + 0.5) * n - 0.5
        outline = cv2.convexHull(fine.astype(np.float32))
        mask = np.zeros(((rect[3] - rect[1]) * n, (rect[2] - rect[0]) * n), dtype=np.uint8)
        cv2.fillConvexPoly(mask, np.round(outline * 16).astype(np.int32), (1,), cv2.LINE_8, 4)
        return mask


def _hull(die: Die) -> NDArray[np.float64]:
    """Give the corners (32, 3) of the cube with its edges cut, mm."""
    half = die.edge_mm / 2
    most = _edge_plane(die) * 2**0.5
    low = most - half
    corners = [(half, low, low), (low, half, low), (low, low, half), (most / 2,) * 3]
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    hull: NDArray[np.float64] = (signs[:, None, :] * np.array(corners)).reshape(-1, 3)
    return hull


def _edge_plane(die: Die) -> float:
    """Give the distance from the middle at which a plane touches a rounded edge, mm."""
    half = die.edge_mm / 2
    radius = die.style.edge_round * half
    return (half - radius) * 2**0.5 + radius


def _line(shift: NDArray[np.float64]) -> Picture:
    """Give the kernel, odd in size, that smears along a shift in pixels."""
    length = min(float(np.abs(shift).max()), 60.0)
    half = int(np.ceil(length / 2)) + 1
    mask = np.zeros((2 * half + 1, 2 * half + 1), dtype=np.uint8)
    way = shift / max(float(np.abs(shift).max()), 1e-9) * length / 2
    ends = [tuple(int(v) for v in np.round((half + s * way) * 16)) for s in (-1, 1)]
    cv2.line(mask, ends[0], ends[1], (255,), 1, cv2.LINE_AA, 4)
    kernel = mask.astype(np.float32)
    return np.asarray(kernel / kernel.sum(), dtype=np.float32)


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


def _enter(die: Die, origin: Picture, ways: Picture) -> tuple[Picture, Flags]:
    """Give where rays (3, n) that meet the cut cube enter the body, and whether on its ball.

    Infinite where the ball has cut away what the ray would meet.
    """
    half, edge = die.edge_mm / 2, _edge_plane(die)
    near = np.zeros(ways.shape[1], dtype=np.float32)
    far = np.full(ways.shape[1], np.inf, dtype=np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        for k in range(3):
            out = 1.0 if origin[k] > 0 else -1.0
            if abs(float(origin[k])) > half:
                np.fmax(near, (out * half - origin[k]) / ways[k], out=near)
            np.fmin(
                far,
                np.where(ways[k] * out < 0, (-out * half - origin[k]) / ways[k], np.inf),
                out=far,
            )
            j = (k + 1) % 3
            for sign in (-1.0, 1.0):
                start = float(origin[k] + sign * origin[j]) * 0.5**0.5
                if abs(start) > edge:
                    reach = edge if start > 0 else -edge
                    slope = (ways[k] + sign * ways[j]) * 0.5**0.5
                    cross = (reach - start) / slope
                    np.fmax(near, np.where(slope * start < 0, cross, 0), out=near)
    a = dot(ways, ways)
    b = origin @ ways
    ball = die.style.corner_round * half
    root = b * b - a * float(origin @ origin - ball * ball)
    missed = root <= 0
    root = np.sqrt(np.maximum(root, 0))
    enter = (-b - root) / a
    on_ball = enter > near
    np.maximum(near, enter, out=near)
    missed |= near >= np.minimum(far, (root - b) / a)
    near[missed] = np.inf
    return near, on_ball
