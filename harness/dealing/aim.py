"""Whether a dice camera sees the whole place where dice come to rest, from what it saw of them."""

from __future__ import annotations

from itertools import pairwise
from math import hypot
from typing import TYPE_CHECKING

from harness.rig.errors import RigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.vision.calibration import Profile
    from harness.vision.readings import DiceReading, DieSeen

BEYOND = 0.1
"""Part of a die's edge by which its top face must reach beyond the picture to be cut off."""


class MovedPictureError(RigError):
    """A camera that does not show the whole place where dice lie: it was moved, or badly aimed."""

    fault = "moved"

    def __init__(self, camera: str, seen: str) -> None:
        super().__init__(
            f"camera:{camera}",
            expected="a picture of the whole place where dice come to rest",
            found=seen,
            remedy="aim the camera again, calibrate it, then run again",
        )


def cut_off(reading: DiceReading, size: tuple[int, int]) -> str | None:
    """Tell of a die that the picture's border cuts off; None without one.

    size: width and height of the picture, px.
    """
    for die in reading.dice:
        if _beyond(die, size) > BEYOND * _edge(die):
            x, y = (round(each) for each in die.centre_px)
            return f"a die at {x},{y} px is cut off by the border of the picture"
    return None


def astray(reading: DiceReading, profile: Profile) -> str | None:
    """Tell of a die where the camera, when it was calibrated, saw that none can lie; else None.

    reading: of the whole picture, read as if it were not calibrated.
    """
    left, top, width, height = profile.region
    if width <= 0:
        return None
    for die in reading.dice:
        x, y = die.centre_px
        if die.value is not None and not (left <= x <= left + width and top <= y <= top + height):
            return f"a die at {x:.0f},{y:.0f} px, outside the region that was calibrated"
    return None


def _beyond(die: DieSeen, size: tuple[int, int]) -> float:
    """Give how far, px, a die's top face reaches beyond a picture's border; negative inside."""
    width, height = size
    return max(max(-x, -y, x - (width - 1), y - (height - 1)) for x, y in die.corners_px)


def _edge(die: DieSeen) -> float:
    corners: Sequence[tuple[float, float]] = (*die.corners_px, die.corners_px[0])
    sides = [hypot(x - u, y - v) for (x, y), (u, v) in pairwise(corners)]
    return sum(sides) / len(sides)
