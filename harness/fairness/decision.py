"""Biased, fair within tolerance, or undecided: a decision that may be asked for at every toss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from harness.fairness.confidence import interval, log_evidence_against
from harness.fairness.evidence import Categorical, Evidence, Process
from harness.fairness.hypotheses import PAIRS, Hypothesis
from harness.fairness.tosses import Tosses, joint_results
from harness.verdicts import ConfigurationError

Decision = Literal["biased", "fair-within-tolerance", "undecided"]


_CELL_PARTS = 3
"""Intervals that a claim on one pair cell rests on: the cell's own and those of its two faces."""


class Nulls(Protocol):
    """A hypothesis as reports name it."""

    @property
    def name(self) -> str:
        """Name it."""
        ...

    @property
    def null(self) -> str:
        """State the null hypothesis."""
        ...

    @property
    def source(self) -> str:
        """Name the method's source."""
        ...


@dataclass(frozen=True, slots=True)
class Rejected:
    """A hypothesis rejected, and the toss at which its e-process stood highest.

    `found` says what was found instead; `die` (1 to 3) and `face` where it lies in one of these.
    """

    hypothesis: Nulls
    log10_e: float
    at: int
    found: str
    die: int | None = None
    face: int | None = None


class Watch:
    """Follows tosses and decides.

    alpha: the chance, over the whole future, of calling fair dice biased; also of calling dice fair
    of which a face is outside 1/6 +/- tolerance. `biased` when a hypothesis of the family is
    rejected. `fair-within-tolerance` when every face's confidence sequence lies inside
    1/6 +/- tolerance and every pair cell is within tolerance of the product of its faces. That is a
    claim on each of 18 faces and 108 cells, and each is made at alpha without correction for their
    number: all must hold, so a wrong whole has a wrong part, whose own chance is at most alpha
    (intersection-union test, Berger 1982, Technometrics 24). A face's claim rests on one interval;
    a cell's on three, which therefore are taken at alpha / 3 each. It is looked at whenever the
    tosses have grown by a hundredth. Once reached, fairness stands unless a bias is found later.
    """

    def __init__(self, alpha: float = 0.01, tolerance: float = 0.02) -> None:
        check_settings(alpha, tolerance)
        self.alpha = alpha
        self.tolerance = tolerance
        self.evidence = Evidence()
        self.counts = np.zeros((3, 6), np.int64)
        """How often each face of each die came."""
        self.pair_counts = np.zeros((3, 36), np.int64)
        self.fair_at: int | None = None
        self._n = 0
        self._next_look = first_look(alpha, tolerance)

    def feed(self, tosses: Tosses) -> None:
        """Take tosses, shape (n, 3), values 1 to 6, in time order."""
        self.evidence.feed(tosses)
        start = 0
        while start < len(tosses):
            upto = len(tosses)
            if self.fair_at is None:
                upto = min(upto, start + self._next_look - self._n)
            self._count(tosses[start:upto])
            start = upto
            if self.fair_at is None and self._n == self._next_look:
                self._next_look += max(1, self._n // 100)
                if self._within_tolerance():
                    self.fair_at = self._n

    def _count(self, tosses: Tosses) -> None:
        self._n += len(tosses)
        series = [np.ascontiguousarray(tosses[:, die]) for die in range(3)]
        cube = np.bincount(joint_results(series), minlength=216).reshape(6, 6, 6)
        for die in range(3):
            others = tuple(other for other in range(3) if other != die)
            self.counts[die] += cube.sum(axis=others)
        for row, (a, b) in enumerate(PAIRS):
            self.pair_counts[row] += cube.sum(axis=3 - a - b).ravel()

    def intervals(self) -> NDArray[np.float64]:
        """Give the 18 face probabilities' confidence sequences now: shape (3, 6, 2).

        Each covers its probability at all times at once with probability at least 1 - alpha.
        """
        low, high = interval(self.counts, self._n, self.alpha, 1 / 6)
        return np.stack((low, high), axis=-1)

    def rejected(self) -> tuple[Rejected, ...]:
        """Give the rejected hypotheses, the strongest evidence first."""
        out = [
            self._rejected(h, process)
            for h, process in self.evidence.processes.items()
            if process.highest >= -np.log(self.alpha * h.weight)
        ]
        return tuple(sorted(out, key=lambda r: -r.log10_e))

    def e_values(self) -> tuple[tuple[Hypothesis, float, float], ...]:
        """Give each hypothesis with its log10 e-value at its highest and now."""
        return tuple(
            (h, float(p.highest / np.log(10)), float(p.now / np.log(10)))
            for h, p in self.evidence.processes.items()
        )

    @property
    def log10_e(self) -> float:
        """Give the evidence against fair dice, log10: `biased` from log10(1 / alpha) on.

        It is the greatest of the family's e-values times their weights, each at its highest, so 10
        to the minus this is a p-value valid at any time (Ramdas et al. 2023).
        """
        return float(self.evidence.weighted / np.log(10))

    def _rejected(self, h: Hypothesis, process: Process) -> Rejected:
        log10_e, at = process.highest / np.log(10), process.highest_at
        if h.kind == "faces":
            die = h.dice[0]
            face, found = off_face(self.counts[die], 1 / 6)
            return Rejected(h, log10_e, at, f"die {die + 1}: face {face} {found}", die + 1, face)
        if isinstance(process, Categorical):
            cell, found = off_face(process.counts, 1 / 216)
            one, two, three = np.unravel_index(cell - 1, (6, 6, 6))
            result = f"{one + 1},{two + 1},{three + 1}"
            return Rejected(h, log10_e, at, f"most of all, result {result} {found}")
        only = h.dice[0] + 1 if len(h.dice) == 1 else None
        return Rejected(h, log10_e, at, _FOUND[h.kind].format(*_spelt(h)), only)

    @property
    def decision(self) -> Decision:
        """Decide on what has been seen; a found bias outranks fairness within the tolerance."""
        if self.rejected():
            return "biased"
        return "undecided" if self.fair_at is None else "fair-within-tolerance"

    def _within_tolerance(self) -> bool:
        n, counts = self._n, self.counts
        if (np.abs(counts / n - 1 / 6) >= self.tolerance).any():
            return False
        threshold = -np.log(self.alpha)
        for edge in (1 / 6 - self.tolerance, 1 / 6 + self.tolerance):
            if (log_evidence_against(edge, counts, n, 1 / 6) < threshold).any():
                return False
        part = self.alpha / _CELL_PARTS
        low, high = interval(counts, n, part, 1 / 6)
        cell_low, cell_high = interval(self.pair_counts, n, part, 1 / 36)
        for row, (a, b) in enumerate(PAIRS):
            least = np.outer(low[a], low[b]).ravel()
            most = np.outer(high[a], high[b]).ravel()
            if (cell_high[row] - least > self.tolerance).any() or (
                most - cell_low[row] > self.tolerance
            ).any():
                return False
        return True


_FOUND = {
    "copies": "die {1} shows die {0}'s face too often or too rarely",
    "opposite": "die {1} shows the face opposite die {0}'s too often or too rarely",
    "dependence": "die {1} depends on die {0} within a toss",
    "repeats": "die {0} repeats its face of lag {2} too often or too rarely",
    "transitions": "die {0} depends on its toss of lag {2}",
    "drift": "the faces of die {0} change over time",
}


def _spelt(h: Hypothesis) -> tuple[int, int, int]:
    return h.dice[0] + 1, h.dice[-1] + 1, h.lag


def off_face(counts: NDArray[np.int64], share: float) -> tuple[int, str]:
    """Give the category (from 1) that is furthest off its share, and how: a word for a report."""
    n = int(counts.sum())
    cell = int(np.abs(counts - n * share).argmax())
    said = "too often" if counts[cell] > n * share else "too rarely"
    return cell + 1, f"comes {said} ({counts[cell] / n:.4f} instead of {share:.4f})"


def check_settings(alpha: float, tolerance: float) -> None:
    """Refuse an error rate or a tolerance (of a probability) that means nothing.

    Raises ConfigurationError.
    """
    for name, value, most, said in (
        ("alpha", alpha, 1.0, "1"),
        ("tolerance", tolerance, 1 / 6, "1/6"),
    ):
        if not 0 < value < most:
            raise ConfigurationError(
                name,
                expected=f"a number between 0 and {said}",
                found=str(value),
                remedy="correct it",
            )


def first_look(alpha: float, tolerance: float) -> int:
    """Give the toss before which not even perfectly even counts exclude the tolerance's edges."""
    return int(-np.log(alpha) / _divergence(1 / 6, 1 / 6 + tolerance)) + 1


def _divergence(p: float, q: float) -> float:
    """Give the Kullback-Leibler divergence of two coins, in nats a toss."""
    return float(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))
