"""The betting timer: started by a contact, closed signal until it reaches zero."""

from __future__ import annotations

from harness.emulator.clock import Due, Timeline


class Countdown:
    """Runs `seconds` of table time from its start. `rate` below 1 makes it slow, above 1 fast."""

    def __init__(self, timeline: Timeline, seconds: float) -> None:
        self.seconds = seconds
        self.rate = 1.0
        self.toss_early_s = 0.0
        self.running = False
        self._ends = 0.0
        self._timeline = timeline
        self._due: Due | None = None
        self._contact = False

    @property
    def left_s(self) -> float:
        """Give the s until it ends, 0 when it does not run."""
        return max(0.0, self._ends - self._timeline.now()) if self.running else 0.0

    def toss_allowed(self) -> bool:
        """Tell whether the table takes a toss now: not while the countdown runs.

        `toss_early_s` is how long before its end a faulty table takes one.
        """
        return not self.running or self.left_s <= self.toss_early_s

    def start_contact(self, closed: bool) -> None:
        """Close or open the start contact; the countdown starts anew as it closes."""
        edge = closed and not self._contact
        self._contact = closed
        if edge:
            self.start()

    def start(self) -> None:
        """Start, or start anew."""
        if self._due is not None:
            self._due.cancel()
        span = self.seconds / self.rate
        self.running = True
        self._ends = self._timeline.now() + span
        self._due = self._timeline.after(span, self._end)

    def _end(self) -> None:
        self.running = False
