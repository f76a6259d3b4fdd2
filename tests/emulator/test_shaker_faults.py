"""Shakers, covers, countdowns and their faults, as the switches and lines show them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from .conftest import RIGS, Emulated, written

COVER, SHAKE, DONE, FAULT, RUNNING = 50, 51, 52, 53, 54
START, COUNTDOWN = 7, 6


QUICK = "[emulator.options]\nstroke_ms = 200\nthrown_ms = 150\nrest_ms = 50\n"
"""Three tumbles and the rest take 650 ms."""


@pytest.fixture(scope="module")
def machine(tmp_path_factory) -> Iterator[Emulated]:
    path = tmp_path_factory.mktemp("rig") / "rig.toml"
    emulated = Emulated(written(path, QUICK, "emulated-automated-covered.toml"))
    yield emulated
    emulated.stop()


@pytest.fixture
def auto(machine) -> Iterator[Emulated]:
    yield machine
    machine.do("disarm")
    machine.do("cover", on=False)


def trigger(bench: Emulated, channel: int = START) -> None:
    """Close and open a start contact."""
    bench.relay(channel, True)
    time.sleep(0.01)
    bench.relay(channel, False)


def until(bench: Emulated, channel: int, value: bool, timeout_s: float = 10) -> bool:
    """Wait for an input; tell whether it came to be so."""
    end = time.monotonic() + timeout_s
    while bench.bits()[channel] is not value:
        if time.monotonic() > end:
            return False
    return True


def watch(bench: Emulated, seconds: float) -> dict[int, int]:
    """Count the closings of the sensor lines over a time."""
    edges, before = {SHAKE: 0, COVER: 0, DONE: 0, FAULT: 0}, bench.bits()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        now = bench.bits()
        for channel in edges:
            edges[channel] += now[channel] and not before[channel]
        before = now
    return edges


def test_machine_makes_three_tumbles_and_says_done(auto):
    before = auto.do("state")["strokes"]
    trigger(auto)
    assert not auto.bits()[DONE]
    assert until(auto, SHAKE, True)
    assert until(auto, DONE, True)
    assert auto.do("state")["strokes"] == before + 3
    assert not auto.bits()[SHAKE]
    assert not auto.bits()[FAULT]


def test_each_stroke_by_hand_closes_the_sensor_once(bench):
    before = bench.do("state")["strokes"]
    for _ in range(3):
        bench.do("shake")
    assert bench.do("state")["strokes"] == before + 3
    assert not bench.bits()[SHAKE]


def test_cover_switch_follows_the_cover(bench):
    bench.do("cover", on=True)
    assert bench.bits()[COVER]
    bench.do("cover", on=False)
    assert not bench.bits()[COVER]


def test_shaker_without_cover_refuses_one(start, rig_file):
    emulated = start(RIGS / "emulated-automated.toml")
    assert not emulated.ask({"do": "cover", "on": True})["ok"]


def test_start_ignored(auto):
    auto.arm("F45", phase="start")
    runs = auto.do("state")["activations"]
    trigger(auto)
    time.sleep(0.1)
    assert auto.bits()[DONE]
    assert auto.do("state")["activations"] == runs


def test_done_never_comes(auto):
    auto.arm("F45", phase="done")
    trigger(auto)
    assert not until(auto, DONE, True, timeout_s=1.2)


def test_done_without_vibration(auto):
    auto.arm("F46")
    before = auto.do("state")
    trigger(auto)
    assert watch(auto, 0.5)[SHAKE] == 0
    assert until(auto, DONE, True)
    after = auto.do("state")
    assert (after["tosses"], after["dice"]) == (before["tosses"], before["dice"])


def test_fault_line(auto):
    auto.arm("F47")
    trigger(auto)
    assert until(auto, FAULT, True)
    assert not auto.bits()[DONE]


@pytest.mark.parametrize("on", [False, True])
def test_stuck_cover_switch(auto, on):
    auto.do("cover", on=on)
    auto.arm("F48")
    auto.do("cover", on=not on)
    assert auto.bits()[COVER] is on
    assert auto.do("state")["cover"] is not on


def test_cover_opened_while_shaking(auto):
    auto.do("cover", on=True)
    auto.arm("F49")
    trigger(auto)
    assert until(auto, COVER, False)
    assert until(auto, DONE, True)


@pytest.mark.parametrize("value", [0, 1])
def test_shake_sensor_without_contrast(auto, value):
    auto.arm("F50", value=value)
    trigger(auto)
    seen = {auto.bits()[SHAKE] for _ in range(60)}
    assert seen == {bool(value)}
    assert until(auto, DONE, True)


def test_machine_with_fewer_tumbles(auto):
    auto.arm("F51", count=2)
    before = auto.do("state")["strokes"]
    trigger(auto)
    assert until(auto, DONE, True)
    assert auto.do("state")["strokes"] == before + 2


def test_hand_with_fewer_strokes(bench):
    bench.do("cover", on=True)
    bench.arm("F51", count=2)
    before = bench.do("state")["strokes"]
    for _ in range(3):
        bench.do("shake")
    assert bench.do("state")["strokes"] == before + 2


def test_manual_shaker_is_not_activated_and_has_no_machine_faults(bench):
    assert not bench.ask({"do": "activate"})["ok"]
    assert not bench.ask({"do": "arm", "fault": "F45"})["ok"]


def test_tosses_are_seeded(start, rig_file):
    seen = []
    for _ in range(2):
        emulated = start(rig_file(QUICK))
        seen.append([])
        for _ in range(4):
            emulated.do("shake")
            seen[-1].append(emulated.do("state")["dice"])
    assert seen[0] == seen[1]
    assert len({tuple(dice) for dice in seen[0]}) > 1


def test_countdown_runs_its_time_and_no_toss_is_taken_in_it(start, rig_file):
    emulated = start(rig_file("[table]\ncountdown_s = 2\n", "emulated-puncher.toml"))
    trigger(emulated, COUNTDOWN)
    assert emulated.bits()[RUNNING]
    trigger(emulated, START)
    assert emulated.do("state")["activations"] == 0
    assert until(emulated, RUNNING, False)
    trigger(emulated, START)
    assert emulated.do("state")["activations"] == 1


def test_countdown_drifts(start, rig_file):
    emulated = start(
        rig_file("[table]\ncountdown_s = 2\n", "emulated-puncher.toml"), "F63:percent=50"
    )
    trigger(emulated, COUNTDOWN)
    assert 2.5 < emulated.do("state")["countdown"] <= 3


def test_toss_taken_before_the_countdown_ends(start, rig_file):
    emulated = start(rig_file("[table]\ncountdown_s = 3\n", "emulated-puncher.toml"), "F64:ms=1500")
    trigger(emulated, COUNTDOWN)
    trigger(emulated, START)
    assert emulated.do("state")["activations"] == 0
    time.sleep(1.7)
    trigger(emulated, START)
    state = emulated.do("state")
    assert state["activations"] == 1
    assert state["countdown"] > 0


def test_time_scale(start, rig_file):
    emulated = start(
        rig_file("[emulator]\ntime_scale = 20.0\n[table]\ncountdown_s = 20\n",
                 "emulated-puncher.toml")
    )  # fmt: skip
    trigger(emulated, COUNTDOWN)
    assert emulated.do("state")["countdown"] > 5
    time.sleep(1.2)
    assert emulated.do("state")["countdown"] == 0
