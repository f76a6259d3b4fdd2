"""The posted paytable: read exactly, refused whole, judged by each book's own kind of odds."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.rules.books import load_book
from harness.rules.paytable import check_paytable, exact_number, paytable_of, read_paytable
from harness.verdicts import InvalidFileError
from tests.rules.definitions import COMMON, odds_of_the_sources


def listed(book: str) -> dict[str, object]:
    """Give the whole printed paytable of a book in the file format."""
    odds = odds_of_the_sources(book)
    singles = {f"single-{n}": [str(odds[f"single-{n}", k]) for k in (1, 2, 3)] for n in range(1, 7)}
    return singles | {a: str(n) for (a, count), n in odds.items() if count == 0}


@pytest.mark.parametrize("book", ["ny-5324.51", "cca-1992", "tai-sai"])
def test_the_printed_odds_are_lawful(book: str):
    rules = load_book(book)
    posted = paytable_of(listed(book), rules, "posted")
    assert {area for area, _ in posted} == set(COMMON)
    assert check_paytable(rules, posted) == ()


@pytest.mark.parametrize("area", COMMON)
def test_new_york_odds_may_exceed_the_floor_and_never_fall_below(area: str):
    """Fails if one area's floor is missing, too high or too low."""
    rules = load_book("ny-5324.51")
    floor = listed("ny-5324.51")[area]
    first = int(floor[0] if isinstance(floor, list) else str(floor))
    rest = ["2", "3"] if isinstance(floor, list) else []

    def breaches(n: Fraction) -> list[str]:
        value = [str(n), *rest] if rest else str(n)
        return [b.clause for b in check_paytable(rules, paytable_of({area: value}, rules, "x"))]

    assert breaches(Fraction(first)) == breaches(first + Fraction(1, 100)) == []
    (clause,) = breaches(first - Fraction(1, 100))
    assert clause.startswith("ny.d.1.row-")


@pytest.mark.parametrize("posted", [["1", "3", "3"], ["1", "2", "4"], ["1", "1.5", "3"], "3"])
def test_new_york_singles_on_two_and_three_dice_are_exact(posted: object):
    rules = load_book("ny-5324.51")
    breaches = check_paytable(rules, paytable_of({"single-4": posted}, rules, "x"))
    assert {breach.clause for breach in breaches} == {"ny.d.2"}


@pytest.mark.parametrize("book", ["cca-1992", "tai-sai"])
@pytest.mark.parametrize("by", [1, -1])
@pytest.mark.parametrize("area", COMMON)
def test_fixed_odds_may_neither_rise_nor_fall(book: str, by: int, area: str):
    rules = load_book(book)
    printed = listed(book)[area]
    texts = printed if isinstance(printed, list) else [printed]
    moved = [str(int(str(n)) + Fraction(by, 2)) for n in texts]
    value = moved if isinstance(printed, list) else moved[0]
    breaches = check_paytable(rules, paytable_of({area: value}, rules, "x"))
    assert len(breaches) == len(moved)
    assert all(breach.area == area for breach in breaches)


@given(area=st.sampled_from(COMMON), n=st.fractions(min_value=Fraction(1, 1000), max_value=999))
def test_as_posted_odds_cannot_breach(area: str, n: Fraction):
    for book in ("nj-13.69f-9.5", "pa-625a.5"):
        rules = load_book(book)
        assert check_paytable(rules, paytable_of({area: str(n)}, rules, "x")) == ()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("8", Fraction(8)),
        ("2.50", Fraction(5, 2)),
        ("7/2", Fraction(7, 2)),
        ("-1", Fraction(-1)),
        ("nan", None),
        ("inf", None),
        ("1e3", None),
        ("1/0", None),
        ("1_000", None),
        (" 1", None),
        ("", None),
        ("8:1", None),
        ("٣", None),
        ("9" * 5000, None),
    ],
)
def test_numbers_are_read_exactly_or_not_at_all(text: str, number: Fraction | None):
    assert exact_number(text) == number


def test_numbers_of_a_file_are_never_floats(tmp_path: Path):
    file = tmp_path / "posted.json"
    file.write_text('{"small": 1.1, "single-1": [1, "2", 3.0]}')
    posted = read_paytable(file, load_book("nj-13.69f-9.5"))
    assert posted["small", 0] == Fraction(11, 10)
    assert [posted["single-1", k] for k in (1, 2, 3)] == [1, 2, 3]


def test_every_mistake_of_a_file_is_told_at_once(tmp_path: Path):
    file = tmp_path / "posted.json"
    file.write_text(
        '{"smal": "1", "big": "0", "single-1": ["1", "2"], "single-2": ["1", -2, true],'
        ' "total-9": ["6"], "total-10": null, "total-11": NaN, "any-triple": "24",'
        ' "any-triple": "25", "pair-1-2": {"1": 2}}'
    )
    with pytest.raises(InvalidFileError) as refused:
        read_paytable(file, load_book("ny-5324.51"))
    places = [problem.where for problem in refused.value.problems]
    assert places == [
        "smal",
        "big",
        "single-1",
        "single-2[1]",
        "single-2[2]",
        "total-9",
        "total-10",
        "total-11",
        "any-triple",
        "pair-1-2",
    ]
    lines = dict(zip(places, str(refused.value).splitlines(), strict=True))
    assert "a list of 3 (on 1, 2, 3 dice), found [" in lines["single-1"]
    assert "a list of 2 (on 2, 3 dice), found [" in lines["pair-1-2"]
    assert "expected N above zero, of N to 1, found [" in lines["total-9"]
    assert lines["any-triple"].endswith(
        "any-triple: expected each area once, found it again; keep one"
    )
    assert all(line.startswith(str(file)) for line in str(refused.value).splitlines())


@pytest.mark.parametrize("text", ["", "[]", "1", "{", '{"small": }', "[" * 100_000])
def test_what_is_no_paytable_is_refused(tmp_path: Path, text: str):
    file = tmp_path / "posted.json"
    file.write_text(text)
    with pytest.raises(InvalidFileError, match="JSON"):
        read_paytable(file, load_book("ny-5324.51"))


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path):
    with pytest.raises(InvalidFileError, match="a paytable"):
        read_paytable(tmp_path / "none.json", load_book("ny-5324.51"))
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidFileError, match="JSON"):
        read_paytable(tmp_path / "bytes.json", load_book("ny-5324.51"))
