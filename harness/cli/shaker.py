"""`sicbo-hil shaker`: whether a shaker and its dice are fair."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.fairness.analysis import Analysis
    from harness.fairness.sample_size import Plan

_EXIT = {"fair-within-tolerance": 0, "biased": 1, "undecided": 3}


@click.group(name="shaker")
def command() -> None:
    """Plan, run and analyse the qualification of a shaker and its dice."""


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--alpha", default=0.01, show_default=True, help="Error rate of the decision.")
@click.option("--tolerance", default=0.02, show_default=True, help="How far a face may be off 1/6.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def analyse(file: Path, alpha: float, tolerance: float, as_json: bool) -> None:
    """Decide on recorded tosses (CSV: die1,die2,die3). Exit 0 fair, 1 biased, 3 undecided."""
    from harness.fairness.analysis import analyse as analyse_tosses
    from harness.fairness.tosses import read_tosses

    def progress(tosses: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{tosses:,} tosses", err=True, nl=False)

    analysis = analyse_tosses(read_tosses(file), alpha, tolerance, progress)
    if sys.stderr.isatty():
        click.echo(err=True)
    if as_json:
        click.echo(json.dumps(analysis.to_json()))
    else:
        _show(analysis, tolerance)
    sys.exit(_EXIT[analysis.decision])


def _show(analysis: Analysis, tolerance: float) -> None:
    click.echo(f"{analysis.decision} after {analysis.tosses:,} tosses")
    for rejected in analysis.rejected:
        click.echo(
            f"  rejected: {rejected.hypothesis.null} "
            f"(e-value 10^{rejected.log10_e:.1f} at toss {rejected.at:,})"
        )
    click.echo(f"faces, intervals that hold at every toss (wanted: 1/6 +/- {tolerance:g}):")
    for die, faces in enumerate(analysis.faces, 1):
        click.echo(f"  die {die}  " + "  ".join(f"{lo:.4f}-{hi:.4f}" for lo, hi in faces))
    click.echo("fixed-sample tests, p adjusted for their number (Holm):")
    for test in analysis.fixed:
        said = test.left_out if test.p_value is None else f"p = {test.p_adjusted:.4f}"
        click.echo(f"  {test.name:28} {said}")


@command.command()
@click.option("--shift", default=0.02, show_default=True, help="Bias of one face to be found.")
@click.option("--tolerance", default=0.02, show_default=True, help="How far a face may be off 1/6.")
@click.option("--alpha", default=0.01, show_default=True, help="Error rate of the decision.")
@click.option("--power", default=0.9, show_default=True, help="Chance to find the bias.")
@click.option("--cycle", "cycle_s", default=6.0, show_default=True, help="Seconds a toss takes.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def plan(
    shift: float, tolerance: float, alpha: float, power: float, cycle_s: float, as_json: bool
) -> None:
    """Tell how many tosses, and hours, a qualification takes: fixed against sequential."""
    from harness.fairness.sample_size import plan as plan_qualification
    from harness.verdicts import ConfigurationError

    for name, value, most in (
        ("--shift", shift, 5 / 6),
        ("--tolerance", tolerance, 1 / 6),
        ("--alpha", alpha, 1.0),
        ("--power", power, 1.0),
        ("--cycle", cycle_s, 86_400.0),
    ):
        if not 0 < value < most:
            raise ConfigurationError(
                name,
                expected=f"a number between 0 and {most:g}",
                found=f"{value:g}",
                remedy="correct it",
            )
    planned = plan_qualification(shift, tolerance, alpha, power, cycle_s)
    if as_json:
        click.echo(json.dumps(asdict(planned)))
    else:
        _show_plan(planned)


def _show_plan(planned: Plan) -> None:
    rows = (
        (f"fixed test, one die alone, {planned.power:.0%} power", planned.fixed_alone),
        (f"fixed test within the whole family, {planned.power:.0%} power", planned.fixed),
        ("sequential, half of such dice found by", planned.sequential_median),
        (f"sequential, {planned.power:.0%} of such dice found by", planned.sequential_power),
        ("fair dice declared fair, half of the time by", planned.fair_median),
        ("fair dice declared fair, 95% of the time by", planned.fair_95),
    )
    click.echo(
        f"one face off by {planned.shift:g}, tolerance {planned.tolerance:g}, "
        f"alpha {planned.alpha:g}, {planned.cycle_s:g} s a toss"
    )
    for said, tosses in rows:
        hours = planned.hours(tosses)
        click.echo(
            f"  {said:52}"
            + ("not within reach" if hours is None else f"{tosses:>9,} tosses {hours:8.1f} h")
        )
