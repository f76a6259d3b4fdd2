"""What every driver must do, on whatever rig it is given. What a rig has not, it need not do."""

from __future__ import annotations

import math
import time
from typing import cast

import pytest

from harness.rig.bench import Bench
from harness.rig.channel_uses import channel_uses
from harness.rig.channels import Channel
from harness.rig.contacts import RelayKeys
from harness.rig.device import Device, Inputs, Levels, Outputs
from harness.rig.drivers.camera import LiveCamera
from harness.rig.drivers.line_shaker import LineShaker
from harness.rig.drivers.line_terminal import LineTerminal
from harness.rig.drivers.scpi_supply import ScpiSupply
from harness.rig.errors import HostLagError, NotCapableError
from harness.rig.roles import KeyPresser
from harness.rig.sections import Machine, Timer
from harness.rig.selfcheck import self_check


def channels(bench: Bench, need: str) -> dict[str, list[str]]:
    """Give the channels of each device that the rig uses as outputs, inputs or levels."""
    found: dict[str, list[str]] = {}
    for use in channel_uses(bench.rig):
        channel: Channel = use.channel
        device = bench.devices[channel.device]
        level = isinstance(device, Levels) and device.measures(channel.channel)
        if need in use.needs and need in device.provides and level is (need == "levels"):
            found.setdefault(channel.device, []).append(channel.channel)
    return found


def test_every_device_is_a_driver_and_says_what_it_is(bench: Bench) -> None:
    for name, device in bench.devices.items():
        assert isinstance(device, Device)
        assert device.name == name
        assert device.link.device == name
        identity = device.identify()
        assert identity is None or identity.strip()


def test_outputs_close_and_open_and_read_back_so(bench: Bench) -> None:
    for name, wired in channels(bench, "outputs").items():
        outputs = cast("Outputs", bench.devices[name])
        assert isinstance(outputs, Outputs)
        assert not any(outputs.states().values())
        step_ms = bench.rig.devices[name].press_step_ms
        for channel in wired:
            if step_ms is None:
                outputs.switch(channel, on=True)
                assert [c for c, on in outputs.states().items() if on] == [channel]
                outputs.switch(channel, on=False)
            else:
                outputs.pulse(channel, 3 * step_ms / 1000)
                assert outputs.states()[channel]
                time.sleep(4 * step_ms / 1000)
            assert not any(outputs.states().values())


def test_all_open_opens_all(bench: Bench) -> None:
    for name, wired in channels(bench, "outputs").items():
        outputs = cast("Outputs", bench.devices[name])
        if bench.rig.devices[name].press_step_ms is not None:
            outputs.pulse(wired[0], 20 * bench.rig.devices[name].press_step_ms / 1000)
        else:
            for channel in wired[:2]:
                outputs.switch(channel, on=True)
        outputs.all_open()
        assert not any(outputs.states().values())


def test_inputs_give_what_is_asked_for(bench: Bench) -> None:
    for name, wired in channels(bench, "inputs").items():
        inputs = cast("Inputs", bench.devices[name])
        assert isinstance(inputs, Inputs)
        read = inputs.read(wired)
        assert list(read) == wired
        assert all(isinstance(value, bool) for value in read.values())
        assert inputs.read(wired[-1:]).keys() == set(wired[-1:])
        before = inputs.link.exchanges  # type: ignore[attr-defined]
        inputs.read(wired[:1])
        assert inputs.link.exchanges > before  # type: ignore[attr-defined]


def test_levels_are_finite_volts(bench: Bench) -> None:
    for name, wired in channels(bench, "levels").items():
        device = bench.devices[name]
        assert isinstance(device, Levels)
        levels = device.levels(wired)
        assert set(levels) == set(wired)
        assert all(math.isfinite(volts) for volts in levels.values())


def test_references_read_as_wired(bench: Bench) -> None:
    for place, expected in bench.rig.references.items():
        device, _, channel = place.partition(":")
        assert cast("Inputs", bench.devices[device]).read([channel])[channel] is expected


def clear(bench: Bench) -> None:
    """Have no half-made entry standing: by the clear key, or by waiting until it is dropped."""
    keys = cast("KeyPresser", bench.keys)
    if bench.rig.table.clear == "required":
        keys.press("clear")
    else:
        time.sleep((bench.rig.limits.entry_timeout_ms or 10_000) / 1000 + 0.5)
    time.sleep((bench.rig.limits.settle_ms or 300) / 1000 + 0.1)


def wait_for_the_countdown(bench: Bench) -> None:
    deadline = time.monotonic() + 4 * (bench.rig.table.countdown_s or 10)
    while bench.countdown is not None and bench.countdown.running():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_an_entry_lights_lamps_and_all_ways_to_sense_them_agree(bench: Bench) -> None:
    if bench.keys is None or not bench.lamps:
        pytest.skip("this rig has no keys or no lamps")
    clear(bench)
    for key in "124":
        press = bench.keys.press(key)
        assert press.key == key
        assert press.opened_at > press.closed_at
    if bench.rig.table.commit == "entry-key":
        bench.keys.press("enter")
    time.sleep((bench.rig.limits.settle_ms or 300) / 1000 + 0.1)
    samples = [lamps.sense() for lamps in bench.lamps]
    assert samples[0].lit
    for sample in samples:
        assert not sample.unknown
        assert not sample.split
        assert sample.lit == samples[0].lit
    if isinstance(bench.terminal, LineTerminal):
        assert sorted(bench.terminal.echoed()) == ["1", "2", "4"]
    bench.release_all()
    if bench.rig.table.clear == "required":
        clear(bench)


def test_key_travel_and_second_contacts_follow_a_press(bench: Bench) -> None:
    keys = bench.keys
    if not isinstance(keys, RelayKeys) or bench.rig.keys is None:
        pytest.skip("this rig presses no keys by relays")
    assert not keys.closed_contacts()
    for key, sense in bench.key_travel.items():
        channel = bench.rig.keys.map[key]
        outputs = cast("Outputs", bench.devices[channel.device])
        outputs.pulse(channel.channel, 0.5)
        time.sleep(0.1)
        assert sense.read()
        if key in bench.rig.keys.readback:
            assert keys.closed_contacts() == {key}
        time.sleep(0.6)
        assert not sense.read()
        assert not keys.closed_contacts()
    clear(bench)


def test_a_camera_gives_ever_newer_pictures(bench: Bench) -> None:
    for name in (*bench.rig.roles.dice_camera, *bench.rig.roles.layout_camera):
        camera = bench.devices[name]
        last = -1
        for _ in range(5):
            at = time.monotonic()
            frame = camera.newer_than(at, 5.0)  # type: ignore[attr-defined]
            assert frame.image.ndim == 3
            assert frame.number > last
            last = frame.number
            if isinstance(camera, LiveCamera):
                assert frame.at > at


def test_a_shaker_shakes_and_its_sensor_sees_it(bench: Bench) -> None:
    if bench.shaker is None:
        pytest.skip("this rig has no shaker")
    for _ in range(4):
        try:
            shake_once(bench)
        except HostLagError:
            time.sleep(1)
        else:
            return
    pytest.skip("this host is too busy to watch a shaker")


def shake_once(bench: Bench) -> None:
    assert bench.shaker is not None
    wait_for_the_countdown(bench)
    before = 0 if bench.shake_sense is None else bench.shake_sense.strokes()
    device = bench.devices.get(str(bench.rig.roles.shaker))
    tumbles = device.tumbles() if isinstance(device, LineShaker) else 0
    if bench.cover is not None:
        bench.cover.put_on()
        assert bench.cover_sense is None or bench.cover_sense.is_on()
    try:
        bench.shaker.shake(3)
    except NotCapableError:
        bench.shaker.activate("dealer")
    if bench.cover is not None:
        bench.cover.take_off()
        assert bench.cover_sense is None or not bench.cover_sense.is_on()
    if bench.shake_sense is not None:
        assert bench.shake_sense.strokes() == before + 3
    if isinstance(device, LineShaker):
        assert device.tumbles() == tumbles + 3


def test_a_countdown_runs_once_started(bench: Bench) -> None:
    if bench.countdown is None:
        pytest.skip("this rig has no countdown")
    wait_for_the_countdown(bench)
    bench.countdown.start()
    deadline = time.monotonic() + 1
    while not bench.countdown.running():
        assert time.monotonic() < deadline
    wait_for_the_countdown(bench)


def test_a_supply_gives_what_it_is_set_to(bench: Bench) -> None:
    supply = bench.supply
    if not isinstance(supply, ScpiSupply):
        pytest.skip("this rig has no supply")
    volts = supply.settings.volts
    supply.set_voltage(volts)
    supply.switch(on=True)
    time.sleep(0.3)
    assert supply.volts() == pytest.approx(volts, rel=0.05)
    assert 0 <= supply.amperes() <= supply.settings.amperes
    assert supply.state() == "constant-voltage"


def test_the_self_check_finds_nothing_and_no_link_failed(bench: Bench) -> None:
    """Last: whatever went wrong above on a wire is in the record."""
    bad = [check for check in self_check(bench) if check.verdict == "RIG_FAULT"]
    assert not bad
    assert not any(link.failures for link in bench.links)


def test_uses_are_known(bench: Bench) -> None:
    """Guards the helper above: a rig's wired machines count as used channels."""
    for wired in (bench.rig.roles.shaker, bench.rig.roles.countdown):
        if isinstance(wired, (Machine, Timer)):
            assert wired.start.channel in channels(bench, "outputs")[wired.start.device]
