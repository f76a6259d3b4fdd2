"""What diagnosis may take for granted about the rig and the terminal, and what it may not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Commit = Literal["third-key", "entry-key"]
Clear = Literal["required", "unspecified"]
FourthKey = Literal["ignored", "last-three", "error"]


@dataclass(frozen=True, slots=True)
class RigFacts:
    """The rig file's statements that bear on who is answerable.

    `map_verified`: somebody has proved which relay presses which key and which input senses
    which lamp; without it a fault of the table cannot be told from a swapped wire of ours.
    `sense_paths` names the independent paths over which lamps are seen, the first one first.
    `lamp_channels` maps an area to the rig's channel (`inputs:14`), for naming our side of a
    candidate set. `lamp_level_min` and `dark_level_max` are limits relative to a good lamp,
    `level_uncertainty` is expanded (k = 2); `settle_s` is the limit of settling.
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
