"""Scenes drawn at random to be hard to read: glare, haze, dice that touch, tilted cameras.

The spreads follow those of real shakers seen by table cameras: 45 to 100 pixels a die on a 640
pixel picture, three kinds of light, bare trays, clear domes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.emulator.scene.camera import Camera
from harness.emulator.scene.dice import STYLES
from harness.emulator.scene.lights import Light, overhead
from harness.emulator.scene.scene import SceneConfig
from harness.emulator.scene.sensor import Sensor
from harness.emulator.scene.tray import Colour, Tray

_FLOORS: tuple[Colour, ...] = (
    (0.045, 0.12, 0.02),  # green felt
    (0.008, 0.008, 0.008),  # black felt
    (0.05, 0.047, 0.045),  # rubber
    (0.11, 0.03, 0.02),  # blue felt
    (0.02, 0.02, 0.13),  # red felt
)
_RIMS: tuple[tuple[Colour, float], ...] = (
    ((0.20, 0.48, 0.65), 0.8),  # brass
    ((0.60, 0.60, 0.58), 0.8),  # steel
    ((0.10, 0.12, 0.32), 0.1),  # lacquered wood
    ((0.02, 0.02, 0.02), 0.2),  # black plastic
    ((0.62, 0.70, 0.74), 0.2),  # ivory plastic
)


def draw_hard(
    rng: np.random.Generator, styles: Sequence[str] = tuple(STYLES), most_tilt_deg: float = 12.0
) -> SceneConfig:
    """Draw a scene of 640 x 480 pixels; the camera tilts by at most `most_tilt_deg`."""
    radius = float(rng.uniform(52.0, 58.0))
    rim, metal = _RIMS[int(rng.integers(len(_RIMS)))]
    cover = "dome" if rng.uniform() < 0.4 else "opaque"
    focal = float(rng.uniform(950, 2000))
    off = radius * max(0.0, focal / 1500 - 0.7)
    camera = Camera(
        width=640,
        height=480,
        focal_px=focal,
        distance_mm=float(rng.uniform(320, 380)),
        tilt_deg=float(rng.uniform(0, most_tilt_deg)),
        azimuth_deg=float(rng.uniform(0, 360)),
        roll_deg=float(rng.uniform(0, 360)),
        aim_mm=(float(rng.uniform(-off, off) * 0.3), float(rng.uniform(-off, off) * 0.3)),
        defocus_px=float(rng.uniform(0.1, 1.1)),
    )
    tray = Tray(
        radius=radius,
        wall=float(rng.uniform(9, 16)),
        rim=float(rng.uniform(6, 13)),
        floor=_FLOORS[int(rng.integers(len(_FLOORS)))],
        weave=float(rng.uniform(0.04, 0.16)),
        rim_colour=rim,
        metal=metal,
        table=_dim_colour(rng),
        dome_radius=radius + float(rng.uniform(8, 25)),
        dome_veil=float(rng.uniform(0, 1.2)),
        dome_gloss=0.08,
    )
    lights, ambient = _lights(rng, camera)
    return SceneConfig(
        style=str(styles[int(rng.integers(len(styles)))]),
        hand="right" if rng.uniform() < 0.6 else "left",
        edge_mm=float(rng.uniform(15.0, 17.0)),
        camera=camera,
        tray=tray,
        lights=lights,
        ambient=ambient,
        cover="dome" if cover == "dome" else "opaque",
        cover_on=cover == "dome",
        sensor=Sensor(
            ev=float(rng.uniform(-0.5, 0.35)),
            white_balance=(float(rng.uniform(0.85, 1.12)), 1.0, float(rng.uniform(0.85, 1.12))),
            contrast=float(rng.uniform(0, 0.4)),
            noise=float(rng.uniform(0.6, 4.0)),
            vignette=float(rng.uniform(0.05, 0.35)),
            sharpen=float(rng.uniform(0, 0.6)),
            quality=int(rng.integers(70, 95)),
        ),
        gap_mm=0.0,
        touching=0.45,
    )


def _dim_colour(rng: np.random.Generator) -> Colour:
    colour = rng.uniform(0.02, 0.12, size=3)
    return float(colour[0]), float(colour[1]), float(colour[2])


def _lights(rng: np.random.Generator, camera: Camera) -> tuple[tuple[Light, ...], float]:
    """Draw soft boxes, bare bulbs, or a ring about the lens with a soft box."""
    ambient = float(rng.uniform(0.16, 0.45))
    kind = rng.choice(["soft", "spots", "ring"], p=[0.35, 0.3, 0.35])
    whole = float(rng.uniform(0.8, 1.1)) - ambient
    count = int(rng.integers(1, 4))
    shares = rng.dirichlet(np.full(count, 2.0)) * whole
    lights = []
    for share in shares:
        place = overhead(
            float(rng.uniform(0, 360)), float(rng.uniform(38, 84)), float(rng.uniform(420, 900))
        )
        if kind == "spots":
            lights.append(Light(place, float(share), float(rng.uniform(40, 70)), "disc"))
        else:
            lights.append(Light(place, float(share), float(rng.uniform(90, 260)), "panel"))
    if kind == "ring":
        x, y, z = (float(c) for c in camera.position)
        lights[0] = Light((x, y, z), float(shares[0]), float(rng.uniform(35, 70)), "ring")
    return tuple(lights), ambient
