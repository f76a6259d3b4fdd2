"""Dice that cannot be told apart: the weaker watch that sorted values allow.

A camera that sees three dice of one colour says which values lie there, not which die shows which.
What can then be found is the mean of the three dice's faces, the 56 results, dice that agree with
each other, and dice that follow the toss before. A single loaded die shows with a third of its
bias, so it takes about nine times the tosses of `decision.Watch`; and `fair-within-tolerance` is a
claim on the means over the three dice alone, since biases that cancel out cannot be seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.fairness.confidence import interval, log_evidence_against
from harness.fairness.decision import Decision, Rejected, check_settings, first_look, off_face
from harness.fairness.evidence import (
    EVERY_BLOCK_UP_TO,
    TABLE_BLOCK,
    THINNED_TO,
    Categorical,
    Process,
)
from harness.fairness.fixed import SORTED, SORTED_SHARES, TO_SORTED
from harness.fairness.log_sum import log_mean_exp
from harness.fairness.tosses import Tosses, joint_results

LAGS = (1, 2, 3, 4, 5, 6)
EQUAL_SHARES = np.array([120, 90, 6]) / 216
"""Of three different values, a pair and a triple, for fair dice."""

_DIFFERENT = np.array([len(set(dice)) for dice in SORTED])
_FOLLOW = (-0.1, -0.03, -0.01, 0.01, 0.03, 0.1, 0.3)
_CELLS = [(i, j) for i in range(6) for j in range(i, 6)]
_CELL_SHARES = np.array([1 / 36 if i == j else 2 / 36 for i, j in _CELLS])


@dataclass(frozen=True, slots=True)
class AlikeHypothesis:
    """A null hypothesis on sorted values; `weight` is its part of alpha."""

    name: str
    null: str
    source: str
    weight: float
    lag: int = 0


_FAIR = "the dice are fair, independent of each other and in time"
_MIXTURE = "Dirichlet-mixture e-process, Robbins 1970"
POOLED = AlikeHypothesis("pooled-faces", f"{_FAIR} (faces of all dice together)", _MIXTURE, 0.5)
RESULTS = AlikeHypothesis("results-56", f"{_FAIR} (the 56 results without order)", _MIXTURE, 0.1)
EQUALS = AlikeHypothesis("equal-dice", f"{_FAIR} (pairs and triples)", _MIXTURE, 0.15)
FOLLOWING = tuple(
    AlikeHypothesis(
        f"following-lag-{lag}",
        f"{_FAIR} (values do not follow those of the toss {lag} before)",
        "likelihood ratio with a mixture of strengths, Ramdas et al. 2023",
        0.15 if lag == 1 else 0.02,
        lag,
    )
    for lag in LAGS
)


class Following(Process):
    """The bet that each die shows, a little more or less often, a face of a toss before.

    Null: fair dice, independent of each other and in time.
    """

    def __init__(self, lag: int) -> None:
        super().__init__()
        self._lag = lag
        self._log_products = np.zeros(len(_FOLLOW))
        self._tosses = np.empty((0, 3), np.uint8)
        self._blocks = 0

    def feed(self, tosses: Tosses) -> None:
        """Take tosses, shape (n, 3), values 1 to 6, in time order."""
        tosses = np.concatenate((self._tosses, tosses))
        blocks = max(0, len(tosses) - self._lag) // TABLE_BLOCK
        used = blocks * TABLE_BLOCK
        self._tosses = tosses[used:]
        numbers = np.arange(self._blocks, self._blocks + blocks)
        self._blocks += blocks
        near = numbers * TABLE_BLOCK < EVERY_BLOCK_UP_TO
        bet = near | (numbers // 10 % THINNED_TO == 0)
        if not bet.any():
            return
        before = tosses[:used].reshape(blocks, -1, 3)[bet]
        now = tosses[self._lag : self._lag + used].reshape(blocks, -1, 3)[bet]
        shown = (now[..., :, None] == before[..., None, :]).sum(axis=-1)  # 0 to 3 for each die
        times = np.stack([(shown == many).sum(axis=(1, 2)) for many in range(4)], axis=1)
        strengths = np.array(_FOLLOW)[:, None]
        won = times @ np.log1p(strengths * (2 * np.arange(4) - 1)).T
        running = self._log_products + np.cumsum(won, axis=0)
        self._log_products = running[-1]
        self._note(log_mean_exp(running), (numbers[bet] + 1) * TABLE_BLOCK + self._lag)


class AlikeWatch:
    """Follows tosses of dice that cannot be told apart, and decides; compare `decision.Watch`.

    alpha: the chance, over the whole future, of calling fair dice biased; also of calling dice fair
    whose mean face or pair is off by more than the tolerance (of a probability). Faces and pairs
    are scored a toss at a time, as the part of the dice (or pairs of dice) that show them, so the
    intervals hold however the dice of a toss depend on each other.
    """

    def __init__(self, alpha: float = 0.01, tolerance: float = 0.02) -> None:
        check_settings(alpha, tolerance)
        self.alpha = alpha
        self.tolerance = tolerance
        self.tosses = 0
        self.counts = np.zeros((1, 6), np.int64)
        """How often each face came on any die."""
        self.pair_counts = np.zeros(21, np.int64)
        self.fair_at: int | None = None
        self._faces = Categorical(6, draws=3)
        self._results = Categorical(56, shares=SORTED_SHARES)
        self._equals = Categorical(3, shares=EQUAL_SHARES)
        self._following = {h: Following(h.lag) for h in FOLLOWING}
        self._processes: dict[AlikeHypothesis, Process] = {
            POOLED: self._faces,
            RESULTS: self._results,
            EQUALS: self._equals,
            **self._following,
        }
        self._next_look = first_look(alpha, tolerance)

    def feed(self, tosses: Tosses) -> None:
        """Take tosses, shape (n, 3), values 1 to 6 in any order within a toss, in time order."""
        results = TO_SORTED[joint_results(tosses.T)]
        self._faces.feed(tosses.reshape(-1) - np.uint8(1))
        self._results.feed(results)
        self._equals.feed(3 - _DIFFERENT[results])
        for process in self._following.values():
            process.feed(tosses)
        start = 0
        while start < len(tosses):
            upto = len(tosses)
            if self.fair_at is None:
                upto = min(upto, start + self._next_look - self.tosses)
            self._count(results[start:upto])
            start = upto
            if self.fair_at is None and self.tosses == self._next_look:
                self._next_look += max(1, self.tosses // 100)
                if self._within_tolerance():
                    self.fair_at = self.tosses

    def _count(self, results: NDArray[np.int64]) -> None:
        self.tosses += len(results)
        counts = np.bincount(results, minlength=56)
        self.counts[0] += counts @ _FACES_OF
        self.pair_counts += counts @ _CELLS_OF

    def intervals(self) -> NDArray[np.float64]:
        """Give the six mean face probabilities' confidence sequences now: shape (1, 6, 2).

        Each covers its mean over the three dice at all times at once with probability at least
        1 - alpha, while that mean stays what it is.
        """
        low, high = interval(self.counts / 3, self.tosses, self.alpha, 1 / 6)
        return np.stack((low, high), axis=-1)

    def rejected(self) -> tuple[Rejected, ...]:
        """Give the rejected hypotheses, the strongest evidence first."""
        out = [
            self._rejected(h, process)
            for h, process in self._processes.items()
            if process.highest >= -np.log(self.alpha * h.weight)
        ]
        return tuple(sorted(out, key=lambda r: -r.log10_e))

    def _rejected(self, h: AlikeHypothesis, process: Process) -> Rejected:
        log10_e, at = process.highest / np.log(10), process.highest_at
        if h is POOLED:
            face, said = off_face(self.counts[0], 1 / 6)
            return Rejected(h, log10_e, at, f"of all dice, face {face} {said}", None, face)
        if h is RESULTS:
            off = np.abs(self._results.counts / SORTED_SHARES / self.tosses - 1)
            worst = SORTED[int((off * np.sqrt(SORTED_SHARES)).argmax())]
            found = f"most of all, result {','.join(map(str, worst))} is off its share"
        elif h is EQUALS:
            off_cell, said = off_face(self._equals.counts[1:], float(EQUAL_SHARES[1]))
            found = f"dice agree too often or too rarely ({_AGREE[off_cell - 1]})"
        else:
            found = f"values follow those of the toss {h.lag} before, too often or too rarely"
        return Rejected(h, log10_e, at, found)

    def e_values(self) -> tuple[tuple[AlikeHypothesis, float, float], ...]:
        """Give each hypothesis with its log10 e-value at its highest and now."""
        return tuple(
            (h, float(p.highest / np.log(10)), float(p.now / np.log(10)))
            for h, p in self._processes.items()
        )

    @property
    def log10_e(self) -> float:
        """Give the evidence against fair dice, log10, as `decision.Watch.log10_e`."""
        best = max(p.highest + float(np.log(h.weight)) for h, p in self._processes.items())
        return best / float(np.log(10))

    @property
    def decision(self) -> Decision:
        """Decide on what has been seen; a found bias outranks fairness within the tolerance."""
        if self.rejected():
            return "biased"
        return "undecided" if self.fair_at is None else "fair-within-tolerance"

    def _within_tolerance(self) -> bool:
        n, threshold = self.tosses, -np.log(self.alpha)
        for hits, fair in ((self.counts[0] / 3, 1 / 6), (self.pair_counts / 3, _CELL_SHARES)):
            if (np.abs(hits / n - fair) >= self.tolerance).any():
                return False
            for edge in (fair - self.tolerance, fair + self.tolerance):
                against = [
                    float(log_evidence_against(p, hit, n, centre))
                    for p, hit, centre in np.broadcast(edge, hits, fair)
                    if p > 0
                ]
                if min(against, default=threshold) < threshold:
                    return False
        return True


_AGREE = ("pairs", "triples")
_FACES_OF = np.array([[dice.count(face) for face in range(1, 7)] for dice in SORTED])
"""How often each of the 56 results shows each face."""
_CELLS_OF = np.array(
    [
        [
            sum(sorted((dice[a] - 1, dice[b] - 1)) == [i, j] for a, b in ((0, 1), (0, 2), (1, 2)))
            for i, j in _CELLS
        ]
        for dice in SORTED
    ]
)
"""How many of the three pairs of dice of each of the 56 results show each pair of faces."""
