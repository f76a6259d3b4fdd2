"""Faults of the terminal's keys and of what presses them."""

from __future__ import annotations

from harness.emulator.bench import Bench
from harness.emulator.faults.parameters import Parameters, Undo


def dead(bench: Bench, given: Parameters) -> Undo:
    """Give a key whose contact never closes."""
    keypad, key = bench.table.keypad, given.key("key")
    keypad.dead.add(key)
    keypad.refresh()

    def undo() -> None:
        keypad.dead.discard(key)
        keypad.refresh()

    return undo
