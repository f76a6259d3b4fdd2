"""The whole emulated bench, built from a rig file: table, shaker, wires and devices."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import cast

from harness.emulator.clock import Clock, ScaledClock, Timeline
from harness.emulator.countdown import Countdown
from harness.emulator.desk import Desk
from harness.emulator.devices.link import Link
from harness.emulator.dice_box import DiceBox
from harness.emulator.dice_cameras import Eye
from harness.emulator.firmware import UnknownAreaError
from harness.emulator.lamps import Drive, Lamp, LampDrive
from harness.emulator.options import check_options
from harness.emulator.port_folder import port_folder
from harness.emulator.power import Power
from harness.emulator.rigfile import (
    RigFile,
    RigFileError,
    Section,
    lamp_places,
    number,
    table,
    word,
)
from harness.emulator.scene import LayoutScene
from harness.emulator.shaker import Kind, Shaker, ShakerSettings
from harness.emulator.table import Table
from harness.emulator.terminal import FourthKey, TerminalSettings
from harness.emulator.wiring import Wiring


class Bench:
    """Everything that an emulated rig consists of.

    `links` are the devices' links by name, `endpoints` where each is reached, `unplug` and `plug`
    what takes a device's port away and brings it back. Guard every look at it with
    `timeline.lock` after `timeline.catch_up()`.
    """

    def __init__(self, rig: RigFile, clock: Clock | None = None) -> None:
        check_options(rig)
        self.rig = rig
        scale = number(rig.options, "time_scale", 1.0, "emulator")
        if scale <= 0:
            raise RigFileError(f"{rig.path}: emulator.time_scale: expected above 0, found {scale}")
        self.seed = int(number(rig.options, "seed", 0, "emulator"))
        self.rng = random.Random(self.seed)  # noqa: S311 - reproducible, not secret
        self.timeline = Timeline(clock or ScaledClock(scale))
        self.links = {name: Link() for name in rig.devices}
        self.endpoints: dict[str, str] = {}
        self.unplug: dict[str, Callable[[], None]] = {}
        self.plug: dict[str, Callable[[], None]] = {}
        self.eyes: dict[str, Eye] = {}
        self.layouts: list[LayoutScene] = []
        self.call_made = False
        self.desk = Desk()
        settings = rig.table
        try:
            self.table = _table(self, settings)
        except UnknownAreaError as unknown:
            raise RigFileError(
                f"{rig.path}: lamps.map.{unknown.area}: the emulated table knows no such area"
            ) from None
        self.dice = DiceBox(random.Random(self.seed + 1))  # noqa: S311
        self.shaker = Shaker(self.timeline, self.dice, _shaker(rig, settings))
        self.countdown = Countdown(self.timeline, number(settings, "countdown_s", 20.0, "table"))
        self.shaker.start_allowed = self.countdown.toss_allowed
        self.table.terminal.cleared.append(self.shaker.new_round)
        self._lock_entries(rig.interlock)
        self.power = Power(self.timeline, self.table, _nominal_volts(rig))
        self.wiring = Wiring(
            self.timeline,
            frozenset(name for name, device in rig.devices.items() if device.flag("invert", False)),
        )
        _wire(self)
        self._closing = contextlib.ExitStack()
        self.folder = self._closing.enter_context(port_folder())

    def on_close(self, act: Callable[[], None]) -> None:
        """Have something done when the bench is taken down."""
        self._closing.callback(act)

    def close(self) -> None:
        """Take the bench down: ports, links and threads."""
        self.timeline.stop()
        self._closing.close()

    def state(self) -> Mapping[str, object]:
        """Give what a look at the whole bench would show, as JSON values."""
        with self.timeline.lock:
            now = self.timeline.catch_up()
            terminal, lying = self.table.terminal, self.dice.lying
            return {
                "time": now,
                "dice": list(lying.values),
                "pose": lying.pose,
                "count": lying.count,
                "moving": lying.moves_for_s > 0,
                "tosses": self.dice.tosses,
                "cover": self.shaker.cover_on,
                "strokes": self.shaker.strokes,
                "activations": self.shaker.activations,
                "done": self.shaker.done,
                "fault_line": self.shaker.fault_line,
                "entered": list(terminal.entered),
                "committed": terminal.committed,
                "display": self.table.display,
                "presses": list(terminal.presses),
                "keys_closed": sorted(self.table.keypad.closed()),
                "lit": sorted(
                    area for area, level in self.table.lamps.levels().items() if level > 0
                ),
                "countdown": self.countdown.left_s,
                "powered": self.table.powered,
            }

    def _lock_entries(self, interlock: Section) -> None:
        covered = interlock.get("while_covered") is True
        uncalled = interlock.get("before_call") is True
        terminal = self.table.terminal
        terminal.locked = lambda: (
            (covered and self.shaker.cover_on) or (uncalled and not self.call_made)
        )
        terminal.called = self.call
        terminal.cleared.append(partial(self.call, made=False))

    def call(self, made: bool = True) -> None:
        """Make the call that closes betting, or begin the next round."""
        self.call_made = made


def _nominal_volts(rig: RigFile) -> float:
    """Give the voltage that the table is made for: what its supply is to be set to."""
    for device in rig.devices.values():
        if device.driver == "scpi-supply":
            return number(device.settings, "volts", 12.0, f"devices.{device.name}")
    return number(rig.limits, "supply_volts", 12.0, "limits")


def _table(bench: Bench, settings: Section) -> Table:
    rig, options = bench.rig, bench.rig.options
    timeout = number(rig.limits, "entry_timeout_ms", 10_000.0, "limits")
    timeout = number(options, "entry_timeout_ms", timeout, "emulator.options")
    hold = number(options, "hold_ms", 0.0, "emulator.options")
    longest = number(settings, "press_max_ms", 0.0, "table")
    commit = word(settings, "commit", ("third-key", "entry-key"), "table")
    fourth = word(settings, "fourth_key", ("ignored", "last-three", "error", "new-entry"), "table")
    drive = word(settings, "lamp_drive", ("steady", "pwm", "multiplexed"), "table")
    counts: dict[str, int] = {}
    for lamps in rig.lamps.values():
        for area, wires in lamps.items():
            counts[area] = max(counts.get(area, 0), len(wires))
    for device in rig.devices.values():
        if device.driver == "layout-camera":
            regions = table(device.settings, "regions", f"devices.{device.name}.")
            for area, places in regions.items():
                counts[area] = max(counts.get(area, 0), len(lamp_places(places)))
    return Table(
        bench.timeline,
        keys=rig.keys,
        lamps=[Lamp(area, index) for area, count in counts.items() for index in range(count)],
        terminal=TerminalSettings(
            commit="entry-key" if commit == "entry-key" else "third-key",
            fourth_key=cast("FourthKey", fourth),
            entry_timeout_s=timeout / 1000 if timeout else None,
            hold_s=hold / 1000 or None,
            has_clear_key="clear" in rig.keys,
        ),
        press_s=(
            number(settings, "press_min_ms", 5.0, "table") / 1000,
            longest / 1000 or None,
        ),
        settle_s=number(options, "settle_ms", 10.0, "emulator.options") / 1000,
        drive=LampDrive(
            cast("Drive", drive),
            number(settings, "lamp_hz", 400.0, "table"),
            number(options, "lamp_duty", 0.6, "emulator.options"),
        ),
    )


def _shaker(rig: RigFile, settings: Section) -> ShakerSettings:
    kinds = ("manual", "automated", "player-activated", "tumbler", "puncher")
    where = "emulator.options"
    return ShakerSettings(
        kind=cast("Kind", word(settings, "shaker", kinds, "table")),
        has_cover=word(settings, "cover", ("opaque", "none"), "table") == "opaque",
        tumbles=int(number(settings, "tumbles", 3, "table")),
        stroke_s=number(rig.options, "stroke_ms", 120.0, where) / 1000,
        thrown_s=number(rig.options, "thrown_ms", 60.0, where) / 1000,
        rest_s=number(rig.options, "rest_ms", 50.0, where) / 1000,
    )


def _wire(bench: Bench) -> None:
    """Wire keys, lamps, switches and references as the rig file's maps say."""
    rig, wiring, shaker = bench.rig, bench.wiring, bench.shaker
    keypad, lamps, countdown = bench.table.keypad, bench.table.lamps, bench.countdown
    for key, outputs in rig.keys.items():
        for output in outputs:
            wiring.connect_output(output, partial(keypad.drive, key))
    for path in rig.lamps.values():
        for area, inputs in path.items():
            for index, channel in enumerate(inputs):
                lamp = Lamp(area, index)
                wiring.connect_lamp(
                    channel, partial(lamps.momentary, lamp), partial(lamps.mean, lamp)
                )
    for key, inputs in rig.travel.items():
        for channel in inputs:
            wiring.connect_input(channel, partial(keypad.travelled, key))
    for key, inputs in rig.readback.items():
        for channel in inputs:
            (output, *_) = rig.keys[key]
            wiring.connect_input(channel, partial(wiring.contact, output.place))
    inputs_by_role: dict[str, Callable[[], bool]] = {
        "cover_sense": lambda: shaker.cover_switch,
        "shake_sense": lambda: shaker.shake_sensor,
        "fault_line": lambda: shaker.fault_line,
        "shaker.done": lambda: shaker.done and not shaker.busy,
        "shaker.fault": lambda: shaker.fault_line,
        "countdown.running": lambda: countdown.running,
    }
    outputs_by_role: dict[str, Callable[[bool], None]] = {
        "shaker.start": shaker.start_contact,
        "countdown.start": countdown.start_contact,
    }
    for role, value in _leaves(rig.roles):
        if role in inputs_by_role:
            for channel in rig.channels(f"roles.{role}", value):
                wiring.connect_input(channel, inputs_by_role[role])
        elif role in outputs_by_role:
            for channel in rig.channels(f"roles.{role}", value):
                wiring.connect_output(channel, outputs_by_role[role])
    tested = cast("list[str]", rig.input_test.get("devices", []))
    for name, put_to in (("high", True), ("low", False)):
        if name in rig.input_test:
            for channel in rig.channels(f"input_test.{name}", rig.input_test[name]):
                wiring.connect_test(channel, tested, put_to)
    for place, level in rig.references.items():
        wiring.connect_reference(place, level)


def _leaves(roles: Mapping[str, object]) -> list[tuple[str, object]]:
    leaves: list[tuple[str, object]] = []
    for role, value in roles.items():
        if isinstance(value, dict) and "channel" not in value:
            leaves += [(f"{role}.{part}", wired) for part, wired in value.items()]
        else:
            leaves.append((role, value))
    return leaves
