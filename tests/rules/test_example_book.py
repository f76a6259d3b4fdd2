"""A 106-area layout as data: its new kinds of areas win as defined, by brute force."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest

from harness.rules.areas import ExactSet, OddEven, Options, Pair, ThreeOfFour
from harness.rules.books import RuleBook, list_books, load_book
from harness.rules.monitor import Monitor
from harness.rules.returns import returns
from harness.rules.settlement import Wager, settle
from harness.rules.timeline import Event, Setup
from tests.rules.definitions import COMMON, RESULTS, wins

BOOKS = Path(__file__).parents[2] / "fixtures" / "books"
NONE: Options = {}


@pytest.fixture
def book() -> RuleBook:
    return load_book("example-106", [BOOKS])


def test_the_layout_has_106_areas_of_every_kind(book: RuleBook):
    expected = {*COMMON, "odd", "even"}
    expected |= {"set-" + "-".join(map(str, sorted((a, a, b)))) for a, b in ordered_pairs()}
    expected |= {"set-" + "-".join(map(str, three)) for three in combinations(range(1, 7), 3)}
    expected |= {"four-1-2-3-4", "four-2-3-4-5", "four-2-3-5-6", "four-3-4-5-6"}
    assert set(book.areas) == expected
    assert len(expected) == 106


def ordered_pairs() -> list[tuple[int, int]]:
    return [(a, b) for a in range(1, 7) for b in range(1, 7) if a != b]


def test_all_216_results_win_as_defined(book: RuleBook):
    for dice, lit in book.table().items():
        assert set(lit) == {area for area in book.areas if wins(area, dice)}, dice


def test_counts_of_winning_results(book: RuleBook):
    counted = Counter(area for lit in book.table().values() for area in lit)
    assert counted["odd"] == counted["even"] == 105
    assert counted["set-1-1-2"] == 3
    assert counted["set-1-2-3"] == 6
    assert counted["four-2-3-5-6"] == 24


def test_settlement_and_returns_follow_the_data(book: RuleBook):
    stakes = [Wager("set-1-1-2", Fraction(3)), Wager("four-1-2-3-4", Fraction(1))]
    won, lost = settle(book, (2, 1, 1), stakes)
    assert (won.outcome, won.pays, won.clause) == ("win", 150, "ex.set-of-two")
    assert (lost.outcome, lost.clause) == ("lose", "ex.three-of-four")
    found = returns(book)
    assert found["set-1-1-2"].value == Fraction(17, 24)
    assert found["four-1-2-3-4"].value == Fraction(8, 9)
    assert found["odd"].value == Fraction(35, 36)
    assert found["single-1"].value == Fraction(2 * 75 + 3 * 15, 216) + Fraction(9, 432)


def test_it_is_listed_after_the_embedded_books():
    assert [book.id for book in list_books([BOOKS])][-1] == "example-106"
    assert len(list_books([BOOKS])) == 6


@pytest.mark.parametrize("dice", RESULTS)
def test_odd_and_even_may_win_on_triples(dice: tuple[int, int, int]):
    """Fails if the triple rule of odd and even cannot be turned by data."""
    odd, even = OddEven("odd", "wins"), OddEven("even", "wins")
    assert odd.wins(dice, NONE) == (sum(dice) % 2 == 1)
    assert even.wins(dice, NONE) == (sum(dice) % 2 == 0)


@pytest.mark.parametrize("dice", RESULTS)
def test_sets_and_fours_by_their_definition(dice: tuple[int, int, int]):
    faces = sorted(dice)
    assert ExactSet((5, 2, 2)).wins(dice, NONE) == (faces == [2, 2, 5])
    assert ExactSet((6, 1, 4)).wins(dice, NONE) == (faces == [1, 4, 6])
    among = faces in ([1, 3, 4], [1, 3, 6], [1, 4, 6], [3, 4, 6])
    assert ThreeOfFour((1, 3, 4, 6)).wins(dice, NONE) == among
    assert Pair((3, 4)).wins(dice, NONE) == (3 in dice and 4 in dice)


def test_its_procedure_is_watched_too(book: RuleBook):
    """Fails if a book from outside needs Python for its procedure."""
    monitor = Monitor(book, Setup("tumbler", "opaque"))
    for t, name in enumerate(["round-start", "cover-on", "shake", "cover-off"]):
        found = monitor.feed(Event(float(t), name))
    assert [deviation.clause for deviation in found] == ["ex.deal"]
