"""Tosses studied from end to end: decision, tests, intervals, and what pictures show."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.fairness.alike import AlikeWatch
from harness.fairness.autocorrelation import Autocorrelation
from harness.fairness.decision import Decision, Nulls, Rejected, Watch
from harness.fairness.fixed import FixedTests, FixedTestsAlike, totals_of
from harness.fairness.fixed_test import FixedTest
from harness.fairness.tosses import Tosses

_FIRST_KEPT = 100
_KEPT_EVERY = 1.25


@dataclass(frozen=True, slots=True)
class Analysis:
    """What tosses say. Rows of `faces`, `counts` and `autocorrelation` are dice.

    `alike`: the dice could not be told apart; then there is one row, for all dice together (of
    `autocorrelation`: for totals). `e_values` are the family's log10 e-values, each at its highest
    and now; `log10_e` is the evidence that decides (see `Watch.log10_e`); `faces` the confidence
    sequences at the end, shape (rows, 6, 2); `history` the same at some tosses on the way, each
    (toss, intervals, log10_e); `totals` counts of totals 3 to 18; `stretches` counts in equal parts
    of the recording, shape (parts, rows, 6); `level` that of the fixed tests.
    """

    alike: bool
    tosses: int
    alpha: float
    tolerance: float
    level: float
    decision: Decision
    fair_at: int | None
    log10_e: float
    rejected: tuple[Rejected, ...]
    e_values: tuple[tuple[Nulls, float, float], ...]
    fixed: tuple[FixedTest, ...]
    faces: NDArray[np.float64]
    counts: NDArray[np.int64]
    totals: NDArray[np.int64]
    history: tuple[tuple[int, NDArray[np.float64], float], ...]
    stretches: NDArray[np.int64]
    autocorrelation: NDArray[np.float64]
    autocorrelated: int

    def fails(self, test: FixedTest) -> bool:
        """Tell whether a fixed test is rejected at the level, corrected for their number."""
        return test.p_adjusted is not None and test.p_adjusted < 1 - self.level

    def to_json(self) -> dict[str, object]:
        """Give the analysis as `shaker analyse --json` prints it.

        `log10_e_value` is the evidence at its highest, which decides; `log10_e_value_now` of a test
        is its e-value at the last toss.
        """
        sequential = [
            {
                "name": h.name,
                "null": h.null,
                "statistic": round(highest, 6),
                "log10_e_value": round(highest, 6),
                "log10_e_value_now": round(now, 6),
                "source": h.source,
                "rejected": any(r.hypothesis == h for r in self.rejected),
            }
            for h, highest, now in self.e_values
        ]
        fixed = [
            {
                "name": t.name,
                "null": t.null,
                "statistic": t.statistic,
                "p_value": t.p_value,
                "p_adjusted": t.p_adjusted,
                "rejected": self.fails(t),
                "degrees": t.degrees,
                "source": t.source,
                "left_out": t.left_out,
            }
            for t in self.fixed
        ]
        return {
            "tosses": self.tosses,
            "dice": "alike" if self.alike else "told apart",
            "alpha": self.alpha,
            "tolerance": self.tolerance,
            "decision": self.decision,
            "decided_at": self.decided_at,
            "log10_e_value": round(self.log10_e, 6),
            "rejected": [
                {
                    "name": r.hypothesis.name,
                    "found": r.found,
                    "die": r.die,
                    "face": r.face,
                    "log10_e_value": round(float(r.log10_e), 6),
                    "at": r.at,
                }
                for r in self.rejected
            ],
            "tests": sequential + fixed,
            "faces": [[[float(lo), float(hi)] for lo, hi in die] for die in self.faces],
            "counts": self.counts.tolist(),
            "totals": self.totals.tolist(),
        }

    @property
    def decided_at(self) -> int | None:
        """Give the toss at which fairness was found; None for other decisions."""
        return self.fair_at if self.decision == "fair-within-tolerance" else None


class Study:
    """Takes tosses in time order, in any portions; memory does not grow with their number.

    alpha, tolerance (of a probability): see `Watch`, or `AlikeWatch` where the dice are alike.
    level: of the fixed tests together, corrected for their number (0.95 and 0.99 are in use).
    """

    def __init__(
        self,
        alpha: float = 0.01,
        tolerance: float = 0.02,
        *,
        alike: bool = False,
        level: float = 0.99,
    ) -> None:
        self.alike = alike
        self.watch: Watch | AlikeWatch = (AlikeWatch if alike else Watch)(alpha, tolerance)
        self.tosses = 0
        self._level = level
        self._fixed = (FixedTestsAlike if alike else FixedTests)()
        self._autocorrelation = Autocorrelation(1 if alike else 3)
        self._history: list[tuple[int, NDArray[np.float64], float]] = []
        self._next_kept = _FIRST_KEPT

    def feed(self, tosses: Tosses) -> None:
        """Take tosses, shape (n, 3), values 1 to 6 (in any order within a toss if alike)."""
        for part in self._cut(tosses):
            self.watch.feed(part)
            self.tosses += len(part)
            if self.tosses == self._next_kept:
                self._keep()
                self._next_kept = int(self.tosses * _KEPT_EVERY)
        self._fixed.feed(tosses)
        self._autocorrelation.feed(tosses.sum(axis=1)[None] if self.alike else tosses.T)

    def analysis(self) -> Analysis:
        """Give what the tosses so far say."""
        watch, joint = self.watch, self._fixed.joint
        history = list(self._history)
        if not history or history[-1][0] != self.tosses:
            history.append(self._point())
        return Analysis(
            alike=self.alike,
            tosses=self.tosses,
            alpha=watch.alpha,
            tolerance=watch.tolerance,
            level=self._level,
            decision=watch.decision,
            fair_at=watch.fair_at,
            log10_e=watch.log10_e,
            rejected=watch.rejected(),
            e_values=tuple(watch.e_values()),
            fixed=tuple(self._fixed.results()),
            faces=watch.intervals(),
            counts=watch.counts.copy(),
            totals=totals_of(joint),
            history=tuple(history),
            stretches=self._fixed.stretches,
            autocorrelation=self._autocorrelation.coefficients(),
            autocorrelated=self._autocorrelation.tosses,
        )

    def _keep(self) -> None:
        self._history.append(self._point())

    def _point(self) -> tuple[int, NDArray[np.float64], float]:
        return self.tosses, self.watch.intervals(), self.watch.log10_e

    def _cut(self, tosses: Tosses) -> list[Tosses]:
        """Cut tosses where the intervals are kept, each cut a quarter further on than the last."""
        cuts, kept = [], self._next_kept
        while kept - self.tosses < len(tosses):
            cuts.append(kept - self.tosses)
            kept = int(kept * _KEPT_EVERY)
        return np.split(tosses, cuts)


def analyse(
    chunks: Iterable[Tosses],
    alpha: float = 0.01,
    tolerance: float = 0.02,
    progress: Callable[[int], None] = lambda _tosses: None,
    *,
    alike: bool = False,
    level: float = 0.99,
) -> Analysis:
    """Analyse tosses in time order; settings as in `Study`, each test's null as it states it.

    progress is told how many tosses were taken so far.
    """
    study = Study(alpha, tolerance, alike=alike, level=level)
    for chunk in chunks:
        study.feed(chunk)
        progress(study.tosses)
    return study.analysis()
