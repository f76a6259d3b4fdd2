"""How dice come to rest in a tray: flat, leaning on a wall or a die, stacked.

Every arrangement is one that gravity and friction allow, holds no two dice that share volume, and
lies inside its chamber. Lengths mm, tray frame (origin mid-floor, z up).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, radians, sin, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from harness.emulator.scene.dice import Die

Vector = NDArray[np.float64]
Pose = Literal["flat", "leaning", "stacked"]
State = Literal["flat", "leaning", "stacked", "under", "moving"]

_SIGNS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)


@dataclass(frozen=True)
class Chamber:
    """A round well: its middle and radius, mm."""

    x: float
    y: float
    radius: float


@dataclass(frozen=True)
class Placed:
    """A die where it lies; `rotation` takes the die's frame to the tray's, shape (3, 3)."""

    die: Die
    position: Vector
    rotation: Vector
    state: State = "flat"

    def vertices(self) -> Vector:
        """Give the eight corners of the sharp-edged cube, shape (8, 3)."""
        out: Vector = self.position + (_SIGNS * self.die.edge_mm / 2) @ self.rotation.T
        return out

    @property
    def up_slot(self) -> int:
        """The index of the face that lies nearest to up."""
        axis = int(np.argmax(np.abs(self.rotation[2])))
        return 2 * axis + (0 if self.rotation[2, axis] > 0 else 1)

    @property
    def tilt_deg(self) -> float:
        """The angle between the uppermost face's normal and the vertical."""
        return float(np.degrees(np.arccos(min(1.0, float(np.abs(self.rotation[2]).max())))))


def turned(slot: int, yaw: float) -> Vector:
    """Give the rotation that puts the face `slot` up and turns it by `yaw` radians."""
    axis, sign = slot // 2, 1.0 if slot % 2 == 0 else -1.0
    upright = np.zeros((3, 3))
    upright[2, axis] = sign
    upright[0, (axis + 1) % 3] = 1.0
    upright[1, (axis + 2) % 3] = sign
    c, s = cos(yaw), sin(yaw)
    out: Vector = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ upright
    return out


def penetration(one: Placed, two: Placed) -> float:
    """Give how deep two cubes share volume in mm, negative when apart (separating axes)."""
    apart = two.position - one.position
    a, b = one.rotation, two.rotation
    i, j = np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)
    crossed = np.stack(
        [
            a[(k + 1) % 3, i] * b[(k + 2) % 3, j] - a[(k + 2) % 3, i] * b[(k + 1) % 3, j]
            for k in range(3)
        ]
    )
    axes = np.concatenate([a, b, crossed], axis=1)
    length = np.sqrt((axes * axes).sum(axis=0))
    axes = axes[:, length > 1e-6] / length[length > 1e-6]
    reach = one.die.edge_mm * np.abs(a.T @ axes).sum(axis=0)
    reach += two.die.edge_mm * np.abs(b.T @ axes).sum(axis=0)
    return float((reach / 2 - np.abs(apart @ axes)).min())


def inside(placed: Placed, chamber: Chamber, slack: float = 1e-6) -> bool:
    """Tell whether the whole cube stands inside the chamber's wall and on or above its floor."""
    corners = placed.vertices()
    reach = np.hypot(corners[:, 0] - chamber.x, corners[:, 1] - chamber.y).max()
    return bool(reach <= chamber.radius + slack and corners[:, 2].min() >= -slack)


class Unplaceable(ValueError):  # noqa: N818 - says what the dice are
    """The dice do not fit into the tray in the pose asked for."""


@dataclass(frozen=True)
class Rest:
    """Finds rest poses in a tray.

    `gap_mm` is the least distance between dice that lie flat; `touching` the chance that a die is
    put against one that lies there already. `wall_mm` is the chambers' height, `wanted` says which
    places are (those in the camera's picture).
    """

    chambers: tuple[Chamber, ...]
    wall_mm: float
    gap_mm: float = 2.0
    touching: float = 0.0
    wanted: Callable[[Placed], bool] = lambda _: True

    def lay(
        self, dice: Sequence[Die], slots: Sequence[int], pose: Pose, rng: np.random.Generator
    ) -> tuple[Placed, ...]:
        """Lay the dice with the faces `slots` up (nearest to up for the leaning die).

        In "leaning" one die leans by 12 to 38 degrees, in "stacked" one lies upon another; which
        one is drawn. The order of the result is the order of `dice`. Raises `Unplaceable` when the
        dice do not fit.
        """
        for _ in range(80):
            placed = self._attempt(dice, slots, pose, rng)
            if placed is not None and all(self.wanted(one) for one in placed):
                return placed
        raise Unplaceable(f"{len(dice)} dice do not fit {pose} into the tray")

    def _attempt(
        self, dice: Sequence[Die], slots: Sequence[int], pose: Pose, rng: np.random.Generator
    ) -> tuple[Placed, ...] | None:
        odd = int(rng.integers(len(dice))) if pose != "flat" and dice else -1
        done: dict[int, Placed] = {}
        for index in [i for i in range(len(dice)) if i != odd]:
            flat = self._flat(dice[index], slots[index], self._chamber(index), done, rng)
            if flat is None:
                return None
            done[index] = flat
        if not dice:
            return ()
        if pose == "leaning":
            leaning = self._leaning(dice[odd], slots[odd], self._chamber(odd), done, rng)
            if leaning is None:
                return None
            done[odd] = leaning
        elif pose == "stacked":
            if not done:
                raise Unplaceable("one die alone cannot be stacked")
            under = int(rng.choice(list(done)))
            below = done[under]
            done[odd] = _stacked(dice[odd], slots[odd], below, rng)
            if not inside(done[odd], self._chamber(under)):
                return None
            done[under] = Placed(below.die, below.position, below.rotation, "under")
        return tuple(done[i] for i in range(len(dice)))

    def _chamber(self, index: int) -> Chamber:
        return self.chambers[index % len(self.chambers)]

    def _flat(
        self, die: Die, slot: int, chamber: Chamber, done: dict[int, Placed],
        rng: np.random.Generator,
    ) -> Placed | None:  # fmt: skip
        neighbours = [p for p in done.values() if inside(p, chamber)]
        for _ in range(60):
            rotation = turned(slot, rng.uniform(0, 2 * np.pi))
            radius = chamber.radius * sqrt(rng.uniform())
            angle = rng.uniform(0, 2 * np.pi)
            place = np.array(
                [chamber.x + radius * cos(angle), chamber.y + radius * sin(angle), die.edge_mm / 2]
            )
            gap = self.gap_mm
            if neighbours and rng.uniform() < self.touching:
                place = _slid_against(die, rotation, neighbours, rng)
                gap = 0.0
            candidate = Placed(die, place, rotation)
            clear = all(penetration(candidate, other) <= -gap for other in done.values())
            if clear and inside(candidate, chamber) and self.wanted(candidate):
                return candidate
        return None

    def _leaning(
        self, die: Die, slot: int, chamber: Chamber, done: dict[int, Placed],
        rng: np.random.Generator,
    ) -> Placed | None:  # fmt: skip
        neighbours = [p for p in done.values() if inside(p, chamber)]
        steepest = min(radians(38.0), float(np.arcsin(min(1.0, 0.95 * self.wall_mm / die.edge_mm))))
        for _ in range(60):
            if neighbours and rng.uniform() < 0.5:
                other = neighbours[int(rng.integers(len(neighbours)))]
                towards, contact = _side_of(other, die, rng)
                tilt = rng.uniform(radians(12.0), radians(38.0))
            else:
                angle = rng.uniform(0, 2 * np.pi)
                towards = np.array([cos(angle), sin(angle), 0.0])
                reach = sqrt((chamber.radius - 1e-3) ** 2 - (die.edge_mm / 2) ** 2)
                contact = np.array([chamber.x, chamber.y, 0.0]) + towards * reach
                tilt = rng.uniform(radians(12.0), max(steepest, radians(13.0)))
            turn = float(rng.integers(4)) * np.pi / 2
            candidate = _propped(die, slot, turn, tilt, (towards, contact))
            clear = all(penetration(candidate, other) <= 1e-6 for other in done.values())
            if clear and inside(candidate, chamber, 1e-3):
                return candidate
        return None


def _slid_against(
    die: Die, rotation: Vector, neighbours: Sequence[Placed], rng: np.random.Generator
) -> Vector:
    """Find the place where the die, moved in from some side, just meets one of its neighbours."""
    other = neighbours[int(rng.integers(len(neighbours)))]
    angle = rng.uniform(0, 2 * np.pi)
    way = np.array([cos(angle), sin(angle), 0.0])
    base = np.array([other.position[0], other.position[1], die.edge_mm / 2])
    near, far = 0.0, 2 * die.edge_mm
    for _ in range(24):
        middle = (near + far) / 2
        hit = penetration(Placed(die, base + way * middle, rotation), other) > -0.02
        near, far = (middle, far) if hit else (near, middle)
    out: Vector = base + way * far
    return out


def _side_of(other: Placed, die: Die, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """Pick a side of a flat die to lean on: the way towards it, and the contact edge's middle."""
    sides = [a * s for a in other.rotation.T if abs(a[2]) < 1e-6 for s in (-1.0, 1.0)]
    normal = sides[int(rng.integers(len(sides)))]
    along = np.array([-normal[1], normal[0], 0.0])
    middle = np.array([other.position[0], other.position[1], 0.0])
    shift = rng.uniform(-0.45, 0.45) * die.edge_mm
    return -normal, middle + normal * (other.die.edge_mm / 2 + 1e-6) + along * shift


def _propped(
    die: Die, slot: int, turn: float, tilt: float, upright: tuple[Vector, Vector]
) -> Placed:
    """Prop a die: one lower edge stands on the floor, the other touches an upright at `contact`.

    In section the weight falls between the two edges for every tilt below 45 degrees, so friction
    holds it. `upright` is the way from the die to it, and the place under the touching edge's
    middle; `turn` is the die's turn about its own upright axis before it is tilted.
    """
    towards, contact = upright
    edge = die.edge_mm
    up = np.array([0.0, 0.0, 1.0])
    frame = np.stack([towards, np.cross(up, towards), up], axis=1)
    c, s = cos(tilt), sin(tilt)
    tip = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
    rotation = frame @ tip @ turned(slot, turn)
    foot = contact - towards * edge * c
    position = foot + frame @ tip @ np.array([edge / 2, 0.0, edge / 2])
    return Placed(die, position, rotation, "leaning")


def _stacked(die: Die, slot: int, below: Placed, rng: np.random.Generator) -> Placed:
    """Put a die upon another so that its weight falls inside the lower one's top face."""
    half = below.die.edge_mm / 2
    across = [a for a in below.rotation.T if abs(a[2]) < 0.5]
    shift = sum((a * rng.uniform(-0.8, 0.8) * half for a in across), np.zeros(3))
    position = below.position + shift + np.array([0.0, 0.0, half + die.edge_mm / 2])
    return Placed(die, position, turned(slot, rng.uniform(0, 2 * np.pi)), "stacked")
