"""The shaker and its cover: strokes by hand, or a machine with its signal lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from harness.emulator.clock import Due, Timeline
from harness.emulator.dice_box import DiceBox

Kind = Literal["manual", "automated", "player-activated", "tumbler", "puncher"]


@dataclass(frozen=True, slots=True)
class ShakerSettings:
    """The shaker on this table. One stroke (tumble) takes `stroke_s`, for `thrown_s` of which the
    dice are up and the shake sensor is closed; after the last one they come to rest in `rest_s`.
    """

    kind: Kind = "manual"
    has_cover: bool = True
    tumbles: int = 3
    stroke_s: float = 0.12
    thrown_s: float = 0.06
    rest_s: float = 0.05


class RefusedError(Exception):
    """The bench cannot do what was asked; the message says why."""


class Shaker:
    """Strokes, cover and, on a machine, `done` and `fault` lines. Public flags are its defects."""

    def __init__(self, timeline: Timeline, dice: DiceBox, settings: ShakerSettings) -> None:
        self.settings = settings
        self.dice = dice
        self.cover_on = False
        self.thrown = False
        self.busy = False
        self.done = True
        self.fault_line = False
        self.strokes = 0
        self.activations = 0
        self.completed = 0
        self.starts_ignored = False
        self.never_done = False
        self.without_motion = False
        self.raises_fault = False
        self.count_override: int | None = None
        self.opens_cover_after: int | None = None
        self.cover_switch_stuck: bool | None = None
        self.sensor_stuck: bool | None = None
        self.start_allowed: Callable[[], bool] = lambda: True
        self.listeners: list[Callable[[], None]] = []
        self._made = 0
        self._timeline = timeline
        self._rest: Due | None = None
        self._contact = False

    @property
    def cover_switch(self) -> bool:
        """Tell what the cover switch says."""
        return self.cover_on if self.cover_switch_stuck is None else self.cover_switch_stuck

    @property
    def shake_sensor(self) -> bool:
        """Tell what the shake sensor says."""
        return self.thrown if self.sensor_stuck is None else self.sensor_stuck

    def cover(self, on: bool) -> None:
        """Put the cover on or take it off. Raises `RefusedError` where there is none."""
        if on and not self.settings.has_cover:
            raise RefusedError("this shaker has no cover")
        self.cover_on = on
        self.new_round()
        self._tell()

    def new_round(self) -> None:
        """Count strokes anew."""
        self._made = 0

    def stroke(self) -> float:
        """Make one stroke by hand; give the s until it has ended.

        Raises `RefusedError` for a machine and while a stroke is being made.
        """
        if self.settings.kind != "manual":
            raise RefusedError(f"the shaker is {self.settings.kind}, not manual: activate it")
        if self.busy:
            raise RefusedError("a stroke is being made")
        self.busy = True
        self._throw(last=True)
        return self.settings.stroke_s

    def start_contact(self, closed: bool) -> None:
        """Close or open a machine's start contact; it starts as the contact closes."""
        edge = closed and not self._contact
        self._contact = closed
        if edge and self.settings.kind != "manual" and not self.busy:
            self._start()

    def press_start(self) -> None:
        """Press a machine's start button; it runs unless it is running or will not."""
        if not self.busy:
            self._start()

    def activate(self) -> float:
        """Start a machine by its button; give the s until it is done. Raises `RefusedError`."""
        if self.settings.kind == "manual":
            raise RefusedError("the shaker is manual: shake it")
        if self.busy:
            raise RefusedError("the shaker is running")
        self._start()
        return self.settings.tumbles * self.settings.stroke_s + self.settings.rest_s

    def _start(self) -> None:
        if self.starts_ignored or not self.start_allowed():
            return
        self.busy, self.done, self.fault_line = True, False, False
        self.activations += 1
        self.new_round()
        count = self.count_override or self.settings.tumbles
        self._tell()
        self._tumble(count)

    def _tumble(self, left: int) -> None:
        if self.raises_fault:
            self.fault_line, self.busy = True, False
            self._tell()
            return
        if left:
            self._throw(last=left == 1)
            self._timeline.after(self.settings.stroke_s, lambda: self._tumble(left - 1))
        else:
            self._timeline.after(self.settings.rest_s, self._finish)

    def _finish(self) -> None:
        self.busy = False
        self.done = not self.never_done
        self.completed += self.done
        self._tell()

    def _throw(self, last: bool) -> None:
        self._made += 1
        if self.opens_cover_after is not None and self._made > self.opens_cover_after:
            self.cover_on = False
        too_many = self.count_override is not None and self._made > self.count_override
        if not self.without_motion and not too_many:
            if self._rest is not None:
                self._rest.cancel()
            self.strokes += 1
            self.thrown = True
            self.dice.throw(self.settings.thrown_s + self.settings.rest_s)
            self._timeline.after(self.settings.thrown_s, self._land)
        if last and self.settings.kind == "manual":
            self._timeline.after(self.settings.stroke_s, self._stroke_over)
        self._tell()

    def _land(self) -> None:
        self.thrown = False
        self._rest = self._timeline.after(self.settings.rest_s, self.dice.come_to_rest)
        self._tell()

    def _stroke_over(self) -> None:
        self.busy = False
        self._tell()

    def _tell(self) -> None:
        for listener in self.listeners:
            listener()
