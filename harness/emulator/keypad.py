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
        self._stuck: dict[str, float] = {}
        self._closed: dict[str, tuple[float, Due]] = {}
        self._repeats: dict[str, Due] = {}

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
        return frozenset((seen - self.dead) | set(self._stuck))

    def stick(self, key: str, repeat_s: float) -> None:
        """Close a contact for good; it chatters and so enters again every `repeat_s`."""
        self._stuck[key] = repeat_s
        self._settle()
        self._repeat(key)

    def unstick(self, key: str) -> None:
        """Let a stuck contact go."""
        del self._stuck[key]
        self._repeats.pop(key).cancel()
        self._settle()

    def rescan(self) -> None:
        """Take stuck keys again as pressed, as the firmware does after a clear."""
        for key in self._stuck:
            self._repeats.pop(key).cancel()
            self._timeline.after(self.min_press_s, partial(self._accept, key))
            self._repeat(key)

    def refresh(self) -> None:
        """Look at the contacts again after a defect came or went."""
        self._settle()

    def _repeat(self, key: str) -> None:
        def enter() -> None:
            self._accept(key)
            self._repeat(key)

        self._repeats[key] = self._timeline.after(self._stuck[key], enter)

    def _settle(self) -> None:
        closed, now = self.closed(), self._timeline.now()
        for key in [key for key in self._closed if key not in closed]:
            since, due = self._closed.pop(key)
            due.cancel()
            held = now - since
            if self.max_press_s is not None and self.min_press_s <= held <= self.max_press_s:
                self._taken(key)
        for key in closed - self._closed.keys():
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
