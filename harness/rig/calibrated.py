"""Where the calibration of a rig's cameras is kept, and which camera it belongs to."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Literal

from harness.rig.find import embedded_folder
from harness.rig.sections import Rig

CameraRole = Literal["dice", "layout"]
_NOT_THE_CAMERA = frozenset({"calibrated", "calibration_due", "certificate", "min_fps"})
"""Settings that say nothing of what a camera's picture looks like."""


def calibration_folder(rig_file: Path) -> Path:
    """Give the folder of a rig's calibration: `NAME.calibration` beside its file.

    That of an embedded rig is in the user's data folder (XDG base directories 0.8).
    """
    path = rig_file.resolve()
    folder = path.parent
    if folder == embedded_folder().resolve():
        named = os.environ.get("XDG_DATA_HOME", "")
        base = Path(named) if Path(named).is_absolute() else Path.home() / ".local" / "share"
        folder = base / "sicbo-hil" / "calibration"
    return folder / f"{path.stem}.calibration"


def calibration_name(camera: str, role: CameraRole) -> str:
    """Give the file name of a camera's calibration: one camera may serve as both."""
    return f"{camera}.json" if role == "dice" else f"{camera}-lamps.json"


def calibration_file(rig_file: Path, camera: str, role: CameraRole) -> Path:
    """Give the file of one camera's calibration."""
    return calibration_folder(rig_file) / calibration_name(camera, role)


def camera_settings_digest(rig: Rig, camera: str) -> str:
    """Give the SHA-256 of a camera's settings in the rig file: a calibration holds for these.

    An emulated camera shows what its emulator's settings say; they count with it.
    """
    settings = rig.devices[camera].model_dump(mode="json", exclude=set(_NOT_THE_CAMERA))
    emulator = None
    if rig.emulator is not None:
        emulator = {"seed": rig.emulator.seed, "options": dict(rig.emulator.options)}
    text = json.dumps([settings, emulator], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
