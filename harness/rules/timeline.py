"""Events of a table's life in time order: what a run emits, a record holds and a monitor judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

ShakerKind = Literal["manual", "automated", "player-activated", "tumbler", "puncher"]
CoverKind = Literal["opaque", "none"]


@dataclass(frozen=True, slots=True)
class Setup:
    """Which equipment variant the timeline is of; the cover is off at its start."""

    shaker: ShakerKind
    cover: CoverKind


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: `t` in seconds, its name and its fields (`by`, `values`, ...).

    Names and fields are those of the timeline format; `data` holds the fields as JSON values.
    """

    t: float
    name: str
    data: Mapping[str, object] = field(default_factory=dict)
