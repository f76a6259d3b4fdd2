"""Fails when a lamp's light is mistaken: dim or flickering for on, a bright room for lamps."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from harness.emulator.scene import LayoutConfig, LayoutScene, placed
from harness.vision.lamp_calibration import Lighting, Shots, calibrate_lamps, corners_in
from harness.vision.lamp_reference import LampSpot
from harness.vision.lamps import LampReader, find_markers

AREAS = {
    f"area-{n}": (LampSpot(0.2 + 0.15 * (n % 5), 0.2 + 0.2 * (n // 5), 0.02),) for n in range(20)
}
AREAS["twin"] = (LampSpot(0.35, 0.9, 0.02), LampSpot(0.65, 0.9, 0.02))


def layout(lit: dict[str, float], ambient: float = 1.0, turn: float = 3.0, seed: int = 0):
    """Photograph a layout whose lamps give these parts of a good lamp's light."""
    side = 600
    flat = np.full((side, side), 0.06 * ambient, np.float32)
    kind = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    size, margin = 60, 40
    for n, (x, y) in enumerate([(0, 0), (1, 0), (1, 1), (0, 1)]):
        cx, cy = (round(margin + v * (side - 2 * margin)) for v in (x, y))
        marker = cv2.aruco.generateImageMarker(kind, n, size) > 0
        white = np.where(marker, 0.5, 0.02) * ambient
        flat[cy - 38 : cy + 38, cx - 38 : cx + 38] = 0.5 * ambient
        flat[cy - 30 : cy + 30, cx - 30 : cx + 30] = white
    for area, spots in AREAS.items():
        parts = lit.get(area, 0.0)
        parts = parts if isinstance(parts, tuple) else (parts,) * len(spots)
        for spot, part in zip(spots, parts, strict=True):
            at = tuple(round(margin + v * (side - 2 * margin)) for v in (spot.x, spot.y))
            r = round(spot.radius * (side - 2 * margin))
            halo = np.zeros_like(flat)
            cv2.circle(halo, at, r, 1.0, -1)
            flat += (
                halo * (0.02 * ambient + 0.5 * part)
                + cv2.GaussianBlur(halo, (0, 0), 12) * 0.05 * part
            )
    m = cv2.getRotationMatrix2D((side / 2, side / 2), turn, 0.82)
    seen = cv2.warpAffine(flat, m, (side, side), borderValue=0.05)
    noise = np.random.default_rng(seed).normal(0, 1.5, (side, side, 3))
    value = np.clip(seen, 0, 1) ** (1 / 2.4) * 255
    return np.clip(value[..., None] + noise, 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def reference():
    every = Lighting("every lamp", frozenset(AREAS), (layout(dict.fromkeys(AREAS, 1.0), seed=1),))
    shots = Shots((layout({}),), (every,))
    return calibrate_lamps(AREAS, shots, corners_in(shots))[0]


def test_markers_are_found_in_order():
    corners = find_markers(layout({}, turn=0.0))
    assert corners is not None
    assert np.allclose(corners[0], (87, 87), atol=3)
    assert np.allclose(corners[2], (513, 513), atol=3)


def test_small_markers_on_white_cards_are_found_by_their_own_edge():
    """Fails if the card's edge, close around the marker, is taken for the marker's."""
    places = [(20.0, 20.0), (620.0, 20.0), (620.0, 340.0), (20.0, 340.0)]
    plan, camera = placed((640, 360), {"small": (320.0, 180.0, 12.0)}, places)
    scene = LayoutScene(plan, replace(LayoutConfig(), camera=camera))
    assert np.allclose(find_markers(scene.render({})), places, atol=1.5)


@pytest.mark.parametrize("turn", [-6.0, 0.0, 5.0])
@pytest.mark.parametrize("ambient", [0.6, 1.0, 1.8])
def test_lit_lamps_are_told_at_another_place_and_in_another_light(reference, turn, ambient):
    lit = {"area-0": 1.0, "area-7": 1.0, "area-19": 1.0, "twin": 1.0}
    seen = LampReader(reference).read([layout(lit, ambient, turn, seed=5)])
    assert seen.refusal is None
    assert seen.lit == frozenset(lit)
    assert all(seen.states[a] == "off" for a in AREAS if a not in lit)
    assert seen.ambient == pytest.approx(ambient, rel=0.15)


def test_a_dim_lamp_is_neither_on_nor_off(reference):
    seen = LampReader(reference).read([layout({"area-3": 0.4, "area-4": 1.0})])
    assert seen.states["area-3"] == "dim"
    assert seen.lit == {"area-4"}
    assert seen.levels["area-3"] == pytest.approx(0.4, abs=0.1)


def test_flicker_needs_several_frames_and_is_not_on(reference):
    frames = [
        layout({"area-3": level, "area-4": 1.0}, seed=n) for n, level in enumerate((1, 0.2, 1))
    ]
    seen = LampReader(reference).read(frames)
    assert seen.states["area-3"] == "flicker"
    assert seen.lit == {"area-4"}


def test_an_area_whose_two_lamps_differ_is_split_and_not_lit(reference):
    seen = LampReader(reference).read([layout({"twin": (1.0, 0.0)})])
    assert seen.split == {"twin"}
    assert "twin" not in seen.lit


@pytest.mark.parametrize("ambient", [0.2, 4.0])
def test_another_light_altogether_is_refused(reference, ambient):
    seen = LampReader(reference).read([layout({}, ambient)])
    assert seen.refusal is not None
    assert set(seen.states.values()) == {"unknown"}
    assert not seen.lit


def test_a_shadow_over_part_of_the_layout_is_refused(reference):
    picture = layout({})
    picture[:, 320:] = (picture[:, 320:] * 0.6).astype(np.uint8)
    assert "uneven" in (LampReader(reference).read([picture]).refusal or "")


def test_hidden_markers_are_refused_unless_calibration_stands_for_them(reference):
    picture = layout({"area-2": 1.0})
    picture[:140, :140] = 30
    assert LampReader(reference).read([picture]).refusal is not None
    assert LampReader(reference, markers_needed=False).read([picture]).lit == {"area-2"}
