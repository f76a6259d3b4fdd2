"""Trains the pip map: `python -m harness.vision.training.train_pip_map PICTURES OUT.onnx STEPS`.

It looks at a flattened face and marks where pips are, whatever light lies on them: no value, no
state. It learns each pip's place, never what a face's value is, and so is no second judge.
"""

# mypy: disable-error-code="import-not-found,misc,no-any-return,arg-type,call-overload"
# mypy: disable-error-code="import-untyped,assignment,untyped-decorator"
# Training only: torch and numba bring no types into the project's environment.

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import nn
from torch.nn import functional as fn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from harness.vision.faces import Frame, Pyramid
from harness.vision.training.course import Course
from harness.vision.training.halve import halve
from harness.vision.training.train_finder import MEMORY, Residual, block, colour_change
from harness.vision.training.train_judge import frame_of

SIDE, FACE, WIDE, STRIDE = 64, 40.0, 92, 2
GRID = SIDE // STRIDE
WITHIN = 0.9
"""Reach in half edges in which pips are looked for."""
HIDDEN = 4.0
"""Grey levels below which a pip is not there to see, nor surely not there."""
LIT = 40.0
"""Grey levels of its faintest pip below which a face counts as a hard one."""
SWEPT, MOST_SWEPT = 0.35, 0.85
"""How often a sheet of light is laid over a face, and how much of contrasts it takes at most."""
BATCH = 64
SPREAD = 1.0
"""Of a pip's mark on the grid, in cells."""


class PipMap(nn.Module):
    """(n, 3, SIDE, SIDE) flattened faces to (n, 1, GRID, GRID), the logits of pips' middles."""

    def __init__(self) -> None:
        super().__init__()
        self.near = nn.Sequential(block(3, 16, 2), block(16, 24))
        self.far = nn.Sequential(block(24, 32, 2), Residual(32))
        self.whole = nn.Sequential(block(32, 40, 2), Residual(40))
        self.back = nn.Conv2d(40, 32, 1)
        self.up = nn.Conv2d(32, 24, 1)
        self.mark = nn.Sequential(block(24, 24), nn.Conv2d(24, 1, 1))
        nn.init.constant_(self.mark[1].bias, -3.0)

    def forward(self, x: Any) -> Any:
        """Run."""
        near = self.near(x)
        far = self.far(near)
        far = far + fn.interpolate(self.back(self.whole(far)), scale_factor=2, mode="nearest")
        return self.mark(near + fn.interpolate(self.up(far), scale_factor=2, mode="nearest"))


@dataclass(frozen=True)
class Crop:
    """A face laid flat (WIDE, WIDE, 3), its pips (n, 2) in face coordinates, which of them show."""

    picture: Any
    pips: Any
    shows: Any


def _contrast(image: Any, at: Any, radius: float) -> float:
    """Give by how many grey levels what lies at a pip stands out."""
    angles = np.arange(12) * np.pi / 6
    ring = np.stack([np.cos(angles), np.sin(angles)], 1)
    h, w = image.shape[:2]
    means = []
    for points in (np.concatenate([[[0, 0]], ring * radius * 0.5]), ring * radius * 1.6):
        px = np.clip(np.rint(at + points).astype(int), 0, [w - 1, h - 1])
        means.append(np.median(image[px[:, 1], px[:, 0]].astype(np.float32), axis=0))
    return float(np.abs(means[0] - means[1]).max())


def gather(folder: Path) -> tuple[list[Crop], list[Crop]]:
    """Cut out all faces that are seen whole; gives the easy and the hard ones."""
    easy: list[Crop] = []
    hard: list[Crop] = []
    for name in sorted(folder.glob("*.json")):
        image = np.asarray(cv2.imread(str(name.with_suffix(".jpg"))))
        truth = json.loads(name.read_text())
        h, w = image.shape[:2]
        pyramid = Pyramid(image)
        frames = [frame_of(d["corners"]) for d in truth["dice"]]
        for die, frame in zip(truth["dice"], frames, strict=True):
            inside = 0 <= frame.centre.real < w and 0 <= frame.centre.imag < h
            if die["state"] in ("covered", "moving") or die["seen"] < 0.9 or not inside:
                continue
            pips = np.asarray(die["pips"], float).reshape(-1, 2)
            shown = np.array([_contrast(image, at, die["radius"]) for at in pips])
            basis = np.array(
                [
                    [frame.across.real, frame.along.real],
                    [frame.across.imag, frame.along.imag],
                ]
            )
            middle = np.array([frame.centre.real, frame.centre.imag])
            flat = (pips - middle) @ np.linalg.inv(basis).T
            crop = Crop(pyramid.lay_flat(frame, WIDE, FACE), flat, shown >= HIDDEN)
            lit = die.get("glare", 0.0) > 0.05 or (len(shown) and shown.min() < LIT)
            (hard if lit else easy).append(crop)
        at = np.random.default_rng([6, int(name.stem)]).uniform(0, [w, h])
        bare = int(name.stem) % 4 == 0 and frames
        if bare and all(abs(complex(*at) - f.centre) > 1.3 * f.edge for f in frames):
            ground = Frame(complex(*at), frames[0].across, frames[0].along)
            easy.append(Crop(pyramid.lay_flat(ground, WIDE, FACE), np.zeros((0, 2)), np.zeros(0)))
    return easy, hard


def sweep(rng: np.random.Generator, picture: Any) -> Any:
    """Lay a sheet of light over a picture, stronger to one side; a part of contrasts stays."""
    angle, level = rng.uniform(0, 2 * np.pi), rng.uniform(0, MOST_SWEPT)
    slope = rng.uniform(0, 2.0) / SIDE
    xs, ys = np.meshgrid(np.arange(SIDE) - SIDE / 2, np.arange(SIDE) - SIDE / 2)
    share = level + slope * (np.cos(angle) * xs + np.sin(angle) * ys)
    share = np.clip(share, 0, MOST_SWEPT)[..., None].astype(np.float32)
    light = np.float32(rng.uniform(200, 255)) * (1 + rng.normal(0, 0.04, 3).astype(np.float32))
    return np.clip(picture + share * (light - picture), 0, 255).astype(np.uint8)


def example(rng: np.random.Generator, crop: Crop) -> tuple[Any, Any, Any]:
    """Give one example: picture (3, SIDE, SIDE), marks and weights (GRID, GRID)."""
    turn = np.eye(2)
    for _ in range(int(rng.integers(4))):
        turn = turn @ np.array([[0, -1.0], [1, 0]])
    if rng.random() < 0.5:
        turn = turn @ np.array([[-1.0, 0], [0, 1]])
    far = rng.choice([0.3, 1.0])
    a = rng.normal(0, 0.05 * far)
    off = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    off = off * np.exp(rng.normal(0, 0.05 * far)) @ (np.eye(2) + rng.normal(0, 0.03 * far, (2, 2)))
    m = turn @ off
    shift = rng.normal(0, 0.05 * far, 2)
    matrix = np.zeros((2, 3))
    matrix[:, :2] = m
    matrix[:, 2] = (WIDE - 1) / 2 + shift * FACE / 2 - m @ np.full(2, (SIDE - 1) / 2)
    x = cv2.warpAffine(
        crop.picture,
        matrix,
        (SIDE, SIDE),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    if rng.random() < SWEPT:
        x = sweep(rng, x)
    x = colour_change(rng, x)
    back = np.linalg.inv(m)
    cells = np.arange(GRID) * STRIDE + (STRIDE - 1) / 2
    xs, ys = np.meshgrid(cells, cells)
    face = np.stack([xs, ys], -1) - (SIDE - 1) / 2
    face = (face @ m.T - shift * FACE / 2) * 2 / FACE
    keep = (np.abs(face).max(-1) < WITHIN).astype(np.float32)
    marks = np.zeros((GRID, GRID), np.float32)
    for pip, shows in zip(crop.pips, crop.shows, strict=True):
        at = back @ ((pip + shift) * FACE / 2) + (SIDE - 1) / 2
        d2 = ((xs - at[0]) ** 2 + (ys - at[1]) ** 2) / STRIDE**2
        if not shows:
            keep[d2 < 9] = 0
            continue
        mark = np.exp(-d2 / (2 * SPREAD**2))
        mark[mark >= mark.max() - 1e-6] = 1.0
        marks = np.maximum(marks, mark.astype(np.float32))
    return x.transpose(2, 0, 1), marks, keep


def loss_of(y: Any, marks: Any, keep: Any) -> Any:
    """Give the training loss: focal, over the face only."""
    p = torch.sigmoid(y[:, 0]).clamp(1e-5, 1 - 1e-5)
    peak = (marks > 0.999).float() * keep
    other = (1 - peak) * keep
    focal = peak * (1 - p) ** 2 * torch.log(p)
    focal = focal + other * (1 - marks) ** 4 * p**2 * torch.log(1 - p)
    return -focal.sum() / peak.sum().clamp(min=1)


def train(folder: Path, out: Path, steps: int) -> None:
    """Train for that many steps, then export. Seeded like the other networks' training."""
    torch.manual_seed(4)
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    rng = np.random.default_rng(4)
    model = PipMap()
    mean = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(MEMORY), use_buffers=True)
    model = model.to(memory_format=torch.channels_last).train()
    kinds = gather(folder)
    print([len(k) for k in kinds], "faces", flush=True)
    course = Course(model, mean, steps, 3e-3, 3e-4)
    for _ in range(steps):
        picks = [kinds[k][rng.integers(len(kinds[k]))] for k in rng.integers(2, size=BATCH)]
        x, marks, keep = (
            torch.from_numpy(np.stack(v).astype(np.float32))
            for v in zip(*(example(rng, crop) for crop in picks), strict=True)
        )
        y = model(x.contiguous(memory_format=torch.channels_last))
        course.learn(loss_of(y, marks, keep))
    torch.save(mean.module.state_dict(), out.with_suffix(".pt"))
    torch.onnx.export(
        mean.module.eval(),
        (torch.zeros(1, 3, SIDE, SIDE),),
        str(out),
        dynamo=False,
        opset_version=13,
        input_names=["faces"],
        output_names=["pips"],
        dynamic_axes={"faces": {0: "n"}, "pips": {0: "n"}},
    )
    halve(out)


if __name__ == "__main__":
    train(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
