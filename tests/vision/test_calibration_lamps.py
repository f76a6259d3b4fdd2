"""A layout camera's calibration: places proved or learned, and everything that makes it no good."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness.emulator.scene import LayoutConfig, LayoutScene, placed, set_out
from harness.verdicts import InvalidFileError
from harness.vision.calibration import CalibrationError
from harness.vision.lamp_calibration import (
    Lighting,
    Shots,
    calibrate_lamps,
    corners_in,
    find_spots,
    spots_from_regions,
)
from harness.vision.lamp_reference import LampSpot, load_reference, save_reference
from harness.vision.lamps import LampReader

AREAS = [f"area-{n}" for n in range(10)]
RESULTS = [frozenset(a for n, a in enumerate(AREAS, 1) if n >> k & 1) for k in range(4)]
"""Four results that light each area, no two of them always together."""
CONFIG = LayoutConfig()


@pytest.fixture(scope="module")
def layout() -> LayoutScene:
    return LayoutScene(set_out(AREAS), CONFIG, seed=2, clock=lambda: 0.0)


def photographed(layout: LayoutScene, frames: int = 2, **changed) -> Shots:
    """Take all pictures. lamps: what a lit area's light is, by area and frame; room: at the end."""
    lamps = changed.get("lamps", lambda area, frame: 1.0)
    lights = changed.get("lights", lambda area: area)

    def shot(areas, frame: int = 0):
        return layout.render({lights(a): lamps(a, frame) for a in areas})

    dark = tuple(shot(()) for _ in range(frames))
    layout.light_room(changed.get("room_when_lit", 1.0) * CONFIG.ambient)
    lightings = tuple(
        Lighting(f"result {n}", areas, tuple(shot(areas, f) for f in range(frames)))
        for n, areas in enumerate(RESULTS)
    )
    layout.light_room(changed.get("room", 1.0) * CONFIG.ambient)
    after = tuple(shot(()) for _ in range(frames))
    layout.light_room(CONFIG.ambient)
    return Shots(dark, lightings, after)


def true_spots(layout: LayoutScene) -> dict[str, tuple[LampSpot, ...]]:
    return {area: (LampSpot(*spot),) for area, spot in layout.spots().items()}


def refused(layout: LayoutScene, shots: Shots, spots=None) -> tuple[str, ...]:
    with pytest.raises(CalibrationError) as caught:
        calibrate_lamps(spots or true_spots(layout), shots, corners_in(shots))
    return caught.value.lines


def test_places_are_learned_from_what_lights(layout):
    """Fails if a place is another area's, or lies off its pane."""
    shots = photographed(layout)
    corners = corners_in(shots)
    found = find_spots(shots, corners)
    for area, spot in layout.spots().items():
        (one,) = found[area]
        assert np.hypot(one.x - spot[0], one.y - spot[1]) < 0.01
        assert 1.0 < one.radius / spot[2] < 1.6
    reference, remarks = calibrate_lamps(found, shots, corners)
    assert remarks == ()
    reader = LampReader(reference)
    for area in AREAS:
        assert reader.read([layout.render({area: 1.0})]).lit == {area}


def test_an_area_that_never_lights_has_no_place(layout):
    """Fails if a place is made up for a dead lamp."""
    shots = photographed(layout, lamps=lambda area, frame: 0.0 if area == "area-4" else 1.0)
    with pytest.raises(CalibrationError, match="area-4") as caught:
        find_spots(shots, corners_in(shots))
    assert "area-5" not in str(caught.value)


def test_two_lamps_of_one_area_are_both_found(layout):
    """Fails if only one of an area's lamps is watched."""
    plan = set_out([*AREAS, "twin"])
    both = LayoutScene(plan, CONFIG, clock=lambda: 0.0)
    shots = photographed(both)
    twins = tuple(
        replace(
            each,
            frames=tuple(
                both.render(
                    dict.fromkeys(each.areas, 1.0)
                    | ({"twin": 1.0} if "area-0" in each.areas else {})
                )
                for _ in each.frames
            ),
        )
        for each in shots.lightings
    )
    found = find_spots(replace(shots, lightings=twins), corners_in(replace(shots, lightings=twins)))
    assert {area: len(spots) for area, spots in found.items()} == {
        area: 2 if area == "area-0" else 1 for area in AREAS
    }


def test_exchanged_lamps_do_not_fit_told_places(layout):
    """Fails if a rig file's places are believed against what lights there."""
    swap = {"area-1": "area-2", "area-2": "area-1"}
    lines = refused(layout, photographed(layout, lights=lambda area: swap.get(area, area)))
    assert {line.split()[0] for line in lines} == {"area-1", "area-2"}
    assert any("must be lit and is not" in line for line in lines)
    assert any("must be dark" in line for line in lines)


def test_a_place_where_nothing_lights_is_named(layout):
    """Fails if a place beside its lamp is taken."""
    spots = true_spots(layout)
    spots["area-3"] = (LampSpot(0.02, 0.5, 0.01),)
    assert refused(layout, photographed(layout), spots) == (
        "no light rises at the place of: area-3",
    )


def test_an_area_that_no_result_lights_is_named(layout):
    """Fails if an area is calibrated that was never lit."""
    spots = true_spots(layout) | {"area-99": (LampSpot(0.5, 0.5, 0.01),)}
    assert refused(layout, photographed(layout), spots) == (
        "no result that was entered lights: area-99",
    )


def test_lit_lamps_that_are_white_are_refused():
    """Fails if lamps are calibrated so bright that a dim one looks like a good one."""
    bright = LayoutScene(set_out(AREAS), replace(CONFIG, glow=(0.9, 1.2, 1.4)), clock=lambda: 0.0)
    assert any("overexposed" in line for line in refused(bright, photographed(bright)))


def test_lamps_that_vary_are_refused(layout):
    """Fails if a reference is made of a lamp that flickers, or in a wrong exposure."""
    shots = photographed(layout, lamps=lambda area, f: 0.8 if area == "area-7" and f else 1.0)
    (line,) = refused(layout, shots)
    assert "vary from picture to picture" in line
    assert line.endswith(": area-7")


def test_a_room_whose_light_changed_is_refused(layout):
    """Fails if dark and lit references are of different light."""
    (line,) = refused(layout, photographed(layout, room=1.3))
    assert "room's light changed" in line


def test_a_picture_that_follows_the_lamps_is_refused(layout):
    """Fails if a camera that exposes by itself is calibrated: it shows dim lamps as good ones."""
    (line,) = refused(layout, photographed(layout, room_when_lit=0.8))
    assert "automatic exposure" in line


def test_a_weak_lamp_is_remarked_for_a_person(layout):
    """Fails if a lamp with half the light of the others is taken for good without a word."""
    shots = photographed(layout, lamps=lambda area, frame: 0.45 if area == "area-6" else 1.0)
    _, remarks = calibrate_lamps(true_spots(layout), shots, corners_in(shots))
    assert [remark.split()[0] for remark in remarks] == ["area-6"]


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda frame: (frame * 0.05).astype(np.uint8), "dark"),
        (lambda frame: np.full_like(frame, 255), "overexposed"),
        (lambda frame: frame[:-10], "of another size"),
        (lambda frame: np.where(np.arange(640)[None, :, None] < 200, 60, frame), "marker 0, 3"),
    ],
)
def test_a_picture_that_is_no_good_is_said_so(layout, spoil, told):
    """Fails if a spoilt picture is calibrated by, or told as something else."""
    shots = photographed(layout)
    spoilt = replace(shots, dark_after=(shots.dark[0], np.asarray(spoil(shots.dark[1]), np.uint8)))
    with pytest.raises(CalibrationError, match=told) as caught:
        corners_in(spoilt)
    assert len(caught.value.lines) == 1
    assert caught.value.lines[0].startswith("1 of ")


def test_told_places_follow_the_markers():
    """Fails if places in px are not carried along with a camera that was moved a little."""
    regions = {"small": [(200.0, 120.0, 12.0)], "big": [(430.0, 250.0, 12.0), (80.0, 60.0, 9.0)]}
    markers = [(20.0, 20.0), (20.0, 340.0), (620.0, 20.0), (620.0, 340.0)]
    seen = tuple((x + 9.0, y - 5.0) for x, y in (markers[0], markers[2], markers[3], markers[1]))
    spots = spots_from_regions(regions, markers, seen, 640)
    assert spots["small"][0].x == pytest.approx(180 / 600)
    assert spots["small"][0].y == pytest.approx(100 / 320)
    assert spots["small"][0].radius == pytest.approx(12 / 600)
    assert len(spots["big"]) == 2
    assert spots["big"][1].x == pytest.approx(60 / 600)
    with pytest.raises(CalibrationError, match="off their places"):
        spots_from_regions(regions, markers, tuple((x + 60, y) for x, y in seen), 640)


def test_a_spot_is_round_on_a_wide_layout():
    """Fails if the surroundings of a lamp on a layout twice as wide as high are the lamp itself."""
    spots = {"small": (100.0, 90.0, 14.0), "big": (500.0, 90.0, 14.0)}
    corners = [(20.0, 20.0), (620.0, 20.0), (620.0, 160.0), (20.0, 160.0)]
    plan, camera = placed((640, 180), spots, corners)
    wide = LayoutScene(plan, replace(CONFIG, camera=camera), clock=lambda: 0.0)
    results = (
        Lighting("small", frozenset({"small"}), (wide.render({"small": 1.0}),)),
        Lighting("big", frozenset({"big"}), (wide.render({"big": 1.0}),)),
    )
    shots = Shots((wide.render({}),), results)
    found = corners_in(shots)
    regions = {area: [place] for area, place in spots.items()}
    told = spots_from_regions(regions, corners, found[id(shots.dark[0])], 640)
    reference, _ = calibrate_lamps(told, shots, found)
    seen = LampReader(reference).read([wide.render({"small": 1.0, "big": 1.0})])
    assert seen.lit == {"small", "big"}
    assert seen.ambient == pytest.approx(1.0, abs=0.35)


def test_a_reference_survives_its_file_and_an_edited_one_does_not(layout, tmp_path):
    """Fails if a calibration is not read as it was made, or a changed one passes."""
    shots = photographed(layout)
    reference, _ = calibrate_lamps(
        true_spots(layout), shots, corners_in(shots), camera="layout", made="2026-11-30"
    )
    path = tmp_path / "layout.json"
    save_reference(reference, path)
    assert load_reference(path) == reference
    assert load_reference(path).digest == reference.digest
    path.write_text(path.read_text().replace("2026-11-30", "2027-11-30"))
    with pytest.raises(InvalidFileError, match="sha256"):
        load_reference(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"areas": {"a": 1}}', "\x00"])
def test_what_is_no_reference_is_refused(text, tmp_path):
    """Fails if a file of another kind is taken, or ends in anything but a line."""
    path = tmp_path / "layout.json"
    path.write_text(text)
    with pytest.raises(InvalidFileError):
        load_reference(path)
