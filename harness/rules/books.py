"""Rule books: one jurisdiction's rules as data, read whole or refused whole.

A book is a folder named by its id with `book.toml` (layout, odds, readings, people, equipment),
`clauses.toml` (the clause register) and `procedure.toml` (constraints over events; a book without
it can settle wagers and watch no dealing). Embedded books lie in `books/` beside this file;
`--rules-path` folders hold further ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from harness.observations import Dice
from harness.rules.areas import ALL_RESULTS, Area, Options, OptionValue, check_dice
from harness.rules.clauses import Clause, read_clauses
from harness.rules.equipment import Role, Variant, read_roles, read_variants
from harness.rules.layout import read_areas
from harness.rules.odds import Odds, read_odds
from harness.rules.procedure import load_procedure
from harness.rules.readings import Reading, read_readings, resolve_options
from harness.rules.strict_toml import Table, read_toml, suggestion
from harness.rules.timeline import Setup
from harness.verdicts import ConfigurationError, InvalidFileError, Problem

Snapshot = Literal["lamps", "cover-off"]
"""When wagers are fixed: as the lamps light, or as the cover comes off."""

EMBEDDED = Path(__file__).with_name("books")


class InvalidBookError(InvalidFileError):
    """A rule book with mistakes; each problem's `where` begins with its file's name."""

    def __str__(self) -> str:
        return "\n".join(f"{self.subject}/{problem}" for problem in self.problems)


@dataclass(frozen=True, slots=True)
class SettlementRules:
    """What a source says of wagers beyond the odds; a clause is None where it says nothing.

    `snapshot` is the moment whose chip positions are settled. `promotional_clause` governs tokens
    (`promotional_returned`: is a winning token handed back; None: not stated), `void_clause` is the
    one that makes wagers void.
    """

    snapshot: Snapshot
    promotional_clause: str | None
    promotional_returned: bool | None
    void_clause: str | None


@dataclass(frozen=True, slots=True)
class RuleBook:
    """One jurisdiction's rules. Mappings are read-only; `areas` and `odds` keep the file's order.

    `edition` and `current_through` are the source's own statement (None where it makes none),
    `usual_rig` names the emulated rig with the usual equipment, `folder` is where the book lies.
    """

    id: str
    title: str
    source: str
    edition: str
    current_through: date | None
    usual_rig: str
    areas: Mapping[str, Area]
    odds: Mapping[tuple[str, int], Odds]
    settlement: SettlementRules
    readings: tuple[Reading, ...]
    roles: tuple[Role, ...]
    equipment: tuple[Variant, ...]
    clauses: tuple[Clause, ...]
    folder: Path

    @property
    def options(self) -> dict[str, OptionValue]:
        """Give the book's options with their defaults."""
        return resolve_options(self.id, self.readings, None)

    def in_force(self, given: Mapping[str, object] | None = None) -> dict[str, OptionValue]:
        """Give every option's value, defaults overridden by `given` (see `resolve_options`)."""
        return resolve_options(self.id, self.readings, given)

    def winning_areas(self, dice: Dice, options: Options | None = None) -> frozenset[str]:
        """Give the areas that win on these dice.

        Raises ConfigurationError for dice that are not three faces, or options that are not the
        book's.
        """
        in_force = self.in_force(options)
        result = check_dice(dice)
        return frozenset(id_ for id_, area in self.areas.items() if area.wins(result, in_force))

    def table(self, options: Options | None = None) -> dict[Dice, tuple[str, ...]]:
        """Give the winning areas of all 216 results, each sorted by code point."""
        in_force = self.in_force(options)
        areas = sorted(self.areas.items())
        return {
            dice: tuple(id_ for id_, area in areas if area.wins(dice, in_force))
            for dice in ALL_RESULTS
        }

    def variant(self, setup: Setup) -> Variant | None:
        """Give the equipment variant, or None where the book does not allow it."""
        return next((v for v in self.equipment if v.setup == setup), None)

    def clause(self, tag: str) -> Clause:
        """Give the clause of a tag; raises ConfigurationError for a tag the book has not."""
        for clause in self.clauses:
            if clause.tag == tag:
                return clause
        raise ConfigurationError(
            f"rule book {self.id}",
            expected="a tag of its clause register",
            found=repr(tag),
            remedy=suggestion(tag, [clause.tag for clause in self.clauses]),
        )


def load_book(book_id: str, paths: Sequence[Path] = (), *, instead: bool = False) -> RuleBook:
    """Load one book by its id, from the embedded books and the folders in `paths`.

    instead: a book in `paths` stands in place of the embedded one of its id.
    Raises ConfigurationError when there is none or more than one of that id, InvalidBookError with
    every mistake when it is wrong.
    """
    folders = _folders((EMBEDDED,) if instead else (EMBEDDED, *paths))
    if instead:
        folders |= _folders(paths)
    if book_id not in folders:
        raise ConfigurationError(
            f"rule book {book_id!r}",
            expected="the id of a rule book",
            found="no book of that id in " + ", ".join(str(p) for p in (EMBEDDED, *paths)),
            remedy=suggestion(book_id, sorted(folders)),
        )
    return _read_book(folders[book_id])


def list_books(paths: Sequence[Path] = ()) -> list[RuleBook]:
    """Load every book, embedded ones first, each group sorted by id; raises as `load_book`."""
    return [_read_book(folder) for folder in _folders((EMBEDDED, *paths)).values()]


def _folders(paths: Sequence[Path]) -> dict[str, Path]:
    folders: dict[str, Path] = {}
    for path in paths:
        if not path.is_dir():
            raise ConfigurationError(
                str(path),
                expected="a folder of rule books",
                found="a file" if path.exists() else "nothing there",
                remedy="name the folder that holds the books' folders",
            )
        if (path / "book.toml").is_file():
            raise ConfigurationError(
                str(path),
                expected="a folder that holds rule books, each a folder of its own",
                found="a rule book",
                remedy=f"name {path.resolve().parent}",
            )
        for folder in sorted(path.iterdir()):
            if not any((folder / name).is_file() for name in ("book.toml", "clauses.toml")):
                continue
            known = folders.setdefault(folder.name, folder)
            if known.resolve() != folder.resolve():
                raise ConfigurationError(
                    f"rule book {folder.name}",
                    expected="one book of this id",
                    found=f"{known} and {folder}",
                    remedy="rename one folder and its id",
                )
    return folders


@lru_cache(maxsize=64)
def _read_book(folder: Path) -> RuleBook:
    problems: list[Problem] = []
    clauses: tuple[Clause, ...] = ()
    tags: set[str] | None = None
    register = read_toml(folder / "clauses.toml", problems)
    if register is not None:
        clauses, tags = read_clauses(register)
    mistakes = [_in_file("clauses.toml", problem) for problem in problems]

    problems = []
    book: RuleBook | None = None
    top = read_toml(folder / "book.toml", problems)
    if top is not None:
        book = _assemble(top, folder, clauses, tags)
    mistakes = [_in_file("book.toml", problem) for problem in problems] + mistakes
    mistakes += _procedure_mistakes(folder, tags)
    if mistakes or book is None:
        raise InvalidBookError(str(folder), mistakes)
    return book


def _procedure_mistakes(folder: Path, tags: set[str] | None) -> list[Problem]:
    """Read the procedure with the rest, so that a book is refused whole; it may be left out."""
    file = folder / "procedure.toml"
    if not file.is_file():
        return []
    try:
        load_procedure(file, tags)
    except InvalidFileError as error:
        return [_in_file(file.name, problem) for problem in error.problems]
    return []


def _in_file(name: str, problem: Problem) -> Problem:
    return Problem(f"{name}: {problem.where}", problem.expected, problem.found, problem.remedy)


def _assemble(
    top: Table, folder: Path, clauses: tuple[Clause, ...], tags: set[str] | None
) -> RuleBook | None:
    id_ = top.text("id")
    if id_ is not None and id_ != folder.name:
        top.refuse("id", f"the folder's name, {folder.name!r}", repr(id_), "rename one of them")
    title = top.text("title")
    source = top.text("source")
    edition = top.text("edition")
    current_through = top.day("current_through") if top.has("current_through") else None
    usual_rig = top.text("usual_rig")
    areas, named = read_areas(top)
    odds = read_odds(top, areas, named)
    settlement = _read_settlement(top)
    readings = read_readings(top)
    roles = read_roles(top)
    equipment = read_variants(top)
    top.close()
    if tags is not None:
        _refuse_unknown_tags(
            top,
            tags,
            [
                *((f"areas ({area.id})", area.clause) for area in areas.values()),
                *((f"areas ({area.id})", area.losing_clause) for area in areas.values()),
                *((f"odds ({area})", row.clause) for (area, _), row in odds.items()),
                *((f"roles ({role.id})", role.clause) for role in roles),
                *((f"equipment ({v.setup.shaker})", v.clause) for v in equipment),
                *((f"readings ({r.id})", tag) for r in readings for tag in r.clauses),
                *(
                    ("settlement", tag)
                    for tag in (
                        settlement.promotional_clause,
                        settlement.void_clause,
                    )
                    if tag is not None
                ),
            ],
        )
    if not (id_ and title and source and edition and usual_rig):
        return None
    return RuleBook(
        id=id_,
        title=title,
        source=source,
        edition=edition,
        current_through=current_through,
        usual_rig=usual_rig,
        areas=MappingProxyType(areas),
        odds=MappingProxyType(odds),
        settlement=settlement,
        readings=readings,
        roles=roles,
        equipment=equipment,
        clauses=clauses,
        folder=folder,
    )


def _read_settlement(top: Table) -> SettlementRules:
    table = top.table("settlement")
    if table is None:
        return SettlementRules("lamps", None, None, None)

    def tag(key: str) -> str | None:
        return table.text(key) if table.has(key) else None

    snapshot: Snapshot | None = table.choice("snapshot", get_args(Snapshot))
    returned = table.flag("promotional_returned") if table.has("promotional_returned") else None
    rules = SettlementRules(
        snapshot or "lamps",
        tag("promotional_clause"),
        returned,
        tag("void_clause"),
    )
    table.close()
    return rules


def _refuse_unknown_tags(top: Table, known: set[str], cited: Iterable[tuple[str, str]]) -> None:
    for where, tag in dict.fromkeys(cited):
        if tag not in known:
            top.refuse(
                where,
                "a tag of clauses.toml",
                repr(tag),
                suggestion(tag, sorted(known)),
            )
