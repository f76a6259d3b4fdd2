"""What a camera sees of driven lamps: their mean over whole periods, chance over a part of one."""

from __future__ import annotations

import pytest

from harness.emulator.clock import ManualClock, Timeline
from harness.emulator.lamps import Lamp, LampBoard, LampDrive

LAMPS = [Lamp(f"area-{n}") for n in range(9)]
PWM = LampDrive("pwm", 400.0, 0.6)
MULTIPLEXED = LampDrive("multiplexed", 250.0)


def brightness(drive: LampDrive, seconds: float) -> list[float]:
    """Give the brightness of every lamp, lit, at moments all over a period."""
    clock = ManualClock()
    timeline = Timeline(clock)
    board = LampBoard(timeline, LAMPS, 0.0, drive)
    board.command(frozenset(lamp.area for lamp in LAMPS))
    seen = []
    for step in range(40):
        clock.time = 1.0 + step * 0.00037
        timeline.catch_up()
        seen += board.exposed(seconds).values()
    return seen


@pytest.mark.parametrize("drive", [LampDrive(), PWM, MULTIPLEXED])
def test_over_whole_periods_a_good_lamp_gives_its_mean(drive):
    """Fails if a good lamp looks dim or flickering in an exposure over whole periods."""
    assert brightness(drive, 0.02) == pytest.approx([1.0] * 40 * len(LAMPS), abs=1e-6)


@pytest.mark.parametrize("drive", [PWM, MULTIPLEXED])
def test_over_a_part_of_a_period_it_is_as_it_happens(drive):
    """Fails if a short exposure shows driven lamps steady, as no camera does."""
    seen = brightness(drive, 0.4 / drive.hz)
    assert min(seen) < 0.2
    assert max(seen) > 1.5


def test_half_a_period_too_many_shows():
    """Fails if an exposure over two and a half periods is taken for one over whole ones."""
    seen = brightness(MULTIPLEXED, 0.01)
    assert min(seen) == pytest.approx(0.8, abs=0.02)
    assert max(seen) == pytest.approx(1.2, abs=0.02)


def test_a_dark_lamp_is_dark_however_long_one_looks():
    """Fails if an exposure lights a lamp that is not commanded."""
    board = LampBoard(Timeline(ManualClock()), LAMPS, 0.0, PWM)
    assert set(board.exposed(0.02).values()) == {0.0}


def test_a_dead_lamp_of_two_is_dark_by_itself():
    """Fails if a camera sees an area's two lamps as one."""
    pair = [Lamp("small"), Lamp("small", 1)]
    clock = ManualClock()
    timeline = Timeline(clock)
    board = LampBoard(timeline, pair, 0.0, PWM)
    board.dead.add(pair[1])
    board.command(frozenset({"small"}))
    clock.time = 1.0
    timeline.catch_up()
    assert board.exposed(0.02) == {"small": pytest.approx(1.0), "small.2": 0.0}
