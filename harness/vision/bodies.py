"""Tells a die that light half hides from a reflection: by the colour of the other dice's bodies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.vision.faces import Floats, Frame, Pyramid

SIDE, FACE = 60, 36.0
"""Side of the picture that shows a face and what is about it, and of the face in it (px)."""
ALIKE = 28.0
"""Distance of two colours, in grey levels, up to which both may be of one body."""
MORE = 0.1
"""By how much more of a face than of what is about it has a body's colour, if it is a die's. Of 864
tosses read, three are refused for it; of 12 fourth dice that light hid in part, seven show so."""
LEAST_SIZE, MOST_SIZE = 0.85, 1.2
"""Size of a face over the dice's, if it can be one of them."""
BESIDE = 0.9
"""Edges between the middles of two top faces, at least: what is nearer is a die's own side."""
_FROM_MIDDLE = np.abs(np.arange(SIDE) - (SIDE - 1) / 2) * 2 / FACE
_OUT = np.maximum(_FROM_MIDDLE[:, None], _FROM_MIDDLE)
_FACE = _OUT < 0.92
_ABOUT = (_OUT > 1.2) & (_OUT < 1.6)


def body_shows(pyramid: Pyramid, dice: Sequence[Frame], frame: Frame) -> bool:
    """Tell whether a face shows the colour of these dice's bodies, and what is about it less."""
    if not dice:
        return False
    edge = float(np.median([die.edge for die in dice]))
    if not LEAST_SIZE * edge < frame.edge < MOST_SIZE * edge:
        return False
    if min(abs(die.centre - frame.centre) for die in dice) < BESIDE * edge:
        return False
    bodies = [np.median(_flat(pyramid, die)[_FACE], axis=0) for die in dice]
    flat = _flat(pyramid, frame)
    return _share(flat[_FACE], bodies) - _share(flat[_ABOUT], bodies) > MORE


def _flat(pyramid: Pyramid, frame: Frame) -> Floats:
    return pyramid.lay_flat(frame, SIDE, FACE).astype(np.float32)


def _share(colours: Floats, bodies: Sequence[Floats]) -> float:
    """Give the part of colours (n, 3) that may be of one of the bodies."""
    apart = np.min([np.square(colours - body).sum(axis=1) for body in bodies], axis=0)
    return float((apart < ALIKE**2).mean())
