"""Draws what was seen over a picture."""

from __future__ import annotations

import cv2
import numpy as np

from harness.vision.faces import Picture
from harness.vision.readings import DiceReading, DieSeen

_COLOURS = {
    "flat": (80, 220, 80),
    "leaning": (0, 140, 255),
    "stacked": (255, 80, 200),
    "cut-off": (200, 200, 0),
    "moving": (255, 160, 0),
}
_UNREAD = (60, 60, 255)


def draw_reading(picture: Picture, reading: DiceReading) -> Picture:
    """Copy a BGR picture and draw each die's top face, pips, value or state, and the verdict."""
    drawn = picture.copy()
    for die in reading.dice:
        _draw_die(drawn, die)
    said = (
        " ".join(str(v) for v in reading.values)
        if reading.verdict == "values"
        else f"{reading.verdict}: {reading.reason}"
    )
    _write(drawn, f"{said}  ({reading.confidence:.3f})", (6, drawn.shape[0] - 8), (255, 255, 255))
    return drawn


def _draw_die(drawn: Picture, die: DieSeen) -> None:
    colour = _COLOURS[die.state] if die.value is not None or die.state != "flat" else _UNREAD
    corners = np.rint(np.asarray(die.corners_px, np.float64) * 16).astype(np.int32)
    cv2.polylines(
        drawn, [corners], isClosed=True, color=colour, thickness=2, lineType=cv2.LINE_AA, shift=4
    )
    for x, y in die.pips_px:
        cv2.circle(drawn, (round(x * 16), round(y * 16)), 3 * 16, colour, 1, cv2.LINE_AA, 4)
    name = "?" if die.value is None else str(die.value)
    label = name if die.state == "flat" else f"{name} {die.state}"
    top = min(die.corners_px, key=lambda c: c[1])
    _write(drawn, label, (round(top[0]) - 6, max(14, round(top[1]) - 6)), colour)


def _write(drawn: Picture, text: str, at: tuple[int, int], colour: tuple[int, int, int]) -> None:
    cv2.putText(drawn, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.55, (0, 0, 0), 3, cv2.LINE_AA)
    cv2.putText(drawn, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.55, colour, 1, cv2.LINE_AA)
