"""The shaker's tray as the camera sees it without dice: floor, walls, rim and table."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin
from typing import Literal

import cv2
import numpy as np

from harness.emulator.scene.camera import Camera
from harness.emulator.scene.lights import Lighting, Picture, Vector, dot, unit
from harness.emulator.scene.poses import Chamber

Colour = tuple[float, float, float]
CoverKind = Literal["opaque", "dome", "none"]


@dataclass(frozen=True)
class Tray:
    """A shaker's tray. Lengths mm, colours linear BGR albedos.

    `shape` "round" is one well, "chambers" three, a die in each. `radius` is the well's, or that of
    the circle about all three. `weave` is the floor's roughness in albedo, `metal` how much the rim
    mirrors, `dome_veil` how hazy the dome is, `dome_gloss` what part of the light it mirrors into
    the lens (0.08 bare; a polarising filter leaves a quarter).
    """

    shape: Literal["round", "chambers"] = "round"
    radius: float = 46.0
    wall: float = 14.0
    rim: float = 8.0
    floor: Colour = (0.045, 0.12, 0.02)
    weave: float = 0.06
    side: Colour = (0.05, 0.05, 0.05)
    rim_colour: Colour = (0.20, 0.36, 0.45)
    metal: float = 0.5
    table: Colour = (0.05, 0.06, 0.03)
    cover_colour: Colour = (0.035, 0.035, 0.04)
    dome_radius: float = 62.0
    dome_veil: float = 0.0
    dome_gloss: float = 0.02

    @property
    def wells(self) -> tuple[Chamber, ...]:
        """The chambers dice lie in."""
        if self.shape == "round":
            return (Chamber(0.0, 0.0, self.radius),)
        # Three equal circles inside one, with a bar of 4 mm between them.
        each = (self.radius - 2.0) / (1 + 2 / 3**0.5)
        out = self.radius - each
        angles = [pi / 2 + k * 2 * pi / 3 for k in range(3)]
        return tuple(Chamber(out * cos(a), out * sin(a), each) for a in angles)


def rays(camera: Camera) -> Picture:
    """Give each pixel's unit way into the scene, shape (3, h, w)."""
    base, du, dv = (v.astype(np.float32)[:, None, None] for v in camera.ray_basis())
    u = np.arange(camera.width, dtype=np.float32)[None, None, :]
    v = np.arange(camera.height, dtype=np.float32)[None, :, None]
    return unit(base + du * u + dv * v)


def draw_tray(
    tray: Tray, camera: Camera, lighting: Lighting, rng: np.random.Generator
) -> tuple[Picture, Picture]:
    """Draw the open tray: linear light (h, w, 3), and where (h, w) its floor takes shadows.

    `rng` draws the cloth's and the metal's texture.
    """
    ways = rays(camera)
    pixel = camera.distance_mm / camera.focal_px  # mm a pixel, about
    low, high = _meet(camera, ways, 0.0), _meet(camera, ways, tray.wall)
    rim = _rim(tray, lighting, ways, high, rng)
    floor = _floor(tray, lighting, low, rng)
    side = np.array(tray.side, dtype=np.float32) * _wall_light(lighting, low)[..., None]
    table = _table(tray, lighting, low, rng)

    on_floor: Picture = np.clip(0.5 - _well_distance(tray, *low) / pixel, 0, 1)
    in_well: Picture = np.clip(0.5 - _well_distance(tray, *high) / pixel, 0, 1)
    out: Picture = np.clip(0.5 + (np.hypot(*high) - tray.radius - tray.rim) / pixel, 0, 1)
    picture = _mix(side, floor, on_floor)
    picture = _mix(_mix(rim, picture, in_well), table, out)
    return picture, (on_floor * in_well).astype(np.float32)


Places = tuple[Picture, Picture]
"""x and y in mm, each (h, w)."""


def _mix(one: Picture, two: Picture, share: Picture) -> Picture:
    mixed: Picture = one + (two - one) * share[..., None]
    return mixed.astype(np.float32)


def _meet(camera: Camera, ways: Picture, z: float) -> Places:
    """Meet the level plane at height z."""
    eye = camera.position.astype(np.float32)
    t = (np.float32(z) - eye[2]) / ways[2]
    return eye[0] + t * ways[0], eye[1] + t * ways[1]


def _texture(places: Places, grain_mm: float, rng: np.random.Generator) -> Picture:
    """Give cloth-like noise of unit spread, (h, w)."""
    size = 512
    fine = rng.standard_normal((size, size), dtype=np.float32)
    clumps = np.asarray(cv2.GaussianBlur(fine, (0, 0), 1.5), np.float32)
    patches = rng.standard_normal((size, size), dtype=np.float32)
    patches = np.asarray(cv2.GaussianBlur(patches, (0, 0), 9), np.float32)
    tile = fine * 0.8 + clumps * 1.5 + patches * (0.35 / patches.std())
    tile /= tile.std()
    u, v = (np.mod(p / grain_mm * 2, size).astype(np.float32) for p in places)
    found = cv2.remap(tile, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
    return np.asarray(found, dtype=np.float32)


def _floor(tray: Tray, lighting: Lighting, places: Places, rng: np.random.Generator) -> Picture:
    grain = 1 + tray.weave * _texture(places, 0.35, rng)
    off = _well_distance(tray, *places)
    # Walls hide a part of the sky along them, and throw a shadow.
    light = lighting.total - 0.35 * lighting.ambient * np.exp(np.minimum(off, 0) / 5)
    for lamp in lighting.lights:
        way, _, _, distance = lamp.frame(np.zeros(3))
        drop = tray.wall / max(float(way[2]), 0.2)
        off = _well_distance(tray, *_shifted(places, way, drop))
        soft = 1.0 + 2 * drop * lamp.size / distance
        light = light - lamp.share * np.clip(0.5 + off / soft, 0, 1)
    shade = np.maximum(light, 0.05 * lighting.total) * grain
    floor: Picture = shade[..., None] * np.array(tray.floor, dtype=np.float32)
    return floor


def _table(tray: Tray, lighting: Lighting, places: Places, rng: np.random.Generator) -> Picture:
    grain = 0.9 + 0.09 * _texture(places, 0.5, rng)
    light = np.full_like(grain, lighting.total)
    for lamp in lighting.lights:
        way, _, _, distance = lamp.frame(np.zeros(3))
        drop = 2 * tray.wall / max(float(way[2]), 0.2)
        off = np.hypot(*_shifted(places, way, drop)) - tray.radius - tray.rim
        soft = 3 + 2 * tray.wall * lamp.size / distance
        light -= 0.8 * lamp.share * np.clip(0.5 - off / soft, 0, 1)
    table: Picture = (light * grain)[..., None] * np.array(tray.table, dtype=np.float32)
    return table


def _shifted(places: Places, way: Vector, by: float) -> Places:
    return places[0] + float(way[0]) * by, places[1] + float(way[1]) * by


def _well_distance(tray: Tray, x: Picture, y: Picture) -> Picture:
    """Give the signed distance to the nearest well's wall, negative inside, mm."""
    reach: Picture = np.minimum.reduce(
        [np.hypot(x - well.x, y - well.y) - well.radius for well in tray.wells]
    )
    return reach


def _wall_light(lighting: Lighting, places: Places) -> Picture:
    """Give the light on the inner walls, which face inwards."""
    x, y = places
    reach = np.maximum(np.hypot(x, y), 1e-3)
    light = np.full_like(x, lighting.ambient * 0.5)
    for lamp in lighting.lights:
        way, _, _, _ = lamp.frame(np.zeros(3))
        lit = np.clip(-(x * float(way[0]) + y * float(way[1])) / reach, 0, 1)
        light += lit * (lamp.share / max(float(way[2]), 0.2))
    return light


def _rim(
    tray: Tray, lighting: Lighting, ways: Picture, places: Places, rng: np.random.Generator
) -> Picture:
    """Draw the rim's top: a rounded ring that diffuses and, of metal, mirrors the lights."""
    x, y = places
    reach = np.maximum(np.hypot(x, y), 1e-3)
    bend = np.clip((reach - tray.radius - tray.rim / 2) / (tray.rim / 2), -1, 1)
    if tray.shape == "chambers":
        bend = np.maximum(bend, 0)
    lean = np.sign(bend) * bend**4 * 0.8
    brushed = 0.03 * rng.standard_normal(x.shape, dtype=np.float32)
    normal = np.stack([x / reach * lean + brushed, y / reach * lean + brushed, np.ones_like(x)])
    normal = unit(normal)
    mirror = ways - 2 * dot(ways, normal) * normal
    lit = np.full_like(x, lighting.ambient)
    # Metal shows a soft sky with a brighter side.
    shine = lighting.ambient * (0.55 + 0.45 * mirror[2] * (0.7 + 0.3 * mirror[0]))
    for lamp in lighting.lights:
        way, _, _, _ = lamp.frame(np.zeros(3))
        facing = np.tensordot(way.astype(np.float32), normal, 1) / float(way[2])
        lit += lamp.share * np.clip(facing, 0, 2)
        shine += lamp.mirrored(mirror, np.array([0.0, 0.0, tray.wall]), 22.0)
    light = (1 - tray.metal) * lit + tray.metal * shine
    rim: Picture = light[..., None] * np.array(tray.rim_colour, dtype=np.float32)
    return rim
