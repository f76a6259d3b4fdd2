"""One fixed-sample test and what it gives; chi-square and normal ones, and Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc
from scipy.stats import chi2

LEAST_EXPECTED = 5.0
"""Smallest expected count for which the chi-square approximation is used (Cochran 1954,
Biometrics 10): cells below it are joined into one, or the test is left out."""


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

    Null: independent tosses whose categories are expected so often (both shape (k,), in tosses).
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


def homogeneity(name: str, null: str, table: NDArray[np.int64]) -> FixedTest:
    """Pearson's chi-square of a contingency table, shape (parts, k): do parts have one share each.

    Null: every part has the same, unknown, probabilities. Columns that stayed empty are left out.
    """
    source = "chi-square of homogeneity, Pearson 1900"
    table = table[:, table.sum(axis=0) > 0]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / max(1, int(table.sum()))
    if table.shape[1] < 2 or (expected < LEAST_EXPECTED).any():
        return FixedTest(
            name, null, source, None, None, left_out=f"expected counts below {LEAST_EXPECTED:g}"
        )
    statistic = float(((table - expected) ** 2 / expected).sum())
    degrees = (table.shape[0] - 1) * (table.shape[1] - 1)
    return FixedTest(name, null, source, statistic, float(chi2.sf(statistic, degrees)), degrees)


def normal(name: str, null: str, source: str, z: float) -> FixedTest:
    """Give a two-sided test on a statistic that is standard normal under its null."""
    return FixedTest(name, null, source, z, float(erfc(abs(z) / np.sqrt(2))))


def holm(tests: Sequence[FixedTest]) -> list[FixedTest]:
    """Fill in the adjusted p-values of the tests that apply, in the order given.

    A test is rejected at a level if its adjusted p-value is below it; the chance that any true null
    is then rejected is at most that level (Holm 1979, Scandinavian Journal of Statistics 6).
    """
    ranked = sorted((t for t in tests if t.p_value is not None), key=lambda t: t.p_value or 0.0)
    adjusted: dict[str, float] = {}
    worst = 0.0
    for rank, test in enumerate(ranked):
        worst = max(worst, min(1.0, (test.p_value or 0.0) * (len(ranked) - rank)))
        adjusted[test.name] = worst
    return [replace(test, p_adjusted=adjusted.get(test.name)) for test in tests]
