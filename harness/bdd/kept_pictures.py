"""Pictures as a run's record keeps them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from harness.evidence.records import KeptFrame, pictured
from harness.observations import Entry

if TYPE_CHECKING:
    from harness.rig.roles import Frame


def lamp_frames(entry: Entry) -> list[list[KeptFrame]]:
    """Give the pictures that each of an entry's lamp samples was read from."""
    return [
        [kept_picture(replace(cast("Frame", frame), camera=sample.path)) for frame in taken.frames]
        for sample in pictured(entry)
        if (taken := sample.pictures) is not None
    ]


def kept_picture(frame: Frame) -> KeptFrame:
    """Give a picture as the record keeps it: as the camera coded it, else without loss."""
    if frame.jpeg is not None:
        return KeptFrame(frame.jpeg, frame.at, camera=frame.camera)
    import cv2

    coded, png = cv2.imencode(".png", frame.image)
    assert coded, f"a picture of shape {frame.image.shape} could not be written"
    return KeptFrame(png.tobytes(), frame.at, ".png", frame.camera)
