"""Limits of the terminal, measured by pressing keys: found where they lie, or not told at all."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from harness.dealing import key_limits
from harness.dealing.key_limits import KEY, forgotten_after, shortest_press
from harness.observations import LampSample
from harness.rig.roles import Press

PRESS_S = 0.01


class Terminal:
    """Three presses light a lamp, if each was long enough and came soon enough after the last."""

    keys = (KEY, "clear")

    def __init__(
        self,
        forgets_s: float = 9.0,
        needs_s: float = 0.0,
        loses: Callable[[], bool] = lambda: False,
    ) -> None:
        self.forgets_s, self.needs_s, self.loses = forgets_s, needs_s, loses
        self.taken, self.last = 0, 0.0

    def press(self, key: str, press_s: float = PRESS_S) -> Press:
        closed = time.monotonic()
        if key == "clear":
            self.taken = 0
        elif press_s >= self.needs_s and not self.loses():
            if self.taken < 3 and closed - self.last > self.forgets_s:
                self.taken = 0
            self.taken, self.last = self.taken + 1, closed
        time.sleep(press_s)
        return Press(key, closed, time.monotonic())

    def sense(self) -> tuple[LampSample, ...]:
        lit = frozenset({"small"}) if self.taken >= 3 else frozenset[str]()
        return (LampSample(time.monotonic(), "inputs", lit),)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Nobody waits here for the pauses of a real table."""
    monkeypatch.setattr(key_limits, "_PAUSES_S", (0.03, 0.06, 0.09, 0.15, 0.3))


def measured(terminal: Terminal):
    return forgotten_after(terminal, terminal.sense, 0.01, enter=False)


def test_when_an_entry_is_dropped_lies_between_the_times_told():
    low, high = measured(Terminal(forgets_s=0.12))
    assert 0.06 < low < 0.12 < high < 0.2


def test_an_entry_that_lasts_has_no_upper_time():
    """Fails if a terminal that remembers is said to forget, or if that is not told."""
    low, high = measured(Terminal())
    assert low >= 0.3
    assert high is None


def test_what_is_never_taken_or_only_now_and_then_tells_nothing():
    """Fails if a dead key, or one that fails now and then, passes for a terminal that forgets."""
    assert measured(Terminal(loses=lambda: True)) is None
    presses = iter(range(1000))
    assert measured(Terminal(loses=lambda: next(presses) % 11 == 10)) is None


def test_the_shortest_press_lies_between_the_times_told():
    terminal = Terminal(needs_s=0.05)
    found = shortest_press(terminal, terminal.sense, 0.01, enter=False)
    assert found.low < 0.05 <= found.high < 0.08
