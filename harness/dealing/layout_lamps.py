"""Lamps sensed by a layout camera: one more way to sense them, compared with every other."""

from __future__ import annotations

import time
from collections.abc import Sequence

from harness.observations import LampPictures, LampSample
from harness.rig.errors import RigError
from harness.rig.roles import DiceCamera, Frame
from harness.vision.lamp_reference import LampReference
from harness.vision.lamp_watch import settled, told
from harness.vision.lamps import LampReader, LampsSeen

FRAME_TIMEOUT_S = 1.0
MOST_FRAMES = 8
"""Pictures taken of lamps that are between dark and lit, until two in a row are alike."""
WATCH_FRAMES = 10
"""Pictures at least by which lamps are watched."""
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
        looks = [self._look(time.monotonic())]
        while not settled([seen for _, seen in looks]) and len(looks) < MOST_FRAMES:
            looks.append(self._look(time.monotonic()))
        return self._sample(looks, watched=False)

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
        looks = [(frame, self._reader.read([frame.image])) for frame in frames]
        looks = [look for look in looks if look[1].refusal is None] or [self._look(after)]
        return self._sample(looks, watched=True)

    def _sample(self, looks: Sequence[tuple[Frame, LampsSeen]], *, watched: bool) -> LampSample:
        said = told([seen for _, seen in looks], watched=watched, dim_is_lit=self._dim_is_lit)
        return LampSample(
            at=looks[-1][0].at,
            path=self.path,
            lit=said.lit,
            split=said.split,
            flicker=said.flicker,
            levels=said.levels,
            pictures=LampPictures(
                tuple(frame for frame, _ in looks), watched=watched, dim_is_lit=self._dim_is_lit
            ),
        )

    def _look(self, after: float) -> tuple[Frame, LampsSeen]:
        give_up_at = time.monotonic() + PATIENCE_S
        while True:
            frame = self._camera.newer_than(after, FRAME_TIMEOUT_S)
            seen = self._reader.read([frame.image])
            if seen.refusal is None:
                return frame, seen
            if time.monotonic() > give_up_at:
                raise LampsNotReadError(
                    self.path,
                    expected="a picture of the layout that can be read",
                    found=seen.refusal,
                    remedy="clear what stands before the layout, put the light back as it was at "
                    "calibration, or calibrate again",
                )
            after = time.monotonic()
