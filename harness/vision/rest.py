"""Rest and motion: dice are read only once they lie still, and a toss is proper or it is not."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import cv2
import numpy as np

from harness.vision.faces import Picture
from harness.vision.readings import DiceReading, DieSeen

FRAMES = 3
"""Frames over which the dice must lie still."""
STILL = 0.06
"""Part of an edge by which a resting die may seem to wander between frames."""
LEAST_MOVE = 0.25
"""Part of an edge that counts as visible motion of a die."""
LEAST_TURN = 0.12
"""The same for the corners of a die that turned where it lies, once motion was seen."""
CHANGED = 14
"""Grey levels by which a pixel must change to count as changed between frames."""
QUIET = 0.01
"""Part of the dice's own area that may change between frames at rest (noise, a lamp's flicker)."""

UNCHANGED = QUIET / 20
"""Part of a picture without legible dice that may change while nothing in it moves."""


@dataclass(frozen=True, slots=True)
class Watched:
    """One frame as watched: its time (monotonic s), its reading, the part of it that changed."""

    at: float
    reading: DiceReading
    changed: float


@dataclass(frozen=True, slots=True)
class Toss:
    """A toss judged: proper when every die visibly moved, came to rest flat, unstacked and legible.

    `moved` are, per die at rest (in the order of its reading), how far it lies from the nearest die
    before the toss, in edges; `changed` the greatest part of the dice area that changed between two
    frames; `why_not` says what was not proper, empty if proper.
    """

    proper: bool
    moved: tuple[float, ...]
    changed: float
    why_not: tuple[str, ...]


class RestWatch:
    """Fed frames with their readings, tells when the dice lie still.

    `stimulus_at` (monotonic s): frames that are not newer do not count. At rest, over `frames`
    frames, the number of dice holds, no die wanders by more than `STILL` edges, and hardly a pixel
    of the dice changes.
    """

    def __init__(self, stimulus_at: float, frames: int = FRAMES) -> None:
        self._after = stimulus_at
        self._frames = frames
        self._last: Picture | None = None
        self._recent: deque[Watched] = deque(maxlen=frames)
        self._most_changed = 0.0
        self._moving_seen = False

    def feed(self, image: Picture, at: float, reading: DiceReading) -> bool:
        """Take one frame (BGR) with its reading; True once the dice are at rest."""
        small = np.asarray(cv2.resize(image, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA))
        grey = np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), np.uint8)
        changed = 1.0
        if self._last is not None and self._last.shape == grey.shape:
            changed = _changed_part(self._last, grey, reading)
        self._last = grey
        if at <= self._after:
            return False
        if self._recent:
            self._most_changed = max(self._most_changed, changed)
        if reading.reason in ("moving", "blurred"):
            self._moving_seen = True
        self._recent.append(Watched(at, reading, changed))
        return self.at_rest

    @property
    def at_rest(self) -> bool:
        """Tell whether the last frames show the dice at rest."""
        if len(self._recent) < self._frames:
            return False
        first = self._recent[0].reading
        for n, watched in enumerate(self._recent):
            if watched.reading.reason in ("moving", "blurred"):
                return False
            if n and (watched.changed > QUIET or not _hold(first, watched.reading)):
                return False
        return True

    @property
    def reading(self) -> DiceReading | None:
        """Give what all frames at rest agree on; a disagreement among them is a refusal.

        None while the dice are not at rest.
        """
        if not self.at_rest:
            return None
        return agree([watched.reading for watched in self._recent])

    @property
    def at_last(self) -> DiceReading:
        """Give what is known when there is no more time to wait.

        That is the reading at rest, or a refusal: `blurred` if no frame differs from the one before
        and yet each looks smeared, which is the camera's doing; else `moving`.
        """
        if (reading := self.reading) is not None:
            return reading
        recent = list(self._recent)
        smeared = all(watched.reading.reason in ("moving", "blurred") for watched in recent)
        still = all(watched.changed <= UNCHANGED for watched in recent[1:])
        reason = "blurred" if len(recent) > 1 and smeared and still else "moving"
        return DiceReading("unreadable", (), reason, 0.0, (), 0.0)

    def judge_toss(self, before: DiceReading) -> Toss:
        """Judge the toss that led to this rest, given the dice as they lay before it."""
        now = self.reading
        if now is None:
            return Toss(False, (), self._most_changed, ("the dice are not at rest",))
        moved = tuple(_nearest(die, before.dice) for die in now.dice)
        why = []
        if now.verdict != "values":
            why.append(f"not read: {now.reason}")
        seen_moving = self._moving_seen or self._most_changed > 0.2
        turn = LEAST_TURN if seen_moving else LEAST_MOVE
        for n, distance in enumerate(moved, 1):
            if distance < LEAST_MOVE and not _turned(now.dice[n - 1], before.dice, turn):
                why.append(f"die {n} did not visibly move")
        return Toss(not why, moved, self._most_changed, tuple(why))


def agree(readings: list[DiceReading]) -> DiceReading:
    """Join readings of one rest (frames, lights or cameras): all must say the same values.

    A single refusal refuses; the joint confidence is the least. Dice that one counts and another
    does not are no dice missing: these readings disagree.
    """
    last = readings[-1]
    refused = [r for r in readings if r.verdict != "values"]
    counted = len(refused) < len(readings)
    if refused and not (counted and all(r.reason in ("missing", "extra") for r in refused)):
        return refused[0]
    if refused or any(r.values != last.values for r in readings):
        return DiceReading("unreadable", (), "disagreement", 0.0, last.dice, last.ms)
    least = min(r.confidence for r in readings)
    return DiceReading(last.verdict, last.values, None, least, last.dice, last.ms)


def _changed_part(before: Picture, now: Picture, reading: DiceReading) -> float:
    """Give the part of the dice's area (or, without dice, of the picture) that changed."""
    difference = cv2.absdiff(before, now)
    pixels = float(np.count_nonzero(np.asarray(cv2.blur(difference, (3, 3))) > CHANGED))
    area = sum(_edge(die) ** 2 for die in reading.dice) / 4
    return min(1.0, pixels / (area or now.size))


def _edge(die: DieSeen) -> float:
    c = np.asarray(die.corners_px)
    return float(np.hypot(*(c - np.roll(c, 1, axis=0)).T).mean())


def _distance(a: DieSeen, b: DieSeen) -> float:
    gap = float(np.hypot(a.centre_px[0] - b.centre_px[0], a.centre_px[1] - b.centre_px[1]))
    return gap / max(_edge(a), 1.0)


def _nearest(die: DieSeen, others: tuple[DieSeen, ...]) -> float:
    return min((_distance(die, other) for other in others), default=float("inf"))


def _turned(die: DieSeen, others: tuple[DieSeen, ...], least: float) -> bool:
    """Tell whether a die lies turned, or shows another value, than the die that lay there.

    least: by how much of an edge its corners must have moved, on average.
    """
    if not others:
        return True
    other = min(others, key=lambda o: _distance(die, o))
    if die.value != other.value:
        return True
    a, b = np.asarray(die.corners_px), np.asarray(other.corners_px)
    b = b + a.mean(axis=0) - b.mean(axis=0)
    shift = np.hypot(*(a[:, None] - b[None]).transpose(2, 0, 1)).min(axis=1).mean()
    return bool(shift > least * _edge(die))


def _hold(a: DiceReading, b: DiceReading) -> bool:
    """Tell whether two readings show the same dice at the same places."""
    if len(a.dice) != len(b.dice):
        return False
    return all(_nearest(die, a.dice) < STILL for die in b.dice)
