"""The pinhole camera that looks at the tray."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import cos, radians, sin

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Camera:
    """A pinhole without distortion.

    Lengths are mm in the tray's frame (origin in the middle of the floor, z up), angles degrees.
    `tilt_deg` is the angle between the optical axis and the vertical, `azimuth_deg` the side the
    camera leans to, `roll_deg` its turn about the vertical; `distance_mm` is taken along the axis
    to the aimed-at point of the floor. `defocus_px` is the standard deviation of the blur.
    Pixels are as OpenCV's: x right, y down, centres at whole numbers.
    """

    width: int = 480
    height: int = 360
    focal_px: float = 1050.0
    distance_mm: float = 340.0
    tilt_deg: float = 4.0
    azimuth_deg: float = 250.0
    roll_deg: float = 0.0
    aim_mm: tuple[float, float] = (0.0, 0.0)
    defocus_px: float = 0.5

    @cached_property
    def position(self) -> Vector:
        """The pinhole's place, shape (3,)."""
        tilt, azimuth = radians(self.tilt_deg), radians(self.azimuth_deg)
        side = np.array([cos(azimuth), sin(azimuth), 0.0]) * sin(tilt)
        out: Vector = np.array([*self.aim_mm, 0.0]) + self.distance_mm * (
            side + np.array([0.0, 0.0, cos(tilt)])
        )
        return out

    @cached_property
    def axes(self) -> Vector:
        """Rows: the world directions of image right, image down and the optical axis, (3, 3)."""
        forward = np.array([*self.aim_mm, 0.0]) - self.position
        forward /= np.linalg.norm(forward)
        roll = radians(self.roll_deg)
        right = np.array([cos(roll), sin(roll), 0.0])
        right -= forward * (right @ forward)
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(forward, right), forward])

    @property
    def centre_px(self) -> tuple[float, float]:
        """The principal point."""
        return (self.width - 1) / 2, (self.height - 1) / 2

    def project(self, points: Vector) -> Vector:
        """Project world points, shape (n, 3) in mm, to pixels, shape (n, 2)."""
        seen = (np.asarray(points, dtype=np.float64) - self.position) @ self.axes.T
        out: Vector = seen[:, :2] / seen[:, 2:] * self.focal_px + np.array(self.centre_px)
        return out

    def ray_basis(self) -> tuple[Vector, Vector, Vector]:
        """Give d0, du, dv (world): the ray through pixel (u, v) runs along d0 + u du + v dv."""
        right, down, forward = self.axes
        cx, cy = self.centre_px
        return (
            forward - (right * cx + down * cy) / self.focal_px,
            right / self.focal_px,
            down / self.focal_px,
        )
