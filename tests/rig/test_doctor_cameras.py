"""The doctor's look at pictures: what is unfit is said, and a moved camera is noticed."""

from __future__ import annotations

import cv2
import numpy as np

from harness.cli.doctor_cameras import _layout_picture, farthest
from harness.rig.drivers.layout_camera import LayoutCameraSettings
from harness.verdicts import Verdict

PLACES = ((40.0, 40.0), (600.0, 40.0), (600.0, 320.0), (40.0, 320.0))


def layout(shift: tuple[int, int] = (0, 0), markers: int = 4) -> np.ndarray:
    """A light layout with ArUco markers, drawn from the library's own dictionary."""
    image = np.full((360, 640, 3), 200, np.uint8)
    kind = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    for number, (x, y) in list(enumerate(PLACES))[:markers]:
        marker = cv2.aruco.generateImageMarker(kind, number, 36)
        at_x, at_y = int(x) - 18 + shift[0], int(y) - 18 + shift[1]
        image[at_y : at_y + 36, at_x : at_x + 36] = marker[..., None]
    return image


def settings(**more) -> LayoutCameraSettings:
    return LayoutCameraSettings(driver="layout-camera", source=0, **more)


def test_markers_where_they_were() -> None:
    own = settings(size=(640, 360), markers=PLACES)
    assert _layout_picture("layout", layout(), own).verdict is Verdict.PASS


def test_a_moved_camera() -> None:
    own = settings(size=(640, 360), markers=PLACES)
    check = _layout_picture("layout", layout(shift=(12, 0)), own)
    assert (check.verdict, check.fault) == (Verdict.RIG_FAULT, "moved")


def test_a_covered_marker_and_another_size() -> None:
    own = settings(size=(640, 360), markers=PLACES)
    assert _layout_picture("layout", layout(markers=3), own).fault == "moved"
    assert _layout_picture("layout", layout()[:, :600], own).fault == "wrong-size"


def test_no_markers_no_judgement() -> None:
    assert _layout_picture("layout", layout(), settings()).verdict is Verdict.NOT_APPLICABLE


def test_the_worst_place_counts() -> None:
    assert farthest([(0, 0), (10, 0)], [(0, 1), (10, 5)]) == 5
