"""The fixed-sample tests that regulators name: one look, after all tosses were made.

Each gives a statistic and a p-value; they stand beside the sequential decision and do not make it.
Adjusted p-values are Holm's (1979, Scandinavian Journal of Statistics 6) over all tests given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, permutations, product
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc
from scipy.stats import chi2

from harness.fairness.tosses import Tosses

LEAST_EXPECTED = 5.0
"""Smallest expected count for which the chi-square approximation is used (Cochran 1954,
Biometrics 10): cells below it are joined with their neighbours, or the test is left out."""


@dataclass(frozen=True, slots=True)
class FixedTest:
    """One test's outcome. `p_value` is None if it does not apply; `left_out` says why."""

    name: str
    null: str
    source: str
    statistic: float | None
    p_value: float | None
    degrees: int | None = None
    p_adjusted: float | None = None
    left_out: str | None = None


def chi_square(
    name: str, null: str, observed: NDArray[np.int64], expected: NDArray[np.float64]
) -> FixedTest:
    """Pearson's chi-square (1900, Philosophical Magazine 50) of counts against expected counts.

    Cells whose expected count is below LEAST_EXPECTED are joined into one.
    """
    small = expected < LEAST_EXPECTED
    if small.any():
        observed = np.append(observed[~small], observed[small].sum())
        expected = np.append(expected[~small], expected[small].sum())
        keep = expected > 0
        observed, expected = observed[keep], expected[keep]
    source = "chi-square, Pearson 1900"
    if len(expected) < 2 or (expected < LEAST_EXPECTED).any():
        return FixedTest(
            name, null, source, None, None, left_out=f"expected counts below {LEAST_EXPECTED:g}"
        )
    statistic = float(((observed - expected) ** 2 / expected).sum())
    degrees = len(expected) - 1
    return FixedTest(name, null, source, statistic, float(chi2.sf(statistic, degrees)), degrees)


def normal(name: str, null: str, source: str, z: float) -> FixedTest:
    """Give a two-sided test on a standard normal statistic."""
    return FixedTest(name, null, source, z, float(erfc(abs(z) / np.sqrt(2))))


def holm(tests: Sequence[FixedTest]) -> list[FixedTest]:
    """Fill in the adjusted p-values of the tests that apply, in the order given."""
    ranked = sorted((t for t in tests if t.p_value is not None), key=lambda t: t.p_value or 0.0)
    adjusted: dict[str, float] = {}
    worst = 0.0
    for rank, test in enumerate(ranked):
        worst = max(worst, min(1.0, (test.p_value or 0.0) * (len(ranked) - rank)))
        adjusted[test.name] = worst
    return [replace(test, p_adjusted=adjusted.get(test.name)) for test in tests]


_ORDERED = list(product(range(1, 7), repeat=3))
_SORTED = list(combinations_with_replacement(range(1, 7), 3))
_TO_SORTED = np.array([_SORTED.index((min(d), sum(d) - min(d) - max(d), max(d))) for d in _ORDERED])
_SORTED_SHARE = np.array([len(set(permutations(dice))) / 216 for dice in _SORTED])
_TOTAL_SHARE = np.bincount([sum(d) for d in _ORDERED], minlength=19)[3:] / 216
_MOST_GAP = 30
_MOST_COLLECTED = 40


class FixedTests:
    """Counts what the tests need, fed with tosses in time order, in any portions."""

    def __init__(self) -> None:
        self.tosses = 0
        self.joint = np.zeros(216, np.int64)
        self.series = [_Series() for _ in range(3)]

    def feed(self, tosses: Tosses) -> None:
        """Take tosses, shape (n, 3), values 1 to 6, in time order."""
        self.tosses += len(tosses)
        faces = tosses.astype(np.int64) - 1
        self.joint += np.bincount(faces @ (36, 6, 1), minlength=216)
        for die, series in enumerate(self.series):
            series.feed(tosses[:, die])

    def results(self) -> list[FixedTest]:
        """Give every test's outcome, Holm-adjusted over all of them."""
        cube = self.joint.reshape(6, 6, 6)
        by_face = (cube.sum((1, 2)), cube.sum((0, 2)), cube.sum((0, 1)))
        by_sorted = np.bincount(_TO_SORTED, weights=self.joint, minlength=56).astype(np.int64)
        totals = np.bincount([sum(d) for d in _ORDERED], weights=self.joint, minlength=19)[
            3:
        ].astype(np.int64)
        n = self.tosses
        tests = [
            *(
                chi_square(
                    f"die{die + 1}-faces-chi-square",
                    f"each face of die {die + 1} has probability 1/6",
                    counts,
                    np.full(6, n / 6),
                )
                for die, counts in enumerate(by_face)
            ),
            chi_square(
                "totals-chi-square",
                "totals have their exact distribution",
                totals,
                n * _TOTAL_SHARE,
            ),
            chi_square(
                "56-results-chi-square",
                "the 56 results without order have their exact distribution",
                by_sorted,
                n * _SORTED_SHARE,
            ),
            chi_square(
                "216-results-chi-square",
                "each of the 216 results has probability 1/216",
                self.joint,
                np.full(216, n / 216),
            ),
            *(t for die, series in enumerate(self.series) for t in series.results(die + 1)),
        ]
        return holm(tests)


class _Series:
    """What the tests in time need of one die."""

    def __init__(self) -> None:
        self.n = 0
        self.high = 0
        self.runs = 0
        self.sum = 0
        self.squares = 0
        self.products = 0
        self.first = 0
        self.last = 0
        self.gaps = np.zeros(_MOST_GAP + 1, np.int64)
        self.since_six: int | None = None
        self.collected = np.zeros(_MOST_COLLECTED + 1, np.int64)
        self._missing = 0b111111
        self._length = 0

    def feed(self, values: NDArray[np.uint8]) -> None:
        if not len(values):
            return
        wide = values.astype(np.int64)
        high = wide > 3
        with_last = np.concatenate(([self.last], wide)) if self.n else wide
        if not self.n:
            self.first = int(wide[0])
            self.runs = 1
        self.runs += int(np.count_nonzero(np.diff(with_last > 3)))
        self.products += int(with_last[1:] @ with_last[:-1])
        self.high += int(np.count_nonzero(high))
        self.sum += int(wide.sum())
        self.squares += int(wide @ wide)
        self.last = int(wide[-1])
        self._gaps(values)
        self._collect(values)
        self.n += len(values)

    def _gaps(self, values: NDArray[np.uint8]) -> None:
        at = np.flatnonzero(values == 6)
        if not len(at):
            if self.since_six is not None:
                self.since_six += len(values)
            return
        gaps = np.diff(at) - 1
        if self.since_six is not None:
            gaps = np.append(gaps, self.since_six + at[0])
        self.gaps += np.bincount(np.minimum(gaps, _MOST_GAP), minlength=_MOST_GAP + 1)
        self.since_six = int(len(values) - 1 - at[-1])

    def _collect(self, values: NDArray[np.uint8]) -> None:
        missing, length, counts = self._missing, self._length, self.collected
        lengths: list[int] = []
        for bit in (1 << (values - 1)).tolist():
            length += 1
            missing &= ~bit
            if not missing:
                lengths.append(length)
                missing, length = 0b111111, 0
        counts += np.bincount(
            np.minimum(np.array(lengths, np.int64), _MOST_COLLECTED),
            minlength=_MOST_COLLECTED + 1,
        )
        self._missing, self._length = missing, length

    def results(self, die: int) -> Iterable[FixedTest]:
        return (self._runs(die), self._serial(die), self._gap(die), self._coupons(die))

    def _runs(self, die: int) -> FixedTest:
        name, null = f"die{die}-runs", f"die {die}: high and low values follow at random"
        source = "runs test, Wald and Wolfowitz 1940"
        high, low, n = self.high, self.n - self.high, self.n
        if min(high, low) < 2:
            return FixedTest(name, null, source, None, None, left_out="too few tosses")
        mean = 2 * high * low / n + 1
        variance = (mean - 1) * (mean - 2) / (n - 1)
        return normal(name, null, source, (self.runs - mean) / np.sqrt(variance))

    def _serial(self, die: int) -> FixedTest:
        name, null = f"die{die}-serial-correlation", f"die {die}: no correlation at lag 1"
        source = "lag-1 serial correlation, normal approximation, Bartlett 1946"
        n = self.n
        spread = self.squares - self.sum**2 / n if n else 0.0
        if n < 20 or spread <= 0:
            return FixedTest(name, null, source, None, None, left_out="too few tosses")
        mean = self.sum / n
        ends = 2 * self.sum - self.first - self.last
        covariance = self.products - mean * ends + (n - 1) * mean**2
        return normal(name, null, source, float(covariance / spread * np.sqrt(n)))

    def _gap(self, die: int) -> FixedTest:
        share = np.append((1 / 6) * (5 / 6) ** np.arange(_MOST_GAP), (5 / 6) ** _MOST_GAP)
        # gaps of different faces lean on each other, so one face stands for the die
        counts = self.gaps
        test = chi_square(
            f"die{die}-gaps",
            f"die {die}: waits between sixes are geometric with probability 1/6",
            counts,
            counts.sum() * share,
        )
        return replace(test, source="gap test, Kendall and Babington Smith 1938")

    def _coupons(self, die: int) -> FixedTest:
        test = chi_square(
            f"die{die}-coupon-collector",
            f"die {die}: tosses until all six faces came have their exact distribution",
            self.collected[6:],
            self.collected.sum() * coupon_shares(),
        )
        return replace(test, source="coupon collector's test, Greenwood 1955")


def coupon_shares() -> NDArray[np.float64]:
    """Give the chance that a fair die first completes its six faces at toss 6, 7, ... 39, >= 40."""
    at_most = np.array(
        [
            sum((-1) ** j * comb(6, j) * ((6 - j) / 6) ** m for j in range(7))
            for m in range(5, _MOST_COLLECTED)
        ]
    )
    return np.append(np.diff(at_most), 1 - at_most[-1])
