"""`sicbo-hil rules`: what the rule books say, and what follows from it."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from harness.rules.books import RuleBook
    from harness.rules.paytable import Paytable
    from harness.rules.settlement import Wager


class _Rules(click.Group):
    """The group, with `check` imported from its own file only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), "check"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name != "check":
            return super().get_command(ctx, cmd_name)
        check = importlib.import_module("harness.cli.rules_check").command
        assert isinstance(check, click.Command)
        return check


@click.group(name="rules", cls=_Rules)
def command() -> None:
    """Tell what a rule book says: winning areas, settlement, returns, clauses, procedure."""


def _common(function: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in (
        click.option("--json", "as_json", is_flag=True, help="Machine-readable output."),
        click.option(
            "--rules-path",
            "paths",
            multiple=True,
            metavar="DIR",
            type=click.Path(path_type=Path),
            help="Folder with further rule books; may be given more than once.",
        ),
    ):
        function = decorate(function)
    return function


def _read_options(
    ctx: click.Context, param: click.Parameter, given: Sequence[str]
) -> dict[str, object]:
    options: dict[str, object] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise click.BadParameter(f"expected NAME=VALUE, found {text!r}", ctx, param)
        if name in options:
            raise click.BadParameter(f"{name} is given twice", ctx, param)
        options[name] = value
    return options


_option = click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_read_options,
    help="Value of one of the book's options; may be given more than once.",
)

_paytable = click.option(
    "--paytable",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help='Odds posted at the table, JSON: {"small": "1", "single-1": ["1", "2", "3"], …}.',
)


def _read_dice(
    ctx: click.Context, param: click.Parameter, given: str | None
) -> tuple[int, int, int] | None:
    if given is None:
        return None
    from harness.rules.areas import check_dice

    faces = [text.strip() for text in given.split(",")]
    return check_dice([int(f) if f.isascii() and f.isdigit() else f for f in faces])


def _read_wagers(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> list[Wager]:
    from harness.rules.paytable import exact_number
    from harness.rules.settlement import Wager

    wagers = []
    mistaken = []
    for text in given:
        area, _, rest = text.partition("=")
        amount, colon, kind = rest.partition(":")
        stake = exact_number(amount)
        if not area or stake is None or (colon and kind != "promo"):
            mistaken.append(text)
        else:
            wagers.append(Wager(area, stake, kind == "promo"))
    if mistaken:
        found = ", ".join(repr(text) for text in mistaken)
        raise click.BadParameter(
            f"expected AREA=STAKE or AREA=STAKE:promo, found {found}", ctx, param
        )
    return wagers


def _book(book_id: str, paths: Sequence[Path], options: dict[str, object]) -> RuleBook:
    """Load a book; say on standard error which options set its source's own text aside."""
    from harness.rules.books import load_book
    from harness.rules.readings import departures

    book = load_book(book_id, paths)
    for reading in departures(book.readings, book.in_force(options)):
        click.echo(
            f"{book.id}: option {reading.option} departs from the text of "
            f"{', '.join(reading.clauses)}: {reading.says}",
            err=True,
        )
    return book


def _posted(file: Path | None, book: RuleBook) -> Paytable | None:
    from harness.rules.paytable import read_paytable

    return None if file is None else read_paytable(file, book)


def _print_json(answer: object) -> None:
    click.echo(json.dumps(answer, ensure_ascii=False))


def _print_table(headings: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> None:
    from rich.markup import escape
    from rich.table import Table

    from harness.cli.console import console

    click.echo(title)
    table = Table()
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    console().print(table)


def _spelt(options: dict[str, Any]) -> str:
    return ", ".join(
        f"{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in options.items()
    )


@command.command(name="list")
@_common
def list_(paths: tuple[Path, ...], as_json: bool) -> None:
    """List the rule books."""
    from harness.rules.books import list_books

    books = list_books(paths)
    if as_json:
        _print_json([_describe(book) for book in books])
        return
    rows = [[b.id, b.title, b.edition, b.usual_rig, _spelt(b.options)] for b in books]
    _print_table(["book", "title", "edition", "usual rig", "options"], rows, "Rule books")


def _describe(book: RuleBook) -> dict[str, object]:
    return {
        "book": book.id,
        "title": book.title,
        "source": book.source,
        "edition": book.edition,
        "current_through": book.current_through and book.current_through.isoformat(),
        "options": book.options,
        "readings": [
            {
                "reading": reading.id,
                "says": reading.says,
                "basis": reading.basis,
                "clauses": list(reading.clauses),
                "option": reading.option,
                "default": reading.default,
                "values": list(reading.values),
            }
            for reading in book.readings
        ],
        "equipment": [
            {"shaker": v.setup.shaker, "cover": v.setup.cover, "rig": v.rig, "clause": v.clause}
            for v in book.equipment
        ],
        "usual_rig": book.usual_rig,
    }


@command.command()
@click.argument("book")
@_option
@_common
def table(book: str, options: dict[str, object], paths: tuple[Path, ...], as_json: bool) -> None:
    """Give the winning areas of all 216 results."""
    rules = _book(book, paths, options)
    in_force = rules.in_force(options)
    results = {",".join(map(str, dice)): won for dice, won in rules.table(in_force).items()}
    if as_json:
        _print_json({"book": rules.id, "options": in_force, "results": results})
        return
    rows = [[dice, " ".join(won)] for dice, won in results.items()]
    _print_table(["dice", "winning areas"], rows, f"{rules.title}; {_spelt(in_force)}")


@command.command()
@click.argument("book")
@click.option("--dice", callback=_read_dice, metavar="1,1,2", help="The result.")
@click.option(
    "--wager",
    "wagers",
    multiple=True,
    required=True,
    callback=_read_wagers,
    metavar="AREA=STAKE[:promo]",
    help="A wager, :promo if it is a promotional token; may be given more than once.",
)
@_paytable
@click.option("--void", is_flag=True, help="The round has no result.")
@_option
@_common
def settle(
    *,
    book: str,
    dice: tuple[int, int, int] | None,
    wagers: list[Wager],
    paytable: Path | None,
    void: bool,
    options: dict[str, object],
    paths: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Settle wagers on a result, exactly."""
    from harness.rules.settlement import settle as settle_wagers

    if dice is None and not void:
        raise click.UsageError("--dice is needed unless the round is --void")
    rules = _book(book, paths, options)
    in_force = rules.in_force(options)
    posted = _posted(paytable, rules)
    settled = settle_wagers(rules, dice, wagers, posted, void, options=in_force)
    answers = [one.to_json() for one in settled]
    if as_json:
        _print_json({"book": rules.id, "options": in_force, "wagers": answers})
        return
    columns = ["area", "stake", "outcome", "odds", "pays", "returned", "clause"]
    rows = [["-" if row[key] is None else str(row[key]) for key in columns] for row in answers]
    _print_table(columns, rows, f"{rules.title}; {_spelt(in_force)}")


@command.command()
@click.argument("book")
@_paytable
@_option
@_common
def returns(
    book: str,
    paytable: Path | None,
    options: dict[str, object],
    paths: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Give the exact return to player of every area."""
    from harness.rules.returns import returns as work_out

    rules = _book(book, paths, options)
    in_force = rules.in_force(options)
    found = work_out(rules, _posted(paytable, rules), in_force)
    if as_json:
        areas = {
            id_: {"wins": area.wins, "return": None if area.value is None else str(area.value)}
            for id_, area in found.items()
        }
        _print_json({"book": rules.id, "options": in_force, "areas": areas})
        return
    rows = [
        [
            id_,
            str(area.wins),
            "as posted" if area.value is None else str(area.value),
            "" if area.value is None else f"{float(area.value):.4%}",
        ]
        for id_, area in found.items()
    ]
    _print_table(["area", "wins of 216", "return", ""], rows, f"{rules.title}; {_spelt(in_force)}")


@command.command()
@click.argument("book", required=False)
@_common
def clauses(book: str | None, paths: tuple[Path, ...], as_json: bool) -> None:
    """Give every clause, how it is tested and by which scenarios, or why it is not."""
    from harness.rules.books import list_books, load_book

    books = list_books(paths) if book is None else [load_book(book, paths)]
    rows = [row for rules in books for row in _matrix(rules)]
    if as_json:
        _print_json(rows)
        return
    _print_table(
        ["tag", "clause", "testable", "scenarios, or why not"],
        [
            [
                row["tag"],
                row["clause"],
                row["testable"],
                row["why_not"] or "\n".join(s["name"] for s in row["scenarios"]) or "none yet",
            ]
            for row in rows
        ],
        "Clauses of " + ", ".join(rules.id for rules in books),
    )
    testable = [row for row in rows if row["testable"] in ("yes", "partial")]
    tested = sum(1 for row in testable if row["scenarios"])
    click.echo(f"{tested} of {len(testable)} testable clauses have a scenario", err=True)


def _matrix(book: RuleBook) -> list[dict[str, Any]]:
    from harness.bdd.catalogue import scenarios_by_tag
    from harness.bdd.features import features_of

    scenarios = scenarios_by_tag(book.id, features_of(book))
    return [
        {
            "book": book.id,
            "tag": clause.tag,
            "clause": clause.clause,
            "says": clause.says,
            "kind": clause.kind,
            "testable": clause.testable,
            "how": clause.how,
            "scenarios": [
                {"feature": scenario.feature, "name": scenario.name}
                for scenario in scenarios.get(clause.tag, [])
            ],
            "why_not": clause.why_not,
        }
        for clause in book.clauses
    ]
