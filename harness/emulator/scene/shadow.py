"""Shadows that dice throw on the floor."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.emulator.scene.camera import Camera
from harness.emulator.scene.draw import Rect, bounds
from harness.emulator.scene.lights import Lighting, Picture
from harness.emulator.scene.poses import Placed

_SUBPIXEL = 4
"""Binary digits of a pixel in outlines."""

_SKY = ((1.05, 0.30), (1.25, 0.22), (1.55, 0.16), (2.0, 0.10))
"""How a die hides the sky from the floor about it: growing outlines and the share each takes."""


def shade_floor(
    dice: Sequence[Placed], camera: Camera, lighting: Lighting, samples: int
) -> tuple[Picture, Rect] | None:
    """Give the share of light the dice leave on the floor, (h, w) of a rectangle; None if nowhere.

    A light's shadow is the mean of the dice's outlines thrown from `samples` points of the light.
    """
    outlines: list[tuple[NDArray[np.float32], float]] = []
    for placed in dice:
        shrunk = 1 - 0.35 * placed.die.style.edge_round
        corners = placed.position + (placed.vertices() - placed.position) * shrunk
        for light in lighting.lights:
            for place in light.samples(samples):
                fall = place[2] / np.maximum(place[2] - corners[:, 2:], 1.0)
                thrown = place + (corners - place) * fall
                part = light.share / lighting.total / samples
                outlines.append((_outline(thrown, camera), part))
        low = corners * [1.0, 1.0, 0.0]
        middle = low.mean(axis=0)
        for grow, part in _SKY:
            spread = _outline(middle + (low - middle) * grow, camera)
            outlines.append((spread, part * lighting.ambient / lighting.total))
    if not outlines:
        return None
    rect = bounds(np.concatenate([hull for hull, _ in outlines]).astype(np.float64), camera, 4)
    if rect is None:
        return None
    lost = np.zeros((rect[3] - rect[1], rect[2] - rect[0]), dtype=np.float32)
    for hull, part in outlines:
        _stamp(lost, hull - np.array(rect[:2], dtype=np.float32), part)
    lost = np.asarray(cv2.GaussianBlur(lost, (0, 0), 1.3), dtype=np.float32)
    left: Picture = np.clip(1 - lost, 0.04, 1)
    return left, rect


def _outline(points: NDArray[np.float64], camera: Camera) -> NDArray[np.float32]:
    seen = np.clip(camera.project(points), -4000, 4000).astype(np.float32)
    return np.asarray(cv2.convexHull(seen), dtype=np.float32).reshape(-1, 2)


def _stamp(lost: Picture, hull: NDArray[np.float32], part: float) -> None:
    """Add `part` inside an outline, its border smooth."""
    low = np.maximum(np.floor(hull.min(axis=0)).astype(int) - 1, 0)
    high = np.minimum(np.ceil(hull.max(axis=0)).astype(int) + 2, lost.shape[::-1])
    if (low >= high).any():
        return
    stamp = np.zeros((high[1] - low[1], high[0] - low[0]), dtype=np.uint8)
    fine = np.round((hull - low) * 2**_SUBPIXEL).astype(np.int32)
    cv2.fillConvexPoly(stamp, fine, (255,), cv2.LINE_AA, _SUBPIXEL)
    window = lost[low[1] : high[1], low[0] : high[0]]
    window += stamp * np.float32(part / 255)
