"""What truly lies before the camera, and where it is seen: for tests, never for a harness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.emulator.scene.camera import Camera
from harness.emulator.scene.dice import Hand, face_pips, pip_radius
from harness.emulator.scene.poses import Placed, State

Point = tuple[float, float]


@dataclass(frozen=True)
class DieTruth:
    """What one die is and where it is seen, pixels as OpenCV's.

    `value` is None unless the die lies level and still with nothing upon it. `corners_px` are those
    of the uppermost face in order around it (of the cube before its edges are rounded), `pips_px`
    that face's pips. `faces_px` gives for each face turned to the camera its printed value and its
    pips' places.
    """

    value: int | None
    up_face: int
    state: State
    style: str
    hand: Hand
    centre_px: Point
    corners_px: tuple[Point, ...]
    pips_px: tuple[Point, ...]
    pip_radius_px: float
    edge_px: float
    tilt_deg: float
    faces_px: tuple[tuple[int, tuple[Point, ...]], ...]


def truth_of(placed: Placed, camera: Camera) -> DieTruth:
    """Give the truth about a die for a camera."""
    die, slot = placed.die, placed.up_slot
    faces = []
    for face in range(6):
        normal = placed.rotation[:, face // 2] * (1.0 if face % 2 == 0 else -1.0)
        if normal @ (camera.position - placed.position) > die.edge_mm / 2:
            faces.append((die.faces[face], _seen(placed, face_pips(die, face), camera)))
    corners = _face_corners(die.edge_mm / 2, slot)
    corners_px = np.array(_seen(placed, corners, camera))
    edge = float(np.mean(np.linalg.norm(corners_px - np.roll(corners_px, 1, axis=0), axis=1)))
    value = die.faces[slot]
    return DieTruth(
        value=value if placed.state in ("flat", "stacked") else None,
        up_face=value,
        state=placed.state,
        style=die.style.name,
        hand=die.hand,
        centre_px=_seen(placed, corners.mean(axis=0, keepdims=True), camera)[0],
        corners_px=_seen(placed, corners, camera),
        pips_px=_seen(placed, face_pips(die, slot), camera),
        pip_radius_px=pip_radius(die.style, value) * edge,
        edge_px=edge,
        tilt_deg=placed.tilt_deg,
        faces_px=tuple(faces),
    )


def _seen(placed: Placed, local: NDArray[np.float64], camera: Camera) -> tuple[Point, ...]:
    pixels = camera.project(placed.position + local @ placed.rotation.T)
    return tuple((float(x), float(y)) for x, y in pixels)


def _face_corners(half: float, slot: int) -> NDArray[np.float64]:
    axis = slot // 2
    corners = np.zeros((4, 3))
    corners[:, axis] = half if slot % 2 == 0 else -half
    corners[:, (axis + 1) % 3] = np.array([-1, 1, 1, -1]) * half
    corners[:, (axis + 2) % 3] = np.array([-1, -1, 1, 1]) * half
    return corners
