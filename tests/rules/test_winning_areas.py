"""Winning areas of every book, against definitions written apart."""

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.rules.books import RuleBook, list_books, load_book
from harness.verdicts import ConfigurationError
from tests.rules.definitions import COMMON, RESULTS, wins

BOOKS = ["cca-1992", "nj-13.69f-9.5", "ny-5324.51", "pa-625a.5", "tai-sai"]
faces = st.integers(1, 6)
results = st.tuples(faces, faces, faces)


@pytest.fixture(params=BOOKS)
def book(request: pytest.FixtureRequest) -> RuleBook:
    return load_book(request.param)


def test_the_five_books_are_embedded():
    assert [book.id for book in list_books()] == BOOKS


def test_every_book_has_the_fifty_areas(book: RuleBook):
    assert sorted(book.areas) == sorted(COMMON)


@pytest.mark.parametrize("double_on_triple", [True, False])
def test_all_216_results_win_as_defined(book: RuleBook, double_on_triple: bool):
    """Fails for any area lit or dark against its definition, on any ordered result."""
    table = book.table({"double-wins-on-triple": double_on_triple})
    assert list(table) == RESULTS
    for dice, lit in table.items():
        assert list(lit) == sorted(a for a in COMMON if wins(a, dice, double_on_triple)), dice


def test_counts_of_winning_results(book: RuleBook):
    """Fails when an area wins on more or fewer results than counted by hand."""
    counted = Counter(area for lit in book.table().values() for area in lit)
    expected = {"small": 105, "big": 105, "any-triple": 6}
    expected |= {f"triple-{n}": 1 for n in range(1, 7)}
    expected |= {f"double-{n}": 16 for n in range(1, 7)}
    expected |= {f"single-{n}": 91 for n in range(1, 7)}
    expected |= {a: 30 for a in COMMON if a.startswith("pair-")}
    by_total = [3, 6, 10, 15, 21, 25, 27, 27, 25, 21, 15, 10, 6, 3]
    expected |= {f"total-{n}": by_total[n - 4] for n in range(4, 18)}
    assert counted == expected


def test_doubles_lose_on_triples_when_the_reading_is_turned(book: RuleBook):
    counted = Counter(
        area for lit in book.table({"double-wins-on-triple": "false"}).values() for area in lit
    )
    assert {counted[f"double-{n}"] for n in range(1, 7)} == {15}


@given(dice=results)
def test_order_of_the_dice_never_matters(dice: tuple[int, int, int]):
    for id_ in BOOKS:
        book = load_book(id_)
        assert {book.winning_areas(order) for order in permutations(dice)} == {
            book.winning_areas(dice)
        }


def test_one_result_agrees_with_the_table(book: RuleBook):
    for dice, lit in book.table().items():
        assert tuple(sorted(book.winning_areas(dice))) == lit


@pytest.mark.parametrize("dice", [(0, 1, 1), (1, 1, 7), (1, 1), (1, 1, 1, 1), (True, 1, 1), ()])
def test_what_is_no_result_is_refused(dice: tuple[int, ...]):
    with pytest.raises(ConfigurationError, match="three face values"):
        load_book("ny-5324.51").winning_areas(dice)


def test_unknown_option_and_value_are_refused(book: RuleBook):
    with pytest.raises(ConfigurationError, match="did you mean 'double-wins-on-triple'"):
        book.table({"double-wins-on-triples": True})
    with pytest.raises(ConfigurationError, match="one of true, false"):
        book.table({"double-wins-on-triple": "perhaps"})


def test_only_one_book_states_double_on_triple_as_text():
    stated = [
        book.id
        for book in list_books()
        for reading in book.readings
        if reading.option == "double-wins-on-triple" and reading.basis == "text"
    ]
    assert stated == ["cca-1992"]


def test_win_rules_of_books_that_define_no_wagers_are_readings(book: RuleBook):
    reading = book.id in ("nj-13.69f-9.5", "pa-625a.5")
    assert {area.basis for area in book.areas.values()} == {"reading" if reading else "text"}


def test_unknown_book_names_the_nearest():
    with pytest.raises(ConfigurationError, match=r"did you mean .ny-5324\.51."):
        load_book("ny-5324.15")
