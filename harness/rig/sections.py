"""What a rig file may say: its sections, typed and frozen, and the rig that they make.

`[devices.NAME]` is what the device's driver says; every other section is a class below.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializeAsAny, StringConstraints

from harness.rig.channels import ChannelRef
from harness.rig.device import (
    DeviceSettings,
    Section,
)

DIGIT_KEYS = ("1", "2", "3", "4", "5", "6")
KeyName = Literal["1", "2", "3", "4", "5", "6", "clear", "enter", "call"]
AreaId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Percent = Annotated[float, Field(ge=0, le=100)]
NotNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]


class MapVerified(Section):
    """Who exercised each relay and each input alone, when, and how."""

    by: str = Field(min_length=1)
    at: date
    how: str = Field(min_length=1)


class Laboratory(Section):
    """Who tests; goes into the record of each run."""

    name: str
    operator: str | None = None
    accreditation: str | None = None


class Table(Section):
    """The table under test as it stands on this bench.

    tumbles: of one activation of a machine. lamp_drive: how its lamps are driven; lamp_hz: the
    modulation's or multiplex's frequency; lamp_duty: least part of its period that a good lamp is
    on (0.5 for PWM, 1/8 for multiplexed lamps, where the file does not say). mains_hz: cameras
    expose over whole mains periods.
    press_min_ms, press_max_ms: what its keys are meant to take. paytable: JSON file of the odds
    posted at the table, as `rules settle --paytable` takes it, relative to this rig file.
    """

    shaker: Literal["manual", "automated", "player-activated", "tumbler", "puncher"]
    cover: Literal["opaque", "none"]
    commit: Literal["third-key", "entry-key"] = "third-key"
    clear: Literal["required", "unspecified"] = "required"
    fourth_key: Literal["ignored", "last-three", "error"] = "ignored"
    tumbles: int = Field(default=3, ge=1)
    countdown_s: Positive | None = None
    paytable: str | None = None
    monitor: bool = False
    lamp_drive: Literal["steady", "pwm", "multiplexed"] = "steady"
    lamp_hz: Positive = 400.0
    lamp_duty: Annotated[float, Field(gt=0, le=1)] | None = None
    mains_hz: Literal[50, 60] = 50
    press_min_ms: NotNegative | None = None
    press_max_ms: Positive | None = None
    maker: str | None = None
    model: str | None = None
    serial_number: str | None = None
    firmware: str | None = None

    @property
    def least_duty(self) -> float:
        """Least part of the time that a good lamp is on."""
        if self.lamp_duty is not None:
            return self.lamp_duty
        return {"steady": 1.0, "pwm": 0.5, "multiplexed": 0.125}[self.lamp_drive]


class Emulator(Section):
    """The program that stands in for the bench. `{python}` is this interpreter; paths are relative
    to the rig file.

    It is called as PROGRAM RIGFILE [--fault TEXT]... and prints its endpoints. options: settings
    of its own, which the harness does not read.
    """

    program: tuple[str, ...] = Field(min_length=1)
    seed: int = 0
    time_scale: Positive = 1.0
    options: Mapping[str, Any] = Field(default_factory=dict)


class Keys(Section):
    """How keys are pressed: by outputs (map), or by a device that presses itself (by).

    hold_risk: outputs that neither time the press themselves nor have a watchdog stay closed when
    the host dies; on a real bench that has to be accepted by name. readback: inputs on the relays'
    second contacts; travel: inputs that sense the keys themselves.
    """

    press_ms: Positive = 100.0
    gap_ms: NotNegative = 50.0
    map: Mapping[KeyName, ChannelRef] = Field(default_factory=dict)
    by: str | None = None
    hold_risk: Literal["accepted"] | None = None
    readback: Mapping[KeyName, ChannelRef] = Field(default_factory=dict)
    travel: Mapping[KeyName, ChannelRef] = Field(default_factory=dict)


def _listed(value: object) -> object:
    return value if isinstance(value, (list, tuple)) else [value]


Lamps1 = Annotated[tuple[ChannelRef, ...], BeforeValidator(_listed), Field(min_length=1)]
LampMap = Mapping[AreaId, Lamps1]


class LampPath(Section):
    """A further way to sense the same lamps."""

    map: LampMap


class Lamps(Section):
    """Which channels sense which area; an area with several lamps lists them all.

    paths: independent further ways to sense them, by name; all ways are compared. lit_volts: from
    which voltage on a lamp sensed by level is lit; reference_volts: the level of a good lamp.
    """

    map: LampMap = Field(default_factory=dict)
    paths: Mapping[str, LampPath] = Field(default_factory=dict)
    lit_volts: Positive = 2.5
    reference_volts: Positive = 5.0


class Limits(Section):
    """What the table is held to on this bench; what is not set is not judged.

    Times in ms (table time), levels relative to a good lamp. uncertainty_ms, uncertainty_level and
    uncertainty_volts: expanded uncertainty (k = 2) of this bench's own measuring. stroke_ms: the
    shortest time that the shake sensor stays closed, or open, between strokes. shaker_start_ms,
    shaker_done_ms: hold a machine in place of its own section's start_s and done_s.
    """

    stroke_ms: Positive = 50.0

    settle_ms: Positive | None = None
    entry_timeout_ms: Positive | None = None
    entry_timeout_tolerance_ms: Positive | None = None
    press_ms: Positive | None = None
    lamp_level_min: Positive | None = None
    dark_level_max: Positive | None = None
    shaker_start_ms: Positive | None = None
    shaker_done_ms: Positive | None = None
    countdown_tolerance_percent: Percent | None = None
    restart_ms: Positive | None = None
    supply_volts: Positive | None = None
    supply_tolerance_volts: Positive | None = None
    supply_amperes_max: Positive | None = None
    uncertainty_ms: NotNegative = 0.0
    uncertainty_level: NotNegative = 0.0
    uncertainty_volts: NotNegative = 0.0


class InputTest(Section):
    """Relays of ours that put every lamp input of some devices to a known level.

    high: closed, every input must read true; low: closed, it parts the inputs from the lamps and
    every input must read false. So an input that is stuck is told from a lamp that is.
    """

    high: ChannelRef | None = None
    low: ChannelRef | None = None
    devices: tuple[str, ...] = Field(min_length=1)
    settle_ms: NotNegative = 50.0


class Interlock(Section):
    """When the terminal must refuse entries: before the call, while the dice are covered."""

    before_call: bool = False
    while_covered: bool = False


class Machine(Section):
    """A shaker machine on wires.

    A closed-and-opened start contact starts it; done is true at rest; fault is true while it
    raises its fault line.
    """

    start: ChannelRef
    done: ChannelRef
    fault: ChannelRef | None = None
    start_s: Positive = 2.0
    done_s: Positive = 30.0


class Timer(Section):
    """A countdown on wires: a start contact, and an input that is true while it runs."""

    start: ChannelRef
    running: ChannelRef


class Roles(Section):
    """Who does what: a device by name, or channels."""

    presenter: str | None = None
    shaker: str | Machine | None = None
    cover: str | None = None
    cover_sense: ChannelRef | None = None
    shake_sense: ChannelRef | None = None
    fault_line: ChannelRef | None = None
    dice_camera: tuple[str, ...] = ()
    layout_camera: tuple[str, ...] = ()
    countdown: str | Timer | None = None
    supply: str | None = None
    operator: str | None = None
    terminal: str | None = None


class Rig(Section):
    """A rig file, checked. `path` is the file, `files` it and all it includes."""

    path: Path
    files: tuple[Path, ...]
    title: str
    map_verified: MapVerified | None = None
    laboratory: Laboratory | None = None
    table: Table
    emulator: Emulator | None = None
    devices: Mapping[str, SerializeAsAny[DeviceSettings]]
    signals: Mapping[str, ChannelRef] = Field(default_factory=dict)
    keys: Keys | None = None
    lamps: Lamps | None = None
    limits: Limits = Limits()
    interlock: Interlock = Interlock()
    roles: Roles = Roles()
    references: Mapping[str, bool] = Field(default_factory=dict)
    input_test: InputTest | None = None

    @property
    def name(self) -> str:
        """The file's name without suffix."""
        return self.path.stem

    @property
    def emulated(self) -> bool:
        """Tell whether a program stands in for the bench."""
        return self.emulator is not None

    @property
    def hold_risk(self) -> bool:
        """Tell whether a key may stay pressed when this host dies: shown in every report."""
        return self.keys is not None and self.keys.hold_risk == "accepted"
