"""Lamps that light right and do not stay so, sensed by threads that take their time."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.dealing.entry import EntryTaker, Terminal
from harness.dealing.steadiness import STEADY_S
from harness.observations import Entry, LampSample
from harness.rig.roles import Press
from harness.rules.books import load_book
from harness.rules.judgement import Limits, judge_entry
from harness.verdicts import Verdict
from tests.dealing.conftest import arm

BOOK = load_book("ny-5324.51")
LIMIT_S = 0.1
KEYS = ("1", "2", "4")
LIT = BOOK.winning_areas((1, 2, 4))
Glow = Callable[[frozenset[str], float], frozenset[str]]


class Table:
    """A table whose lamps do what `glow` says of the result and the time since it was made."""

    def __init__(self, glow: Glow, fourth_key: str = "ignored", commit: str = "third-key") -> None:
        self.glow = glow
        self.fourth_key = fourth_key
        self.at_third = commit == "third-key"
        self.committed = False
        self.digits: list[int] = []
        self.was: frozenset[str] = frozenset()
        self.committed_at = 0.0

    def press(self, key: str) -> Press:
        now = time.monotonic()
        if key == "clear":
            self.digits, self.committed = [], False
        elif key != "enter":
            self._take(int(key), now)
        if key == "enter":
            self.committed, self.committed_at = True, now
        return Press(key, now, now)

    def _take(self, digit: int, now: float) -> None:
        if len(self.digits) == 3 and self.fourth_key == "last-three":
            self.digits = self.digits[1:]
        if len(self.digits) < 3:
            self.digits.append(digit)
            self.committed, self.committed_at = self.at_third and len(self.digits) == 3, now

    def release_all(self) -> None:
        """No contact is held."""

    def lit(self) -> frozenset[str]:
        if not self.committed:
            return frozenset()
        first, second, third = self.digits
        lit = BOOK.winning_areas((first, second, third))
        return self.glow(lit, time.monotonic() - self.committed_at)


class Inputs:
    """Reads the lamps over a wire."""

    def __init__(self, table: Table, name: str = "inputs") -> None:
        self.table, self.name = table, name

    def sense(self) -> LampSample:
        lit = self.table.lit()
        time.sleep(0.004)
        return LampSample(time.monotonic(), self.name, lit)


class Camera(Inputs):
    """Sees the lamps; when it watches it counts what changes twice itself."""

    def watch(self, seconds: float) -> LampSample:
        end, seen = time.monotonic() + seconds, [self.table.lit()]
        while time.monotonic() < end:
            time.sleep(0.03)
            seen.append(self.table.lit())
        pairs = list(itertools.pairwise(seen))
        often = {a for a in frozenset().union(*seen) if sum(a in x ^ y for x, y in pairs) > 1}
        return LampSample(time.monotonic(), self.name, seen[-1], flicker=frozenset(often))


def taker_of(
    glow: Glow,
    *,
    paths: tuple[type[Inputs], ...] = (Inputs,),
    fourth_key: str = "ignored",
    **terminal,
) -> EntryTaker:
    table = Table(glow, fourth_key, terminal.get("commit", "third-key"))
    return EntryTaker(
        table,
        [path(table, f"path-{n}") for n, path in enumerate(paths)],
        replace(Terminal(settle_s=LIMIT_S), **terminal),
        book=BOOK.id,
        rig="rig",
        winning=BOOK.winning_areas,
    )


def judged(entry: Entry):
    return judge_entry(entry, BOOK, None, Limits(settle_s=LIMIT_S, map_verified=True))


def out(area: str, after_s: float) -> Glow:
    return lambda lit, s: lit - ({area} if s > after_s else set())


def all_out(after_s: float) -> Glow:
    return lambda lit, s: lit if s < after_s else frozenset()


UNSTEADY: dict[str, tuple[Glow, frozenset[str]]] = {
    "all out after 80 ms": (all_out(0.08), LIT),
    "all out after 150 ms": (all_out(0.15), LIT),
    "all out after 1 s": (all_out(1.0), LIT),
    "one out after 150 ms": (out("small", 0.15), frozenset({"small"})),
    "one out after 500 ms": (out("small", 0.5), frozenset({"small"})),
    "one blinks at 1 Hz": (
        lambda lit, s: lit - ({"small"} if int(s * 2) % 2 else set()),
        frozenset({"small"}),
    ),
    "a wrong one comes on": (
        lambda lit, s: lit | ({"big"} if s > 0.45 else set()),
        frozenset({"big"}),
    ),
}


@pytest.mark.parametrize("paths", [(Inputs,), (Camera,), (Inputs, Camera)])
@pytest.mark.parametrize("kind", UNSTEADY)
def test_lamps_that_do_not_stay_right_are_the_tables(kind, paths):
    """Fails if lamps pass that were right for a moment only."""
    glow, flicker = UNSTEADY[kind]
    entry = taker_of(glow, paths=paths).enter(0, KEYS, mode="entered")
    judgement = judged(entry)
    assert judgement.verdict is Verdict.DUT_FAIL
    assert judgement.flicker == flicker
    assert entry.lit("cleared") == frozenset()


STEADY: dict[str, Glow] = {
    "at once": lambda lit, s: lit,
    "within the limit": lambda lit, s: lit if s > 0.08 else frozenset(),
    "bouncing within the limit": lambda lit, s: lit if s > 0.08 or int(s * 50) % 2 else frozenset(),
    "wrong within the limit": lambda lit, s: lit if s > 0.06 else frozenset({"big"}),
}


@pytest.mark.parametrize("terminal", [{}, {"commit": "entry-key"}])
@pytest.mark.parametrize("paths", [(Inputs,), (Camera,), (Inputs, Camera)])
@pytest.mark.parametrize("kind", STEADY)
def test_lamps_that_are_steady_by_the_limit_pass(kind, paths, terminal):
    """Fails if what lamps may do until the limit of settling counts as unsteady."""
    taker = taker_of(STEADY[kind], paths=paths, **terminal)
    for index, keys in enumerate((KEYS, ("6", "6", "6"), KEYS)):
        entry = taker.enter(index, keys, mode="entered")
        assert judged(entry).verdict is Verdict.PASS, judged(entry).what


@pytest.mark.parametrize(
    ("glow", "late"),
    [
        (lambda lit, s: lit - ({"small"} if s < 0.4 else set()), {"small"}),
        (lambda lit, s: lit - ({"small"} if s < 1.3 else set()), set()),
        (lambda lit, s: lit - {"small"}, set()),
        (lambda lit, s: lit | {"big"}, set()),
    ],
)
def test_lamps_that_were_never_right_are_not_unsteady(glow, late):
    """Fails if a late, a dead or a stuck lamp is told as one that does not stay."""
    entry = taker_of(glow).enter(0, KEYS, mode="entered")
    assert entry.late == late
    assert not judged(entry).flicker


def test_every_lamp_is_watched_for_half_a_second():
    """Fails if only lamps of the first entry are watched, or all of them again and again."""
    taker = taker_of(out("big", 0.5))
    assert judged(taker.enter(0, KEYS, mode="entered")).verdict is Verdict.PASS
    assert judged(taker.enter(1, ("6", "6", "4"), mode="entered")).flicker == {"big"}
    again = taker.enter(2, KEYS, mode="entered")
    assert again.ended - again.started < STEADY_S


class Sick(Inputs):
    """An input of ours that loses one lamp a while after it was lit."""

    def sense(self) -> LampSample:
        sample = super().sense()
        lost = time.monotonic() - self.table.committed_at > 0.3
        return replace(sample, lit=sample.lit - ({"small"} if lost else set()))


def test_one_path_alone_does_not_convict():
    """Fails if a path of ours that fails while it watches is a lamp of the table."""
    entry = taker_of(STEADY["at once"], paths=(Inputs, Sick)).enter(0, KEYS, mode="entered")
    assert judged(entry).verdict is Verdict.AMBIGUOUS
    assert judged(entry).disputed == {"small"}
    assert not judged(entry).flicker


def test_lamps_that_go_out_while_dice_are_laid_ahead():
    """Fails if lamps out before the clear key, and after the watch of the first, are unheard of."""
    taker = taker_of(all_out(1.8))
    assert judged(taker.enter(0, KEYS, mode="entered")).verdict is Verdict.PASS
    entry = taker.enter(1, KEYS, mode="entered", once_lit=lambda: time.sleep(1.9))
    assert judged(entry).flicker == LIT


FURTHER = (*KEYS, "5")
TAKEN = BOOK.winning_areas((2, 4, 5))


@pytest.mark.parametrize(
    ("glow", "table", "lit"),
    [
        (lambda lit, s: lit if not 0.07 < s < 0.16 else frozenset(), "ignored", LIT),
        (lambda lit, s: lit if s > 0.4 else frozenset(), "ignored", LIT),
        (lambda lit, s: lit if s > 0.08 else LIT, "last-three", TAKEN),
        (lambda lit, s: lit if s > 0.4 else frozenset(), "last-three", TAKEN),
    ],
)
@pytest.mark.parametrize("maker", ["ignored", "last-three"])
def test_a_dip_or_a_slow_lamp_does_not_decide_what_a_further_key_did(glow, table, lit, maker):
    """Fails if one look at the limit of settling is all that is known of a fourth key."""
    taker = taker_of(glow, fourth_key=table)
    taker._terminal = replace(taker._terminal, fourth_key=maker)
    entry = taker.enter(0, FURTHER, mode="entered")
    assert entry.lit("lit") == lit
    assert not entry.late


def test_a_slow_blink_is_seen_over_the_wire(bench, book):
    """Fails if a lamp that is lit for a second, then dark, passes."""
    arm(bench, "F15", lamp="small", hz=1)
    taker = EntryTaker(
        bench.keys,
        bench.lamps,
        Terminal(settle_s=0.1),
        book=book.id,
        rig="emulated",
        winning=book.winning_areas,
    )
    assert judged(taker.enter(0, KEYS, mode="entered")).flicker == {"small"}
