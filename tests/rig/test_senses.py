"""Lamps, strokes, machines on wires: what inputs tell, and what they do not know."""

from __future__ import annotations

import threading
import time

import pytest

from harness.rig.contacts import Contact
from harness.rig.device import Surroundings
from harness.rig.drivers import driver_class
from harness.rig.errors import HostLagError, NoReplyError
from harness.rig.senses import Integration, LampChannel, Sense, SensedLamps, StrokeCounter
from harness.rig.wired import ShakerStuckError, WiredCountdown, WiredShaker
from tests.rig.peers import PtyPeer, RelaysAndInputs


class Modules:
    """Two RTU input modules on ptys of their own, opened by the driver."""

    def __init__(self) -> None:
        self.units = {"left": RelaysAndInputs(), "right": RelaysAndInputs()}
        self.peers = {name: PtyPeer(unit) for name, unit in self.units.items()}
        self.around = Surroundings()
        kind = driver_class("modbus-rtu")
        self.devices = {
            name: kind.open(
                name,
                kind.settings_type(
                    driver="modbus-rtu",
                    port=peer.path,
                    baud=115200,
                    channels=64,
                    late_ms=50,
                    reply_ms=100,
                ),
                self.around,
            )
            for name, peer in self.peers.items()
        }

    def close(self) -> None:
        self.around.close()
        for peer in self.peers.values():
            peer.close()


@pytest.fixture
def modules():
    modules = Modules()
    yield modules
    modules.close()


LAMPS = [
    LampChannel("small", "left", "0", False),
    LampChannel("big", "left", "1", False),
    LampChannel("big", "right", "1", False),
    LampChannel("any-triple", "right", "2", True),
]


def lamps_of(modules: Modules) -> SensedLamps:
    buses = {name: peer.path for name, peer in modules.peers.items()}
    return SensedLamps("lamps", LAMPS, modules.devices, buses=buses, lit_volts=2, reference_volts=5)


def test_lamps_of_an_area_must_agree_and_inverted_ones_are_read_upright(modules) -> None:
    lamps = lamps_of(modules)
    left, right = modules.units["left"].inputs, modules.units["right"].inputs
    left[0] = left[1] = True
    sample = lamps.sense()
    assert sample.lit == {"small", "any-triple"}
    assert sample.split == {"big"}
    right[1] = right[2] = True
    sample = lamps.sense()
    assert sample.lit == {"small", "big"}
    assert not sample.split
    lamps.close()


def test_a_silent_module_makes_its_lamps_unknown_never_dark(modules) -> None:
    lamps = lamps_of(modules)
    modules.units["left"].inputs[0] = True
    modules.units["right"].unit = 9
    sample = lamps.sense()
    assert sample.lit == {"small"}
    assert sample.unknown == {"big", "any-triple"}
    assert isinstance(lamps.troubles["right"], NoReplyError)
    modules.units["left"].unit = 9
    with pytest.raises(NoReplyError):
        lamps.sense()
    lamps.close()


@pytest.mark.parametrize(("duty", "hz"), [(0.6, 200), (0.5, 400), (0.6, 1000), (0.125, 150)])
def test_modulated_lamps_are_lit_and_dark_ones_dark(duty, hz) -> None:
    """PWM and 1:8 multiplexing: fails if a single look into a pause makes a lamp dark."""

    class Modulated:
        name = "inputs"

        def __init__(self) -> None:
            self.looks = 0

        def read(self, channels):
            self.looks += 1
            phase = time.monotonic() * hz % 1.0
            return {c: c == "0" and phase < duty for c in channels}

    device = Modulated()
    lamps = SensedLamps(
        "lamps",
        [LampChannel("small", "inputs", "0", False), LampChannel("big", "inputs", "1", False)],
        {"inputs": device},
        buses={"inputs": "bus"},
        lit_volts=2,
        reference_volts=5,
        integration=Integration.over(duty, hz),
    )
    for _ in range(5):
        assert lamps.sense().lit == {"small"}
    assert device.looks < 5 * 110


def test_separate_buses_are_read_side_by_side(modules) -> None:
    """Each module takes 80 ms to answer; fails if the two waits add up."""

    def slow(_frame: bytes, reply: bytes) -> bytes:
        time.sleep(0.08)
        return reply

    for unit in modules.units.values():
        unit.spoil = slow
    lamps = lamps_of(modules)
    lamps.sense()
    began = time.monotonic()
    for _ in range(3):
        lamps.sense()
    assert time.monotonic() - began < 3 * 0.15
    lamps.close()


def strokes_by_hand(inputs: list[bool], count: int) -> threading.Thread:
    def move() -> None:
        for _ in range(count):
            time.sleep(0.05)
            inputs[5] = True
            time.sleep(0.05)
            inputs[5] = False

    thread = threading.Thread(target=move)
    thread.start()
    return thread


def test_strokes_are_counted_while_watched(modules) -> None:
    counter = StrokeCounter(Sense(modules.devices["left"], "5"), 1.0)
    inputs = modules.units["left"].inputs
    with counter.watching():
        strokes_by_hand(inputs, 3).join()
    assert counter.strokes() == 3
    strokes_by_hand(inputs, 2).join()
    assert counter.strokes() == 3
    with counter.watching():
        strokes_by_hand(inputs, 1).join()
    assert counter.strokes() == 4


def test_strokes_too_short_to_be_seen_are_not_counted_wrong(modules) -> None:
    """The module answers every 30 ms and a stroke may be 20 ms: fails if a number is given."""

    def slow(_frame: bytes, reply: bytes) -> bytes:
        time.sleep(0.03)
        return reply

    modules.units["left"].spoil = slow
    counter = StrokeCounter(Sense(modules.devices["left"], "5"), 0.02)
    with counter.watching():
        time.sleep(0.1)
    with pytest.raises(HostLagError):
        counter.strokes()


def test_a_count_with_holes_is_no_count(modules) -> None:
    """The module falls silent while watched; fails if a number is given all the same."""
    counter = StrokeCounter(Sense(modules.devices["left"], "5"), 1.0)
    with counter.watching():
        modules.units["left"].unit = 9
        time.sleep(0.05)
    with pytest.raises(NoReplyError):
        counter.strokes()


class Machine:
    """A shaker on wires: relay 0 starts it, input 10 is done, input 11 its fault line."""

    def __init__(self, unit: RelaysAndInputs, *, runs=True, ends=True, faults=False) -> None:
        self.unit = unit
        unit.inputs[10] = True
        self.runs, self.ends, self.faults = runs, ends, faults
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.live)
        self.thread.start()

    def live(self) -> None:
        started = len(self.unit.presses)
        while not self.stop.is_set():
            if len(self.unit.presses) > started and self.runs:
                started = len(self.unit.presses)
                self.unit.inputs[10] = False
                self.stop.wait(0.1)
                self.unit.inputs[11] = self.faults
                self.unit.inputs[10] = self.ends
            self.stop.wait(0.005)

    def close(self) -> None:
        self.stop.set()
        self.thread.join()


def wired(modules: Modules) -> WiredShaker:
    kind = driver_class("waveshare-relay")
    settings = kind.settings_type(
        driver="waveshare-relay", port=modules.peers["left"].path, baud=115200
    )
    relays = kind.open("relays", settings, modules.around)
    inputs = modules.devices["left"]
    start = Contact("start", relays, "0", 0.01, step_s=None)
    return WiredShaker(start, Sense(inputs, "10"), Sense(inputs, "11"), start_s=0.4, done_s=0.6)


def test_a_machine_is_started_and_awaited(modules) -> None:
    machine = Machine(modules.units["left"])
    try:
        wired(modules).activate("dealer")
        assert modules.units["left"].inputs[10]
        assert modules.units["left"].presses == [0]
    finally:
        machine.close()


@pytest.mark.parametrize(
    ("phase", "machine"),
    [
        ("start", {"runs": False}),
        ("done", {"ends": False}),
        ("fault", {"faults": True, "ends": False}),
    ],
)
def test_a_machine_that_does_not_is_told_by_its_phase(modules, phase, machine) -> None:
    running = Machine(modules.units["left"], **machine)
    try:
        with pytest.raises(ShakerStuckError) as caught:
            wired(modules).activate("dealer")
        assert caught.value.phase == phase
        assert caught.value.verdict == "DUT_FAIL"
    finally:
        running.close()


def test_a_countdown_on_wires(modules) -> None:
    unit = modules.units["left"]
    kind = driver_class("waveshare-relay")
    settings = kind.settings_type(
        driver="waveshare-relay", port=modules.peers["left"].path, baud=115200
    )
    relays = kind.open("relays", settings, modules.around)
    start = Contact("countdown", relays, "1", 0.01, step_s=None)
    countdown = WiredCountdown(start, Sense(modules.devices["left"], "12"))
    countdown.start()
    assert unit.presses == [1]
    assert not countdown.running()
    unit.inputs[12] = True
    assert countdown.running()


def test_a_device_timed_press_is_a_whole_number_of_steps(modules) -> None:
    """120 ms asked for on a relay that counts in 100 ms: 200 ms driven, and told as such."""
    kind = driver_class("waveshare-relay")
    settings = kind.settings_type(
        driver="waveshare-relay", port=modules.peers["left"].path, baud=115200, pulse="timed"
    )
    relays = kind.open("relays", settings, modules.around)
    contact = Contact("1", relays, "3", 0.1, step_s=0.1)
    for asked, steps in ((None, 1), (0.02, 1), (0.1, 1), (0.12, 2)):
        press = contact.press(asked)
        assert modules.peers["left"].heard[-1][4:6] == bytes((0, steps))
        assert press.opened_at - press.closed_at >= steps * 0.1
