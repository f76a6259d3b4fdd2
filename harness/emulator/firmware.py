"""From an entry to the areas to light: the table's logic, and its bugs when one is armed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from harness.emulator.lamp_rom import AREAS, LAMPS
from harness.emulator.lamp_sets import results_of

Bug = Callable[[tuple[str, ...], frozenset[str]], frozenset[str]]


class UnknownAreaError(Exception):
    """The firmware does not know an area that the layout has lamps for."""

    def __init__(self, area: str) -> None:
        self.area = area
        super().__init__(area)


class LampLogic:
    """Looks an entry up in the lamp memory; `bugs` change what comes out, in order.

    `areas` are those of the layout; wider layouts have more than the memory's 50.

    A bug gets the numbers in order of entry and the areas so far, and gives the areas.
    """

    def __init__(self, areas: Iterable[str] = AREAS) -> None:
        self.bugs: list[Bug] = []
        self._memory = {result: set(lit) for result, lit in LAMPS.items()}
        for area in areas:
            results = results_of(area)
            if results is None:
                raise UnknownAreaError(area)
            for result in results:
                self._memory[result].add(area)

    def areas(self, entered: tuple[str, ...]) -> frozenset[str]:
        """Give the areas for an entry; an incomplete one lights its single numbers."""
        if not entered:
            return frozenset()
        if len(entered) == 3:
            lit = frozenset(self._memory["".join(sorted(entered))])
        else:
            lit = frozenset(f"single-{number}" for number in entered)
        for bug in self.bugs:
            lit = bug(entered, lit)
        return lit
