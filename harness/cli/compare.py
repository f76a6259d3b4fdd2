"""`sicbo-hil compare`: what changed between two runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.evidence.compare import Side


@click.command()
@click.argument("before", metavar="RUN")
@click.argument("after", metavar="RUN")
@click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
def command(before: str, after: str, as_json: bool) -> int:
    """Compare two runs, result by result. RUN is a folder, or the id of a run in the history.

    Exits with 0 if nothing changed, 1 if anything did.
    """
    from harness.evidence.compare import compare_runs
    from harness.evidence.summary import parts_text

    told = compare_runs(_folder(before), _folder(after))
    if as_json:
        click.echo(json.dumps(told.to_json()))
        return 0 if told.same else 1
    click.echo(f"{_named(told.before)} -> {_named(told.after)}")
    for change in told.changes:
        lamps = ""
        if change.no_longer_lit:
            lamps += f"; no longer lit: {', '.join(change.no_longer_lit)}"
        if change.newly_lit:
            lamps += f"; newly lit: {', '.join(change.newly_lit)}"
        verdicts = f"{change.before or 'not tested'} -> {change.after or 'not tested'}"
        name = change.result or change.scenario
        where = f"{change.book} on {change.rig}" if change.rig else change.book
        click.echo(f"{where}  {name}: {verdicts}{lamps}")
    for word, found in (("gone", told.findings_gone), ("new", told.findings_new)):
        for finding in found:
            parts = parts_text(finding)
            click.echo(f"finding {word}: {finding['verdict']} {parts} {finding['fault']}")
    click.echo(f"{len(told.changes)} changed, {told.unchanged} unchanged")
    return 0 if told.same else 1


def _named(side: Side) -> str:
    table = f"table {side.serial or 'of no serial number'}, firmware {side.firmware or 'not told'}"
    return f"{side.run_id} ({table})"


def _folder(run: str) -> Path:
    path = Path(run)
    if path.exists():
        return path
    from harness.evidence.history import History

    history = History()
    try:
        return history.folder_of(run)
    finally:
        history.close()
