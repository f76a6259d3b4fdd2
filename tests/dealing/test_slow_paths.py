"""Lamps sensed by a quick path and a slow one: the slow one hides nothing from the quick one."""

from __future__ import annotations

import time

from harness.dealing.entry import EntryTaker, Terminal
from harness.observations import LampSample
from harness.rig.roles import Press

LATE_S, LIMIT_S = 0.4, 0.25


class Table:
    """A table whose one lamp lights `LATE_S` after the third key, and its keys."""

    def __init__(self) -> None:
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
        lit = len(self.pressed) == 3 and moment >= self.pressed[2] + LATE_S
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


def entry_over(*paths: tuple[type[Path], str, float]):
    table = Table()
    taker = EntryTaker(
        table,
        [kind(table, *path) for kind, *path in paths],
        Terminal(settle_s=LIMIT_S),
        book="book",
        rig="rig",
        winning=lambda dice: frozenset({"small"}),
    )
    return taker.enter(1, ["1", "1", "2"], mode="entered")


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
