"""The shaker's tray as the camera sees it without dice: floor, walls, rim, table, cover.

Everything here is cast ray by ray once for a scene and kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.emulator.scene.camera import Camera
from harness.emulator.scene.draw import Lighting
from harness.emulator.scene.poses import Chamber

Picture = NDArray[np.float32]
Triple = tuple[Picture, Picture, Picture]
Colour = tuple[float, float, float]
CoverKind = Literal["opaque", "dome", "none"]


@dataclass(frozen=True)
class Tray:
    """A shaker's tray. Lengths mm, colours linear BGR albedos.

    `shape` "round" is one well, "chambers" three, a die in each. `radius` is the well's, or that of
    the circle about all three. `weave` is the floor's roughness in albedo, `metal` how much the rim
    mirrors.
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


@dataclass(frozen=True)
class Background:
    """The scene without dice.

    `bare` is linear light (h, w, 3) with the cover off, `shadowed` the part of it (h, w) on which
    dice throw shadows, `dome` the light a clear cover adds, `lid` the picture with an opaque one.
    """

    bare: Picture
    shadowed: Picture
    dome: Picture
    lid: Picture


def draw_background(
    tray: Tray, camera: Camera, lighting: Lighting, rng: np.random.Generator
) -> Background:
    """Draw the tray for a camera; `rng` draws the cloth's texture."""
    ways = _rays(camera)
    bare, shadowed = _bare(tray, camera, lighting, ways, rng)
    dome = _dome(tray, camera, lighting, ways)
    lid = _lid(tray, camera, lighting, ways, bare)
    return Background(bare, shadowed, dome, lid)


def _rays(camera: Camera) -> Triple:
    base, du, dv = camera.ray_basis()
    u = np.arange(camera.width, dtype=np.float32)[None, :]
    v = np.arange(camera.height, dtype=np.float32)[:, None]
    raw = [float(base[k]) + float(du[k]) * u + float(dv[k]) * v for k in range(3)]
    scale = 1 / np.sqrt(sum(w * w for w in raw))
    return raw[0] * scale, raw[1] * scale, raw[2] * scale


def _meet(camera: Camera, ways: Triple, z: float) -> tuple[Picture, Picture]:
    eye = camera.position
    t = (z - float(eye[2])) / ways[2]
    return float(eye[0]) + t * ways[0], float(eye[1]) + t * ways[1]


def _texture(x: Picture, y: Picture, rng: np.random.Generator, grain_mm: float) -> Picture:
    """Give cloth-like noise of unit spread at places on a plane (mm)."""
    size = 512
    fine = rng.standard_normal((size, size)).astype(np.float32)
    coarse = cv2.GaussianBlur(rng.standard_normal((size, size)).astype(np.float32), (0, 0), 9)
    tile = fine * 0.8 + cv2.GaussianBlur(fine, (0, 0), 1.5) * 1.5 + coarse / coarse.std() * 0.35
    tile /= tile.std()
    u = np.mod(x / grain_mm * 2, size).astype(np.float32)
    v = np.mod(y / grain_mm * 2, size).astype(np.float32)
    found: Picture = cv2.remap(tile, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
    return found


def _bare(
    tray: Tray, camera: Camera, lighting: Lighting, ways: Triple, rng: np.random.Generator
) -> tuple[Picture, Picture]:
    pixel = camera.distance_mm / camera.focal_px  # mm a pixel, about
    total = float(sum(light.share for light in lighting.lights) + lighting.ambient)
    fx, fy = _meet(camera, ways, 0.0)
    tx, ty = _meet(camera, ways, tray.wall)

    floor = np.array(tray.floor, dtype=np.float32) * (
        1 + tray.weave * _texture(fx, fy, rng, 0.35)[..., None]
    )
    floor *= total
    table = np.array(tray.table, dtype=np.float32) * (
        1 + 0.10 * _texture(fx, fy, rng, 0.5)[..., None]
    )
    table *= total * 0.9
    # The tray's own shadow on the table.
    outer = tray.radius + tray.rim
    for light in lighting.lights:
        way, _, _, distance = light.frame(np.zeros(3))
        drop = tray.wall / max(float(way[2]), 0.2)
        off = np.hypot(fx + float(way[0]) * drop * 2, fy + float(way[1]) * drop * 2) - outer
        soft = 3 + 2 * tray.wall * light.size / distance
        table *= 1 - (0.8 * light.share / total * np.clip(0.5 - off / soft, 0, 1))[..., None]

    floor_off = _well_distance(tray, fx, fy)
    top_off = _well_distance(tray, tx, ty)
    on_floor = np.clip(0.5 - floor_off / pixel, 0, 1)
    # Walls throw a shadow onto the floor along them, and hide a part of its sky.
    shade = 1 - 0.35 * lighting.ambient / total * np.exp(np.minimum(floor_off, 0) / 5)
    for light in lighting.lights:
        way, _, _, distance = light.frame(np.zeros(3))
        drop = tray.wall / max(float(way[2]), 0.2)
        off = _well_distance(tray, fx + float(way[0]) * drop, fy + float(way[1]) * drop)
        soft = 1.0 + 2 * drop * light.size / distance
        shade = shade - light.share / total * np.clip(0.5 + off / soft, 0, 1)
    floor *= np.clip(shade, 0.05, 1)[..., None]

    side = np.array(tray.side, dtype=np.float32) * _wall_light(tray, lighting, fx, fy)[..., None]
    rim = _rim(tray, lighting, camera, ways, tx, ty, rng)
    picture = side * (1 - on_floor[..., None]) + floor * on_floor[..., None]
    in_well = np.clip(0.5 - top_off / pixel, 0, 1)[..., None]
    out_of_tray = np.clip(0.5 + (np.hypot(tx, ty) - outer) / pixel, 0, 1)[..., None]
    picture = picture * in_well + rim * (1 - in_well)
    picture = picture * (1 - out_of_tray) + table * out_of_tray
    return picture.astype(np.float32), (on_floor * in_well[..., 0]).astype(np.float32)


def _well_distance(tray: Tray, x: Picture, y: Picture) -> Picture:
    """Give the signed distance to the nearest well's wall, negative inside, mm."""
    out: Picture = np.minimum.reduce(
        [np.hypot(x - well.x, y - well.y) - well.radius for well in tray.wells]
    )
    return out


def _wall_light(tray: Tray, lighting: Lighting, x: Picture, y: Picture) -> Picture:
    """Light on the inner walls: they face inwards."""
    reach = np.maximum(np.hypot(x, y), 1e-3)
    out: Picture = np.full_like(x, lighting.ambient * 0.5)
    for light in lighting.lights:
        way, _, _, _ = light.frame(np.zeros(3))
        lit = np.clip(-(x * float(way[0]) + y * float(way[1])) / reach, 0, 1)
        out += lit * (light.share / max(float(way[2]), 0.2))
    return out


def _rim(
    tray: Tray, lighting: Lighting, camera: Camera, ways: Triple, x: Picture, y: Picture,
    rng: np.random.Generator,
) -> Picture:  # fmt: skip
    """Draw the rim's top: a rounded ring that diffuses and, of metal, mirrors the lights."""
    reach = np.maximum(np.hypot(x, y), 1e-3)
    middle, half = tray.radius + tray.rim / 2, tray.rim / 2
    bend = np.clip((reach - middle) / half, -1, 1)
    if tray.shape == "chambers":
        bend = np.clip(bend, 0, 1)
    lean = np.sign(bend) * np.abs(bend) ** 4 * 0.8
    brushed = 0.03 * rng.standard_normal(x.shape).astype(np.float32)
    nx, ny = x / reach * lean + brushed, y / reach * lean + brushed
    nz = np.sqrt(np.maximum(1 - nx * nx - ny * ny, 0.05))
    dot = 2 * (ways[0] * nx + ways[1] * ny + ways[2] * nz)
    mirror = (ways[0] - dot * nx, ways[1] - dot * ny, ways[2] - dot * nz)
    lit = np.full_like(x, lighting.ambient)
    # Brushed metal shows a soft sky with a brighter side.
    shine = lighting.ambient * (0.55 + 0.45 * mirror[2] * (0.7 + 0.3 * mirror[0]))
    for light in lighting.lights:
        way, _, _, _ = light.frame(np.zeros(3))
        lit += light.share * np.clip(
            (nx * float(way[0]) + ny * float(way[1]) + nz * float(way[2])) / float(way[2]), 0, 2
        )
        shine = shine + light.mirrored(mirror, np.array([0.0, 0.0, tray.wall]), 22.0)
    colour = np.array(tray.rim_colour, dtype=np.float32)
    out: Picture = colour * (
        (1 - tray.metal) * lit[..., None] + tray.metal * np.asarray(shine)[..., None]
    )
    return out


def _dome(tray: Tray, camera: Camera, lighting: Lighting, ways: Triple) -> Picture:
    """Give the light a clear dome mirrors into the camera, (h, w): lights, and a faint veil."""
    radius, sink = tray.dome_radius, tray.dome_radius * 0.35
    normal, hit = _ball(camera, ways, (0.0, 0.0, tray.wall - sink), radius)
    dot = 2 * sum(ways[k] * normal[k] for k in range(3))
    mirror = (ways[0] - dot * normal[0], ways[1] - dot * normal[1], ways[2] - dot * normal[2])
    facing = np.clip(-dot / 2, 0, 1)
    fresnel = 0.06 + 0.94 * (1 - facing) ** 5
    shine = lighting.ambient * np.clip(0.15 + 0.25 * mirror[2], 0, 1)
    for light in lighting.lights:
        shine = shine + light.mirrored(mirror, np.array([0.0, 0.0, tray.wall]), 0.6)
    out: Picture = (hit * fresnel * shine).astype(np.float32)
    return out


def _lid(tray: Tray, camera: Camera, lighting: Lighting, ways: Triple, bare: Picture) -> Picture:
    """Draw the opaque cover over the tray: a shallow bell with a knob."""
    outer = tray.radius + tray.rim * 0.6
    out = bare.copy()
    height = 34.0
    radius = (outer**2 + height**2) / (2 * height)
    shapes = [((0.0, 0.0, tray.wall + height - radius), radius, tray.wall)]
    shapes.append(((0.0, 0.0, tray.wall + height + 5.0), 8.0, tray.wall + height))
    for centre, size, above in shapes:
        normal, hit = _ball(camera, ways, centre, size)
        z = centre[2] + size * normal[2]
        cover = (hit * np.clip((z - above) / 1.0, 0, 1))[..., None]
        dot = 2 * sum(ways[k] * normal[k] for k in range(3))
        mirror = (ways[0] - dot * normal[0], ways[1] - dot * normal[1], ways[2] - dot * normal[2])
        lit = lighting.ambient * (0.6 + 0.4 * normal[2])
        shine = lighting.ambient * np.clip(0.2 + 0.5 * mirror[2], 0, 1)
        for light in lighting.lights:
            way, _, _, _ = light.frame(np.array(centre))
            lit = lit + light.share / max(float(way[2]), 0.2) * np.clip(
                sum(normal[k] * float(way[k]) for k in range(3)), 0, 1
            )
            shine = shine + light.mirrored(mirror, np.array(centre), 6.0)
        colour = np.array(tray.cover_colour, np.float32) * np.asarray(lit)[..., None]
        colour = colour + 0.05 * np.asarray(shine)[..., None]
        out = out * (1 - cover) + colour * cover
    return out.astype(np.float32)


def _ball(
    camera: Camera, ways: Triple, centre: tuple[float, float, float], radius: float
) -> tuple[Triple, Picture]:
    """Meet a ball from outside: its normals there, and a soft-edged hit of 0 to 1."""
    start = camera.position - np.array(centre)
    b = sum(float(start[k]) * ways[k] for k in range(3))
    root = b * b - float(start @ start) + radius * radius
    hit = np.clip(root / (2 * radius * 0.8), 0, 1)
    t = -b - np.sqrt(np.maximum(root, 0))
    normal = tuple((float(start[k]) + t * ways[k]) / radius for k in range(3))
    return normal, np.asarray(hit, dtype=np.float32)  # type: ignore[return-value]
