"""A model of an entry terminal: the presses driven to the dice it takes as entered.

The model is what the rig file says of the terminal (reading A22), with at most one wrong thing
about its keys. It says what a terminal with that fault would do; whether this table does it is
decided by comparison with the samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from harness.diagnosis.facts import RigFacts
from harness.observations import Dice

DIGITS = ("1", "2", "3", "4", "5", "6")
KeyFault = Callable[[str], tuple[str, ...]]
"""What reaches the terminal's logic when a key's relay is driven once."""


def sound(key: str) -> tuple[str, ...]:
    """Pass a press on as driven."""
    return (key,)


@dataclass
class Terminal:
    """State of an entry: digits typed so far, and the dice taken as entered, if any.

    `held` is a key that stays closed: it enters itself again whenever the terminal starts afresh
    (`fresh`: it does so now). `slow`: keys of which a press right after one of the same key is not
    taken, `deaf_to` such presses in a row at most.
    """

    facts: RigFacts
    fault: KeyFault = sound
    held: str | None = None
    typed: list[str] = field(default_factory=list)
    entered: Dice | None = None
    fresh: bool = True
    slow: frozenset[str] = frozenset()
    deaf_to: int = 1
    last: str | None = None
    lost: int = 0

    def __post_init__(self) -> None:
        if self.fresh:
            self._enter_held()

    def press(self, key: str) -> None:
        """Drive one key once."""
        if key in self.slow and key == self.last and self.lost < self.deaf_to:
            self.lost += 1
            return
        self.last, self.lost = key, 0
        for arriving in self.fault(key):
            if arriving == self.held:
                continue  # closed already: no edge
            self._take(arriving)

    def forget(self) -> None:
        """Drop a half-made entry."""
        if self.entered is None:
            self.typed.clear()

    def copy(self) -> Terminal:
        """Give another terminal in the same state."""
        return replace(self, typed=[*self.typed], fresh=False)

    def turned(self, into: Terminal) -> Terminal:
        """Give another terminal's ways in the state of this one: something broke just now."""
        other = replace(
            into, typed=[*self.typed], entered=self.entered, fresh=False, last=self.last
        )
        if into.held is not None:
            other._take(into.held)
        return other

    def _take(self, key: str) -> None:
        if key == "clear":
            self.typed.clear()
            self.entered = None
            self._enter_held()
        elif key == "enter":
            self._commit()
        elif self.entered is not None and self.facts.clear == "unspecified":
            self.typed = [key]
            self.entered = None
        elif len(self.typed) == 3:
            if self.facts.fourth_key == "last-three":
                self.typed = [*self.typed[1:], key]
                if self.facts.commit == "third-key":
                    self._commit()
            elif self.facts.fourth_key == "error":
                self.typed.clear()
                self.entered = None
        else:
            self.typed.append(key)
            if self.facts.commit == "third-key":
                self._commit()

    def _commit(self) -> None:
        if len(self.typed) == 3:
            first, second, third = (int(key) for key in self.typed)
            self.entered = (first, second, third)

    def _enter_held(self) -> None:
        if self.held is not None:
            self._take(self.held)
