"""The layout scene: lamps lit, dim and dark where they lie, markers where a reader looks."""

from __future__ import annotations

import itertools
from dataclasses import replace

import cv2
import numpy as np
import pytest

from harness.emulator.scene import LayoutConfig, LayoutScene, placed, set_out

AREAS = [f"area-{k}" for k in range(50)]


@pytest.fixture(scope="module")
def layout() -> LayoutScene:
    return LayoutScene(set_out(AREAS), seed=3, clock=lambda: 0.0)


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
    scene = LayoutScene(set_out(AREAS), config)
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


def test_what_a_rig_file_places_is_seen_there():
    """Fails if a lamp or a marker is not where the rig file says, or markers are misnumbered."""
    spots = {"small": (100.0, 80.0, 12.0), "big": (540.0, 280.0, 9.0)}
    markers = [(16.0, 16.0), (624.0, 16.0), (16.0, 344.0), (624.0, 344.0)]
    plan, camera = placed((640, 360), spots, markers)
    scene = LayoutScene(plan, replace(LayoutConfig(), camera=camera), clock=lambda: 0.0)
    dark, lit = scene.render({}), scene.render({"small": 1.0})
    assert dark.shape == (360, 640, 3)
    rise = lit.astype(int) - dark
    assert rise[80, 100].mean() > 60
    assert rise[80, 109].mean() > 60
    assert rise[80, 116].mean() < 25
    assert np.abs(rise[280, 540]).mean() < 10
    kind = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    calm = np.mean([scene.render({}) for _ in range(16)], axis=0).astype(np.uint8)
    corners, ids, _ = cv2.aruco.ArucoDetector(kind).detectMarkers(calm)
    found = {
        int(n): np.asarray(c).reshape(4, 2).mean(axis=0)
        for n, c in zip(np.asarray(ids).ravel(), corners, strict=True)
    }
    for number, place in enumerate([markers[0], markers[1], markers[3], markers[2]]):
        assert np.linalg.norm(found[number] - place) < 1.5


def test_the_room_ripples_only_in_exposures_that_hold_no_whole_period():
    """Fails if an exposure over whole mains half periods flickers, or a short one does not."""
    moments = np.linspace(0, 0.02, 9)
    spread = {}
    for exposure_s in (0.002, 0.01, 0.02):
        config = replace(LayoutConfig(), exposure_s=exposure_s, hum=0.2)
        scene = LayoutScene(set_out(AREAS), config)
        spread[exposure_s] = np.ptp([scene.render({}, t).mean() for t in moments])
    assert spread[0.002] > 3
    assert max(spread[0.01], spread[0.02]) < 0.5
