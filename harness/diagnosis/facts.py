"""What diagnosis may take for granted about the rig and the terminal, and what it may not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Commit = Literal["third-key", "entry-key"]
Clear = Literal["required", "unspecified"]
FourthKey = Literal["ignored", "last-three", "error"]
HESITATION_S = 1.5
"""Between two keys where a hand rests for a second: every terminal must allow it."""


@dataclass(frozen=True, slots=True)
class RigFacts:
    """The rig file's statements that bear on who is answerable.

    `map_verified`: somebody has proved which relay presses which key and which input senses
    which lamp; without it a fault of the table cannot be told from a swapped wire of ours.
    `sense_paths` names the independent paths over which lamps are seen, the first one first.
    `lamp_channels` maps an area to the rig's channel (`inputs:14`), for naming our side of a
    candidate set. `lamp_level_min` and `dark_level_max` are limits relative to a good lamp,
    `level_uncertainty` is expanded (k = 2); `settle_s` is the limit of settling. `remembers_s`: how
    long a terminal must keep a half-made entry, if stated. `memory_s`: after which time between two
    keys it was measured to keep one still, and after which to drop it (None: after none tried).
    """

    map_verified: bool
    commit: Commit = "third-key"
    clear: Clear = "required"
    fourth_key: FourthKey = "ignored"
    sense_paths: tuple[str, ...] = ("inputs",)
    lamp_channels: Mapping[str, str] = field(default_factory=dict)
    lamp_level_min: float | None = None
    dark_level_max: float | None = None
    level_uncertainty: float = 0.0
    settle_s: float | None = None
    remembers_s: float | None = None
    memory_s: tuple[float, float | None] | None = None

    @property
    def must_remember_s(self) -> float:
        """Give the time between two keys up to which every terminal must keep the first."""
        return HESITATION_S if self.remembers_s is None else self.remembers_s

    @property
    def forgets_too_soon(self) -> bool:
        """Tell whether the terminal was measured to drop half-made entries sooner than it may."""
        dropped_s = None if self.memory_s is None else self.memory_s[1]
        return dropped_s is not None and dropped_s < self.must_remember_s
