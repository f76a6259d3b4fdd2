"""A campaign's rigs: rig files of its own, beside which their cameras' calibrations are kept.

So no calibration that lies beside the original files, or in the user's data folder, is read or
changed. Cameras are calibrated once for each rig, by the command that users give; the running
emulators of the workers take a copy.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.campaign.own import apart
from harness.campaign.warm import WarmCommand
from harness.rig.calibrated import calibration_folder
from harness.rig.sections import Rig
from harness.verdicts import HarnessError


class UncalibratedRigError(HarnessError):
    """The cameras of a healthy emulated rig could not be calibrated."""


def write_rig_file(rig: Rig, folder: Path, more: str = "") -> Path:
    """Write a rig file that takes in the original one; `more` goes into it besides, as TOML."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{rig.name}.toml"
    paytable = rig.table.paytable
    # The one setting that is relative to the file it stands in.
    table = (
        ""
        if paytable is None
        else f"[table]\npaytable = {json.dumps(str((rig.path.parent / paytable).resolve()))}\n"
    )
    file.write_text(
        f"include = [{json.dumps(str(rig.path.resolve()))}]\n"
        f"title = {json.dumps(rig.title)}\n\n{more}{table}",
        encoding="utf-8",
    )
    return file


def has_cameras(rig: Rig) -> bool:
    """Tell whether a rig has anything to calibrate."""
    return bool(rig.roles.dice_camera or rig.roles.layout_camera)


def start_calibration(rig_file: Path, book: str, runs: Path) -> WarmCommand:
    """Start to calibrate a rig's cameras; `calibrated` takes what comes of it.

    runs: the folder that holds the campaign's run folders.
    """
    runs.mkdir(parents=True, exist_ok=True)
    arguments = ["calibrate", str(rig_file), "--rules", book, "--json"]
    return WarmCommand(arguments, runs / f"calibrate-{rig_file.stem}.txt", apart(runs))


def calibrated(rig: str, status: int | None, printed: str) -> Sequence[Mapping[str, str]]:
    """Give each camera's name, role and the hash of its calibration.

    status: of the command that calibrated; None or negative where it was ended.
    Raises UncalibratedRigError where there is none.
    """
    lines = printed.strip().splitlines()
    told = next((line for line in reversed(lines) if line.startswith("{")), None)
    if status != 0 or told is None:
        raise UncalibratedRigError(
            f"rig {rig}",
            expected="cameras that can be calibrated before any fault is armed",
            found=lines[-1] if lines else f"exit status {status}",
            remedy="run `sicbo-hil calibrate` on a copy of this rig file and put it right",
        )
    cameras = json.loads(told)["cameras"]
    return [{name: each[name] for name in ("camera", "role", "sha256")} for each in cameras]


def copy_calibration(of: Path, to: Path) -> None:
    """Keep one rig file's calibration beside another one too."""
    kept = calibration_folder(of)
    if kept.is_dir():
        shutil.copytree(kept, calibration_folder(to), dirs_exist_ok=True)
