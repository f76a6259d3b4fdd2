"""A recording of tosses, read once from end to end: decision, tests, intervals, pictures' data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.fairness.decision import Decision, Rejected, Watch
from harness.fairness.fixed import FixedTest, FixedTests
from harness.fairness.hypotheses import Hypothesis
from harness.fairness.tosses import Tosses


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a recording says.

    `e_values` are the family's log10 e-values, each at its highest; `faces` the confidence
    sequences at the end, shape (3, 6, 2); `history` the same at some tosses on the way, each
    (toss, shape (3, 6, 2)); `totals` counts of totals 3 to 18.
    """

    tosses: int
    decision: Decision
    fair_at: int | None
    rejected: tuple[Rejected, ...]
    e_values: tuple[tuple[Hypothesis, float], ...]
    fixed: tuple[FixedTest, ...]
    faces: NDArray[np.float64]
    counts: NDArray[np.int64]
    totals: NDArray[np.int64]
    history: tuple[tuple[int, NDArray[np.float64]], ...]

    def to_json(self) -> dict[str, object]:
        """Give the analysis as `shaker analyse --json` prints it."""
        sequential = [
            {
                "name": h.name,
                "null": h.null,
                "statistic": round(log10_e, 6),
                "log10_e_value": round(log10_e, 6),
                "source": h.source,
                "rejected": any(r.hypothesis == h for r in self.rejected),
            }
            for h, log10_e in self.e_values
        ]
        fixed = [
            {
                "name": t.name,
                "null": t.null,
                "statistic": t.statistic,
                "p_value": t.p_value,
                "p_adjusted": t.p_adjusted,
                "degrees": t.degrees,
                "source": t.source,
                "left_out": t.left_out,
            }
            for t in self.fixed
        ]
        return {
            "tosses": self.tosses,
            "decision": self.decision,
            "decided_at": self.fair_at if self.decision == "fair-within-tolerance" else None,
            "rejected": [
                {"name": r.hypothesis.name, "log10_e_value": r.log10_e, "at": r.at}
                for r in self.rejected
            ],
            "tests": sequential + fixed,
            "faces": [[[float(lo), float(hi)] for lo, hi in die] for die in self.faces],
            "counts": self.counts.tolist(),
        }


def analyse(
    chunks: Iterable[Tosses],
    alpha: float = 0.01,
    tolerance: float = 0.02,
    progress: Callable[[int], None] = lambda _tosses: None,
) -> Analysis:
    """Analyse tosses in time order, given in any portions; memory does not grow with their number.

    alpha and tolerance: see `Watch`. progress is told how many tosses were taken so far.
    """
    watch, fixed = Watch(alpha, tolerance), FixedTests()
    history: list[tuple[int, NDArray[np.float64]]] = []
    next_kept = 100
    for chunk in chunks:
        for part in _cut(chunk, watch.evidence.tosses, next_kept):
            watch.feed(part)
            if watch.evidence.tosses >= next_kept:
                history.append((watch.evidence.tosses, watch.intervals()))
                next_kept = int(watch.evidence.tosses * 1.25)
        fixed.feed(chunk)
        progress(watch.evidence.tosses)
    cube = fixed.joint.reshape(6, 6, 6)
    sums = np.add.outer(np.add.outer(np.arange(1, 7), np.arange(1, 7)), np.arange(1, 7))
    return Analysis(
        tosses=watch.evidence.tosses,
        decision=watch.decision,
        fair_at=watch.fair_at,
        rejected=watch.rejected(),
        e_values=tuple(
            (h, float(p.highest / np.log(10))) for h, p in watch.evidence.processes.items()
        ),
        fixed=tuple(fixed.results()),
        faces=watch.intervals(),
        counts=watch.counts,
        totals=np.bincount(sums.ravel(), weights=cube.ravel(), minlength=19)[3:].astype(np.int64),
        history=tuple(history),
    )


def _cut(chunk: Tosses, start: int, next_kept: int) -> Iterable[Tosses]:
    """Cut a chunk where the intervals are kept, each cut a quarter further on than the last."""
    cuts = []
    while next_kept - start < len(chunk):
        cuts.append(next_kept - start)
        next_kept = int(next_kept * 1.25)
    return np.split(chunk, cuts)
