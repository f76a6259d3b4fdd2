"""Pictures of what a calibration found, for a person to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from harness.campaign.calibrate_dice import DiceCalibration
from harness.campaign.calibrate_layout import LayoutCalibration
from harness.vision.background import background_picture
from harness.vision.faces import Picture
from harness.vision.lamp_reference import LampReference
from harness.vision.overlay import draw_reading

_FOUND = (80, 220, 80)
_MARK = (0, 200, 255)
_SHADE = (0, 0, 0)
_FONT, _TEXT = cv2.FONT_HERSHEY_SIMPLEX, 0.42
_LARGER = 2
"""By how much the picture of a layout is enlarged, so that names have room."""


def dice_pictures(calibration: DiceCalibration) -> dict[str, Picture]:
    """Give, by file name, each picture with what was read, one with all that was found, and one of
    the background.

    What was found: every die's place, the region where dice can lie, the pixel straight below the
    camera, and the figures. The background is black where it is not known.
    """
    profile = calibration.profile
    drawn = {
        f"{profile.camera}-{n}.png": draw_reading(frame.image, reading)
        for n, (frame, reading) in enumerate(
            zip(calibration.frames, calibration.readings, strict=True), 1
        )
    }
    found = calibration.frames[-1].image.copy()
    for reading in calibration.readings:
        for die in reading.dice:
            outline = np.rint(np.asarray(die.corners_px)).astype(np.int32)
            cv2.polylines(found, [outline], isClosed=True, color=_FOUND, lineType=cv2.LINE_AA)
    x, y, w, h = (round(v) for v in profile.region)
    cv2.rectangle(found, (x, y), (x + w, y + h), _MARK, 1, cv2.LINE_AA)
    nadir = (round(profile.nadir_px[0]), round(profile.nadir_px[1]))
    cv2.drawMarker(found, nadir, _MARK, cv2.MARKER_CROSS, 18, 2, cv2.LINE_AA)
    _write(
        found,
        (6, found.shape[0] - 8),
        f"{profile.camera} {profile.made}: tilt {profile.tilt_deg:g} deg, "
        f"die {profile.edge_px[0]:.0f} to {profile.edge_px[1]:.0f} px",
    )
    drawn[f"{profile.camera}.png"] = found
    bare = background_picture(profile.background)
    if bare is not None:
        size = (found.shape[1], found.shape[0])
        larger = cv2.resize(bare[..., :3], size, interpolation=cv2.INTER_CUBIC)
        drawn[f"{profile.camera}-background.png"] = np.asarray(larger, np.uint8)
    return drawn


def layout_pictures(calibration: LayoutCalibration) -> dict[str, Picture]:
    """Give, by file name, the dark picture, the lamps lit, and what was found where."""
    reference, dark = calibration.reference, calibration.dark
    lit = np.asarray(np.max(np.stack([dark, *calibration.lit]), axis=0), np.uint8)
    size = (_LARGER * lit.shape[1], _LARGER * lit.shape[0])
    found = np.asarray(cv2.resize(lit, size, interpolation=cv2.INTER_CUBIC), np.uint8)
    for number, corner in enumerate(calibration.corners):
        at = (round(_LARGER * corner[0]), round(_LARGER * corner[1]))
        cv2.drawMarker(found, at, _MARK, cv2.MARKER_CROSS, 18, 2, cv2.LINE_AA)
        _write(found, (at[0] + 6, at[1] - 6), str(number))
    for area, spots in spots_px(reference, calibration.corners).items():
        for x, y, across, down in spots:
            axes = (max(1, round(_LARGER * across)), max(1, round(_LARGER * down)))
            middle = (round(_LARGER * x), round(_LARGER * y))
            cv2.ellipse(found, middle, axes, 0, 0, 360, _FOUND, 1, cv2.LINE_AA)
            _write(found, (middle[0] - axes[0], middle[1] - axes[1] - 4), area)
    name = reference.camera
    return {
        f"{name}-lamps.png": found,
        f"{name}-lamps-dark.png": dark,
        f"{name}-lamps-lit.png": lit,
    }


def spots_px(
    reference: LampReference, corners: Sequence[tuple[float, float]]
) -> Mapping[str, tuple[tuple[float, float, float, float], ...]]:
    """Give each area's lamps in a picture's pixels: middle, half width, half height."""
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    matrix = cv2.getPerspectiveTransform(square, np.asarray(corners, np.float32))
    places = {}
    for area, spots in reference.spots.items():
        lamps = []
        for spot in spots:
            rim = np.array(
                [
                    [spot.x, spot.y],
                    [spot.x + spot.radius, spot.y],
                    [spot.x, spot.y + spot.radius * reference.aspect],
                ]
            )
            at = np.asarray(cv2.perspectiveTransform(rim[None], matrix))[0]
            across, down = np.hypot(*(at[1:] - at[0]).T)
            lamps.append((float(at[0, 0]), float(at[0, 1]), float(across), float(down)))
        places[area] = tuple(lamps)
    return places


def _write(picture: Picture, at: tuple[int, int], text: str) -> None:
    """Write in white on black, within the picture."""
    (width, height), below = cv2.getTextSize(text, _FONT, _TEXT, 1)
    x = min(max(1, at[0]), picture.shape[1] - width - 2)
    y = min(max(height + 1, at[1]), picture.shape[0] - below - 1)
    cv2.rectangle(picture, (x - 1, y - height - 1), (x + width + 1, y + below), _SHADE, -1)
    cv2.putText(picture, text, (x, y), _FONT, _TEXT, (255, 255, 255), 1, cv2.LINE_AA)
