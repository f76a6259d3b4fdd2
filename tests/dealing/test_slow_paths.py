"""Lamps sensed by a quick path and a slow one: the slow one hides nothing from the quick one."""

from __future__ import annotations

import time

from harness.dealing.entry import EntryTaker, Terminal
from harness.observations import LampSample
from harness.rig.roles import Press

LATE_S, LIMIT_S = 0.4, 0.25
KEYS = ("1", "1", "2")


class Table:
    """A table whose one lamp lights `late_s` after the third key, and its keys."""

    def __init__(self, late_s: float) -> None:
        self.late_s = late_s
        self.pressed: list[float] = []

    def press(self, key: str) -> Press:
        now = time.monotonic()
        if key == "clear":
            self.pressed = []
        else:
            self.pressed.append(now)
        return Press(key, now, now)

    def release_all(self) -> None:
        """No contact is held."""

    def lit_at(self, moment: float) -> frozenset[str]:
        lit = len(self.pressed) == 3 and moment >= self.pressed[2] + self.late_s
        return frozenset({"small"} if lit else ())


class Path:
    """Sees the table as it is when asked, and takes its time to say so."""

    def __init__(self, table: Table, name: str, takes_s: float) -> None:
        self.table, self.name, self.takes_s = table, name, takes_s

    def sense(self) -> LampSample:
        lit = self.table.lit_at(time.monotonic())
        time.sleep(self.takes_s)
        return LampSample(time.monotonic(), self.name, lit)


class Seen(Path):
    """The same by camera: it can be watched, and is asked while other paths are."""

    def watch(self, seconds: float) -> LampSample:
        return self.sense()


def taker_over(
    *paths: tuple[type[Path], str, float],
    late_s: float = LATE_S,
    limit_s: float = LIMIT_S,
    entry_timeout_s: float | None = None,
) -> EntryTaker:
    table = Table(late_s)
    return EntryTaker(
        table,
        [kind(table, *path) for kind, *path in paths],
        Terminal(settle_s=limit_s, entry_timeout_s=entry_timeout_s),
        book="book",
        rig="rig",
        winning=lambda dice: frozenset({"small"}),
    )


def entry_over(*paths: tuple[type[Path], str, float]):
    return taker_over(*paths).enter(1, KEYS, mode="entered")


def test_a_lamp_that_is_late_is_late_though_a_camera_takes_its_time():
    """Fails if the quick path waits for the slow one and so looks just before and long after."""
    entry = entry_over((Path, "inputs", 0.005), (Seen, "layout", 0.23))
    assert entry.late == {"small"}
    assert LIMIT_S < entry.settle_s <= LATE_S
    lit = [staged.sample for staged in entry.lamps if staged.stage == "lit"]
    assert [sample.path for sample in lit] == ["inputs", "layout"] * (len(lit) // 2)
    assert all(sample.lit == {"small"} for sample in lit[:2])
    assert entry.lit("cleared") == frozenset()


def test_a_slow_path_alone_is_enough():
    """Fails if an entry needs a quick path to end."""
    entry = entry_over((Seen, "layout", 0.05))
    assert entry.lit("lit") == {"small"}
    assert entry.faults == ()


def test_a_look_begun_before_the_limit_calls_nothing_dark():
    """Each look takes longer than the limit: fails if the table is blamed once patience is out."""
    taker = taker_over((Path, "inputs", 0.08), late_s=0.01, limit_s=0.05)
    for index in range(5):
        entry = taker.enter(index, KEYS, mode="entered")
        assert entry.lit("lit") == {"small"}
        assert not entry.late
        assert taker.too_slow == {"inputs"}, "such looks cannot tell in time from late"


def test_looks_close_enough_time_the_lamps():
    """Fails if a rig that can judge the limit says that it cannot."""
    for late_s in (0.02, LATE_S):
        taker = taker_over((Path, "inputs", 0.03), (Seen, "layout", 0.3), late_s=late_s)
        entry = taker.enter(1, KEYS, mode="entered")
        assert not taker.too_slow
        assert bool(entry.late) is (late_s > LIMIT_S)


def test_an_entry_that_we_made_too_slowly_is_our_fault():
    """Fails if a terminal is blamed that forgot a half-made entry in its own good time."""
    taker = taker_over((Path, "inputs", 0.2), late_s=0.0, entry_timeout_s=0.15)
    entry = taker.enter(1, KEYS, mode="entered")
    assert [fault["fault"] for fault in entry.faults] == ["host-lag"]
    assert entry.keyed == ("1", "1"), "nothing is pressed after that"


def test_a_pause_meant_to_outlast_the_terminals_memory_is_no_fault():
    taker = taker_over((Path, "inputs", 0.01), late_s=0.0, entry_timeout_s=0.15)
    assert not taker.enter(1, KEYS, mode="entered", pause_after_first_s=0.2).faults
