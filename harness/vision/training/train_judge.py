"""Trains the judge and the stance.

`python -m harness.vision.training.train_judge judge|stance PICTURES OUT.onnx STEPS [START.pt]`

The judge looks at one flattened face with its surroundings. It learns from faces whose frames are
slightly off, and from what is no top face: sides, halves of faces, chips, prints, bare ground. The
stance is a second such network that sees more of the surroundings, of faces whose frames the judge
has set right, and learns above all how dice stand.
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
from harness.vision.training.train_finder import MEMORY, Residual, block, colour_change

HIDDEN = 8.0
"""Grey levels of its faintest pip below which a face is taken for hidden by light."""
STATES = ("flat", "leaning", "stacked", "obstructed", "moving", "nothing")
_NAMES = {
    "flat": 0,
    "cut": 0,
    "leaning": 1,
    "stacked_top": 2,
    "under": 3,
    "blank": 3,
    "covered": 3,
    "moving": 4,
}


@dataclass(frozen=True)
class Sight:
    """What a network sees of a face, and what it is to learn.

    `side` is that of its input, `face` that of the face in it, `wide` of what is kept to cut it
    from (px); `last` the width of its last layer; `off` how far frames are off; `way` what the foot
    weighs; `shares` how often each state is shown: not sure which, then as in `STATES`.
    """

    side: int
    face: float
    wide: int
    last: int
    off: tuple[float, float]
    way: float
    shares: tuple[float, ...]


JUDGE = Sight(64, 36.0, 96, 96, (0.6, 2.2), 0.2, (0.04, 0.38, 0.24, 0.08, 0.08, 0.06, 0.12))
STANCE = Sight(80, 34.0, 104, 40, (0.3, 1.0), 1.0, (0.06, 0.38, 0.34, 0.06, 0.08, 0.04, 0.04))
OUTPUTS = 6 + 6 + 6 + 2 + 1
"""value, state, frame correction, foot, logarithm of the foot's doubt."""


class Judge(nn.Module):
    """(n, 3, side, side) flattened faces to (n, OUTPUTS)."""

    def __init__(self, sight: Sight) -> None:
        super().__init__()
        self.look = nn.Sequential(
            block(3, 20, 2),
            block(20, 32, 2),
            Residual(32),
            block(32, 64, 2),
            Residual(64),
            block(64, sight.last, 2),
        )
        self.say = nn.Sequential(
            nn.Flatten(),
            nn.Dropout(0.0),
            nn.Linear(sight.last * (sight.side // 16) ** 2, 128),
            nn.ReLU(),
            nn.Linear(128, OUTPUTS - 1),
        )
        self.doubt = nn.Linear(128, 1)

    def forward(self, x: Any) -> Any:
        """Run."""
        seen = self.say[:4](self.look(x))
        return torch.cat([self.say[4](seen), self.doubt(seen)], 1)


def frame_of(corners: Any) -> Frame:
    """Give a face's frame from its four corners (4, 2), px."""
    c = np.asarray(corners, float) @ np.array([1, 1j])
    return Frame(
        complex(c.mean()),
        complex((c[1] - c[0] + c[2] - c[3]) / 4),
        complex((c[3] - c[0] + c[2] - c[1]) / 4),
    )


Crop = tuple[Any, int, int, complex]
"""Picture (96, 96, 3), value less 1 or -1, state or -1, foot in face coordinates (a + ib)."""


def _crop(
    pyramid: Pyramid, frame: Frame, value: int, state: int, foot: complex, sight: Sight
) -> Crop:
    u, v = frame.across, frame.along
    area = (u.conjugate() * v).imag
    a = (foot.conjugate() * v).imag / area if area else 0.0
    b = (u.conjugate() * foot).imag / area if area else 0.0
    return pyramid.lay_flat(frame, sight.wide, sight.face), value, state, complex(a, b)


def crops_of(image: Any, truth: Any, rng: np.random.Generator, sight: Sight) -> list[Crop]:
    """Cut faces and what is none out of one picture."""
    pyramid = Pyramid(image)
    h, w = image.shape[:2]
    out: list[Crop] = []
    frames = [frame_of(d["corners"]) for d in truth["dice"]]

    def free(at: complex, room: float) -> bool:
        return all(abs(at - f.centre) > room * f.edge for f in frames)

    for die, frame in zip(truth["dice"], frames, strict=True):
        foot = complex(*die["foot"]) - frame.centre
        if not (0 <= frame.centre.real < w and 0 <= frame.centre.imag < h) or die["body"] < 0.25:
            continue
        state = _NAMES.get(die["state"], -1)
        if die["state"] == "under" and die["seen"] > 0.7:
            state = 0
        if state == 0 and die["seen"] < 0.55:
            state = 3 if die["seen"] < 0.3 else -1
        if state == 0 and die.get("shown", HIDDEN) < HIDDEN:
            state = 3
        readable = state in (0, 1, 2, -1) and die["seen"] > 0.6
        readable &= die.get("shown", HIDDEN) >= HIDDEN
        out.append(_crop(pyramid, frame, die["value"] - 1 if readable else -1, state, foot, sight))
        kind = rng.integers(4)
        u, v = frame.across, frame.along
        if kind == 0 and abs(foot) > 0.35 * frame.edge:
            # One of the sides that face the camera, taken for a top.
            side = max((u, v, -u, -v), key=lambda s: (s.conjugate() * foot).real)
            other = v if side in (u, -u) else u
            fake = Frame(frame.centre + side + foot / 2, other, foot / 2)
            out.append(_crop(pyramid, fake, -1, 5, 0j, sight))
        elif kind == 1:
            at = (
                frame.centre
                + rng.choice([-1, 1]) * rng.uniform(0.6, 1.6) * u
                + rng.uniform(-1, 1) * v
            )
            if free(at, 0.33):
                out.append(_crop(pyramid, Frame(at, u, v), -1, 5, 0j, sight))
        elif kind == 2:
            k = rng.choice([0.4, 0.5, 1.7, 2.2])
            out.append(_crop(pyramid, Frame(frame.centre, u * k, v * k), -1, 5, 0j, sight))
    size = np.median([f.edge for f in frames]) if frames else np.exp(rng.uniform(3.4, 5))
    spots = [complex(x, y) for x, y, _ in truth["chips"]]
    spots += [complex(rng.uniform(0, w), rng.uniform(0, h)) for _ in range(2)]
    for at in spots:
        if free(at, 0.6):
            u = complex(np.exp(1j * rng.uniform(0, 6.28))) * size * rng.uniform(0.35, 0.7)
            out.append(_crop(pyramid, Frame(at, u, u * 1j), -1, 5, 0j, sight))
    return out


def gather(folder: Path, sight: Sight) -> list[Crop]:
    """Cut the crops of all pictures of a folder."""
    out: list[Crop] = []
    for name in sorted(folder.glob("*.json")):
        image = cv2.imread(str(name.with_suffix(".jpg")))
        truth = json.loads(name.read_text())
        out += crops_of(image, truth, np.random.default_rng([5, int(name.stem)]), sight)
    return out


def example(
    rng: np.random.Generator, crop: Crop, sight: Sight, still: bool = False
) -> tuple[Any, ...]:
    """Give one example: picture (3, side, side), value, state, frame correction (6), foot (2).

    The picture is the face drawn with a frame that is off: centre shift c, matrix m in face
    coordinates. The correction is what takes the wrong frame to the right one.
    """
    wide, value, state, foot = crop
    turn = np.array([[1.0, 0], [0, 1]])
    for _ in range(int(rng.integers(4))):
        turn = turn @ np.array([[0, -1.0], [1, 0]])
    if rng.random() < 0.5:
        turn = turn @ np.array([[-1.0, 0], [0, 1]])
    off, shift = np.eye(2), np.zeros(2)
    if not still:
        # As far off as the finder's frames, or as little as those set right already.
        far = rng.choice(sight.off)
        a = rng.normal(0, 0.06 * far)
        off = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) * np.exp(
            rng.normal(0, 0.06 * far)
        )
        off = off @ (np.eye(2) + rng.normal(0, 0.035 * far, (2, 2)))
        shift = rng.normal(0, 0.07 * far, 2)
    m = turn @ off
    # Wide picture px = middle + face/2 * (m @ face + turn @ shift).
    matrix = np.zeros((2, 3))
    matrix[:, :2] = m
    middle = np.full(2, (sight.wide - 1) / 2) + turn @ shift * sight.face / 2
    matrix[:, 2] = middle - m @ np.full(2, (sight.side - 1) / 2)
    x = cv2.warpAffine(
        wide,
        matrix,
        (sight.side, sight.side),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    x = x.astype(np.float32) / 255 if still else colour_change(rng, x)
    back = np.linalg.inv(off)
    correction = np.r_[(back - np.eye(2)).ravel(), back @ -shift]
    way = np.linalg.inv(m) @ [foot.real, foot.imag]
    return (
        x.transpose(2, 0, 1),
        value,
        state,
        correction.astype(np.float32),
        np.clip(way, -3, 3).astype(np.float32),
    )


def loss_of(y: Any, value: Any, state: Any, correction: Any, foot: Any, weight: float) -> Any:
    """Give the training loss; `weight` is the foot's."""
    real = (state != 5).float()[:, None]
    n = real.sum().clamp(min=1)
    values = fn.cross_entropy(y[:, :6], value, ignore_index=-1)
    states = fn.cross_entropy(y[:, 6:12], state, ignore_index=-1)
    fit = fn.smooth_l1_loss(y[:, 12:18], correction, reduction="none", beta=0.05) * real
    # The foot's error has the density exp(-|error| / doubt) / doubt^2: the doubt is learnt with it.
    doubt = y[:, 20:21].clamp(-4.5, 1)
    off = (y[:, 18:20] - foot).norm(dim=1, keepdim=True)
    way = (off * torch.exp(-doubt) + 2 * doubt) * real
    return values + states + 3 * fit.sum() / n + weight * way.sum() / n


def train(sight: Sight, folder: Path, out: Path, steps: int, start: Path | None) -> None:
    """Train for that many steps, from given weights or anew, then export.

    Seeded: the same steps, pictures, versions and processor give the same weights. README.md says
    how far that holds of the committed ones.
    """
    torch.manual_seed(2)
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    rng = np.random.default_rng(2)
    model = Judge(sight)
    if start is not None:
        known, own = torch.load(start), model.state_dict()
        own.update({k: v for k, v in known.items() if v.shape == own[k].shape})
        model.load_state_dict(own)
    mean = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(MEMORY), use_buffers=True)
    model = model.to(memory_format=torch.channels_last).train()
    rate = 2e-3 if start is None else 1e-3
    crops = gather(folder, sight)
    of_state = [[i for i, c in enumerate(crops) if c[2] == s] for s in (-1, *range(6))]
    print([len(s) for s in of_state], "crops", flush=True)
    course = Course(model, mean, steps, rate, 3e-4)
    for step in range(steps):
        picks = [
            of_state[s][rng.integers(len(of_state[s]))] for s in rng.choice(7, 64, p=sight.shares)
        ]
        batch = [example(rng, crops[i], sight) for i in picks]
        x, value, state, correction, foot = (
            torch.from_numpy(np.stack(v)) for v in zip(*batch, strict=True)
        )
        y = model(x.contiguous(memory_format=torch.channels_last))
        course.learn(loss_of(y, value, state, correction, foot, sight.way))
        if step % 1000 == 999:
            torch.save(mean.module.state_dict(), out.with_suffix(".pt"))
    torch.save(mean.module.state_dict(), out.with_suffix(".pt"))
    model = mean.module.eval()
    torch.onnx.export(
        model,
        (torch.zeros(1, 3, sight.side, sight.side),),
        str(out),
        dynamo=False,
        opset_version=13,
        input_names=["faces"],
        output_names=["judged"],
        dynamic_axes={"faces": {0: "n"}, "judged": {0: "n"}},
    )


if __name__ == "__main__":
    train(
        {"judge": JUDGE, "stance": STANCE}[sys.argv[1]],
        Path(sys.argv[2]),
        Path(sys.argv[3]),
        int(sys.argv[4]),
        Path(sys.argv[5]) if len(sys.argv) > 5 else None,
    )
