"""Pictures of a run read anew: dice and lamps, each by the calibration that the manifest holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import local
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.evidence.kept_pictures import Broken, read_picture
from harness.evidence.records import EntryBody, FrameRef, LookBody
from harness.evidence.replay_lamps import LayoutPictures, Reseen
from harness.evidence.run_folder import RunFolder
from harness.observations import DiceSeen

if TYPE_CHECKING:
    from harness.vision.reader import DiceReader
    from harness.vision.readings import DiceReading


@dataclass(frozen=True, slots=True)
class Looked:
    """The dice as read anew (None: no pictures), and pictures that are not those recorded.

    `lamps`: samples told anew, by their place in the entry; those watched follow the others.
    """

    seen: DiceSeen | None
    broken: tuple[Broken, ...] = ()
    lamps: Mapping[int, Reseen] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Glimpsed:
    """In how many single pictures dice can be read, and pictures that are not those recorded."""

    legible: int
    broken: tuple[Broken, ...]


class Pictures:
    """Reads a run's pictures anew, with readers of dice of its own for each thread.

    Each camera is read by the calibration that the manifest holds of it, as in the run.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._calibrations = folder.read_manifest().get("calibrations") or {}
        self._thread = local()
        self._layouts = LayoutPictures(folder)

    def look(self, body: EntryBody) -> Looked:
        """Read dice and lamps of one entry as the run read them.

        Of dice: at rest, all pictures agreeing.
        """
        lamps = {
            place: self._layouts.tell(sample, sample["pictures"], body["rig"])
            for place, sample in enumerate([*body["lamps"], *body.get("watched", ())])
            if "pictures" in sample
        }
        if body["seen"] is None:
            return Looked(None, lamps=lamps)
        return replace(self.look_at(body["frames"], body["rig"]), lamps=lamps)

    def look_again(self, body: LookBody) -> Looked | Glimpsed:
        """Look again at pictures that no entry holds."""
        if body["what"] != "under-cover":
            return self.look_at(body["frames"], body["rig"])
        from harness.vision.readings import legible

        count, broken = 0, list[Broken]()
        for frame in body["frames"]:
            image, wrong = read_picture(self._folder.frames, frame)
            broken += wrong
            if image is not None:
                reader = self._reader(body["rig"], frame.get("camera"))
                count += legible(reader.read(image, None))
        return Glimpsed(count, tuple(broken))

    def look_at(self, frames: Sequence[FrameRef], rig: str) -> Looked:
        """Read the dice of pictures that voted together, on the rig of that name."""
        images, broken = list[_Image](), list[Broken]()
        for frame in frames:
            image, wrong = read_picture(self._folder.frames, frame)
            broken += wrong
            if image is not None:
                images.append(_Image(image, frame["at"], frame.get("camera")))
        if not images:
            return Looked(None, tuple(broken))
        return Looked(_joined(images, lambda camera: self._reader(rig, camera)), tuple(broken))

    def _reader(self, rig: str, camera: str | None) -> DiceReader:
        readers: dict[tuple[str, str | None], DiceReader] | None
        readers = getattr(self._thread, "readers", None)
        if readers is None:
            readers = self._thread.readers = {}
        told = self._calibrations.get(rig, {}).get(camera)
        one = (rig, camera) if told is not None else ("", None)
        if one not in readers:
            import cv2

            from harness.vision.calibration import Profile
            from harness.vision.reader import DiceReader

            cv2.setNumThreads(1)
            profile = None
            if told is not None:
                fields: dict[str, Any] = {
                    name: tuple(value) if isinstance(value, list) else value
                    for name, value in told["contents"].items()
                }
                profile = Profile(**fields)
            readers[one] = DiceReader(profile)
        return readers[one]


class _Image(NamedTuple):
    """A picture: pixels (BGR), when (monotonic s), by which camera, as far as recorded."""

    pixels: Any
    at: float | None
    camera: str | None


def _joined(images: Sequence[_Image], reader_of: Callable[[str | None], DiceReader]) -> DiceSeen:
    """Join pictures as a look does: each camera's last ones at rest, then all cameras."""
    from harness.vision.rest import FRAMES, RestWatch, agree

    of_cameras: list[DiceReading] = []
    for start in range(0, len(images), FRAMES):
        watch = RestWatch(float("-inf"))
        for number, image in enumerate(images[start : start + FRAMES]):
            read = reader_of(image.camera).read(image.pixels, 3)
            watch.feed(image.pixels, float(number) if image.at is None else image.at, read)
        of_cameras.append(watch.at_last)
    joined = agree(of_cameras)
    return DiceSeen(joined.values, joined.reason, joined.confidence)
