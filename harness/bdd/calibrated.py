"""What a run records of its cameras' calibrations."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from harness.rig.calibrated import CameraRole
from harness.rig.errors import RigError

if TYPE_CHECKING:
    from harness.dealing.calibrations import Calibrations
    from harness.evidence.record import RunRecord
    from harness.rig.bench import Bench

FRAME_TIMEOUT_S = 2.0


class WrongSizeError(RigError):
    """A camera whose pictures are not of the size it was calibrated at."""

    fault = "wrong-size"


def keep_calibrations(
    record: RunRecord, rig: str, bench: Bench, calibrations: Calibrations
) -> None:
    """Record for each camera by which calibration it is read, or that it has none.

    Raises WrongSizeError where a dice camera's pictures are not as they were calibrated.
    """
    told = calibrations.to_json()
    roles: dict[CameraRole, tuple[str, ...]] = {
        "dice": bench.rig.roles.dice_camera,
        "layout": bench.rig.roles.layout_camera,
    }
    for camera, role in ((camera, role) for role, names in roles.items() for camera in names):
        one = told.get(calibrations.told_as(camera, role))
        said = "not calibrated"
        if one is None and role == "layout":
            said = "not calibrated: the lamps are not sensed by it"
        elif one is not None:
            said = f"calibrated {one['made']}, sha256 {one['sha256']}"
        data = {} if one is None else {"made": one["made"], "sha256": one["sha256"]}
        record.rig_fact(rig, "calibration", f"camera:{camera}", said, data=data)
    for camera, eye in zip(bench.rig.roles.dice_camera, bench.dice_cameras, strict=True):
        profile = calibrations.dice.get(camera)
        if profile is None:
            continue
        height, width = eye.newer_than(time.monotonic(), FRAME_TIMEOUT_S).image.shape[:2]
        if (width, height) != tuple(profile.size_px):
            raise WrongSizeError(
                camera,
                expected=f"pictures of {profile.size_px[0]:g} x {profile.size_px[1]:g} px, as at "
                "calibration",
                found=f"{width} x {height} px",
                remedy="set the camera as it was, or calibrate again",
            )
