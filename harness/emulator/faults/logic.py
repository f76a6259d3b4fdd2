"""Bugs of the table's firmware."""

from __future__ import annotations

from harness.emulator.bench import Bench
from harness.emulator.faults.parameters import Parameters, Undo
from harness.emulator.firmware import Bug


def _bug(bench: Bench, bug: Bug) -> Undo:
    bench.table.logic.bugs.append(bug)
    return lambda: bench.table.logic.bugs.remove(bug)


def _is_triple(entered: tuple[str, ...]) -> bool:
    return len(entered) == 3 and len(set(entered)) == 1


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
