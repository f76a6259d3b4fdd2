"""What a rig can do, as roles. Steps ask for a role, never for a device.

A driver's channel serves a role structurally; nothing here is inherited from. Every method may
raise `harness.verdicts.HarnessError` naming the device.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from harness.observations import Dice, LampSample

Pose = Literal["flat", "leaning", "stacked"]


@dataclass(frozen=True, slots=True)
class Press:
    """One press as driven: key, when the contact closed and opened (monotonic s).

    `by_hand`: a person pressed it, some time in between.
    """

    key: str
    closed_at: float
    opened_at: float
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """One camera picture: BGR, uint8, shape (h, w, 3).

    `at` is the monotonic time at which its last byte had been received, `number` counts frames of
    this stream, `jpeg` is the picture as received where the stream gives it, `camera` the name of
    the camera in the rig file where whoever took the picture says it.
    """

    image: NDArray[np.uint8]
    at: float
    number: int
    jpeg: bytes | None = None
    camera: str | None = None


@runtime_checkable
class KeyPresser(Protocol):
    """Presses keys `1`..`6`, `clear`, `enter`. A press is sent once, ever."""

    def press(self, key: str) -> Press:
        """Close the key's contact for the rig's press time, open it, keep the gap."""
        ...

    def release_all(self) -> None:
        """Open every output and verify it open."""
        ...


@runtime_checkable
class LampSense(Protocol):
    """Senses which areas are lit."""

    def sense(self) -> LampSample:
        """Sense every mapped area once."""
        ...


@runtime_checkable
class Shaker(Protocol):
    """Tosses the dice: strokes by hand, or activations of a machine."""

    def shake(self, strokes: int) -> None:
        """Make that many strokes (manual) and return once the last one ended."""
        ...

    def activate(self, by: str) -> None:
        """Activate the machine once and return once it reports done."""
        ...


@runtime_checkable
class ShakeSense(Protocol):
    """Counts strokes that were sensed."""

    def strokes(self) -> int:
        """Give the strokes sensed since the rig was opened."""
        ...


@runtime_checkable
class Cover(Protocol):
    """Moves the shaker's cover."""

    def put_on(self) -> None:
        """Put the cover on."""
        ...

    def take_off(self) -> None:
        """Take the cover off."""
        ...


@runtime_checkable
class CoverSense(Protocol):
    """Senses the shaker's cover."""

    def is_on(self) -> bool:
        """Tell whether the cover is on."""
        ...


@runtime_checkable
class DiceCamera(Protocol):
    """Looks at the dice (and, as a `LayoutCamera`, at the layout)."""

    def newer_than(self, at: float, timeout_s: float) -> Frame:
        """Give the first frame received wholly after `at` (monotonic s)."""
        ...


@runtime_checkable
class DicePresenter(Protocol):
    """Sets the dice: an open fixture, a screen or the emulator."""

    def present(self, dice: Dice, pose: Pose = "flat") -> None:
        """Lay the three dice with these faces up; returns once they lie."""
        ...


@runtime_checkable
class Countdown(Protocol):
    """The betting timer."""

    def start(self) -> None:
        """Start the countdown."""
        ...

    def running(self) -> bool:
        """Tell whether the countdown runs."""
        ...


@runtime_checkable
class Supply(Protocol):
    """The table's power supply."""

    def set_voltage(self, volts: float) -> None:
        """Set the output voltage in volts."""
        ...

    def switch(self, on: bool) -> None:
        """Switch the output."""
        ...

    def volts(self) -> float:
        """Measure the output voltage in volts."""
        ...

    def amperes(self) -> float:
        """Measure the output current in amperes."""
        ...


Answer = Literal["yes", "no", "cannot tell"]


@runtime_checkable
class Operator(Protocol):
    """The person at the rig."""

    def confirm(self, prompt: str, clause: str) -> Answer:
        """Ask; the answer is recorded as the operator's, never assumed."""
        ...
