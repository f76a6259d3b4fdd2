"""What did happen and what was driven: the raw observations of a run, apart from what must happen.

Dealing makes them, evidence keeps them, diagnosis explains them. They hold no judgement. All
times are seconds on the host's monotonic clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Dice = tuple[int, int, int]
"""Three face values in order, each 1 to 6."""

Mode = Literal["presented", "tossed", "entered"]


@dataclass(frozen=True, slots=True)
class LampPictures:
    """The pictures from which the lamps were told, in order, as their camera gave them.

    `watched`: taken to see whether lamps stay as they are, else until they were steady.
    `dim_is_lit`: a lamp between dark and lit counts as lit.
    """

    frames: tuple[object, ...]
    watched: bool
    dim_is_lit: bool


@dataclass(frozen=True, slots=True)
class LampSample:
    """The lamps sensed once, over one path (a device's name).

    `at`: when they were so (monotonic s). `lit` and `unknown` are area ids; an area in neither
    was sensed dark. `unknown` areas could not be sensed (module offline). An area with several
    lamps that disagree is in `split`. `levels` are relative brightnesses (1.0 = the reference
    of a good lamp), only from analogue paths. `pictures` are those that the sample was read
    from, where a camera sensed it.
    """

    at: float
    path: str
    lit: frozenset[str]
    unknown: frozenset[str] = frozenset()
    split: frozenset[str] = frozenset()
    flicker: frozenset[str] = frozenset()
    levels: Mapping[str, float] | None = None
    pictures: LampPictures | None = field(default=None, compare=False, repr=False)


Stage = Literal["before", "after-1", "after-2", "after-3", "lit", "cleared"]
"""When in an entry a sample was taken: before the first key, after the first or second key, after
the third where an entry key is still to come, after the committing key, after the clear key."""


@dataclass(frozen=True, slots=True)
class StagedSample:
    """A lamp sample with its place in the entry."""

    stage: Stage
    sample: LampSample


@dataclass(frozen=True, slots=True)
class CameraReading:
    """What one dice camera, by its name in the rig file, gave by itself; as in `DiceSeen`."""

    camera: str
    values: tuple[int, ...]
    reason: str | None
    confidence: float


@dataclass(frozen=True, slots=True)
class DiceSeen:
    """What the dice cameras gave: values sorted ascending, or a reason why there are none.

    `cameras`: what each of them gave by itself, where that is known.
    """

    values: tuple[int, ...]
    reason: str | None
    confidence: float
    frames: tuple[str, ...] = ()
    cameras: tuple[CameraReading, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One result entered on the terminal and cleared, with everything sensed around it.

    `shown` are the dice as presented (None when tossed or entered), `seen` what the camera read,
    `keyed` the keys whose relays were driven, in order (`"1"` .. `"6"`; not the entry key that
    follows them where the terminal has one, nor the clear key), `echoed` what the terminal itself
    reports as entered, where the rig can read that. `pressed_at`: when the contact of each of these
    keys, and of the entry key, closed; empty if nobody knows. `travelled`: the keys that were
    sensed to go down, where the rig senses that. `late`: areas not yet right at the limit of
    settling that came right after. `watched`: lamps watched by camera when first lit, which stayed
    as they were.
    """

    book: str
    rig: str
    index: int
    mode: Mode
    shown: Dice | None
    seen: DiceSeen | None
    keyed: tuple[str, ...]
    lamps: tuple[StagedSample, ...]
    started: float
    ended: float
    echoed: tuple[str, ...] | None = None
    settle_s: float | None = None
    cleared_by_key: bool = True
    pressed_at: tuple[float, ...] = ()
    travelled: tuple[str, ...] | None = None
    late: frozenset[str] = frozenset()
    watched: tuple[LampSample, ...] = ()
    faults: tuple[Mapping[str, object], ...] = field(default=())
    """Errors met during the entry, each as `HarnessError.to_json` gives it."""

    def lit(self, stage: Stage) -> frozenset[str] | None:
        """Give the areas sensed lit at a stage (last sample of it), or None if none was taken."""
        for staged in reversed(self.lamps):
            if staged.stage == stage:
                return staged.sample.lit
        return None
