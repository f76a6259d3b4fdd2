"""Faults of the lamps and their drivers."""

from __future__ import annotations

from harness.emulator.bench import Bench
from harness.emulator.faults.parameters import Parameters, Undo


def dead(bench: Bench, given: Parameters) -> Undo:
    """Give an area whose lamps never light."""
    board = bench.table.lamps
    lamps = set(board.of(given.area("lamp")))
    board.dead |= lamps

    def undo() -> None:
        board.dead -= lamps

    return undo


def stuck_on(bench: Bench, given: Parameters) -> Undo:
    """Give an area whose lamps are always lit."""
    board = bench.table.lamps
    lamps = set(board.of(given.area("lamp")))
    board.stuck_on |= lamps

    def undo() -> None:
        board.stuck_on -= lamps

    return undo


def swapped(bench: Bench, given: Parameters) -> Undo:
    """Exchange the driver outputs of two areas."""
    board, a, b = bench.table.lamps, given.area("a"), given.area("b")
    if a == b:
        raise given.wrong("b", f"another area than {a}")
    board.exchanged |= {a: b, b: a}

    def undo() -> None:
        del board.exchanged[a], board.exchanged[b]

    return undo
