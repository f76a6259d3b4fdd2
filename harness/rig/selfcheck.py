"""What our own bench must show before it may judge a table: one check a part, each with what to do.

These are the parts that only the rig knows; whether the camera's picture is fit to read is for
whoever reads pictures. A check that fails is a fault of ours (`RIG_FAULT`), never the table's.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from harness.rig.bench import Bench
from harness.rig.channel_uses import output_devices
from harness.rig.channels import Channel
from harness.rig.contacts import RelayKeys, open_and_verify
from harness.rig.device import Device, Inputs, Outputs
from harness.rig.drivers.camera import CameraSettings, LiveCamera
from harness.rig.drivers.emulator_control import EmulatorControl
from harness.rig.drivers.scpi_supply import ScpiSupply
from harness.rig.errors import LinkLostError, NotCapableError, OutputsNotOpenError, ReplyError
from harness.verdicts import Finding, HarnessError, Measurement, Verdict

_RATE_WAIT_S = 0.6
_SURELY_SHOWN_S = 1.5
"""By then any camera fit for this work shows what was changed before."""


@dataclass(frozen=True, slots=True)
class Check:
    """One part checked.

    part: as findings name it (`device:keys`, `input:total-9`, `camera:dice-camera`). what: what was
    checked; found: what was seen; remedy: what to do if it is not PASS. fault: the word of
    diagnosis. measurement: where a value was measured against limits.
    """

    part: str
    what: str
    verdict: Verdict
    found: str
    remedy: str = ""
    fault: str = ""
    measurement: Measurement | None = None

    def finding(self) -> Finding | None:
        """Give the finding of a check that did not pass."""
        if self.verdict in (Verdict.PASS, Verdict.NOT_APPLICABLE):
            return None
        what = f"{self.what}: {self.found}; {self.remedy}"
        return Finding(self.verdict, (self.part,), self.fault or "failed", what)


def self_check(bench: Bench, today: date | None = None) -> Iterator[Check]:
    """Check the rig part by part; each check is given as soon as it is done.

    Never raises for a fault of the rig: that is what its checks tell.
    """
    yield from identities(bench)
    yield from calibrations(bench, today or date.today())
    yield from outputs_open(bench)
    yield from references(bench)
    yield from inputs_follow(bench)
    yield from dark_levels(bench)
    yield from camera_rates(bench)
    yield from camera_delays(bench)
    yield from supply_regulates(bench)
    yield from hold_risk(bench)


def identities(bench: Bench) -> Iterator[Check]:
    """Ask each device what it is, and compare it with what the rig file expects."""
    for name, device in bench.devices.items():
        expected = bench.rig.devices[name].identity
        yield _told(f"device:{name}", "identification", partial(_named, device, expected))


def _named(device: Device, expected: str | None) -> Check:
    part, what = f"device:{device.name}", "identification"
    found = device.identify()
    if expected is not None and (
        found is None or _spaced_alike(expected) not in _spaced_alike(found)
    ):
        return Check(
            part,
            what,
            Verdict.RIG_FAULT,
            f"{found or 'none'}, the rig file expects {expected}",
            "connect the right device, or correct identity in the rig file",
            "wrong-device",
        )
    return Check(part, what, Verdict.PASS, found or "answers; has no identification of its own")


def _spaced_alike(identity: str) -> str:
    """Give an identification with single spaces, and none at its commas: makers differ in that."""
    return re.sub(" ?, ?", ",", " ".join(identity.split()))


def calibrations(bench: Bench, today: date) -> Iterator[Check]:
    """See that no instrument is past the date its calibration is due."""
    for name, settings in bench.rig.devices.items():
        due = settings.calibration_due
        if due is None:
            if settings.calibrated is None:
                continue
            yield Check(
                f"device:{name}",
                "calibration",
                Verdict.PENDING,
                f"calibrated {settings.calibrated}, no date due",
                "give calibration_due in the rig file",
                "calibration-unknown",
            )
        elif due < today:
            yield Check(
                f"device:{name}",
                "calibration",
                Verdict.RIG_FAULT,
                f"was due {due}",
                "have it calibrated, then correct the dates in the rig file",
                "calibration-expired",
            )
        else:
            yield Check(f"device:{name}", "calibration", Verdict.PASS, f"valid until {due}")


def outputs_open(bench: Bench) -> Iterator[Check]:
    """Open every output and read it back; second contacts must agree with their coils."""
    for name in output_devices(bench.rig):
        outputs = cast("Outputs", bench.devices[name])

        def check(name: str = name, outputs: Outputs = outputs) -> Check:
            open_and_verify(outputs)
            return Check(f"device:{name}", "outputs open", Verdict.PASS, "all read open")

        yield _told(f"device:{name}", "outputs open", check)
    keys = bench.keys
    if isinstance(keys, RelayKeys) and bench.rig.keys is not None and bench.rig.keys.readback:
        try:
            welded = keys.closed_contacts()
        except HarnessError as error:
            yield _failed("keys", "second contacts open", error)
            return
        for key in bench.rig.keys.readback:
            if key in welded:
                yield Check(
                    f"relay:{key}",
                    "second contact open",
                    Verdict.RIG_FAULT,
                    "closed, though its coil reads off",
                    "the relay is welded or its read-back wire is wrong: replace or rewire it",
                    "welded",
                )
            else:
                yield Check(f"relay:{key}", "second contact open", Verdict.PASS, "open")


def references(bench: Bench) -> Iterator[Check]:
    """Read the inputs that are wired to a known level."""
    for place, expected in bench.rig.references.items():
        device, _, channel = place.partition(":")
        inputs = cast("Inputs", bench.devices[device])

        def check(
            place: str = place,
            channel: str = channel,
            inputs: Inputs = inputs,
            expected: bool = expected,
        ) -> Check:
            what = f"reference {'high' if expected else 'low'}"
            if inputs.read([channel])[channel] is expected:
                return Check(f"input:{place}", what, Verdict.PASS, "reads so")
            return Check(
                f"input:{place}",
                what,
                Verdict.RIG_FAULT,
                f"reads {'low' if expected else 'high'}",
                "check the module's supply and the reference wire",
                "stuck",
            )

        yield _told(f"input:{place}", "reference", check)


def inputs_follow(bench: Bench) -> Iterator[Check]:
    """Put every lamp input to a known level by the test relays, and see which do not follow."""
    test, lamps = bench.rig.input_test, bench.rig.lamps
    if test is None or lamps is None:
        return
    maps = [lamps.map, *(path.map for path in lamps.paths.values())]
    for name in test.devices:
        areas = {
            c.channel: area
            for lamp_map in maps
            for area, several in lamp_map.items()
            for c in several
            if c.device == name
        }
        inputs = cast("Inputs", bench.devices[name])
        for relay, level in ((test.high, True), (test.low, False)):
            if relay is None:
                continue
            what = f"inputs follow the test relay {'high' if level else 'low'}"
            try:
                read = _read_while_closed(bench, relay, inputs, list(areas), test.settle_ms / 1000)
            except HarnessError as error:
                yield _failed(f"device:{name}", what, error)
                continue
            stuck = [channel for channel, value in read.items() if value is not level]
            for channel in stuck:
                yield _stuck(areas[channel], name, channel, "low" if level else "high")
            if not stuck:
                found = f"all {len(areas)} do"
                yield Check(f"device:{name}", what, Verdict.PASS, found)


def _read_while_closed(
    bench: Bench, relay: Channel, inputs: Inputs, channels: list[str], settle_s: float
) -> Mapping[str, bool]:
    """Read inputs with a relay closed, and open it again whatever happens."""
    outputs = cast("Outputs", bench.devices[relay.device])
    outputs.switch(relay.channel, on=True)
    try:
        time.sleep(settle_s)
        return inputs.read(channels)
    finally:
        outputs.switch(relay.channel, on=False)
        time.sleep(settle_s)


def _stuck(area: str, device: str, channel: str, level: str) -> Check:
    return Check(
        f"input:{area}",
        "input follows the test relay",
        Verdict.RIG_FAULT,
        f"{device}:{channel} stays {level}",
        "replace the input module, or use another input and correct the map",
        "stuck",
    )


def dark_levels(bench: Bench) -> Iterator[Check]:
    """Measure every lamp sensed by level while none is lit: ambient light falls on none."""
    lamps, limit = bench.rig.lamps, bench.rig.limits.dark_level_max
    if lamps is None or limit is None:
        return
    for path in bench.lamps:
        try:
            sample = path.sense()
        except HarnessError as error:
            yield _failed(f"device:{error.subject}", "dark levels", error)
            continue
        if sample.levels is None:
            continue
        for area, level in sorted((sample.levels or {}).items()):
            measured = Measurement(
                f"dark level of {area}",
                "of a good lamp",
                high=limit,
                value=round(level, 4),
                uncertainty=bench.rig.limits.uncertainty_level,
            )
            if measured.verdict is Verdict.PASS:
                continue
            yield Check(
                f"input:{area}",
                "dark level",
                Verdict.RIG_FAULT,
                f"{level:.2f} of a good lamp, at most {limit:g} with nothing lit",
                "shade the photodiode from the room's light, or clear the table and check again",
                "bright-when-dark",
                measured,
            )
        yield Check(f"device:{sample.path}", "dark levels", Verdict.PASS, "measured")


def camera_rates(bench: Bench) -> Iterator[Check]:
    """Count the pictures each camera gives a second."""
    for name in (*bench.rig.roles.dice_camera, *bench.rig.roles.layout_camera):
        camera = bench.devices[name]
        if not isinstance(camera, LiveCamera):
            continue
        least = cast("CameraSettings", bench.rig.devices[name]).min_fps

        def check(camera: LiveCamera = camera, least: float = least) -> Check:
            camera.newer_than(time.monotonic(), 2.0)
            time.sleep(max(_RATE_WAIT_S, 4 / least))
            rate = camera.fps() or 0.0
            measured = Measurement("picture rate", "1/s", low=least, value=round(rate, 1))
            good = rate >= 0.9 * least
            # a busy host may slow a camera for a while: only half the rate is surely a fault
            bad = Verdict.RIG_FAULT if rate < 0.5 * least else Verdict.AMBIGUOUS
            return Check(
                f"camera:{camera.name}",
                "picture rate",
                Verdict.PASS if good else bad,
                f"{rate:.1f} pictures/s, at least {least:g} wanted",
                "" if good else "ease the network or the host, lower the resolution or min_fps",
                "" if good else "slow",
                measured,
            )

        yield _told(f"camera:{name}", "picture rate", check)


def camera_delays(bench: Bench) -> Iterator[Check]:
    """See that a picture taken after the dice were changed shows the dice as they are now.

    Where the bench lays the dice by itself: a camera that hands on old pictures is found by what
    they show, whatever its stamps say.
    """
    hand = bench.presenter
    if not isinstance(hand, EmulatorControl):
        return
    for name in bench.rig.roles.dice_camera:
        camera = bench.devices[name]
        if not isinstance(camera, LiveCamera):
            continue

        def check(camera: LiveCamera = camera) -> Check:
            hand.present((1, 1, 1))
            before = camera.newer_than(time.monotonic() + _SURELY_SHOWN_S, 5.0).image
            hand.present((6, 6, 6))
            changed_at = time.monotonic()
            fresh = camera.newer_than(changed_at, 5.0).image
            after = camera.newer_than(changed_at + _SURELY_SHOWN_S, 5.0).image
            part, what = f"camera:{camera.name}", "shows the present"
            if _distance(before, after) == 0:
                return Check(
                    part,
                    what,
                    Verdict.RIG_FAULT,
                    "the same picture of two throws",
                    "check that the camera sees the dice and is not frozen",
                    "frozen",
                )
            if _distance(fresh, after) < _distance(fresh, before):
                return Check(part, what, Verdict.PASS, "a picture taken after a change shows it")
            return Check(
                part,
                what,
                Verdict.RIG_FAULT,
                "a picture taken after a change shows what was before",
                "raise latency_ms in the rig file, or use a camera with less delay",
                "stale-frame",
            )

        try:
            yield check()
        except NotCapableError:
            continue
        except HarnessError as error:
            yield _failed(f"camera:{name}", "shows the present", error)


def _distance(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """Give the mean absolute difference of two pictures (levels 0 to 255), inf if sizes differ."""
    if one.shape != other.shape:
        return float("inf")
    return float(np.abs(one.astype(np.int16) - other).mean())


def supply_regulates(bench: Bench) -> Iterator[Check]:
    """See that the supply regulates its voltage, and that it is the one that is set."""
    supply = bench.supply
    if not isinstance(supply, ScpiSupply):
        return
    part, limits = f"device:{supply.name}", bench.rig.limits

    def state() -> Check:
        found = supply.state()
        good = found == "constant-voltage"
        return Check(
            part,
            "supply in constant voltage",
            Verdict.PASS if good else Verdict.RIG_FAULT,
            found.replace("-", " "),
            "" if good else "look for a short, a current limit too low, or a tripped protection",
            "" if good else found,
        )

    yield _told(part, "supply in constant voltage", state)
    if limits.supply_amperes_max is not None:
        yield _told(part, "supply current", partial(_current, supply, limits.supply_amperes_max))
    if limits.supply_tolerance_volts is None:
        return
    wanted = limits.supply_volts or supply.settings.volts
    tolerance = limits.supply_tolerance_volts

    def voltage() -> Check:
        volts = supply.volts()
        measured = Measurement(
            "supply voltage",
            "V",
            wanted - tolerance,
            wanted + tolerance,
            round(volts, 4),
            limits.uncertainty_volts,
        )
        good = measured.verdict is Verdict.PASS
        return Check(
            part,
            "supply voltage",
            Verdict.PASS if good else Verdict.RIG_FAULT,
            f"{volts:.3f} V measured, {wanted:g} V set",
            "" if good else "check the supply's output, its leads and its sense wires",
            "" if good else "wrong-voltage",
            measured,
        )

    yield _told(part, "supply voltage", voltage)


def _current(supply: ScpiSupply, most: float) -> Check:
    """See that no more current flows than the table takes: a short would spoil every level."""
    amperes = supply.amperes()
    good = amperes <= most
    return Check(
        f"device:{supply.name}",
        "supply current",
        Verdict.PASS if good else Verdict.RIG_FAULT,
        f"{amperes:.3f} A measured, at most {most:g} A",
        "" if good else "look for a short in the leads before the table is judged",
        "" if good else "over-current",
    )


def hold_risk(bench: Bench) -> Iterator[Check]:
    """Say whether a key may stay pressed when this host dies."""
    keys = bench.rig.keys
    if keys is None or not keys.map:
        return
    if bench.rig.hold_risk:
        found = "accepted by the rig file: a key may stay pressed when this host dies"
    elif bench.rig.emulated:
        found = "none on an emulated bench"
    else:
        found = "none: the device times its presses or has a watchdog armed"
    yield Check("keys", "hold risk", Verdict.PASS, found)


def _told(part: str, what: str, check: Callable[[], Check]) -> Check:
    """Make a check; where the rig itself raises, that is what the check tells."""
    try:
        return check()
    except HarnessError as error:
        return _failed(part, what, error)


def _failed(part: str, what: str, error: HarnessError) -> Check:
    """Give the check of a part that raised; what raised may be another device that it needs."""
    fault = getattr(error, "fault", "failed")
    if isinstance(error, OutputsNotOpenError) and error.subject.startswith("relay:"):
        part = error.subject
    elif isinstance(error, LinkLostError | ReplyError) and not part.startswith("camera:"):
        part = f"device:{error.subject}"
    return Check(part, what, Verdict.RIG_FAULT, error.found, error.remedy, str(fault))
