"""Judges flattened faces: small networks tell value and state, and correct the frame.

They are the second of the two readings and share nothing with `harness.vision.pips` but the frame.
The judge looks at a face as found and sets its frame right; the stance then sees more of what is
about the face, and how the die stands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from harness.vision.faces import Floats, Frame, Pyramid
from harness.vision.network import Network
from harness.vision.plumb import Upright

STATES = ("flat", "leaning", "stacked", "obstructed", "moving", "nothing")
APART = 0.06
"""What the square of how far two looks' feet lie apart adds to the square of their doubt."""
_FOLDER = Path(__file__).with_name("weights")


@dataclass(frozen=True, slots=True)
class Sight:
    """What a network sees: `side` of its input, `face` of the face in it (px).

    `usual` is how often each of `STATES` is met, relative to how often it was shown in training.
    """

    weights: Path
    side: int
    face: float
    usual: tuple[float, ...]


JUDGE = Sight(_FOLDER / "judge.onnx", 64, 36.0, (2.1, 0.4, 0.4, 0.6, 0.6, 0.6))
STANCE = Sight(_FOLDER / "stance.onnx", 80, 34.0, (2.1, 0.3, 0.5, 0.6, 1.0, 1.0))


@dataclass(frozen=True, slots=True)
class Judged:
    """One face judged: chances of the values 1 to 6 and of `STATES`, the frame set right.

    `foot` leads from the top face's centre to the bottom face's, px; `doubt` is how far off it may
    be, px.
    """

    values: tuple[float, ...]
    states: tuple[float, ...]
    frame: Frame
    foot: complex
    doubt: float = 0.0

    @property
    def value(self) -> int:
        """The likeliest value, 1 to 6."""
        return self.values.index(max(self.values)) + 1

    @property
    def upright(self) -> Upright:
        """The die's upright edge."""
        return Upright(self.frame, self.foot, self.doubt)

    @property
    def state(self) -> str:
        """The likeliest of `STATES`."""
        return STATES[self.states.index(max(self.states))]


def _chances(logits: Floats) -> Floats:
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True), np.float32)


class Judge:
    """Looks at faces. Holds a network; one per thread."""

    def __init__(self, sight: Sight = JUDGE) -> None:
        self._sight = sight
        self._usual = np.log(np.asarray(sight.usual, np.float32))
        self._network = Network(sight.weights)

    def judge(self, pyramid: Pyramid, frames: Sequence[Frame]) -> list[Judged]:
        """Judge each face, all in one go."""
        if not frames:
            return []
        sight = self._sight
        flats = [pyramid.lay_flat(frame, sight.side, sight.face) for frame in frames]
        out = self._network.run(flats)
        values = _chances(out[:, :6]).tolist()
        states = _chances(out[:, 6:12] + self._usual).tolist()
        corrections = np.clip(out[:, 12:18], -0.4, 0.4).tolist()
        return [
            Judged(
                tuple(values[k]),
                tuple(states[k]),
                _set_right(frame, corrections[k]),
                a * frame.across + b * frame.along,
                math.exp(min(doubt, 1.0)) * frame.edge / 2,
            )
            for k, (frame, (a, b, doubt)) in enumerate(
                zip(frames, out[:, 18:21].tolist(), strict=True)
            )
        ]


class TwoLooks:
    """Looks at faces twice: the judge sets frames right, the stance looks again."""

    def __init__(self) -> None:
        self._judge, self._stance = Judge(JUDGE), Judge(STANCE)

    def look(
        self, pyramid: Pyramid, frames: Sequence[Frame], mirrored: bool = False
    ) -> list[Judged]:
        """Judge each face, then again with its frame set right and turned by a quarter.

        Chances are the means of both looks: what only one of them sees does not count for sure.
        Faces may be looked at `mirrored`, to see them another way than before.
        """
        if mirrored:
            frames = [Frame(f.centre, -f.across, f.along) for f in frames]
        first = self._judge.judge(pyramid, frames)
        second = self.stand(
            pyramid, [Frame(j.frame.centre, j.frame.along, -j.frame.across) for j in first]
        )
        return [_joined(a, b) for a, b in zip(first, second, strict=True)]

    def stand(self, pyramid: Pyramid, frames: Sequence[Frame]) -> list[Judged]:
        """Look at faces whose frames are right already: how do the dice stand?"""
        return self._stance.judge(pyramid, frames)


def _joined(first: Judged, second: Judged) -> Judged:
    """Join the judge's and the stance's look at a face."""

    def mean(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, ...]:
        return tuple((x + y) / 2 for x, y in zip(a, b, strict=True))

    return Judged(
        mean(first.values, second.values),
        mean(first.states, second.states),
        second.frame,
        (first.foot + second.foot) / 2,
        math.sqrt(
            (first.doubt**2 + second.doubt**2) / 2 + APART * abs(first.foot - second.foot) ** 2
        ),
    )


def _set_right(frame: Frame, c: Sequence[float]) -> Frame:
    """Apply a correction in face coordinates: a matrix (less unity) and a shift."""
    across = frame.across * (1 + c[0]) + frame.along * c[2]
    along = frame.across * c[1] + frame.along * (1 + c[3])
    centre = frame.centre + frame.across * c[4] + frame.along * c[5]
    return Frame(centre, across, along)
