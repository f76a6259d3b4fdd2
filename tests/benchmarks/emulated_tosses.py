"""Tosses before the emulated camera, read one frame each: `--tosses` of `emulated_camera`.

Scenes are drawn at random over all styles, a share of them hard (`scene.hard`); of the tosses, one
in ten shows what has no reading. Misreads and refusals are named with the seed that shows them
again. Readers know nothing of the camera, or, as on a bench, have it calibrated first.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import cv2
import numpy as np

from harness.campaign.calibrate_dice import LAID
from harness.emulator.scene import STYLES, DieTruth, Scene, SceneConfig, Unplaceable
from harness.emulator.scene.hard import draw_hard
from harness.vision.calibration import CalibrationError
from harness.vision.dice_camera import calibrate_dice_camera
from harness.vision.reader import DiceReader
from harness.vision.readings import DiceReading
from tests.benchmarks.dice_reading import bound

A_SCENE, A_BENCH = 8, 24
"""Tosses before one scene, whose tray is drawn once, and before one whose camera is calibrated."""
NO_READING = ("leaning", "stacked", "missing", "extra")
LEAST_CONTRAST = 14.0
"""Grey levels by which a pip must stand out to be there for anyone to see."""
ADDED = 0.4
"""Part of the pips' contrast from which a spot of light at an empty place may be taken for one."""
PLACES = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]


@dataclass
class Tosses:
    """What came of the tosses: reasons and lines by seed."""

    readable: int = 0
    read: int = 0
    obscured: int = 0
    obscured_read: int = 0
    unreadable: int = 0
    right_reason: int = 0
    misread: list[str] = field(default_factory=list)
    refused: Counter = field(default_factory=Counter)
    refused_lines: list[str] = field(default_factory=list)
    by_style: Counter = field(default_factory=Counter)
    uncalibrated: int = 0

    def __str__(self) -> str:
        n = self.readable + self.obscured + self.unreadable
        part = self.read / max(self.readable, 1)
        lines = [
            f"readable: {self.read} of {self.readable} read ({part:.2%})",
            f"obscured: {self.obscured_read} of {self.obscured} read",
            f"no reading: {self.unreadable}, {self.right_reason} refused for the right reason",
            bound(len(self.misread), n),
            f"refusals of readable tosses: {dict(self.refused.most_common()) or 'none'}",
            f"by style: {dict(self.by_style.most_common()) or 'none'}",
            f"scenes on which the camera could not be calibrated: {self.uncalibrated}",
            *self.misread,
            *self.refused_lines[:60],
        ]
        return "\n".join(lines)


def obscured(picture: np.ndarray, dice: tuple[DieTruth, ...]) -> bool:
    """Tell whether light hides a pip of a top face or adds what looks like one."""
    return any(_obscured(picture.astype(np.float32), die) for die in dice)


def _obscured(picture: np.ndarray, die: DieTruth) -> bool:
    corners = np.array(die.corners_px)
    centre = np.array(die.centre_px)
    across = (corners[1] - corners[0] + corners[2] - corners[3]) / 4
    along = (corners[3] - corners[0] + corners[2] - corners[1]) / 4
    pips = np.array(die.pips_px)
    turn = np.linalg.inv(np.stack([across, along], axis=1))
    reach = float(np.abs((pips - centre) @ turn.T).max()) if len(pips) > 1 else 0.48
    size = STYLES[die.style].pip_radius * 2
    angles = np.arange(12) * np.pi / 6
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def contrast(at: np.ndarray, radius: float) -> float:
        """Give by how many grey levels a spot of this radius (half edges) stands out."""
        inner = np.concatenate([[[0.0, 0.0]], ring * radius * 0.5])
        means = []
        for points in (inner, ring * radius * 1.8):
            px = np.rint(at + points @ np.stack([across, along])).astype(int)
            px = np.clip(px, 0, np.array(picture.shape[1::-1]) - 1)
            means.append(np.median(picture[px[:, 1], px[:, 0]], axis=0))
        return float(np.abs(means[0] - means[1]).max())

    own = 2 * die.pip_radius_px / die.edge_px
    shown = [contrast(at, own) for at in pips]
    if min(shown) < LEAST_CONTRAST:
        return True
    for a, b in PLACES:
        at = centre + reach * (a * across + b * along)
        far = np.hypot(*((pips - at) @ turn.T).T).min()
        if far > own + size and contrast(at, size) > ADDED * float(np.median(shown)):
            return True
    return False


@dataclass(frozen=True)
class Toss:
    """One toss before the camera: `picture` as its JPEG shows it, the sorted values that fell."""

    name: str
    picture: np.ndarray
    values: list[int]
    pose: str
    obscured: bool


def scenes(hard: float, first: int) -> Iterator[tuple[int, Scene, np.random.Generator]]:
    """Give scenes without end, each with its number, from `first` on; `hard` is the hard ones'."""
    for number in count(first):
        rng = np.random.default_rng([88, number])
        style = list(STYLES)[number % len(STYLES)]
        config = draw_hard(rng, [style]) if rng.random() < hard else SceneConfig(style=style)
        yield number, Scene(config, seed=number), rng


def before(scene: Scene, number: int, tosses: int, rng: np.random.Generator) -> Iterator[Toss]:
    """Give tosses before one scene."""
    for k in range(tosses):
        values = [int(v) for v in rng.integers(1, 7, size=3)]
        pose = str(rng.choice(NO_READING)) if rng.random() < 0.1 else "flat"
        dice = {"missing": 2, "extra": 4}.get(pose, 3)
        try:
            scene.lay(values, pose if dice == 3 else "flat", rng, dice)
        except Unplaceable:
            continue
        shown = picture(scene)
        hidden = pose == "flat" and obscured(shown, scene.truth())
        yield Toss(f"{number}.{k}-{scene.config.style}", shown, sorted(values), pose, hidden)


def picture(scene: Scene) -> np.ndarray:
    """Give what lies as the camera's JPEG shows it."""
    data = np.frombuffer(scene.jpeg(), np.uint8)
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR))


def calibrated(scene: Scene, rng: np.random.Generator) -> DiceReader | None:
    """Calibrate the camera as the harness does it; None where no run would begin."""
    shown = []
    for values in LAID:
        scene.lay(values, "flat", rng, 3)
        shown.append(picture(scene))
    try:
        return DiceReader(calibrate_dice_camera(shown, "dice-camera", "2026-01-01")[0])
    except CalibrationError:
        return None


def toss(
    tosses: int,
    first: int = 0,
    hard: float = 0.5,
    keep: Path | None = None,
    *,
    calibrate: bool = False,
) -> Tosses:
    """Read about that many tosses; failures are kept in a folder.

    calibrate: each scene's camera first; scenes on which that fails are left out.
    """
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    result, began, unaware, read = Tosses(), time.monotonic(), DiceReader(), 0
    for number, scene, rng in scenes(hard, first):
        reader = calibrated(scene, rng) if calibrate else unaware
        if reader is None:
            result.uncalibrated += 1
            continue
        for shown in before(scene, number, A_BENCH if calibrate else A_SCENE, rng):
            _count(result, shown, reader.read(shown.picture), keep)
            read += 1
            if read % 500 == 0:
                spent = time.monotonic() - began
                print(f"{read} tosses, {spent:.0f} s, {len(result.misread)} misread", flush=True)
        if read >= tosses:
            return result
    raise AssertionError("scenes have no end")


def _count(result: Tosses, shown: Toss, got: DiceReading, keep: Path | None) -> None:
    flat = shown.pose == "flat"
    right = got.verdict == "values" and flat and list(got.values) == shown.values
    wrong = got.verdict == "values" and not right
    if not flat:
        result.unreadable += 1
        result.right_reason += got.reason == shown.pose
    elif shown.obscured:
        result.obscured += 1
        result.obscured_read += right
    else:
        result.readable += 1
        result.read += right
    if wrong:
        what = f"{shown.values} {shown.pose} read as {got.values}"
        result.misread.append(f"MISREAD {shown.name}: {what}")
    elif flat and not right and not shown.obscured:
        result.refused[got.reason] += 1
        result.by_style[shown.name.split("-", 1)[1]] += 1
        result.refused_lines.append(f"refused {shown.name}: {shown.values}, {got.reason}")
    if keep is not None and (wrong or (flat and not right)):
        kind = "obscured" if shown.obscured else "clear"
        cv2.imwrite(str(keep / f"{shown.name}-{kind}-{got.reason}.png"), shown.picture)
