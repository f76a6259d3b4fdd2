"""The clause registers: whole, tagged like the shared list, in words of our own."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from harness.rules.books import RuleBook, list_books

PROJECT = Path(__file__).parents[2]
SHARED = PROJECT.parent / "shared"
SOURCES = {
    "ny-5324.51": "000_aa847f57fa07dd4d.txt",
    "nj-13.69f-9.5": "001_7a3a4b0b395cadd1.txt",
    "pa-625a.5": "002_ec6b7b6e406688f9.txt",
    "cca-1992": "003_1197ac92127cb6da.txt",
    "tai-sai": "004_7ebdf93f3b0503e4.txt",
}
PREFIXES = {
    "ny-5324.51": "ny.",
    "nj-13.69f-9.5": "nj.",
    "pa-625a.5": "pa.",
    "cca-1992": "cca.",
    "tai-sai": "ts.",
}
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared folder is not here")


@pytest.fixture(params=list_books(), ids=lambda book: book.id)
def book(request: pytest.FixtureRequest) -> RuleBook:
    assert isinstance(request.param, RuleBook)
    return request.param


def test_the_registers_hold_191_clauses_of_which_146_can_be_tested():
    clauses = [clause for book in list_books() for clause in book.clauses]
    assert len({clause.tag for clause in clauses}) == len(clauses) == 191
    assert Counter(clause.testable for clause in clauses) == {
        "yes": 105,
        "partial": 41,
        "no": 32,
        "n/a": 13,
    }


def test_every_tag_has_its_books_prefix(book: RuleBook):
    assert all(clause.tag.startswith(PREFIXES[book.id]) for clause in book.clauses)


def test_what_is_not_tested_says_why_and_what_is_says_how(book: RuleBook):
    for clause in book.clauses:
        tested = clause.testable in ("yes", "partial")
        assert (clause.how is not None) == tested
        assert (clause.why_not is not None) == (not tested)
        if clause.testable == "partial" and clause.how:
            assert "operator" in clause.how, f"{clause.tag} is partial, but nobody is asked"


def test_every_row_of_odds_is_a_testable_payout_clause(book: RuleBook):
    rows = {row.clause for row in book.odds.values()}
    assert all(book.clause(tag).testable in ("yes", "partial") for tag in rows)
    listed = {c.tag for c in book.clauses if re.search(r"\.row-\d+$|^ts\.payoff\.", c.tag)}
    assert listed <= rows, "a row of the printed odds that no wager is paid by"


@needs_shared
def test_the_register_is_the_shared_list(book: RuleBook):
    """Fails for a clause left out, added, renumbered or judged otherwise."""
    with (SHARED / "rules" / "clauses.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    expected = [
        (row["tag"], row["clause"], row["kind"], row["rig_testable"])
        for row in rows
        if row["seed_file"] == SOURCES[book.id]
    ]
    assert [(c.tag, c.clause, c.kind, c.testable) for c in book.clauses] == expected


@needs_shared
def test_no_sentence_of_the_source_is_copied(book: RuleBook):
    """Fails where seven words in a row of a book, its citation apart, stand so in its source."""
    source = words((SHARED / "seeds" / SOURCES[book.id]).read_text(encoding="utf-8"))
    runs = {tuple(source[i : i + 7]) for i in range(len(source) - 6)}
    for file in book.folder.glob("*.toml"):
        texts = re.findall(r'"([^"\n]*)"', file.read_text(encoding="utf-8"))
        for text in texts:
            if text == book.source:
                continue
            written = words(text)
            for i in range(len(written) - 6):
                assert tuple(written[i : i + 7]) not in runs, f"{file.name}: {text}"


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())
