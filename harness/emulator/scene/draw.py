"""Dice drawn by casting rays: a cube with rounded edges and ball-cut corners, lit and mirrored.

The body is the common part of a cube, twelve edge planes and a ball; its normals are those of a
rounded box, so edges shade smoothly. Colours are linear, BGR, 1 = a white floor in full light.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.emulator.scene.camera import Camera
from harness.emulator.scene.dice import ATLAS_SIZE, Die, face_atlas, pip_look
from harness.emulator.scene.lights import Light
from harness.emulator.scene.poses import Placed

Picture = NDArray[np.float32]
Flags = NDArray[np.bool_]
Rect = tuple[int, int, int, int]
"""x0, y0, x1, y1 in pixels, the far ones excluded."""
Triple = tuple[Picture, Picture, Picture]

REFRACTION = 1.49  # cellulose acetate


@dataclass(frozen=True)
class Lighting:
    """What lights the dice: lights, the sky's share, and the floor's colour that bounces back."""

    lights: tuple[Light, ...]
    ambient: float
    floor: tuple[float, float, float]


def footprint(placed: Placed, camera: Camera, margin: int = 3) -> Rect | None:
    """Give the rectangle of pixels a die can touch, or None when it is out of the picture."""
    seen = camera.project(placed.vertices())
    x0, y0 = np.floor(seen.min(axis=0)).astype(int) - margin
    x1, y1 = np.ceil(seen.max(axis=0)).astype(int) + margin + 1
    x0, y0 = max(0, int(x0)), max(0, int(y0))
    x1, y1 = min(camera.width, int(x1)), min(camera.height, int(y1))
    return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


class DiceCanvas:
    """Draws dice over a linear picture, `samples` x `samples` rays a pixel."""

    def __init__(self, camera: Camera, lighting: Lighting, samples: int = 2) -> None:
        self.camera, self.lighting, self.samples = camera, lighting, samples
        size = (camera.height * samples, camera.width * samples)
        self._depth = np.empty(size, dtype=np.float32)
        self._colour = np.empty((*size, 3), dtype=np.float32)

    def draw(self, picture: Picture, dice: Sequence[Placed]) -> list[Rect]:
        """Draw the dice into `picture` (h, w, 3) in place and give the rectangles touched."""
        rects = [(placed, footprint(placed, self.camera)) for placed in dice]
        merged = merge([rect for _, rect in rects if rect is not None])
        for rect in merged:
            self._depth[self._block(rect)] = np.inf
            self._colour[self._block(rect)] = 0
        for placed, rect in rects:
            if rect is not None:
                others = [other for other in dice if other is not placed]
                self._cast(placed, others, rect)
        for x0, y0, x1, y1 in merged:
            block = self._block((x0, y0, x1, y1))
            size = (x1 - x0, y1 - y0)
            covered = (self._depth[block] < np.inf).astype(np.float32)
            cover = cv2.resize(covered, size, interpolation=cv2.INTER_AREA)
            colour = cv2.resize(self._colour[block], size, interpolation=cv2.INTER_AREA)
            part = picture[y0:y1, x0:x1]
            part *= 1 - cover[..., None]
            part += colour
        return merged

    def _block(self, rect: Rect) -> tuple[slice, slice]:
        x0, y0, x1, y1 = (edge * self.samples for edge in rect)
        return slice(y0, y1), slice(x0, x1)

    def _cast(self, placed: Placed, others: Sequence[Placed], rect: Rect) -> None:
        die, turn = placed.die, placed.rotation
        origin = (self.camera.position - placed.position) @ turn
        base, du, dv = (v @ turn for v in self.camera.ray_basis())
        n = self.samples
        u = ((np.arange(rect[0] * n, rect[2] * n) + 0.5) / n - 0.5).astype(np.float32)
        v = ((np.arange(rect[1] * n, rect[3] * n) + 0.5) / n - 0.5).astype(np.float32)
        ways = tuple(
            float(base[k]) + float(du[k]) * u[None, :] + float(dv[k]) * v[:, None] for k in range(3)
        )
        depth, ball = _enter(die, origin, ways)  # type: ignore[arg-type]
        block = self._block(rect)
        nearer = depth < self._depth[block]
        rows, columns = np.nonzero(nearer)
        if not len(rows):
            return
        t = depth[rows, columns]
        way = tuple(w[rows, columns] for w in ways)
        at = tuple(float(origin[k]) + t * way[k] for k in range(3))
        on_ball = ball[rows, columns]
        seen = _unit(way)  # type: ignore[arg-type]
        shaded = _shade(placed, others, self.lighting, at, seen, on_ball)  # type: ignore[arg-type]
        self._depth[block][nearer] = t
        self._colour[block][nearer] = shaded


def merge(rects: Sequence[Rect]) -> list[Rect]:
    """Join rectangles that overlap until none do."""
    done: list[Rect] = []
    for rect in rects:
        current = rect
        while True:
            hit = next((r for r in done if _overlap(r, current)), None)
            if hit is None:
                break
            done.remove(hit)
            current = (
                min(hit[0], current[0]), min(hit[1], current[1]),
                max(hit[2], current[2]), max(hit[3], current[3]),
            )  # fmt: skip
        done.append(current)
    return done


def _overlap(a: Rect, b: Rect) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _unit(way: Triple) -> Triple:
    scale = 1 / np.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2])
    return way[0] * scale, way[1] * scale, way[2] * scale


def _enter(die: Die, origin: NDArray[np.float64], ways: Triple) -> tuple[Picture, Flags]:
    """Give where rays enter the body (inf if they miss), and whether they do so on the ball."""
    half = die.edge_mm / 2
    size = np.broadcast_shapes(*(w.shape for w in ways))
    near = np.zeros(size, dtype=np.float32)
    far = np.full(size, np.inf, dtype=np.float32)
    missed = np.zeros(size, dtype=bool)
    radius = die.style.edge_round * half
    edge = (2 * (half - radius) + radius * 2**0.5) / 2**0.5
    planes: list[tuple[Picture, float, float]] = []
    for k in range(3):
        planes += [(s * ways[k], s * float(origin[k]), half) for s in (-1.0, 1.0)]
        j = (k + 1) % 3
        for s in (-1.0, 1.0):
            slope = (ways[k] + s * ways[j]) * 0.5**0.5
            start = float(origin[k] + s * origin[j]) * 0.5**0.5
            planes += [(slope, start, edge), (-slope, -start, edge)]
    with np.errstate(divide="ignore", invalid="ignore"):
        for slope, start, reach in planes:
            cross = (reach - start) / slope
            if start > reach:
                missed |= slope >= 0
                np.maximum(near, cross, out=near)
            else:
                np.minimum(far, np.where(slope > 0, cross, np.inf), out=far)
        a = ways[0] * ways[0] + ways[1] * ways[1] + ways[2] * ways[2]
        b = sum(ways[k] * float(origin[k]) for k in range(3))
        ball = die.style.corner_round * half
        root = b * b - a * float(origin @ origin - ball * ball)
        missed |= root <= 0
        root = np.sqrt(np.maximum(root, 0))
        enter, leave = (-b - root) / a, (-b + root) / a
    on_ball = enter > near
    near = np.maximum(near, enter)
    missed |= near >= np.minimum(far, leave)
    near[missed] = np.inf
    return near, on_ball


def _shade(
    placed: Placed, others: Sequence[Placed], lighting: Lighting, at: Triple, seen: Triple,
    on_ball: Flags,
) -> Picture:  # fmt: skip
    """Give the colour, shape (n, 3), of surface points seen along unit ways (die's frame)."""
    die, turn, style = placed.die, placed.rotation, placed.die.style
    half = die.edge_mm / 2
    core = half * (1 - style.edge_round)
    normal = [p - np.clip(p, -core, core) for p in at]
    for k in range(3):
        normal[k] = np.where(on_ball, at[k], normal[k])
    nx, ny, nz = _unit((normal[0], normal[1], normal[2]))
    normal = [nx, ny, nz]
    colour, bump = _pips(die, at, seen)
    flat_normal = (nx, ny, nz)
    if style.bowl:
        normal = list(_unit(tuple(n + b for n, b in zip(normal, bump, strict=True))))  # type: ignore[arg-type]

    up = turn[2]
    rise = sum(float(up[k]) * normal[k] for k in range(3))
    height = float(placed.position[2]) + sum(float(up[k]) * at[k] for k in range(3))
    # Below, the floor hides part of the sky and gives back its own colour.
    open_sky = np.clip(0.35 + 0.45 * height / die.edge_mm + 0.4 * rise, 0.15, 1.0)
    sky = lighting.ambient * open_sky * (0.72 + 0.28 * rise)
    bounce = np.clip(0.5 - 0.5 * rise, 0, 1) * np.clip(1 - height / (3 * die.edge_mm), 0.2, 1)
    total = sum(light.share for light in lighting.lights) + lighting.ambient
    light_sum = np.asarray(sky)[:, None] + np.asarray(bounce)[:, None] * (
        np.array(lighting.floor, dtype=np.float32) * float(0.55 * total)
    )

    facing = sum(-seen[k] * flat_normal[k] for k in range(3))
    facing = np.clip(facing, 0, 1)
    fresnel = style.gloss + (1 - style.gloss) * (1 - facing) ** 5
    twice = 2 * sum(seen[k] * flat_normal[k] for k in range(3))
    mirror = tuple(seen[k] - twice * flat_normal[k] for k in range(3))
    mirror_world = tuple(sum(float(turn[row, k]) * mirror[k] for k in range(3)) for row in range(3))
    shine = lighting.ambient * np.clip(0.35 + 0.65 * np.asarray(mirror_world[2]), 0.1, 1)
    for light in lighting.lights:
        way, _, _, distance = light.frame(placed.position)
        local = way @ turn
        reach = light.size / distance
        lit = sum(float(local[k]) * normal[k] for k in range(3))
        # A wide light still reaches surfaces that its middle does not.
        lit = np.clip((np.asarray(lit) + reach) / (1 + reach), 0, 1)
        clear = _clear(placed, others, local, at)
        share = light.share / max(float(way[2]), 0.2)
        light_sum = light_sum + (lit * clear * share)[:, None]
        shine = shine + clear * light.mirrored(mirror_world, placed.position, style.haze_deg)  # type: ignore[arg-type]
    lit_colour: Picture = colour * light_sum
    if style.clear:
        lit_colour += _through(placed, lighting, at, seen, flat_normal, colour)
    return (lit_colour + (fresnel * shine)[:, None]).astype(np.float32)


def _faces(die: Die, at: Triple) -> list[tuple[int, NDArray[np.intp], Picture]]:
    """Sort points by face: face, their indices, and the face's atlas."""
    size = np.abs(np.stack(at))
    axis = size.argmax(axis=0)
    out = []
    for face in range(6):
        k = face // 2
        on = np.nonzero((axis == k) & ((at[k] > 0) == (face % 2 == 0)))[0]
        if len(on):
            value = die.faces[face]
            turned = {2: die.turns[0], 3: die.turns[1], 6: die.turns[2]}.get(value, False)
            out.append((face, on, face_atlas(die.style, value, turned)))
    return out


def _look_up(die: Die, face: int, at: Triple, on: NDArray[np.intp], atlas: Picture) -> Picture:
    k, scale = face // 2, ATLAS_SIZE / die.edge_mm
    u = at[(k + 1) % 3][on] * scale + (ATLAS_SIZE - 1) / 2
    v = at[(k + 2) % 3][on] * scale + (ATLAS_SIZE - 1) / 2
    found = np.empty((len(on), 3), dtype=np.float32)
    for start in range(0, len(on), 32000):  # remap takes at most 32767 columns
        part = slice(start, start + 32000)
        found[part] = cv2.remap(atlas, u[None, part], v[None, part], cv2.INTER_LINEAR)[0]
    return found


def _pips(die: Die, at: Triple, seen: Triple) -> tuple[Picture, Triple]:
    """Give the surface colour (n, 3) and the slopes of drilled pips as normal offsets."""
    count = len(at[0])
    colour = np.empty((count, 3), dtype=np.float32)
    colour[:] = die.style.body
    bump = tuple(np.zeros(count, dtype=np.float32) for _ in range(3))
    for face, on, atlas in _faces(die, at):
        found = _look_up(die, face, at, on, atlas)
        pip = np.array(pip_look(die.style, die.faces[face])[1], dtype=np.float32)
        colour[on] += found[:, :1] * (pip - np.array(die.style.body, dtype=np.float32))
        if die.style.bowl:
            k = face // 2
            bump[(k + 1) % 3][on] = found[:, 1]
            bump[(k + 2) % 3][on] = found[:, 2]
    return colour, bump  # type: ignore[return-value]


def _clear(
    placed: Placed, others: Sequence[Placed], local: NDArray[np.float64], at: Triple
) -> Picture:
    """Give how much of a light reaches the points past the other dice, 0 to 1, shape (n,)."""
    free = np.ones(len(at[0]), dtype=np.float32)
    way = placed.rotation @ local
    for other in others:
        apart = other.position - placed.position
        along = float(apart @ way)
        aside = float(np.linalg.norm(apart - along * way))
        if along < 0 or aside > 1.75 * placed.die.edge_mm:
            continue
        shift = other.rotation.T @ placed.rotation
        start = other.rotation.T @ -apart
        ray = shift @ local
        half = other.die.edge_mm / 2 * 0.97
        near = np.full(len(free), 1e-3, dtype=np.float32)
        far = np.full(len(free), np.inf, dtype=np.float32)
        for k in range(3):
            p = float(start[k]) + sum(float(shift[k, m]) * at[m] for m in range(3))
            step = float(ray[k])
            if abs(step) < 1e-6:
                step = 1e-6
            one, two = (-half - p) / step, (half - p) / step
            np.maximum(near, np.minimum(one, two), out=near)
            np.minimum(far, np.maximum(one, two), out=far)
        # A ray that only grazes the die is half shaded: the light has a size.
        free *= 1 - np.clip((far - near) / (0.12 * other.die.edge_mm), 0, 1)
    return free


def _through(
    placed: Placed, lighting: Lighting, at: Triple, seen: Triple, normal: Triple, colour: Picture
) -> Picture:
    """Give the light that comes through a clear die: what lies at the far faces, tinted."""
    die = placed.die
    half = die.edge_mm / 2
    cosine = -sum(seen[k] * normal[k] for k in range(3))
    ratio = 1 / REFRACTION
    inner = np.sqrt(np.maximum(1 - ratio**2 * (1 - cosine**2), 0))
    bent = [ratio * seen[k] + (ratio * cosine - inner) * normal[k] for k in range(3)]
    bent = [np.where(np.abs(b) < 1e-4, 1e-4, b) for b in bent]
    reach = np.minimum.reduce([(np.sign(bent[k]) * half - at[k]) / bent[k] for k in range(3)])
    reach = np.clip(reach, 0, 2 * die.edge_mm)
    exit_at = tuple((at[k] + reach * bent[k]).astype(np.float32) for k in range(3))
    brightness = sum(light.share for light in lighting.lights) + lighting.ambient
    glow = np.zeros((len(reach), 3), dtype=np.float32)
    floor = np.array(lighting.floor, dtype=np.float32)
    for face, on, atlas in _faces(die, exit_at):
        found = _look_up(die, face, exit_at, on, atlas)[:, :1]
        sign = 1.0 if face % 2 == 0 else -1.0
        rise = sign * float(placed.rotation[2, face // 2])
        behind = 0.30 * floor if rise < -0.5 else np.full(3, 0.16 + 0.2 * max(rise, 0), np.float32)
        pip = np.array(die.style.pip, dtype=np.float32) * 0.45
        glow[on] = (behind + found * (pip - behind)) * float(brightness)
    tint = np.array([exp(0.55 * log(c)) for c in die.style.body], dtype=np.float32)
    passed = tint ** (0.4 + (reach / die.edge_mm)[:, None]).astype(np.float32)
    # Pips on the near face are opaque.
    opaque = np.clip(
        (colour[:, :1] - die.style.body[0]) / (die.style.pip[0] - die.style.body[0]), 0, 1
    )
    return (glow * passed * (1 - opaque)).astype(np.float32)


def shade_floor(
    dice: Sequence[Placed], camera: Camera, lighting: Lighting, samples: int = 7
) -> tuple[Picture, Rect] | None:
    """Give how much light the dice leave on the floor: factors (h, w) and where they lie.

    Shadows are the dice' outlines as thrown from points spread over each light; the sky's own
    shadow is a soft one under the dice.
    """
    floor: list[tuple[NDArray[np.int32], float]] = []
    total = sum(light.share for light in lighting.lights) + lighting.ambient
    for placed in dice:
        corners = placed.position + (placed.vertices() - placed.position) * (
            1 - 0.35 * placed.die.style.edge_round
        )
        for light in lighting.lights:
            for place in light.samples(samples):
                drop = place[2] - corners[:, 2:]
                thrown = place + (corners - place) * (place[2] / np.maximum(drop, 1.0))
                floor.append((_outline(thrown, camera), light.share / total / samples))
        low = corners.copy()
        low[:, 2] = 0
        middle = low.mean(axis=0)
        for grow, part in ((1.05, 0.30), (1.25, 0.22), (1.55, 0.16), (2.0, 0.10)):
            spread = middle + (low - middle) * grow
            floor.append((_outline(spread, camera), part * lighting.ambient / total))
    if not floor:
        return None
    points = np.concatenate([outline.reshape(-1, 2) for outline, _ in floor]) / 16
    x0, y0 = np.floor(points.min(axis=0)).astype(int) - 4
    x1, y1 = np.ceil(points.max(axis=0)).astype(int) + 5
    x0, y0 = max(0, int(x0)), max(0, int(y0))
    x1, y1 = min(camera.width, int(x1)), min(camera.height, int(y1))
    if x0 >= x1 or y0 >= y1:
        return None
    lost = np.zeros((y1 - y0, x1 - x0), dtype=np.float32)
    origin = np.array([x0, y0]) * 16
    for outline, part in floor:
        moved = (outline - origin).astype(np.int32)
        ox, oy = (moved.reshape(-1, 2).min(axis=0) // 16) - 1
        ex, ey = (moved.reshape(-1, 2).max(axis=0) // 16) + 2
        ox, oy = max(0, int(ox)), max(0, int(oy))
        ex, ey = min(lost.shape[1], int(ex)), min(lost.shape[0], int(ey))
        if ox >= ex or oy >= ey:
            continue
        stamp = np.zeros((ey - oy, ex - ox), dtype=np.uint8)
        shifted = moved - np.array([ox, oy], dtype=np.int32) * 16
        cv2.fillConvexPoly(stamp, shifted, 255, cv2.LINE_AA, 4)
        window = lost[oy:ey, ox:ex]
        cv2.addWeighted(stamp, part / 255, window, 1.0, 0, dst=window, dtype=cv2.CV_32F)
    lost = cv2.GaussianBlur(lost, (0, 0), 1.3)
    return np.clip(1 - lost, 0.04, 1).astype(np.float32), (x0, y0, x1, y1)


def _outline(points: NDArray[np.float64], camera: Camera) -> NDArray[np.int32]:
    seen = camera.project(points).astype(np.float32)
    hull = cv2.convexHull(seen)
    return np.round(np.clip(hull, -4000, 4000) * 16).astype(np.int32)
