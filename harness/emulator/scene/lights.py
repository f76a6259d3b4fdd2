"""Lights over the tray: where they stand, what shadows they throw, what they look like mirrored."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, radians, sin
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Picture = NDArray[np.float32]
Shape = Literal["disc", "panel", "ring"]


@dataclass(frozen=True)
class Light:
    """One light. `share` is the irradiance it gives the floor (a white floor in full light is 1).

    `position` and `size` are mm; size is the radius of a disc or ring, half the side of a panel.
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
        middle = np.array(self.position)
        way, first, second, _ = self.frame(np.zeros(3))
        turns = np.arange(count) * (2 * pi / count if self.shape == "ring" else pi * (3 - 5**0.5))
        reach = (
            np.ones(count) if self.shape == "ring" else np.sqrt((np.arange(count) + 0.5) / count)
        )
        out: Vector = middle + self.size * reach[:, None] * (
            np.cos(turns)[:, None] * first + np.sin(turns)[:, None] * second
        )
        return out

    def mirrored(
        self, ways: tuple[Picture, Picture, Picture], point: Vector, haze_deg: float
    ) -> Picture:
        """Give the radiance that arrives at `point` along mirrored `ways` (unit x, y, z arrays).

        Radiance is such that a white diffuser lit by the light alone shows `share`.
        """
        way, first, second, distance = self.frame(point)
        x, y, z = ways
        ahead = np.maximum(x * way[0] + y * way[1] + z * way[2], 1e-3)
        across = (x * first[0] + y * first[1] + z * first[2]) / ahead
        along = (x * second[0] + y * second[1] + z * second[2]) / ahead
        reach = self.size / distance
        soft = max(radians(haze_deg), 1e-3)
        if self.shape == "panel":
            off = np.maximum(np.abs(across), np.abs(along) * 1.4) - reach
            area = 4 * reach * reach / 1.4
        elif self.shape == "ring":
            thick = 0.16 * reach
            off = np.abs(np.sqrt(across * across + along * along) - reach) - thick
            area = 2 * pi * reach * 2 * thick
        else:
            off = np.sqrt(across * across + along * along) - reach
            area = pi * reach * reach
        shape = np.clip(0.5 - off / (2 * soft), 0, 1)
        shape *= shape * (3 - 2 * shape)
        # Haze spreads the same light over a larger patch.
        spread = (
            area * (1 + soft / reach) ** 2
            if self.shape != "ring"
            else area * (1 + soft / (0.16 * reach))
        )
        out: Picture = (shape * (ahead > 0.05) * (self.share * pi / spread)).astype(np.float32)
        return out


def ring_over(position: Vector, share: float, radius: float) -> Light:
    """Give a ring light about the camera's lens."""
    x, y, z = (float(c) for c in position)
    return Light((x, y, z), share, radius, "ring")


def overhead(
    azimuth_deg: float, elevation_deg: float, distance: float
) -> tuple[float, float, float]:
    """Give a light's place from its direction as seen from the tray."""
    a, e = radians(azimuth_deg), radians(elevation_deg)
    return distance * cos(a) * cos(e), distance * sin(a) * cos(e), distance * sin(e)
