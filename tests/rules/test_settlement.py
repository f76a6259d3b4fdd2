"""Settlement and returns: every wager on every result, exactly."""

from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.rules.books import load_book
from harness.rules.paytable import PaytableBreachError, paytable_of
from harness.rules.returns import returns
from harness.rules.settlement import Wager, settle
from harness.verdicts import InvalidFileError
from tests.rules.definitions import COMMON, RESULTS, odds_of_the_sources, wins

LISTED = ["ny-5324.51", "cca-1992", "tai-sai"]
POSTED = {"nj-13.69f-9.5": "nj.f", "pa-625a.5": "pa.e"}
stakes = st.fractions(min_value=Fraction(1, 100), max_value=10_000, max_denominator=100)


book_of = cache(load_book)


def one(book: str, dice: tuple[int, int, int], area: str, **more: object):
    promotional = bool(more.pop("promotional", False))
    (settled,) = settle(
        book_of(book),
        dice,
        [Wager(area, Fraction(1), promotional)],
        **more,  # type: ignore[arg-type]
    )
    return settled


@pytest.mark.parametrize("book", LISTED)
def test_every_wager_on_every_result_pays_the_printed_odds(book: str):
    """Fails for any wager paid wrongly on any ordered result."""
    printed = odds_of_the_sources(book)
    rules = book_of(book)
    stake = Fraction(7, 2)
    for dice in RESULTS:
        settled = settle(rules, dice, [Wager(area, stake) for area in COMMON])
        for area, one_settled in zip(COMMON, settled, strict=True):
            if not wins(area, dice):
                assert (one_settled.outcome, one_settled.pays) == ("lose", 0)
                assert one_settled.odds is None
                assert one_settled.returned == 0
                continue
            count = dice.count(int(area[-1])) if area.startswith("single-") else 0
            assert one_settled.outcome == "win"
            assert one_settled.odds == printed[area, count]
            assert one_settled.pays == printed[area, count] * stake
            assert one_settled.returned == stake


@pytest.mark.parametrize(
    ("book", "dice", "area", "clause"),
    [
        ("ny-5324.51", (2, 2, 2), "triple-2", "ny.d.1.row-1"),
        ("ny-5324.51", (1, 1, 2), "double-1", "ny.d.1.row-2"),
        ("ny-5324.51", (3, 3, 3), "any-triple", "ny.d.1.row-3"),
        ("ny-5324.51", (1, 1, 2), "total-4", "ny.d.1.row-4"),
        ("ny-5324.51", (6, 4, 2), "total-12", "ny.d.1.row-9"),
        ("ny-5324.51", (6, 5, 6), "total-17", "ny.d.1.row-14"),
        ("ny-5324.51", (1, 1, 2), "pair-1-2", "ny.d.1.row-15"),
        ("ny-5324.51", (1, 1, 2), "small", "ny.d.1.row-16"),
        ("ny-5324.51", (1, 1, 2), "single-2", "ny.d.1.row-16"),
        ("ny-5324.51", (1, 1, 2), "single-1", "ny.d.2"),
        ("ny-5324.51", (1, 1, 1), "single-1", "ny.d.2"),
        ("ny-5324.51", (1, 1, 2), "double-2", "ny.b.2"),
        ("ny-5324.51", (1, 1, 2), "big", "ny.b.7"),
        ("ny-5324.51", (1, 1, 2), "triple-1", "ny.b.1"),
        ("cca-1992", (4, 4, 4), "single-4", "cca.6.1.row-20"),
        ("cca-1992", (4, 4, 5), "single-4", "cca.6.1.row-19"),
        ("cca-1992", (4, 5, 1), "single-4", "cca.6.1.row-18"),
        ("cca-1992", (4, 5, 1), "pair-4-5", "cca.6.1.row-16"),
        ("cca-1992", (4, 5, 1), "pair-1-4", "cca.6.1.row-13"),
        ("cca-1992", (6, 5, 1), "pair-5-6", "cca.6.1.row-17"),
        ("cca-1992", (4, 5, 1), "total-10", "cca.6.1.row-12"),
        ("cca-1992", (2, 2, 2), "small", "cca.3.1.1.2"),
        ("cca-1992", (2, 2, 1), "big", "cca.3.1.2.2"),
        ("cca-1992", (2, 3, 1), "double-1", "cca.3.1.4"),
        ("tai-sai", (5, 5, 5), "single-5", "ts.payoff.4"),
        ("tai-sai", (5, 5, 5), "big", "ts.payoff.1"),
        ("tai-sai", (5, 4, 1), "total-10", "ts.payoff.12"),
        ("tai-sai", (6, 6, 4), "total-9", "ts.payoff.12"),
        ("tai-sai", (1, 1, 2), "total-17", "ts.payoff.7"),
    ],
)
def test_the_clause_cited_is_the_most_specific(
    book: str, dice: tuple[int, int, int], area: str, clause: str
):
    assert one(book, dice, area).clause == clause


@pytest.mark.parametrize(("book", "clause"), POSTED.items())
def test_as_posted_wins_are_pending_until_odds_are_known(book: str, clause: str):
    """Fails if other rules' odds are copied into a book whose source states none."""
    for dice in RESULTS:
        for area in COMMON:
            settled = one(book, dice, area)
            assert settled.clause == clause
            if wins(area, dice):
                assert (settled.outcome, settled.odds, settled.pays) == ("pending", None, None)
            else:
                assert (settled.outcome, settled.pays) == ("lose", 0)


@pytest.mark.parametrize("book", POSTED)
def test_as_posted_odds_come_from_the_paytable_alone(book: str):
    posted = paytable_of({"single-1": ["1", "2", "7/2"], "small": 1}, load_book(book), "posted")
    assert one(book, (1, 1, 1), "single-1", paytable=posted).odds == Fraction(7, 2)
    assert one(book, (1, 1, 2), "small", paytable=posted).pays == 1
    assert one(book, (5, 5, 6), "big", paytable=posted).outcome == "pending"


def test_new_york_pays_posted_odds_above_the_floor():
    posted = paytable_of({"double-1": "10.5"}, load_book("ny-5324.51"), "posted")
    assert one("ny-5324.51", (1, 1, 2), "double-1", paytable=posted).pays == Fraction(21, 2)
    assert one("ny-5324.51", (1, 1, 2), "pair-1-2", paytable=posted).pays == 5


def test_unlawful_posted_odds_settle_nothing():
    posted = paytable_of({"double-1": "7"}, load_book("ny-5324.51"), "posted")
    with pytest.raises(PaytableBreachError, match=r"ny\.d\.1\.row-2 demands at least 8 to 1"):
        one("ny-5324.51", (6, 6, 5), "big", paytable=posted)
    with pytest.raises(PaytableBreachError) as refused:
        returns(load_book("ny-5324.51"), posted)
    assert refused.value.to_json() == {
        "error": "PaytableBreachError",
        "subject": "posted paytable",
        "expected": "odds that ny-5324.51 allows",
        "found": "double-1 on 2 and 3 dice: ny.d.1.row-2 demands at least 8 to 1, 7 to 1 is posted",
        "remedy": "post lawful odds",
        "received": None,
    }


@pytest.mark.parametrize(
    ("book", "clause"),
    [
        ("cca-1992", "cca.7.5"),
        ("tai-sai", "ts.5"),
        ("ny-5324.51", None),
        ("nj-13.69f-9.5", None),
        ("pa-625a.5", None),
    ],
)
def test_a_void_round_returns_every_stake_and_token(book: str, clause: str | None):
    for promotional in (False, True):
        settled = one(book, (1, 1, 2), "double-1", void=True, promotional=promotional)
        assert (settled.outcome, settled.odds, settled.pays) == ("void", None, 0)
        assert settled.returned == 1
        assert settled.clause == clause


def test_void_stakes_are_kept_only_where_that_reading_is_turned():
    options = {"void-refunds": False}
    assert one("tai-sai", (1, 1, 2), "small", void=True, options=options).returned == 0


def test_void_needs_no_dice():
    (settled,) = settle(load_book("cca-1992"), None, [Wager("small", Fraction(1))], void=True)
    assert settled.outcome == "void"


def test_a_token_earns_its_winnings_and_is_not_handed_back():
    settled = one("cca-1992", (1, 1, 2), "double-1", promotional=True)
    assert (settled.outcome, settled.pays, settled.returned) == ("win", 11, 0)
    lost = one("cca-1992", (1, 2, 3), "double-1", promotional=True)
    assert (lost.outcome, lost.pays, lost.returned) == ("lose", 0, 0)


def test_new_york_does_not_say_what_becomes_of_a_winning_coupon():
    settled = one("ny-5324.51", (1, 1, 2), "double-1", promotional=True)
    assert (settled.outcome, settled.pays, settled.returned) == ("win", 8, None)


def test_a_pair_is_paid_once_unless_that_reading_is_turned():
    once = one("ny-5324.51", (1, 2, 1), "pair-1-2")
    twice = one("ny-5324.51", (1, 2, 1), "pair-1-2", options={"pair-counts-once": False})
    plain = one("ny-5324.51", (1, 2, 3), "pair-1-2", options={"pair-counts-once": False})
    assert (once.pays, twice.pays, plain.pays) == (5, 10, 5)


@given(dice=st.sampled_from(RESULTS), stake=stakes, book=st.sampled_from(LISTED))
def test_what_is_handed_back_grows_with_the_stake(
    dice: tuple[int, int, int], stake: Fraction, book: str
):
    """Fails if any amount is rounded: the sum over all areas is stake times the unit sum."""
    rules = book_of(book)
    unit = settle(rules, dice, [Wager(area, Fraction(1)) for area in COMMON])
    scaled = settle(rules, dice, [Wager(area, stake) for area in COMMON])
    total = sum(
        s.pays + s.returned for s in scaled if s.pays is not None and s.returned is not None
    )
    unit_total = sum(
        s.pays + s.returned for s in unit if s.pays is not None and s.returned is not None
    )
    assert total == stake * unit_total


@given(
    wagers=st.lists(st.tuples(st.sampled_from(COMMON), stakes), min_size=1, max_size=8),
    dice=st.sampled_from(RESULTS),
)
def test_wagers_are_settled_apart_and_in_order(
    wagers: list[tuple[str, Fraction]], dice: tuple[int, int, int]
):
    rules = book_of("cca-1992")
    placed = [Wager(area, stake) for area, stake in wagers]
    together = settle(rules, dice, placed)
    assert together == [settle(rules, dice, [wager])[0] for wager in placed]


def test_every_mistaken_wager_is_told_at_once():
    wagers = [Wager("smal", Fraction(1)), Wager("big", Fraction(0)), Wager("big", Fraction(-1, 2))]
    with pytest.raises(InvalidFileError) as refused:
        settle(load_book("ny-5324.51"), (1, 1, 2), wagers)
    assert len(refused.value.problems) == 3
    assert "did you mean 'small'?" in str(refused.value)


@pytest.mark.parametrize("book", LISTED)
def test_returns_are_those_of_summing_every_result(book: str):
    printed = odds_of_the_sources(book)
    found = returns(load_book(book))
    assert list(found) == list(load_book(book).areas)
    for area in COMMON:
        handed_back = wins_counted = 0
        for dice in RESULTS:
            if wins(area, dice):
                count = dice.count(int(area[-1])) if area.startswith("single-") else 0
                handed_back += 1 + printed[area, count]
                wins_counted += 1
        assert found[area].wins == wins_counted
        assert found[area].value == Fraction(handed_back, 216)


def test_known_returns():
    found = returns(load_book("ny-5324.51"))
    assert found["small"].value == found["big"].value == Fraction(35, 36)
    assert found["single-1"].value == Fraction(199, 216)
    assert found["triple-1"].value == Fraction(151, 216)
    assert returns(load_book("cca-1992"))["any-triple"].value == Fraction(8, 9)


@pytest.mark.parametrize("book", POSTED)
def test_returns_as_posted_are_unknown_where_nothing_is_posted(book: str):
    rules = book_of(book)
    assert {area.value for area in returns(rules).values()} == {None}
    posted = paytable_of({"small": "1"}, rules, "posted")
    found = returns(rules, posted)
    assert found["small"].value == Fraction(35, 36)
    assert found["big"].value is None
    assert found["big"].wins == 105
