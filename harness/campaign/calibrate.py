"""Calibrates every camera of a rig and keeps what was found beside the rig file, whole or not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cv2

from harness.campaign.calibrate_dice import DiceCalibration, calibrate_dice
from harness.campaign.calibrate_layout import LayoutCalibration, calibrate_layout
from harness.campaign.calibrate_pictures import dice_pictures, layout_pictures, spots_px
from harness.dealing.entry import Terminal
from harness.rig.bench import Bench, open_bench
from harness.rig.calibrated import (
    calibration_folder,
    calibration_name,
    camera_settings_digest,
)
from harness.rig.sections import Rig
from harness.rules.books import RuleBook
from harness.verdicts import ConfigurationError, HarnessError
from harness.vision.calibration import CalibrationError, save_profile
from harness.vision.faces import Picture
from harness.vision.lamp_reference import save_reference

CONFIRMED = "learned from the table, confirmed by the operator from a picture"


class RefusedError(HarnessError):
    """A calibration refused whole: what was kept before stays; each mistake is a line."""

    def __init__(self, rig: str, lines: Sequence[str]) -> None:
        self.lines = tuple(lines)
        super().__init__(
            f"rig {rig}",
            expected="cameras that can be calibrated",
            found=self.lines[0],
            remedy="put it right, then calibrate again",
        )

    def __str__(self) -> str:
        kept = f"{self.subject}: nothing was kept: put it right, then calibrate again"
        return "\n".join([*self.lines, kept])


@dataclass(slots=True)
class Calibrated:
    """What came of it, camera by camera; `folder` is where it is kept."""

    folder: Path
    made: str
    dice: dict[str, DiceCalibration] = field(default_factory=dict)
    layout: dict[str, LayoutCalibration] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Give it as `calibrate --json` prints it."""
        cameras: list[dict[str, Any]] = []
        for name, dice in self.dice.items():
            profile = dice.profile
            cameras.append(
                {
                    "camera": name,
                    "role": "dice",
                    "file": str(self.folder / calibration_name(name, "dice")),
                    "sha256": profile.digest,
                    "edge_px": list(profile.edge_px),
                    "px_per_mm": profile.px_per_mm or None,
                    "tilt_deg": profile.tilt_deg,
                    "region": list(profile.region),
                    "sharpness_min": profile.sharpness_min,
                    "bright_min": profile.bright_min,
                    "white_max": profile.white_max,
                    "pictures": sorted(str(self.folder / file) for file in dice_pictures(dice)),
                    "proved": {"pictures": dice.proved[1], "read": dice.proved[0]},
                }
            )
        for name, layout in self.layout.items():
            reference = layout.reference
            cameras.append(
                {
                    "camera": name,
                    "role": "layout",
                    "file": str(self.folder / calibration_name(name, "layout")),
                    "sha256": reference.digest,
                    "areas": len(reference.spots),
                    "areas_by": reference.areas_by,
                    "markers_px": [list(corner) for corner in layout.corners],
                    "remarks": list(layout.remarks),
                    "pictures": sorted(str(self.folder / f) for f in layout_pictures(layout)),
                }
            )
        return {"folder": str(self.folder), "made": self.made, "cameras": cameras}


def calibrate_rig(
    rig: Rig,
    book: RuleBook,
    terminal: Terminal,
    tell: Callable[[str], None],
    *,
    edge_mm: float | None = None,
    faults: Sequence[str] = (),
) -> Calibrated:
    """Calibrate every camera of a rig; the files and pictures are kept in its calibration folder.

    terminal: what the rig file says of the entry terminal. tell: takes lines of progress. edge_mm:
    a die's edge. Raises RefusedError with everything that is wrong, and what the bench raises;
    nothing is kept then, and what was kept before stays.
    """
    roles = rig.roles
    if not roles.dice_camera and not roles.layout_camera:
        raise ConfigurationError(
            f"rig {rig.name}",
            expected="a camera that serves as dice_camera or layout_camera",
            found="none",
            remedy="give the rig a camera, in [roles] of its file",
        )
    folder = calibration_folder(rig.path)
    made = datetime.now(UTC).date().isoformat()
    done = Calibrated(folder, made)
    lines: list[str] = []
    with _kept_whole(folder, lines) as fresh, open_bench(rig, faults) as bench:
        for name in roles.dice_camera:
            with _gathering(lines, name):
                done.dice[name] = dice = calibrate_dice(
                    bench,
                    name,
                    made,
                    tell,
                    settings_digest=camera_settings_digest(rig, name),
                    edge_mm=edge_mm,
                )
                save_profile(dice.profile, fresh / calibration_name(name, "dice"))
                _write_pictures(fresh, dice_pictures(dice))
        for name in roles.layout_camera:
            with _gathering(lines, name):
                done.layout[name] = layout = calibrate_layout(
                    bench,
                    name,
                    book,
                    terminal,
                    made,
                    tell,
                    settings_digest=camera_settings_digest(rig, name),
                )
                _write_pictures(fresh, layout_pictures(layout))
                if layout.learned:
                    layout = done.layout[name] = _confirmed(bench, layout, fresh)
                save_reference(layout.reference, fresh / calibration_name(name, "layout"))
        if lines:
            raise RefusedError(rig.name, lines)
    return done


@contextmanager
def _gathering(lines: list[str], camera: str) -> Iterator[None]:
    """Gather what is wrong with one camera, so that every camera's mistakes are told at once."""
    try:
        yield
    except CalibrationError as error:
        lines += [f"camera:{camera}: {line}" for line in error.lines]
    except ConfigurationError:
        raise
    except HarnessError as error:
        lines += str(error).splitlines()


@contextmanager
def _kept_whole(folder: Path, lines: list[str]) -> Iterator[Path]:
    """Give a fresh folder that takes the place of the kept one only if all went well.

    The pictures of a calibration that was refused are left beside it for a person to look at.
    """
    fresh, refused = folder.with_suffix(".fresh"), folder.with_suffix(".refused")
    try:
        for old in (fresh, refused):
            shutil.rmtree(old, ignore_errors=True)
        fresh.mkdir(parents=True)
    except OSError as error:
        raise ConfigurationError(
            str(fresh),
            expected="a folder beside the rig file that can be written",
            found=error.strerror or str(error),
            remedy="copy the rig file to a folder of your own and calibrate that",
        ) from error
    try:
        yield fresh
    except BaseException:
        if lines and any(fresh.iterdir()):
            fresh.rename(refused)
            lines.append(f"pictures: {refused}")
        else:
            shutil.rmtree(fresh, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


def _write_pictures(folder: Path, pictures: Mapping[str, Picture]) -> None:
    for name, picture in pictures.items():
        coded, png = cv2.imencode(".png", picture)
        assert coded
        (folder / name).write_bytes(png.tobytes())


def _confirmed(bench: Bench, layout: LayoutCalibration, folder: Path) -> LayoutCalibration:
    """Have a person compare the places learned with the print on the layout.

    What a table lights cannot prove which area it is: exchanged lamps would be learned as right.
    """
    name = layout.reference.camera
    places = _places(layout)
    (folder / f"{name}-lamps.toml").write_text(places, encoding="utf-8")
    answer = "nobody to ask"
    if bench.operator is not None:
        picture = folder / f"{name}-lamps.png"
        answer = bench.operator.confirm(
            f"Look at {picture}: is each area's name on the area of that name?", ""
        )
    if answer != "yes":
        raise CalibrationError(
            [
                "the areas' places were learned from the table, which cannot vouch for itself, and "
                f"nobody confirmed them ({answer}): compare {name}-lamps.png with the layout, then "
                f"take {name}-lamps.toml into the rig file"
            ]
        )
    return replace(layout, reference=replace(layout.reference, areas_by=CONFIRMED))


def _places(layout: LayoutCalibration) -> str:
    """Give the places that were learned as a rig file states them."""
    name, size = layout.reference.camera, layout.reference.size_px
    markers = [[round(x, 1), round(y, 1)] for x, y in layout.corners]
    lines = [
        f"[devices.{name}]",
        f"size = {json.dumps(list(size))}",
        f"markers = {json.dumps(markers)}",
        "",
        f"[devices.{name}.regions]",
    ]
    for area, lamps in sorted(spots_px(layout.reference, layout.corners).items()):
        places = [f"[{x:.1f}, {y:.1f}, {min(half):.1f}]" for x, y, *half in lamps]
        told = places[0] if len(places) == 1 else f"[{', '.join(places)}]"
        lines.append(f"{area} = {told}")
    return "\n".join(lines) + "\n"
