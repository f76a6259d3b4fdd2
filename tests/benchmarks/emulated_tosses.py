"""Tosses before the emulated camera, read one frame each: `--tosses` of `emulated_camera`.

Scenes are drawn at random over all styles, half of them hard (`scene.hard`); of the tosses, one in
ten shows what has no reading. Misreads and refusals are named with the seed that shows them again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from harness.emulator.scene import STYLES, DieTruth, Scene, SceneConfig, Unplaceable
from harness.emulator.scene.hard import draw_hard
from harness.vision.reader import DiceReader
from harness.vision.readings import DiceReading
from tests.benchmarks.dice_reading import bound

A_SCENE = 8
"""Tosses before one scene, whose tray is drawn once."""
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


def scenes(first: int, tosses: int, hard: float) -> Iterator[Toss]:
    """Give tosses, from scene number `first` on; `hard` is the share of hard scenes."""
    for number in range(first, first + -(-tosses // A_SCENE)):
        rng = np.random.default_rng([88, number])
        style = list(STYLES)[number % len(STYLES)]
        config = draw_hard(rng, [style]) if rng.random() < hard else SceneConfig(style=style)
        scene = Scene(config, seed=number)
        for k in range(A_SCENE):
            values = [int(v) for v in rng.integers(1, 7, size=3)]
            pose = str(rng.choice(NO_READING)) if rng.random() < 0.1 else "flat"
            count = {"missing": 2, "extra": 4}.get(pose, 3)
            try:
                scene.lay(values, pose if count == 3 else "flat", rng, count)
            except Unplaceable:
                continue
            data = np.frombuffer(scene.jpeg(), np.uint8)
            picture = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR))
            hidden = pose == "flat" and obscured(picture, scene.truth())
            yield Toss(f"{number}.{k}-{style}", picture, sorted(values), pose, hidden)


def toss(
    reader: DiceReader, tosses: int, first: int = 0, hard: float = 0.5, keep: Path | None = None
) -> Tosses:
    """Read that many tosses, from scene number `first` on; failures are kept in a folder."""
    result, began = Tosses(), time.monotonic()
    for n, shown in enumerate(scenes(first, tosses, hard)):
        _count(result, shown, reader.read(shown.picture), keep)
        if n % 500 == 499:
            spent = time.monotonic() - began
            print(f"{n + 1} tosses, {spent:.0f} s, {len(result.misread)} misread", flush=True)
    return result


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
