"""What the eyes give: readings with reasons, never a guess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ReadingVerdict = Literal["values", "no-result", "unreadable"]
NO_RESULT_REASONS = ("leaning", "stacked", "missing", "extra")
DieState = Literal["flat", "leaning", "stacked", "cut-off", "moving"]


@dataclass(frozen=True, slots=True)
class DieSeen:
    """One die: value (None unless flat and legible), state, where its top face lies.

    `corners_px` are the top face's four corners in order around it, pixels as OpenCV's (x right, y
    down, pixel centres at whole numbers); `confidence` is the calibrated chance that the value is
    right, 0 to 1.
    """

    value: int | None
    state: DieState
    centre_px: tuple[float, float]
    corners_px: tuple[tuple[float, float], ...]
    confidence: float
    pips_px: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class DiceReading:
    """One picture read: sorted values, or none and the reason. `ms` is the time it took."""

    verdict: ReadingVerdict
    values: tuple[int, ...]
    reason: str | None
    confidence: float
    dice: tuple[DieSeen, ...]
    ms: float


def legible(reading: DiceReading) -> bool:
    """Tell whether dice can be read in a picture: two at least, for a gleam may pass for one."""
    return sum(die.value is not None for die in reading.dice) > 1
