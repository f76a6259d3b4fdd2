"""A rig's cameras as they were calibrated: what was found then is what they are read by now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.dealing.layout_lamps import LayoutLamps
from harness.dealing.look import Eyes
from harness.rig.calibrated import CameraRole, calibration_file, camera_settings_digest
from harness.rig.errors import RigError
from harness.verdicts import ConfigurationError
from harness.vision.calibration import Profile, load_profile, profile_body
from harness.vision.lamp_reference import LampReference, load_reference, reference_body
from harness.vision.reader import DiceReader

if TYPE_CHECKING:
    from harness.rig.bench import Bench
    from harness.rig.sections import Rig


class StaleCalibrationError(ConfigurationError):
    """A calibration made for other settings of its camera than the rig file has now."""


class UncalibratedError(RigError):
    """A camera that can do nothing without its calibration."""

    fault = "calibration-unknown"


@dataclass(frozen=True, slots=True)
class Calibrations:
    """The calibrations that a rig's cameras have, by camera; one that has none is left out."""

    dice: Mapping[str, Profile]
    layout: Mapping[str, LampReference]

    def to_json(self) -> dict[str, dict[str, Any]]:
        """Give them for the record, by camera (`told_as`): date, hash, contents."""
        profiles = {name: (p.made, p.digest, profile_body(p)) for name, p in self.dice.items()}
        layouts = {
            self.told_as(name, "layout"): (r.made, r.digest, reference_body(r))
            for name, r in self.layout.items()
        }
        return {
            name: {"made": made, "sha256": digest, "contents": contents}
            for name, (made, digest, contents) in {**profiles, **layouts}.items()
        }

    def told_as(self, camera: str, role: CameraRole) -> str:
        """Give the name under which the record holds a camera's calibration."""
        both = camera in self.dice and camera in self.layout
        return f"{camera} (lamps)" if both and role == "layout" else camera


def load_calibrations(rig: Rig) -> Calibrations:
    """Read the calibrations kept beside a rig file.

    Raises InvalidFileError for a file that is none, StaleCalibrationError where the camera's
    settings have changed since.
    """
    dice: dict[str, Profile] = {}
    layout: dict[str, LampReference] = {}
    for camera in rig.roles.dice_camera:
        file = calibration_file(rig.path, camera, "dice")
        if file.is_file():
            dice[camera] = load_profile(file)
            _hold(rig, camera, file, dice[camera].settings)
    for camera in rig.roles.layout_camera:
        file = calibration_file(rig.path, camera, "layout")
        if file.is_file():
            layout[camera] = load_reference(file)
            _hold(rig, camera, file, layout[camera].settings)
    return Calibrations(dice, layout)


def _hold(rig: Rig, camera: str, file: Path, settings: str) -> None:
    if settings != camera_settings_digest(rig, camera):
        raise StaleCalibrationError(
            str(file),
            expected=f"a calibration of {camera} as the rig file sets it now",
            found="one made with other settings",
            remedy=f"run `sicbo-hil calibrate {rig.path}` again, or remove that file",
        )


def eyes_of(bench: Bench, calibrations: Calibrations) -> Eyes:
    """Give the eyes of a bench: each dice camera read by its own profile, if it has one."""
    profiles = [calibrations.dice.get(name) for name in bench.rig.roles.dice_camera]
    return Eyes(bench.dice_cameras, [DiceReader(profile) for profile in profiles], profiles)


def layout_lamps_of(
    bench: Bench, calibrations: Calibrations, areas: frozenset[str]
) -> tuple[LayoutLamps, ...]:
    """Give the lamps of a bench as its calibrated layout cameras see them.

    areas: those that the rule book can light. Raises UncalibratedError where nothing else senses
    the lamps and no camera is calibrated, or where a calibration leaves an area out.
    """
    paths = []
    for name, camera in zip(bench.rig.roles.layout_camera, bench.layout_cameras, strict=True):
        reference = calibrations.layout.get(name)
        if reference is None:
            continue
        left_out = sorted(areas - reference.spots.keys())
        if left_out:
            raise _uncalibrated(bench, name, f"one without {', '.join(left_out)}")
        # Where a level is demanded, a dim lamp is lit and judged by its level; else it is not lit.
        judged_by_level = bench.rig.limits.lamp_level_min is not None
        paths.append(LayoutLamps(name, camera, reference, dim_is_lit=judged_by_level))
    if bench.rig.roles.layout_camera and not paths and not bench.lamps:
        raise _uncalibrated(bench, bench.rig.roles.layout_camera[0], "none")
    return tuple(paths)


def _uncalibrated(bench: Bench, camera: str, found: str) -> UncalibratedError:
    return UncalibratedError(
        camera,
        expected="a calibration that says where each area's lamp is",
        found=found,
        remedy=f"run `sicbo-hil calibrate {bench.rig.path}`",
    )
