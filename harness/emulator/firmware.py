"""From an entry to the areas to light: the table's logic, and its bugs when one is armed."""

from __future__ import annotations

from collections.abc import Callable

from harness.emulator.lamp_rom import LAMPS

Bug = Callable[[tuple[str, ...], frozenset[str]], frozenset[str]]


class LampLogic:
    """Looks an entry up in the lamp memory; `bugs` change what comes out, in order.

    A bug gets the numbers in order of entry and the areas so far, and gives the areas.
    """

    def __init__(self) -> None:
        self.bugs: list[Bug] = []

    def areas(self, entered: tuple[str, ...]) -> frozenset[str]:
        """Give the areas for an entry; an incomplete one lights its single numbers."""
        if not entered:
            return frozenset()
        if len(entered) == 3:
            lit = LAMPS["".join(sorted(entered))]
        else:
            lit = frozenset(f"single-{number}" for number in entered)
        for bug in self.bugs:
            lit = bug(entered, lit)
        return lit
