"""`sicbo-hil replay`: a run's verdicts derived again from its recorded observations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.evidence.replay import Difference


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--rules-path",
    "rules_paths",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Folder of rule books, in place of embedded ones of their id; default: those the run was "
    "given, where they still are.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON to standard output.")
def command(folder: Path, rules_paths: tuple[Path, ...], as_json: bool) -> int:
    """Read every picture, judge every entry and diagnose again; say what comes out otherwise.

    Exits with 0 if all is the same, 1 if anything differs.
    """
    from dataclasses import replace
    from functools import cache

    from harness.bdd.concluded_again import compare_conclusions
    from harness.campaign.qualify_again import compare_decision, is_qualification
    from harness.evidence.errors import as_schema_has_it
    from harness.evidence.journal_lines import read_records
    from harness.evidence.replay import replay_run
    from harness.evidence.run_folder import open_run_folder
    from harness.rules.books import RuleBook, load_book

    opened = open_run_folder(folder)
    manifest = opened.read_manifest()
    invocation = manifest.get("invocation") or {}
    given = rules_paths or [Path(path) for path in invocation.get("rules_paths", ())]
    paths = [path for path in given if path.is_dir() or rules_paths]

    @cache
    def load(book: str) -> RuleBook:
        return load_book(book, paths, instead=bool(rules_paths))

    with as_schema_has_it(folder):
        answer = replay_run(folder, load)
        if is_qualification(manifest):
            further = list(compare_decision(opened))
        else:
            further = list(compare_conclusions(read_records(opened.journal), answer.judged, load))
    answer = replace(answer, differences=(*answer.differences, *further))
    if as_json:
        click.echo(json.dumps(answer.to_json()))
    else:
        _say(answer.differences)
        count = f"{answer.entries} entries and {answer.pictures} pictures"
        end = "the same" if answer.same else f"{len(answer.differences)} difference(s)"
        click.echo(f"{folder}: {count} derived again: {end}")
    return 0 if answer.same else 1


def _say(differences: Sequence[Difference]) -> None:
    """Write a line for each place that came out otherwise."""
    for (file, line), here in groupby(differences, lambda one: (one.file, one.line)):
        place = file if line is None else f"{file}:{line}"
        told = list(here)
        of = f" ({told[0].result})" if told[0].result else ""
        changes = "; ".join(f"{one.what} {one.recorded!r} -> {one.derived!r}" for one in told)
        click.echo(f"{place}{of}: {changes}")
