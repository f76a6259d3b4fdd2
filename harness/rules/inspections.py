"""Inspections under watch: what is recorded, what falls due, and play that begins without."""

from __future__ import annotations

from dataclasses import dataclass

from harness.rules.constraints import Inspection
from harness.rules.timeline import Event


@dataclass(slots=True)
class InspectionWatch:
    """One inspection's records since it last fell due."""

    kind: Inspection
    _records: int = 0
    _passed_in_a_row: int = 0
    _failed: bool = False
    _shift_due: bool = False
    """A shift has started and no round since."""
    _opened: bool = False
    """The table has opened and no round has begun since."""

    def take(self, event: Event) -> str | None:
        """Take an event; says what is wrong if the table opens without the inspection."""
        kind = self.kind
        if event.name == kind.record and event.data.get("by") in kind.people:
            self._record(passed=event.data.get("passed") is True)
        elif event.name == kind.due:
            if kind.due == "shift-start":
                self._shift_due = True
                self._records = 0
            elif not self._opened:
                self._opened = True
                if self._records < kind.times:
                    return f"the table opened; the rule: {kind.says}"
        return None

    def play_begins(self) -> str | None:
        """Say what is wrong if a round begins on a failed or a missing inspection."""
        missing = self._shift_due and self._records < self.kind.times
        wrong = missing or self._failed
        if self._opened:
            self._records = 0
        self._shift_due = self._opened = self._failed = False
        return f"play began; the rule: {self.kind.says}" if wrong else None

    def _record(self, *, passed: bool) -> None:
        self._records += 1
        if not passed:
            self._passed_in_a_row = 0
            self._failed = True
            return
        self._passed_in_a_row += 1
        if self._passed_in_a_row >= self.kind.times:
            self._failed = False
