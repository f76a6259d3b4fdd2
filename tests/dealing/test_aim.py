"""A camera that does not show where dice lie is told from dice that have no reading."""

from __future__ import annotations

import numpy as np
import pytest

from harness.dealing.aim import astray, cut_off
from harness.dealing.look import Eyes, Look
from harness.dealing.refused import standing
from harness.emulator.scene import CameraFault, Scene, SceneConfig
from harness.observations import DiceSeen
from harness.rig.roles import Frame
from harness.vision.calibration import Profile
from harness.vision.reader import DiceReader
from harness.vision.readings import DiceReading, DieSeen

SIZE = (480, 360)
EDGE = 50.0


def die(x: float, y: float, value: int | None = 3) -> DieSeen:
    half = EDGE / 2
    corners = [(x + dx * half, y + dy * half) for dx, dy in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return DieSeen(value, "flat", (x, y), tuple(corners), 0.99)


def reading(*dice: DieSeen, reason: str | None = "missing") -> DiceReading:
    return DiceReading("no-result", (), reason, 0.9, dice, 1.0)


@pytest.mark.parametrize("at", [(15, 180), (465, 180), (240, 15), (240, 345)])
def test_a_die_across_any_border_is_cut_off(at):
    """Fails if one of the four borders is not looked at, or only the place of a die's middle."""
    assert cut_off(reading(die(100, 100), die(*at)), SIZE)


@pytest.mark.parametrize("at", [(24, 180), (456, 180), (240, 24), (240, 336)])
def test_a_die_beside_a_border_is_not_cut_off(at):
    """Fails if a whole die at the border blames the camera; half a pixel beyond it is no cut."""
    assert cut_off(reading(die(*at)), SIZE) is None


def test_a_die_outside_the_calibrated_region_is_astray():
    """Fails if a region is taken from the wrong corner, or a die inside it is astray."""
    profile = Profile("camera", "2026-11-30", region=(100.0, 50.0, 200.0, 150.0))
    assert astray(reading(die(110, 60), die(290, 190)), profile) is None
    for x, y in ((90, 100), (310, 100), (200, 40), (200, 210)):
        assert astray(reading(die(200, 100), die(x, y)), profile)
        assert astray(reading(die(x, y, value=None)), profile) is None
    assert astray(reading(die(1, 1)), Profile("camera", "2026-11-30")) is None


class Camera:
    name = "above"


def looked_at(scene: Scene, reader: DiceReader) -> Look:
    image = scene.render()
    found = reader.read(image)
    frame = Frame(image, 0.0, 1, None, "above")
    return Look(DiceSeen(found.values, found.reason, 0.9), (found,), (frame,), 0.0)


@pytest.mark.parametrize("calibrated", [False, True])
def test_moved_pictures_tell_themselves_and_dice_without_a_reading_do_not(calibrated):
    """Fails if a moved camera passes for a die missing, or a die missing for a moved camera."""
    profile = Profile("above", "2026-11-30", region=(38.0, 0.0, 390.0, 359.0))
    reader = DiceReader(profile if calibrated else None)
    eyes = Eyes([Camera()], reader, [profile if calibrated else None])
    scene, rng = Scene(SceneConfig(), 4), np.random.default_rng(8)
    for pose, count in (("flat", 3), ("flat", 2), ("leaning", 3), ("stacked", 3)):
        scene.lay((2, 3, 5), pose, rng, count)
        assert eyes.misaimed(looked_at(scene, reader)) is None
    scene.fail(CameraFault("moved"))
    told = []
    for _ in range(6):
        scene.lay((2, 3, 5), "flat", rng)
        told.append(eyes.misaimed(looked_at(scene, reader)))
    assert sum(each is not None for each in told) >= 3
    assert {each[0] for each in told if each is not None} == {"above"}


def test_of_refused_looks_the_commonest_reason_stands():
    """Fails if one odd look outvotes two, or an earlier look is given for a later one."""

    def look(reason: str, at: float) -> Look:
        return Look(DiceSeen((), reason, 0.9), (), (), at)

    looks = [look("stacked", 1.0), look("stacked", 2.0), look("obstructed", 3.0)]
    assert standing(looks).at == 2.0
    assert standing(looks[1:]).at == 3.0
