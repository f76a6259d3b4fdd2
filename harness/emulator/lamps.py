"""The lamps of the layout: what is commanded, how they are driven, what light comes out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from harness.emulator.clock import Timeline

Drive = Literal["steady", "pwm", "multiplexed"]


@dataclass(frozen=True, slots=True)
class Lamp:
    """One lamp of an area; an area may have several, numbered from 0."""

    area: str
    number: int = 0

    @property
    def name(self) -> str:
        """Its area's name, with `.2` for the second lamp of it."""
        return f"{self.area}.{self.number + 1}" if self.number else self.area


@dataclass(frozen=True, slots=True)
class LampDrive:
    """How the table drives its lamps: steady, with PWM, or multiplexed 1:8. `hz` in Hz."""

    kind: Drive = "steady"
    hz: float = 500.0
    duty: float = 0.6

    def momentary(self, phase: float, slot: int) -> bool:
        """Tell whether current flows at a phase (0 to 1 of the period) in a lamp's slot of 8."""
        begins, ends = self.lit_phases(slot)
        return begins <= phase < ends

    def lit_phases(self, slot: int) -> tuple[float, float]:
        """Give the phases, 0 to 1 of the period, between which current flows in a slot of 8."""
        if self.kind == "steady":
            return 0.0, 1.0
        if self.kind == "pwm":
            return 0.0, self.duty
        return slot % 8 / 8, (slot % 8 + 1) / 8


class LampBoard:
    """The lamps and their drivers; the public sets and maps are their defects.

    A brightness is relative to a good lamp's mean: 1.0 is a good lamp, whatever the drive.
    """

    def __init__(
        self, timeline: Timeline, lamps: Iterable[Lamp], settle_s: float, drive: LampDrive
    ) -> None:
        self.lamps = tuple(lamps)
        self.settle_s = settle_s
        self.drive = drive
        self.powered = True
        self.dead: set[Lamp] = set()
        self.stuck_on: set[Lamp] = set()
        self.exchanged: dict[str, str] = {}
        self.bridged: list[tuple[str, str]] = []
        self.dimmed: dict[Lamp, float] = {}
        self.flicker_hz: dict[Lamp, float] = {}
        self.open_commons: list[frozenset[str]] = []
        self.late_s: dict[Lamp, float] = {}
        self.listeners: list[Callable[[], None]] = []
        self._timeline = timeline
        self._slots = {lamp: index for index, lamp in enumerate(self.lamps)}
        self._commanded: dict[Lamp, bool] = dict.fromkeys(self.lamps, False)

    def of(self, area: str) -> tuple[Lamp, ...]:
        """Give an area's lamps; `area.2` names its second lamp alone."""
        name, _, number = area.partition(".")
        return tuple(
            lamp
            for lamp in self.lamps
            if lamp.area == name and (not number or str(lamp.number + 1) == number)
        )

    def command(self, areas: frozenset[str]) -> None:
        """Switch the drivers so that exactly these areas are lit once they have settled."""
        wanted = {self.exchanged.get(area, area) for area in areas}
        for a, b in self.bridged:
            if a in wanted or b in wanted:
                wanted |= {a, b}
        for lamp in self.lamps:
            lit = lamp.area in wanted
            delay = self.settle_s + self.late_s.get(lamp, 0.0)
            self._timeline.after(delay, partial(self._switch, lamp, lit))
        self._timeline.after(self.settle_s, self._tell)

    def put_out(self) -> None:
        """Put every lamp out at once, as a loss of power does."""
        self._commanded = dict.fromkeys(self.lamps, False)
        self._tell()

    def mean(self, lamp: Lamp) -> float:
        """Give a lamp's brightness now, over whole periods of its drive."""
        if not self.powered:
            return 0.0
        if any(lamp.area in group for group in self.open_commons) or lamp in self.dead:
            return 0.0
        if lamp in self.stuck_on:
            return 1.0
        level = 1.0 if self._commanded[lamp] else 0.0
        if lamp in self.flicker_hz and level:
            phase = math.fmod(self._timeline.now() * self.flicker_hz[lamp], 1.0)
            level = level if phase < 0.5 else 0.0
        return level * self.dimmed.get(lamp, 1.0)

    def momentary(self, lamp: Lamp) -> float:
        """Give a lamp's brightness at this very moment, its drive's pauses included."""
        mean = self.mean(lamp)
        if not mean or self.drive.kind == "steady":
            return mean
        phase = math.fmod(self._timeline.now() * self.drive.hz, 1.0)
        return mean if self.drive.momentary(phase, self._slots[lamp]) else 0.0

    def levels(self) -> Mapping[str, float]:
        """Give each area's mean brightness now, over its lamps."""
        sums: dict[str, list[float]] = {}
        for lamp in self.lamps:
            sums.setdefault(lamp.area, []).append(self.mean(lamp))
        return {area: sum(each) / len(each) for area, each in sums.items()}

    def exposed(self, seconds: float) -> Mapping[str, float]:
        """Give each lamp's brightness, by name, as a camera has seen it over the last `seconds`.

        Over whole periods of the drive that is a lamp's mean brightness; over a part of one it is
        more or less, as it happens.
        """
        return {lamp.name: self._over(seconds, lamp) for lamp in self.lamps}

    def _over(self, seconds: float, lamp: Lamp) -> float:
        mean = self.mean(lamp)
        if not mean or self.drive.kind == "steady" or seconds <= 0:
            return mean
        begins, ends = self.drive.lit_phases(self._slots[lamp])
        until = self._timeline.now() * self.drive.hz
        since = until - seconds * self.drive.hz

        def lit_before(turns: float) -> float:
            whole, phase = divmod(turns, 1.0)
            return whole + min(max(phase - begins, 0.0) / (ends - begins), 1.0)

        return mean * (lit_before(until) - lit_before(since)) / (until - since)

    def _switch(self, lamp: Lamp, lit: bool) -> None:
        self._commanded[lamp] = lit

    def _tell(self) -> None:
        for listener in self.listeners:
            listener()
