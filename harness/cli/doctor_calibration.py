"""What the doctor says of the cameras' calibrations: there, whole, of the camera as it is set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.dealing.calibrations import Calibrations, load_calibrations
from harness.rig.calibrated import CameraRole
from harness.rig.sections import Rig
from harness.rig.selfcheck import Check
from harness.verdicts import ConfigurationError, Verdict

NONE = Calibrations({}, {})


def calibrations_of(rig: Rig) -> tuple[Calibrations, Check | None]:
    """Give a rig's calibrations; none of them, and a check that says why, if one is no good."""
    try:
        return load_calibrations(rig), None
    except ConfigurationError as error:
        part = f"camera:{Path(error.subject).stem.removesuffix('-lamps')}"
        fault = Verdict.RIG_FAULT
        return NONE, Check(part, "calibration", fault, error.found, error.remedy, "calibration")


def camera_calibrations(rig: Rig, kept: Calibrations, bad: Check | None) -> Iterator[Check]:
    """Say of each camera when it was calibrated, or that it was not."""
    if bad is not None:
        yield bad
        return
    told = kept.to_json()
    roles: dict[CameraRole, tuple[str, ...]] = {
        "dice": rig.roles.dice_camera,
        "layout": rig.roles.layout_camera,
    }
    for camera, role in ((camera, role) for role, names in roles.items() for camera in names):
        part, one = f"camera:{camera}", told.get(kept.told_as(camera, role))
        if one is not None:
            found = f"{one['made']}, sha256 {one['sha256'][:16]}"
            yield Check(part, "calibration", Verdict.PASS, found)
            continue
        only = "; lamps are not sensed by it" if role == "layout" else ""
        found = f"none{only}; `sicbo-hil calibrate` makes one"
        yield Check(part, "calibration", Verdict.NOT_APPLICABLE, found)
