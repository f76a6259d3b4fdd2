"""Fails when what always lies there is taken for a die, or a die that light hides for nothing."""

import base64
from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.emulator.scene import Scene, SceneConfig
from harness.verdicts import InvalidFileError
from harness.vision.background import (
    LEAST_SEEN,
    background_of,
    background_picture,
    changes,
)
from harness.vision.calibration import Profile, load_profile, save_profile
from harness.vision.dice_camera import calibrate_dice_camera
from harness.vision.faces import Frame, Picture
from harness.vision.judge import Judged
from harness.vision.reader import DiceReader

LAID = 2 * ((1, 2, 3), (4, 5, 6), (2, 4, 6), (1, 3, 5), (6, 6, 1), (5, 5, 2), (3, 3, 4), (6, 5, 4))
LAMP = (238, 236, 232)
CLEAR_OF = 78.0
"""Distance of a die's centre from a lamp's image (px) at which neither hides the other."""


def shown(scene: Scene) -> Picture:
    return np.asarray(cv2.imdecode(np.frombuffer(scene.jpeg(), np.uint8), cv2.IMREAD_COLOR))


def lit(picture: Picture, corners) -> Picture:
    """Lay a lamp's image, as a dome mirrors it, over a picture: the same in each."""
    laid = picture.copy()
    cv2.fillConvexPoly(laid, np.rint(np.array(corners)).astype(np.int32), LAMP, cv2.LINE_AA)
    return laid


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Scene(SceneConfig(style="black"), seed=11)


def laid(scene: Scene, seed: int, places: list | None = None) -> list[Picture]:
    """Give pictures of dice that lie elsewhere each time; their centres go into `places`."""
    rng = np.random.default_rng(seed)
    taken = []
    for values in LAID:
        scene.lay(values, "flat", rng)
        taken.append(shown(scene))
        if places is not None:
            places.append([complex(*die.centre_px) for die in scene.truth()])
    return taken


@pytest.fixture(scope="module")
def pictures(scene) -> list[Picture]:
    return laid(scene, 3)


@pytest.fixture(scope="module")
def four(scene):
    """A toss with a die too many, and the faces' corners (px)."""
    scene.lay((1, 1, 6), "flat", np.random.default_rng(9), 4)
    return shown(scene), [die.corners_px for die in scene.truth()]


@pytest.fixture(scope="module")
def profile(pictures) -> Profile:
    return calibrate_dice_camera(pictures, "above", "2026-12-01")[0]


BARE = background_of(laid(Scene(SceneConfig(style="blue"), seed=4), 8), [[]] * len(LAID))
"""Of dice in other places each time: none stays in the median."""


def die_at(corners) -> Judged:
    a, b, c, d = (complex(*corner) for corner in corners)
    return Judged((), (), Frame((a + b + c + d) / 4, (b + c - a - d) / 4, (c + d - a - b) / 4), 0j)


def calibrated_under(corners, pictures) -> DiceReader:
    under = [lit(picture, corners) for picture in pictures]
    return DiceReader(calibrate_dice_camera(under, "above", "2026-12-01")[0])


def test_the_background_is_what_the_camera_sees_without_dice(scene, profile):
    """Fails if dice, or their shadows, stay in what is kept, or hardly any of it is known."""
    kept = background_picture(profile.background)
    again = background_picture(
        calibrate_dice_camera(laid(scene, 4), "above", "2026-12-01")[0].background
    )
    assert kept is not None
    assert again is not None
    known = (kept[..., 3] > 0) & (again[..., 3] > 0)
    assert known.mean() > 0.95
    apart = np.abs(kept.astype(float) - again).max(axis=2)[known]
    assert np.quantile(apart, 0.99) < 6.0


def test_a_die_that_a_lamps_image_hides_is_one_too_many(four, pictures):
    """Fails if four dice are read as three, whichever of them the light hides."""
    picture, faces = four
    for corners in faces:
        reader = calibrated_under(corners, pictures)
        got = reader.read(lit(picture, corners))
        assert got.verdict != "values", got.values


def test_a_lamps_image_alone_is_no_die(scene, four):
    """Fails if an image of a die's size, seen at each toss, is held for a die too many."""
    _, faces = four
    places: list = []
    pictures = laid(scene, 3, places)
    refused, clear = [], 0
    for corners in faces:
        reader = calibrated_under(corners, pictures)
        lamp = np.mean([complex(*corner) for corner in corners])
        for picture, values, centres in zip(pictures, LAID, places, strict=True):
            got = reader.read(lit(picture, corners))
            assert got.values in ((), tuple(sorted(values)))
            if min(abs(centre - lamp) for centre in centres) > CLEAR_OF:
                clear += 1
                refused += [got.reason] if got.reason else []
    assert clear > 20
    assert len(refused) <= 0.1 * clear, refused


def test_another_place_of_the_camera_tells_nothing(profile, four):
    """Fails if a background is held against pictures that it is none of."""
    picture, faces = four
    dice = [die_at(corners) for corners in faces]
    assert changes(picture, profile.background, dice) is not None
    assert changes(np.roll(picture, 90, axis=1), profile.background, dice) is None
    assert changes(picture[:, :300], profile.background, dice) is None
    assert changes(picture, "", dice) is None
    other = shown(Scene(SceneConfig(style="black", ambient=0.8), seed=12))
    assert changes(255 - other, profile.background, []) is None


@settings(max_examples=40, deadline=None)
@given(
    gain=st.floats(0.75, 1.2),
    dx=st.integers(-2, 2),
    dy=st.integers(-2, 2),
    x=st.floats(140, 340),
    y=st.floats(100, 260),
)
def test_trembling_and_other_light_change_nothing(gain, dx, dy, x, y):
    """Fails if a picture that is moved by two pixels, or lighter, shows something that is none."""
    kept = background_picture(BARE)
    assert kept is not None
    bare = cv2.resize(kept[..., :3], (480, 360), interpolation=cv2.INTER_CUBIC)
    moved = np.roll(bare, (dy, dx), axis=(0, 1)).astype(np.float32) * gain
    changed = changes(np.asarray(np.clip(moved, 0, 255), np.uint8), BARE, [])
    assert changed is not None
    differences = changed.differences(Frame(complex(x, y), 30 + 0j, 30j))
    assert differences is not None
    assert differences.nothing


def test_places_that_dice_always_cover_stay_unknown(pictures):
    """Fails if dice that lie in the same place each time become a part of the background."""
    there = Judged((), (), Frame(200 + 150j, 40 + 0j, 40j), 0j)
    always = background_of(pictures, [[there]] * len(pictures))
    kept = background_picture(always)
    assert kept is not None
    assert kept[50, 66, 3] == 0
    changed = changes(pictures[0], always, [])
    assert changed is not None
    assert changed.differences(there.frame) is None
    some = background_of(pictures, [[there]] * (len(pictures) - LEAST_SEEN) + [[]] * LEAST_SEEN)
    kept = background_picture(some)
    assert kept is not None
    assert kept[..., 3].all()


def test_a_profile_keeps_it_and_a_spoilt_one_is_named(profile, tmp_path):
    """Fails if a background is lost on its way through the file, or a spoilt one is believed."""
    path = tmp_path / "above.json"
    save_profile(profile, path)
    assert load_profile(path) == profile
    grey = base64.b64encode(cv2.imencode(".png", np.zeros((9, 9), np.uint8))[1].tobytes())
    for spoilt in ("no base64!", "AAAA", grey.decode()):
        save_profile(replace(profile, background=spoilt), path)
        with pytest.raises(InvalidFileError, match="background"):
            load_profile(path)
