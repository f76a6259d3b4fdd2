"""Dice read by camera: only at rest, only from frames newer than what moved them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.dealing.aim import astray, cut_off
from harness.observations import CameraReading, DiceSeen
from harness.rig.errors import RigError
from harness.rig.roles import DiceCamera, Frame
from harness.vision.calibration import Profile
from harness.vision.reader import DiceReader
from harness.vision.readings import DiceReading
from harness.vision.rest import FRAMES, RestWatch, Toss, agree

FRAME_TIMEOUT_S = 1.0
REST_LIMIT_S = 3.0
IMPATIENT_S = 0.5
PATIENT_LOOKS = 3
"""After so many looks in a row at dice that never rested, further ones are shorter."""
NEXT_FRAME_POLL_S = 0.004


class FrozenPictureError(RigError):
    """A camera whose picture does not change though the dice were moved."""

    fault = "frozen"


@dataclass(frozen=True, slots=True)
class Look:
    """What the cameras gave: the reading for the record, and the frames that voted.

    `toss` judges the toss before, where a look before it was given (first camera).
    """

    seen: DiceSeen
    readings: tuple[DiceReading, ...]
    frames: tuple[Frame, ...]
    at: float
    toss: Toss | None = None


class Eyes:
    """Every dice camera of a bench, each with its reader; one reader may serve them all.

    A reading needs every frame and every camera to agree: where two differ the dice are not read.
    profiles: what each camera was calibrated to, None for one that was not.
    """

    def __init__(
        self,
        cameras: Sequence[DiceCamera],
        readers: DiceReader | Sequence[DiceReader],
        profiles: Sequence[Profile | None] = (),
    ) -> None:
        self._cameras = tuple(cameras)
        self._readers = (
            (readers,) * len(self._cameras) if isinstance(readers, DiceReader) else tuple(readers)
        )
        self._profiles = tuple(profiles) or (None,) * len(self._cameras)
        self._uncalibrated: DiceReader | None = None
        self._last: dict[int, Frame] = {}
        self._restless_looks = 0

    def look(
        self,
        after: float,
        *,
        moved: bool,
        dice: int | None = 3,
        rest_limit_s: float = REST_LIMIT_S,
        before: Look | None = None,
    ) -> Look:
        """Wait until the dice rest, then read them.

        after: monotonic s at which they were last touched; older frames are not used. moved: they
        lie otherwise than at the last look, so an unchanged picture is a frozen one
        (FrozenPictureError). before: how they lay before a toss, which is then judged. Dice that do
        not rest within the limit give the reason `moving`, or `blurred` where the picture is
        smeared and nothing moves. A camera without frames raises.
        """
        if self._restless_looks >= PATIENT_LOOKS:
            rest_limit_s = min(rest_limit_s, IMPATIENT_S)
        looks = [
            self._through(
                number,
                camera,
                after,
                moved=moved,
                dice=dice,
                limit_s=rest_limit_s,
                before=None if number else before,
            )
            for number, camera in enumerate(self._cameras)
        ]
        readings = tuple(watch.at_last for watch, _ in looks)
        frames = tuple(frame for _, voted in looks for frame in voted)
        joined = agree(list(readings))
        restless = joined.reason in ("moving", "blurred")
        self._restless_looks = self._restless_looks + 1 if restless else 0
        said = tuple(
            CameraReading(_name(camera, n), r.values, r.reason, r.confidence)
            for n, (camera, r) in enumerate(zip(self._cameras, readings, strict=True), 1)
        )
        seen = DiceSeen(joined.values, joined.reason, joined.confidence, cameras=said)
        toss = None if before is None else looks[0][0].judge_toss(before.readings[0])
        return Look(seen, readings, frames, max(frame.at for frame in frames), toss)

    def look_at_leisure(self) -> Look:
        """Read the dice as they lie now, whatever they do."""
        return self.look(time.monotonic(), moved=False)

    def misaimed(self, look: Look) -> tuple[str, str] | None:
        """Tell which camera does not show the whole place where dice were laid, and by what.

        look: at dice that were laid flat. None where nothing speaks for it: a die that is missing,
        leans or lies on another may do so before a camera that is aimed well.
        """
        for number, (camera, reading) in enumerate(zip(self._cameras, look.readings, strict=True)):
            name, profile = _name(camera, number + 1), self._profiles[number]
            image = next(f for f in reversed(look.frames) if f.camera == name).image
            size = image.shape[1], image.shape[0]
            seen = cut_off(reading, size)
            if seen is None and reading.reason == "missing" and profile is not None:
                if self._uncalibrated is None:
                    self._uncalibrated = DiceReader()
                anywhere = self._uncalibrated.read(image, None)
                seen = cut_off(anywhere, size) or astray(anywhere, profile)
            if seen is not None:
                return name, seen
        return None

    def glimpse(self, after: float) -> DiceReading:
        """Read one picture newer than `after` as it is, dice at rest or not, any number of them."""
        return self.read_as_it_is(self.take(after))

    def take(self, after: float) -> Frame:
        """Take one picture newer than `after`, through the first camera."""
        frame = self._cameras[0].newer_than(after, FRAME_TIMEOUT_S)
        return replace(frame, camera=_name(self._cameras[0], 1))

    def read_as_it_is(self, frame: Frame) -> DiceReading:
        """Read one picture, dice at rest or not, any number of them."""
        return self._readers[0].read(frame.image, None)

    def _through(
        self,
        number: int,
        camera: DiceCamera,
        after: float,
        *,
        moved: bool,
        dice: int | None,
        limit_s: float,
        before: Look | None,
    ) -> tuple[RestWatch, tuple[Frame, ...]]:
        watch = RestWatch(after)
        if before is not None:
            # A toss is judged from how the dice lay before it: that picture comes first.
            last = before.frames[FRAMES - 1] if len(before.frames) >= FRAMES else before.frames[-1]
            watch = RestWatch(last.at - 1.0)
            watch.feed(last.image, last.at, before.readings[0])
        voted: deque[Frame] = deque(maxlen=FRAMES)
        deadline = time.monotonic() + limit_s
        reading: DiceReading | None = None
        while True:
            frame = _next(camera, after, voted[-1] if voted else None)
            frame = replace(frame, camera=_name(camera, number + 1))
            if moved and not voted:
                self._refuse_frozen(number, camera, frame)
            voted.append(frame)
            # The first and the last frame are read, each by itself; those between need only show
            # that nothing moved.
            if reading is None or len(voted) == FRAMES:
                reading = self._readers[number].read(frame.image, dice)
            if watch.feed(frame.image, frame.at, reading) and len(voted) == FRAMES:
                break
            if time.monotonic() > deadline and len(voted) == FRAMES:
                break
        self._last[number] = frame
        return watch, tuple(voted)

    def _refuse_frozen(self, number: int, camera: DiceCamera, frame: Frame) -> None:
        last = self._last.get(number)
        if last is None or frame.image.shape != last.image.shape:
            return
        if (frame.image == last.image).all():
            raise FrozenPictureError(
                _name(camera, number + 1),
                expected="a new picture once the dice were moved",
                found="the very picture of before",
                remedy="restart the camera; what it shows cannot be trusted",
            )


def _name(camera: DiceCamera, number: int) -> str:
    """Give a camera's name in the rig file."""
    return str(getattr(camera, "name", f"dice camera {number}"))


def _next(camera: DiceCamera, after: float, last: Frame | None) -> Frame:
    """Give a frame newer than `after` and other than the last one; they may follow closely."""
    if last is None:
        return camera.newer_than(after, FRAME_TIMEOUT_S)
    at = max(after, last.at - NEXT_FRAME_POLL_S)
    deadline = time.monotonic() + FRAME_TIMEOUT_S
    while time.monotonic() < deadline:
        frame = camera.newer_than(at, FRAME_TIMEOUT_S)
        if frame.number != last.number:
            return frame
        time.sleep(NEXT_FRAME_POLL_S)
    # Not one more frame came: ask for one surely newer, so that the camera says why.
    return camera.newer_than(last.at, FRAME_TIMEOUT_S)
