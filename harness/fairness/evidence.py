"""Running e-processes of the whole family, fed with tosses in time order, in any portions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.fairness.categorical import log_e, log_e_path
from harness.fairness.conditional import log_e_table
from harness.fairness.drift import BLOCK as DRIFT_BLOCK
from harness.fairness.drift import Fading
from harness.fairness.hypotheses import FAMILY, Hypothesis
from harness.fairness.matching import BLOCK, STRENGTHS, log_e_blocks, log_mean
from harness.fairness.tosses import Tosses, joint_results

EVERY_TOSS_UP_TO = 200_000
LOOK_EVERY = 1_000
"""Up to the first number categorical e-processes are looked at after every toss, past it at every
thousandth: fewer looks can only delay a rejection."""

EVERY_BLOCK_UP_TO = 200_000
THINNED_TO = 64
"""Past that toss number only every 64th block is bet on: a bet may be left out, by a rule fixed
beforehand, without harm to the error rate, and a recording of ten million stays quick."""

TABLE_BLOCK = 100
"""Pairs after which the e-process of a table is looked at."""


class Process:
    """One e-process: its natural logarithm now, the highest it ever was, and at which toss."""

    def __init__(self) -> None:
        self.now = 0.0
        self.highest = 0.0
        self.highest_at = 0

    def _note(self, path: NDArray[np.float64], at: NDArray[np.int64]) -> None:
        self.now = float(path[-1])
        top = int(path.argmax())
        if path[top] > self.highest:
            self.highest, self.highest_at = float(path[top]), int(at[top])


class Categorical(Process):
    """The e-process of one categorical hypothesis. A toss may give several categories (`draws`).

    shares: as in `categorical.log_e`. It is looked at only between tosses.
    """

    def __init__(self, k: int, draws: int = 1, shares: NDArray[np.float64] | None = None) -> None:
        super().__init__()
        self.counts = np.zeros(k, np.int64)
        self._draws = draws
        self._shares = shares

    def feed(self, categories: NDArray[np.integer]) -> None:
        """Take whole tosses' categories, 0 to k-1, in time order."""
        draws = self._draws
        n = int(self.counts.sum()) // draws
        closely = max(0, min(len(categories) // draws, EVERY_TOSS_UP_TO - n))
        if closely:
            part = categories[: closely * draws]
            path = log_e_path(part, len(self.counts), self.counts, self._shares)
            self._note(path[draws - 1 :: draws], np.arange(n + 1, n + closely + 1))
            self._count(part)
            n, categories = n + closely, categories[closely * draws :]
        if len(categories):
            tosses = len(categories) // draws
            cuts = [*range(LOOK_EVERY - n % LOOK_EVERY, tosses, LOOK_EVERY), tosses]
            totals = []
            for part in np.split(categories, [cut * draws for cut in cuts[:-1]]):
                self._count(part)
                totals.append(self.counts.copy())
            self._note(log_e(np.array(totals), self._shares), n + np.array(cuts))

    def _count(self, categories: NDArray[np.integer]) -> None:
        self.counts += np.bincount(categories, minlength=len(self.counts))


class Matching(Process):
    """The e-process of one hypothesis on matches between two series of values."""

    def __init__(self) -> None:
        super().__init__()
        self._left = np.empty(0, np.uint8)
        self._right = np.empty(0, np.uint8)
        self._log_products = np.zeros(len(STRENGTHS))
        self._pairs = 0

    def feed(self, left: NDArray[np.uint8], right: NDArray[np.uint8], tosses: int) -> None:
        """Take pairs in time order; `tosses` is how many tosses have been made by their end."""
        left, right = np.concatenate((self._left, left)), np.concatenate((self._right, right))
        blocks = len(left) // BLOCK
        used = blocks * BLOCK
        self._left, self._right = left[used:], right[used:]
        if not blocks:
            return
        first = self._pairs // BLOCK
        self._pairs += used
        numbers = np.arange(first, first + blocks)
        bet = (numbers * BLOCK < EVERY_BLOCK_UP_TO) | (numbers % THINNED_TO == 0)
        if not bet.any():
            return
        outcomes = log_e_blocks(
            left[:used].reshape(-1, BLOCK)[bet], right[:used].reshape(-1, BLOCK)[bet]
        )
        running = self._log_products + np.cumsum(outcomes, axis=0)
        self._log_products = running[-1]
        shares = (np.flatnonzero(bet) + 1) / blocks
        self._note(log_mean(running), tosses - ((1 - shares) * used).astype(np.int64))


class Table(Process):
    """The e-process of one hypothesis on values following from others, `lag` tosses before."""

    def __init__(self, lag: int) -> None:
        super().__init__()
        self.counts = np.zeros((6, 6), np.int64)
        """How often each face (column) came with or after each (row), over what was looked at."""
        self._lag = lag
        self._known = np.empty(0, np.uint8)
        self._came = np.empty(0, np.uint8)
        self._blocks = 0

    def feed(self, known: NDArray[np.uint8], came: NDArray[np.uint8]) -> None:
        """Take as many values of both series, in time order."""
        lag = self._lag
        known = np.concatenate((self._known, known))
        came = np.concatenate((self._came, came))
        blocks = max(0, len(known) - lag) // TABLE_BLOCK
        used = blocks * TABLE_BLOCK
        self._known, self._came = known[used:], came[used:]
        numbers = np.arange(self._blocks, self._blocks + blocks)
        self._blocks += blocks
        near = numbers * TABLE_BLOCK < EVERY_BLOCK_UP_TO
        looked_at = near | (numbers // 10 % THINNED_TO == 0)
        if not looked_at.any():
            return
        x = known[:used].reshape(-1, TABLE_BLOCK)[looked_at] - np.uint8(1)
        y = came[lag : lag + used].reshape(-1, TABLE_BLOCK)[looked_at] - np.uint8(1)
        cells = x * np.uint8(6) + y + 36 * np.arange(len(x))[:, None]
        counted = np.bincount(cells.ravel(), minlength=36 * len(x)).reshape(-1, 6, 6)
        running = self.counts + np.cumsum(counted, axis=0)
        self.counts = running[-1]
        at = (numbers[looked_at] + 1) * TABLE_BLOCK + lag
        self._note(log_e_table(running), at)


class Drift(Process):
    """The e-process of one die's faces staying what they are."""

    def __init__(self) -> None:
        super().__init__()
        self._fading = Fading()
        self._values = np.empty(0, np.uint8)
        self._blocks = 0

    def feed(self, values: NDArray[np.uint8]) -> None:
        """Take values in time order."""
        values = np.concatenate((self._values, values))
        blocks = len(values) // DRIFT_BLOCK
        self._values = values[blocks * DRIFT_BLOCK :]
        if not blocks:
            return
        whole = values[: blocks * DRIFT_BLOCK].reshape(-1, DRIFT_BLOCK)
        counts = np.stack([np.count_nonzero(whole == face, axis=1) for face in range(1, 7)], axis=1)
        self._blocks += blocks
        at = np.arange(self._blocks - blocks + 1, self._blocks + 1) * DRIFT_BLOCK
        self._note(self._fading.log_e_path(counts.astype(np.int64)), at)


class Lagged:
    """Pairs a series with itself `lag` later, in disjoint windows, so that pairs share no toss."""

    def __init__(self, lag: int, phase: int) -> None:
        self._lag = lag
        self._skip = phase * lag
        self._rest = np.empty(0, np.uint8)

    def pairs(self, values: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Take values in time order; give the pairs that are now whole."""
        dropped = min(self._skip, len(values))
        self._skip -= dropped
        values = np.concatenate((self._rest, values[dropped:]))
        window = 2 * self._lag
        whole = len(values) // window * window
        self._rest = values[whole:]
        windows = values[:whole].reshape(-1, 2, self._lag)
        return windows[:, 0].ravel(), windows[:, 1].ravel()


class Evidence:
    """All e-processes of the family.

    `weighted` and `weighted_now` (natural logarithms) are the greatest of the e-values times their
    weights, at their highest and now: `biased` when the former reaches 1/alpha.
    """

    def __init__(self) -> None:
        self.tosses = 0
        self.processes: dict[Hypothesis, Process] = {h: _process(h) for h in FAMILY}
        self._lagged = {h: Lagged(h.lag, h.phase) for h in FAMILY if h.kind == "repeats"}

    @property
    def weighted(self) -> float:
        """Give the weighted evidence at its highest."""
        return max(p.highest + float(np.log(h.weight)) for h, p in self.processes.items())

    @property
    def weighted_now(self) -> float:
        """Give the weighted evidence as it stands."""
        return max(p.now + float(np.log(h.weight)) for h, p in self.processes.items())

    def feed(self, tosses: Tosses) -> None:
        """Take tosses, shape (n, 3), values 1 to 6, in time order."""
        self.tosses += len(tosses)
        series = [np.ascontiguousarray(tosses[:, die]) for die in range(3)]
        results = None
        for hypothesis, process in self.processes.items():
            own = series[hypothesis.dice[0]]
            match process:
                case Categorical() if hypothesis.kind == "faces":
                    process.feed(own - np.uint8(1))
                case Categorical():
                    results = joint_results(series) if results is None else results
                    process.feed(results)
                case Matching() if hypothesis.kind == "repeats":
                    left, right = self._lagged[hypothesis].pairs(own)
                    process.feed(left, right, self.tosses)
                case Matching():
                    other = series[hypothesis.dice[1]]
                    if hypothesis.kind == "opposite":
                        other = np.uint8(7) - other
                    process.feed(own, other, self.tosses)
                case Table():
                    process.feed(own, series[hypothesis.dice[-1]])
                case Drift():
                    process.feed(own)


def _process(hypothesis: Hypothesis) -> Process:
    match hypothesis.kind:
        case "faces":
            return Categorical(6)
        case "joint":
            return Categorical(216)
        case "dependence" | "transitions":
            return Table(hypothesis.lag)
        case "drift":
            return Drift()
        case _:
            return Matching()
