"""Lamps sensed by a layout camera: one more way to sense them, compared with every other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise

from harness.observations import LampSample
from harness.rig.errors import RigError
from harness.rig.roles import DiceCamera, Frame
from harness.vision.lamp_reference import LampReference
from harness.vision.lamps import OFF, STEADY, LampReader, LampsSeen

FRAME_TIMEOUT_S = 1.0
CLEAR = 0.9
"""Level (of a good lamp's light) from which one picture tells a lamp lit for good."""
ALIKE = 0.1
"""Difference of levels up to which two pictures show a lamp alike."""
MOST_FRAMES = 8
"""Pictures taken of lamps that are between dark and lit, until two in a row are alike."""
WATCH_FRAMES = 10
"""Pictures at least by which lamps are watched."""
_TWICE = 2
PATIENCE_S = 2.0
"""How long a picture that cannot be read may be taken again: an arm over the layout goes away."""


class LampsNotReadError(RigError):
    """A layout camera whose pictures do not tell the lamps: markers hidden, other light."""

    fault = "unreadable"


class LayoutLamps:
    """The lamps as one layout camera sees them; a `LampSense`. `path` is the camera's name.

    A level is relative to the lamp's light at calibration. dim_is_lit: a dim lamp counts as lit,
    and its level is judged; else it counts as dark.
    """

    def __init__(
        self, name: str, camera: DiceCamera, reference: LampReference, *, dim_is_lit: bool
    ) -> None:
        self.path = name
        self._camera = camera
        self._reader = LampReader(reference)
        self._dim_is_lit = dim_is_lit

    def sense(self) -> LampSample:
        """Sense every area from pictures exposed after this call.

        A lamp that is neither dark nor fully lit may be on its way: pictures are taken until two in
        a row are alike; what never is, flickers. Raises LampsNotReadError and what the camera does.
        """
        last = self._look(time.monotonic())
        ranges = dict.fromkeys(last.levels, 0.0)
        settled = _clear(last)
        for _ in range(MOST_FRAMES - 1):
            if settled:
                break
            seen = self._look(time.monotonic())
            changes = {area: abs(seen.levels[area] - last.levels[area]) for area in ranges}
            ranges = {area: max(ranges[area], change) for area, change in changes.items()}
            settled = max(changes.values(), default=0.0) <= ALIKE
            last = seen
        restless = frozenset(area for area, most in ranges.items() if most > STEADY)
        return self._sample(last, frozenset() if settled else restless)

    def watch(self, seconds: float) -> LampSample:
        """Watch the lamps, picture by picture; what changes twice or more is in `flicker`.

        Pictures are taken first and read afterwards, so that none is missed meanwhile. Raises
        LampsNotReadError and what the camera does.
        """
        frames: list[Frame] = []
        after, end = time.monotonic(), time.monotonic() + seconds
        while time.monotonic() < end or len(frames) < WATCH_FRAMES:
            frames.append(self._camera.newer_than(after, FRAME_TIMEOUT_S))
            after = frames[-1].at
        seen = [self._reader.read([frame.image]) for frame in frames]
        seen = [each for each in seen if each.refusal is None] or [self._look(after)]
        flicker = [
            area
            for area in seen[-1].levels
            if _crossings([each.levels[area] for each in seen]) >= _TWICE
        ]
        return self._sample(seen[-1], frozenset(flicker))

    def _sample(self, seen: LampsSeen, flicker: frozenset[str]) -> LampSample:
        dim = self._dim_is_lit
        lit = {area for area, s in seen.states.items() if s == "on" or (s == "dim" and dim)}
        return LampSample(
            at=time.monotonic(),
            path=self.path,
            lit=frozenset(lit) - seen.split,
            split=seen.split,
            flicker=flicker,
            levels={area: round(level, 3) for area, level in seen.levels.items()},
        )

    def _look(self, after: float) -> LampsSeen:
        give_up_at = time.monotonic() + PATIENCE_S
        while True:
            frame = self._camera.newer_than(after, FRAME_TIMEOUT_S)
            seen = self._reader.read([frame.image])
            if seen.refusal is None:
                return seen
            if time.monotonic() > give_up_at:
                raise LampsNotReadError(
                    self.path,
                    expected="a picture of the layout that can be read",
                    found=seen.refusal,
                    remedy="clear what stands before the layout, put the light back as it was at "
                    "calibration, or calibrate again",
                )
            after = time.monotonic()


def _crossings(levels: Sequence[float]) -> int:
    """Count how often levels cross their middle; none where they are steady."""
    low, high = min(levels), max(levels)
    if high - low <= STEADY:
        return 0
    above = [level > (low + high) / 2 for level in levels]
    return sum(a != b for a, b in pairwise(above))


def _clear(seen: LampsSeen) -> bool:
    """Tell whether every lamp is either dark or fully lit."""
    return all(level <= OFF or level >= CLEAR for level in seen.levels.values())
