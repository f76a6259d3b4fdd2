"""What is said of each mistake, word for word: `mistakes.txt` and `mistakes_in_books.txt` beside.

The first is of timelines and procedures, the second of rule books and posted paytables.
`python -m tests.rules.test_mistakes_said` prints the first as it is now, with `books` the second.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

from harness.rules.areas import check_dice
from harness.rules.books import EMBEDDED, load_book
from harness.rules.paytable import paytable_of
from harness.rules.procedure import load_procedure
from harness.rules.readings import resolve_options
from harness.rules.settlement import Wager, settle
from harness.rules.timeline import parse_timeline
from harness.verdicts import ConfigurationError, InvalidFileError
from tests.rules import test_book_mistakes, test_procedure, test_timeline

SAID = Path(__file__).with_name("mistakes.txt")
SAID_OF_BOOKS = Path(__file__).with_name("mistakes_in_books.txt")


def _cases(test) -> list:
    """Give what a test is run with."""
    return list(test.pytestmark[0].args[1])


GOOD, SETUP = test_procedure.GOOD, test_timeline.SETUP
PROCEDURES = [data for data, _ in _cases(test_procedure.test_a_mistake_is_refused_at_its_key)] + [
    {**GOOD, "acts": {"x": {"event": ["dice-at-rest"], "state": ["cocked"]}}},
    {**GOOD, "irregularity": [{"id": "i", "says": "x", "raised_by": ["tap"], "answer": "tap"}]},
    {**GOOD, "irregularity": [{"id": "i", "says": "x", "clause": "x.9", "outcome": "lost"}]},
    {**GOOD, "irregularity": [{"id": "i", "says": "x", "breach": ["never"], "again": "lost"}]},
    {**GOOD, "inspection": [{"id": "i"}]},
    {**GOOD, "ruling": [{"id": "r"}]},
    {**GOOD, "states": {"covered": {"on": [], "off": ["cover-off"], "lasts": "ever"}}},
    {**GOOD, "states": []},
]
WRONG_LINES = _cases(test_timeline.test_a_wrong_line_is_refused_at_its_field)
LINES = [[SETUP, record] for record, _ in WRONG_LINES]
FIRSTS = [
    [first] for first in _cases(test_timeline.test_the_first_line_is_the_setup_and_nothing_else)
]
STRANGE: list[dict[str, object]] = [
    {"t": 0, "event": "wager", "area": "smal"},
    {"t": 1, "event": "lamps", "lit": ["small", "bgi"]},
    {"t": 2, "event": "dice-at-rest", "values": [1, 2, 3], "state": "leaning"},
    {"t": 2, "event": "shake"},
    {"t": 1, "event": "shake"},
]
"""Lines that are wrong by what the book has, or by each other."""
TORN = [b"", b'{"t": 0', b'{"t": 0, "t": 0, "event": "shake"}']
BOOKS = [
    (name, old, new)
    for title, (name, old, new, _) in test_book_mistakes.MISTAKES.items()
    if title != "no TOML"  # said by Python, in words of its own
]
BOOKS += [("book.toml", old, new) for old, new in test_book_mistakes.OFF_LIMITS]
BOOKS += [
    ("book.toml", 'totals = [4, 10], on_triple = "loses"', "totals = [4, 10]"),
    ("book.toml", 'on_triple = "loses"', 'on_triple = "lose"'),
    ("book.toml", 'parity = "odd"', 'parity = "uneven"'),
    ("book.toml", 'wager = "Small"', 'wager = " "'),
    ("book.toml", 'wager = "Small"', "wager = 3"),
    ("book.toml", 'basis = "text"', 'basis = "hearsay"'),
    ("book.toml", 'clause = "ex.small", basis', 'losing_clause = "", clause = "ex.small", basis'),
    ("book.toml", 'duty = "tosses, announces, enters and settles", ', ""),
    ("book.toml", 'note = "tumbler under a dome"', 'note = ""'),
    ("book.toml", "roles = [\n", "roles = 3\nold_roles = [\n"),
    ("book.toml", "roles = [\n", "roles = [3,\n"),
    ("book.toml", 'areas = ["any-triple"]', "areas = []"),
    ("book.toml", 'areas = ["any-triple"]', 'areas = ["any-triple", "any-triple"]'),
    ("book.toml", "[settlement]", "[settlment]"),
    ("clauses.toml", 'testable = "yes"', 'testable = "n/a"'),
    ("clauses.toml", 'tag = "ex.even"', 'tag = "ex even"'),
    ("procedure.toml", 'kind = "never"', 'kind = "never"\nalways = 1'),
    ("procedure.toml", 'kind = "before"', 'kind = "before"\nalways = 1'),
    ("book.toml", 'void_clause = "ex.void"', 'void_clause = "ex.void"\npromotional_returned = 0'),
    ("book.toml", 'snapshot = "lamps"', 'snapshot = "paid"'),
]
PAYTABLES: list[object] = [
    {"single-1": ["1", "2"], "single-2": ["1", -2, True], "big": "0", "small": {"1": 2}},
    {"double-1": [], "pair-1-2": [8, "x"], "total-9": ["6"], "total-10": None, "smal": "1"},
]
OPTIONS = [{"no-such": True}, {"double-wins-on-triple": "perhaps"}]


def _refused(read) -> list[str]:
    try:
        read()
    except InvalidFileError as refusal:
        return [str(problem) for problem in refusal.problems]
    except ConfigurationError as refusal:
        return [str(refusal).replace(str(EMBEDDED), "BOOKS")]
    return ["taken"]


def said() -> list[str]:
    """Read every case and give what is said, a line each."""
    told = []
    for data in PROCEDURES:
        told += _refused(lambda data=data: load_procedure(data, {"x.1", "x.2"}))
    for lines in LINES + FIRSTS:
        raw = b"\n".join(json.dumps(line).encode() for line in lines)
        told += _refused(lambda raw=raw: parse_timeline(raw, "file"))
    raw = b"\n".join(json.dumps(line).encode() for line in [SETUP, *STRANGE])
    told += _refused(lambda: parse_timeline(raw, "file", ["small", "big"]))
    for line in TORN:
        raw = json.dumps(SETUP).encode() + b"\n" + line + b"\n"
        told += _refused(lambda raw=raw: parse_timeline(raw, "file"))
    told += _refused(lambda: load_book("ny-5324.15"))
    book = load_book("ny-5324.51")
    for dice in ((1, 2, 7), (1, "2", 3), ()):
        told += _refused(lambda dice=dice: check_dice(dice))
    told += _refused(lambda: paytable_of({"single-7": "1 to 1"}, book, "posted"))
    wagers = [Wager("total-3", Fraction(1)), Wager("small", Fraction(0))]
    told += _refused(lambda: settle(book, (1, 2, 3), wagers))
    for given in OPTIONS:
        told += _refused(lambda given=given: resolve_options(book.id, book.readings, given))
    return told


def test_what_is_said_of_each_mistake():
    """Fails if a place, an expectation, what was found or a remedy is told otherwise."""
    assert said() == SAID.read_text(encoding="utf-8").splitlines()


def said_of_books() -> list[str]:
    """Spoil the example book in every way, read it, and give what is said, a line each."""
    told = []
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(shutil.copytree(test_book_mistakes.EXAMPLE, Path(kept) / "example-106"))
        for name, old, new in BOOKS:
            file = folder / name
            sound = file.read_text(encoding="utf-8")
            assert old in sound, old
            file.write_text(sound.replace(old, new, 1), encoding="utf-8")
            told += _refused(lambda: load_book("example-106", [folder.parent]))
            file.write_text(sound, encoding="utf-8")
        for name in ("book.toml", "clauses.toml"):
            (folder / name).rename(folder / "aside")
            told += _refused(lambda: load_book("example-106", [folder.parent]))
            (folder / "aside").rename(folder / name)
        book = load_book("example-106", [folder.parent])
    for values in PAYTABLES:
        told += _refused(lambda values=values: paytable_of(values, book, "posted"))
    return told


def test_what_is_said_of_each_mistake_in_a_book():
    """Fails if a place, an expectation, what was found or a remedy is told otherwise."""
    assert said_of_books() == SAID_OF_BOOKS.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    print("\n".join(said_of_books() if sys.argv[1:] == ["books"] else said()))
