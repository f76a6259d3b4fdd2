"""The betting layout before a camera: its areas' lamps under glass, four markers at its corners."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, cos, pi

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.emulator.scene.camera import Camera
from harness.emulator.scene.sensor import Grain, Sensor, Still

Image = NDArray[np.uint8]
Picture = NDArray[np.float32]
Point = tuple[float, float]

_FINE = 2
"""Pixels of the printed sheet to a mm."""
_DISC_CORNERS = 48
_STRAIGHT_MM, _STRAIGHT_FOCAL_PX = 1.5, 1000.0
"""Of a camera straight above: what one pixel covers, its focal length."""
_MARKER_PX = 24
"""Side of the markers before it, in its pixels."""


def _above() -> Camera:
    return Camera(
        width=640, height=480, focal_px=820.0, distance_mm=1500.0, tilt_deg=12.0, azimuth_deg=270.0
    )


@dataclass(frozen=True)
class LayoutConfig:
    """The camera over a layout, the room and the lamps. Lengths mm, colours linear BGR.

    `exposure_s` is how long the camera exposes, `ambient` the room's light (1 in full light), `hum`
    its ripple, which swells and fades at `hum_hz`, `glow` the light a good lamp adds to its area,
    `halo` the part of it that strays about.
    """

    camera: Camera = field(default_factory=_above)
    sensor: Sensor = field(default_factory=lambda: Sensor(noise=1.5, contrast=0.0))
    exposure_s: float = 0.02
    cloth: tuple[float, float, float] = (0.03, 0.09, 0.02)
    pane: tuple[float, float, float] = (0.16, 0.17, 0.18)
    glow: tuple[float, float, float] = (0.28, 0.50, 0.62)
    halo: float = 0.10
    ambient: float = 0.45
    hum: float = 0.02
    hum_hz: float = 100.0
    bank: int = 6


@dataclass(frozen=True)
class Pane:
    """One area's pane: its middle and half sides on the layout, mm from the middle of it.

    A `disc` is round, its half sides alike.
    """

    x: float
    y: float
    half_width: float
    half_height: float
    disc: bool = False

    def outline(self) -> NDArray[np.float64]:
        """Give its outline (n, 3) on the layout's plane."""
        if self.disc:
            turn = np.linspace(0, 2 * pi, _DISC_CORNERS, endpoint=False)
            signs = np.column_stack([np.cos(turn), np.sin(turn)])
        else:
            signs = np.array([[-1.0, 1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
        flat = np.array([self.x, self.y]) + signs * [self.half_width, self.half_height]
        return np.column_stack([flat, np.zeros(len(flat))])


@dataclass(frozen=True)
class LayoutPlan:
    """What lies on the layout, mm from its middle, x right, y up: panes by area, markers' middles.

    The markers' order is their numbers', `marker` is their side.
    """

    panes: Mapping[str, Pane]
    markers: tuple[Point, ...]
    marker: float

    @property
    def half_size(self) -> Point:
        """Half the width and height of what is printed, its margin included."""
        xs = [abs(p.x) + p.half_width for p in self.panes.values()]
        ys = [abs(p.y) + p.half_height for p in self.panes.values()]
        return (
            max([*xs, *(abs(x) for x, _ in self.markers)]) + self.marker,
            max([*ys, *(abs(y) for _, y in self.markers)]) + self.marker,
        )


def set_out(
    areas: Sequence[str],
    size: tuple[float, float] = (900.0, 520.0),
    columns: int = 10,
    marker: float = 84.0,
) -> LayoutPlan:
    """Set areas out in rows of `columns`, from the top left, between markers that span `size`."""
    rows = max(1, ceil(len(areas) / columns))
    width, height = (size[0] - 2 * marker) / columns, size[1] / rows
    panes = {}
    for index, area in enumerate(areas):
        row, column = divmod(index, columns)
        x = (column - (columns - 1) / 2) * width
        y = ((rows - 1) / 2 - row) * height
        panes[area] = Pane(x, y, 0.36 * width, 0.32 * height)
    x, y = size[0] / 2, size[1] / 2
    return LayoutPlan(panes, ((-x, y), (x, y), (x, -y), (-x, -y)), marker)


def placed(
    size: tuple[int, int],
    spots: Mapping[str, tuple[float, float, float]],
    markers: Sequence[Point],
) -> tuple[LayoutPlan, Camera]:
    """Give the layout that a camera straight above sees with everything where it is told to be.

    size: of the picture, px. spots: each round pane's x, y, radius, px. markers: their middles, px;
    four are numbered from the top left, clockwise.
    """
    camera = Camera(
        width=size[0],
        height=size[1],
        focal_px=_STRAIGHT_FOCAL_PX,
        distance_mm=_STRAIGHT_FOCAL_PX * _STRAIGHT_MM,
        tilt_deg=0.0,
        defocus_px=0.5,
    )
    middle_x, middle_y = camera.centre_px

    def on_layout(x: float, y: float) -> Point:
        return (x - middle_x) * _STRAIGHT_MM, (middle_y - y) * _STRAIGHT_MM

    panes = {
        area: Pane(*on_layout(x, y), radius * _STRAIGHT_MM, radius * _STRAIGHT_MM, disc=True)
        for area, (x, y, radius) in spots.items()
    }
    places = tuple(on_layout(x, y) for x, y in _clockwise(markers))
    return LayoutPlan(panes, places, _MARKER_PX * _STRAIGHT_MM), camera


def _clockwise(markers: Sequence[Point]) -> list[Point]:
    """Give four markers as top left, top right, bottom right, bottom left."""
    if len(markers) != 4:
        return list(markers)
    rows = sorted(markers, key=lambda marker: marker[1])
    (top_left, top_right), (left, right) = sorted(rows[:2]), sorted(rows[2:])
    return [top_left, top_right, right, left]


class LayoutScene:
    """The layout's lamps as a second camera sees them. Safe to use from several threads.

    ArUco markers 0 to 3 (4 x 4, of 50) lie top left, top right, bottom right and bottom left.
    """

    def __init__(
        self,
        plan: LayoutPlan,
        config: LayoutConfig | None = None,
        seed: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.config = config or LayoutConfig()
        self.clock = clock
        self.plan = plan
        self._lock = threading.Lock()
        self._ambient = self.config.ambient
        texture, grain = (np.random.default_rng([seed, k]) for k in range(2))
        camera, sensor = self.config.camera, self.config.sensor
        self._sheet = _sheet(plan, self.config, texture)
        self._glows = {area: _glow(pane, self.config) for area, pane in plan.panes.items()}
        self._factors = sensor.fall_off(camera.width, camera.height)
        self._grain = Grain(camera.width, camera.height, sensor.noise, grain)
        self._shown: tuple[object, Still] | None = None

    def light_room(self, ambient: float) -> None:
        """Change the room's light."""
        with self._lock:
            self._ambient = ambient

    def render(self, levels: Mapping[str, float], t: float | None = None) -> Image:
        """Give the picture, BGR uint8 (h, w, 3), with fresh noise.

        `levels` is each lamp's light at time `t` (now if None), 1 as a good lamp's; areas left out
        are dark. Raises KeyError for an area the layout has not.
        """
        with self._lock:
            return self._grain.add(self._still(levels, t).clean)

    def jpeg(self, levels: Mapping[str, float], t: float | None = None) -> bytes:
        """Give the picture as JPEG; two in a row differ."""
        with self._lock:
            return self._still(levels, t).jpeg(self.config.sensor, self._grain)

    def spots_px(self) -> dict[str, Point]:
        """Give each pane's middle in the picture."""
        return {
            area: _point(self.config.camera.project(np.array([[pane.x, pane.y, 0.0]])))
            for area, pane in self.plan.panes.items()
        }

    def spots(self) -> dict[str, tuple[float, float, float]]:
        """Give each pane's middle (0 to 1 across the markers, x right, y down) and safe radius.

        The radius, in the layout's width, is that of a circle well inside the pane.
        """
        (left, top), (right, _), _, (_, bottom) = self.plan.markers
        width, height = right - left, top - bottom
        return {
            area: (
                (pane.x - left) / width,
                (top - pane.y) / height,
                0.7 * min(pane.half_width, pane.half_height) / width,
            )
            for area, pane in self.plan.panes.items()
        }

    def markers_px(self) -> tuple[Point, ...]:
        """Give the markers' middles in the picture, in their order."""
        return tuple(
            _point(self.config.camera.project(np.array([[x, y, 0.0]])))
            for x, y in self.plan.markers
        )

    def _still(self, levels: Mapping[str, float], t: float | None) -> Still:
        moment = self.clock() if t is None else t
        # The ripple is followed in few steps, so that a steady layout is drawn but a few times.
        hum = round(2 * self._ripple(moment)) / 2 * self.config.hum
        lit = tuple(sorted((a, round(level, 3)) for a, level in levels.items() if level > 0.0005))
        look = (lit, hum, self._ambient)
        if self._shown is None or self._shown[0] != look:
            light = self._sheet * np.float32(self._ambient * (1 + hum))
            for area, level in lit:
                (rows, columns), glow = self._glows[area]
                light[rows, columns] += glow * np.float32(level)
            blur = self.config.camera.defocus_px
            soft = np.asarray(cv2.GaussianBlur(light, (0, 0), max(blur, 0.1)), dtype=np.float32)
            clean = self.config.sensor.develop(soft, self._factors)
            self._shown = (look, Still(clean, self.config.bank))
        return self._shown[1]

    def _ripple(self, began: float) -> float:
        """Give the room light's ripple, -1 to 1, over an exposure: none over whole periods."""
        turn = 2 * pi * self.config.hum_hz
        over = turn * self.config.exposure_s
        return (cos(turn * began) - cos(turn * began + over)) / over


def _sheet(plan: LayoutPlan, config: LayoutConfig, rng: np.random.Generator) -> Picture:
    """Draw the layout with its lamps dark, in light 1, as the camera sees it (h, w, 3)."""
    half_width, half_height = plan.half_size
    width, height = round(2 * half_width * _FINE), round(2 * half_height * _FINE)
    sheet = np.empty((height, width, 3), dtype=np.float32)
    sheet[:] = config.cloth
    sheet *= 1 + 0.08 * rng.standard_normal((height, width, 1), dtype=np.float32)

    ink = np.zeros((height, width), dtype=np.uint8)

    def place(x: float, y: float) -> tuple[int, int]:
        return round(x * _FINE + width / 2), round(height / 2 - y * _FINE)

    for area, pane in plan.panes.items():
        x0, y0 = place(pane.x - pane.half_width, pane.y + pane.half_height)
        x1, y1 = place(pane.x + pane.half_width, pane.y - pane.half_height)
        cv2.rectangle(sheet, (x0 - 5, y0 - 5), (x1 + 5, y1 + 5), (0.45, 0.55, 0.6), 3, cv2.LINE_AA)
        outline = np.array([place(float(x), float(y)) for x, y, _ in pane.outline()], np.int32)
        cv2.fillConvexPoly(sheet, outline, config.pane)
        below = (x0, y1 + 26)
        cv2.putText(ink, area, below, cv2.FONT_HERSHEY_SIMPLEX, 0.55, 255, 1, cv2.LINE_AA)
    sheet += (0.6 - sheet) * (ink / np.float32(255))[..., None]
    kind = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    side = round(plan.marker * _FINE)
    for number, (x, y) in enumerate(plan.markers):
        mark = cv2.aruco.generateImageMarker(kind, number, side).astype(np.float32) / 255
        column, row = place(x, y)
        rim = side // 2 + side // 6
        sheet[row - rim : row + rim, column - rim : column + rim] = 0.8
        top, left = row - side // 2, column - side // 2
        sheet[top : top + side, left : left + side] = (0.02 + 0.78 * mark)[..., None]

    half = np.array([width / 2 / _FINE, height / 2 / _FINE])
    corners = np.array([[-1, 1, 0], [1, 1, 0], [1, -1, 0], [-1, -1, 0]]) * [*half, 0.0]
    seen = config.camera.project(corners).astype(np.float32)
    flat = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32) - 0.5
    # The sheet is finer than the picture: what one pixel covers is averaged first.
    shrink = float(np.linalg.norm(flat[1] - flat[0]) / np.linalg.norm(seen[1] - seen[0]))
    sheet = np.asarray(cv2.GaussianBlur(sheet, (0, 0), 0.4 * shrink), dtype=np.float32)
    warp = cv2.getPerspectiveTransform(flat, seen)
    size = (config.camera.width, config.camera.height)
    table = (0.05, 0.05, 0.05)
    return np.asarray(
        cv2.warpPerspective(sheet, warp, size, borderMode=cv2.BORDER_CONSTANT, borderValue=table),
        dtype=np.float32,
    )


def _glow(pane: Pane, config: LayoutConfig) -> tuple[tuple[slice, slice], Picture]:
    """Give the light a good lamp adds, and where: its pane evenly, a halo about it."""
    camera = config.camera
    outline = camera.project(pane.outline())
    across = float(np.ptp(outline[:, 0]))
    reach = ceil(across)
    low = np.maximum(np.floor(outline.min(axis=0)).astype(int) - reach, 0)
    high = np.minimum(
        np.ceil(outline.max(axis=0)).astype(int) + reach + 1, [camera.width, camera.height]
    )
    mask = np.zeros((high[1] - low[1], high[0] - low[0]), dtype=np.uint8)
    fine = np.round((outline - low) * 16).astype(np.int32)
    cv2.fillConvexPoly(mask, fine, (255,), cv2.LINE_AA, 4)
    shape = mask.astype(np.float32) / 255
    halo = np.asarray(cv2.GaussianBlur(shape, (0, 0), 0.35 * across), dtype=np.float32)
    spread = shape + config.halo * halo
    glow: Picture = spread[..., None] * np.array(config.glow, dtype=np.float32)
    return (slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0]))), glow


def _point(pixels: NDArray[np.float64]) -> Point:
    return float(pixels[0, 0]), float(pixels[0, 1])
