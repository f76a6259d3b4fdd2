"""Dice in motion between a toss and their rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np
from numpy.typing import NDArray

from harness.emulator.scene.poses import Chamber, Placed

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Motion:
    """A toss that ends in `rest` after `duration` seconds.

    The dice swirl about the middle of their chamber, hop and tumble, all ever slower. The swirl is
    one rigid turn for a chamber, so dice keep their distances and stay within the wall.
    """

    rest: tuple[Placed, ...]
    chambers: tuple[Chamber, ...]
    duration: float
    swirl: float
    hops: tuple[tuple[float, float], ...]
    spins: tuple[Vector, ...]

    @classmethod
    def toss(
        cls, rest: Sequence[Placed], chambers: tuple[Chamber, ...], duration: float,
        rng: np.random.Generator,
    ) -> Motion:  # fmt: skip
        """Draw a motion that ends in the given rest."""
        spins = []
        for _ in rest:
            axis = rng.standard_normal(3)
            spins.append(axis / np.linalg.norm(axis) * rng.uniform(14.0, 26.0))
        hops = tuple((rng.uniform(8.0, 22.0), rng.uniform(0.16, 0.24)) for _ in rest)
        swirl = float(rng.choice([-1.0, 1.0]) * rng.uniform(6.0, 11.0))
        return cls(tuple(rest), chambers, duration, swirl, hops, tuple(spins))

    def at(self, elapsed: float) -> tuple[Placed, ...]:
        """Give where the dice are, `elapsed` seconds into the toss."""
        left = self.duration - elapsed
        if left <= 0:
            return self.rest
        # Speeds fall evenly to nothing: what is left to turn is speed x time left / 2.
        slow = left / self.duration
        to_go = slow * left / 2
        return tuple(
            self._one(index, placed, slow, to_go) for index, placed in enumerate(self.rest)
        )

    def _one(self, index: int, placed: Placed, slow: float, to_go: float) -> Placed:
        chamber = min(
            self.chambers,
            key=lambda c: (c.x - placed.position[0]) ** 2 + (c.y - placed.position[1]) ** 2,
        )
        turn = _about(np.array([0.0, 0.0, -self.swirl * to_go]))
        middle = np.array([chamber.x, chamber.y, 0.0])
        position = middle + turn @ (placed.position - middle)
        rotation = _about(-self.spins[index] * to_go) @ turn @ placed.rotation
        reach, beat = self.hops[index]
        hop = reach * slow * abs(sin(pi * (to_go / beat)))
        stands = np.abs(rotation[2]).sum() * placed.die.edge_mm / 2
        level = stands if placed.state in ("flat", "under") else max(stands, position[2])
        position[2] = level + hop
        return Placed(placed.die, position, rotation, "moving")


def _about(turn: Vector) -> Vector:
    """Give the rotation about a vector by its length in radians (Rodrigues)."""
    angle = float(np.linalg.norm(turn))
    if angle < 1e-12:
        return np.eye(3)
    x, y, z = turn / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    out: Vector = np.eye(3) + sin(angle) * cross + (1 - cos(angle)) * (cross @ cross)
    return out
