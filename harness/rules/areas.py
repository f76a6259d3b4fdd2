"""Areas of a layout: what a wager stands on, and on which results of three dice it wins.

Each kind of area is a small class with one predicate; a rule book names the kind and its numbers.
A result is three face values in order. No kind depends on the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from harness.observations import Dice
from harness.verdicts import ConfigurationError

OptionValue = bool | str
Options = Mapping[str, OptionValue]
"""Values of a rule book's options by name. A name that is absent has its default reading."""

OnTriple = Literal["wins", "loses"]
Parity = Literal["odd", "even"]
Basis = Literal["text", "reading"]

_FACES = range(1, 7)
ALL_RESULTS: tuple[Dice, ...] = tuple(product(_FACES, _FACES, _FACES))
"""The 216 results, ascending."""


def check_dice(dice: Sequence[object]) -> Dice:
    """Give three face values as a result; raises ConfigurationError for anything else."""
    faces = [face for face in dice if type(face) is int and 1 <= face <= 6]
    if len(dice) != 3 or len(faces) != 3:
        raise ConfigurationError(
            "dice",
            expected="three face values from 1 to 6",
            found=",".join(str(face) for face in dice) or "none",
            remedy="give a result as 1,1,2",
        )
    return (faces[0], faces[1], faces[2])


def is_triple(dice: Dice) -> bool:
    """Tell whether all three dice show one number."""
    return dice[0] == dice[1] == dice[2]


@dataclass(frozen=True, slots=True)
class Single:
    """Wins when one or more dice show the number."""

    number: int

    def wins(self, dice: Dice, options: Options) -> bool:
        """Tell whether the number shows at all."""
        return self.number in dice


@dataclass(frozen=True, slots=True)
class Double:
    """Wins when two dice show the number; on its triple as `double-wins-on-triple` says."""

    number: int

    def wins(self, dice: Dice, options: Options) -> bool:
        """Tell whether two dice show the number, or three where the option lets them."""
        count = dice.count(self.number)
        return count == 2 or (count == 3 and options.get("double-wins-on-triple", True) is True)


@dataclass(frozen=True, slots=True)
class Triple:
    """Wins when all three dice show the number."""

    number: int

    def wins(self, dice: Dice, options: Options) -> bool:
        """Tell whether every die shows the number."""
        return dice.count(self.number) == 3


@dataclass(frozen=True, slots=True)
class AnyTriple:
    """Wins when all three dice show one number, whichever."""

    def wins(self, dice: Dice, options: Options) -> bool:
        """Tell whether the dice show a triple."""
        return is_triple(dice)


@dataclass(frozen=True, slots=True)
class Pair:
    """Wins when both of two different numbers show."""

    numbers: tuple[int, int]

    def wins(self, dice: Dice, options: Options) -> bool:
        """Tell whether both numbers show."""
        return self.numbers[0] in dice and self.numbers[1] in dice


@dataclass(frozen=True, slots=True)
class Total:
    """Wins when the dice add up to the total, triples included."""

    total: int

    def wins(self, dice: Dice, options: Options) -> bool:
        """Tell whether the sum is the total."""
        return sum(dice) == self.total


@dataclass(frozen=True, slots=True)
class TotalRange:
    """Wins when the sum lies in a range, both ends included (small, big)."""

    totals: tuple[int, int]
    on_triple: OnTriple

    def wins(self, dice: Dice, options: Options) -> bool:
        """Tell whether the sum is in range and no triple forbids it."""
        low, high = self.totals
        return low <= sum(dice) <= high and (self.on_triple == "wins" or not is_triple(dice))


@dataclass(frozen=True, slots=True)
class OddEven:
    """Wins when the sum is odd, or even."""

    parity: Parity
    on_triple: OnTriple

    def wins(self, dice: Dice, options: Options) -> bool:
        """Tell whether the sum has the parity and no triple forbids it."""
        even = sum(dice) % 2 == 0
        return even == (self.parity == "even") and (self.on_triple == "wins" or not is_triple(dice))


@dataclass(frozen=True, slots=True)
class ExactSet:
    """Wins when the three dice show exactly these numbers, in any order: x,y,z or x,x,y."""

    numbers: tuple[int, int, int]

    def wins(self, dice: Dice, options: Options) -> bool:
        """Tell whether the dice are a rearrangement of the numbers."""
        return sorted(dice) == sorted(self.numbers)


@dataclass(frozen=True, slots=True)
class ThreeOfFour:
    """Wins when the dice show three different numbers out of four."""

    numbers: tuple[int, int, int, int]

    def wins(self, dice: Dice, options: Options) -> bool:
        """Tell whether the dice are all different and all among the four."""
        shown = set(dice)
        return len(shown) == 3 and shown <= set(self.numbers)


Kind = (
    Single
    | Double
    | Triple
    | AnyTriple
    | Pair
    | Total
    | TotalRange
    | OddEven
    | ExactSet
    | ThreeOfFour
)


@dataclass(frozen=True, slots=True)
class Area:
    """A place on the layout that can be lit and wagered on.

    `wager` is what the source calls the bet, `clause` the tag that says when it wins,
    `losing_clause` the one that says when it loses (often the same), `basis` whether its win rule
    is the clause's text or a reading.
    """

    id: str
    kind: Kind
    wager: str
    clause: str
    losing_clause: str
    basis: Basis

    def wins(self, dice: Dice, options: Options) -> bool:
        """Tell whether a wager on this area wins on these dice."""
        return self.kind.wins(dice, options)

    @property
    def counts(self) -> tuple[int, ...]:
        """Give the numbers of dice that odds may tell apart; `(0,)` where odds do not count dice.

        Singles win on one, two or three dice, doubles and pairs on two or three.
        """
        match self.kind:
            case Single():
                return (1, 2, 3)
            case Double() | Pair():
                return (2, 3)
            case _:
                return (0,)

    def count(self, dice: Dice) -> int:
        """Give how many dice show a number of this wager; 0 where odds do not count dice."""
        match self.kind:
            case Single(number) | Double(number):
                return dice.count(number)
            case Pair((low, high)):
                return dice.count(low) + dice.count(high)
            case _:
                return 0
