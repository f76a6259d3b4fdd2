"""`sicbo-hil history`: runs over time."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command()
@click.option(
    "--add",
    "added",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Index a run folder that came from elsewhere.",
)
@click.option(
    "--rebuild",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Make the index anew from every run in or under DIR.",
)
@click.option("--url", help="SQLAlchemy URL of the index; default: SQLite, in the user's data.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
def command(
    added: tuple[Path, ...], rebuild: tuple[Path, ...], url: str | None, as_json: bool
) -> int:
    """List every run known, the oldest first. The run folders stay the truth."""
    from harness.evidence.history import History

    history = History(url)
    try:
        if rebuild:
            history.rebuild(rebuild)
        for folder in added:
            history.add(folder)
        runs = history.runs()
    finally:
        history.close()
    if as_json:
        click.echo(json.dumps([run.to_json() for run in runs]))
        return 0
    for run in runs:
        table = " ".join(filter(None, (run.serial, run.firmware))) or "table not named"
        gone = "" if run.there else "  (folder gone)"
        unfinished = "" if run.finished else "  (unfinished)"
        click.echo(
            f"{(run.started or '')[:19]:19}  {run.run_id[:8]}  {run.verdict:15} "
            f"{run.passed}/{run.checked}  {table}  {', '.join(run.books)}  {run.folder}"
            f"{unfinished}{gone}"
        )
    if not runs:
        click.echo("no runs yet", err=True)
    return 0
