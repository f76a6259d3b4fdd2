"""Faults of the lamps and their drivers. A lamp is named by its area, or as `area.2`."""

from __future__ import annotations

from harness.emulator.bench import Bench
from harness.emulator.faults.parameters import Parameters, Undo
from harness.emulator.lamps import Lamp

_GROUPS = ("totals", "singles", "doubles", "triples", "pairs", "sides")


def dead(bench: Bench, given: Parameters) -> Undo:
    """Give an area whose lamps never light."""
    return _members(bench.table.lamps.dead, bench.table.lamps.of(given.area("lamp")))


def stuck_on(bench: Bench, given: Parameters) -> Undo:
    """Give an area whose lamps are always lit."""
    return _members(bench.table.lamps.stuck_on, bench.table.lamps.of(given.area("lamp")))


def swapped(bench: Bench, given: Parameters) -> Undo:
    """Exchange the driver outputs of two areas."""
    board = bench.table.lamps
    a, b = _two(given)
    board.exchanged |= {a: b, b: a}

    def undo() -> None:
        del board.exchanged[a], board.exchanged[b]

    return undo


def bridged(bench: Bench, given: Parameters) -> Undo:
    """Bridge the driver outputs of two areas: either lights both."""
    pair = _two(given)
    bench.table.lamps.bridged.append(pair)
    return lambda: bench.table.lamps.bridged.remove(pair)


def dim(bench: Bench, given: Parameters) -> Undo:
    """Let an area's lamps give less light."""
    level = given.number("level", 0, 1)
    return _values(bench.table.lamps.dimmed, bench.table.lamps.of(given.area("lamp")), level)


def flicker(bench: Bench, given: Parameters) -> Undo:
    """Let an area's lamps go on and off."""
    hz = given.number("hz", 0.01, 1000)
    return _values(bench.table.lamps.flicker_hz, bench.table.lamps.of(given.area("lamp")), hz)


def common_open(bench: Bench, given: Parameters) -> Undo:
    """Open the common wire of a group of areas."""
    board, name = bench.table.lamps, given.word("group", _GROUPS)
    group = frozenset(lamp.area for lamp in board.lamps if _in_group(lamp.area, name))
    if not group:
        raise given.wrong("group", "a group that this table has lamps of")
    board.open_commons.append(group)
    return lambda: board.open_commons.remove(group)


def late(bench: Bench, given: Parameters) -> Undo:
    """Let an area's lamps follow late."""
    late_s = given.seconds("ms")
    return _values(bench.table.lamps.late_s, bench.table.lamps.of(given.area("lamp")), late_s)


def _in_group(area: str, group: str) -> bool:
    if group == "sides":
        return area in ("small", "big")
    return area.startswith(group.removesuffix("s") + "-")


def _two(given: Parameters) -> tuple[str, str]:
    a, b = given.area("a"), given.area("b")
    if a == b:
        raise given.wrong("b", f"another area than {a}")
    return a, b


def _members(lamps: set[Lamp], wanted: tuple[Lamp, ...]) -> Undo:
    lamps.update(wanted)
    return lambda: lamps.difference_update(wanted)


def _values(lamps: dict[Lamp, float], wanted: tuple[Lamp, ...], value: float) -> Undo:
    lamps.update(dict.fromkeys(wanted, value))

    def undo() -> None:
        for lamp in wanted:
            lamps.pop(lamp, None)

    return undo
