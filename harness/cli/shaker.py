"""`sicbo-hil shaker`: whether a shaker and its dice are fair."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.shaker_decision import EXIT, show
from harness.cli.shaker_qualify import qualify

if TYPE_CHECKING:
    from harness.fairness.analysis import Analysis
    from harness.fairness.sample_size import Plan


@click.group(name="shaker")
def command() -> None:
    """Plan, run and analyse the qualification of a shaker and its dice."""


command.add_command(qualify)


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--alpha", default=0.01, show_default=True, help="Error rate of the decision.")
@click.option("--tolerance", default=0.02, show_default=True, help="How far a face may be off 1/6.")
@click.option(
    "--level", default=0.99, show_default=True, help="Of the fixed tests together (0.95, 0.99)."
)
@click.option("--alike", is_flag=True, help="The dice were not told apart: rows without order.")
@click.option(
    "--report", type=click.Path(path_type=Path), help="Folder to write a page to, with pictures."
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def analyse(
    file: Path,
    alpha: float,
    tolerance: float,
    level: float,
    alike: bool,
    report: Path | None,
    as_json: bool,
) -> None:
    """Decide on recorded tosses (CSV: die1,die2,die3). Exit 0 fair, 1 biased, 3 undecided."""
    from harness.fairness.analysis import analyse as analyse_tosses
    from harness.fairness.tosses import read_tosses

    _check_within("--level", level, 1.0)

    def progress(tosses: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{tosses:,} tosses", err=True, nl=False)

    analysis = analyse_tosses(
        read_tosses(file), alpha, tolerance, progress, alike=alike, level=level
    )
    if sys.stderr.isatty():
        click.echo(err=True)
    if report is not None:
        _write_page(report, file, analysis)
    if as_json:
        click.echo(json.dumps(analysis.to_json()))
    else:
        show(analysis)
    sys.exit(EXIT[analysis.decision])


def _write_page(folder: Path, file: Path, analysis: Analysis) -> None:
    from harness.campaign.qualify_page import page
    from harness.evidence.canonical import file_sha256
    from harness.evidence.reports import save_report
    from harness.verdicts import ConfigurationError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            str(folder),
            expected="a folder for the page",
            found=error.strerror or str(error),
            remedy="name another folder with --report",
        ) from error
    facts = [("File", file.name), ("SHA-256", file_sha256(file))]
    where = folder / "report.html"
    save_report(where, page("Recorded tosses", analysis, facts).encode())
    click.echo(f"{where}", err=True)


def _check_within(name: str, value: float, most: float) -> None:
    from harness.verdicts import ConfigurationError

    if not 0 < value < most:
        raise ConfigurationError(
            name,
            expected=f"a number between 0 and {most:g}",
            found=f"{value:g}",
            remedy="correct it",
        )


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

    for name, value, most in (
        ("--shift", shift, 5 / 6),
        ("--tolerance", tolerance, 1 / 6),
        ("--alpha", alpha, 1.0),
        ("--power", power, 1.0),
        ("--cycle", cycle_s, 86_400.0),
    ):
        _check_within(name, value, most)
    planned = plan_qualification(shift, tolerance, alpha, power, cycle_s)
    if as_json:
        click.echo(json.dumps(planned.to_json()))
    else:
        _show_plan(planned)


def _show_plan(planned: Plan) -> None:
    click.echo(
        f"error rate {planned.alpha:g}, tolerance {planned.tolerance:g}, "
        f"{planned.cycle_s:g} s a toss; tosses (hours)\n"
    )
    power = f"{planned.power:.0%}"
    click.echo(f"to find one face of one die off by so much, in {power} of cases if not said else")
    heads = ("fixed, one die", "fixed, family", "sequential, 50%", f"sequential, {power}")
    click.echo(f"  {'off by':8}" + "".join(f"{head:>20}" for head in heads))
    for bias in sorted(planned.biases, key=lambda bias: -bias.shift):
        numbers = (bias.fixed_alone, bias.fixed, bias.sequential_median, bias.sequential_power)
        cells = "".join(f"{_said(planned, number):>20}" for number in numbers)
        click.echo(f"  {bias.shift:<8g}{cells}")
    click.echo(
        "  fixed: chi-square, one look at the end, for one die alone at the whole error rate, or\n"
        "  at its share within the family that the sequential decision watches all the while"
    )
    click.echo("\nto declare fair dice fair within the tolerance")
    click.echo(f"  half of them by       {_said(planned, planned.fair_median)}")
    click.echo(f"  95 in 100 of them by  {_said(planned, planned.fair_95)}")


def _said(planned: Plan, tosses: int | None) -> str:
    hours = planned.hours(tosses)
    return "not within reach" if hours is None else f"{tosses:,} ({hours:,.1f} h)"
