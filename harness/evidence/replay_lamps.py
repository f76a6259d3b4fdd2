"""Lamps told again from the pictures that a layout camera took of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.evidence.kept_pictures import Broken, read_picture
from harness.evidence.records import PicturesBody, SampleBody
from harness.evidence.run_folder import RunFolder

if TYPE_CHECKING:
    from harness.vision.lamp_watch import LampsTold
    from harness.vision.lamps import LampReader, LampsSeen

LEVEL_TOLERANCE = 0.002
"""Difference of levels (of a good lamp's light) that another machine's arithmetic may make."""


@dataclass(frozen=True, slots=True)
class Reseen:
    """A lamp sample as told again; None where its pictures do not tell it, and then why not."""

    told: LampsTold | None
    broken: tuple[Broken, ...]


class LayoutPictures:
    """Tells lamps again, each layout camera by the calibration that the manifest holds of it.

    It may serve several threads at once: its readers keep nothing from one picture to the next.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._frames = folder.frames
        self._calibrations: Mapping[str, Any] = folder.read_manifest().get("calibrations") or {}
        self._readers: dict[tuple[str, str], LampReader | None] = {}

    def tell(self, sample: SampleBody, pictures: PicturesBody, rig: str) -> Reseen:
        """Tell a sample's lamps from its pictures, as `harness.dealing.layout_lamps` did."""
        from harness.vision.lamp_watch import told

        reader = self._reader(rig, sample["path"])
        if reader is None:
            return Reseen(None, (("", f"no calibration of {sample['path']} is recorded"),))
        seen: list[LampsSeen] = []
        broken: list[Broken] = []
        for frame in pictures["frames"]:
            image, wrong = read_picture(self._frames, frame)
            broken += wrong
            if image is None:
                continue
            look = reader.read([image])
            if look.refusal is None:
                seen.append(look)
            else:
                broken.append((frame["name"], look.refusal))
        if not seen:
            return Reseen(None, tuple(broken) or (("", "no picture is recorded"),))
        again = told(seen, watched=pictures["watched"], dim_is_lit=pictures["dim_is_lit"])
        return Reseen(again, tuple(broken))

    def _reader(self, rig: str, camera: str) -> LampReader | None:
        if (rig, camera) not in self._readers:
            from harness.vision.lamp_reference import reference_of
            from harness.vision.lamps import LampReader

            cameras = self._calibrations.get(rig, {})
            kept = cameras.get(f"{camera} (lamps)", cameras.get(camera))
            reader = None if kept is None else LampReader(reference_of(kept["contents"]))
            self._readers[rig, camera] = reader
        return self._readers[rig, camera]


def changes(sample: SampleBody, told: LampsTold) -> Iterator[tuple[str, object, object]]:
    """Give what a sample tells otherwise than its pictures do: name, recorded, derived."""
    for name in ("lit", "split", "flicker"):
        recorded, derived = sample[name], sorted(getattr(told, name))
        if recorded != derived:
            yield name, recorded, derived
    levels = sample["levels"] or {}
    for area in sorted(levels.keys() | told.levels.keys()):
        was, is_ = levels.get(area), told.levels.get(area)
        if was is None or is_ is None or abs(was - is_) > LEVEL_TOLERANCE:
            yield f"level of {area}", was, is_
