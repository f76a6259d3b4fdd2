"""Lights over the tray: where they stand, where shadows start, what they look like mirrored."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, radians, sin
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Picture = NDArray[np.float32]
Shape = Literal["disc", "panel", "ring"]

_RING = 0.16
"""Half the width of a ring light, in its radius."""
_PANEL = 1.4
"""How much longer than wide a panel is."""


def dot(a: Picture, b: Picture) -> Picture:
    """Give the scalar products of vectors along the first axis."""
    product: Picture = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return product


def unit(way: Picture) -> Picture:
    """Give vectors along the first axis their length 1."""
    scaled: Picture = way * np.reciprocal(np.sqrt(dot(way, way)))
    return scaled


@dataclass(frozen=True)
class Light:
    """One light. `share` is the irradiance it gives the floor (a white floor in full light is 1).

    `position` and `size` are mm; size is the radius of a disc or ring, half the length of a panel.
    """

    position: tuple[float, float, float]
    share: float
    size: float = 30.0
    shape: Shape = "disc"

    def frame(self, point: Vector) -> tuple[Vector, Vector, Vector, float]:
        """Give the unit way to the light from a point, two ways across it, and the distance."""
        way = np.array(self.position) - point
        distance = float(np.linalg.norm(way))
        way = way / distance
        first = np.cross(way, np.array([0.31, 0.95, 0.0]))
        first /= np.linalg.norm(first)
        return way, first, np.cross(way, first), distance

    def samples(self, count: int) -> Vector:
        """Spread points over the light for soft shadows, shape (count, 3)."""
        _, first, second, _ = self.frame(np.zeros(3))
        steps = np.arange(count)
        if self.shape == "ring":
            turns, reach = steps * (2 * pi / count), np.ones(count)
        else:  # a sunflower's seeds fill a disc evenly
            turns, reach = steps * (pi * (3 - 5**0.5)), np.sqrt((steps + 0.5) / count)
        across = np.cos(turns)[:, None] * first + np.sin(turns)[:, None] * second
        spread: Vector = np.array(self.position) + self.size * reach[:, None] * across
        return spread

    def mirrored(self, ways: Picture, point: Vector, haze_deg: float) -> Picture:
        """Give the light that reaches `point` along mirrored unit ways (3, ...).

        Scaled such that a white diffuser lit by this light alone shows `share`; `haze_deg` is how
        far the mirror spreads it.
        """
        way, first, second, distance = (np.asarray(v, np.float32) for v in self.frame(point))
        ahead = np.tensordot(way, ways, 1)
        safe = np.maximum(ahead, 1e-3)
        across = np.tensordot(first, ways, 1) / safe
        along = np.tensordot(second, ways, 1) / safe
        reach = self.size / float(distance)
        soft = max(radians(haze_deg), 1e-3)
        # `off` is the distance to the light's border, `area` its solid angle with the haze.
        if self.shape == "panel":
            off = np.maximum(np.abs(across), np.abs(along) * _PANEL) - reach
            area = 4 * (reach + soft) ** 2 / _PANEL
        elif self.shape == "ring":
            off = np.abs(np.sqrt(across * across + along * along) - reach) - _RING * reach
            area = 4 * pi * reach * (_RING * reach + soft)
        else:
            off = np.sqrt(across * across + along * along) - reach
            area = pi * (reach + soft) ** 2
        shape = np.clip(0.5 - off / (2 * soft), 0, 1)
        shape *= shape * (3 - 2 * shape)
        arriving: Picture = (shape * (ahead > 0.05) * (self.share * pi / area)).astype(np.float32)
        return arriving


@dataclass(frozen=True)
class Lighting:
    """All that lights a scene: lights, the sky's share, and the floor's colour that comes back."""

    lights: tuple[Light, ...]
    ambient: float
    floor: tuple[float, float, float]

    @property
    def total(self) -> float:
        """The irradiance of an open floor."""
        return sum(light.share for light in self.lights) + self.ambient


def overhead(
    azimuth_deg: float, elevation_deg: float, distance: float
) -> tuple[float, float, float]:
    """Give a light's place from its direction as seen from the tray."""
    a, e = radians(azimuth_deg), radians(elevation_deg)
    return distance * cos(a) * cos(e), distance * sin(a) * cos(e), distance * sin(e)
