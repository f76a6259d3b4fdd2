"""What stops play: raised, told to the person who must know, mended, and only then over."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from harness.rules.constraints import Stop


@dataclass(slots=True)
class StopWatch:
    """One stop: whether it is on, and what has been done about it.

    A stop is reported once, whatever else is then left undone about it.
    """

    kind: Stop
    on: bool = False
    _told: bool = False
    _mended: bool = False
    _noticed: bool = False
    """Raised by an act, not only by a breach that nobody remarked."""
    blamed: bool = False

    @property
    def known(self) -> bool:
        """Tell whether play is stopped and the person who must know has been told."""
        return self.on and self._told

    def raise_by_breach(self) -> None:
        """Stop play for a breach."""
        if not self.on:
            self.on, self._told, self._noticed, self.blamed = True, False, False, False
        self._mended = False

    def take(self, acts: Collection[str]) -> str | None:
        """Take an event's acts; says what is wrong if it is mended before anybody was told."""
        kind = self.kind
        if any(act in kind.raised_by for act in acts):
            self.raise_by_breach()
            self._noticed = True
        if not self.on:
            return None
        wrong = None
        self._told = self._told or kind.told in acts
        if kind.mended in acts:
            self._mended = True
            if not self._told and not self.blamed:
                self.blamed = True
                wrong = f"{kind.mended} came first; the rule: {kind.says}"
        self.on = not (self._told and self._mended)
        return wrong

    def round_ends(self) -> str | None:
        """Say what is wrong if the round ends and nobody was told; counts once `blamed` is set."""
        untold = self.on and self._noticed and not self._told and not self.blamed
        return f"left out ({self.kind.told}); the rule: {self.kind.says}" if untold else None

    def play_begins(self) -> str | None:
        """Say what is wrong if a round begins while play is stopped."""
        if not self.on or self.blamed:
            return None
        self.blamed = True
        return f"play went on; the rule: {self.kind.says}"
