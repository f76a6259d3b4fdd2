"""Sets of areas as bit masks: a run is simulated under thousands of causes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class AreaMask:
    """Turns sets of area ids into integers, one bit an area, and back."""

    def __init__(self, areas: Sequence[str]) -> None:
        self.areas = tuple(areas)
        self._bit = {area: 1 << i for i, area in enumerate(self.areas)}
        self.all = (1 << len(self.areas)) - 1

    def bit(self, area: str) -> int:
        """Give the mask of one area."""
        return self._bit[area]

    def mask(self, areas: Iterable[str]) -> int:
        """Give the mask of a set of areas; ids that are no area of this layout are left out."""
        return sum({self._bit.get(area, 0) for area in areas})

    def names(self, mask: int) -> tuple[str, ...]:
        """Give the areas of a mask, sorted by code point."""
        return tuple(sorted(area for area, bit in self._bit.items() if mask & bit))
