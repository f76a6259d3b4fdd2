"""A rig in use: locked, its stand-in started, its devices open, its outputs verified open.

`open_bench` is the only way in, and every way out (an error, Ctrl-C, SIGTERM) opens the outputs,
ends the stand-in and drops the lock. After a kill -9 the kernel drops the lock, the stand-in goes
by itself, and the next start opens the outputs.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn, cast

from harness.rig.channel_uses import output_devices
from harness.rig.channels import Channel
from harness.rig.confirmed import Confirmation
from harness.rig.contacts import Contact, RelayKeys, open_and_verify
from harness.rig.device import (
    EMULATED,
    Device,
    DeviceSettings,
    Inputs,
    Levels,
    LinkRecord,
    Outputs,
    Surroundings,
)
from harness.rig.drivers import driver_class
from harness.rig.errors import NotCapableError, NotThereError, RigError
from harness.rig.launch import Standin, standin
from harness.rig.lock import hold
from harness.rig.roles import (
    Countdown,
    Cover,
    CoverSense,
    DiceCamera,
    DicePresenter,
    KeyPresser,
    LampSense,
    Operator,
    Shaker,
    Supply,
)
from harness.rig.sections import Keys, LampMap, Lamps, Machine, Rig, Timer
from harness.rig.senses import (
    ConfirmedInputs,
    CoverSwitch,
    Integration,
    LampChannel,
    Sense,
    SensedLamps,
    StrokeCounter,
)
from harness.rig.wired import WatchedShaker, WiredCountdown, WiredShaker
from harness.verdicts import ConfigurationError, HarnessError

LEVELS_ALIKE = 0.02
"""Levels no further apart than this part of a good lamp's are alike."""
_OPEN_LIMIT_S = 4.0
"""All devices together get this long to open: what is not there is said within 5 s."""
_OPEN_EMULATED_S = 15.0
"""What a stand-in serves is there; on a busy host it may take its time."""


class Bench:
    """The open bench. A role that the rig lacks is None (or empty)."""

    def __init__(self, rig: Rig, devices: Mapping[str, Device], program: Standin | None) -> None:
        self.rig = rig
        self.devices = dict(devices)
        self.program = program
        self._closing: list[SensedLamps] = []
        self._confirmed: dict[str, ConfirmedInputs] = {}
        roles = rig.roles
        self.shake_sense: StrokeCounter | None = (
            None
            if roles.shake_sense is None
            else StrokeCounter(self.sense(roles.shake_sense), rig.limits.stroke_ms / 1000)
        )
        self.cover_sense: CoverSense | None = (
            None if roles.cover_sense is None else CoverSwitch(self.sense(roles.cover_sense))
        )
        self.fault_line: Sense | None = (
            None if roles.fault_line is None else self.sense(roles.fault_line)
        )
        self.presenter: DicePresenter | None = self._served(roles.presenter)
        self.cover: Cover | None = self._served(roles.cover)
        self.supply: Supply | None = self._served(roles.supply)
        self.operator: Operator | None = self._served(roles.operator)
        self.terminal: Any = self._served(roles.terminal)
        self.dice_cameras: tuple[DiceCamera, ...] = tuple(
            cast("DiceCamera", self.devices[name]) for name in roles.dice_camera
        )
        self.layout_cameras: tuple[DiceCamera, ...] = tuple(
            cast("DiceCamera", self.devices[name]) for name in roles.layout_camera
        )
        self.keys: KeyPresser | None = self._key_presser(rig.keys)
        # A key moves for no longer than a reading or two take: waiting for two alike misses it.
        self.key_travel: Mapping[str, Sense] = {
            key: Sense(
                cast("Inputs", self.devices[channel.device]), channel.channel, channel.invert
            )
            for key, channel in (rig.keys.travel if rig.keys else {}).items()
        }
        self.lamps: tuple[LampSense, ...] = tuple(self._lamp_paths(rig.lamps))
        self.shaker: Shaker | None = self._made_shaker()
        self.countdown: Countdown | None = self._made_countdown()

    # -- what steps ask

    def lacks(self, *roles: str) -> tuple[str, ...]:
        """Give those of these roles that this rig has not."""
        return tuple(role for role in roles if not getattr(self, role))

    def need(self, *roles: str) -> None:
        """Raise NotCapableError naming the roles that this rig lacks, if it lacks any."""
        lacking = self.lacks(*roles)
        if lacking:
            raise NotCapableError(
                f"rig {self.rig.name}",
                expected=f"a rig with {', '.join(roles)}",
                found=f"none for {', '.join(lacking)}",
                remedy="scenarios that need it are not applicable on this rig",
            )

    @property
    def links(self) -> tuple[LinkRecord, ...]:
        """Give how every device's link did so far."""
        return tuple(device.link for device in self.devices.values())

    @property
    def instruments(self) -> tuple[DeviceSettings, ...]:
        """Give the devices' settings, for the record: identity, calibration."""
        return tuple(self.rig.devices.values())

    def sense(self, channel: Channel) -> Sense:
        """Give one input channel of this bench."""
        return Sense(self._inputs(channel.device), channel.channel, channel.invert)

    def release_all(self) -> None:
        """Open every output of every device that we drive, and verify it open."""
        for name in output_devices(self.rig):
            open_and_verify(cast("Outputs", self.devices[name]))
        if isinstance(self.keys, RelayKeys):
            self.keys.verify_contacts_open()

    # -- how roles are bound

    def _served(self, name: str | None) -> Any:
        return None if name is None else self.devices[name]

    def _inputs(self, name: str) -> Inputs:
        """Give a device's inputs, confirmed where its link has no checksum."""
        inputs = cast("Inputs", self.devices[name])
        if self.rig.devices[name].has_checksum:
            return inputs
        return self._confirmed.setdefault(name, ConfirmedInputs(inputs, self._confirmation(name)))

    def _confirmation(self, name: str, tolerance: float = 0.0) -> Confirmation:
        return Confirmation(name, self.devices[name].link, tolerance)

    def _contact(self, key: str, channel: Channel) -> Contact:
        settings = self.rig.devices[channel.device]
        step_ms = settings.press_step_ms
        press_ms = self.rig.keys.press_ms if self.rig.keys is not None else 100.0
        return Contact(
            key,
            cast("Outputs", self.devices[channel.device]),
            channel.channel,
            press_ms / 1000,
            step_s=None if step_ms is None else step_ms / 1000,
        )

    def _key_presser(self, keys: Keys | None) -> KeyPresser | None:
        if keys is None:
            return None
        if keys.by is not None:
            return cast("KeyPresser", self.devices[keys.by])
        readback: dict[str, tuple[Inputs, str, bool]] = {
            key: (cast("Inputs", self.devices[c.device]), c.channel, c.invert)
            for key, c in keys.readback.items()
        }
        contacts: dict[str, Contact] = {
            key: self._contact(key, channel) for key, channel in keys.map.items()
        }
        return RelayKeys(contacts, keys.gap_ms / 1000, readback)

    def _lamp_paths(self, lamps: Lamps | None) -> Iterator[SensedLamps]:
        if lamps is None:
            return
        named: list[tuple[str | None, LampMap]] = [(None, lamps.map)]
        named += [(name, path.map) for name, path in lamps.paths.items()]
        for name, lamp_map in named:
            if not lamp_map:
                continue
            channels = [
                LampChannel(area, c.device, c.channel, c.invert)
                for area, several in lamp_map.items()
                for c in several
            ]
            used = {lamp.device for lamp in channels}
            only = next(iter(used)) if len(used) == 1 else "lamps"
            devices = {n: cast("Inputs | Levels", self.devices[n]) for n in used}
            buses = {n: self.rig.devices[n].location or n for n in used}
            path = SensedLamps(
                name or only,
                channels,
                devices,
                buses=buses,
                lit_volts=lamps.lit_volts,
                reference_volts=lamps.reference_volts,
                integration=Integration.over(
                    self.rig.table.least_duty,
                    self.rig.table.lamp_hz,
                    checksum=all(self.rig.devices[name].has_checksum for name in used),
                ),
                confirmations={
                    name: self._confirmation(name, LEVELS_ALIKE * lamps.reference_volts)
                    for name in used
                    if not self.rig.devices[name].has_checksum
                },
            )
            self._closing.append(path)
            yield path

    def _made_shaker(self) -> Shaker | None:
        wanted = self.rig.roles.shaker
        if wanted is None:
            return None
        made: Shaker
        if isinstance(wanted, Machine):
            made = WiredShaker(
                self._contact("start", wanted.start),
                self.sense(wanted.done),
                None if wanted.fault is None else self.sense(wanted.fault),
                wanted.start_s,
                wanted.done_s,
            )
        else:
            made = cast("Shaker", self.devices[wanted])
        return made if self.shake_sense is None else WatchedShaker(made, self.shake_sense)

    def _made_countdown(self) -> Countdown | None:
        wanted = self.rig.roles.countdown
        if isinstance(wanted, Timer):
            return WiredCountdown(
                self._contact("countdown", wanted.start), self.sense(wanted.running)
            )
        return cast("Countdown | None", self._served(wanted))

    def close(self) -> None:
        """End what the roles hold; the devices are closed by `open_bench`."""
        for lamps in self._closing:
            lamps.close()


@contextmanager
def open_bench(
    rig: Rig, faults: Sequence[str] = (), failures: list[HarnessError] | None = None
) -> Iterator[Bench]:
    """Open a rig for as long as the block runs.

    faults: texts handed unread to the program that stands in for the bench. failures: where given,
    all devices are tried though one failed, and this list gets every error; the first is raised
    in any case. Raises RigBusyError,
    NotThereError and whatever a driver's opening raises; ConfigurationError for faults on a bench
    that has no such program.
    """
    if faults and rig.emulator is None:
        raise ConfigurationError(
            f"rig {rig.name}",
            expected="no --fault on a real bench",
            found=", ".join(faults),
            remedy="use an emulated rig",
        )
    with ExitStack() as stack:
        stack.enter_context(_ended_by_signals())
        stack.enter_context(hold(rig.name, _places(rig.devices.values())))
        program = None
        if rig.emulator is not None:
            program = stack.enter_context(standin(rig.emulator.program, rig.path, faults))
            rig = _placed(rig, program)
        rig = _held_to_limits(rig)
        around = Surroundings()
        stack.callback(around.close)
        devices: dict[str, Device] = {}
        limit_s = _OPEN_LIMIT_S if rig.emulator is None else _OPEN_EMULATED_S
        deadline = time.monotonic() + limit_s
        for name, settings in rig.devices.items():
            around.open_limit_s = max(0.2, deadline - time.monotonic())
            try:
                device = driver_class(settings.driver).open(name, settings, around)
            except HarnessError as error:
                if failures is None:
                    raise
                failures.append(error)
                continue
            devices[name] = device
            stack.callback(device.close)
        if failures:
            raise failures[0]
        bench = Bench(rig, devices, program)
        stack.callback(bench.close)
        bench.release_all()
        try:
            yield bench
        except BaseException as error:
            with _undisturbed():
                _release_noting(bench, error)
            raise
        with _undisturbed():
            bench.release_all()


def _places(devices: Iterable[DeviceSettings]) -> list[str]:
    """Give the places that one harness alone may use."""
    return [
        place
        for device in devices
        if (place := device.location) not in (None, EMULATED) and not device.shareable
    ]


def _held_to_limits(rig: Rig) -> Rig:
    """Give the rig with its shaker held to the limits on its times, where there are such."""
    limits, shaker = rig.limits, rig.roles.shaker
    limited = {"start_s": limits.shaker_start_ms, "done_s": limits.shaker_done_ms}
    times = {name: ms / 1000 for name, ms in limited.items() if ms is not None}
    if shaker is None or not times:
        return rig
    if isinstance(shaker, Machine):
        roles = rig.roles.model_copy(update={"shaker": shaker.model_copy(update=times)})
        return rig.model_copy(update={"roles": roles})
    settings = rig.devices[shaker]
    if not times.keys() <= type(settings).model_fields.keys():
        return rig  # a person, or a program that is done when it answers
    held = settings.model_copy(update=times)
    return rig.model_copy(update={"devices": {**rig.devices, shaker: held}})


def _placed(rig: Rig, program: Standin) -> Rig:
    """Put the places that the program gave into the devices' settings.

    They need no lock: this process started the program, nobody else knows them, and the numbers
    of its ptys are given to others as soon as it lets them go.
    """
    devices = {}
    for name, settings in rig.devices.items():
        devices[name] = settings
        if settings.location != EMULATED:
            continue
        endpoint = program.endpoints.get(name)
        if endpoint is None and settings.driver == "emulator-control":
            endpoint = program.control
        if endpoint is None:
            raise NotThereError(
                name,
                expected="an endpoint for this device from the emulator",
                found=f"endpoints for {', '.join(program.endpoints) or 'none'}",
                remedy="have the program serve it, or take the device out of the rig file",
            )
        devices[name] = settings.placed(endpoint)
    return rig.model_copy(update={"devices": devices})


def _release_noting(bench: Bench, error: BaseException) -> None:
    """Open the outputs while another error is on its way; say with it if that failed."""
    try:
        bench.release_all()
    except RigError as second:
        error.add_note(f"on the way out: {second}")


class Terminated(SystemExit):
    """SIGTERM or SIGHUP came: unwinds like any error, so that outputs are opened."""


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Have SIGTERM and SIGHUP unwind the stack instead of ending the process where it stands."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def unwind(number: int, _frame: object) -> NoReturn:
        raise Terminated(128 + number)

    before = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            before[number] = signal.signal(number, unwind)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold signals back while outputs are opened; that takes a bounded time."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
