"""What a point of a die's surface looks like: pips, light, shadow, mirrored lights, clear bodies.

Points and ways are arrays (3, n) in the die's frame; normals are those of a rounded box, so edges
shade smoothly. Light is linear, BGR, 1 = a white floor in full light.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.emulator.scene.dice import ATLAS_SIZE, Die, die_atlas
from harness.emulator.scene.lights import Lighting, Picture, dot, unit
from harness.emulator.scene.poses import Placed

Flags = NDArray[np.bool_]

_GRAZING = 0.15
"""Cosine below which a worn surface mirrors no more."""

REFRACTION = 1.49
"""Refractive index of cellulose acetate, which clear dice are made of."""


def shade(
    placed: Placed,
    others: Sequence[Placed],
    lighting: Lighting,
    *,
    at: Picture,
    way: Picture,
    on_ball: Flags,
) -> Picture:
    """Give the colours (n, 3) of points `at` seen along unit ways; `on_ball`: on a cut corner."""
    die, style = placed.die, placed.die.style
    turn = placed.rotation.astype(np.float32)
    core = die.edge_mm / 2 * (1 - style.edge_round)
    normal = unit(np.where(on_ball, at, at - np.clip(at, -core, core)))
    body, rough = _pips(die, at, normal)

    rise = turn[2] @ rough
    height = (float(placed.position[2]) + turn[2] @ at) / die.edge_mm
    # Low down, the floor hides part of the sky and gives back its own colour.
    sky = lighting.ambient * np.clip(0.35 + 0.45 * height + 0.4 * rise, 0.15, 1.0)
    sky *= 0.72 + 0.28 * rise
    bounce = np.clip(0.5 - 0.5 * rise, 0, 1) * np.clip(1 - height / 3, 0.2, 1)
    floor = np.array(lighting.floor, dtype=np.float32) * (0.55 * lighting.total)
    light_sum = sky[:, None] + bounce[:, None] * floor

    facing = -dot(way, normal)
    fresnel = style.gloss + (1 - style.gloss) * (1 - np.clip(facing, _GRAZING, 1)) ** 5
    mirror = turn @ (way + 2 * facing * normal)
    shine = lighting.ambient * np.clip(0.35 + 0.65 * mirror[2], 0.1, 1)
    for light in lighting.lights:
        to_light, _, _, distance = light.frame(placed.position)
        local = (to_light @ placed.rotation).astype(np.float32)
        # A wide light still reaches surfaces that its middle does not.
        reach = light.size / distance
        lit = np.clip((local @ rough + reach) / (1 + reach), 0, 1)
        lit *= light.share / max(float(to_light[2]), 0.2)
        clear = _clear(placed, others, local, at)
        light_sum += (lit * clear)[:, None]
        shine += clear * light.mirrored(mirror, placed.position, style.haze_deg)
    colour: Picture = body * light_sum + (fresnel * shine)[:, None]
    if style.clear:
        colour += _through(placed, lighting, at=at, way=way, normal=normal, body=body)
    return colour


def _printed(die: Die, at: Picture) -> tuple[NDArray[np.intp], Picture]:
    """Look points up on the die's faces: the face (n,), and the atlas' four layers (n, 4)."""
    count, every = at.shape[1], np.arange(at.shape[1])
    axis = np.abs(at).argmax(axis=0)
    face = 2 * axis + (at[axis, every] < 0)
    scale = ATLAS_SIZE / die.edge_mm
    # remap takes pictures of less than 32768 columns: points are laid out in rows.
    rows = -(-count // 1024)
    places = np.zeros((2, rows * 1024), dtype=np.float32)
    places[0, :count] = at[(axis + 1) % 3, every] * scale + (ATLAS_SIZE - 1) / 2
    v = at[(axis + 2) % 3, every] * scale + (ATLAS_SIZE - 1) / 2
    places[1, :count] = np.clip(v, 0, ATLAS_SIZE - 1) + face * ATLAS_SIZE
    u, v = places.reshape(2, rows, 1024)
    found = cv2.remap(die_atlas(die), u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return face, np.asarray(found, dtype=np.float32).reshape(-1, 4)[:count]


def _pips(die: Die, at: Picture, normal: Picture) -> tuple[Picture, Picture]:
    """Give the surface's own colour (n, 3) and its normals (3, n) with the drilled pips."""
    style = die.style
    body, pip = (np.array(c, dtype=np.float32) for c in (style.body, style.pip))
    face, found = _printed(die, at)
    colour = np.tile(body, (at.shape[1], 1))
    on = np.flatnonzero(found[:, 0] > 0)
    shown = found[on]
    other = np.array(style.one or style.pip, dtype=np.float32)
    colour[on] += shown[:, :1] * (pip - body) + shown[:, 3:] * (other - pip)
    if not style.bowl:
        return colour, normal
    rough = normal.copy()
    axis = face[on] // 2
    rough[(axis + 1) % 3, on] += shown[:, 1]
    rough[(axis + 2) % 3, on] += shown[:, 2]
    rough[:, on] = unit(rough[:, on])
    return colour, rough


def _clear(placed: Placed, others: Sequence[Placed], local: Picture, at: Picture) -> Picture:
    """Give how much of a light (unit way, die's frame) reaches points past the other dice, (n,)."""
    free = np.ones(at.shape[1], dtype=np.float32)
    way = placed.rotation @ local
    for other in others:
        apart = other.position - placed.position
        along = float(apart @ way)
        aside = float(np.linalg.norm(apart - along * way))
        if along < 0 or aside > 1.75 * placed.die.edge_mm:
            continue
        shift = other.rotation.T @ placed.rotation
        start = (other.rotation.T @ -apart).astype(np.float32)[:, None]
        points = start + shift.astype(np.float32) @ at
        ray = shift @ local
        half = other.die.edge_mm / 2 * 0.97
        near = np.full(len(free), 1e-3, dtype=np.float32)
        far = np.full(len(free), np.inf, dtype=np.float32)
        for k in range(3):
            step = float(ray[k]) if abs(ray[k]) > 1e-6 else 1e-6
            one, two = (-half - points[k]) / step, (half - points[k]) / step
            np.maximum(near, np.minimum(one, two), out=near)
            np.minimum(far, np.maximum(one, two), out=far)
        # A ray that only grazes the die is half shaded: the light has a size.
        free *= 1 - np.clip((far - near) / (0.12 * other.die.edge_mm), 0, 1)
    return free


def _through(
    placed: Placed,
    lighting: Lighting,
    *,
    at: Picture,
    way: Picture,
    normal: Picture,
    body: Picture,
) -> Picture:
    """Give the light (n, 3) that comes through a clear die: what lies at the far faces, tinted."""
    die, style = placed.die, placed.die.style
    half = die.edge_mm / 2
    cosine = -dot(way, normal)
    ratio = 1 / REFRACTION
    inner = np.sqrt(np.maximum(1 - ratio**2 * (1 - cosine**2), 0))
    bent = ratio * way + (ratio * cosine - inner) * normal
    bent = np.where(np.abs(bent) < 1e-4, 1e-4, bent).astype(np.float32)
    reach = np.clip(((np.sign(bent) * half - at) / bent).min(axis=0), 0, 2 * die.edge_mm)
    leaves = (at + reach * bent).astype(np.float32)
    floor = np.array(lighting.floor, dtype=np.float32)
    white = np.array(style.pip, dtype=np.float32)
    face, found = _printed(die, leaves)
    rise = placed.rotation[2, face // 2] * np.where(face % 2 == 0, 1, -1)
    wall = (0.16 + 0.2 * np.maximum(rise, 0)).astype(np.float32)[:, None]
    behind = np.where((rise < -0.5)[:, None], 0.30 * floor, wall)
    glow = (behind + found[:, :1] * (0.45 * white - behind)) * np.float32(lighting.total)
    own = np.array(style.body, dtype=np.float32)
    passed = (own**0.55) ** (0.4 + reach / die.edge_mm)[:, None]
    # Pips on the near face are opaque.
    opaque = np.clip((body[:, :1] - own[0]) / (white[0] - own[0]), 0, 1)
    through: Picture = (glow * passed * (1 - opaque)).astype(np.float32)
    return through
