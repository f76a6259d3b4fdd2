"""What `sicbo-hil shaker` decided, printed for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.fairness.analysis import Analysis

EXIT = {"fair-within-tolerance": 0, "biased": 1, "undecided": 3}


def show(analysis: Analysis) -> None:
    """Print an analysis for a person."""
    click.echo(f"{analysis.decision} after {analysis.tosses:,} tosses")
    if analysis.alike:
        click.echo("dice not told apart: tests on sorted values, which are weaker")
    for rejected in analysis.rejected:
        click.echo(
            f"  {rejected.found} (e-value 10^{rejected.log10_e:.1f} by toss {rejected.at:,}, "
            f"against: {rejected.hypothesis.null})"
        )
    click.echo(
        f"evidence against fair dice 10^{analysis.log10_e:.2f} "
        f"(biased from 10^{-_log10(analysis.alpha):.2f} on)"
    )
    click.echo(
        f"faces, intervals that hold at every toss (wanted: 1/6 +/- {analysis.tolerance:g}):"
    )
    for name, faces in zip(row_names(analysis.alike), analysis.faces, strict=True):
        click.echo(f"  {name:8}  " + "  ".join(f"{lo:.4f}-{hi:.4f}" for lo, hi in faces))
    click.echo(
        f"fixed-sample tests at {analysis.level:.0%} together, p adjusted for their number (Holm):"
    )
    for test in analysis.fixed:
        said = test.left_out if test.p_value is None else f"p = {test.p_adjusted:.4f}"
        click.echo(f"  {test.name:28} {said}{'  REJECTED' if analysis.fails(test) else ''}")


def row_names(alike: bool) -> list[str]:
    """Name the rows of an analysis."""
    return ["all dice"] if alike else ["die 1", "die 2", "die 3"]


def _log10(value: float) -> float:
    from math import log10

    return log10(value)
