"""Pictures of a qualification, as SVG: intervals over time, counts, totals, correlation, wear."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan, log10, sqrt

import numpy as np
from numpy.typing import NDArray

from harness.fairness.analysis import Analysis
from harness.fairness.fixed import TOTAL_SHARES

_INK, _QUIET, _FILL, _BAND, _LIMIT = "#14202a", "#4a5963", "#2f6f8f", "#9cc3d6", "#9b1220"
_FACES = ("#2f6f8f", "#b96a1c", "#4b3d8f", "#0d4a22", "#9b1220", "#4a5963")
_WEAR_PARTS = 12


class _Plot:
    """A rectangle with its own coordinates, drawn into by data values."""

    def __init__(
        self,
        box: tuple[float, float, float, float],
        xs: tuple[float, float],
        ys: tuple[float, float],
    ) -> None:
        self.left, self.top, self.width, self.height = box
        self._xs, self._ys = xs, ys
        self.parts = [
            f'<rect x="{self.left:g}" y="{self.top:g}" width="{self.width:g}" '
            f'height="{self.height:g}" fill="none" stroke="#b9c2c8"/>'
        ]

    def x(self, value: float) -> float:
        low, high = self._xs
        return self.left + self.width * (value - low) / ((high - low) or 1)

    def y(self, value: float) -> float:
        low, high = self._ys
        inside = min(max(value, low), high)
        return self.top + self.height * (1 - (inside - low) / ((high - low) or 1))

    def level(self, value: float, colour: str, dash: str = "") -> None:
        y = self.y(value)
        self.parts.append(
            f'<path d="M{self.left:g} {y:.1f}h{self.width:g}" stroke="{colour}" '
            f'stroke-dasharray="{dash}" fill="none"/>'
        )

    def line(self, points: Iterable[tuple[float, float]], colour: str) -> None:
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        )

    def band(self, xs: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> None:
        there = [f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in zip(xs, lows, strict=True)]
        back = [f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in zip(xs, highs, strict=True)]
        path = " ".join([*there, *reversed(back)])
        self.parts.append(f'<polygon points="{path}" fill="{_BAND}" stroke="{_FILL}"/>')

    def bar(self, x: float, width: float, value: float, said: str) -> None:
        y, foot = self.y(value), self.y(max(0.0, self._ys[0]))
        self.parts.append(
            f'<rect x="{self.x(x):.1f}" y="{min(y, foot):.1f}" width="{width:.1f}" '
            f'height="{abs(foot - y):.1f}" fill="{_FILL}"><title>{said}</title></rect>'
        )

    def text(self, x: float, y: float, said: str, anchor: str = "start") -> None:
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{_QUIET}">{said}</text>'
        )


def _svg(width: float, height: float, said: str, plots: Iterable[_Plot]) -> str:
    inner = "".join(part for plot in plots for part in plot.parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" aria-label="{said}">{inner}</svg>'
    )


def _row_names(analysis: Analysis) -> list[str]:
    return ["all dice"] if analysis.alike else ["die 1", "die 2", "die 3"]


def intervals_over_time(analysis: Analysis) -> str:
    """Draw each face's confidence sequence against tosses (logarithmic), with the tolerance."""
    xs = [log10(max(1, tosses)) for tosses, _, _ in analysis.history]
    span = (xs[0], max(xs[-1], xs[0] + 0.1))
    reach = 3 * analysis.tolerance
    plots = []
    for row, name in enumerate(_row_names(analysis)):
        for face in range(6):
            box = (60 + face * 150.0, 24 + row * 120.0, 138.0, 92.0)
            plot = _Plot(box, span, (1 / 6 - reach, 1 / 6 + reach))
            ends = [intervals[row, face] for _, intervals, _ in analysis.history]
            plot.band(xs, [float(low) for low, _ in ends], [float(high) for _, high in ends])
            plot.level(1 / 6, _INK)
            for edge in (1 / 6 - analysis.tolerance, 1 / 6 + analysis.tolerance):
                plot.level(edge, _LIMIT, "4 3")
            if row == 0:
                plot.text(plot.left + plot.width / 2, 16, f"face {face + 1}", "middle")
            if face == 0:
                plot.text(54, plot.top + plot.height / 2, name, "end")
            plots.append(plot)
    foot = 24 + len(_row_names(analysis)) * 120.0
    plots[-1].text(60, foot + 8, f"{analysis.history[0][0]:,} tosses")
    plots[-1].text(948, foot + 8, f"{analysis.tosses:,} tosses (logarithmic)", "end")
    return _svg(960, foot + 16, "Intervals of every face's probability over time", plots)


def evidence_over_time(analysis: Analysis) -> str:
    """Draw the evidence against fair dice (log10, weighted) and what makes a decision."""
    points = [(log10(max(1, tosses)), e) for tosses, _, e in analysis.history]
    needed = -log10(analysis.alpha)
    top = max(needed, *(e for _, e in points)) * 1.1
    low = min(0.0, *(e for _, e in points))
    span = (points[0][0], max(points[-1][0], points[0][0] + 0.1))
    plot = _Plot((44, 10, 420, 150), span, (low, top))
    plot.line(points, _FILL)
    plot.level(needed, _LIMIT, "4 3")
    plot.text(462, plot.y(needed) - 4, f"biased from 10^{needed:g} on", "end")
    plot.text(40, plot.y(top) + 10, f"10^{top:.0f}", "end")
    plot.text(40, plot.y(low), f"10^{round(low)}", "end")
    plot.text(464, 176, f"{analysis.tosses:,} tosses (logarithmic)", "end")
    return _svg(480, 184, "Evidence against fair dice over time", [plot])


def face_counts(analysis: Analysis) -> str:
    """Draw how often each face came, and how often it was to be expected."""
    plots = []
    expected = float(analysis.counts.sum(axis=1).mean()) / 6
    top = max(float(analysis.counts.max()), expected, 1.0) * 1.1
    for row, name in enumerate(_row_names(analysis)):
        plot = _Plot((56 + row * 180.0, 10, 160, 130), (0, 6), (0, top))
        for face, count in enumerate(analysis.counts[row]):
            plot.bar(face + 0.15, 19, float(count), f"face {face + 1}: {count:,}")
            plot.text(plot.x(face + 0.5), 154, str(face + 1), "middle")
        plot.level(expected, _LIMIT, "4 3")
        plot.text(plot.left + 80, 170, name, "middle")
        if row == 0:
            plot.text(52, plot.y(expected) + 4, f"{expected:,.0f}", "end")
        plots.append(plot)
    return _svg(60 + 180 * len(plots), 176, "Counts of faces", plots)


def totals(analysis: Analysis) -> str:
    """Draw how often each total came, and its exact expectation as a mark."""
    expected = analysis.totals.sum() * TOTAL_SHARES
    top = max(float(analysis.totals.max()), float(expected.max()), 1.0) * 1.1
    plot = _Plot((20, 10, 440, 150), (0, 16), (0, top))
    for place, (count, wanted) in enumerate(zip(analysis.totals, expected, strict=True)):
        plot.bar(place + 0.15, 19, float(count), f"total {place + 3}: {count:,}, {wanted:,.1f}")
        plot.text(plot.x(place + 0.5), 176, str(place + 3), "middle")
        y = plot.y(float(wanted))
        plot.parts.append(
            f'<path d="M{plot.x(place):.1f} {y:.1f}h27.5" stroke="{_LIMIT}" stroke-width="2"/>'
        )
    return _svg(480, 184, "Totals against their exact distribution", [plot])


def autocorrelation(analysis: Analysis) -> str:
    """Draw the correlation at each lag, and within what 95 of 100 lie for independent tosses."""
    plots = []
    names = ["totals"] if analysis.alike else _row_names(analysis)
    usual = 1.96 / sqrt(max(1, analysis.autocorrelated))
    values = analysis.autocorrelation
    known = np.abs(values[~np.isnan(values)])
    reach = max(float(known.max(initial=0.0)), usual) * 1.2
    lags = values.shape[1]
    for row, name in enumerate(names):
        plot = _Plot((60, 10 + row * 100.0, 400, 84), (0, lags + 1), (-reach, reach))
        for lag, value in enumerate(values[row], 1):
            if not isnan(value):
                plot.line([(lag, 0.0), (lag, float(value))], _FILL)
        plot.level(0, _INK)
        plot.level(usual, _LIMIT, "4 3")
        plot.level(-usual, _LIMIT, "4 3")
        plot.text(54, plot.top + 46, name, "end")
        plots.append(plot)
    foot = 10 + 100.0 * len(names)
    plots[-1].text(60, foot + 8, "lag 1")
    plots[-1].text(460, foot + 8, f"lag {lags}", "end")
    return _svg(480, foot + 16, "Correlation of tosses with earlier ones", plots)


def wear(analysis: Analysis) -> str:
    """Draw each face's share in consecutive parts of the recording."""
    parts = _joined(analysis.stretches)
    shares = parts / np.maximum(parts.sum(axis=2, keepdims=True), 1)
    reach = max(float(np.abs(shares - 1 / 6).max(initial=0.0)), analysis.tolerance) * 1.1
    plots = []
    for row, name in enumerate(_row_names(analysis)):
        box = (60.0, 10 + row * 110.0, 400.0, 94.0)
        plot = _Plot(box, (0, max(1, len(parts) - 1)), (1 / 6 - reach, 1 / 6 + reach))
        plot.level(1 / 6, _INK)
        for face, colour in enumerate(_FACES):
            plot.line([(at, float(share)) for at, share in enumerate(shares[:, row, face])], colour)
        plot.text(54, plot.top + 50, name, "end")
        plots.append(plot)
    foot = 10 + 110.0 * len(plots)
    for face, colour in enumerate(_FACES):
        plots[-1].parts.append(
            f'<rect x="{60 + face * 66}" y="{foot:g}" width="9" height="9" fill="{colour}"/>'
            f'<text x="{72 + face * 66}" y="{foot + 9:g}">face {face + 1}</text>'
        )
    return _svg(480, foot + 16, "Shares of the faces in consecutive parts", plots)


def _joined(stretches: NDArray[np.int64]) -> NDArray[np.int64]:
    """Join stretches to at most a dozen parts of about one length."""
    if not len(stretches):
        return np.zeros((1, *stretches.shape[1:]), np.int64)
    groups = np.array_split(np.arange(len(stretches)), min(_WEAR_PARTS, len(stretches)))
    return np.stack([stretches[group].sum(axis=0) for group in groups])
