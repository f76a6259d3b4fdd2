"""What the layout camera sees: the layout with its four markers and the lamps' light.

The exposure spans whole mains periods, so PWM and multiplexing are averaged out; a lamp's light is
its mean brightness. Light is drawn linear and encoded as sRGB (IEC 61966-2-1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

Spot = tuple[float, float, float]
"""A lamp's middle and radius in px."""
Light = NDArray[np.float32]

_FELT = (0.030, 0.055, 0.022)
_PRINT = (0.16, 0.17, 0.15)
_LAMP = (0.42, 0.60, 0.72)
_NOISE = 1.2
"""Standard deviation in steps of 255."""
_HALO = 0.05
_MARKER_PX = 24


class LayoutPicture:
    """Draws the layout for the brightness of each area; 1.0 is a good lamp."""

    def __init__(
        self,
        size: tuple[int, int],
        spots: Mapping[str, Spot],
        markers: Sequence[tuple[float, float]],
        seed: int,
    ) -> None:
        self._rng = np.random.default_rng([seed, 11])
        self._dark = self._layout(size, spots, markers)
        self._lamps = {area: _lamp(size, spot) for area, spot in spots.items()}
        noise = self._rng.normal(0, _NOISE, (8, size[1], size[0], 3))
        self._noise = [each.astype(np.int16) for each in noise]
        self._drawn: tuple[tuple[float, ...], NDArray[np.int16]] | None = None
        self._turn = 0

    def jpeg(self, levels: Mapping[str, float]) -> bytes:
        """Give a picture as JPEG."""
        key = tuple(round(levels.get(area, 0.0), 3) for area in self._lamps)
        if self._drawn is None or self._drawn[0] != key:
            self._drawn = key, self._draw(key)
        self._turn = (self._turn + 1) % len(self._noise)
        image = np.clip(self._drawn[1] + self._noise[self._turn], 0, 255).astype(np.uint8)
        return bytes(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 92])[1].tobytes())

    def _draw(self, levels: Sequence[float]) -> NDArray[np.int16]:
        light = self._dark.copy()
        for (left, top, glow), level in zip(self._lamps.values(), levels, strict=True):
            if level:
                height, width = glow.shape[:2]
                light[top : top + height, left : left + width] += level * glow
        return _encode(light)

    def _layout(
        self,
        size: tuple[int, int],
        spots: Mapping[str, Spot],
        markers: Sequence[tuple[float, float]],
    ) -> Light:
        width, height = size
        light = np.empty((height, width, 3), np.float32)
        light[:] = _FELT
        grain = cv2.GaussianBlur(
            self._rng.normal(0, 1, (height, width)).astype(np.float32), (0, 0), 1.0
        )
        light *= (1 + 0.25 * grain)[..., None]
        for x, y, radius in spots.values():
            corner = (round(x - 1.6 * radius), round(y - 1.6 * radius))
            other = (round(x + 1.6 * radius), round(y + 1.6 * radius))
            cv2.rectangle(light, corner, other, _PRINT, 1, cv2.LINE_AA)
            cv2.circle(light, (round(x), round(y)), round(radius), (0.02, 0.02, 0.02), -1)
        fall = np.linspace(1.0, 0.85, width, dtype=np.float32)
        light *= fall[None, :, None]
        for number, (x, y) in enumerate(_clockwise(markers)):
            _put_marker(light, number, x, y)
        return cv2.GaussianBlur(light, (0, 0), 0.6).astype(np.float32)


def _lamp(size: tuple[int, int], spot: Spot) -> tuple[int, int, Light]:
    """Give a lamp's light: where its patch begins (x, y), and the patch."""
    x, y, radius = spot
    reach = 3.0 * radius
    left, top = max(0, int(x - reach)), max(0, int(y - reach))
    right, bottom = min(size[0], int(x + reach) + 1), min(size[1], int(y + reach) + 1)
    rows, columns = np.mgrid[top:bottom, left:right].astype(np.float32)
    distance = np.hypot(columns - x, rows - y)
    edge = np.clip(radius + 0.5 - distance, 0, 1)
    halo = _HALO * np.exp(-((distance / (1.3 * radius)) ** 2))
    glow: Light = (np.maximum(edge, halo)[..., None] * np.array(_LAMP)).astype(np.float32)
    return left, top, glow


def _clockwise(markers: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Give four markers as top left, top right, bottom right, bottom left."""
    if len(markers) != 4:
        return list(markers)
    rows = sorted(markers, key=lambda marker: marker[1])
    (top_left, top_right), (left, right) = sorted(rows[:2]), sorted(rows[2:])
    return [top_left, top_right, right, left]


def _put_marker(light: Light, number: int, x: float, y: float) -> None:
    """Print an ArUco marker (4x4, of 50) with its quiet zone, as far as it lies in the picture."""
    kind = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    marker = cv2.aruco.generateImageMarker(kind, number, _MARKER_PX)
    quiet = 4
    block = np.full((_MARKER_PX + 2 * quiet,) * 2, 0.55, np.float32)
    block[quiet:-quiet, quiet:-quiet] = np.where(marker > 0, 0.55, 0.02)
    half = block.shape[0] // 2
    left, top = round(x) - half, round(y) - half
    height, width = light.shape[:2]
    for row in range(max(0, top), min(height, top + block.shape[0])):
        columns = slice(max(0, left), min(width, left + block.shape[1]))
        light[row, columns] = block[row - top, columns.start - left : columns.stop - left, None]


def _encode(light: Light) -> NDArray[np.int16]:
    clipped = np.clip(light, 0, 1)
    low = clipped * 12.92
    high = 1.055 * np.power(clipped, 1 / 2.4) - 0.055
    steps: NDArray[np.int16] = np.rint(255 * np.where(clipped <= 0.0031308, low, high)).astype(
        np.int16
    )
    return steps
