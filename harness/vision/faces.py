"""A die's top face in a picture: its frame, and the face laid flat as a small square picture."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a face lies: centre and two half edges, pixels as complex numbers x + iy.

    Face coordinates (a, b), each -1 to 1 across the face, lie at centre + a * across + b * along.
    """

    centre: complex
    across: complex
    along: complex

    @property
    def edge(self) -> float:
        """Length of an edge in px: the side of a square of this area."""
        area = abs((self.across.conjugate() * self.along).imag)
        return 2.0 * math.sqrt(area)

    def at(self, a: float, b: float) -> tuple[float, float]:
        """Give the pixel of face coordinates."""
        point = self.centre + a * self.across + b * self.along
        return (point.real, point.imag)

    @property
    def corners(self) -> tuple[tuple[float, float], ...]:
        """Give the four corners in order around the face."""
        return (self.at(-1, -1), self.at(1, -1), self.at(1, 1), self.at(-1, 1))


class Pyramid:
    """A picture at full, half, quarter size, made when asked for.

    Sampling a face at about its own resolution needs no smoothing that way.
    """

    def __init__(self, image: Picture) -> None:
        self._levels = [image]

    def level(self, n: int) -> Picture:
        """Give the picture halved n times."""
        while len(self._levels) <= n:
            big = self._levels[-1]
            size = (max(1, big.shape[1] // 2), max(1, big.shape[0] // 2))
            self._levels.append(
                np.asarray(cv2.resize(big, size, interpolation=cv2.INTER_AREA), np.uint8)
            )
        return self._levels[n]

    def lay_flat(self, frame: Frame, side: int, face: float) -> Picture:
        """Give a (side, side, 3) picture in which the face spans `face` px, centred."""
        n = min(max(int(math.log2(max(frame.edge, 1.0) / face)), 0), 5)
        shrink = 1.0 / (1 << n)
        middle = (side - 1) / 2
        step = 2.0 / face
        across, along = frame.across * shrink * step, frame.along * shrink * step
        centre = (frame.centre + complex(0.5, 0.5)) * shrink - complex(0.5, 0.5)
        corner = centre - middle * (across + along)
        matrix = np.array(
            ((across.real, along.real, corner.real), (across.imag, along.imag, corner.imag))
        )
        flat = cv2.warpAffine(
            self.level(n),
            matrix,
            (side, side),
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=(127, 127, 127),
        )
        return np.asarray(flat, np.uint8)
