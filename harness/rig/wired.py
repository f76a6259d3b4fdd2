"""Machines on wires: a shaker with start, done and fault contacts; a countdown."""

from __future__ import annotations

import time

from harness.rig.contacts import Contact
from harness.rig.errors import NotCapableError
from harness.rig.roles import Shaker
from harness.rig.senses import Sense, StrokeCounter, read_together
from harness.verdicts import HarnessError, Verdict

_POLL_S = 0.01


class ShakerStuckError(HarnessError):
    """The machine did not start, did not end, or raised its fault line: the table's fault.

    `phase` is `start`, `done` or `fault`.
    """

    verdict = Verdict.DUT_FAIL

    def __init__(self, *, phase: str, expected: str, found: str) -> None:
        super().__init__(
            "shaker", expected=expected, found=found, remedy="have the shaker repaired"
        )
        self.phase = phase

    def to_json(self) -> dict[str, object]:
        """Give the error with its phase."""
        fault = {"start": "no-start", "done": "never-done", "fault": "fault-line"}[self.phase]
        return {**super().to_json(), "part": "shaker", "fault": fault, "phase": self.phase}


class WiredShaker:
    """A machine started by a contact; a `Shaker`."""

    def __init__(
        self, start: Contact, done: Sense, fault: Sense | None, start_s: float, done_s: float
    ) -> None:
        self._start = start
        self._done = done
        self._fault = fault
        self._start_s = start_s
        self._done_s = done_s

    def shake(self, strokes: int) -> None:
        """Refuse: a machine is activated, not shaken."""
        raise NotCapableError(
            "shaker",
            expected=f"{strokes} strokes by hand",
            found="a machine",
            remedy="scenarios that shake by hand are not applicable on this rig",
        )

    def activate(self, by: str) -> None:
        """Start the machine and wait until it is done. Raises ShakerStuckError."""
        self._start.press()
        self._await("start", self._start_s, done=False)
        self._await("done", self._done_s, done=True)

    def _await(self, phase: str, limit_s: float, *, done: bool) -> None:
        deadline = time.monotonic() + limit_s
        lines = [self._done] if self._fault is None else [self._done, self._fault]
        while True:
            is_done, *faults = read_together(lines)
            if any(faults):
                raise ShakerStuckError(
                    phase="fault", expected="a quiet fault line", found="the fault line raised"
                )
            if is_done is done:
                return
            if time.monotonic() >= deadline:
                wanted = "to run" if phase == "start" else "to be done"
                raise ShakerStuckError(
                    phase=phase,
                    expected=f"the shaker {wanted} within {limit_s:g} s",
                    found="it did not",
                )
            time.sleep(_POLL_S)


class WatchedShaker:
    """A shaker whose strokes are counted while it moves; a `Shaker`."""

    def __init__(self, shaker: Shaker, strokes: StrokeCounter) -> None:
        self._shaker = shaker
        self._strokes = strokes

    def shake(self, strokes: int) -> None:
        """Shake, counting."""
        with self._strokes.watching():
            self._shaker.shake(strokes)

    def activate(self, by: str) -> None:
        """Activate, counting."""
        with self._strokes.watching():
            self._shaker.activate(by)


class WiredCountdown:
    """A countdown on wires; a `Countdown`."""

    def __init__(self, start: Contact, running: Sense) -> None:
        self._start = start
        self._running = running

    def start(self) -> None:
        """Start it."""
        self._start.press()

    def running(self) -> bool:
        """Tell whether it runs."""
        return self._running.read()
