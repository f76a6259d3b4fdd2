"""People: a dealer's slip, an operator's answers."""

from __future__ import annotations

from harness.emulator.bench import Bench
from harness.emulator.desk import ANSWERS
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


def answer(bench: Bench, given: Parameters) -> Undo:
    """Let the operator answer prompts on a clause in a given way; with no clause, all prompts."""
    clause, says = given.given("clause"), given.word("answer", ANSWERS)
    desk = bench.desk
    if clause:
        desk.by_clause[clause] = says
    else:
        desk.default = says

    def undo() -> None:
        if clause:
            desk.by_clause.pop(clause, None)
        else:
            desk.default = "yes"

    return undo


def absent(bench: Bench, _given: Parameters) -> Undo:
    """Let the operator never answer."""
    bench.desk.absent = True

    def undo() -> None:
        bench.desk.absent = False

    return undo
