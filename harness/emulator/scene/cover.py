"""The shaker's cover: an opaque lid over the tray, or a clear dome that mirrors the lights."""

from __future__ import annotations

import numpy as np

from harness.emulator.scene.camera import Camera
from harness.emulator.scene.lights import Lighting, Picture, dot
from harness.emulator.scene.tray import Tray, rays

CLEAR = 0.92
"""The share of light that passes a clear dome."""

_LID_HEIGHT = 34.0
_KNOB = 8.0


def draw_dome(tray: Tray, camera: Camera, lighting: Lighting) -> Picture:
    """Give the light (h, w) that a clear dome adds: the lights' mirror images and a faint veil."""
    ways = rays(camera)
    centre = (0.0, 0.0, tray.wall - 0.35 * tray.dome_radius)
    normal, hit = _ball(camera, ways, centre, tray.dome_radius)
    facing = -dot(ways, normal)
    mirror = ways + 2 * facing * normal
    fresnel = tray.dome_gloss + (1 - tray.dome_gloss) * (1 - np.clip(facing, 0, 1)) ** 5
    shine = lighting.ambient * np.clip(0.15 + 0.25 * mirror[2], 0, 1) + tray.dome_veil
    for light in lighting.lights:
        shine += light.mirrored(mirror, np.array([0.0, 0.0, tray.wall]), 0.6)
    dome: Picture = (hit * fresnel * shine).astype(np.float32)
    return dome


def draw_lid(tray: Tray, camera: Camera, lighting: Lighting, bare: Picture) -> Picture:
    """Draw the opaque lid, a shallow bell with a knob, over the open tray's picture (h, w, 3)."""
    outer = tray.radius + 0.6 * tray.rim
    radius = (outer**2 + _LID_HEIGHT**2) / (2 * _LID_HEIGHT)
    top = tray.wall + _LID_HEIGHT
    lid = _ball_over(bare, tray, camera, lighting, ball=(top - radius, radius, tray.wall))
    return _ball_over(lid, tray, camera, lighting, ball=(top + 0.6 * _KNOB, _KNOB, top))


def _ball_over(
    picture: Picture,
    tray: Tray,
    camera: Camera,
    lighting: Lighting,
    *,
    ball: tuple[float, float, float],
) -> Picture:
    """Draw the part of a ball (height of its middle, radius) that lies above a height."""
    ways = rays(camera)
    height, radius, above = ball
    centre = (0.0, 0.0, height)
    normal, hit = _ball(camera, ways, centre, radius)
    shown = hit * np.clip(height + radius * normal[2] - above, 0, 1)
    mirror = ways - 2 * dot(ways, normal) * normal
    lit = lighting.ambient * (0.6 + 0.4 * normal[2])
    shine = lighting.ambient * np.clip(0.2 + 0.5 * mirror[2], 0, 1)
    for light in lighting.lights:
        way, _, _, _ = light.frame(np.array(centre))
        facing = np.tensordot(way.astype(np.float32), normal, 1)
        lit += np.clip(facing, 0, 1) * (light.share / max(float(way[2]), 0.2))
        shine += light.mirrored(mirror, np.array(centre), 6.0)
    colour = lit[..., None] * np.array(tray.cover_colour, np.float32) + 0.05 * shine[..., None]
    covered: Picture = picture + (colour - picture) * shown[..., None]
    return covered.astype(np.float32)


def _ball(
    camera: Camera, ways: Picture, centre: tuple[float, float, float], radius: float
) -> tuple[Picture, Picture]:
    """Meet a ball from outside: its normals (3, h, w) there, and a soft-edged hit of 0 to 1."""
    start = (camera.position - np.array(centre)).astype(np.float32)
    b = np.tensordot(start, ways, 1)
    root = b * b - float(start @ start) + radius * radius
    hit: Picture = np.clip(root / (1.6 * radius), 0, 1)
    t = -b - np.sqrt(np.maximum(root, 0))
    normal: Picture = (start[:, None, None] + t * ways) / radius
    return normal, hit
