"""The hypotheses that a watch holds against the dice, and how the error rate is shared among them.

Each has an e-process of its own; it is rejected when that ever reaches 1 / (alpha x weight). The
weights sum to one, so the chance of any false rejection, ever, is at most alpha (Bonferroni over
Ville's inequality; it needs no assumption on how the processes hang together).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["faces", "joint", "copies", "faces-opposite", "repeats"]
LAGS = (1, 2, 3)
PAIRS = ((0, 1), (0, 2), (1, 2))


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One null hypothesis. `dice` are 0 to 2; `lag` and `phase` only for `repeats`."""

    kind: Kind
    dice: tuple[int, ...]
    weight: float
    lag: int = 0
    phase: int = 0

    @property
    def name(self) -> str:
        """Name it in a report."""
        named = "-".join(f"die{die + 1}" for die in self.dice)
        if self.kind == "repeats":
            return f"{named}-lag-{self.lag}" + ("" if self.phase == 0 else "-shifted")
        return f"{named}-{self.kind}" if self.kind != "joint" else "joint-216"

    @property
    def null(self) -> str:
        """State the null hypothesis."""
        first = f"die {self.dice[0] + 1}"
        if self.kind == "faces":
            return f"tosses of {first} are independent, each face with probability 1/6"
        if self.kind == "joint":
            return "tosses are independent, each of the 216 results with probability 1/216"
        if self.kind == "repeats":
            return f"tosses of {first} are exchangeable in time (no repeating at lag {self.lag})"
        both = f"{first} and die {self.dice[1] + 1}"
        said = "equal" if self.kind == "copies" else "opposite"
        return f"{both} are independent within a toss (no excess of {said} faces)"

    @property
    def source(self) -> str:
        """Name the method's source."""
        return (
            "Dirichlet-mixture e-process, Robbins 1970"
            if self.kind in ("faces", "joint")
            else "permutation betting on matches, Ramdas et al. 2023; rook numbers, Riordan 1958"
        )


def _family() -> tuple[Hypothesis, ...]:
    faces = [Hypothesis("faces", (die,), 0.2) for die in range(3)]
    joint = [Hypothesis("joint", (0, 1, 2), 0.06)]
    pairs = [Hypothesis("copies", pair, 0.03) for pair in PAIRS]
    pairs += [Hypothesis("faces-opposite", pair, 0.05 / 3) for pair in PAIRS]
    share = {1: 0.12, 2: 0.05, 3: 0.03}
    lags = [
        Hypothesis("repeats", (die,), share[lag] / 6, lag, phase)
        for lag in LAGS
        for die in range(3)
        for phase in (0, 1)
    ]
    return (*faces, *joint, *pairs, *lags)


FAMILY = _family()
"""The whole family; the weights sum to one."""
