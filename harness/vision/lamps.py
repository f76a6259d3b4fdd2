"""Lamps seen by a camera: the layout found, each area's light told from its dark reference.

Light is compared as light: pixel values are made linear first (sRGB, IEC 61966-2-1). A layout's
own coordinates run 0 to 1 across its four markers, x right, y down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.vision.faces import Floats, Picture
from harness.vision.lamp_reference import LampReference, LampSpot

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


def seen_markers(picture: Picture) -> dict[int, tuple[float, float]]:
    """Find markers' middles (px) by their numbers, as many as are seen."""
    kind = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    parameters = cv2.aruco.DetectorParameters()
    # A marker on a white card has the card's edge close around it: both are to be looked at.
    parameters.minMarkerDistanceRate = 0.05
    detector = cv2.aruco.ArucoDetector(kind, parameters)
    middles: dict[int, tuple[float, float]] = {}
    # Noise hides markers at full size, smallness at half size: what either shows counts.
    half = cv2.resize(picture, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    for image, scale in (
        (half, 2.0),
        (cv2.GaussianBlur(picture, (0, 0), 1.0), 1.0),
        (picture, 1.0),
    ):
        corners, ids, _ = detector.detectMarkers(image)
        for number, c in zip(np.asarray(ids).ravel(), corners, strict=False):
            x, y = (np.asarray(c).reshape(4, 2).mean(axis=0) + 0.5) * scale - 0.5
            middles[int(number)] = (float(x), float(y))
        if all(number in middles for number in MARKERS):
            break
    return middles


def find_markers(picture: Picture) -> tuple[tuple[float, float], ...] | None:
    """Find the four markers' middles (px) in the order of `MARKERS`, or None if any is missing."""
    middles = seen_markers(picture)
    if not all(number in middles for number in MARKERS):
        return None
    return tuple(middles[number] for number in MARKERS)


class LampReader:
    """Reads a layout's lamps against its reference."""

    def __init__(self, reference: LampReference, markers_needed: bool = True) -> None:
        self._reference = reference
        self._markers_needed = markers_needed
        self._points = SamplePoints(reference.spots, reference.aspect)

    def read(self, frames: Sequence[Picture]) -> LampsSeen:
        """Read frames (BGR) taken one after the other with the lamps as they are.

        One frame tells on, dim and off; flicker needs several.
        """
        reference = self._reference
        rows: list[dict[str, tuple[float, ...]]] = []
        gains: list[float] = []
        for frame in frames:
            size = (frame.shape[1], frame.shape[0])
            if reference.size_px not in ((0, 0), size):
                told = "{} x {} px".format
                return self._refused(
                    f"a picture of {told(*size)}, calibrated at {told(*reference.size_px)}"
                )
            corners = find_markers(frame)
            if corners is None:
                if self._markers_needed:
                    return self._refused("the four markers are not all seen")
                corners = reference.corners_px
            now, around = self._points.light(frame, corners)
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


_GREY = np.array([0.0722, 0.7152, 0.2126], np.float32)
_DISC = np.array(
    [
        (r * np.cos(a), r * np.sin(a))
        for r in np.sqrt(np.linspace(0.02, 1, 12))
        for a in np.linspace(0, 2 * np.pi, 16, endpoint=False) + 9 * r
    ],
    np.float32,
)
_INSIDE, _AROUND = (0.0, 0.8), (1.6, 2.2)
"""Radii, of the spot's, between which its light and its surroundings' are measured."""

PerLamp = dict[str, tuple[float, ...]]
"""A value for each lamp of each area."""


class SamplePoints:
    """Where light is measured: points in each spot and in the ring around it.

    `aspect`: the layout's width over its height; a spot's radius is in the layout's width.
    """

    def __init__(self, spots: Mapping[str, Sequence[LampSpot]], aspect: float = 1.0) -> None:
        self._counts = {area: len(of_area) for area, of_area in spots.items()}
        lamps = [spot for of_area in spots.values() for spot in of_area]
        middles = np.array([(s.x, s.y) for s in lamps], np.float32).reshape(-1, 1, 2)
        radii = np.array([(s.radius, s.radius * aspect) for s in lamps], np.float32)
        radii = radii.reshape(-1, 1, 2)
        reach = np.hypot(_DISC[:, :1], _DISC[:, 1:])
        self._points = np.stack(
            [
                middles + radii * _DISC / reach * np.sqrt(a**2 + (b**2 - a**2) * reach**2)
                for a, b in (_INSIDE, _AROUND)
            ]
        ).astype(np.float32)

    def pixels(self, picture: Picture, corners: Sequence[tuple[float, float]]) -> NDArray[np.uint8]:
        """Give the pixels (2, lamps, points, 3) inside each spot and around it."""
        square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
        matrix = cv2.getPerspectiveTransform(square, np.asarray(corners, np.float32))
        flat = self._points.reshape(1, -1, 2)
        where = np.asarray(cv2.perspectiveTransform(flat, matrix))[0] if flat.size else flat[0]
        x = np.clip(np.rint(where[:, 0]).astype(int), 0, picture.shape[1] - 1)
        y = np.clip(np.rint(where[:, 1]).astype(int), 0, picture.shape[0] - 1)
        return np.asarray(picture[y, x], np.uint8).reshape(*self._points.shape[:3], 3)

    def light(
        self, picture: Picture, corners: Sequence[tuple[float, float]]
    ) -> tuple[PerLamp, PerLamp]:
        """Measure mean linear light in each spot and around it, by area."""
        inside, around = (linear_light(self.pixels(picture, corners))).mean(axis=2)
        return self.by_area(inside), self.by_area(around)

    def by_area(self, values: NDArray[np.floating]) -> PerLamp:
        """Give a value of each lamp, in the spots' order, by area."""
        shared = iter(values.tolist())
        return {
            area: tuple(float(next(shared)) for _ in range(n)) for area, n in self._counts.items()
        }


def linear_light(pixels: NDArray[np.uint8]) -> Floats:
    """Give the linear light (0 to 1) of BGR pixels, shape (..., 3), as one grey value each."""
    return np.asarray(_LINEAR[pixels] @ _GREY, np.float32)


def aspect_of(corners: Sequence[tuple[float, float]]) -> float:
    """Tell a layout's width over its height from its four corners as seen."""
    c = np.asarray(corners, np.float64)
    across = np.hypot(*(c[1] - c[0])) + np.hypot(*(c[2] - c[3]))
    down = np.hypot(*(c[3] - c[0])) + np.hypot(*(c[2] - c[1]))
    return float(across / max(down, 1e-6))
