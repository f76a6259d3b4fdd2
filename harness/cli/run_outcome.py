"""What a person reads at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from harness.cli.console import console
from harness.evidence.summary import parts_text

_COLOURS = {"PASS": "green", "DUT_FAIL": "red", "PROCEDURE_FAIL": "red"}
_MOST_FINDINGS = 20


def print_outcome(folder: Path, summary: Mapping[str, Any]) -> None:
    """Say the verdict, the results and the findings; the run folder goes to standard output."""
    shown = console(stderr=True)
    verdict = summary["verdict"]
    shown.print(verdict, style=_COLOURS.get(verdict, "yellow"), markup=False, end="")
    counts = ", ".join(f"{count} {name}" for name, count in summary["counts"].items())
    if summary["left"]:
        counts += f"; {summary['left']} of {summary['planned']} planned not concluded"
    shown.print(f"  ({counts or 'no scenario'})", markup=False, soft_wrap=True)
    for book, told in summary["results"].items():
        shown.print(
            f"  {book}: {told['passed']} of {told['checked']} results passed ({told['mode']})",
            markup=False,
            soft_wrap=True,
        )
    findings: Sequence[Mapping[str, Any]] = summary["findings"]
    for finding in findings[:_MOST_FINDINGS]:
        shown.print(
            f"  {finding['verdict']}: {parts_text(finding)}: {finding['fault']}: {finding['what']}",
            markup=False,
            soft_wrap=True,
        )
    if len(findings) > _MOST_FINDINGS:
        shown.print(f"  and {len(findings) - _MOST_FINDINGS} more findings", markup=False)
    click.echo(str(folder))
