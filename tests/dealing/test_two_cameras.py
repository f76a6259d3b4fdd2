"""Two cameras on the same dice: they agree, or the dice are not read; who said what is kept."""

from __future__ import annotations

import time
from pathlib import Path

import cv2
import pytest

from harness.dealing.calibrations import Calibrations, eyes_of, load_calibrations
from harness.evidence.records import entry_body, read_entry
from harness.observations import Entry
from harness.rig.bench import open_bench
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig
from harness.vision.calibration import Profile

WITH = """
include = ["{rig}"]

[devices.aside]
driver = "camera"
source = "{source}"
min_fps = 30

[roles]
dice_camera = ["dice-camera", "aside"]
"""


def rig_with(folder: Path, source: str):
    """Give the emulated rig with a second camera: emulated too, or a picture that never changes."""
    file = folder / "two.toml"
    file.write_text(WITH.format(rig=find_rig("emulated"), source=source))
    return load_rig(file)


def seen_by(bench, dice):
    bench.presenter.present(dice)
    eyes = eyes_of(bench, load_calibrations(bench.rig))
    return eyes.look(time.monotonic(), moved=True)


@pytest.fixture(scope="module")
def looks(tmp_path_factory):
    """What two cameras give of 1,2,3: the second one sees them too, or a picture of other dice."""
    folder = tmp_path_factory.mktemp("two")
    with open_bench(rig_with(folder, "emulated")) as bench:
        agreeing = seen_by(bench, (1, 2, 3))
        bench.presenter.present((4, 5, 6))
        other = bench.dice_cameras[1].newer_than(time.monotonic() + 0.3, 5.0).image
    cv2.imwrite(str(folder / "aside.png"), other)
    with open_bench(rig_with(folder, "aside.png")) as bench:
        disagreeing = seen_by(bench, (1, 2, 3))
        nowhere = Profile("aside", "2026-11-30", region=(0.0, 0.0, 5.0, 5.0))
        eyes = eyes_of(bench, Calibrations({"aside": nowhere}, {}))
        calibrated = eyes.look(time.monotonic(), moved=False)
    blank = other.copy()
    blank[:] = 3
    cv2.imwrite(str(folder / "aside.png"), blank)
    with open_bench(rig_with(folder, "aside.png")) as bench:
        blind = seen_by(bench, (1, 2, 3))
    return agreeing, disagreeing, blind, calibrated


def test_cameras_that_agree_are_read_and_each_is_named(looks):
    """Fails if a second camera is not asked, or its frames are not told from the first one's."""
    agreeing, *_ = looks
    assert agreeing.seen.values == (1, 2, 3)
    assert [(c.camera, c.values) for c in agreeing.seen.cameras] == [
        ("dice-camera", (1, 2, 3)),
        ("aside", (1, 2, 3)),
    ]
    assert {frame.camera for frame in agreeing.frames} == {"dice-camera", "aside"}


def test_cameras_that_differ_do_not_read_the_dice(looks):
    """Fails if one camera outvotes another, or the record hides what each of them said."""
    _, disagreeing, *_ = looks
    assert disagreeing.seen.values == ()
    assert disagreeing.seen.reason == "disagreement"
    assert [c.values for c in disagreeing.seen.cameras] == [(1, 2, 3), (4, 5, 6)]


def test_a_camera_that_sees_nothing_does_not_leave_it_to_the_other(looks):
    """Fails if the dice are read though one of the cameras could not read them."""
    _, _, blind, _ = looks
    assert blind.seen.values == ()
    assert blind.seen.reason == "dark"
    assert [c.reason for c in blind.seen.cameras] == [None, "dark"]


def test_each_camera_is_read_by_its_own_profile(looks):
    """Fails if a profile is not read by, or read by for another camera; or if dice that one camera
    counts and another does not are called missing."""
    *_, calibrated = looks
    assert [(c.values, c.reason) for c in calibrated.seen.cameras] == [
        ((1, 2, 3), None),
        ((), "missing"),
    ]
    assert calibrated.seen.reason == "disagreement"


def test_what_each_camera_said_survives_the_record(looks):
    """Fails if the journal loses a camera's word."""
    _, disagreeing, *_ = looks
    entry = Entry("book", "rig", 1, "presented", (1, 2, 3), disagreeing.seen, (), (), 0.0, 1.0)
    body = entry_body(
        entry, scenario="s", frames=(), judgement={}, options={}, limits={}, attempt=1
    )
    assert read_entry(body).seen == disagreeing.seen
