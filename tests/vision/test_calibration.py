"""Fails when a profile is not what was measured, or a wrong one is taken for good."""

import json
import math
import tomllib
from dataclasses import replace

import cv2
import numpy as np
import pytest

from harness.emulator.scene import Scene, SceneConfig
from harness.verdicts import InvalidFileError
from harness.vision.calibration import Profile, load_profile, save_profile
from harness.vision.dice_camera import CalibrationError, calibrate_dice_camera
from harness.vision.faces import Frame
from harness.vision.finder import SURE
from harness.vision.pips import NO_PIPS
from harness.vision.reader import DiceReader


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Scene(SceneConfig(), seed=3)


@pytest.fixture(scope="module")
def pictures(scene) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    taken = []
    for values in ((1, 2, 3), (4, 5, 6), (2, 2, 5), (6, 3, 1), (4, 4, 2)):
        scene.lay(values, "flat", rng)
        taken.append(cv2.imdecode(np.frombuffer(scene.jpeg(), np.uint8), cv2.IMREAD_COLOR))
    return taken


@pytest.fixture(scope="module")
def profile(pictures) -> Profile:
    return calibrate_dice_camera(pictures, "dice-camera", "2026-11-29")[0]


def test_scale_tilt_and_focal_length_are_those_of_the_camera(profile, scene):
    camera = scene.config.camera
    true_edge = scene.config.edge_mm / camera.distance_mm * camera.focal_px
    assert profile.edge_px[0] < true_edge < profile.edge_px[1]
    assert profile.edge_px[1] < 2 * profile.edge_px[0]
    assert profile.tilt_deg == pytest.approx(camera.tilt_deg, abs=5)
    assert profile.focal_px == pytest.approx(camera.focal_px, rel=0.5)


def test_the_pictures_it_was_made_of_are_read_with_it(profile, pictures):
    reader = DiceReader(profile)
    assert [reader.read(p).values for p in pictures] == [
        (1, 2, 3), (4, 5, 6), (2, 2, 5), (1, 3, 6), (2, 4, 4),
    ]  # fmt: skip


def test_a_camera_out_of_focus_or_in_the_dark_is_not_trusted(profile, pictures):
    reader = DiceReader(profile)
    assert reader.read(cv2.GaussianBlur(pictures[0], (0, 0), 6)).reason == "blurred"
    assert reader.read((pictures[0] * 0.2).astype(np.uint8)).reason == "dark"


def test_dice_outside_the_region_are_not_counted(profile, pictures):
    first = DiceReader().read(pictures[0])
    x, y = min(d.centre_px for d in first.dice)
    fields = {name: getattr(profile, name) for name in Profile.__slots__}
    half = Profile(**(fields | {"region": (x + 25, 0.0, 640.0, 480.0)}))
    assert DiceReader(half).read(pictures[0]).reason == "missing"
    assert DiceReader(half).read(pictures[0], None).verdict == "values"
    assert y > 0


def test_what_is_taken_for_a_reflection_is_no_measure_of_dice(profile, pictures, monkeypatch):
    """A lamp mirrored twice as large as the dice widens neither their sizes nor their region."""
    read_closely = DiceReader.read_closely

    def with_reflection(self, image, dice=3):
        reading, seen = read_closely(self, image, dice)
        die, frame = seen[0], seen[0].judged.frame
        ghost = replace(
            die,
            found=replace(die.found, score=SURE + 0.01, values=(1 / 6,) * 6),
            judged=replace(die.judged, frame=Frame(0j, 2 * frame.across, 2 * frame.along)),
            pips=NO_PIPS,
        )
        return reading, (*seen, ghost)

    monkeypatch.setattr(DiceReader, "read_closely", with_reflection)
    again, _ = calibrate_dice_camera(pictures, "dice-camera", "2026-11-29")
    assert again == profile


def test_too_few_dice_do_not_make_a_profile(pictures):
    with pytest.raises(CalibrationError, match="at least 9"):
        calibrate_dice_camera(pictures[:2], "dice-camera", "2026-11-29")


def test_what_was_refused_is_told(pictures):
    """Fails if a camera out of focus is told as dice that move."""
    soft = [cv2.GaussianBlur(p, (0, 0), 9) for p in pictures]
    with pytest.raises(CalibrationError, match=r"0 dice .* refused: .*blurred"):
        calibrate_dice_camera(soft, "dice-camera", "2026-11-29")


def test_pictures_of_a_large_camera_are_told_in_its_own_pixels(pictures, profile):
    """Fails if scale, nadir or region are those of the picture as it was shrunk for reading."""
    large = [cv2.resize(p, None, fx=4, fy=4, interpolation=cv2.INTER_CUBIC) for p in pictures]
    found, _ = calibrate_dice_camera(large, "dice-camera", "2026-11-29", edge_mm=16.0)
    assert found.size_px == (1920.0, 1440.0)
    assert found.edge_px[0] == pytest.approx(4 * profile.edge_px[0], rel=0.1)
    assert found.nadir_px[0] == pytest.approx(4 * profile.nadir_px[0], abs=100)
    assert found.region[2] == pytest.approx(4 * profile.region[2], rel=0.1)
    assert found.px_per_mm == pytest.approx(4 * 3.3, rel=0.3)
    assert DiceReader(found).read(large[0]).values == (1, 2, 3)


def test_dice_all_in_one_place_do_not_make_a_profile(pictures):
    die = DiceReader().read(pictures[0]).dice[0]
    x, y = (int(v) for v in die.centre_px)
    one = np.full_like(pictures[0], pictures[0][y - 45, x - 45])
    one[y - 45 : y + 45, x - 45 : x + 45] = pictures[0][y - 45 : y + 45, x - 45 : x + 45]
    with pytest.raises(CalibrationError, match=r"one place|at least 9"):
        calibrate_dice_camera([one] * 9, "dice-camera", "2026-11-29", dice=1)


def test_a_profile_survives_its_file_as_json_and_toml(profile, tmp_path):
    path = tmp_path / "camera.json"
    save_profile(profile, path)
    assert load_profile(path) == profile
    body = json.loads(path.read_text())
    toml = tmp_path / "camera.toml"
    toml.write_text("\n".join(f"{k} = {json.dumps(v)}" for k, v in body.items()) + "\n")
    assert tomllib.loads(toml.read_text())["camera"] == "dice-camera"
    assert load_profile(toml) == profile


def test_an_edited_profile_is_refused_by_its_hash(profile, tmp_path):
    path = tmp_path / "camera.json"
    save_profile(profile, path)
    body = json.loads(path.read_text())
    path.write_text(json.dumps(body | {"tilt_deg": 1.0 + body["tilt_deg"]}))
    with pytest.raises(InvalidFileError, match="sha256"):
        load_profile(path)


def test_every_mistake_of_a_profile_is_named(tmp_path):
    path = tmp_path / "camera.json"
    path.write_text(
        json.dumps(
            {"camera": 1, "made": "x", "tilt": 2, "edge_px": [1], "focal_px": -3, "white_max": True}
        )
    )
    with pytest.raises(InvalidFileError) as caught:
        load_profile(path)
    assert {p.where for p in caught.value.problems} == {
        "camera", "tilt", "edge_px", "focal_px", "white_max",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", "[1, 2]", "{", "\x00\xff"])
def test_what_is_no_profile_is_refused(text, tmp_path):
    path = tmp_path / "camera.json"
    path.write_text(text)
    with pytest.raises(InvalidFileError):
        load_profile(path)


def test_two_profiles_differ_by_their_hash(profile):
    fields = {name: getattr(profile, name) for name in Profile.__slots__}
    other = Profile(**(fields | {"tilt_deg": profile.tilt_deg + 0.01}))
    assert profile.digest != other.digest
    assert math.isfinite(profile.nadir_px[0])
