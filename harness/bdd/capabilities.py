"""What a scenario asks of a bench, and by which name it is said to be missing.

A step declares what it needs (`needs`); a scenario may add a tag `@needs-NAME`. Both ask for
capabilities, never for a device. A bench that lacks one makes the scenario NOT_APPLICABLE.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])

TAG_PREFIX = "needs-"

CAPABILITIES = {
    "keys": "a way to press the terminal's keys",
    "lamps": "a way to sense the lamps",
    "presenter": "a way to lay the dice (fixture, screen or emulated hand)",
    "stacking": "a way to lay dice leaning or stacked",
    "dice-camera": "a dice camera",
    "shaker": "a way to work the shaker",
    "shake-sense": "a shake sensor",
    "cover": "a way to move the shaker's cover",
    "cover-sense": "a cover switch",
    "countdown": "a betting countdown",
    "operator": "a person to ask",
    "paytable": "the odds posted at the table",
    "clear-key": "a terminal that is cleared by a key",
    "supply": "a controlled power supply",
    "restart-limit": "a limit for the table's restart",
    "entry-timeout": "limits for how long a half-made entry is remembered",
    "interlock": "an interlock of the entry terminal",
    "manual-shaker": "a manual shaker",
    "automated-shaker": "an automated shaker",
    "player-activated-shaker": "a player-activated shaker",
    "tumbler": "a dice tumbler",
    "puncher": "a dice puncher",
    "opaque-cover": "a shaker with an opaque cover",
    "no-cover": "a shaker without a cover",
}
"""Every capability by name, with the words that a report uses for it."""

CLOSED_LOOP = frozenset({"presenter", "dice-camera"})
"""What it takes to lay dice and to read them. Without it results are entered, keys and lamps only:
mode `entered`, as on a sealed shaker."""


def needs(*capabilities: str) -> Callable[[F], F]:
    """Declare what a step asks of the bench."""
    unknown = set(capabilities) - set(CAPABILITIES)
    assert not unknown, f"unknown capabilities {sorted(unknown)}"

    def declare(function: F) -> F:
        function.__dict__["capabilities"] = frozenset(capabilities)
        return function

    return declare


def needed_by(function: Callable[..., object]) -> frozenset[str]:
    """Give what a step declared with `needs`; nothing if it declared nothing."""
    declared: frozenset[str] = getattr(function, "capabilities", frozenset())
    return declared
