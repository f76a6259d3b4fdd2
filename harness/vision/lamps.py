"""Lamps seen by a camera: the layout found, each area's light told from its dark reference.

Light is compared as light: pixel values are made linear first (sRGB, IEC 61966-2-1). A layout's
own coordinates run 0 to 1 across its four markers, x right, y down.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.vision.faces import Floats, Picture

LampState = Literal["off", "dim", "on", "flicker", "unknown"]
MARKERS = (0, 1, 2, 3)
"""ArUco markers (4x4, of 50) at the layout's corners: top left, top right, bottom right, left."""
ON, OFF = 0.6, 0.15
"""Level (of a good lamp's light) from which a lamp is on, up to which it is off; dim between."""
STEADY = 0.25
"""Range of levels over the frames, beyond which a lamp flickers."""
AMBIENT = (0.4, 2.5)
"""Ambient light, of that at calibration, within which lamps are read."""
UNEVEN = 0.35
"""Spread (of its median) of the ambient change across the layout, beyond which it is refused."""
LEAST_SWING = 0.02
"""Least linear light by which a lit lamp must exceed its dark reference to be told at all."""

_LINEAR = np.where(
    np.arange(256) / 255 <= 0.04045,
    np.arange(256) / 255 / 12.92,
    ((np.arange(256) / 255 + 0.055) / 1.055) ** 2.4,
).astype(np.float32)


@dataclass(frozen=True, slots=True)
class LampSpot:
    """Where one lamp is: middle and radius, in the layout's coordinates (of its width)."""

    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True)
class LampsSeen:
    """All areas' lamps over some frames.

    `states` and `levels` by area (level 0: its dark reference, 1: its lit one; median of the
    frames); an area with several lamps that differ is in `split`. `ambient` is the ambient light
    relative to that at calibration. `refusal` says why nothing could be read, None otherwise.
    """

    states: Mapping[str, LampState]
    levels: Mapping[str, float]
    split: frozenset[str]
    ambient: float
    refusal: str | None = None

    @property
    def lit(self) -> frozenset[str]:
        """Give the areas whose every lamp is on."""
        return frozenset(a for a, s in self.states.items() if s == "on" and a not in self.split)


@dataclass(frozen=True, slots=True)
class LampReference:
    """A layout's calibration: spots by area, dark and lit light of each spot and its surroundings.

    `corners_px`: the markers' middles at calibration, used where no markers are seen.
    """

    spots: Mapping[str, tuple[LampSpot, ...]]
    corners_px: tuple[tuple[float, float], ...]
    dark: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    lit: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    around: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


def find_markers(picture: Picture) -> tuple[tuple[float, float], ...] | None:
    """Find the four markers' middles (px) in the order of `MARKERS`, or None if any is missing."""
    kind = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    detector = cv2.aruco.ArucoDetector(kind)
    middles: dict[int, NDArray[np.float32]] = {}
    # Noise hides markers at full size, smallness at half size: what either shows counts.
    half = cv2.resize(picture, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    for image, scale in (
        (half, 2.0),
        (cv2.GaussianBlur(picture, (0, 0), 1.0), 1.0),
        (picture, 1.0),
    ):
        corners, ids, _ = detector.detectMarkers(image)
        for number, c in zip(np.asarray(ids).ravel(), corners, strict=False):
            middle = np.asarray(c).reshape(4, 2).mean(axis=0)
            middles[int(number)] = ((middle + 0.5) * scale - 0.5).astype(np.float32)
        if all(number in middles for number in MARKERS):
            return tuple((float(middles[n][0]), float(middles[n][1])) for n in MARKERS)
    return None


def calibrate_lamps(
    spots: Mapping[str, Sequence[LampSpot]], dark: Picture, lit: Picture
) -> LampReference:
    """Make a reference from a picture with every lamp off and one with every lamp on.

    Raises ValueError if the markers are not found in both, or naming the areas whose light does not
    rise.
    """
    corners, corners_lit = find_markers(dark), find_markers(lit)
    if corners is None or corners_lit is None:
        raise ValueError("the four markers were not all found in both pictures")
    kept = {area: tuple(of_area) for area, of_area in spots.items()}
    low, around = _measure(dark, kept, corners)
    high, _ = _measure(lit, kept, corners_lit)
    flat = [
        area
        for area in kept
        if any(h - d < LEAST_SWING for d, h in zip(low[area], high[area], strict=True))
    ]
    if flat:
        raise ValueError(f"no light was seen to rise in: {', '.join(sorted(flat))}")
    return LampReference(kept, corners, low, high, around)


class LampReader:
    """Reads a layout's lamps against its reference."""

    def __init__(self, reference: LampReference, markers_needed: bool = True) -> None:
        self._reference = reference
        self._markers_needed = markers_needed

    def read(self, frames: Sequence[Picture]) -> LampsSeen:
        """Read frames (BGR) taken one after the other with the lamps as they are.

        One frame tells on, dim and off; flicker needs several.
        """
        reference = self._reference
        rows: list[dict[str, tuple[float, ...]]] = []
        gains: list[float] = []
        for frame in frames:
            corners = find_markers(frame)
            if corners is None:
                if self._markers_needed:
                    return self._refused("the four markers are not all seen")
                corners = reference.corners_px
            now, around = _measure(frame, reference.spots, corners)
            gain, spread = self._ambient(around)
            if spread > UNEVEN:
                return self._refused("ambient light changed unevenly: a shadow or a glare", gain)
            if not AMBIENT[0] <= gain <= AMBIENT[1]:
                return self._refused(f"ambient light is {gain:.2f} of that at calibration", gain)
            gains.append(gain)
            rows.append({area: self._levels(area, light, gain) for area, light in now.items()})
        if not rows:
            return self._refused("no frame was given")
        return self._join(rows, float(np.median(gains)))

    def _ambient(self, around: Mapping[str, tuple[float, ...]]) -> tuple[float, float]:
        """Give the ambient light relative to calibration and how unevenly it changed.

        The surroundings of a lit lamp are brighter by its own halo; most lamps are dark, so the
        lower quartile tells the ambient light, and the halos do not reach the 60th percentile.
        """
        known = self._reference.around
        ratios = np.array(
            [
                now / max(then, 1e-4)
                for area, lights in around.items()
                for now, then in zip(lights, known[area], strict=True)
            ]
        )
        low, middle = np.percentile(ratios, [10, 60])
        return float(np.percentile(ratios, 25)), float((middle - low) / max(middle, 1e-6))

    def _levels(self, area: str, light: tuple[float, ...], gain: float) -> tuple[float, ...]:
        dark, lit = self._reference.dark[area], self._reference.lit[area]
        return tuple(
            (now - d * gain) / max(h - d, LEAST_SWING)
            for now, d, h in zip(light, dark, lit, strict=True)
        )

    def _join(self, rows: list[dict[str, tuple[float, ...]]], ambient: float) -> LampsSeen:
        states: dict[str, LampState] = {}
        levels: dict[str, float] = {}
        split = set()
        for area in rows[0]:
            table = np.array([row[area] for row in rows])
            of_lamps = [_state(table[:, k]) for k in range(table.shape[1])]
            middle = np.median(table, axis=0)
            levels[area] = float(middle.min())
            if len(set(of_lamps)) > 1:
                split.add(area)
            worst: tuple[LampState, ...] = ("flicker", "dim", "off", "on")
            states[area] = next(s for s in worst if s in of_lamps)
        return LampsSeen(states, levels, frozenset(split), ambient)

    def _refused(self, why: str, ambient: float = float("nan")) -> LampsSeen:
        states: dict[str, LampState] = dict.fromkeys(self._reference.spots, "unknown")
        return LampsSeen(states, {}, frozenset(), ambient, why)


def _state(levels: NDArray[np.float64]) -> LampState:
    if len(levels) > 1 and levels.max() - levels.min() > STEADY:
        return "flicker"
    level = float(np.median(levels))
    if level >= ON:
        return "on"
    return "off" if level <= OFF else "dim"


def _measure(
    picture: Picture,
    spots: Mapping[str, Sequence[LampSpot]],
    corners: Sequence[tuple[float, float]],
) -> tuple[dict[str, tuple[float, ...]], dict[str, tuple[float, ...]]]:
    """Measure mean linear light in each spot and in the ring around it (1.6 to 2.2 radii)."""
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    matrix = cv2.getPerspectiveTransform(square, np.asarray(corners, np.float32))
    light = np.asarray(cv2.transform(_LINEAR[picture], _GREY), np.float32)
    inside: dict[str, tuple[float, ...]] = {}
    around: dict[str, tuple[float, ...]] = {}
    for area, of_area in spots.items():
        inside[area] = tuple(_mean(light, matrix, s, 0.0, 0.8) for s in of_area)
        around[area] = tuple(_mean(light, matrix, s, 1.6, 2.2) for s in of_area)
    return inside, around


_GREY = np.array([[0.0722, 0.7152, 0.2126]], np.float32)
_DISC = np.array(
    [
        (r * np.cos(a), r * np.sin(a))
        for r in np.sqrt(np.linspace(0.02, 1, 12))
        for a in np.linspace(0, 2 * np.pi, 16, endpoint=False) + 9 * r
    ],
    np.float32,
)


def _mean(
    light: Floats, matrix: NDArray[np.generic], spot: LampSpot, inner: float, outer: float
) -> float:
    """Mean light over a disc or ring of a spot, given by radii relative to the spot's."""
    reach = np.hypot(_DISC[:, :1], _DISC[:, 1:])
    ring = _DISC / reach * np.sqrt(inner**2 + (outer**2 - inner**2) * reach**2) * spot.radius
    points = (ring + np.array([spot.x, spot.y], np.float32))[None].astype(np.float32)
    where = np.asarray(cv2.perspectiveTransform(points, np.asarray(matrix)))[0]
    x = np.clip(np.rint(where[:, 0]).astype(int), 0, light.shape[1] - 1)
    y = np.clip(np.rint(where[:, 1]).astype(int), 0, light.shape[0] - 1)
    return float(light[y, x].mean())


def save_reference(reference: LampReference, path: Path) -> None:
    """Write a layout's reference as JSON."""
    body = {
        "corners_px": reference.corners_px,
        "areas": {
            area: {
                "spots": [(s.x, s.y, s.radius) for s in of_area],
                "dark": reference.dark[area],
                "lit": reference.lit[area],
                "around": reference.around[area],
            }
            for area, of_area in reference.spots.items()
        },
    }
    path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")


def load_reference(path: Path) -> LampReference:
    """Read what `save_reference` wrote. Raises ValueError or KeyError if it is something else."""
    body = json.loads(path.read_text(encoding="utf-8"))
    areas = body["areas"]
    return LampReference(
        {a: tuple(LampSpot(*map(float, s)) for s in v["spots"]) for a, v in areas.items()},
        tuple((float(x), float(y)) for x, y in body["corners_px"]),
        {a: tuple(map(float, v["dark"])) for a, v in areas.items()},
        {a: tuple(map(float, v["lit"])) for a, v in areas.items()},
        {a: tuple(map(float, v["around"])) for a, v in areas.items()},
    )
