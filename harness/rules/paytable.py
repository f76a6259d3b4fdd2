"""The paytable posted at a table: read from a file, and checked against a book's odds.

A paytable is JSON: N (of "N to 1") by area id, as a text or a number, or a list of N where the odds
depend on how many dice show the number: three for a single (one, two, three dice), two for a double
or a pair (two, three dice). A plain N holds for every count. Areas left out are not posted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from harness.rules.areas import Area
from harness.rules.books import RuleBook
from harness.rules.odds import Odds
from harness.rules.strict_toml import suggestion
from harness.verdicts import HarnessError, InvalidFileError, Problem, Verdict

Paytable = Mapping[tuple[str, int], Fraction]
"""Posted odds, N to 1, by area id and count of dice (`Area.counts`)."""

_NUMBER = re.compile(r"[+-]?\d+(\.\d+|/\d+)?")


def exact_number(text: str) -> Fraction | None:
    """Read `10`, `2.5` or `7/2` exactly; None for anything else."""
    if not _NUMBER.fullmatch(text) or not text.isascii():
        return None
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):  # thousands of digits, or a denominator of zero
        return None


def read_paytable(file: Path, book: RuleBook) -> Paytable:
    """Read a posted paytable; raises InvalidFileError with every mistake."""
    try:
        values = json.loads(
            file.read_text(encoding="utf-8"),
            parse_float=str,
            parse_constant=str,
            object_pairs_hook=_Pairs,
        )
    except OSError as error:
        problem = Problem("(file)", "a paytable", error.strerror or str(error), "name another file")
        raise InvalidFileError(str(file), [problem]) from error
    except (ValueError, RecursionError) as error:
        raise InvalidFileError(
            str(file), [Problem("(file)", "JSON: odds by area id", str(error))]
        ) from error
    if not isinstance(values, _Pairs):
        raise InvalidFileError(
            str(file), [Problem("(file)", "a JSON object: odds by area id", repr(values)[:60])]
        )
    return _read_pairs(values, book, str(file))


def paytable_of(values: Mapping[str, object], book: RuleBook, subject: str) -> Paytable:
    """Read a paytable that is already in memory; `subject` names it in errors."""
    return _read_pairs(_Pairs(values.items()), book, subject)


class _Pairs(list[tuple[str, object]]):
    """A JSON object as its pairs, so that a key given twice is seen."""


def _read_pairs(pairs: _Pairs, book: RuleBook, subject: str) -> Paytable:
    posted: dict[tuple[str, int], Fraction] = {}
    problems: list[Problem] = []
    seen: set[str] = set()
    for id_, value in pairs:
        area = book.areas.get(id_)
        if area is None:
            remedy = suggestion(id_, sorted(book.areas))
            problems.append(Problem(id_, f"an area of {book.id}", "no such area", remedy))
            continue
        if id_ in seen:
            problems.append(Problem(id_, "each area once", "it again", "keep one"))
        seen.add(id_)
        posted |= _read_odds(area, value, problems)
    if problems:
        raise InvalidFileError(subject, problems)
    return posted


def _read_odds(
    area: Area, value: object, problems: list[Problem]
) -> dict[tuple[str, int], Fraction]:
    counts = area.counts
    plain = not isinstance(value, list) or isinstance(value, _Pairs)
    given = [value] * len(counts) if plain else value
    expected = "N above zero, of N to 1"
    if len(counts) > 1:
        expected += f", or a list of {len(counts)} (on {', '.join(map(str, counts))} dice)"
    if not isinstance(given, list) or len(given) != len(counts) or (not plain and counts == (0,)):
        problems.append(Problem(area.id, expected, json.dumps(value)))
        return {}
    odds: dict[tuple[str, int], Fraction] = {}
    for index, (count, item) in enumerate(zip(counts, given, strict=True)):
        number = exact_number(str(item)) if isinstance(item, str | int) else None
        if number is None or number <= 0:
            where = area.id if plain else f"{area.id}[{index}]"
            problems.append(Problem(where, expected, json.dumps(item)))
            if plain:
                break
        else:
            odds[area.id, count] = number
    return odds


@dataclass(frozen=True, slots=True)
class Breach:
    """Posted odds that a clause forbids; `dice` are the counts they hold for, empty for any."""

    area: str
    dice: tuple[int, ...]
    clause: str
    posted: Fraction
    demanded: Odds

    def __str__(self) -> str:
        on = f" on {' and '.join(map(str, self.dice))} dice" if self.dice else ""
        least = "at least " if self.demanded.rule == "floor" else ""
        return (
            f"{self.area}{on}: {self.clause} demands {least}{self.demanded.to_one} to 1, "
            f"{self.posted} to 1 is posted"
        )


class PaytableBreachError(HarnessError):
    """Posted odds break the rule book: the house's failing, so exit status 1."""

    exit_status = 1
    verdict = Verdict.DUT_FAIL

    def __init__(self, book: RuleBook, breaches: tuple[Breach, ...]) -> None:
        self.breaches = breaches
        super().__init__(
            "posted paytable",
            expected=f"odds that {book.id} allows",
            found="; ".join(str(breach) for breach in breaches),
            remedy="post lawful odds",
        )

    def __str__(self) -> str:
        return "\n".join(f"{self.subject}: {breach}" for breach in self.breaches)


def check_paytable(book: RuleBook, paytable: Paytable) -> tuple[Breach, ...]:
    """Give every posted odds that the book forbids, in the order of the book's odds.

    Below a floor or other than fixed odds is a breach; where the source only says "as posted"
    nothing can be one. Areas that are not posted are not judged.
    """
    breaches: dict[tuple[str, Odds, Fraction], tuple[int, ...]] = {}
    for (area, count), demanded in book.odds.items():
        posted = paytable.get((area, count))
        if posted is not None and _forbids(demanded, posted):
            key = (area, demanded, posted)
            breaches[key] = (*breaches.get(key, ()), *([count] if count else []))
    return tuple(
        Breach(area, dice, demanded.clause, posted, demanded)
        for (area, demanded, posted), dice in breaches.items()
    )


def _forbids(demanded: Odds, posted: Fraction) -> bool:
    if demanded.to_one is None:
        return False
    return posted < demanded.to_one if demanded.rule == "floor" else posted != demanded.to_one


def odds_in_force(
    book: RuleBook, area: Area, count: int, paytable: Paytable | None
) -> Fraction | None:
    """Give N of "N to 1": as posted, else as the book lists, else None (as posted, not posted)."""
    posted = (paytable or {}).get((area.id, count))
    return posted if posted is not None else book.odds[area.id, count].to_one


def require_lawful(book: RuleBook, paytable: Paytable | None) -> None:
    """Raise PaytableBreachError with every breach of a posted paytable."""
    breaches = check_paytable(book, paytable or {})
    if breaches:
        raise PaytableBreachError(book, breaches)
