"""The entry terminal's firmware: what it takes as an entry and when it lights the lamps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from harness.emulator.clock import Due, Timeline

DIGITS = ("1", "2", "3", "4", "5", "6")

FourthKey = Literal["ignored", "last-three", "error", "new-entry"]
Light = Callable[[tuple[str, ...]], None]


@dataclass(frozen=True, slots=True)
class TerminalSettings:
    """How this make of terminal behaves. Times in s; a time-out of None never comes.

    A terminal without a clear key starts a new entry with the key after a result, whatever
    `fourth_key` says, or its lamps could never change again.
    """

    commit: Literal["third-key", "entry-key"] = "third-key"
    fourth_key: FourthKey = "ignored"
    entry_timeout_s: float | None = 10.0
    hold_s: float | None = None
    has_clear_key: bool = True


class Terminal:
    """Takes presses, keeps the last three numbers on its display, and lights or clears the lamps.

    `light` is called with the numbers of a result in order of entry, or with none to put all lamps
    out. The public attributes below the settings are the firmware's defects.
    """

    def __init__(self, timeline: Timeline, settings: TerminalSettings, light: Light) -> None:
        self.settings = settings
        self.entered: tuple[str, ...] = ()
        self.committed = False
        self.error = False
        self.presses: list[str] = []
        self.taken = 0
        self.listeners: list[Callable[[], None]] = []
        self.cleared: list[Callable[[], None]] = []
        self.locked: Callable[[], bool] = lambda: False
        self.called: Callable[[], None] = lambda: None
        self.unlocked_by_fault = False
        self.slip: Callable[[tuple[str, ...]], tuple[str, ...]] = lambda entered: entered
        self.dead_functions: set[str] = set()
        self.early_after: int | None = None
        self.fourth_key_taken: FourthKey | None = None
        self.timeout_override: tuple[float | None] | None = None
        self._timeline = timeline
        self._light = light
        self._timeout: Due | None = None
        self._hold: Due | None = None

    def press(self, key: str) -> None:
        """Take one debounced press of `1`..`6`, `clear`, `enter` or `call`."""
        self.taken += 1
        self.presses.append(key)
        del self.presses[:-100]
        if key not in self.dead_functions:
            if key == "clear":
                self.clear()
            elif key == "enter":
                self._enter()
            elif key == "call":
                self.called()
            elif not self.locked() or self.unlocked_by_fault:
                self._digit(key)
        for listener in self.listeners:
            listener()

    def clear(self) -> None:
        """Drop the entry and put the lamps out."""
        self._forget()
        self._light(())
        for act in self.cleared:
            act()

    def power_lost(self) -> None:
        """Forget everything."""
        self._forget()

    def _forget(self) -> None:
        for due in (self._timeout, self._hold):
            if due is not None:
                due.cancel()
        self.entered, self.committed, self.error = (), False, False

    def _digit(self, key: str) -> None:
        if self.error:
            return
        if self.committed or len(self.entered) == 3:
            self._fourth(key)
        else:
            self._append((*self.entered, key))

    def _fourth(self, key: str) -> None:
        behaviour = self.fourth_key_taken or self.settings.fourth_key
        if self.committed and not self.settings.has_clear_key and self.fourth_key_taken is None:
            behaviour = "new-entry"
        if behaviour == "last-three":
            self.entered = (*self.entered[1:], key)
            if self.committed:
                self._light(self.entered)
        elif behaviour == "error":
            self.error = True
            self._light(())
        elif behaviour == "new-entry":
            self._forget()
            self._light(())
            self._append((key,))

    def _append(self, entered: tuple[str, ...]) -> None:
        self.entered = entered
        if len(entered) == 3:
            self.entered = self.slip(entered)
        self._restart_timeout()
        if len(self.entered) == 3 and self.settings.commit == "third-key":
            self._commit()
        elif self.early_after is not None and len(self.entered) >= self.early_after:
            self._light(self.entered)

    def _enter(self) -> None:
        if self.settings.commit == "entry-key" and len(self.entered) == 3 and not self.committed:
            self._commit()

    def _commit(self) -> None:
        if self._timeout is not None:
            self._timeout.cancel()
        self.committed = True
        self._light(self.entered)
        if self.settings.hold_s is not None:
            self._hold = self._timeline.after(self.settings.hold_s, self.clear)

    def _restart_timeout(self) -> None:
        if self._timeout is not None:
            self._timeout.cancel()
        seconds = self.settings.entry_timeout_s
        if self.timeout_override is not None:
            seconds = self.timeout_override[0]
        if seconds is not None:
            self._timeout = self._timeline.after(seconds, self._time_out)

    def _time_out(self) -> None:
        self._forget()
        self._light(())
        for listener in self.listeners:
            listener()
