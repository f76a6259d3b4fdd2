"""The layout scene: lamps lit, dim and dark where they lie, markers where a reader looks."""

from __future__ import annotations

import itertools
from dataclasses import replace

import cv2
import numpy as np
import pytest

from harness.emulator.scene import LayoutConfig, LayoutScene

AREAS = [f"area-{k}" for k in range(50)]


@pytest.fixture(scope="module")
def layout() -> LayoutScene:
    return LayoutScene(AREAS, seed=3, clock=lambda: 0.0)


def light_at(image: np.ndarray, point: tuple[float, float]) -> float:
    x, y = round(point[0]), round(point[1])
    return float(image[y - 3 : y + 4, x - 3 : x + 4].mean())


def test_each_lamp_lights_its_own_area_and_no_other(layout):
    """Fails if a lamp's light falls on another area, or two are exchanged."""
    dark = layout.render({})
    spots = layout.spots_px()
    for area in AREAS[::7]:
        lit = layout.render({area: 1.0})
        rises = {a: light_at(lit, p) - light_at(dark, p) for a, p in spots.items()}
        assert rises.pop(area) > 40
        assert max(rises.values()) < 10


def test_dim_is_told_from_dark_and_from_lit(layout):
    """Fails if levels do not show as steps of brightness."""
    point = layout.spots_px()["area-24"]
    steps = [light_at(layout.render({"area-24": level}), point) for level in (0, 0.3, 0.6, 1.0)]
    assert all(b - a > 10 for a, b in itertools.pairwise(steps))


@pytest.mark.parametrize("tilt", [0.0, 12.0, 25.0])
def test_the_four_markers_are_found_where_the_truth_says(tilt):
    """Fails if a marker is missing, misplaced or misnumbered under the camera's tilt."""
    config = LayoutConfig()
    config = replace(config, camera=replace(config.camera, tilt_deg=tilt))
    scene = LayoutScene(AREAS, config)
    kind = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    corners, ids, _ = cv2.aruco.ArucoDetector(kind).detectMarkers(scene.render({}))
    found = dict(zip(np.asarray(ids).ravel().tolist(), corners, strict=True))
    assert sorted(found) == [0, 1, 2, 3]
    for number, truth in enumerate(scene.markers_px()):
        middle = np.asarray(found[number]).reshape(4, 2).mean(axis=0)
        assert np.linalg.norm(middle - truth) < 1.5


def test_spots_map_onto_the_picture_by_the_markers(layout):
    """Fails if spots in the layout's own coordinates do not fall on their panes."""
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=np.float32)
    warp = cv2.getPerspectiveTransform(square, np.array(layout.markers_px(), dtype=np.float32))
    truth = layout.spots_px()
    for area, (x, y, radius) in layout.spots().items():
        seen = cv2.perspectiveTransform(np.array([[[x, y]]], dtype=np.float64), warp)[0, 0]
        assert np.linalg.norm(seen - truth[area]) < 0.5
        assert 0 < radius < 0.05


def test_room_light_changes_dark_panes_and_frames_differ(layout):
    """Fails if ambient light has no effect, or a frame repeats."""
    point = layout.spots_px()["area-0"]
    one, two = layout.render({}), layout.render({})
    assert (one != two).any()
    assert layout.jpeg({}) != layout.jpeg({})
    layout.light_room(0.9)
    try:
        assert light_at(layout.render({}), point) > light_at(one, point) + 10
    finally:
        layout.light_room(LayoutConfig().ambient)


def test_an_unknown_area_is_refused(layout):
    """Fails if a lamp the layout has not is silently left out."""
    with pytest.raises(KeyError):
        layout.render({"nowhere": 1.0})
