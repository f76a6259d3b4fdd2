"""Bugs of the table's firmware."""

from __future__ import annotations

from harness.emulator.bench import Bench
from harness.emulator.faults.parameters import Parameters, Undo, UnknownFaultError
from harness.emulator.firmware import Bug
from harness.emulator.terminal import FourthKey


def small_or_big(bench: Bench, given: Parameters) -> Undo:
    """Light small or big on triples: with range `open` from 3 to 18, `closed` from 4 to 17."""
    which = given.word("which", ("both", "small", "big"))
    low, high = {"open": (3, 18), "closed": (4, 17)}[given.word("range", ("open", "closed"))]

    def bug(entered: tuple[str, ...], lit: frozenset[str]) -> frozenset[str]:
        total = sum(map(int, entered))
        side = "small" if total <= 10 else "big"
        if _is_triple(entered) and which in ("both", side) and low <= total <= high:
            return lit | {side}
        return lit

    return _bug(bench, bug)


def double_dark_on_triple(bench: Bench, _given: Parameters) -> Undo:
    """Leave the double dark when all three dice show its number."""

    def bug(entered: tuple[str, ...], lit: frozenset[str]) -> frozenset[str]:
        return lit - {f"double-{entered[0]}"} if _is_triple(entered) else lit

    return _bug(bench, bug)


def totals_off(bench: Bench, given: Parameters) -> Undo:
    """Light the total `by` away from the right one, where there is such a total."""
    by = int(given.number("by", -13, 13))
    if by == 0:
        raise given.wrong("by", "a number that is not 0")

    def bug(entered: tuple[str, ...], lit: frozenset[str]) -> frozenset[str]:
        if len(entered) != 3:
            return lit
        total = sum(map(int, entered)) + by
        others = frozenset(area for area in lit if not area.startswith("total-"))
        return others | ({f"total-{total}"} if 4 <= total <= 17 else frozenset())

    return _bug(bench, bug)


def any_triple_dark(bench: Bench, _given: Parameters) -> Undo:
    """Never light any-triple."""
    return _bug(bench, lambda entered, lit: lit - {"any-triple"})


def order_dependent(bench: Bench, given: Parameters) -> Undo:
    """Leave the highest single number of a result dark when it is keyed in just this order."""
    result = given.dice("result")
    if len(set(result)) == 1:
        raise given.wrong("result", "three faces that are not all alike")
    missing = f"single-{max(result)}"
    return _bug(bench, lambda entered, lit: lit - {missing} if entered == result else lit)


def fourth_key(bench: Bench, given: Parameters) -> Undo:
    """Take a fourth key otherwise than configured."""
    terminal = bench.table.terminal
    behaviours: dict[str, FourthKey] = {
        "last-three": "last-three",
        "ignored": "ignored",
        "error": "error",
        "new-entry": "new-entry",
    }
    takes = behaviours[given.word("takes", tuple(behaviours))]
    if takes == terminal.settings.fourth_key:
        raise given.wrong("takes", "another behaviour than the configured one")
    terminal.fourth_key_taken = takes

    def undo() -> None:
        terminal.fourth_key_taken = None

    return undo


def early(bench: Bench, given: Parameters) -> Undo:
    """Light lamps after one or two keys, or after three before the entry key."""
    terminal = bench.table.terminal
    terminal.early_after = given.whole("after", 1, 3)

    def undo() -> None:
        terminal.early_after = None

    return undo


def residue(bench: Bench, given: Parameters) -> Undo:
    """Leave an area lit after the clear if the last result lit it."""
    table, area = bench.table, frozenset({given.area("lamp").partition(".")[0]})
    table.residue |= area

    def undo() -> None:
        table.residue -= area

    return undo


def entry_timeout(bench: Bench, given: Parameters) -> Undo:
    """Drop a half-made entry after `ms`, or with `never` not at all."""
    terminal = bench.table.terminal
    never = given.given("ms") == "never"
    terminal.timeout_override = (None if never else given.seconds("ms"),)

    def undo() -> None:
        terminal.timeout_override = None

    return undo


def interlock_open(bench: Bench, _given: Parameters) -> Undo:
    """Take entries that the interlock should refuse."""
    if not any(bench.rig.interlock.values()):
        raise UnknownFaultError("F30: this table has no interlock")
    terminal = bench.table.terminal
    terminal.unlocked_by_fault = True

    def undo() -> None:
        terminal.unlocked_by_fault = False

    return undo


def _bug(bench: Bench, bug: Bug) -> Undo:
    bench.table.logic.bugs.append(bug)
    return lambda: bench.table.logic.bugs.remove(bug)


def _is_triple(entered: tuple[str, ...]) -> bool:
    return len(entered) == 3 and len(set(entered)) == 1
