"""The three dice in their shaker: what lies there, what moves, and what is wrong with them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Pose = Literal["flat", "leaning", "stacked"]


@dataclass(frozen=True, slots=True)
class Lying:
    """What lies in the shaker, or will once it rests: faces up, pose, how many dice.

    `moves_for_s` is how long the dice move from now on, in s of bench time; 0 when they lie.
    """

    values: tuple[int, int, int]
    pose: Pose = "flat"
    count: int = 3
    moves_for_s: float = 0.0


class DiceBox:
    """The dice. `listeners` are told of every change; tosses are drawn from `rng`.

    Defects: `pose` overrides every pose, `count` is the number of dice, `restless` dice keep moving
    for ever, `loaded` gives by die (1 to 3) a face and by how much likelier it falls, `glued` dice
    do not move when thrown.
    """

    FOREVER_S = 1e6

    def __init__(self, rng: random.Random) -> None:
        self.listeners: list[Callable[[Lying], None]] = []
        self.pose: Pose | None = None
        self.count = 3
        self.restless = False
        self.glued = False
        self.loaded: dict[int, tuple[int, float]] = {}
        self.tosses = 0
        self._rng = rng
        self._laid = Lying((1, 2, 3))

    @property
    def lying(self) -> Lying:
        """Give what lies there, defects included."""
        return replace(
            self._laid,
            pose=self.pose or self._laid.pose,
            count=self.count,
            moves_for_s=self.FOREVER_S if self.restless else self._laid.moves_for_s,
        )

    def lay(self, values: Sequence[int], pose: Pose) -> None:
        """Lay the dice with these faces up."""
        one, two, three = values
        self._laid = Lying((one, two, three), pose)
        self.tell()

    def throw(self, seconds: float) -> None:
        """Throw the dice up; they lie as they fall after `seconds`."""
        if not self.glued:
            one, two, three = (self._fallen(number) for number in (1, 2, 3))
            self._laid = Lying((one, two, three), moves_for_s=seconds)
            self.tosses += 1
            self.tell()

    def come_to_rest(self) -> None:
        """Note that the dice lie now."""
        self._laid = replace(self._laid, moves_for_s=0.0)

    def tell(self) -> None:
        """Tell who listens what lies there now."""
        for listener in self.listeners:
            listener(self.lying)

    def _fallen(self, number: int) -> int:
        if number not in self.loaded:
            return self._rng.randint(1, 6)
        face, by = self.loaded[number]
        chances = [1 / 6 + by if each == face else (5 / 6 - by) / 5 for each in range(1, 7)]
        return self._rng.choices(range(1, 7), chances)[0]
