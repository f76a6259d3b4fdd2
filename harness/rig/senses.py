"""What inputs tell: a switch, strokes of the shaker, lamps."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Self, cast

from harness.observations import LampSample
from harness.rig.confirmed import Confirmation, Confirmed
from harness.rig.device import Inputs, Levels
from harness.rig.errors import HostLagError, RigError

_LOOK_PAUSE_S = 0.002
_MISS = 1e-6


@dataclass(frozen=True, slots=True)
class Sense:
    """One input channel, read upright."""

    inputs: Inputs
    channel: str
    invert: bool = False

    def read(self) -> bool:
        """Read it once."""
        return self.inputs.read([self.channel])[self.channel] != self.invert


def read_together(senses: Sequence[Sense]) -> list[bool]:
    """Read several channels; those of one device in one exchange."""
    by_device: dict[int, list[Sense]] = defaultdict(list)
    for sense in senses:
        by_device[id(sense.inputs)].append(sense)
    read: dict[Sense, bool] = {}
    for group in by_device.values():
        values = group[0].inputs.read([sense.channel for sense in group])
        read.update({sense: values[sense.channel] != sense.invert for sense in group})
    return [read[sense] for sense in senses]


class ConfirmedInputs:
    """Inputs over a link without checksum, each change believed once it repeats; an `Inputs`."""

    def __init__(self, inputs: Inputs, confirmation: Confirmation) -> None:
        self.name = inputs.name
        self._inputs = inputs
        self._confirmation = confirmation

    def read(self, channels: Sequence[str]) -> Mapping[str, bool]:
        """Read these channels at one time."""
        return self._confirmation.read(lambda: self._inputs.read(channels)).values


class CoverSwitch:
    """The cover's switch; a `CoverSense`."""

    def __init__(self, sense: Sense) -> None:
        self._sense = sense

    def is_on(self) -> bool:
        """Tell whether the cover is on."""
        return self._sense.read()


class StrokeCounter:
    """Counts rising edges of the shake sensor while it is watched; a `ShakeSense`.

    The sensor is polled only inside `watching`, which the bench's shaker does by itself, so that
    polling does not take the bus from lamps and keys at other times. shortest_s: the shortest time
    that the sensor stays closed, or open; looks further apart than that could miss a stroke.
    """

    def __init__(self, sense: Sense, shortest_s: float) -> None:
        self._sense = sense
        self._shortest_s = shortest_s
        self._count = 0
        self._trouble: RigError | None = None

    def strokes(self) -> int:
        """Give the strokes sensed since the rig was opened.

        Raises what went wrong while watching (HostLagError where this host was too slow): a count
        with holes is no count.
        """
        if self._trouble is not None:
            trouble, self._trouble = self._trouble, None
            raise trouble
        return self._count

    def level(self) -> bool:
        """Read the sensor once: true while the dice are thrown up."""
        return self._sense.read()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Count strokes for as long as the block runs."""
        stop = threading.Event()
        before = self._sense.read()
        thread = threading.Thread(
            target=self._watch, args=(before, stop), name="shake sensor", daemon=True
        )
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _watch(self, before: bool, stop: threading.Event) -> None:
        looked_at = time.monotonic()
        try:
            while True:
                last_look = stop.is_set()
                now = self._sense.read()
                gap_s, looked_at = time.monotonic() - looked_at, time.monotonic()
                if gap_s > self._shortest_s:
                    raise HostLagError(
                        "shake sensor",
                        expected=f"a look every {self._shortest_s * 1000:.0f} ms",
                        found=f"{gap_s * 1000:.0f} ms between two",
                        remedy="ease the host, or raise stroke_ms if the strokes are slower",
                    )
                if now and not before:
                    self._count += 1
                before = now
                if last_look:
                    return
                stop.wait(_LOOK_PAUSE_S)
        except RigError as error:
            self._trouble = error


@dataclass(frozen=True, slots=True)
class Integration:
    """How a digital input is read when lamps are not driven steadily.

    An input without a filter of its own may look into a pause of PWM or multiplexing. So it is
    read `samples` times at random phases of `period_s`; a lamp seen on `least` times is lit.
    """

    samples: int = 1
    period_s: float = 0.0
    least: int = 1

    @classmethod
    def over(cls, duty: float, hz: float, *, checksum: bool = True) -> Self:
        """Read so often that a lamp on for `duty` of its period is missed once in 10^6 times.

        Where replies carry no checksum a lamp seen on once may be a flipped bit: twice is lit.
        """
        if duty >= 1.0:
            return cls()
        dark = 1.0 - duty
        samples, least = 1, 1 if checksum else 2
        while dark**samples + (least - 1) * samples * duty * dark ** (samples - 1) > _MISS:
            samples += 1
        return cls(samples, 1.0 / hz, least)


STEADY = Integration()


@dataclass(frozen=True, slots=True)
class LampChannel:
    """One lamp of an area."""

    area: str
    device: str
    channel: str
    invert: bool


class SensedLamps:
    """One way to sense the lamps; a `LampSense`.

    Devices on separate buses are read side by side, those on one bus in turn. What a device that
    does not answer senses is unknown, never dark; only when none answers is that an error.
    Lamps that are not driven steadily are read as often as it takes (see `Integration`); levels are
    integrated by the instrument. buses: for each device the bus it hangs on. confirmations: for
    devices whose link has no checksum.
    """

    def __init__(
        self,
        path: str,
        lamps: Sequence[LampChannel],
        devices: Mapping[str, Inputs | Levels],
        *,
        buses: Mapping[str, str],
        lit_volts: float,
        reference_volts: float,
        integration: Integration = STEADY,
        confirmations: Mapping[str, Confirmation] = MappingProxyType({}),
    ) -> None:
        self.path = path
        self._integration = integration
        self._confirmations = dict(confirmations)
        self.troubles: dict[str, RigError] = {}
        self._lamps = tuple(lamps)
        self._devices = dict(devices)
        self._lit_volts = lit_volts
        self._reference_volts = reference_volts
        self._channels: dict[str, list[str]] = defaultdict(list)
        self._inverted: dict[str, set[str]] = defaultdict(set)
        for lamp in lamps:
            self._channels[lamp.device].append(lamp.channel)
            if lamp.invert:
                self._inverted[lamp.device].add(lamp.channel)
        by_bus: dict[str, list[str]] = defaultdict(list)
        for name in self._channels:
            by_bus[buses[name]].append(name)
        self._by_bus = list(by_bus.values())
        self._pool = ThreadPoolExecutor(len(self._by_bus)) if len(self._by_bus) > 1 else None

    def sense(self) -> LampSample:
        """Sense every mapped area once."""
        self.troubles = {}
        read: dict[str, Confirmed[float | bool]] = {}
        run: Callable[..., Iterator[dict[str, Confirmed[float | bool]]]]
        run = map if self._pool is None else self._pool.map
        for part in run(self._read_bus, self._by_bus):
            read.update(part)
        if len(self.troubles) == len(self._channels):
            raise next(iter(self.troubles.values()))
        return self._sample(read)

    def _read_bus(self, names: Sequence[str]) -> dict[str, Confirmed[float | bool]]:
        read: dict[str, Confirmed[float | bool]] = {}
        for name in names:
            confirmation = self._confirmations.get(name)
            read_once = partial(self._read_device, name)
            try:
                if confirmation is None:
                    read[name] = Confirmed(read_once(), time.monotonic())
                else:
                    read[name] = confirmation.read(read_once)
            except RigError as error:
                self.troubles[name] = error
        return read

    def _read_device(self, name: str) -> Mapping[str, float | bool]:
        device, channels = self._devices[name], self._channels[name]
        measured = [c for c in channels if isinstance(device, Levels) and device.measures(c)]
        plain = [c for c in channels if c not in measured]
        values: dict[str, float | bool] = {}
        if measured:
            values.update(cast("Levels", device).levels(measured))
        if plain:
            values.update(self._integrate(cast("Inputs", device), name, plain))
        return values

    def _integrate(self, device: Inputs, name: str, channels: Sequence[str]) -> Mapping[str, bool]:
        """Read channels at as many phases of the lamps' drive as it takes."""
        inverted = self._inverted[name]
        lit: Counter[str] = Counter()
        for left in range(self._integration.samples - 1, -1, -1):
            read = device.read(channels)
            lit.update(c for c in channels if read[c] != (c in inverted))
            if left:
                # at random, so that reading never keeps step with the drive
                time.sleep(random.random() * self._integration.period_s)  # noqa: S311
        least = self._integration.least
        return {c: (lit[c] >= least) != (c in inverted) for c in channels}

    def _sample(self, read: Mapping[str, Confirmed[float | bool]]) -> LampSample:
        states: dict[str, list[bool | None]] = defaultdict(list)
        levels: dict[str, float] = {}
        for lamp in self._lamps:
            value = read[lamp.device].values[lamp.channel] if lamp.device in read else None
            if value is None:
                states[lamp.area].append(None)
            elif isinstance(value, bool):
                states[lamp.area].append(value != lamp.invert)
            else:
                states[lamp.area].append((value >= self._lit_volts) != lamp.invert)
                level = value / self._reference_volts
                level = 1.0 - level if lamp.invert else level
                levels[lamp.area] = min(level, levels.get(lamp.area, level))
        unknown = {area for area, seen in states.items() if None in seen}
        split = {area for area, seen in states.items() if True in seen and False in seen}
        lit = {area for area, seen in states.items() if all(seen) and area not in unknown}
        return LampSample(
            at=max(device.at for device in read.values()),
            path=self.path,
            lit=frozenset(lit),
            unknown=frozenset(unknown),
            split=frozenset(split),
            levels=levels or None,
        )

    def close(self) -> None:
        """End the reading threads."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
