"""A dealer's slip: what is keyed is not what lies."""

from __future__ import annotations

from harness.emulator.bench import Bench
from harness.emulator.faults.parameters import Parameters, Undo


def slip(bench: Bench, given: Parameters) -> Undo:
    """Let `entered` reach the terminal when `shown` lie and are keyed; else keys work soundly."""
    shown, entered = given.dice("shown"), given.dice("entered")
    terminal, sound = bench.table.terminal, bench.table.terminal.slip

    def slips(keyed: tuple[str, ...]) -> tuple[str, ...]:
        lying = sorted(map(str, bench.dice.lying.values))
        return entered if sorted(keyed) == sorted(shown) == lying else keyed

    terminal.slip = slips

    def undo() -> None:
        terminal.slip = sound

    return undo
