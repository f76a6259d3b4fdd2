"""The hypotheses that a watch holds against the dice, and how the error rate is shared among them.

Each has an e-process of its own, in its own time (every toss, every block); it is rejected when
that ever reaches 1 / (alpha x weight). The weights sum to one, so for fair dice the chance of any
false rejection, ever, is at most alpha: Bonferroni over Ville's inequality for each. (No mean over
the processes is taken: they are martingales each in a time of its own, and a mean that is stopped
within another's block need not be one.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "faces", "joint", "copies", "opposite", "dependence", "repeats", "transitions", "drift"
]
REPEAT_LAGS = (1, 2, 3)
TRANSITION_LAGS = tuple(range(1, 13))
"""Tosses back: longer ones find shakers that come round to the same place after several tosses."""

PAIRS = ((0, 1), (0, 2), (1, 2))

_SOURCES: dict[Kind, str] = {
    "faces": "Dirichlet-mixture e-process, Robbins 1970",
    "joint": "Dirichlet-mixture e-process, Robbins 1970",
    "copies": "permutation betting on matches, Ramdas et al. 2023; rook numbers, Riordan 1958",
    "dependence": "universal inference, Wasserman, Ramdas, Balakrishnan 2020",
}
_SOURCES |= {
    "opposite": _SOURCES["copies"],
    "repeats": _SOURCES["copies"],
    "transitions": _SOURCES["dependence"],
    "drift": _SOURCES["dependence"],
}


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One null hypothesis. `dice` are 0 to 2; `lag` (tosses) for `repeats` and `transitions` alone.

    `phase` tells the two halves apart into which `repeats` cuts a series.
    """

    kind: Kind
    dice: tuple[int, ...]
    weight: float
    lag: int = 0
    phase: int = 0

    @property
    def name(self) -> str:
        """Name it in a report."""
        named = "-".join(f"die{die + 1}" for die in self.dice)
        match self.kind:
            case "joint":
                return "joint-216"
            case "repeats":
                return f"{named}-lag-{self.lag}" + ("" if self.phase == 0 else "-shifted")
            case "transitions":
                return f"{named}-lag-{self.lag}-transitions"
            case _:
                return f"{named}-{self.kind}"

    @property
    def null(self) -> str:
        """State the null hypothesis."""
        first = f"die {self.dice[0] + 1}"
        match self.kind:
            case "faces":
                return f"tosses of {first} are independent, each face with probability 1/6"
            case "joint":
                return "tosses are independent, each of the 216 results with probability 1/216"
            case "repeats":
                return (
                    f"tosses of {first} are exchangeable in time (no repeating at lag {self.lag})"
                )
            case "transitions":
                return (
                    f"tosses of {first} are independent with constant face probabilities, whatever "
                    f"these are (nothing follows from the toss {self.lag} before)"
                )
            case "drift":
                return (
                    f"tosses of {first} are independent with constant face probabilities, whatever "
                    "these are (no wear)"
                )
        both = f"{first} and die {self.dice[1] + 1}"
        if self.kind == "dependence":
            return (
                f"{both} are independent within a toss, the latter with constant face "
                "probabilities, whatever these are"
            )
        said = "equal" if self.kind == "copies" else "opposite"
        return (
            f"{both} are independent within a toss and one of them is exchangeable in time "
            f"(no excess of {said} faces)"
        )

    @property
    def source(self) -> str:
        """Name the method's source."""
        return _SOURCES[self.kind]


def _family() -> tuple[Hypothesis, ...]:
    faces = [Hypothesis("faces", (die,), 0.19) for die in range(3)]
    joint = [Hypothesis("joint", (0, 1, 2), 0.05)]
    pairs = [Hypothesis("copies", pair, 0.03) for pair in PAIRS]
    pairs += [Hypothesis("opposite", pair, 0.04 / 3) for pair in PAIRS]
    pairs += [Hypothesis("dependence", pair, 0.05 / 3) for pair in PAIRS]
    share = dict(zip(REPEAT_LAGS, (0.06, 0.025, 0.015), strict=True))
    times = [
        Hypothesis("repeats", (die,), share[lag] / 6, lag, phase)
        for lag in REPEAT_LAGS
        for die in range(3)
        for phase in (0, 1)
    ]
    later = 0.045 / (len(TRANSITION_LAGS) - 1)
    times += [
        Hypothesis("transitions", (die,), (0.03 if lag == 1 else later) / 3, lag)
        for lag in TRANSITION_LAGS
        for die in range(3)
    ]
    times += [Hypothesis("drift", (die,), 0.025 / 3) for die in range(3)]
    return (*faces, *joint, *pairs, *times)


FAMILY = _family()
"""The whole family; the weights sum to one."""
