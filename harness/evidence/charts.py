"""Figures for the charts of the page: plain numbers, drawn by the template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from harness.evidence.report_data import BookView, ResultView
from harness.verdicts import Verdict

CELL = 11
_BLOCK = 6 * CELL + 6
_BINS = 20


@dataclass(frozen=True, slots=True)
class GridCell:
    """One result in the picture of all 216: where, which verdict, which result of the page."""

    x: float
    y: float
    dice: str
    verdict: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart: place, size, and what it says."""

    x: float
    y: float
    width: float
    height: float
    label: str
    count: int


def result_grid(
    book: BookView, results: Sequence[ResultView], worst: Sequence[Verdict]
) -> list[GridCell]:
    """Place all 216 results: a block for the first die, rows for the second, columns the third.

    Where a result was entered several times its worst verdict is shown; one that was not entered
    has the verdict `none`.
    """
    by: dict[str, ResultView] = {}
    for view in results:
        if view.book != book.book:
            continue
        known = by.get(view.dice)
        if known is None or worst.index(view.verdict) < worst.index(known.verdict):
            by[view.dice] = view
    cells = []
    for first in range(6):
        for second in range(6):
            for third in range(6):
                dice = f"{first + 1},{second + 1},{third + 1}"
                found = by.get(dice)
                cells.append(
                    GridCell(
                        first % 3 * _BLOCK + third * CELL,
                        first // 3 * _BLOCK + second * CELL,
                        dice,
                        "none" if found is None else found.verdict.value,
                        "" if found is None else found.anchor,
                    )
                )
    return cells


def settle_bars(results: Sequence[ResultView]) -> list[Bar]:
    """Give a histogram of the times that lamps took to settle, in ms.

    Empty without any, and where the lamps were steady whenever they were first sensed.
    """
    times = [view.settle_ms for view in results if view.settle_ms is not None]
    if not any(times):
        return []
    low, high = 0.0, max(*times, 1.0)
    step = (high - low) / _BINS
    counts = Counter(min(_BINS - 1, int((time - low) / step)) for time in times)
    most = max(counts.values())
    return [
        Bar(
            n * 20.0,
            80 - 80 * counts[n] / most,
            18.0,
            80 * counts[n] / most,
            f"{low + n * step:.0f} to {low + (n + 1) * step:.0f} ms",
            counts[n],
        )
        for n in range(_BINS)
    ]


def verdict_bars(counts: dict[str, int]) -> list[Bar]:
    """Give one bar split by verdict, 400 wide."""
    total, x, bars = sum(counts.values()), 0.0, []
    for verdict, count in counts.items():
        width = 400 * count / total
        bars.append(Bar(round(x, 2), 0, round(width, 2), 24, verdict, count))
        x += width
    return bars
