"""What the doctor says of the cameras' pictures: fit to read, and the camera where it was."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from harness.rig.drivers.layout_camera import LayoutCameraSettings
from harness.rig.selfcheck import Check
from harness.verdicts import HarnessError, Verdict
from harness.vision.lamps import LampReader, find_markers
from harness.vision.quality import measure
from harness.vision.reader import DiceReader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from harness.dealing.calibrations import Calibrations
    from harness.rig.bench import Bench
    from harness.vision.lamp_reference import LampReference

_SPOILT = ("blurred", "dark", "overexposed", "not-an-image")
_WAIT_S = 3.0
_MOVED = 0.01
"""Part of the picture's width by which a marker may lie off its place in the rig file."""


def camera_pictures(bench: Bench, kept: Calibrations) -> Iterator[Check]:
    """Take a picture from each camera and look at it, by its calibration if it has one."""
    for name, camera in zip(bench.rig.roles.dice_camera, bench.dice_cameras, strict=True):
        try:
            image = camera.newer_than(time.monotonic(), _WAIT_S).image
        except HarnessError as error:
            yield _no_picture(name, error)
            continue
        yield _dice_picture(name, image, DiceReader(kept.dice.get(name)))
    for name, camera in zip(bench.rig.roles.layout_camera, bench.layout_cameras, strict=True):
        settings = cast("LayoutCameraSettings", bench.rig.devices[name])
        try:
            image = camera.newer_than(time.monotonic(), _WAIT_S).image
        except HarnessError as error:
            yield _no_picture(name, error)
            continue
        yield _layout_picture(name, image, settings)
        if name in kept.layout:
            yield _lamps_seen(name, image, kept.layout[name])


def _no_picture(name: str, error: HarnessError) -> Check:
    fault = str(getattr(error, "fault", "failed"))
    return Check(f"camera:{name}", "picture", Verdict.RIG_FAULT, error.found, error.remedy, fault)


def _dice_picture(name: str, image: NDArray[np.uint8], reader: DiceReader) -> Check:
    reading, quality = reader.read(image, None), measure(image)
    part, what = f"camera:{name}", "picture fit to read"
    told = (
        f"brightness {quality.bright:.0f}, white {100 * quality.white:.0f} %, "
        f"sharpness {quality.sharpness:.0f}; {len(reading.dice)} dice seen"
    )
    if reading.reason in _SPOILT:
        remedy = "set focus and light, and clear what stands before the lens"
        found = f"{reading.reason}; {told}"
        return Check(part, what, Verdict.RIG_FAULT, found, remedy, str(reading.reason))
    return Check(part, what, Verdict.PASS, told)


def _layout_picture(name: str, image: NDArray[np.uint8], settings: LayoutCameraSettings) -> Check:
    part, what = f"camera:{name}", "the rig's markers where they were"
    height, width = image.shape[:2]
    if settings.size is not None and settings.size != (width, height):
        return Check(
            part,
            what,
            Verdict.RIG_FAULT,
            f"a picture of {width} x {height} px, the rig file's places are for "
            f"{settings.size[0]} x {settings.size[1]}",
            "set the camera's size, or learn the places again",
            "wrong-size",
        )
    if not settings.markers:
        return Check(part, what, Verdict.NOT_APPLICABLE, "no markers in the rig file")
    found = find_markers(image)
    if found is None:
        return Check(
            part,
            what,
            Verdict.RIG_FAULT,
            "not all four are seen",
            "clear what covers them, light the layout, point the camera at it",
            "moved",
        )
    off_px = farthest(settings.markers, found)
    if off_px > _MOVED * width:
        return Check(
            part,
            what,
            Verdict.RIG_FAULT,
            f"one is {off_px:.0f} px off",
            "put the camera back, or learn the places again",
            "moved",
        )
    return Check(part, what, Verdict.PASS, f"within {max(off_px, 1):.0f} px")


def _lamps_seen(name: str, image: NDArray[np.uint8], reference: LampReference) -> Check:
    seen = LampReader(reference).read([image])
    part, what = f"camera:{name}", "lamps can be read"
    if seen.refusal is not None:
        remedy = "put light and camera as they were, or calibrate again"
        return Check(part, what, Verdict.RIG_FAULT, seen.refusal, remedy, "unreadable")
    lit = ", ".join(sorted(seen.lit)) or "none"
    return Check(part, what, Verdict.PASS, f"room light {seen.ambient:.2f} of then; lit: {lit}")


def farthest(places: Sequence[tuple[float, float]], found: Sequence[tuple[float, float]]) -> float:
    """Give how far (px) the worst place lies from the marker found nearest to it."""
    return max(min(math.dist(place, seen) for seen in found) for place in places)
