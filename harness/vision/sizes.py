"""Dice of one set on one floor: what their sizes in a picture may be, and what tells otherwise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from harness.vision.plumb import Upright

UNLIKE = 1.5
"""Size of one die over another's up to which they can be dice of one set."""
HIGHER = 1.055
"""Size of one die over another's from which it lies higher, if a die is too few."""
SHORT = 0.1
"""By how much, as a logarithm, a die may be smaller than the others than a tilted camera explains:
of 3,000 dice that were read in pictures of all kinds none is by more than 0.087."""
SHORTEST_FOCAL = 400.0
"""Focal length (px) below which no camera is expected to look at dice."""


def of_one_set(dice: Sequence[Upright]) -> bool:
    """Tell whether dice can be of one set, however the camera looks at them."""
    scales = [die.scale for die in dice]
    return max(scales) <= UNLIKE * min(scales)


def one_higher(dice: Sequence[Upright]) -> bool:
    """Tell whether one die is so much larger that it lies upon another that it hides."""
    scales = [die.scale for die in dice]
    return len(scales) > 1 and max(scales) > HIGHER * min(scales)


def one_falls_short(dice: Sequence[Upright]) -> bool:
    """Tell whether a face is smaller than the other dice's by more than the camera's tilt explains.

    Then it is a part of one: a ring of light about one pip of a five looks like a one. Upright
    edges point to where the camera stands, and to where dice are larger: by their slope over the
    focal length for each px.
    """
    if len(dice) < 2:
        return False
    scales, centres = (
        np.array(of) for of in zip(*((d.scale, d.frame.centre) for d in dice), strict=True)
    )
    slopes = np.array([die.slope for die in dice])
    slope = complex(np.median(slopes.real), np.median(slopes.imag))
    for k, die in enumerate(dice):
        others = np.arange(len(dice)) != k
        nearer = ((die.frame.centre - centres[others].mean()) * slope.conjugate()).real
        explained = min(0.0, nearer / SHORTEST_FOCAL)
        if math.log(die.scale / scales[others].mean()) < explained - SHORT:
            return True
    return False
