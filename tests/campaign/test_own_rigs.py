"""A campaign's rig files of its own, and the cameras that it calibrates for its trials."""

from __future__ import annotations

import json

import pytest

from harness.campaign.bench import EmulatedBench
from harness.campaign.catalogue import CATALOGUE
from harness.campaign.fault import Armed
from harness.campaign.own_rigs import (
    UncalibratedRigError,
    calibrated,
    copy_calibration,
    write_rig_file,
)
from harness.campaign.runner import Runner
from harness.campaign.trial import Trial
from harness.dealing.calibrations import load_calibrations
from harness.rig.calibrated import calibration_file, calibration_folder
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig

RIG = load_rig(find_rig("emulated"))
WRONG_DIE = next(fault for fault in CATALOGUE if fault.number == "F56")


@pytest.fixture(scope="module")
def calibrated_by(tmp_path_factory) -> tuple[Runner, list[str]]:
    """Make a campaign of one trial that needs no bench, beside a user's calibration that is bad."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(home))
        users = calibration_file(RIG.path, "dice-camera", "dice")
        users.parent.mkdir(parents=True)
        users.write_text("no calibration\n", encoding="utf-8")
        runner = Runner({RIG.name: RIG}, tmp_path_factory.mktemp("out"), "control")
        trial = Trial(0, RIG.name, "ny-5324.51", "minimum", (Armed(WRONG_DIE, {"die": "1"}),))
        runner.run([trial], 1, lambda outcome: None)
        left = [path.read_text(encoding="utf-8") for path in home.rglob("*") if path.is_file()]
    return runner, left


def test_a_users_calibration_is_neither_read_nor_changed(calibrated_by):
    """Fails if a campaign stops at what a user has kept, or puts its own in its place."""
    assert calibrated_by[1] == ["no calibration\n"]


def test_trials_on_a_running_emulator_read_by_what_was_calibrated(calibrated_by, tmp_path):
    """Fails if a worker's rig file finds no calibration, a stale one, or another than is told."""
    runner, _ = calibrated_by
    (told,) = runner.calibrations["emulated"]
    with EmulatedBench(RIG, tmp_path) as bench:
        copy_calibration(runner.rig_file("emulated"), bench.rig_file)
        kept = load_calibrations(load_rig(bench.rig_file))
    assert kept.dice["dice-camera"].digest == told["sha256"]
    assert (told["camera"], told["role"]) == ("dice-camera", "dice")


def test_trials_armed_by_the_command_line_do_too(calibrated_by):
    """Fails if runs that start their own emulator are given the original rig file."""
    runner, _ = calibrated_by
    own = runner.rig_file("emulated")
    assert own.resolve() != RIG.path.resolve()
    assert set(load_calibrations(load_rig(own)).dice) == {"dice-camera"}


def test_the_rig_of_a_campaign_is_the_rig_it_takes_in(tmp_path):
    """Fails if a trial is made on another bench than is told, or its paytable is lost."""
    own = load_rig(write_rig_file(RIG, tmp_path))
    assert (own.name, own.title, own.devices) == (RIG.name, RIG.title, RIG.devices)
    assert own.table.paytable is not None
    assert RIG.table.paytable is not None
    assert (own.path.parent / own.table.paytable).resolve() == (
        RIG.path.parent / RIG.table.paytable
    ).resolve()
    assert calibration_folder(own.path).parent == tmp_path.resolve()


def test_cameras_that_cannot_be_calibrated_end_the_campaign():
    """Fails if trials are made with cameras that the harness refused."""
    told = json.dumps({"cameras": [{"camera": "c", "role": "dice", "sha256": "0", "file": "f"}]})
    assert calibrated("emulated", 0, f"calibrating c\n{told}\n") == [
        {"camera": "c", "role": "dice", "sha256": "0"}
    ]
    with pytest.raises(UncalibratedRigError, match="too dark"):
        calibrated("emulated", 3, "error: c: picture 1\nerror: c: too dark\n")
