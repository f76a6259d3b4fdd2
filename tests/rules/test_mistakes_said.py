"""What is said of each mistake in a timeline or a procedure, word for word: `mistakes.txt` beside.

`python -m tests.rules.test_mistakes_said` prints the file as it is now.
"""

from __future__ import annotations

import json
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
from tests.rules import test_procedure, test_timeline

SAID = Path(__file__).with_name("mistakes.txt")


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
TORN = [b"", b'{"t": 0', b'{"t": 0, "t": 0, "event": "shake"}']
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


if __name__ == "__main__":
    print("\n".join(said()))
