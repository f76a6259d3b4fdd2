"""`sicbo-hil report`: one report of a run, made from its record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

if TYPE_CHECKING:
    from harness.evidence.reports import Format

_FORMATS = ("html", "pdf", "junit", "messages", "cucumber-json")


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--format", "wanted", type=click.Choice(_FORMATS), required=True)
@click.option("--out", type=click.Path(path_type=Path), help="File to write.")
@click.option(
    "--laboratory",
    type=click.Path(path_type=Path),
    help="Laboratory profile (TOML) in place of the one the run was made with.",
)
@click.option(
    "--amends",
    type=click.Path(path_type=Path),
    help="Sealed run folder whose report this one amends; needs --why.",
)
@click.option("--why", help="Why the report is amended.")
def command(
    *,
    folder: Path,
    wanted: str,
    out: Path | None,
    laboratory: Path | None,
    amends: Path | None,
    why: str | None,
) -> int:
    """Write a report and print where it is.

    A sealed folder is not written to: what was not sealed with it goes beside it.
    """
    from harness.evidence.errors import as_schema_has_it
    from harness.evidence.profile import load_profile
    from harness.evidence.reports import original_of, write_report

    if (amends is None) != (why is None):
        raise click.UsageError("--amends and --why go together")
    profile = None if laboratory is None else load_profile(laboratory)
    original = None if amends is None else original_of(amends, why or "")
    with as_schema_has_it(folder):
        written = write_report(
            folder, cast("Format", wanted), out=out, profile=profile, amends=original
        )
    click.echo(str(written))
    return 0
