"""Running e-processes of the whole family, fed with tosses in time order, in any portions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.fairness.categorical import log_e, log_e_path
from harness.fairness.hypotheses import FAMILY, Hypothesis
from harness.fairness.matching import BLOCK, STRENGTHS, log_e_blocks, log_mean
from harness.fairness.tosses import Tosses

EVERY_TOSS_UP_TO = 200_000
LOOK_EVERY = 1_000
"""Up to the first number categorical e-processes are looked at after every toss, past it at every
thousandth: fewer looks can only delay a rejection."""

EVERY_BLOCK_UP_TO = 200_000
THINNED_TO = 32
"""Past that toss number only every 32nd block is bet on: a bet may be left out, by a rule fixed
beforehand, without harm to the error rate, and a recording of ten million stays quick."""


class Categorical:
    """The e-process of one categorical hypothesis and the highest value it ever had."""

    def __init__(self, k: int) -> None:
        self.counts = np.zeros(k, np.int64)
        self.now = 0.0
        self.highest = 0.0
        self.highest_at = 0

    def feed(self, categories: NDArray[np.integer]) -> None:
        """Take tosses as categories 0 to k-1."""
        n = int(self.counts.sum())
        closely = max(0, min(len(categories), EVERY_TOSS_UP_TO - n))
        if closely:
            path = log_e_path(categories[:closely], len(self.counts), self.counts)
            self._note(path, np.arange(n + 1, n + closely + 1))
            self._count(categories[:closely])
            n, categories = n + closely, categories[closely:]
        if len(categories):
            cuts = range(LOOK_EVERY - n % LOOK_EVERY, len(categories) + 1, LOOK_EVERY)
            totals = []
            for part in np.split(categories, list(cuts)):
                self._count(part)
                totals.append(self.counts.copy())
            self._note(log_e(np.array(totals)), n + np.array([*cuts, len(categories)]))

    def _count(self, categories: NDArray[np.integer]) -> None:
        self.counts += np.bincount(categories, minlength=len(self.counts))

    def _note(self, path: NDArray[np.float64], at: NDArray[np.int64]) -> None:
        self.now = float(path[-1])
        top = int(path.argmax())
        if path[top] > self.highest:
            self.highest, self.highest_at = float(path[top]), int(at[top])


class Matching:
    """The e-process of one hypothesis on matches between two series of values."""

    def __init__(self) -> None:
        self._left = np.empty(0, np.uint8)
        self._right = np.empty(0, np.uint8)
        self._log_products = np.zeros(len(STRENGTHS))
        self._pairs = 0
        self.now = 0.0
        self.highest = 0.0
        self.highest_at = 0

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
        path = log_mean(running)
        self._log_products = running[-1]
        self.now = float(path[-1])
        top = int(path.argmax())
        if path[top] > self.highest:
            self.highest = float(path[top])
            share = (int(np.flatnonzero(bet)[top]) + 1) / blocks
            self.highest_at = tosses - int((1 - share) * used)


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
    """All e-processes of the family."""

    def __init__(self) -> None:
        self.tosses = 0
        self.processes: dict[Hypothesis, Categorical | Matching] = {
            h: Categorical(6 if h.kind == "faces" else 216)
            if h.kind in ("faces", "joint")
            else Matching()
            for h in FAMILY
        }
        self._lagged = {h: Lagged(h.lag, h.phase) for h in FAMILY if h.kind == "repeats"}

    def feed(self, tosses: Tosses) -> None:
        """Take tosses, shape (n, 3), values 1 to 6, in time order."""
        self.tosses += len(tosses)
        faces = tosses.astype(np.int64) - 1
        for hypothesis, process in self.processes.items():
            first = hypothesis.dice[0]
            if isinstance(process, Categorical):
                process.feed(faces[:, first] if hypothesis.kind == "faces" else faces @ (36, 6, 1))
            elif hypothesis.kind == "repeats":
                left, right = self._lagged[hypothesis].pairs(tosses[:, first])
                process.feed(left, right, self.tosses)
            else:
                other = tosses[:, hypothesis.dice[1]]
                if hypothesis.kind == "faces-opposite":
                    other = np.uint8(7) - other
                process.feed(tosses[:, first], other, self.tosses)
