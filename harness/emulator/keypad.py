"""The terminal's keys: contacts, debounce and what can be wrong with them.

A contact is closed by the bench's relays or by a finger. The firmware takes a press once the
contact has been closed for the shortest press without a break; where it knows a longest press, it
waits for the contact to open and takes no press that was longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from harness.emulator.clock import Due, Timeline

Press = Callable[[str], None]


class Keypad:
    """Contacts to presses. The sets and maps are the keypad's defects, empty when it is sound."""

    def __init__(
        self,
        timeline: Timeline,
        keys: Iterable[str],
        press_s: tuple[float, float | None],
        accept: Press,
    ) -> None:
        self.keys = tuple(keys)
        self.min_press_s, self.max_press_s = press_s
        self.dead: set[str] = set()
        self.jammed: set[str] = set()
        self.swapped: dict[str, str] = {}
        self.shorted: dict[str, str] = {}
        self.bounce_s: dict[str, float] = {}
        self._timeline = timeline
        self._accept = accept
        self._driven: set[str] = set()
        self._stuck: set[str] = set()
        self._closed: dict[str, tuple[float, Due]] = {}

    def drive(self, key: str, closed: bool) -> None:
        """Close or open a key's actuator."""
        (self._driven.add if closed else self._driven.discard)(key)
        self._settle()

    def travelled(self, key: str) -> bool:
        """Tell whether the key is pressed down: what a travel sensor under it would see."""
        return key in self._driven and key not in self.jammed

    def closed(self) -> frozenset[str]:
        """Give the keys whose contacts are closed now, as the firmware sees them."""
        pressed = {key for key in self._driven if key not in self.jammed}
        seen = {self.swapped.get(key, key) for key in pressed}
        seen |= {self.shorted[key] for key in seen if key in self.shorted}
        return frozenset((seen - self.dead) | self._stuck)

    def stick(self, key: str, stuck: bool) -> None:
        """Close a contact for good, or let it go."""
        (self._stuck.add if stuck else self._stuck.discard)(key)
        self._settle()

    def rescan(self) -> None:
        """Take contacts that are closed without a finger on them again, as firmware does on clear.

        The firmware starts over and finds the key down; a key that is being pressed is still known.
        """
        for key in self._stuck:
            self._timeline.after(self.min_press_s, partial(self._accept, key))

    def refresh(self) -> None:
        """Look at the contacts again after a defect came or went."""
        self._settle()

    def _settle(self) -> None:
        closed, now = self.closed(), self._timeline.now()
        for key in [key for key in self._closed if key not in closed]:
            since, due = self._closed.pop(key)
            due.cancel()
            held = now - since
            if self.max_press_s is not None and self.min_press_s <= held <= self.max_press_s:
                self._taken(key)
        for key in sorted(closed - self._closed.keys()):
            self._closed[key] = (
                now,
                self._timeline.after(self.min_press_s, partial(self._held, key)),
            )

    def _held(self, key: str) -> None:
        if self.max_press_s is None:
            self._taken(key)

    def _taken(self, key: str) -> None:
        self._accept(key)
        if key in self.bounce_s:
            self._timeline.after(self.bounce_s[key], partial(self._accept, key))
