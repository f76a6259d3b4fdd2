"""How values are worded in steps."""

from __future__ import annotations

from harness.observations import Dice


def dice(text: str) -> Dice:
    """Read a result as steps write it: `1,1,2`."""
    first, second, third = (int(value) for value in text.split(","))
    return (first, second, third)
