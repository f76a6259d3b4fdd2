"""Draws random scenes of dice with everything known about them, from a seed."""

# mypy: disable-error-code="import-not-found,misc,no-any-return,arg-type,call-overload"
# mypy: disable-error-code="import-untyped,assignment,untyped-decorator"
# Training only: torch and numba bring no types into the project's environment.

from __future__ import annotations

import math
from typing import Any

import cv2
import numpy as np

from harness.vision.training import overlays
from harness.vision.training.raycast import cast
from harness.vision.training.surfaces import any_colour, draw_surface

Rng = np.random.Generator
WIDTH, HEIGHT = 640, 480
GATHERED = 200_000
"""Number from which on pictures show dice that touch."""
STANDING = 300_000
"""Number from which on pictures show how dice stand: many lean, under cameras of every tilt."""
SHEETS = 301_500
"""Number from which on some of these dice mirror bright sheets."""
DOMES = 400_000
"""Number from which on dice lie under domes that mirror lamps, as many dice do themselves, and
clear dice show their lower faces' pips."""
SWEPT = 500_000
"""Number from which on nearly all such dice mirror sheets of light, most of them clear dice."""
STATES = ("flat", "leaning", "stacked_top", "under", "blank", "covered", "moving", "cut")
_RED = (0.04, 0.03, 0.62)


_USUAL = (0.2, 0.17, 0.1, 0.06, 0.15, 0.1, 0.06, 0.06, 0.1)
_CLEAR = (0.15, 0.12, 0.1, 0.1, 0.27, 0.06, 0.06, 0.06, 0.08)
_CLEARER = (0.1, 0.1, 0.06, 0.08, 0.45, 0.06, 0.05, 0.05, 0.05)
"""How often each style is drawn: usually, and where light on clear dice is what is shown."""


def _style(rng: Rng, shares: tuple[float, ...] = _USUAL) -> dict[str, Any]:
    """Draw a die style: body, pips, shape. Colours are BGR albedos."""
    kind = rng.choice(
        ["white", "asian", "black", "red", "clear", "ivory", "blue", "green", "any"],
        p=shares,
    )
    jitter = 1 + rng.normal(0, 0.06, 3)
    white = np.array([0.8, 0.8, 0.8]) * rng.uniform(0.8, 1.12) * (1 + rng.normal(0, 0.03, 3))
    dark = np.array([1, 1, 1]) * rng.uniform(0.008, 0.06)
    body, pip, one, four = white, dark, None, None
    if kind == "asian":
        red = np.array(_RED) * rng.uniform(0.8, 1.2)
        one, four = red, red
    elif kind == "black":
        body, pip = dark * rng.uniform(1, 2.5), white
    elif kind == "red":
        body, pip = np.array([0.05, 0.04, 0.45]) * rng.uniform(0.5, 1.5) * jitter, white
    elif kind == "clear":
        body = np.array([0.03, 0.02, 0.32]) * rng.uniform(0.4, 1.6) * jitter
        if rng.random() < 0.3:
            body = body[[0, 2, 1]] if rng.random() < 0.5 else body[[2, 1, 0]]
        pip = white
    elif kind == "ivory":
        body = np.array([0.5, 0.68, 0.78]) * rng.uniform(0.8, 1.1) * jitter
    elif kind == "blue":
        body, pip = np.array([0.4, 0.12, 0.05]) * rng.uniform(0.4, 1.6) * jitter, white
    elif kind == "green":
        body, pip = np.array([0.08, 0.3, 0.05]) * rng.uniform(0.4, 1.6) * jitter, white
    elif kind == "any":
        body = any_colour(rng, 0.02, 0.9)
        bright = float(body @ [0.1, 0.6, 0.3])
        pip = white if bright < 0.25 else dark
        if 0.12 < bright < 0.5 and rng.random() < 0.4:
            pip = np.array([0.1, 0.65, 0.75]) if bright < 0.2 else dark
    bevel = rng.uniform(0.015, 0.06) if kind in ("clear",) else rng.uniform(0.03, 0.2)
    ball = rng.uniform(0.69, 0.87) if rng.random() < 0.5 and kind != "clear" else 2.0
    return {
        "body": body,
        "pip": pip,
        "one": one,
        "four": four,
        "bevel": bevel,
        "ball": ball,
        "radius": rng.uniform(0.062, 0.125),
        "reach": rng.uniform(0.19, 0.285),
        "six": rng.uniform(0.85, 1.2),
        "wide": rng.uniform(0.85, 1.1),
        "big": rng.uniform(0.12, 0.21)
        if kind == "asian" and rng.random() < 0.85
        else (rng.uniform(0.1, 0.17) if rng.random() < 0.08 else None),
        "depth": rng.uniform(0, 0.9),
        "shine": rng.uniform(0.02, 0.07),
        "wave": rng.uniform(0, 0.06) if rng.random() < (0.6 if kind == "clear" else 0.2) else 0.0,
        "rough": rng.uniform(0.08, 0.6),
        "glow": rng.uniform(0.2, 1.0) if kind == "clear" else 0.0,
    }


def _pips(value: int, style: dict[str, Any], quarter: bool) -> list[tuple[float, ...]]:
    """Give the pips of a face: (u, v, radius, b, g, r, opacity)."""
    g, r = style["reach"], style["radius"]
    colour = style["pip"]
    spots = {
        1: [(0, 0)],
        2: [(-g, -g), (g, g)],
        3: [(-g, -g), (0, 0), (g, g)],
        4: [(-g, -g), (-g, g), (g, -g), (g, g)],
        5: [(-g, -g), (-g, g), (0, 0), (g, -g), (g, g)],
        6: [(sx * g * style["wide"], y * g * style["six"]) for sx in (-1, 1) for y in (-1, 0, 1)],
    }[value]
    if value == 6:
        r = min(r, g * style["six"] * 0.46)
    if value == 1 and style["one"] is not None:
        colour = style["one"]
    if value == 4 and style["four"] is not None:
        colour = style["four"]
    if value == 1 and style["big"]:
        r = style["big"]
    if quarter:
        spots = [(-y, x) for x, y in spots]
    return [(x, y, r, *colour, 1.0) for x, y in spots]


def _shining_through(rng: Rng, value: int, style: dict[str, Any]) -> list[tuple[float, ...]]:
    """Give the pips of a lower face, `value`, as a clear die shows them in the upper one."""
    pips = np.array(_pips(value, style, bool(rng.integers(2))))
    shrunk = rng.uniform(0.6, 0.85)
    pips[:, :2] = pips[:, :2] * shrunk + rng.normal(0, 0.06, 2)
    pips[:, 2] *= shrunk
    pips[:, 6] = rng.uniform(0.04, 0.35)
    return [tuple(p) for p in pips.tolist()]


def _aim(rng: Rng, camera: Any, die: Any) -> Any:
    """Give where above (direction / height, 2) a lamp is that a die's top face mirrors."""
    away = (die[:2] - camera[:2]) / (camera[2] - 1.0)
    return away + rng.normal(0, 0.4, 2) / (camera[2] - 1.0)


def _turn(axis: Any, angle: float) -> Any:
    return cv2.Rodrigues(np.asarray(axis, float) / np.linalg.norm(axis) * angle)[0]


def _camera(rng: Rng, shaker: bool, most_tilt: float | None = None) -> tuple[Any, float]:
    """Draw a camera; `most_tilt` has every tilt up to so many degrees alike."""
    f = math.exp(rng.uniform(math.log(480), math.log(2200)))
    edge = math.exp(rng.uniform(math.log(30), math.log(165 if not shaker else 130)))
    tilt = abs(rng.normal(0, 7)) if shaker else rng.uniform(0, 48)
    if most_tilt is not None:
        tilt = rng.uniform(0, most_tilt)
    tilt = math.radians(min(tilt, 27) if shaker else tilt)
    distance = max(f / edge, 4.0)
    azimuth, roll = rng.uniform(0, 2 * math.pi, 2)
    forward = -np.array(
        [math.sin(tilt) * math.cos(azimuth), math.sin(tilt) * math.sin(azimuth), math.cos(tilt)]
    )
    side = np.cross(forward, [math.cos(roll), math.sin(roll), 0.3])
    side /= np.linalg.norm(side)
    down = np.cross(forward, side)
    camera = np.zeros(16)
    camera[:3] = -forward * distance + np.array([0, 0, 0.5])
    camera[3:6], camera[6:9], camera[9:12] = side, down, forward
    camera[12:15] = f, WIDTH / 2 - 0.5, HEIGHT / 2 - 0.5
    return camera, distance


def project(camera: Any, points: Any) -> Any:
    """Project points (n, 3) in edges to pixels (n, 2)."""
    q = (np.asarray(points, float) - camera[:3]) @ camera[3:12].reshape(3, 3).T
    return q[:, :2] / q[:, 2:] * camera[12] + camera[13:15]


def _on_plane(camera: Any, pixels: Any, z: float) -> Any:
    """Give the points of the plane at height z seen at pixels (n, 2)."""
    rays = np.c_[(np.asarray(pixels) - camera[13:15]) / camera[12], np.ones(len(pixels))]
    rays = rays @ camera[3:12].reshape(3, 3)
    rays[:, 2] = np.minimum(rays[:, 2], -1e-3)
    return camera[:3] + rays * ((z - camera[2]) / rays[:, 2])[:, None]


def _square(x: float, y: float, yaw: float, grow: float = 1.0) -> Any:
    c, s = math.cos(yaw) * grow / 2, math.sin(yaw) * grow / 2
    return np.array(
        [[x + a * c - b * s, y + a * s + b * c] for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))],
        np.float32,
    )


def _place(rng: Rng, camera: Any, count: int) -> list[tuple[float, float, float]]:
    """Place that many dice apart from each other, some touching: (x, y, yaw)."""
    placed: list[tuple[float, float, float]] = []
    margin = 0.4 * camera[12] / np.linalg.norm(camera[:3])
    gather = rng.random() < 0.55
    for _ in range(60):
        if len(placed) == count:
            break
        yaw = rng.uniform(0, math.pi / 2)
        if placed and rng.random() < (0.7 if gather else 0.25):
            x0, y0, yaw0 = placed[rng.integers(len(placed))]
            if rng.random() < 0.6:
                yaw = yaw0 + (rng.normal(0, 0.03) if rng.random() < 0.7 else rng.uniform(-0.5, 0.5))
            a = yaw0 + rng.integers(4) * math.pi / 2 + rng.uniform(-0.5, 0.5)
            gap = rng.uniform(1.0, 1.5)
            if rng.random() < 0.5:
                # Flush: side to side, maybe pushed along it.
                yaw, gap = yaw0 + rng.normal(0, 0.01), rng.uniform(1.006, 1.03)
                side = yaw0 + rng.integers(4) * math.pi / 2
                along = rng.choice([0.0, rng.uniform(-0.6, 0.6)])
                a, gap = side + math.atan2(along, gap), math.hypot(gap, along)
            x, y = x0 + gap * math.cos(a), y0 + gap * math.sin(a)
        else:
            edge = rng.random() < 0.07
            m = -0.6 * margin if edge else margin * 1.3
            px = (rng.uniform(m, WIDTH - m), rng.uniform(m, HEIGHT - m))
            x, y, _z = _on_plane(camera, [px], 0.5)[0]
        new = _square(x, y, yaw, 1.005)
        if any(cv2.intersectConvexConvex(new, _square(*p))[0] > 1e-4 for p in placed):
            continue
        placed.append((float(x), float(y), yaw))
    return placed


def _gather(rng: Rng, camera: Any, count: int) -> list[tuple[float, float, float]]:
    """Place that many dice side to side, in a row, round a corner or pushed along each other."""
    margin = 0.9 * camera[12] / np.linalg.norm(camera[:3])
    px = (rng.uniform(margin, WIDTH - margin), rng.uniform(margin, HEIGHT - margin))
    x, y, _z = _on_plane(camera, [px], 0.5)[0]
    placed = [(float(x), float(y), float(rng.uniform(0, math.pi / 2)))]
    pushed = rng.random() < 0.5
    for _ in range(60):
        if len(placed) == count:
            break
        x, y, yaw = placed[rng.integers(len(placed))]
        gap, along = rng.uniform(1.0, 1.025), rng.uniform(-0.9, 0.9) if pushed else 0.0
        side = yaw + rng.integers(4) * math.pi / 2
        x += gap * math.cos(side) - along * math.sin(side)
        y += gap * math.sin(side) + along * math.cos(side)
        new = (x, y, yaw + rng.normal(0, 0.008))
        if all(
            cv2.intersectConvexConvex(_square(*new, 0.99), _square(*p))[0] < 1e-4 for p in placed
        ):
            placed.append(new)
    return placed


def _tip(rng: Rng, spots: list[tuple[float, float, float]], k: int, angle: float, turn: Any) -> Any:
    """Tip die k, turned by `turn`: towards or from a neighbour, over an edge or any way."""
    azimuth = rng.uniform(0, 2 * math.pi)
    x, y, yaw = spots[k]
    near = [s for s in spots if 0 < math.dist(s[:2], (x, y)) < 2.2]
    if near:
        azimuth = math.atan2(near[0][1] - y, near[0][0] - x) + rng.normal(0, 0.15)
        azimuth += math.pi * rng.integers(2)
    elif rng.random() < 0.7:
        azimuth = yaw + rng.integers(4) * math.pi / 2 + rng.normal(0, 0.1)
    return _turn((math.cos(azimuth), math.sin(azimuth), 0), angle) @ turn


def _in_face(pips: Any) -> Any:
    """Give the places of a top face's pips (n, 7) in the die's own frame (n, 3), in edges."""
    return np.c_[pips[:, :2], np.full(len(pips), 0.5)]


def _shown(jpeg: Any, pips: Any, radius: float) -> float:
    """Give by how many grey levels the faintest of a face's pips (n, 2) px stands out."""
    picture = np.asarray(cv2.imdecode(jpeg, cv2.IMREAD_COLOR), np.float32)
    angles = np.arange(12) * math.pi / 6
    ring = np.stack([np.cos(angles), np.sin(angles)], 1)
    least = 255.0
    for at in pips:
        means = []
        for points in (np.concatenate([[[0, 0]], ring * radius * 0.5]), ring * radius * 1.6):
            px = np.rint(at + points).astype(int)
            px = np.clip(px, 0, np.array([WIDTH, HEIGHT]) - 1)
            means.append(np.median(picture[px[:, 1], px[:, 0]], axis=0))
        least = min(least, float(np.abs(means[0] - means[1]).max()))
    return least


def draw_scene(seed: int) -> tuple[Any, dict[str, Any]]:
    """Draw picture number `seed`; gives JPEG bytes and the truth about its dice.

    From `GATHERED` on dice lie side to side, with gleams on them and light that burns out seams;
    from `STANDING` on many lean, and reflections are stark; from `DOMES` on light lies over them.
    """
    rng = np.random.default_rng([7041, seed])
    standing = seed >= STANDING
    gathered = seed >= GATHERED and not standing
    domed = seed >= DOMES
    shaker = rng.random() < 0.62 or standing
    camera, distance = _camera(rng, shaker, 26.0 if standing else None)
    count = int(rng.choice([1, 2, 3, 4, 5, 6], p=[0.06, 0.1, 0.5, 0.16, 0.12, 0.06]))
    if standing:
        count = int(rng.integers(3, 6))
    close = rng.random() < (0.3 if standing else 0.75) if gathered or standing else False
    spots = (_gather if close else _place)(rng, camera, count)
    swept = seed >= SWEPT
    styles = [_style(rng, _CLEARER if swept else _CLEAR if domed else _USUAL)]
    if rng.random() < 0.15:
        styles.append(_style(rng))
    n = len(spots)
    trouble = rng.choice(
        ["none", "leaning", "stacked", "blank", "sticker", "moving", "chip"],
        p=[0.55, 0.2, 0.08, 0.04, 0.04, 0.05, 0.04]
        if gathered
        else [0.3, 0.28, 0.13, 0.06, 0.06, 0.12, 0.05],
    )
    states = ["flat"] * n
    z = np.full(n, 0.5)
    lean = np.zeros(n)
    turns = np.zeros((n, 3, 3))
    die_styles = [styles[rng.integers(len(styles))] for _ in range(n)]
    for k, (_x, _y, yaw) in enumerate(spots):
        turns[k] = _turn((0, 0, 1), yaw)
    upset = int(rng.integers(n)) if n else 0
    if standing and rng.random() < 0.8:
        trouble = "none"
        leaning = 0.45 if not domed or rng.random() < (0.35 if swept else 0.6) else 0.0
        for k in range(n):
            if rng.random() < leaning:
                lean[k] = rng.uniform(9, 24) if rng.random() < 0.7 else rng.uniform(4, 42)
                turns[k] = _tip(rng, spots, k, math.radians(lean[k]), turns[k])
                bevel = die_styles[k]["bevel"]
                z[k] = np.abs(turns[k][2]).sum() * (0.5 - bevel) + bevel
                states[k] = "leaning" if lean[k] > 8.5 else "tilted"
    elif trouble == "leaning":
        # Every second one lies against a neighbour, the rest anywhere (a wall, a crumb beneath).
        angle = math.radians(rng.uniform(3, 45) if rng.random() < 0.75 else rng.uniform(8, 22))
        azimuth = rng.uniform(0, 2 * math.pi)
        near = [
            j for j in range(n) if j != upset and math.dist(spots[j][:2], spots[upset][:2]) < 2.2
        ]
        yaw = spots[upset][2]
        if near:
            azimuth = math.atan2(
                spots[near[0]][1] - spots[upset][1], spots[near[0]][0] - spots[upset][0]
            ) + rng.normal(0, 0.15)
            azimuth += math.pi * rng.integers(2)
        elif rng.random() < 0.7:
            azimuth = yaw + rng.integers(4) * math.pi / 2 + rng.normal(0, 0.1)
        turns[upset] = _turn((math.cos(azimuth), math.sin(azimuth), 0), angle) @ turns[upset]
        bevel = die_styles[upset]["bevel"]
        z[upset] = np.abs(turns[upset][2]).sum() * (0.5 - bevel) + bevel
        lean[upset] = math.degrees(angle)
        states[upset] = "leaning" if lean[upset] > 7 else "tilted"
    elif trouble == "stacked" and n >= 2:
        lower = int((upset + 1) % n)
        x0, y0, _ = spots[lower]
        a, r = rng.uniform(0, 2 * math.pi), rng.uniform(0, 0.5)
        spots[upset] = (x0 + r * math.cos(a), y0 + r * math.sin(a), spots[upset][2])
        z[upset] = 1.5
        states[upset], states[lower] = "stacked_top", "under"
        for j in range(n):
            if j not in (upset, lower) and math.dist(spots[j][:2], spots[upset][:2]) < 1.2:
                states[j] = "under"
    values = rng.integers(1, 7, n)
    centre = np.array([[x, y, zz] for (x, y, _), zz in zip(spots, z, strict=True)]).reshape(n, 3)
    shape = np.array([[1.0, s["bevel"], s["ball"]] for s in die_styles]).reshape(n, 3)
    body = np.array(
        [[*s["body"], s["shine"], s["rough"], s["depth"], s["glow"], s["wave"]] for s in die_styles]
    ).reshape(n, 8)
    pips = np.zeros((n, 6, 12, 7))
    counts = np.zeros((n, 6), np.int64)
    own = np.zeros(n, np.int64)
    sticker = np.zeros((n, 5))
    for k in range(n):
        v = int(values[k])
        rest = [w for w in range(1, 7) if w not in (v, 7 - v)]
        a = int(rng.choice(rest))
        b = int(rng.choice([w for w in rest if w not in (a, 7 - a)]))
        for face, w in enumerate((a, 7 - a, b, 7 - b, v, 7 - v)):
            if face == 4 and trouble == "blank" and k == upset:
                states[k] = "blank"
                continue
            spots_of = _pips(w, die_styles[k], bool(rng.integers(2)))
            own[k] = len(spots_of) if face == 4 else own[k]
            if domed and face == 4 and die_styles[k]["glow"] and rng.random() < 0.5:
                # Drawn first: the upper face's own pips lie over them.
                spots_of = [*_shining_through(rng, 7 - w, die_styles[k]), *spots_of]
            for i, spot in enumerate(spots_of):
                pips[k, face, i] = spot
                counts[k, face] = i + 1
        if trouble == "sticker" and k == upset:
            states[k] = "covered"
            sticker[k, 0] = rng.uniform(0.3, 0.47)
            sticker[k, 1:4] = die_styles[k]["pip"] if rng.random() < 0.3 else any_colour(rng)
            sticker[k, 4] = rng.uniform(-0.06, 0.06)
    lights = np.zeros((int(rng.integers(1, 4)), 7))
    for m in range(len(lights)):
        a, e = rng.uniform(0, 2 * math.pi), rng.uniform(math.radians(25), math.radians(88))
        far = rng.uniform(8, 60)
        lights[m, :3] = (
            far * math.cos(a) * math.cos(e),
            far * math.sin(a) * math.cos(e),
            far * math.sin(e),
        )
        share = rng.uniform(0.2, 1.0) * (1 + rng.normal(0, 0.06, 3))
        lights[m, 3:6] = share
        lights[m, 6] = math.exp(rng.uniform(math.log(0.02), math.log(0.5)))
    ambient = rng.uniform(0.15, 1.2)
    whole = lights[:, 3:6].sum(axis=0).mean() * 0.8 + ambient
    lights[:, 3:6] /= whole
    ambient /= whole
    sky = np.array([rng.uniform(0, 0.5), rng.uniform(0, 1.2)])
    quads = np.zeros((int(rng.integers(0, 4)) + swept, 8))
    sheets = seed >= SHEETS and rng.random() < (0.9 if swept else 0.75 if domed else 0.4)
    if sheets:
        body[:, 7] *= rng.uniform(1, 2.5)
    for q in quads:
        a, size = rng.uniform(0, math.pi), rng.uniform(0.04, 0.5)
        q[:] = (
            *rng.normal(0, 0.4, 2),
            size,
            size * rng.uniform(0.2, 1),
            math.cos(a),
            math.sin(a),
            rng.uniform(0, 1) ** 2 * 9,
            rng.uniform(0.01, 0.25),
        )
        if sheets:
            q[:4] = *rng.normal(0, 0.25, 2), rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.9)
            q[6] = rng.uniform(1, 12)
        if sheets and domed and n:
            q[:2] = _aim(rng, camera, centre[rng.integers(n)])
            q[2:4] = rng.uniform(0.03, 0.5, 2)
    ends = _on_plane(camera, [(0, 0), (WIDTH, 0), (WIDTH, HEIGHT), (0, HEIGHT)], 0.0)[:, :2]
    extent = 2 * float(np.clip(np.abs(ends).max(), 3, 60))
    radius = rng.uniform(2.5, 6)
    if shaker and n:
        middle = np.mean([s[:2] for s in spots], axis=0)
        radius = max(radius, max(math.dist(s[:2], middle) for s in spots) + rng.uniform(0.8, 1.6))
    else:
        middle = np.zeros(2)
    surface = draw_surface(rng, shaker and rng.random() < 0.9, extent, radius)
    tips = _on_plane(
        camera, [(0, 0), (WIDTH - 1, 0), (WIDTH - 1, HEIGHT - 1), (0, HEIGHT - 1)], 0.0
    )
    on_cloth = ((tips[:, :2] - middle * 0.999) / extent + 0.5) * surface.shape[0]
    matrix = cv2.getPerspectiveTransform(
        on_cloth.astype(np.float32),
        np.array([(0, 0), (WIDTH - 1, 0), (WIDTH - 1, HEIGHT - 1), (0, HEIGHT - 1)], np.float32),
    )
    ground = cv2.warpPerspective(
        surface, matrix, (WIDTH, HEIGHT), flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REFLECT
    )

    def render(keep: list[int]) -> tuple[Any, Any, Any]:
        return cast(
            HEIGHT,
            WIDTH,
            camera,
            np.ascontiguousarray(centre[keep]),
            np.ascontiguousarray(turns[keep]),
            shape[keep],
            body[keep],
            pips[keep],
            counts[keep],
            sticker[keep],
            lights,
            float(ambient),
            sky,
            quads,
            ground.astype(np.float32),
        )

    every = list(range(n))
    picture, who, which = render(every)
    edge_px = camera[12] / distance
    if trouble == "moving" and n:
        for k in [upset] if rng.random() < 0.6 else every:
            rest = [j for j in every if j != k]
            mask = cv2.GaussianBlur((who == k).astype(np.float32), (0, 0), 0.8)
            picture = overlays.move_die(rng, render(rest)[0], picture, mask, edge_px)
            states[k] = "moving"
    chips = []
    covered = np.zeros((HEIGHT, WIDTH), np.float32)
    if trouble == "chip" or rng.random() < 0.06:
        r, height = rng.uniform(0.6, 1.5), 0.1
        if n and trouble == "chip" and rng.random() < 0.4:
            x, y = np.array(spots[upset][:2]) + rng.normal(0, 0.2, 2)
            height = 1.1
        else:
            px = (rng.uniform(0.1, 0.9) * WIDTH, rng.uniform(0.1, 0.9) * HEIGHT)
            x, y, _ = _on_plane(camera, [px], 0.1)[0]
        clear = height > 1 or all(math.dist((x, y), s[:2]) > r + 0.65 for s in spots)
        if clear:
            a = np.linspace(0, 2 * math.pi, 40, endpoint=False)
            rim = np.c_[x + r * np.cos(a), y + r * np.sin(a), np.full(40, height)]
            outline = project(camera, rim).astype(np.float32)
            covered = overlays.draw_chip(rng, picture, outline, float(rng.uniform(0.5, 1)))
            chips.append([*outline.mean(axis=0).tolist(), float(r * edge_px * 2)])
    glare = np.zeros((HEIGHT, WIDTH), np.float32)
    if shaker and rng.random() < (0.8 if domed else 0.5):
        hearts = project(camera, centre) if n else np.array([[WIDTH / 2, HEIGHT / 2]])
        stark = standing and rng.random() < 0.5
        glare = overlays.reflect_dome(rng, picture, hearts, float(edge_px), stark)
        if domed:
            glare += overlays.mirror_lamps(rng, picture, hearts, float(edge_px))
    if gathered and n:
        if rng.random() < 0.5:
            picture += overlays.gleam(rng, project(camera, centre), float(edge_px))[..., None]
        if rng.random() < 0.35:
            picture *= np.float32(rng.uniform(1.2, 2.6))
    jpeg = overlays.develop(rng, picture, float(rng.uniform(0, 1) ** 0.6))
    truth: dict[str, Any] = {"dice": [], "chips": chips}
    for k in range(n):
        top = turns[k] @ np.array([[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]]).T * 0.5
        corners = project(camera, top.T + centre[k])
        heart = project(camera, [centre[k] + turns[k][:, 2] * 0.5])[0]
        foot = project(camera, [centre[k] - turns[k][:, 2] * 0.5])[0]
        area = abs(cv2.contourArea(corners.astype(np.float32)))
        mine = pips[k, 4, counts[k, 4] - own[k] : counts[k, 4]]
        top_pips = project(camera, _in_face(mine) @ turns[k].T + centre[k])
        radius_px = float(pips[k, 4, max(counts[k, 4] - 1, 0), 2] * edge_px)
        face_seen = (who == k) & (which == 4)
        seen = float(((covered < 0.5) & face_seen).sum() / max(area, 1.0))
        body_seen = int(((covered < 0.5) & (who == k)).sum())
        truth["dice"].append(
            {
                "value": int(values[k]),
                "state": states[k],
                "lean": float(lean[k]),
                "corners": corners.round(2).tolist(),
                "centre": heart.round(2).tolist(),
                "foot": foot.round(2).tolist(),
                "seen": round(seen, 3),
                "body": body_seen / area,
                "glare": float(np.mean(glare[face_seen])) if face_seen.any() else 0.0,
                "shown": round(_shown(jpeg, top_pips, radius_px), 1),
                "pips": top_pips.round(2).tolist(),
                "radius": round(radius_px, 2),
            }
        )
    return jpeg, truth
