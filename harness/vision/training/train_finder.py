"""Trains the finder.

`python -m harness.vision.training.train_finder PICTURES OUT.onnx STEPS [START.pt]`

Needs torch, onnx and numba besides the project (see README.md here). Uses nothing but pictures made
by `make_pictures`.
"""

# mypy: disable-error-code="import-not-found,misc,no-any-return,arg-type,call-overload"
# mypy: disable-error-code="import-untyped,assignment,untyped-decorator"
# Training only: torch and numba bring no types into the project's environment.

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import torch
from torch import nn
from torch.nn import functional as fn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from harness.vision.training.course import Course
from harness.vision.training.frames import describe

WIDTH, HEIGHT, STRIDE = 320, 240, 8
SIDE = 160
"""Side (px) of the parts of pictures that are learnt from."""
ABOUT_A_DIE = 0.85
"""How often a part lies about a die rather than anywhere."""
BATCH, AMISS = 40, 14
"""Examples a step; how many of them come of pictures in which something is amiss."""
MEMORY = 0.998
"""Of the running mean of the weights, which is what is kept in the end."""
STATES = ("flat", "leaning", "stacked_top", "under", "blank", "moving")
CHANNELS = 1 + 1 + 2 + 1 + 4 + 2 + 6 + 6
"""die, chip, centre offset, log size, frame, foot, state, value."""


_GRAIN = np.random.default_rng(3).standard_normal(1 << 20).astype(np.float32)


def block(i: int, o: int, stride: int = 1) -> nn.Sequential:
    """Give convolution, normalisation, rectifier."""
    return nn.Sequential(nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU())


class Residual(nn.Module):
    """Two convolutions around which the input is added."""

    def __init__(self, c: int) -> None:
        super().__init__()
        self.a = block(c, c)
        self.b = nn.Sequential(nn.Conv2d(c, c, 3, 1, 1, bias=False), nn.BatchNorm2d(c))

    def forward(self, x: Any) -> Any:
        """Run."""
        return torch.relu(x + self.b(self.a(x)))


class Finder(nn.Module):
    """(n, 3, h, w) picture at half size to (n, CHANNELS, h / 8, w / 8)."""

    def __init__(self) -> None:
        super().__init__()
        self.near = nn.Sequential(block(3, 16, 2), block(16, 32, 2), block(32, 48, 2), Residual(48))
        self.far = nn.Sequential(block(48, 72, 2), Residual(72), Residual(72))
        self.up = nn.Conv2d(72, 48, 1)
        self.head = nn.Sequential(block(48, 56), nn.Conv2d(56, CHANNELS, 1))
        nn.init.constant_(self.head[1].bias[:2], -3.0)

    def forward(self, x: Any) -> Any:
        """Run."""
        near = self.near(x)
        far = fn.interpolate(self.up(self.far(near)), scale_factor=2, mode="nearest")
        return self.head(near + far)


def load(folder: Path) -> list[tuple[Any, Any]]:
    """Read all pictures of a folder at half size with their truth, in the order of numbers."""
    out = []
    for name in sorted(folder.glob("*.json")):
        image = cv2.imread(str(name.with_suffix(".jpg")))
        image = cv2.resize(image, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
        out.append((image, json.loads(name.read_text())))
    return out


def colour_change(rng: np.random.Generator, image: Any) -> Any:
    """Vary colours, exposure, blur and noise of an 8-bit picture; gives float32 0 to 1."""
    if rng.random() < 0.25:
        image = image[..., rng.permutation(3)]
    if rng.random() < 0.12:
        image = cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)
    ramp = np.linspace(0, 1, 256)[:, None]
    gain = np.exp(rng.normal(0, 0.12, 3)) * np.exp(rng.normal(0, 0.25))
    lift = abs(rng.normal(0, 0.05))
    ramp = lift + (1 - lift) * np.clip(ramp * gain, 0, 1) ** np.exp(rng.normal(0, 0.2))
    table = (ramp * 255).round().astype(np.uint8)[None]
    image = cv2.LUT(np.ascontiguousarray(image), table)
    if rng.random() < 0.2:
        image = cv2.GaussianBlur(image, (0, 0), rng.uniform(0.3, 1.0))
    x = image.astype(np.float32)
    if rng.random() < 0.4:
        at = int(rng.integers(0, _GRAIN.size - x.size))
        x += _GRAIN[at : at + x.size].reshape(x.shape) * np.float32(rng.uniform(0, 10))
        np.clip(x, 0, 255, out=x)
    return x * np.float32(1 / 255)


def sample(rng: np.random.Generator, image: Any, truth: Any) -> tuple[Any, ...]:
    """Give one example, a part of a picture turned and zoomed, mostly about a die.

    Picture (3, SIDE, SIDE), targets and weights on the grid.
    """
    angle, zoom = rng.uniform(0, 360), np.exp(rng.uniform(np.log(0.75), np.log(1.5)))
    at = np.array([rng.uniform(0, WIDTH), rng.uniform(0, HEIGHT)])
    if truth["dice"] and rng.random() < ABOUT_A_DIE:
        die = truth["dice"][rng.integers(len(truth["dice"]))]
        at = (np.asarray(die["centre"]) + 0.5) / 2 - 0.5
    m = cv2.getRotationMatrix2D(tuple(float(v) for v in at), angle, zoom)
    m[:, 2] += SIDE / 2 - at + rng.uniform(-50, 50, 2)
    if rng.random() < 0.5:
        m[0] *= -1
        m[0, 2] += SIDE - 1
    border = [cv2.BORDER_REPLICATE, cv2.BORDER_CONSTANT][rng.integers(2)]
    x = cv2.warpAffine(
        image,
        m,
        (SIDE, SIDE),
        flags=cv2.INTER_LINEAR,
        borderMode=border,
        borderValue=[float(v) for v in rng.uniform(0, 255, 3)],
    )
    x = colour_change(rng, x)
    gh = gw = SIDE // STRIDE
    heat = np.zeros((2, gh, gw), np.float32)
    keep = np.ones((gh, gw), np.float32)
    target = np.zeros((9, gh, gw), np.float32)
    state = np.full((gh, gw), -1, np.int64)
    value = np.full((gh, gw), -1, np.int64)
    closest = np.full((gh, gw), 1e9, np.float32)
    ys, xs = np.mgrid[0:gh, 0:gw]
    for die in truth["dice"]:
        corners = (np.asarray(die["corners"]) + 0.5) / 2 - 0.5
        corners = corners @ m[:, :2].T + m[:, 2]
        foot = ((np.asarray(die["foot"]) + 0.5) / 2 - 0.5) @ m[:, :2].T + m[:, 2]
        centre, size, frame = describe(corners)
        cx, cy = (centre.real + 0.5) / STRIDE - 0.5, (centre.imag + 0.5) / STRIDE - 0.5
        if not (-2 < cx < gw + 1 and -2 < cy < gh + 1):
            continue
        sigma = float(np.clip(size * 2 / STRIDE * 0.16, 0.55, 1.4))
        d2 = (xs - cx) ** 2 + (ys - cy) ** 2
        bump = np.exp(-d2 / (2 * sigma * sigma))
        if (die["state"] == "under" and die["seen"] < 0.15) or die["body"] < 0.25:
            keep[bump > 0.1] = 0
            continue
        inside = -0.3 < cx < gw - 0.7 and -0.3 < cy < gh - 0.7
        if not inside:
            keep[bump > 0.1] = 0
            continue
        px, py = int(np.clip(round(cx), 0, gw - 1)), int(np.clip(round(cy), 0, gh - 1))
        bump[py, px] = 1.0
        heat[0] = np.maximum(heat[0], bump)
        mine = (d2 < max(1.1, (0.5 * size * 2 / STRIDE * 0.7) ** 2)) & (d2 < closest) & (d2 < 9)
        mine[py, px] = True
        closest[mine] = d2[mine]
        target[0][mine] = (cx - xs)[mine]
        target[1][mine] = (cy - ys)[mine]
        target[2][mine] = np.log(size / 16)
        for i in range(4):
            target[3 + i][mine] = frame[i]
        shift = (foot - [centre.real, centre.imag]) / size
        target[7][mine], target[8][mine] = shift
        name = {"covered": "blank", "cut": "flat"}.get(die["state"], die["state"])
        state[mine] = STATES.index(name) if name in STATES else -1
        if name == "flat" and die["seen"] < 0.55:
            state[mine] = STATES.index("blank") if die["seen"] < 0.25 else -1
        if name in ("flat", "leaning", "tilted", "stacked_top") and die["seen"] > 0.55:
            value[mine] = die["value"] - 1
    for chip_x, chip_y, diameter in truth["chips"]:
        at = ((np.array([chip_x, chip_y]) + 0.5) / 2 - 0.5) @ m[:, :2].T + m[:, 2]
        cx, cy = (at + 0.5) / STRIDE - 0.5
        sigma = max(0.7, diameter / 2 * zoom / STRIDE * 0.2)
        heat[1] = np.maximum(heat[1], np.exp(-((xs - cx) ** 2 + (ys - cy) ** 2) / (2 * sigma**2)))
    return x.transpose(2, 0, 1), heat, keep, target, state, value, (closest < 1e8)


def loss_of(y: Any, heat: Any, keep: Any, target: Any, state: Any, value: Any, mine: Any) -> Any:
    """Give the training loss: focal for the heat, L1 for the frame, cross entropy for classes."""
    p = torch.sigmoid(y[:, :2]).clamp(1e-5, 1 - 1e-5)
    peak = (heat > 0.999).float()
    k = torch.stack([keep, torch.ones_like(keep)], 1)
    focal = (
        -(
            peak * (1 - p) ** 2 * torch.log(p)
            + (1 - peak) * (1 - heat) ** 4 * p**2 * torch.log(1 - p)
        )
        * k
    )
    n = peak.sum().clamp(min=1)
    m = mine.float()
    near = fn.smooth_l1_loss(y[:, 2:11], target, reduction="none", beta=0.1)
    weight = torch.tensor([1.0, 1, 2, 1, 1, 1, 1, 1, 1]).view(1, 9, 1, 1)
    box = (near * weight * m[:, None]).sum() / m.sum().clamp(min=1)
    rare = torch.tensor([0.5, 1.5, 3.0, 2.0, 2.0, 3.0])
    classes = fn.cross_entropy(y[:, 11:17], state, weight=rare, ignore_index=-1)
    values = fn.cross_entropy(y[:, 17:23], value, ignore_index=-1)
    return focal.sum() / n + 0.7 * box + 0.5 * classes + 0.4 * values


def export(model: nn.Module, path: Path) -> None:
    """Write the network with free picture size."""
    model.eval()
    axes = {"picture": {2: "h", 3: "w"}, "grid": {2: "h", 3: "w"}}
    torch.onnx.export(
        model,
        (torch.zeros(1, 3, HEIGHT, WIDTH),),
        str(path),
        dynamo=False,
        opset_version=13,
        input_names=["picture"],
        output_names=["grid"],
        dynamic_axes=axes,
    )


def train(folder: Path, out: Path, steps: int, start: Path | None) -> None:
    """Train for that many steps on the pictures of a folder, then export.

    Seeded: the same steps, pictures, versions and processor give the same weights. README.md says
    how far that holds of the committed ones.
    """
    torch.manual_seed(1)
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    rng = np.random.default_rng(1)
    model = Finder()
    if start is not None:
        model.load_state_dict(torch.load(start))
    mean = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(MEMORY), use_buffers=True)
    model = model.to(memory_format=torch.channels_last).train()
    rate = 2.5e-3 if start is None else 1.5e-3
    known = load(folder)
    amiss = [i for i, (_, t) in enumerate(known) if any(d["state"] != "flat" for d in t["dice"])]
    course = Course(model, mean, steps, rate, 1e-4)
    for step in range(steps):
        picks = [*rng.integers(len(known), size=BATCH - AMISS), *rng.choice(amiss, AMISS)]
        batch = [sample(rng, *known[i]) for i in picks]
        x, *rest = (torch.from_numpy(np.stack(v)) for v in zip(*batch, strict=True))
        y = model(x.contiguous(memory_format=torch.channels_last))
        course.learn(loss_of(y, *rest))
        if step % 1000 == 999:
            torch.save(mean.module.state_dict(), out.with_suffix(".pt"))
    torch.save(mean.module.state_dict(), out.with_suffix(".pt"))
    export(mean.module, out)


if __name__ == "__main__":
    train(
        Path(sys.argv[1]),
        Path(sys.argv[2]),
        int(sys.argv[3]),
        Path(sys.argv[4]) if len(sys.argv) > 4 else None,
    )
