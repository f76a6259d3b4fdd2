"""The fixed-sample tests that regulators name: one look, after all tosses were made.

Each gives a statistic and a p-value; they stand beside the sequential decision and do not make it.
Adjusted p-values are Holm's over all tests given.
"""

from __future__ import annotations

from itertools import combinations_with_replacement, permutations, product

import numpy as np
from numpy.typing import NDArray

from harness.fairness.fixed_test import FixedTest, chi_square, holm, homogeneity
from harness.fairness.parts import Parts, outer_thirds
from harness.fairness.series import Series
from harness.fairness.tosses import Tosses, joint_results

_ORDERED = list(product(range(1, 7), repeat=3))
SORTED = list(combinations_with_replacement(range(1, 7), 3))
"""The 56 results without order, as ascending values."""
TO_SORTED = np.array([SORTED.index((min(d), sum(d) - min(d) - max(d), max(d))) for d in _ORDERED])
"""The place in SORTED of each of the 216 results."""
SORTED_SHARES = np.array([len(set(permutations(dice))) / 216 for dice in SORTED])
"""The exact probability of each of SORTED for fair dice."""
TOTAL_SHARES = np.bincount([sum(d) for d in _ORDERED], minlength=19)[3:] / 216
"""The exact probability of each total 3 to 18 for fair dice."""

_FADED = "first and last third of the tosses have the same face probabilities, whatever these are"


class FixedTests:
    """Counts what the tests need, fed with tosses in time order, in any portions."""

    def __init__(self) -> None:
        self._series = [Series(f"die{die}", f"die {die}") for die in (1, 2, 3)]
        self._parts = Parts(216)

    def feed(self, tosses: Tosses) -> None:
        """Take tosses, shape (n, 3), values 1 to 6, in time order."""
        values = np.ascontiguousarray(tosses.T)
        self._parts.feed(joint_results(values))
        for row, series in zip(values, self._series, strict=True):
            series.feed(row)

    @property
    def joint(self) -> NDArray[np.int64]:
        """How often each of the 216 results came."""
        return np.asarray(self._parts.stretches().sum(axis=0), np.int64)

    @property
    def stretches(self) -> NDArray[np.int64]:
        """How often each face came in equal parts of the recording: shape (parts, 3, 6)."""
        return faces_of(self._parts.stretches())

    def results(self) -> list[FixedTest]:
        """Give every test's outcome, Holm-adjusted over all of them."""
        joint = self.joint
        n = int(joint.sum())
        by_face = faces_of(joint)
        thirds = outer_thirds(self.stretches)
        tests = [
            *(
                chi_square(
                    f"die{die}-faces-chi-square",
                    f"each face of die {die} has probability 1/6",
                    counts,
                    np.full(6, n / 6),
                )
                for die, counts in enumerate(by_face, 1)
            ),
            totals_test(totals_of(joint)),
            sorted_test(sorted_of(joint)),
            chi_square(
                "216-results-chi-square",
                "each of the 216 results has probability 1/216",
                joint,
                np.full(216, n / 216),
            ),
            *(
                test
                for series, counts in zip(self._series, by_face, strict=True)
                for test in series.results(counts)
            ),
            *(
                homogeneity(f"die{die + 1}-wear", f"die {die + 1}: {_FADED}", thirds[:, die])
                for die in range(3)
            ),
        ]
        return holm(tests)


class FixedTestsAlike:
    """The same for dice that cannot be told apart: sorted values, in any portions."""

    def __init__(self) -> None:
        self._totals = Series("totals", "totals", high=10)
        self._parts = Parts(216)

    def feed(self, tosses: Tosses) -> None:
        """Take tosses, shape (n, 3), values 1 to 6, in time order."""
        self._parts.feed(joint_results(tosses.T))
        self._totals.feed(tosses.sum(axis=1, dtype=np.uint8))

    @property
    def joint(self) -> NDArray[np.int64]:
        """How often each of the 216 results was told, in whatever order."""
        return np.asarray(self._parts.stretches().sum(axis=0), np.int64)

    @property
    def stretches(self) -> NDArray[np.int64]:
        """How often each face came on any die in equal parts of the recording: (parts, 1, 6)."""
        return np.asarray(faces_of(self._parts.stretches()).sum(axis=-2, keepdims=True))

    def results(self) -> list[FixedTest]:
        """Give every test's outcome, Holm-adjusted over all of them.

        Wear is judged on the faces of three dice together; where dice differ among themselves that
        test rejects the rarer for it (Hoeffding 1956, Annals of Mathematical Statistics 27).
        """
        joint, thirds = self.joint, outer_thirds(self.stretches)
        totals = totals_of(joint)
        n = int(joint.sum())
        tests = [
            chi_square(
                "pooled-faces-chi-square",
                "the dice are independent of each other, each face with probability 1/6",
                faces_of(joint).sum(axis=0),
                np.full(6, n / 2),
            ),
            totals_test(totals_of(joint)),
            sorted_test(sorted_of(joint)),
            *self._totals.movements(np.concatenate((np.zeros(2, np.int64), totals))),
            homogeneity(
                "pooled-wear",
                f"independent dice whose {_FADED}",
                thirds[:, 0],
            ),
        ]
        return holm(tests)


def faces_of(joint: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give how often each face of each die came, in tosses: (..., 216) to (..., 3, 6)."""
    cube = joint.reshape(*joint.shape[:-1], 6, 6, 6)
    return np.stack([cube.sum((-2, -1)), cube.sum((-3, -1)), cube.sum((-3, -2))], axis=-2)


def totals_of(joint: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give how often each total 3 to 18 came, from the counts of the 216 results, in tosses."""
    totals = np.bincount([sum(d) for d in _ORDERED], weights=joint, minlength=19)
    return totals[3:].astype(np.int64)


def sorted_of(joint: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give how often each of SORTED came, from the counts of the 216 results, in tosses."""
    return np.bincount(TO_SORTED, weights=joint, minlength=56).astype(np.int64)


def totals_test(totals: NDArray[np.int64]) -> FixedTest:
    """Chi-square of the totals 3 to 18; null: they have the exact distribution of fair dice."""
    return chi_square(
        "totals-chi-square",
        "totals have their exact distribution",
        totals,
        totals.sum() * TOTAL_SHARES,
    )


def sorted_test(counts: NDArray[np.int64]) -> FixedTest:
    """Chi-square of the 56 results; null: they have the exact distribution of fair dice."""
    return chi_square(
        "56-results-chi-square",
        "the 56 results without order have their exact distribution",
        counts,
        counts.sum() * SORTED_SHARES,
    )
