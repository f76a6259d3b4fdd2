"""Faults of the supply, and of the table behind it."""

from __future__ import annotations

from harness.emulator.bench import Bench
from harness.emulator.faults.parameters import Parameters, Undo, UnknownFaultError
from harness.emulator.power import Ghost


def _supply(bench: Bench) -> str:
    for device in bench.rig.devices.values():
        if device.driver == "scpi-supply":
            return device.name
    raise UnknownFaultError("F40 to F44 need a supply, which this bench has not")


def state(bench: Bench, given: Parameters) -> Undo:
    """Put the supply into constant current (`cc`), or trip its over-voltage protection (`ovp`)."""
    _supply(bench)
    power = bench.power
    if given.word("state", ("cc", "ovp")) == "cc":
        power.constant_current = True
    else:
        power.tripped = True
    power.changed()

    def undo() -> None:
        power.constant_current = power.tripped = False
        power.changed()

    return undo


def wrong_volts(bench: Bench, given: Parameters) -> Undo:
    """Let the voltage read back be `volts` under the set one."""
    _supply(bench)
    bench.power.offset_volts = given.number("volts", -100, 100)

    def undo() -> None:
        bench.power.offset_volts = 0.0

    return undo


def brown_out(bench: Bench, given: Parameters) -> Undo:
    """Give a table that keeps ghosts after dips to `volts` of nominal or less for `ms` or more."""
    _supply(bench)
    bench.power.ghost = Ghost(given.number("volts", 0, 1), given.seconds("ms"))

    def undo() -> None:
        bench.power.ghost = None

    return undo


def no_restart(bench: Bench, _given: Parameters) -> Undo:
    """Give a table that stays dead after a power cycle."""
    _supply(bench)
    bench.power.never_restarts = True

    def undo() -> None:
        bench.power.never_restarts = False

    return undo


def link_lost(bench: Bench, _given: Parameters) -> Undo:
    """Lose the supply's link as soon as its output is off."""
    link = bench.links[_supply(bench)]

    def mangle(request: bytes, reply: bytes) -> bytes:
        return reply if bench.power.on else b""

    link.mangles.append(mangle)
    return lambda: link.mangles.remove(mangle)
