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
NEAREST = 8.0
"""Edges of a die from which no camera is expected to look at dice from nearer."""


def of_one_set(dice: Sequence[Upright]) -> bool:
    """Tell whether dice can be of one set, however the camera looks at them."""
    scales = [die.scale for die in dice]
    return max(scales) <= UNLIKE * min(scales)


def one_higher(dice: Sequence[Upright]) -> bool:
    """Tell whether one die is so much larger that it lies upon another that it hides."""
    scales = [die.scale for die in dice]
    return len(scales) > 1 and max(scales) > HIGHER * min(scales)


def one_falls_short(dice: Sequence[Upright], doubted: Sequence[bool]) -> bool:
    """Tell whether a face is smaller than the other dice's by more than the camera's tilt explains.

    Then it is a part of one: a ring of light about one pip of a five looks like a one. Upright
    edges point to where the camera stands, and to where dice are larger: by their slope over the
    camera's distance. `doubted`: what may be hidden in part is allowed nothing for tilt.
    """
    if len(dice) < 2:
        return False
    scales = np.array([die.scale for die in dice])
    centres = np.array([die.frame.centre for die in dice])
    slopes = np.array([die.slope for die in dice])
    slope = complex(np.median(slopes.real), np.median(slopes.imag))
    for k, doubt in enumerate(doubted):
        others = np.arange(len(dice)) != k
        usual = scales[others].mean()
        nearer = ((centres[k] - centres[others].mean()) * slope.conjugate()).real
        explained = 0.0 if doubt else min(0.0, nearer / usual / NEAREST)
        if math.log(scales[k] / usual) < explained - SHORT:
            return True
    return False
