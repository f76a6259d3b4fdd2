"""Areas of wider layouts that a table may have lamps for, beyond the lamp memory.

`odd` and `even` go out on triples; `set-1-2-3` and `set-1-1-2` light for just those dice;
`four-1-2-3-4` lights when three different dice are all among its numbers.
"""

from __future__ import annotations

import re

from harness.emulator.lamp_rom import AREAS, LAMPS

_SET = re.compile("set-([1-6])-([1-6])-([1-6])")
_FOUR = re.compile("four-([1-6])-([1-6])-([1-6])-([1-6])")


def results_of(area: str) -> frozenset[str] | None:
    """Give the sorted results for which the firmware lights an area, None if it knows it not."""
    if area in AREAS:
        return frozenset(result for result, lit in LAMPS.items() if area in lit)
    if area in ("odd", "even"):
        return frozenset(
            result
            for result in LAMPS
            if len(set(result)) > 1 and sum(map(int, result)) % 2 == (area == "odd")
        )
    if match := _SET.fullmatch(area):
        wanted = "".join(sorted(match.groups()))
        return frozenset({wanted})
    if match := _FOUR.fullmatch(area):
        numbers = set(match.groups())
        return frozenset(
            result for result in LAMPS if len(set(result)) == 3 and numbers >= set(result)
        )
    return None
