"""Time of the emulated bench: a clock that may run faster than the wall, and what falls due on it.

Everything on the bench (debounce, lamp settling, pulses, strokes) happens on one `Timeline`. It is
a discrete-event queue that any thread brings up to date before it looks at the bench, so a state
read at one moment never depends on how fast some background thread was.
"""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """Bench time in seconds from an arbitrary start."""

    def now(self) -> float:
        """Give the bench time in s."""
        ...

    def wall_seconds(self, bench_seconds: float) -> float:
        """Give how many s of wall time a span of bench time takes."""
        ...


class ScaledClock:
    """Bench time that runs `scale` times as fast as the wall."""

    def __init__(self, scale: float = 1.0) -> None:
        self._scale = scale
        self._start = time.monotonic()

    def now(self) -> float:
        """Give the bench time in s since the clock was made."""
        return (time.monotonic() - self._start) * self._scale

    def wall_seconds(self, bench_seconds: float) -> float:
        """Give the wall time in s that a span of bench time takes."""
        return bench_seconds / self._scale


class ManualClock:
    """Bench time that stands still until a test moves it."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        """Give the bench time in s."""
        return self.time

    def wall_seconds(self, bench_seconds: float) -> float:
        """Give the same span: a manual clock is not tied to the wall."""
        return bench_seconds


class Due:
    """Something planned; `cancel` takes it back if it has not happened yet."""

    __slots__ = ("act", "when")

    def __init__(self, when: float, act: Callable[[], None]) -> None:
        self.when = when
        self.act: Callable[[], None] | None = act

    def cancel(self) -> None:
        """Take it back."""
        self.act = None


class Timeline:
    """What falls due on the bench, in order of time. Its `lock` guards the whole bench."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.lock = threading.RLock()
        self._changed = threading.Condition(self.lock)
        self._queue: list[tuple[float, int, Due]] = []
        self._order = itertools.count()
        self._moment: float | None = None
        self._stopped = False

    def now(self) -> float:
        """Give the bench time in s; inside an act, the moment for which it was planned."""
        return self.clock.now() if self._moment is None else self._moment

    def after(self, seconds: float, act: Callable[[], None]) -> Due:
        """Plan an act for `seconds` of bench time from now."""
        with self.lock:
            due = Due(self.now() + seconds, act)
            heapq.heappush(self._queue, (due.when, next(self._order), due))
            if self._queue[0][2] is due:
                self._changed.notify_all()
            return due

    def catch_up(self) -> float:
        """Do all that has fallen due, each at its own moment; give the bench time now."""
        with self.lock:
            if self._moment is not None:
                return self._moment
            now = self.clock.now()
            while self._queue and self._queue[0][0] <= now:
                when, _, due = heapq.heappop(self._queue)
                if due.act is None:
                    continue
                self._moment = when
                try:
                    due.act()
                finally:
                    self._moment = None
                now = self.clock.now()
            return now

    def sleep(self, seconds: float) -> None:
        """Let `seconds` of bench time pass, on the wall."""
        time.sleep(self.clock.wall_seconds(max(0.0, seconds)))
        self.catch_up()

    def run_on_time(self) -> None:
        """Start a thread that does what falls due when it is due, also while nobody looks."""
        threading.Thread(target=self._keep_time, name="timeline", daemon=True).start()

    def stop(self) -> None:
        """End the thread."""
        with self.lock:
            self._stopped = True
            self._changed.notify_all()

    def _keep_time(self) -> None:
        with self.lock:
            while not self._stopped:
                self.catch_up()
                pause = None
                if self._queue:
                    pause = self.clock.wall_seconds(self._queue[0][0] - self.clock.now())
                self._changed.wait(None if pause is None else max(0.0, pause))
