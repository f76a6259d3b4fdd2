"""Faults of the link between a device and who asks it."""

from __future__ import annotations

from harness.emulator.bench import Bench
from harness.emulator.faults.parameters import Parameters, Undo


def silent(bench: Bench, given: Parameters) -> Undo:
    """Give a device that hears and never answers."""
    link = bench.links[given.device("device")]
    link.silent = True

    def undo() -> None:
        link.silent = False

    return undo
