"""The widely copied dice recipe, as a yardstick of how hard pictures are.

Blobs by `cv2.SimpleBlobDetector`, clustered by one length; a cluster is a die, its size the value.
The length is chosen on the very pictures it is then scored on, and light pips are tried where dark
ones give no three dice, so the figure flatters it. Run as a program it prints its figures on the
emulator's pictures and on labelled ones: `python -m tests.benchmarks.blob_recipe [FOLDER]`, where
the folder holds a `labels.jsonl`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

LENGTHS = (14, 18, 22, 26, 30, 34, 38, 42, 46, 50, 55, 60, 66, 72, 80)


@dataclass(frozen=True)
class Score:
    """Pictures read right, and read wrong as three other values, of `of`; the best length (px)."""

    right: int
    wrong: int
    of: int
    length: int

    def __str__(self) -> str:
        return f"{self.right}/{self.of} right ({self.right / self.of:.0%}), {self.wrong} misread"


def blobs(image: np.ndarray, colour: int) -> np.ndarray:
    """Find round blobs, (n, 2): dark ones for colour 0, light ones for 255."""
    want = cv2.SimpleBlobDetector_Params()
    want.blobColor = colour
    want.filterByInertia, want.minInertiaRatio = True, 0.6
    want.filterByCircularity, want.minCircularity = True, 0.8
    want.filterByConvexity, want.minConvexity = True, 0.85
    want.minArea, want.maxArea = 30, 1200
    found = cv2.SimpleBlobDetector_create(want).detect(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
    return np.array([point.pt for point in found], dtype=np.float64).reshape(-1, 2)


def clusters(points: np.ndarray, length: float) -> list[int]:
    """Give the sizes of the groups that steps shorter than `length` connect."""
    left, sizes = set(range(len(points))), []
    while left:
        group, edge = set(), [left.pop()]
        while edge:
            index = edge.pop()
            group.add(index)
            near = [k for k in left if np.hypot(*(points[k] - points[index])) < length]
            left -= set(near)
            edge += near
        sizes.append(len(group))
    return sorted(sizes)


def read(dark: np.ndarray, light: np.ndarray, length: float) -> list[int]:
    """Read a picture's blobs: the values if they look like three dice, else what was found."""
    tries = [clusters(points, length) for points in (dark, light)]
    return next((sizes for sizes in tries if len(sizes) == 3 and sizes[-1] <= 6), tries[0])


def score(pictures: Iterable[tuple[np.ndarray, Sequence[int]]]) -> Score:
    """Score the recipe on pictures with their true values, its length chosen on them."""
    found = [(blobs(image, 0), blobs(image, 255), sorted(values)) for image, values in pictures]
    best = Score(-1, 0, len(found), 0)
    for length in LENGTHS:
        readings = [(read(dark, light, length), values) for dark, light, values in found]
        right = sum(sizes == values for sizes, values in readings)
        dice = sum(len(sizes) == 3 and sizes[-1] <= 6 for sizes, _ in readings)
        if right > best.right:
            best = Score(right, dice - right, len(found), length)
    return best


def labelled(folder: Path) -> Iterable[tuple[np.ndarray, Sequence[int]]]:
    """Give the readable pictures of a folder with a `labels.jsonl`."""
    for line in (folder / "labels.jsonl").read_text().splitlines():
        label = json.loads(line)
        image = cv2.imread(str(folder / label["file"]))
        if label["expected"]["outcome"] == "values" and image is not None:
            yield image, label["expected"]["values"]


def emulated(
    count: int, *, hard: bool, seed: int = 0
) -> Iterable[tuple[np.ndarray, Sequence[int]]]:
    """Draw pictures of dice that lie flat, as the emulator's camera gives them (through JPEG)."""
    from harness.emulator.scene import STYLES, Scene, SceneConfig
    from harness.emulator.scene.hard import draw_hard

    rng = np.random.default_rng(seed)
    for index in range(count):
        style = list(STYLES)[index % len(STYLES)]
        config = draw_hard(rng, [style]) if hard else SceneConfig(style=style)
        scene = Scene(config, seed=index)
        values = [int(v) for v in rng.integers(1, 7, size=3)]
        scene.lay(values, "flat", rng)
        yield cv2.imdecode(np.frombuffer(scene.jpeg(), np.uint8), cv2.IMREAD_COLOR), values


if __name__ == "__main__":
    cv2.setNumThreads(1)
    print("emulator, default:", score(emulated(96, hard=False)))
    print("emulator, hard:   ", score(emulated(96, hard=True)))
    for name in sys.argv[1:]:
        print(f"{name}:", score(labelled(Path(name))))
