"""What diagnosis and planning ask of a rule book."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from harness.observations import Dice

ASCENDING: tuple[Dice, ...] = tuple(
    (a, b, c) for a in range(1, 7) for b in range(a, 7) for c in range(b, 7)
)
"""The 56 results whose values ascend."""


class Layout(Protocol):
    """The part of a rule book that says which areas there are and when they win."""

    @property
    def areas(self) -> Mapping[str, object]:
        """The areas of the layout, by id."""
        ...

    def winning_areas(
        self, dice: Dice, options: Mapping[str, bool | str] | None = None
    ) -> frozenset[str]:
        """Give the areas that win on a result."""
        ...
