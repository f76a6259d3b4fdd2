"""Every clause that a rig can test is broken once, and a scenario that carries its tag must fail.

`breaks.tsv` holds a break for each: a fault of the emulated table, another answer of the operator,
or other odds posted at the table. The rules and the oracle are never touched.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.bdd.catalogue import scenarios_by_tag
from harness.rules.books import RuleBook, list_books
from tests.bdd.breaking import Done

PROJECT = Path(__file__).parents[2]
SIDE_BY_SIDE = 2
"""Benches at once; each mostly waits for its table."""
LIMIT_S = 900.0
FAILURES = {"DUT_FAIL", "PROCEDURE_FAIL"}


class Break(NamedTuple):
    """A row of `breaks.tsv`: the scenario that must fail, how the clause is broken, the verdict."""

    clause: str
    rig: str
    scenario: str
    how: str
    verdict: str


def rows() -> list[Break]:
    """Read the table of breaks."""
    with Path(__file__).with_name("breaks.tsv").open(encoding="utf-8", newline="") as file:
        table = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(table)
        return [Break(*row) for row in table]


BREAKS = rows()
DOUBTS = [
    one._replace(how=one.how.replace("answer=no", "answer=cannot tell"), verdict="PENDING")
    for one in BREAKS
    if one.clause in ("ny.a.3", "cca.2.8", "ts.intro")
]
"""Where the operator cannot tell, nothing is found and nothing is passed."""

BOOK_OF = {clause.tag: book for book in list_books() for clause in book.clauses}


def named(one: Break) -> str:
    """Name a break among those of its bench."""
    return f"{one.clause} {one.verdict}"


def clauses_to_test() -> set[str]:
    """Give the clauses that a rig can test, wholly or in part."""
    return {
        clause.tag
        for book in list_books()
        for clause in book.clauses
        if clause.testable in ("yes", "partial")
    }


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Done]:
    """Run every break, those of one book on one rig on one bench; by book and rig."""
    folders: dict[tuple[str, str], Path] = {}
    for book, rig in dict.fromkeys((BOOK_OF[one.clause].id, one.rig) for one in BREAKS):
        folder = folders[book, rig] = tmp_path_factory.mktemp(f"{book}-{rig}")
        mine = [one for one in BREAKS if (BOOK_OF[one.clause].id, one.rig) == (book, rig)]
        unsure = [one for one in DOUBTS if (BOOK_OF[one.clause].id, one.rig) == (book, rig)]
        work = [
            {"name": named(one), "scenario": one.scenario, "break": one.how}
            for one in (*unsure, *mine)
        ]
        (folder / "work.json").write_text(
            json.dumps({"book": book, "rig": rig, "breaks": work}), encoding="utf-8"
        )
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        list(pool.map(run, shared_out([*folders.values()])))
    return {
        key: json.loads((folder / "done.json").read_text(encoding="utf-8"))
        for key, folder in folders.items()
    }


def shared_out(folders: list[Path]) -> Iterator[list[Path]]:
    """Share the folders out to processes, about as many breaks each."""
    shares: list[list[Path]] = [[] for _ in range(SIDE_BY_SIDE)]
    size = {folder: (folder / "work.json").stat().st_size for folder in folders}
    for folder in sorted(folders, key=lambda one: -size[one]):
        min(shares, key=lambda share: sum(size[one] for one in share)).append(folder)
    yield from shares


def run(folders: list[Path]) -> None:
    """Run the breaks of some folders in a process of its own."""
    ended = subprocess.run(
        [sys.executable, "-m", "tests.bdd.breaking", *map(str, folders)],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]


def test_every_testable_clause_has_a_break(capsys: pytest.CaptureFixture[str]) -> None:
    """Fails if a clause that can be tested has no break, or a break names a clause that cannot."""
    broken = [one.clause for one in BREAKS]
    with capsys.disabled():
        print(f"\n{len(set(broken))} of {len(clauses_to_test())} clauses have a break")
    assert sorted(broken) == sorted(clauses_to_test())
    assert {one.verdict for one in BREAKS} <= FAILURES


@pytest.mark.parametrize("book", list_books(), ids=lambda book: book.id)
def test_the_scenario_of_a_break_carries_its_clause(book: RuleBook) -> None:
    """Fails if the scenario that a break makes fail is about other clauses.

    The names of outlines have their values filled in, so a name is compared by its fixed words.
    """
    carriers = scenarios_by_tag(book.id)
    for one in BREAKS:
        if BOOK_OF[one.clause] is book:
            names = [scenario.name for scenario in carriers[one.clause]]
            assert any(fits(name, one.scenario) for name in names), (one, names)


def fits(outline: str, name: str) -> bool:
    """Tell whether a name can be an outline's with its values filled in."""
    at = 0
    for number, part in enumerate(outline.replace(">", "<").split("<")[::2]):
        found = name.find(part, at)
        if found < 0 or (number == 0 and found != 0):
            return False
        at = found + len(part)
    return True


@pytest.mark.parametrize("one", [*BREAKS, *DOUBTS], ids=named)
def test_a_broken_clause_is_noticed(one: Break, outcomes: dict[tuple[str, str], Done]) -> None:
    """Fails if the scenario fails unbroken, or does not fail, as it must, once broken."""
    done = outcomes[BOOK_OF[one.clause].id, one.rig]
    assert not done["refused"]
    assert done["sound"][one.scenario][0] == "PASS", done["sound"][one.scenario]
    assert done["broken"][named(one)][0] == one.verdict, done["broken"][named(one)]
