"""Fixed tests in time of one series of values: runs, serial correlation, gaps, coupons."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np
from numpy.typing import NDArray

from harness.fairness.fixed_test import FixedTest, chi_square, normal

_MOST_GAP = 30
_MOST_COLLECTED = 40
_PIECE = 1 << 15  # values whose arrays stay in the processor's cache


class Series:
    """Counts what the tests need, fed with values in time order, in any portions.

    name: how tests are called, as `die1`; said: as in a sentence. high: values above this are high
    for the runs test, half of a fair series; at 3 it is a die, which has waits too. The tests'
    nulls are those of a fair die (gaps, coupons) or of any independent series (runs, correlation).
    """

    def __init__(self, name: str, said: str, high: int = 3) -> None:
        self._name = name
        self._said = said
        self._above = high
        self.runs = 0
        self.products = 0
        self.first = 0
        self.last = 0
        self.gaps = np.zeros(_MOST_GAP + 1, np.int64)
        self.collected = np.zeros(_MOST_COLLECTED + 1, np.int64)
        self._since_six: int | None = None
        self._begun = np.empty(0, np.uint8)

    def feed(self, values: NDArray[np.uint8]) -> None:
        """Take values in time order."""
        if not len(values):
            return
        started = bool(self.first)
        if not started:
            self.first, self.runs = int(values[0]), 1
        joined = np.concatenate(([np.uint8(self.last)], values)) if started else values
        high = joined > self._above
        self.runs += int(np.count_nonzero(high[1:] != high[:-1]))
        wide = joined.astype(np.float64)  # sums stay below 2^53: exact
        self.products += int(wide[1:] @ wide[:-1])
        self.last = int(values[-1])
        if self._above == 3:
            self._gaps(values)
            for start in range(0, len(values), _PIECE):
                self._collect(values[start : start + _PIECE])

    def _gaps(self, values: NDArray[np.uint8]) -> None:
        at = np.flatnonzero(values == 6)
        if not len(at):
            if self._since_six is not None:
                self._since_six += len(values)
            return
        gaps = np.diff(at) - 1
        if self._since_six is not None:
            gaps = np.append(gaps, self._since_six + at[0])
        self.gaps += np.bincount(np.minimum(gaps, _MOST_GAP), minlength=_MOST_GAP + 1)
        self._since_six = int(len(values) - 1 - at[-1])

    def _collect(self, values: NDArray[np.uint8]) -> None:
        values = np.concatenate((self._begun, values))
        n, start = len(values), 0
        ends = np.append(_complete_after(values), np.int32(n + 1)).data
        starts = [0]
        while (end := ends[start]) <= n:
            starts.append(end)
            start = end
        self._begun = values[start:]
        lengths = np.minimum(np.diff(starts), _MOST_COLLECTED)
        self.collected += np.bincount(lengths, minlength=_MOST_COLLECTED + 1)

    def movements(self, counts: NDArray[np.int64]) -> tuple[FixedTest, FixedTest]:
        """Give the runs and the serial correlation test; counts: how often value 1, 2, ... came."""
        return self._runs(counts), self._serial(counts)

    def results(self, counts: NDArray[np.int64]) -> tuple[FixedTest, ...]:
        """Give every test of a die; counts: how often each face came."""
        return *self.movements(counts), self._gap(), self._coupons()

    def _runs(self, counts: NDArray[np.int64]) -> FixedTest:
        name, null = f"{self._name}-runs", f"{self._said}: high and low values follow at random"
        source = "runs test, Wald and Wolfowitz 1940"
        n = int(counts.sum())
        high = int(counts[self._above :].sum())
        low = n - high
        if min(high, low) < 2:
            return FixedTest(name, null, source, None, None, left_out="too few tosses")
        mean = 2 * high * low / n + 1
        variance = (mean - 1) * (mean - 2) / (n - 1)
        return normal(name, null, source, (self.runs - mean) / np.sqrt(variance))

    def _serial(self, counts: NDArray[np.int64]) -> FixedTest:
        name, null = f"{self._name}-serial-correlation", f"{self._said}: no correlation at lag 1"
        source = "lag-1 serial correlation, normal approximation, Bartlett 1946"
        values = np.arange(1, len(counts) + 1)
        n, total = int(counts.sum()), int(counts @ values)
        spread = int(counts @ values**2) - total**2 / n if n else 0.0
        if n < 20 or spread <= 0:
            return FixedTest(name, null, source, None, None, left_out="too few tosses")
        mean = total / n
        ends = 2 * total - self.first - self.last
        covariance = self.products - mean * ends + (n - 1) * mean**2
        return normal(name, null, source, float(covariance / spread * np.sqrt(n)))

    def _gap(self) -> FixedTest:
        share = np.append((1 / 6) * (5 / 6) ** np.arange(_MOST_GAP), (5 / 6) ** _MOST_GAP)
        # gaps of different faces lean on each other, so one face stands for the die
        test = chi_square(
            f"{self._name}-gaps",
            f"{self._said}: waits between sixes are geometric with probability 1/6",
            self.gaps,
            self.gaps.sum() * share,
        )
        return replace(test, source="gap test, Kendall and Babington Smith 1938")

    def _coupons(self) -> FixedTest:
        test = chi_square(
            f"{self._name}-coupon-collector",
            f"{self._said}: tosses until all six faces came have their exact distribution",
            self.collected[6:],
            self.collected.sum() * coupon_shares(),
        )
        return replace(test, source="coupon collector's test, Greenwood 1955")


def _complete_after(values: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Give for each place how far (exclusive) one must read from there to see all six faces.

    Beyond the array where they do not all come any more.
    """
    n = len(values)
    after = np.zeros(n, np.int32)
    places = np.arange(1, n + 1, dtype=np.int32)
    for face in range(1, 7):
        upcoming = np.where(values == face, places, np.int32(n + 1))
        np.maximum(after, np.minimum.accumulate(upcoming[::-1])[::-1], out=after)
    return after


def coupon_shares() -> NDArray[np.float64]:
    """Give the chance that a fair die first completes its six faces at toss 6, 7, ... 39, >= 40.

    By inclusion and exclusion; null: independent tosses, each face 1/6 (Feller 1968, An
    Introduction to Probability Theory, volume 1, IV.2).
    """
    at_most = np.array(
        [
            sum((-1) ** j * comb(6, j) * ((6 - j) / 6) ** m for j in range(7))
            for m in range(5, _MOST_COLLECTED)
        ]
    )
    return np.append(np.diff(at_most), 1 - at_most[-1])
