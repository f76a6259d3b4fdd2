"""One result entered over the wire: what is sensed when, and what is never repeated."""

from __future__ import annotations

import pytest

from harness.dealing.entry import EntryTaker, Terminal
from tests.dealing.conftest import arm, hand

DICE = (3, 3, 3)
KEYS = ("3", "3", "3")


@pytest.fixture
def taker(bench, book) -> EntryTaker:
    """Makes entries on the emulated bench."""
    return EntryTaker(
        bench.keys,
        bench.lamps,
        Terminal(settle_s=0.1, patience_s=1.0),
        book=book.id,
        rig="emulated",
        winning=book.winning_areas,
    )


def test_lamps_are_sensed_at_every_stage(taker, book):
    """Fails if a stage is left out, or lamps are taken for lit before the last key."""
    entry = taker.enter(1, KEYS, mode="entered")
    assert entry.keyed == KEYS
    assert not entry.faults
    for stage in ("before", "after-1", "after-2", "cleared"):
        assert entry.lit(stage) == frozenset(), stage
    assert entry.lit("lit") == book.winning_areas(DICE)
    assert entry.cleared_by_key
    assert entry.settle_s is not None
    assert entry.settle_s < 0.1


def test_next_dice_are_asked_for_while_the_lamps_are_lit(taker, bench):
    """Fails if what is done ahead happens before the lamps were sensed or after the clear key."""
    lit_then: list[int] = []
    entry = taker.enter(
        1, KEYS, mode="entered", once_lit=lambda: lit_then.append(len(bench.lamps[0].sense().lit))
    )
    assert lit_then == [len(entry.lit("lit") or ())]
    assert [staged.stage for staged in entry.lamps].count("lit") >= 2


def test_dice_without_a_reading_are_not_entered(taker):
    """Fails if a key is pressed for dice that have no values."""
    before = taker.sense_all()
    entry = taker.enter(1, (), mode="presented", shown=DICE)
    assert entry.keyed == ()
    assert entry.lamps == ()
    assert not entry.cleared_by_key
    assert taker.sense_all()[0].lit == before[0].lit


def test_late_lamp_is_told_from_a_dead_one(taker, bench, book):
    """Fails if a lamp that settles late counts as dark, or as in time."""
    arm(bench, "F20", lamp="total-9", ms=400)
    entry = taker.enter(1, KEYS, mode="entered")
    assert entry.lit("lit") == book.winning_areas(DICE)
    assert entry.settle_s is not None
    assert entry.settle_s > 0.1
    assert entry.late == {"total-9"}


def test_dead_lamp_is_recorded_dark(taker, bench, book):
    """Fails if what must be lit colours what was sensed."""
    arm(bench, "F10", lamp="total-9")
    entry = taker.enter(1, KEYS, mode="entered")
    assert entry.lit("lit") == book.winning_areas(DICE) - {"total-9"}


def test_patience_with_a_faulty_table_ends(taker, bench):
    """Fails if every result of a faulty table is watched for the longest time."""
    arm(bench, "F10", lamp="total-9")
    waits = []
    for index in range(6):
        entry = taker.enter(index, KEYS, mode="entered")
        waits.append(entry.ended - entry.started)
    assert min(waits[:2]) > 1.0
    assert waits[-1] < min(waits[:2])


def test_press_whose_reply_is_lost_is_not_sent_again(taker, bench):
    """Fails if a press is repeated, or the entry goes on as if it were known."""
    arm(bench, "F33", device="keys", nth=1)
    entry = taker.enter(1, ("1", "2", "4"), mode="entered")
    assert [fault["fault"] for fault in entry.faults] == ["press-unknown"]
    assert entry.keyed == ("1",)
    assert not entry.cleared_by_key or entry.lit("cleared") is None
    bench.release_all()
    state = hand(bench).do("state")
    assert "1,1" not in str(state.get("terminal"))


def test_silent_inputs_end_the_entry_as_our_fault(taker, bench):
    """Fails if lamps that could not be sensed look dark."""
    arm(bench, "F31", device="inputs")
    entry = taker.enter(1, KEYS, mode="entered")
    assert [fault["part"] for fault in entry.faults] == ["device:inputs"]
    assert entry.lit("lit") is None
