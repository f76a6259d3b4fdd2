"""Faults of the dice."""

from __future__ import annotations

from harness.emulator.bench import Bench
from harness.emulator.dice_box import Pose
from harness.emulator.faults.parameters import Parameters, Undo


def _pose(bench: Bench, pose: Pose) -> Undo:
    bench.dice.pose = pose
    bench.dice.tell()

    def undo() -> None:
        bench.dice.pose = None
        bench.dice.tell()

    return undo


def leaning(bench: Bench, _given: Parameters) -> Undo:
    """Let a die lean wherever the dice are laid or fall."""
    return _pose(bench, "leaning")


def stacked(bench: Bench, _given: Parameters) -> Undo:
    """Let a die lie on another wherever the dice are laid or fall."""
    return _pose(bench, "stacked")
