"""Options of a book: defaults, values given as words or typed, and departures from the text."""

import pytest

from harness.rules.books import list_books, load_book
from harness.rules.readings import OPTION_VALUES, departures
from harness.verdicts import ConfigurationError

BOOKS = [book.id for book in list_books()]


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (True, True),
        (False, False),
        ("true", True),
        ("false", False),
        ("TRUE", True),
        ("no", False),
        ("yes", True),
        ("on", True),
        ("off", False),
    ],
)
def test_a_truth_may_be_typed_or_a_word(given: object, value: bool):
    book = load_book("ny-5324.51")
    assert book.in_force({"double-wins-on-triple": given})["double-wins-on-triple"] is value


@pytest.mark.parametrize("given", [1, 0, None, "1", "", "wins", ["true"]])
def test_anything_else_is_no_truth(given: object):
    with pytest.raises(ConfigurationError, match="one of true, false"):
        load_book("ny-5324.51").in_force({"double-wins-on-triple": given})


def test_words_are_taken_as_they_stand():
    book = load_book("cca-1992")
    assert book.in_force({"commit": "entry-key"})["commit"] == "entry-key"
    for wrong in (True, "yes", "Entry-key"):
        with pytest.raises(ConfigurationError, match="one of third-key, entry-key"):
            book.in_force({"commit": wrong})


@pytest.mark.parametrize("book_id", BOOKS)
def test_what_is_not_given_has_its_default(book_id: str):
    book = load_book(book_id)
    turned = book.in_force({"pair-counts-once": False})
    assert turned == book.options | {"pair-counts-once": False}
    assert book.in_force() == book.in_force({}) == book.options


@pytest.mark.parametrize("book_id", BOOKS)
def test_every_option_is_known_and_its_values_are_among_those_there_are(book_id: str):
    for reading in load_book(book_id).readings:
        if reading.option is not None:
            assert set(reading.values) <= set(OPTION_VALUES[reading.option])
            assert reading.default in reading.values


def test_which_books_have_which_options():
    """Fails if an option is offered where its question does not arise, or is missing."""
    has = {book.id: set(book.options) for book in list_books()}
    everywhere = {
        *("double-wins-on-triple", "pair-counts-once", "inspection-profile"),
        *("leaning-die", "commit", "clear"),
    }
    assert set.intersection(*has.values()) == everywhere
    assert has["ny-5324.51"] - everywhere == {"automated-without-cover"}
    assert has["cca-1992"] - everywhere == {"tumble-event"}
    assert has["tai-sai"] - everywhere == {"void-refunds"}
    assert has["nj-13.69f-9.5"] == has["pa-625a.5"] == everywhere


def test_turning_the_text_is_a_departure_turning_a_reading_is_not():
    def departed(book_id: str, **options: object) -> list[str]:
        book = load_book(book_id)
        given = {name.replace("_", "-"): value for name, value in options.items()}
        return [r.id for r in departures(book.readings, book.in_force(given))]

    assert departed("cca-1992") == []
    assert departed("cca-1992", double_wins_on_triple=False) == ["A1"]
    assert departed("cca-1992", pair_counts_once=False) == []
    assert departed("ny-5324.51", double_wins_on_triple=False) == []
    assert departed("ny-5324.51", clear="unspecified") == ["A22-clear"]
