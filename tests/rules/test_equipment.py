"""People and equipment that each book allows, and the clauses that allow them."""

from pathlib import Path

import pytest

from harness.rules.books import list_books, load_book
from harness.rules.timeline import Setup
from harness.verdicts import ConfigurationError

RIGS = Path(__file__).parents[2] / "rigs"
ALLOWED = {
    "ny-5324.51": {("manual", "opaque"), ("automated", "opaque"), ("automated", "none")},
    "nj-13.69f-9.5": {("manual", "opaque"), ("automated", "none")},
    "pa-625a.5": {
        *(("manual", "opaque"), ("automated", "opaque"), ("automated", "none")),
        *(("player-activated", "none"), ("player-activated", "opaque")),
    },
    "cca-1992": {("tumbler", "opaque")},
    "tai-sai": {("puncher", "none")},
}


@pytest.mark.parametrize("book_id", ALLOWED)
def test_each_book_allows_its_equipment_and_no_other(book_id: str):
    book = load_book(book_id)
    assert {(v.setup.shaker, v.setup.cover) for v in book.equipment} == ALLOWED[book_id]
    for shaker in ("manual", "automated", "player-activated", "tumbler", "puncher"):
        for cover in ("opaque", "none"):
            variant = book.variant(Setup(shaker, cover))
            assert (variant is not None) == ((shaker, cover) in ALLOWED[book_id])


@pytest.mark.parametrize("book", list_books(), ids=lambda book: book.id)
def test_every_rig_named_is_an_embedded_one(book):
    named = {variant.rig for variant in book.equipment} | {book.usual_rig}
    assert {name for name in named if not (RIGS / f"{name}.toml").is_file()} == set()


def test_who_acts_in_each_book():
    people = {book.id: {role.id for role in book.roles} for book in list_books()}
    assert people == {
        "ny-5324.51": {"dealer", "floorperson", "player"},
        "nj-13.69f-9.5": {"dealer", "floorperson", "casino-supervisor", "player"},
        "pa-625a.5": {"dealer", "floorperson", "player"},
        "cca-1992": {"dealer", "game-supervisor", "casino-supervisor", "inspector", "player"},
        "tai-sai": {"dealer", "game-supervisor", "player"},
    }
    (supervisor,) = [r for r in load_book("cca-1992").roles if r.id == "casino-supervisor"]
    assert supervisor.includes == ("game-supervisor",)


def test_when_wagers_are_fixed():
    fixed = {book.id: book.settlement.snapshot for book in list_books()}
    assert fixed.pop("cca-1992") == "cover-off"
    assert set(fixed.values()) == {"lamps"}


def test_a_clause_is_found_by_its_tag():
    book = load_book("pa-625a.5")
    assert book.clause("pa.g").clause == "PA (g)"
    with pytest.raises(ConfigurationError, match=r"did you mean 'pa\.b\.1'"):
        book.clause("pa.b1")


def test_editions_are_those_the_sources_state():
    stated = {book.id: str(book.current_through) for book in list_books()}
    assert stated["ny-5324.51"] == "2024-11-02"
    assert stated["nj-13.69f-9.5"] == "2024-10-07"
    assert stated["pa-625a.5"] == stated["cca-1992"] == stated["tai-sai"] == "None"
    assert load_book("ny-5324.51").edition == "Register Vol. 46, No. 45"
