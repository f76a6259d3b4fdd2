"""The wires between the table and the bench's devices: a layer of its own, with its own faults.

A relay's contact closes a key; a lamp, a switch or a sensor drives an input. What the rig file's
maps claim and what is really wired may differ (`[emulator.options.wiring]`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.emulator.clock import Timeline
from harness.emulator.rigfile import Channel

Place = tuple[str, str]
Close = Callable[[bool], None]
Level = Callable[[], float]
"""A signal's level now: 0 to 1, where 1 is a good lamp at full light or a closed contact."""


class Wiring:
    """Which contact each output closes, and which signal each input senses.

    `inverting` are devices whose every input the rig reads the other way round.

    `welded` outputs stay closed whatever the coil does; `forced` inputs read one value whatever is
    wired to them; `ambient` adds light to a photodiode. A digital input is true from `threshold`.
    """

    threshold = 0.3

    def __init__(self, timeline: Timeline, inverting: frozenset[str] = frozenset()) -> None:
        self.welded: set[Place] = set()
        self.forced: dict[Place, bool] = {}
        self.ambient: dict[Place, float] = {}
        self._timeline = timeline
        self._inverting = inverting
        self._contacts: dict[Place, list[Close]] = {}
        self._signals: dict[Place, tuple[Level, Level, bool]] = {}
        self._coils: dict[Place, bool] = {}
        self._lamp_inputs: set[Place] = set()
        self._tested: dict[str, set[bool]] = {}

    def connect_output(self, channel: Channel, close: Close) -> None:
        """Wire an output's contact to what it closes."""
        if channel.inverted:
            self._contacts.setdefault(channel.place, []).append(lambda on: close(not on))
            close(True)
        else:
            self._contacts.setdefault(channel.place, []).append(close)

    def connect_input(self, channel: Channel, momentary: Level, mean: Level | None = None) -> None:
        """Wire a signal to an input; `mean` is its level over whole periods, if that differs."""
        inverted = channel.inverted != (channel.device in self._inverting)
        self._signals[channel.place] = (momentary, mean or momentary, inverted)

    def connect_lamp(self, channel: Channel, momentary: Level, mean: Level) -> None:
        """Wire a lamp to an input, by way of the test relays where the bench has them."""
        self._lamp_inputs.add(channel.place)
        self.connect_input(channel, momentary, mean)

    def connect_test(self, channel: Channel, devices: Sequence[str], level: bool) -> None:
        """Wire an output that puts every lamp input of these devices to a level while closed."""

        def put(closed: bool) -> None:
            for device in devices:
                levels = self._tested.setdefault(device, set())
                (levels.add if closed else levels.discard)(level)

        self.connect_output(channel, put)

    def connect_reference(self, place: Place, level: bool) -> None:
        """Wire an input to a known level."""
        self._signals[place] = (
            lambda: float(level),
            lambda: float(level),
            place[0] in self._inverting,
        )

    def inputs(self, device: str) -> list[str]:
        """Give a device's channels that something is wired to."""
        return [channel for name, channel in self._signals if name == device]

    def outputs(self, device: str) -> frozenset[str]:
        """Give a device's channels that close something."""
        return frozenset(channel for name, channel in self._contacts if name == device)

    def drive(self, place: Place, on: bool) -> None:
        """Put an output's coil on or off."""
        self._coils[place] = on
        self._apply(place)

    def weld(self, place: Place, welded: bool) -> None:
        """Weld an output's contact, or let it go."""
        (self.welded.add if welded else self.welded.discard)(place)
        self._apply(place)

    def contact(self, place: Place) -> bool:
        """Tell whether an output's contact is really closed."""
        return self._coils.get(place, False) or place in self.welded

    def reads(self, place: Place) -> bool:
        """Give what a digital input reads now."""
        if place in self.forced:
            return self.forced[place]
        wired = self._signals.get(place)
        if wired is None:
            return False
        if (put := self._put_to(place)) is not None:
            return put is not (place[0] in self._inverting)
        momentary, _, inverted = wired
        return (self._lit(place, momentary()) >= self.threshold) is not inverted

    def level(self, place: Place) -> float:
        """Give the level at an analogue input, over whole periods of the signal."""
        if place in self.forced:
            return float(self.forced[place])
        if (put := self._put_to(place)) is not None:
            return float(put)
        wired = self._signals.get(place)
        return self._lit(place, wired[1]() if wired is not None else 0.0)

    def momentary(self, place: Place) -> float:
        """Give the level at an analogue input at this very moment."""
        wired = self._signals.get(place)
        if place in self.forced or wired is None or self._put_to(place) is not None:
            return self.level(place)
        return self._lit(place, wired[0]())

    def _put_to(self, place: Place) -> bool | None:
        """Give the level that a test relay puts an input to, None if none does."""
        levels = self._tested.get(place[0]) if place in self._lamp_inputs else None
        return True in levels if levels else None

    def _lit(self, place: Place, level: float) -> float:
        return level + self.ambient.get(place, 0.0)

    def _apply(self, place: Place) -> None:
        closed = self.contact(place)
        for close in self._contacts.get(place, ()):
            close(closed)
