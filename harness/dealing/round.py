"""A round as it is dealt: acts driven or told, what the senses say, and the monitor's word.

Every act and observation is an event on one timeline; the rule book's monitor takes each as it
happens. What a sensor tells stands on the timeline, not what was commanded: strokes are those that
the shake sensor counted, the cover is where its switch says it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.dealing.errors import (
    CoverSwitchError,
    NoMotionError,
    RestlessDiceError,
    ShakeSensorError,
    UnreadablePictureError,
)
from harness.dealing.look import REST_LIMIT_S, Eyes, Look
from harness.observations import Entry, StagedSample
from harness.rules.judgement import NO_READING
from harness.rules.monitor import Deviation, Monitor
from harness.rules.timeline import Event
from harness.vision.readings import legible

if TYPE_CHECKING:
    from harness.rig.bench import Bench
    from harness.rig.roles import Frame, Press

COVER_LIMIT_S = 2.0
POLL_S = 0.01
LEAST_TUMBLES = 3


@dataclass(frozen=True, slots=True)
class Departure:
    """A deviation and what it came with: the event that made it certain, and whose act that was.

    `of_machine`: a machine, not a person, did what the clause forbids. `of_lamps`: the event was an
    observation of the lamps, whose verdict is the entry's.
    """

    deviation: Deviation
    of_machine: bool
    of_lamps: bool


class Round:
    """One table under one monitor. `hear` is told every event and what it made certain.

    `sensor_failed`: a sensor of ours told what cannot be, so nothing on this timeline proves a
    breach. `cover_moved_unbidden`: when (s on the timeline) the cover moved by itself.
    """

    def __init__(
        self,
        bench: Bench,
        monitor: Monitor,
        eyes: Eyes | None,
        hear: Callable[[Event, tuple[Departure, ...]], None],
    ) -> None:
        self.monitor = monitor
        self.events: list[Event] = []
        self.departures: list[Departure] = []
        self._bench = bench
        self._eyes = eyes
        self._hear = hear
        self._began = time.monotonic()
        self._covered = False
        self._machine_failed = False
        self._tossed = False
        self._sensed_any = False
        self.before_toss: Look | None = None
        self.sensor_failed = False
        self.cover_moved_unbidden: list[float] = []
        self.under_cover: list[Frame] = []
        """Pictures taken with the cover on, while the dice were shaken."""
        self.dice_seen_under_cover = 0

    # What people do: told, or confirmed by the operator.

    def note(
        self, name: str, data: Mapping[str, object] | None = None, at: float | None = None
    ) -> tuple[Departure, ...]:
        """Put an event on the timeline; gives what it made certain. at: monotonic s, or now."""
        t = (time.monotonic() if at is None else at) - self._began
        t = max(t, self.events[-1].t if self.events else 0.0)
        event = Event(t, name, data or {})
        self.events.append(event)
        found = tuple(
            Departure(deviation, self._machine_failed, name == "lamps")
            for deviation in self.monitor.feed(event)
        )
        self.departures += found
        self._hear(event, found)
        return found

    # The cover.

    def cover(self) -> None:
        """Have the cover put on, and see it on. Raises CoverSwitchError."""
        assert self._bench.cover is not None
        self._bench.cover.put_on()
        self._await_cover(on=True)
        self._covered = True
        self.note("cover-on")

    def uncover(self) -> None:
        """Have the cover taken off, and see it off. Raises CoverSwitchError."""
        assert self._bench.cover is not None
        self._bench.cover.take_off()
        self._await_cover(on=False)
        if self._covered:
            self._covered = False
            self.note("cover-off")

    def leave_uncovered(self) -> None:
        """Take the cover off if it is on, once the dealing is over: no act of the round."""
        if self._covered:
            assert self._bench.cover is not None
            self._bench.cover.take_off()
            self._covered = False

    def _await_cover(self, *, on: bool) -> None:
        sense = self._bench.cover_sense
        if sense is None:
            return
        deadline = time.monotonic() + COVER_LIMIT_S
        while sense.is_on() != on:
            if time.monotonic() > deadline:
                seen = self._cover_by_camera()
                self.sensor_failed = True
                raise CoverSwitchError(
                    "cover",
                    expected=f"the cover switch to say {'on' if on else 'off'}",
                    found=f"{'off' if on else 'on'} ({seen})",
                    remedy="check the cover switch and its input",
                )
            time.sleep(POLL_S)

    def _cover_by_camera(self) -> str:
        if self._eyes is None:
            return "no camera to compare with"
        hidden = not legible(self._eyes.glimpse(time.monotonic()))
        return "the camera sees no dice" if hidden else "the camera sees the dice"

    def _follow_cover(self) -> None:
        """Put on the timeline what the cover did unbidden."""
        sense = self._bench.cover_sense
        if sense is None:
            return
        on = sense.is_on()
        if on != self._covered:
            self._covered = on
            self._machine_failed = self._machine_failed or self.by_machine
            self.note("cover-on" if on else "cover-off")
            self.cover_moved_unbidden.append(self.events[-1].t)

    # The toss.

    @property
    def by_machine(self) -> bool:
        """Tell whether a machine tosses the dice."""
        return self._bench.rig.table.shaker != "manual"

    def shake(self, strokes: int) -> int:
        """Have the shaker shaken by hand; gives the strokes that were sensed."""
        shaker = self._bench.shaker
        assert shaker is not None
        return sum(self._toss(lambda: shaker.shake(1)) for _ in range(strokes))

    def activate(self, by: str) -> int:
        """Have the machine activated once; gives the tumbles that were sensed.

        Too few of them are the machine's failing, and so is what follows from that.
        """
        shaker = self._bench.shaker
        assert shaker is not None
        self.note("activate", {"by": by})
        tumbles = self._toss(lambda: shaker.activate(by))
        if 0 < tumbles < LEAST_TUMBLES:
            self._machine_failed = True
        return tumbles

    def _toss(self, act: Callable[[], None]) -> int:
        sense = self._bench.shake_sense
        if sense is None:
            self._watching(act)
            self.note("shake")
            return 1
        if sense.level():
            self.sensor_failed = True
            raise ShakeSensorError(
                "shaker-sensor",
                expected="a shake sensor at rest while nobody shakes",
                found="it says shaking",
                remedy="check the shake sensor and its input",
            )
        before = sense.strokes()
        self._watching(act)
        sensed = sense.strokes() - before
        self._sensed_any = self._sensed_any or sensed > 0
        self._tossed = True
        for _ in range(sensed):
            self.note("shake")
        self._follow_cover()
        return sensed

    def _watching(self, act: Callable[[], None]) -> None:
        """Have something done while the camera looks whether a cover hides the dice."""
        if not self._covered or self._eyes is None:
            act()
            return
        # Pictures are only taken now and read afterwards: reading would keep this host from
        # counting the strokes.
        frames: list[Frame] = []
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="shake") as hand:
            done = hand.submit(act)
            while not done.done():
                frames.append(self._eyes.take(time.monotonic()))
            frames.append(self._eyes.take(time.monotonic()))
            done.result()
        self.under_cover += frames
        for frame in frames:
            self.dice_seen_under_cover += legible(self._eyes.read_as_it_is(frame))

    def rest(self, *, laid: bool = False) -> Look:
        """Wait until the dice rest and read them.

        laid: they were laid, not tossed. Raises RestlessDiceError, UnreadablePictureError, and what
        a toss that no sensor counted turns out to be.
        """
        assert self._eyes is not None
        look = self._eyes.look(
            time.monotonic(), moved=False, before=None if laid else self.before_toss
        )
        self.judge_look(look)
        return look

    def judge_look(self, look: Look) -> None:
        """Put dice at rest on the timeline as they were read."""
        reason = look.seen.reason
        if reason == "moving":  # whether a toss moved them cannot be told
            raise RestlessDiceError(REST_LIMIT_S)
        if self._tossed and not self._sensed_any:
            self._judge_unsensed(look)
        if reason is not None and reason not in NO_READING:
            raise UnreadablePictureError(reason)
        if reason is not None:
            self.note("dice-at-rest", {"state": reason}, look.at)
        else:
            self.note("dice-at-rest", {"values": list(look.seen.values)}, look.at)

    def _judge_unsensed(self, look: Look) -> None:
        if look.toss is None:
            return  # the dice were laid since: what the toss did to them cannot be seen any more
        if look.toss.proper or not _lay_still(look.toss.why_not):
            self.sensor_failed = True
            raise ShakeSensorError(
                "shaker-sensor",
                expected="strokes counted while the dice were shaken",
                found="none, though the camera saw the dice moved",
                remedy="check the shake sensor and its input",
            )
        if self.by_machine:
            raise NoMotionError(
                "shaker",
                expected="the dice tossed by the machine",
                found="the machine done, no stroke sensed and the dice as they lay before",
                remedy="have the shaker repaired",
            )

    # The entry.

    def entered(self, entry: Entry, presses: Sequence[Press]) -> None:
        """Put an entry on the timeline: its keys, then the lamps as sensed.

        An entry that our own bench broke off proves nothing about what people left out.
        """
        self.sensor_failed = self.sensor_failed or bool(entry.faults)
        for press in presses:
            value: object = int(press.key) if press.key.isdigit() else press.key
            self.note("key", {"value": value}, press.closed_at)
        lit = entry.lit("lit")
        if lit is not None:
            at = next(s.sample.at for s in reversed(entry.lamps) if s.stage == "lit")
            self.note("lamps", {"lit": sorted(lit)}, at)

    def cleared(self, lamps: Sequence[StagedSample]) -> None:
        """Put the clear key on the timeline, and the lamps after it."""
        self.note("clear")
        if lamps:
            last = lamps[-1].sample
            self.note("lamps", {"lit": sorted(last.lit)}, last.at)


def _lay_still(why_not: Sequence[str]) -> bool:
    return any("did not visibly move" in why for why in why_not)
