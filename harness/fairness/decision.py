"""Biased, fair within tolerance, or undecided: a decision that may be asked for at every toss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from harness.fairness.confidence import interval, log_evidence_against
from harness.fairness.evidence import Evidence
from harness.fairness.hypotheses import PAIRS, Hypothesis
from harness.fairness.tosses import Tosses
from harness.verdicts import ConfigurationError

Decision = Literal["biased", "fair-within-tolerance", "undecided"]


@dataclass(frozen=True, slots=True)
class Rejected:
    """A hypothesis rejected, and the toss at which its e-process stood highest."""

    hypothesis: Hypothesis
    log10_e: float
    at: int


class Watch:
    """Follows tosses and decides.

    alpha: the chance, over the whole future, of calling fair dice biased; also of calling dice fair
    of which a face is outside 1/6 +/- tolerance. `biased` when a hypothesis of the family is
    rejected. `fair-within-tolerance` when every face's confidence sequence lies inside
    1/6 +/- tolerance and every pair cell is within tolerance of the product of its faces. For the
    latter each interval is taken at alpha, without correction for their number: all of them must
    hold, and the claim is wrong only if the one that matters fails (intersection-union test, Berger
    1982, Technometrics 24). Once reached, fairness stands unless a bias is found later.
    """

    def __init__(self, alpha: float = 0.01, tolerance: float = 0.02) -> None:
        if not 0 < alpha < 1:
            raise ConfigurationError(
                "alpha", expected="a number between 0 and 1", found=str(alpha), remedy="correct it"
            )
        if not 0 < tolerance < 1 / 6:
            raise ConfigurationError(
                "tolerance",
                expected="a number between 0 and 1/6",
                found=str(tolerance),
                remedy="correct it",
            )
        self.alpha = alpha
        self.tolerance = tolerance
        self.evidence = Evidence()
        self.counts = np.zeros((3, 6), np.int64)
        """How often each face of each die came."""
        self.pair_counts = np.zeros((3, 36), np.int64)
        self.fair_at: int | None = None
        self._n = 0
        # before this toss not even perfectly even counts could exclude the edges of the tolerance
        self._next_look = int(-np.log(alpha) / _divergence(1 / 6, 1 / 6 + tolerance)) + 1

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
        faces = tosses.astype(np.int64) - 1
        for die in range(3):
            self.counts[die] += np.bincount(faces[:, die], minlength=6)
        for row, (a, b) in enumerate(PAIRS):
            self.pair_counts[row] += np.bincount(faces[:, a] * 6 + faces[:, b], minlength=36)

    def intervals(self) -> NDArray[np.float64]:
        """Give the 18 face probabilities' confidence sequences now: shape (3, 6, 2).

        Each covers its probability at all times at once with probability at least 1 - alpha.
        """
        low, high = interval(self.counts, self._n, self.alpha, 1 / 6)
        return np.stack((low, high), axis=-1)

    def rejected(self) -> tuple[Rejected, ...]:
        """Give the rejected hypotheses, the strongest evidence first."""
        out = [
            Rejected(h, process.highest / np.log(10), process.highest_at)
            for h, process in self.evidence.processes.items()
            if process.highest >= -np.log(self.alpha * h.weight)
        ]
        return tuple(sorted(out, key=lambda r: -r.log10_e))

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
        low, high = interval(counts, n, self.alpha, 1 / 6)
        cell_low, cell_high = interval(self.pair_counts, n, self.alpha, 1 / 36)
        for row, (a, b) in enumerate(PAIRS):
            least = np.outer(low[a], low[b]).ravel()
            most = np.outer(high[a], high[b]).ravel()
            if (cell_high[row] - least > self.tolerance).any() or (
                most - cell_low[row] > self.tolerance
            ).any():
                return False
        return True


def _divergence(p: float, q: float) -> float:
    """Give the Kullback-Leibler divergence of two coins, in nats a toss."""
    return float(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))
