"""`sicbo-hil verify`: is a run folder as it was sealed?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.evidence.verify import Verification


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="Public key file: only a seal signed with its secret half is good.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
def command(folder: Path, key: Path | None, as_json: bool) -> int:
    """Check a run folder byte by byte: what was changed, removed, added or moved, and where."""
    from harness.evidence.keys import load_public_key
    from harness.evidence.verify import verify_run

    answer = verify_run(folder, None if key is None else load_public_key(key))
    if as_json:
        click.echo(json.dumps(answer.to_json()))
    else:
        _say(answer, folder, trusted=key is not None)
    return 0 if answer.intact else 1


def _say(answer: Verification, folder: Path, *, trusted: bool) -> None:
    for problem in answer.problems:
        file = problem.file if problem.file.isprintable() else repr(problem.file)
        place = file if problem.line is None else f"{file}:{problem.line}"
        click.echo(f"{place}: {problem.what}")
    if not answer.intact:
        click.echo(f"{folder}: NOT INTACT, {len(answer.problems)} problem(s)")
        return
    if answer.signed_by is None:
        signer = "unsigned: shows change, not who sealed"
    elif trusted:
        signer = f"signed by the key given ({answer.signed_by})"
    else:
        signer = f"signed by {answer.signed_by}; name the key you trust with --key"
    end = "" if answer.complete else "; the run is not complete"
    click.echo(f"{folder}: intact, {signer}{end}")
