"""Readings without a checksum: believed once they repeat, strays told from lamps and contacts."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.rig.confirmed import BOUNCE_S, MOST_READINGS, Confirmation, until_alike
from harness.rig.device import LinkRecord
from tests.rig.noise_unsummed import LINKS, run

DARK, LIT = {"a": False, "b": False}, {"a": True, "b": False}


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("harness.rig.confirmed.time.monotonic", lambda: self.now)


def read(confirmation: Confirmation, readings: Iterable[dict[str, bool]]) -> dict[str, bool]:
    """Give what is told of these readings, all of which must be used up."""
    left = iter(readings)
    told = confirmation.read(lambda: next(left))
    assert next(left, None) is None, "a reading was left"
    return dict(told.values)


def test_what_is_as_before_is_read_once_and_what_is_new_until_it_repeats() -> None:
    confirmation = Confirmation("inputs", LinkRecord("inputs"))
    assert read(confirmation, [DARK, DARK]) == DARK
    assert read(confirmation, [DARK]) == DARK
    assert read(confirmation, [LIT, LIT]) == LIT
    assert read(confirmation, [DARK, LIT, LIT]) == LIT


def test_a_link_that_spoilt_replies_must_repeat_itself_twice() -> None:
    link = LinkRecord("inputs", failures={"no-reply": 1})
    confirmation = Confirmation("inputs", link)
    assert read(confirmation, [DARK, DARK, DARK]) == DARK
    assert read(confirmation, [LIT, LIT, DARK, DARK, DARK]) == DARK


def test_what_never_repeats_is_told_as_it_was_read_last() -> None:
    """Lamps that change all the time are no fault of the link: fails if reading goes on."""
    confirmation = Confirmation("inputs", LinkRecord("inputs"))
    restless = list(itertools.islice(itertools.cycle([LIT, DARK]), MOST_READINGS))
    assert read(confirmation, restless) == restless[-1]


def test_what_is_new_was_so_when_the_first_of_the_readings_alike_had_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Fails if a lamp counts as lit only once it is confirmed: slow links would make it late."""
    clock, confirmation = Clock(monkeypatch), Confirmation("inputs", LinkRecord("inputs"))
    read(confirmation, [DARK, DARK])
    left = iter([{"a": False, "b": True}, LIT, LIT])

    def once() -> dict[str, bool]:
        clock.now += 1.0
        return next(left)

    assert confirmation.read(once).at == 102.0


def test_levels_are_alike_within_the_tolerance() -> None:
    confirmation = Confirmation("daq", LinkRecord("daq"), tolerance=0.1)
    levels = iter([{"a": 5.0}, {"a": 5.05}, {"a": 4.98}, {"a": 3.0}, {"a": 5.0}, {"a": 5.01}])
    assert [confirmation.read(lambda: next(levels)).values["a"] for _ in range(3)] == [
        5.05,
        4.98,
        5.01,
    ]


def test_strays_over_several_channels_are_the_links(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, link = Clock(monkeypatch), LinkRecord("inputs")
    confirmation = Confirmation("inputs", link)
    read(confirmation, [DARK, DARK])
    for stray in (LIT, {"a": False, "b": True}, LIT):
        after = [DARK] * (3 if confirmation.doubted else 2)
        read(confirmation, [stray, *after])
        clock.now += 2 * BOUNCE_S
    read(confirmation, [LIT] * 3)
    assert link.failures == {"corrupt-reply": 3}


def test_strays_of_one_channel_are_not_the_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loose lamp: fails if it is called a bad link."""
    clock, link = Clock(monkeypatch), LinkRecord("inputs")
    confirmation = Confirmation("inputs", link)
    read(confirmation, [DARK, DARK])
    for _ in range(5):
        read(confirmation, [LIT, *[DARK] * (3 if confirmation.doubted else 2)])
        clock.now += 2 * BOUNCE_S
    assert link.failures == {}


def test_contacts_that_bounce_are_not_the_links(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, link = Clock(monkeypatch), LinkRecord("inputs")
    confirmation = Confirmation("inputs", link)
    read(confirmation, [DARK, DARK])
    for name in ("a", "b", "a", "b"):
        on = {**DARK, name: True}
        for before, after in ((DARK, on), (on, DARK)):
            settle = 3 if confirmation.doubted else 2
            read(confirmation, [after, *[before] * settle])  # bounced
            clock.now += BOUNCE_S / 4
            read(confirmation, [after] * (3 if confirmation.doubted else 2))
            clock.now += 2 * BOUNCE_S
    assert link.failures == {}


@given(st.lists(st.integers(0, 3), min_size=2, max_size=20))
def test_of_readings_two_in_a_row_are_alike_or_the_last_is_told(readings: list[int]) -> None:
    left = itertools.chain(readings, itertools.repeat(9))
    seen: list[int] = []

    def once() -> int:
        seen.append(next(left))
        return seen[-1]

    told = until_alike(once, lambda a, b: a == b)
    assert told == seen[-1]
    assert seen[-2] == told or len(seen) == MOST_READINGS
    assert all(a != b for a, b in itertools.pairwise(seen[:-1]))


@pytest.mark.parametrize("name", LINKS)
def test_nothing_wrong_is_accepted_over_links_without_checksum(name: str) -> None:
    """A part of the exchanges of the long checks; fails if one flipped bit is taken for a lamp."""
    exchanges = 60 if name == "scpi-daq" else 120  # an instrument is slow after a silence
    ended = run(name, exchanges)
    assert ended["answered"] > exchanges // 4
    assert ended["corrupt-reply repeated"] > 0
