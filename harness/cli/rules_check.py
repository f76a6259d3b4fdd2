"""`sicbo-hil rules check`: the procedure monitor on a recorded timeline."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command(name="check")
@click.argument("book_id", metavar="BOOK")
@click.option(
    "--events",
    "file",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Timeline as JSON lines, the setup first; - reads standard input.",
)
@click.option(
    "--rules-path",
    "paths",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder with further rule books; may be given more than once.",
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.pass_context
def command(
    ctx: click.Context, book_id: str, file: Path, paths: tuple[Path, ...], as_json: bool
) -> None:
    """Check a recorded timeline against a book's procedure.

    Ends with 1 if anything deviates from the procedure, with 2 if the file is not a timeline.
    """
    from harness.rules.books import load_book
    from harness.rules.monitor import Monitor
    from harness.rules.timeline import read_timeline

    book = load_book(book_id, paths)
    timeline = read_timeline(file, book.areas)
    monitor = Monitor(book, timeline.setup)
    for event in timeline.events:
        monitor.feed(event)
    monitor.finish()
    if as_json:
        click.echo(
            json.dumps(
                {
                    "deviations": [deviation.to_json() for deviation in monitor.deviations],
                    "outcome": monitor.outcome,
                }
            )
        )
    else:
        for deviation in monitor.deviations:
            click.echo(f"{deviation.at:g} s  {deviation.clause}  {deviation.what}")
        click.echo(f"outcome: {monitor.outcome}")
    ctx.exit(1 if monitor.deviations else 0)
