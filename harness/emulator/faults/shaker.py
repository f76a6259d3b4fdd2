"""Faults of the shaker, its cover and their sensors, and of the countdown."""

from __future__ import annotations

from harness.emulator.bench import Bench
from harness.emulator.countdown import Countdown
from harness.emulator.faults.parameters import Parameters, Undo, UnknownFaultError
from harness.emulator.shaker import Shaker


def _machine(bench: Bench, number: str) -> Shaker:
    if bench.shaker.settings.kind == "manual":
        raise UnknownFaultError(f"{number}: the shaker of this bench is no machine")
    return bench.shaker


def hangs(bench: Bench, given: Parameters) -> Undo:
    """Ignore the start, or never say done."""
    shaker = _machine(bench, "F45")
    phase = given.word("phase", ("start", "done"))
    shaker.starts_ignored, shaker.never_done = phase == "start", phase == "done"

    def undo() -> None:
        shaker.starts_ignored = shaker.never_done = False
        shaker.done = True

    return undo


def done_without_motion(bench: Bench, _given: Parameters) -> Undo:
    """Say done without having moved the dice."""
    shaker = _machine(bench, "F46")
    shaker.without_motion = True

    def undo() -> None:
        shaker.without_motion = False

    return undo


def fault_line(bench: Bench, _given: Parameters) -> Undo:
    """Raise the fault line when started."""
    shaker = _machine(bench, "F47")
    shaker.raises_fault = True

    def undo() -> None:
        shaker.raises_fault = shaker.fault_line = False
        shaker.done = True

    return undo


def cover_switch(bench: Bench, _given: Parameters) -> Undo:
    """Let the cover switch stay as it is now."""
    shaker = _covered(bench, "F48")
    shaker.cover_switch_stuck = shaker.cover_on

    def undo() -> None:
        shaker.cover_switch_stuck = None

    return undo


def cover_opened(bench: Bench, given: Parameters) -> Undo:
    """Let the cover come off during the shaking, after so many strokes."""
    shaker = _covered(bench, "F49")
    shaker.opens_cover_after = given.whole("after", 0)

    def undo() -> None:
        shaker.opens_cover_after = None

    return undo


def shake_sensor(bench: Bench, given: Parameters) -> Undo:
    """Let the shake sensor be dead (0) or always on (1)."""
    bench.shaker.sensor_stuck = given.word("value", ("0", "1")) == "1"

    def undo() -> None:
        bench.shaker.sensor_stuck = None

    return undo


def too_few(bench: Bench, given: Parameters) -> Undo:
    """Make no more than `count` strokes in a round, whatever is asked for."""
    bench.shaker.count_override = given.whole("count", 0)

    def undo() -> None:
        bench.shaker.count_override = None

    return undo


def countdown_drift(bench: Bench, given: Parameters) -> Undo:
    """Let the countdown take `percent` longer; less than nothing makes it end early."""
    countdown = _countdown(bench, "F63")
    countdown.rate = 1 / (1 + given.number("percent", -99, 1000) / 100)

    def undo() -> None:
        countdown.rate = 1.0

    return undo


def toss_during_countdown(bench: Bench, given: Parameters) -> Undo:
    """Take a toss up to `ms` before the countdown ends."""
    countdown = _countdown(bench, "F64")
    countdown.toss_early_s = given.seconds("ms")

    def undo() -> None:
        countdown.toss_early_s = 0.0

    return undo


def _covered(bench: Bench, number: str) -> Shaker:
    if not bench.shaker.settings.has_cover:
        raise UnknownFaultError(f"{number}: the shaker of this bench has no cover")
    return bench.shaker


def _countdown(bench: Bench, number: str) -> Countdown:
    if "countdown" not in bench.rig.roles:
        raise UnknownFaultError(f"{number}: this bench has no countdown")
    return bench.countdown
