"""`sicbo-hil plan`: the smallest sets of results that test a layout."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from harness.diagnosis.plan import Plan


@click.group(name="plan")
def command() -> None:
    """Plan the smallest sets of results that test a layout, proved minimal."""


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in (
        click.option("--json", "as_json", is_flag=True, help="Machine-readable output."),
        click.option(
            "--rules-path",
            "paths",
            multiple=True,
            type=click.Path(path_type=Path),
            help="Folder with further rule books.",
        ),
        click.argument("book", default="ny-5324.51"),
    ):
        function = decorate(function)
    return function


@command.command()
@_options
def cover(book: str, paths: tuple[Path, ...], as_json: bool) -> None:
    """Give the fewest results that light every area."""
    from harness.diagnosis.plan import plan_cover
    from harness.rules.books import load_book

    _show(plan_cover(load_book(book, paths)), as_json)


@command.command()
@_options
def distinguish(book: str, paths: tuple[Path, ...], as_json: bool) -> None:
    """Give the fewest results that also tell every two areas apart."""
    from harness.diagnosis.plan import plan_distinguish
    from harness.rules.books import load_book

    _show(plan_distinguish(load_book(book, paths)), as_json)


def _show(plan: Plan, as_json: bool) -> None:
    results = [",".join(map(str, dice)) for dice in plan.results]
    if as_json:
        click.echo(
            json.dumps(
                {
                    "results": results,
                    "size": len(results),
                    "proved_minimal": plan.proved_minimal,
                    "impossible": list(plan.impossible),
                }
            )
        )
        return
    proof = "proved minimal" if plan.proved_minimal else "not proved minimal"
    click.echo(f"{len(results)} results, {proof}:")
    click.echo("  " + "  ".join(results))
    for demand in plan.impossible:
        click.echo(f"no result can {demand}", err=True)
