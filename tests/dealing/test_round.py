"""A round dealt over the wire: what stands on the timeline is what was sensed."""

from __future__ import annotations

import time

import pytest

from harness.dealing.errors import CoverSwitchError, RestlessDiceError, ShakeSensorError
from harness.dealing.look import Eyes
from harness.dealing.round import Round
from harness.rules.monitor import Monitor
from harness.rules.timeline import Event, Setup
from harness.vision.reader import DiceReader
from tests.dealing.conftest import arm

BETS_CLOSED = ("no-more-bets", "hand-motion")


@pytest.fixture(scope="session")
def reader() -> DiceReader:
    """The eyes' reader; its networks are loaded once."""
    return DiceReader()


@pytest.fixture
def dealing(bench, book, reader) -> Round:
    """A round on an inspected table, betting closed."""
    monitor = Monitor(book, Setup("manual", "opaque"))
    dealt = Round(bench, monitor, Eyes(bench.dice_cameras, reader), lambda event, found: None)
    dealt.note("inspect-terminal", {"by": "floorperson", "passed": True})
    dealt.note("table-open")
    dealt.note("round-start")
    for name in BETS_CLOSED:
        dealt.note(name)
    return dealt


def names(dealing: Round) -> list[str]:
    """Give the events after betting was closed."""
    found = [event.name for event in dealing.events]
    return found[found.index("hand-motion") + 1 :]


def test_strokes_are_those_that_the_sensor_counted(dealing):
    """Fails if what was commanded stands for what was sensed, or order is lost."""
    dealing.cover()
    assert dealing.shake(3) == 3
    dealing.uncover()
    assert names(dealing) == ["cover-on", "shake", "shake", "shake", "cover-off"]
    assert not dealing.departures


def test_too_few_strokes_are_a_persons_departure(dealing, bench):
    """Fails if a stroke that did not happen is counted."""
    arm(bench, "F51", count=2)
    dealing.cover()
    assert dealing.shake(3) == 2
    dealing.uncover()
    assert [one.deviation.clause for one in dealing.departures] == ["ny.e.3"]
    assert not dealing.departures[0].of_machine


def test_cover_that_opens_by_itself_is_seen_when_it_happens(dealing, bench):
    """Fails if an unbidden opening is missed or put at the end."""
    arm(bench, "F49", after=1)
    dealing.cover()
    dealing.shake(3)
    assert names(dealing).index("cover-off") < len(names(dealing)) - 1
    assert len(dealing.cover_moved_unbidden) == 1


def test_no_die_is_legible_under_the_cover(dealing):
    """Fails if the cover is looked at too seldom, or a gleam on it passes for a die."""
    dealing.cover()
    dealing.shake(3)
    dealing.uncover()
    assert len(dealing.under_cover) > 3
    assert dealing.dice_seen_under_cover == 0


def test_stuck_cover_switch_is_our_fault_and_the_camera_disagrees(dealing, bench):
    """Fails if a switch that does not follow is believed, or blames anybody."""
    arm(bench, "F48")
    with pytest.raises(CoverSwitchError) as refused:
        dealing.cover()
    assert "the camera sees no dice" in refused.value.found
    assert dealing.sensor_failed


def test_sensor_that_always_says_shaking_is_our_fault(dealing, bench):
    """Fails if a stuck sensor counts as a shake."""
    arm(bench, "F50", value=1)
    with pytest.raises(ShakeSensorError):
        dealing.shake(1)
    assert "shake" not in names(dealing)


def test_dead_sensor_is_told_from_dice_that_were_not_shaken(dealing, bench):
    """Fails if dice that moved without a counted stroke are blamed on the dealer."""
    dealing.before_toss = dealing._eyes.look_at_leisure()
    arm(bench, "F50", value=0)
    dealing.shake(3)
    with pytest.raises(ShakeSensorError):
        dealing.rest()
    assert dealing.sensor_failed


def test_dice_at_rest_stand_on_the_timeline_as_read(dealing, bench):
    """Fails if a reading is not that of the dice laid, or a leaning die gets a value."""
    bench.presenter.present((1, 2, 6), "flat")
    look = dealing.rest(laid=True)
    assert look.seen.values == (1, 2, 6)
    assert dealing.events[-1].data == {"values": [1, 2, 6]}
    bench.presenter.present((4, 5, 6), "stacked")
    seen = dealing._eyes.look(time.monotonic(), moved=True).seen
    assert seen.values == ()


def test_events_never_run_backwards(dealing):
    """Fails if an observation made earlier breaks the timeline's order."""
    dealing.note("cover-on")
    dealing.note("dice-at-rest", {"values": [1, 2, 3]}, at=time.monotonic() - 100)
    times = [event.t for event in dealing.events]
    assert times == sorted(times)
    assert isinstance(dealing.events[0], Event)


def test_dice_that_never_rest_say_nothing_of_the_sensor(dealing, bench):
    """Fails if a sensor that counted nothing is blamed by dice that move all the time."""
    arm(bench, "F50", value=0)
    arm(bench, "F55")
    dealing.before_toss = dealing._eyes.look_at_leisure()
    dealing.shake(3)
    with pytest.raises(RestlessDiceError):
        dealing.rest()
    assert not dealing.sensor_failed
