"""A book with mistakes is refused: file and key path, every mistake at once."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.rules.books import EMBEDDED, InvalidBookError, list_books, load_book
from harness.verdicts import ConfigurationError

EXAMPLE = Path(__file__).parents[2] / "fixtures" / "books" / "example-106"
Edit = Callable[[str, str, str], None]


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Give a copy of the example book, free to be spoilt."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "books" / "example-106"))


@pytest.fixture
def edit(copied: Path) -> Edit:
    def replace(name: str, old: str, new: str) -> None:
        file = copied / name
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))

    return replace


def mistakes(copied: Path) -> str:
    with pytest.raises(InvalidBookError) as refused:
        load_book("example-106", [copied.parent])
    assert refused.value.exit_status == 2
    return str(refused.value)


MISTAKES = {
    "unknown kind of area": (
        "book.toml",
        'id = "odd", kind = "odd-even"',
        'id = "odd", kind = "odd-evn"',
        "book.toml: areas[2].kind (odd): expected one of single, double, triple, any-triple, pair, "
        "total, total-range, odd-even, exact-set, three-of-four, found 'odd-evn'; "
        "did you mean 'odd-even'?",
    ),
    "overlapping ranges": (
        "book.toml",
        "totals = [4, 10]",
        "totals = [4, 11]",
        "book.toml: areas: expected ranges of totals that do not overlap, "
        "found small and big both win on 11 to 11",
    ),
    "two areas for one total": (
        "book.toml",
        'id = "total-9", kind = "total", total = 9',
        'id = "total-9", kind = "total", total = 8',
        "kind (total-9): expected areas that differ, found the same as total-8; remove one",
    ),
    "overlapping odds of totals": (
        "book.toml",
        '["total-8", "total-13"]',
        '["total-8", "total-13", "total-12"]',
        "areas (ex.total): expected one row of odds for each area, found total-12 here and in ",
    ),
    "total without odds": (
        "book.toml",
        '["total-8", "total-13"]',
        '["total-8"]',
        "book.toml: odds: expected odds for total-13, found none",
    ),
    "single without odds on three dice": (
        "book.toml",
        'dice = 3, areas = ["single-*"]',
        'dice = 3, areas = ["single-1", "single-2", "single-3", "single-4", "single-5"]',
        "expected odds for single-6 on 3 dice, found none",
    ),
    "odds below zero": (
        "book.toml",
        "to_one = 150",
        "to_one = -150",
        "to_one (ex.triple): expected a number above zero",
    ),
    "odds of zero": ("book.toml", "to_one = 150", 'to_one = "0"', "to_one (ex.triple)"),
    "odds no number": ("book.toml", "to_one = 150", 'to_one = "150:1"', "to_one (ex.triple)"),
    "odds inexact": ("book.toml", "to_one = 150", "to_one = 1.1", "to_one (ex.triple)"),
    "odds for no area": (
        "book.toml",
        'areas = ["any-triple"]',
        'areas = ["any-tripel"]',
        "odds[5].areas (ex.any-triple): expected ids of areas, or patterns as total-*, "
        "found 'any-tripel'; did you mean 'any-triple'?",
    ),
    "odds by dice where dice do not count": (
        "book.toml",
        'to_one = 24, areas = ["any-triple"]',
        'to_one = 24, dice = 3, areas = ["any-triple"]',
        "dice (ex.any-triple): expected a count of dice with which any-triple can win",
    ),
    "odds by dice of one area among several": (
        "book.toml",
        'dice = 2, areas = ["single-*"]',
        'dice = 2, areas = ["odd", "single-*"]',
        "odds[15].dice (ex.single): expected a count of dice with which odd can win, found 2; "
        "take it out",
    ),
    "odds by a count that one area cannot show": (
        "book.toml",
        'dice = 1, areas = ["single-*"]',
        'dice = 1, areas = ["pair-1-2", "single-*"]',
        "odds[14].dice (ex.single): expected a count of dice with which pair-1-2 can win, found 1; "
        "one of 2, 3",
    ),
    "odds where only a posted paytable tells": (
        "book.toml",
        'rule = "fixed", to_one = 24',
        'rule = "posted", to_one = 24',
        "to_one (ex.any-triple): expected no odds in a row that says posted",
    ),
    "unknown rule of odds": ("book.toml", 'rule = "fixed"', 'rule = "fix"', "odds[0].rule"),
    "unknown key": (
        "book.toml",
        'edition = "1"',
        'editon = "1"',
        "book.toml: editon: expected no such key, found unknown key 'editon'; "
        "did you mean 'edition'?",
    ),
    "unknown key of an area": (
        "book.toml",
        'parity = "odd", on_triple = "loses"',
        'parity = "odd", on_triple = "loses", colour = "red"',
        "areas[2].colour (odd): expected no such key",
    ),
    "area id twice": (
        "book.toml",
        'id = "even"',
        'id = "odd"',
        "areas[3].id (odd): expected each area once, found 'odd' again",
    ),
    "area id with a space": ("book.toml", 'id = "even"', 'id = "the even"', "areas[3].id"),
    "number off the die": ("book.toml", "numbers = [1, 2]", "numbers = [1, 7]", "(pair-1-2)"),
    "pair of one number": ("book.toml", "numbers = [1, 2]", "numbers = [2, 2]", "(pair-1-2)"),
    "set that is a triple": ("book.toml", "numbers = [1, 1, 2]", "numbers = [1, 1, 1]", "triple"),
    "set of two numbers": ("book.toml", "numbers = [1, 1, 2]", "numbers = [1, 2]", "(set-1-1-2)"),
    "truth as a number": ("book.toml", "total = 9,", "total = true,", "total (total-9)"),
    "range upside down": ("book.toml", "totals = [4, 10]", "totals = [10, 4]", "(small)"),
    "option default not among its values": (
        "book.toml",
        "default = true",
        'default = "maybe"',
        "readings[0].default (double): expected one of true, false, found maybe",
    ),
    "option value unknown": (
        "book.toml",
        "values = [true, false]",
        "values = [true, 1]",
        "readings[0].values (double): expected values out of true, false, found true, 1",
    ),
    "unknown option": (
        "book.toml",
        '"double-wins-on-triple"',
        '"double-win-on-triple"',
        "did you mean 'double-wins-on-triple'?",
    ),
    "unknown shaker": (
        "book.toml",
        'shaker = "tumbler"',
        'shaker = "tumblr"',
        "equipment[0].shaker: expected one of manual, automated, player-activated, tumbler, "
        "puncher, found 'tumblr'; did you mean 'tumbler'?",
    ),
    "unknown cover": ("book.toml", 'cover = "opaque"', 'cover = "glass"', "equipment[0].cover"),
    "unknown person": ("book.toml", 'id = "dealer"', 'id = "croupier"', "roles[0].id"),
    "a person twice": (
        "book.toml",
        "roles = [\n",
        'roles = [\n{ id = "dealer", called = "d", duty = "deals", clause = "ex.deal" },\n',
        "roles[1].id (dealer): expected each person once, found 'dealer' again; remove one",
    ),
    "a person who includes nobody known": (
        "book.toml",
        'called = "dealer",',
        'called = "dealer", includes = ["croupier"],',
        "roles[0].includes (dealer): expected people: dealer, player, floorperson, "
        "casino-supervisor, game-supervisor, inspector, found 'croupier'; correct it",
    ),
    "equipment twice": (
        "book.toml",
        "equipment = [\n",
        "equipment = [\n"
        '{ shaker = "tumbler", cover = "opaque", rig = "r", clause = "ex.deal", note = "n" },\n',
        "equipment[1].shaker: expected each variant once, found tumbler with cover opaque again; "
        "correct it",
    ),
    "tag that is no clause": (
        "book.toml",
        'void_clause = "ex.void"',
        'void_clause = "ex.viod"',
        "book.toml: settlement: expected a tag of clauses.toml, found 'ex.viod'; "
        "did you mean 'ex.void'?",
    ),
    "area cites no clause": (
        "book.toml",
        'clause = "ex.odd", basis',
        'clause = "ex.od", basis',
        "areas (odd): expected a tag of clauses.toml",
    ),
    "id other than the folder": (
        "book.toml",
        'id = "example-106"',
        'id = "example-107"',
        "book.toml: id: expected the folder's name, 'example-106', found 'example-107'",
    ),
    "date as a text": (
        "book.toml",
        'edition = "1"',
        'edition = "1"\ncurrent_through = "soon"',
        "current_through: expected a date",
    ),
    "no areas": ("book.toml", "areas = [\n", "areas = []\nold_areas = [\n", "book.toml: areas"),
    "clause without tag": (
        "clauses.toml",
        'tag = "ex.big"\n',
        "",
        "clauses.toml: clauses[1].tag: expected a text, found nothing",
    ),
    "tag twice": (
        "clauses.toml",
        'tag = "ex.odd"',
        'tag = "ex.big"',
        "clauses[2].tag (ex.big): expected each tag once, found 'ex.big' again",
    ),
    "clause that is not tested, without a reason": (
        "clauses.toml",
        'testable = "yes"',
        'testable = "no"',
        "clauses[0].why_not (ex.small): expected a text, found nothing",
    ),
    "clause that is tested nobody knows how": (
        "clauses.toml",
        "how = ",
        "hou = ",
        "clauses[0].how (ex.small): expected a text, found nothing",
    ),
    "testable as no word says": (
        "clauses.toml",
        'testable = "yes"',
        'testable = "partly"',
        "clauses[0].testable (ex.small): expected one of yes, partial, no, n/a",
    ),
    "kind of clause": (
        "clauses.toml",
        'kind = "wager-outcome"',
        'kind = "wager-outcom"',
        "did you mean 'wager-outcome'?",
    ),
    "procedure that cites no clause": (
        "procedure.toml",
        'clause = "ex.void"',
        'clause = "ex.viod"',
        "procedure.toml: irregularity[0].clause",
    ),
    "kind of constraint": (
        "procedure.toml",
        'kind = "never"',
        'kind = "nevr"',
        "procedure.toml: rule[0].kind",
    ),
    "no TOML": ("clauses.toml", "[[clauses]]", "[[clauses]", "clauses.toml: (file): expected TOML"),
}


OFF_LIMITS = [
    ('"single", number = 1', '"single", number = 0'),
    ('"single", number = 6', '"single", number = 7'),
    ('"double", number = 1', '"double", number = 0'),
    ('"double", number = 6', '"double", number = 7'),
    ('"triple", number = 1', '"triple", number = 0'),
    ('"triple", number = 6', '"triple", number = 7'),
    ('"pair", numbers = [1, 2]', '"pair", numbers = [0, 2]'),
    ('"pair", numbers = [5, 6]', '"pair", numbers = [5, 7]'),
    ('"exact-set", numbers = [1, 1, 2]', '"exact-set", numbers = [0, 1, 2]'),
    ('"exact-set", numbers = [5, 6, 6]', '"exact-set", numbers = [5, 6, 7]'),
    ('"three-of-four", numbers = [1, 2, 3, 4]', '"three-of-four", numbers = [0, 2, 3, 4]'),
    ('"three-of-four", numbers = [3, 4, 5, 6]', '"three-of-four", numbers = [3, 4, 5, 7]'),
    ('"three-of-four", numbers = [3, 4, 5, 6]', '"three-of-four", numbers = [3, 4, 5, 5]'),
    ('"total", total = 4', '"total", total = 2'),
    ('"total", total = 17', '"total", total = 19'),
    ("totals = [4, 10]", "totals = [2, 10]"),
    ("totals = [11, 17]", "totals = [11, 19]"),
    ("totals = [4, 10]", "totals = [4, 4]"),
    ("dice = 1, ", "dice = 0, "),
    ("dice = 3, ", "dice = 4, "),
]


@pytest.mark.parametrize(("old", "new"), OFF_LIMITS)
def test_numbers_that_no_three_dice_can_show_are_refused(
    copied: Path, edit: Edit, old: str, new: str
):
    edit("book.toml", old, new)
    assert "book.toml: " in mistakes(copied)


@pytest.mark.parametrize(("old", "new"), [("[4, 10]", "[3, 10]"), ("[11, 17]", "[11, 18]")])
def test_a_range_may_reach_to_the_least_and_greatest_total(
    copied: Path, edit: Edit, old: str, new: str
):
    edit("book.toml", f"totals = {old}", f"totals = {new}")
    assert load_book("example-106", [copied.parent]).areas


@pytest.mark.parametrize(("name", "old", "new", "told"), MISTAKES.values(), ids=MISTAKES)
def test_one_mistake_is_named_with_file_and_key(
    copied: Path, edit: Edit, name: str, old: str, new: str, told: str
):
    edit(name, old, new)
    text = mistakes(copied)
    assert told in text
    assert len(text.splitlines()) <= (1 if "testable" in told else 3), (
        "one mistake draws a tail of others"
    )
    assert all(line.startswith(f"{copied}/") for line in text.splitlines())


@pytest.mark.parametrize("kind", ["single", "double", "triple"])
def test_two_areas_of_no_number_are_not_the_same_area(copied: Path, edit: Edit, kind: str):
    """Fails if two numbers off the die are told as one area given twice."""
    edit("book.toml", f'"{kind}", number = 1', f'"{kind}", number = 0')
    edit("book.toml", f'"{kind}", number = 2', f'"{kind}", number = 7')
    told = mistakes(copied).splitlines()
    assert len(told) == 2
    assert all(".number (" in line for line in told)


def test_two_totals_that_no_dice_show_are_not_the_same_area(copied: Path, edit: Edit):
    edit("book.toml", '"total", total = 4', '"total", total = 2')
    edit("book.toml", '"total", total = 17', '"total", total = 19')
    assert len(mistakes(copied).splitlines()) == 2


def test_every_mistake_of_all_files_is_told_at_once(copied: Path, edit: Edit):
    edit("book.toml", "to_one = 150", "to_one = -150")
    edit("book.toml", 'id = "odd", kind = "odd-even"', 'id = "odd", kind = "odds"')
    edit("book.toml", 'shaker = "tumbler"', 'shaker = "cup"')
    edit("clauses.toml", 'tag = "ex.any-triple"\n', "")
    edit("procedure.toml", 'kind = "before"', 'kind = "befor"')
    text = mistakes(copied)
    for told in ("to_one (ex.triple)", "areas[2].kind (odd)", "shaker", "clauses[5].tag"):
        assert told in text
    assert f"{copied}/book.toml: " in text
    assert f"{copied}/clauses.toml: " in text
    assert f"{copied}/procedure.toml: rule[1].kind" in text


def test_a_mistake_elsewhere_does_not_hide_behind_a_good_book(copied: Path, edit: Edit):
    edit("book.toml", "to_one = 150", "to_one = -150")
    assert load_book("ny-5324.51", [copied.parent]).id == "ny-5324.51"
    with pytest.raises(InvalidBookError):
        list_books([copied.parent])


@pytest.mark.parametrize("name", ["book.toml", "clauses.toml"])
def test_a_missing_file_is_named(copied: Path, name: str):
    (copied / name).unlink()
    told = f"{copied}/{name}: (file): expected a file of this name, found none; write it"
    assert told in mistakes(copied)


def test_bytes_that_are_no_text_are_refused(copied: Path):
    (copied / "book.toml").write_bytes(b"\xff\xfe")
    assert "book.toml: (file): expected TOML in UTF-8" in mistakes(copied)


def test_two_books_of_one_id_are_refused(tmp_path: Path):
    shutil.copytree(EXAMPLE, tmp_path / "a" / "example-106")
    shutil.copytree(EXAMPLE, tmp_path / "b" / "example-106")
    with pytest.raises(ConfigurationError, match="one book of this id"):
        load_book("example-106", [tmp_path / "a", tmp_path / "b"])
    assert load_book("example-106", [tmp_path / "a", tmp_path / "a"]).id == "example-106"


def test_an_embedded_book_cannot_be_replaced_unseen(tmp_path: Path):
    shutil.copytree(EXAMPLE, tmp_path / "tai-sai")
    with pytest.raises(ConfigurationError, match="one book of this id"):
        load_book("tai-sai", [tmp_path])


def test_a_book_may_be_asked_for_in_place_of_the_embedded_one(tmp_path: Path):
    """Fails if the embedded book is read all the same, or if others are lost beside it."""
    book = tmp_path / "tai-sai" / "book.toml"
    shutil.copytree(EMBEDDED / "tai-sai", book.parent)
    book.write_text(book.read_text().replace('title = "', 'title = "Another ', 1))
    for name, own in (("tai-sai", True), ("ny-5324.51", False)):
        found = load_book(name, [tmp_path], instead=True)
        assert found.title.startswith("Another ") is own
        assert found.folder == (tmp_path if own else EMBEDDED) / name
    with pytest.raises(ConfigurationError, match="did you mean 'tai-sai'"):
        load_book("tai-say", [tmp_path], instead=True)


def test_a_book_named_in_place_of_its_folder_is_told(copied: Path):
    with pytest.raises(ConfigurationError, match="a folder that holds rule books"):
        list_books([copied])
    with pytest.raises(ConfigurationError, match="nothing there"):
        list_books([copied / "nowhere"])
