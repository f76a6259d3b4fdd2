"""Procedures as data: what is written is what is read, and every mistake is refused at once."""

import copy
import dataclasses
import shutil
import tomllib
from pathlib import Path

import pytest

from harness.rules.books import EMBEDDED, list_books
from harness.rules.procedure import load_procedure, procedure_of
from harness.verdicts import InvalidFileError

GOOD: dict[str, object] = {
    "shakers": ["manual"],
    "acts": {"tapped": {"event": ["tap"], "by": ["dealer"]}},
    "states": {"covered": {"on": ["cover-on"], "off": ["cover-off"], "lasts": "table"}},
    "rule": [
        {
            "id": "call-first",
            "clause": "x.1",
            "kind": "before",
            "says": "the call comes first",
            "first": ["no-more-bets"],
            "then": ["shake"],
        },
        {
            "id": "three",
            "clause": "x.2",
            "kind": "at-least",
            "says": "three shakes",
            "acts": ["shake"],
            "count": 3,
            "due": ["announced"],
            "while": ["covered"],
            "when": [{"shaker": ["manual"], "options": {"strict": True}}],
        },
    ],
}


def altered(**changes: object) -> dict[str, object]:
    """Give the good procedure with its first rule changed; None takes a key out."""
    data = copy.deepcopy(GOOD)
    rules = data["rule"]
    assert isinstance(rules, list)
    for key, value in changes.items():
        if value is None:
            del rules[0][key]
        else:
            rules[0][key] = value
    return data


def mistakes(data: dict[str, object], clauses: set[str] | None = None) -> list[str]:
    with pytest.raises(InvalidFileError) as caught:
        load_procedure(data, clauses)
    return [problem.where for problem in caught.value.problems]


def test_a_procedure_is_read_from_a_mapping():
    """Fails if a field is dropped on the way."""
    procedure = load_procedure(GOOD, {"x.1", "x.2"})
    first, second = procedure.rules
    assert [(rule.id, rule.kind, rule.says) for rule in procedure.rules] == [
        ("call-first", "before", "the call comes first"),
        ("three", "at-least", "three shakes"),
    ]
    assert (first.first, first.then, first.clause) == (("no-more-bets",), ("shake",), "x.1")
    assert (second.count, second.due, second.while_) == (3, ("announced",), ("covered",))
    (condition,) = second.when
    assert (condition.shaker, condition.options) == (("manual",), {"strict": True})
    assert procedure.acts["tapped"].matches("tap", {"by": "dealer"})
    assert not procedure.acts["tapped"].matches("tap", {"by": "player"})


@pytest.mark.parametrize("book", list_books(), ids=lambda book: book.id)
def test_every_embedded_book_has_a_procedure_that_cites_its_own_clauses(book):
    """Fails if a book is shipped without one, or a rule stands under an untestable clause."""
    procedure = procedure_of(book)
    assert procedure_of(book) is procedure
    cited = {rule.clause for rule in procedure.rules}
    cited |= {item.clause for item in procedure.inspections}
    cited |= {item.clause for item in procedure.irregularities if item.clause}
    cited |= {item.clause for item in (*procedure.rulings, *procedure.stops)}
    testable = {clause.tag for clause in book.clauses if clause.testable in ("yes", "partial")}
    assert cited <= testable


@pytest.mark.parametrize("book", list_books(), ids=lambda book: book.id)
def test_every_rule_of_a_book_binds_some_equipment_it_allows(book):
    """Fails if a condition of equipment or options is mistyped, so that a rule never holds."""
    choices = [dict(book.options)]
    for reading in book.readings:
        if reading.option:
            choices += [{**book.options, reading.option: value} for value in reading.values]
    for item in (*procedure_of(book).rules, *procedure_of(book).inspections):
        assert not item.when or any(
            condition.holds(variant.setup, options)
            for condition in item.when
            for variant in book.equipment
            for options in choices
        ), item.id


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (altered(kind="must-not"), "rule[0].kind (call-first)"),
        (altered(first=None), "rule[0].first (call-first)"),
        (altered(then=[]), "rule[0].then (call-first)"),
        (altered(then=["shaek"]), "rule[0].then (call-first)"),
        (altered(clause=None), "rule[0].clause (call-first)"),
        (altered(says=""), "rule[0].says (call-first)"),
        (altered(id="three"), "rule[1].id (three)"),
        (altered(count=3), "rule[0].count (call-first)"),
        (altered(always=True), "rule[0].always (call-first)"),
        (altered(acts=["shake"]), "rule[0].acts (call-first)"),
        (altered(untill=["shake"]), "rule[0].untill (call-first)"),
        (altered(unless=["nothing"]), "rule[0].unless (call-first)"),
        (altered(**{"while": ["dark"]}), "rule[0].while (call-first)"),
        (altered(when=[{"shaker": ["cup"]}]), "rule[0].when (call-first)[0].shaker"),
        ({**GOOD, "shakers": ["cup"]}, "shakers"),
        ({**GOOD, "shakers": []}, "shakers"),
        ({**GOOD, "rule": []}, "rule"),
        ({**GOOD, "rules": []}, "rules"),
        ({**GOOD, "acts": {"shake": {"event": ["shake"]}}}, "acts.shake"),
        ({**GOOD, "acts": {"x": {"event": ["shaek"]}}}, "acts.x.event"),
        ({**GOOD, "acts": {"x": {"event": ["tap"], "by": ["me"]}}}, "acts.x.by"),
        ({**GOOD, "stop": [{"id": "s"}]}, "stop[0].says (s)"),
    ],
)
def test_a_mistake_is_refused_at_its_key(data: dict[str, object], where: str):
    """Fails if an unknown word or key, or a missing one, is read as if it meant nothing."""
    assert where in mistakes(data)


def test_a_clause_that_the_register_has_not_is_refused():
    """Fails if a breach could be reported under a tag that does not exist."""
    assert mistakes(GOOD, {"x.1"}) == ["rule[1].clause (three)"]


def test_every_mistake_is_told_at_once(tmp_path: Path):
    """Fails if reading stops at the first mistake, or the file is not named."""
    assert len(mistakes(altered(kind="x", says="", then=["y"], more=1))) >= 3
    text = (EMBEDDED / "ny-5324.51" / "procedure.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)
    file = tmp_path / "procedure.toml"
    file.write_text(text.replace('"hand-motion"', '"hand-movement"'), encoding="utf-8")
    with pytest.raises(InvalidFileError, match="did you mean 'hand-motion'") as caught:
        load_procedure(file)
    assert caught.value.subject == str(file)
    assert len(caught.value.problems) >= 3


def test_a_books_procedure_may_cite_its_own_clauses_only(tmp_path):
    """Fails if a rule under a clause that the book does not have is taken."""
    book = list_books()[0]
    shutil.copy(book.folder / "procedure.toml", tmp_path)
    fewer = dataclasses.replace(book, folder=tmp_path, clauses=book.clauses[:1])
    with pytest.raises(InvalidFileError, match="clause"):
        procedure_of(fewer)
