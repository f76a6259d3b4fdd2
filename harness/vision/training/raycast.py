"""Casts rays at rounded dice on a plane: shape, pips, soft shadows and glossy reflections.

Lengths are in die edges, the plane is z = 0, light is linear. Compiled with numba, which only
training needs.
"""

# mypy: disable-error-code="import-not-found,misc,no-any-return,arg-type,call-overload"
# mypy: disable-error-code="import-untyped,assignment,untyped-decorator"
# Training only: torch and numba bring no types into the project's environment.

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

FAR = 1e9


@njit(cache=True, fastmath=True)
def _distance(x: float, y: float, z: float, half: float, bevel: float, ball: float) -> float:
    ax, ay, az = abs(x) - (half - bevel), abs(y) - (half - bevel), abs(z) - (half - bevel)
    mx, my, mz = max(ax, 0.0), max(ay, 0.0), max(az, 0.0)
    box = math.sqrt(mx * mx + my * my + mz * mz) + min(max(ax, ay, az), 0.0) - bevel
    return max(box, math.sqrt(x * x + y * y + z * z) - ball)


@njit(cache=True, fastmath=True)
def _march(
    px: float,
    py: float,
    pz: float,
    dx: float,
    dy: float,
    dz: float,
    centre: Any,
    turn: Any,
    shape: Any,
    k: int,
) -> float:
    """Give the distance along the ray to die k, or FAR."""
    half = shape[k, 0] * 0.5
    ox, oy, oz = px - centre[k, 0], py - centre[k, 1], pz - centre[k, 2]
    b = ox * dx + oy * dy + oz * dz
    reach = half * 1.74
    disc = b * b - (ox * ox + oy * oy + oz * oz - reach * reach)
    if disc <= 0.0:
        return FAR
    root = math.sqrt(disc)
    t, end = max(-b - root, 0.0), -b + root
    if end <= 0.0:
        return FAR
    lx = turn[k, 0, 0] * ox + turn[k, 1, 0] * oy + turn[k, 2, 0] * oz
    ly = turn[k, 0, 1] * ox + turn[k, 1, 1] * oy + turn[k, 2, 1] * oz
    lz = turn[k, 0, 2] * ox + turn[k, 1, 2] * oy + turn[k, 2, 2] * oz
    ex = turn[k, 0, 0] * dx + turn[k, 1, 0] * dy + turn[k, 2, 0] * dz
    ey = turn[k, 0, 1] * dx + turn[k, 1, 1] * dy + turn[k, 2, 1] * dz
    ez = turn[k, 0, 2] * dx + turn[k, 1, 2] * dy + turn[k, 2, 2] * dz
    for _ in range(48):
        d = _distance(lx + t * ex, ly + t * ey, lz + t * ez, half, shape[k, 1], shape[k, 2])
        if d < 0.002:
            return t
        t += d
        if t > end:
            return FAR
    return FAR


@njit(cache=True, fastmath=True)
def _shade_factor(
    px: float, py: float, pz: float, light: Any, centre: Any, turn: Any, shape: Any, skip: int
) -> float:
    """Give how much of one light reaches a point: 1 free, 0 in full shadow."""
    lx, ly, lz = light[0] - px, light[1] - py, light[2] - pz
    far = math.sqrt(lx * lx + ly * ly + lz * lz)
    lx, ly, lz = lx / far, ly / far, lz / far
    size = light[6]
    free = 1.0
    for k in range(centre.shape[0]):
        if k == skip:
            continue
        half = shape[k, 0] * 0.5
        ox, oy, oz = px - centre[k, 0], py - centre[k, 1], pz - centre[k, 2]
        b = ox * lx + oy * ly + oz * lz
        reach = half * 1.74 * (1.0 + size)
        o2 = ox * ox + oy * oy + oz * oz
        disc = b * b - (o2 - reach * reach)
        if disc <= 0.0:
            continue
        root = math.sqrt(disc)
        t, end = max(-b - root, 0.02), -b + root
        if end <= 0.0:
            continue
        ax = turn[k, 0, 0] * ox + turn[k, 1, 0] * oy + turn[k, 2, 0] * oz
        ay = turn[k, 0, 1] * ox + turn[k, 1, 1] * oy + turn[k, 2, 1] * oz
        az = turn[k, 0, 2] * ox + turn[k, 1, 2] * oy + turn[k, 2, 2] * oz
        ex = turn[k, 0, 0] * lx + turn[k, 1, 0] * ly + turn[k, 2, 0] * lz
        ey = turn[k, 0, 1] * lx + turn[k, 1, 1] * ly + turn[k, 2, 1] * lz
        ez = turn[k, 0, 2] * lx + turn[k, 1, 2] * ly + turn[k, 2, 2] * lz
        least = 1.0
        for _ in range(24):
            d = _distance(ax + t * ex, ay + t * ey, az + t * ez, half, shape[k, 1], shape[k, 2])
            least = min(least, 0.5 + 0.5 * d / (size * t + 1e-3))
            if least <= 0.0 or t > end:
                break
            t += max(d, 0.02)
        free *= min(max(least, 0.0), 1.0)
    return free


@njit(cache=True, fastmath=True)
def _sky(dx: float, dy: float, dz: float, sky: Any, quads: Any) -> float:
    """Give the brightness of the surroundings in a direction: a gradient and bright windows."""
    up = max(dz, 0.0)
    value = sky[0] + (sky[1] - sky[0]) * up
    if dz > 0.05:
        gx, gy = dx / dz, dy / dz
        for q in range(quads.shape[0]):
            c, s = quads[q, 4], quads[q, 5]
            rx, ry = gx - quads[q, 0], gy - quads[q, 1]
            ex = abs(c * rx + s * ry) - quads[q, 2]
            ey = abs(c * ry - s * rx) - quads[q, 3]
            edge = quads[q, 7]
            value += quads[q, 6] * min(max(0.5 - max(ex, ey) / edge, 0.0), 1.0)
    return value


@njit(cache=True, fastmath=True)
def cast(
    height: int,
    width: int,
    camera: Any,
    centre: Any,
    turn: Any,
    shape: Any,
    body: Any,
    pips: Any,
    counts: Any,
    sticker: Any,
    lights: Any,
    ambient: float,
    sky: Any,
    quads: Any,
    ground: Any,
) -> Any:
    """Cast the picture.

    camera: 16 floats (position 3, rows right/down/forward 9, f px, cx, cy, unused). centre (n, 3),
    turn (n, 3, 3) body to world, shape (n, 3): edge, bevel, ball radius. body (n, 8): colour 3,
    reflectance, roughness, pip depth, translucency, waviness. pips (n, 6, m, 7): u, v, radius,
    colour, opacity per face (+x -x +y -y +z -z), counts (n, 6). sticker (n, 5): radius (0 none),
    colour, dx.
    lights (m, 7): position, colour, size. ground (h, w, 3): albedo seen at each pixel.
    Gives light (h, w, 3), die of each pixel (h, w; -1 ground) and its face (h, w).
    """
    out = np.empty((height, width, 3), np.float32)
    who = np.full((height, width), -1, np.int8)
    which = np.full((height, width), -1, np.int8)
    f, cx, cy = camera[12], camera[13], camera[14]
    colour = np.empty(3)
    got = np.empty(3)
    for y in range(height):
        for x in range(width):
            u, v = (x - cx) / f, (y - cy) / f
            dx = camera[3] * u + camera[6] * v + camera[9]
            dy = camera[4] * u + camera[7] * v + camera[10]
            dz = camera[5] * u + camera[8] * v + camera[11]
            n = math.sqrt(dx * dx + dy * dy + dz * dz)
            dx, dy, dz = dx / n, dy / n, dz / n
            best, die = FAR, -1
            for k in range(centre.shape[0]):
                t = _march(camera[0], camera[1], camera[2], dx, dy, dz, centre, turn, shape, k)
                if t < best:
                    best, die = t, k
            if die < 0:
                t = -camera[2] / min(dz, -1e-3)
                px, py, pz = camera[0] + t * dx, camera[1] + t * dy, 0.0
                nx, ny, nz = 0.0, 0.0, 1.0
                colour[0], colour[1], colour[2] = ground[y, x, 0], ground[y, x, 1], ground[y, x, 2]
                shine, rough, glow = 0.0, 1.0, 0.0
            else:
                t = best
                px, py, pz = camera[0] + t * dx, camera[1] + t * dy, camera[2] + t * dz
                ox, oy, oz = px - centre[die, 0], py - centre[die, 1], pz - centre[die, 2]
                r = turn[die]
                a = (r[0, 0] * ox + r[1, 0] * oy + r[2, 0] * oz) / shape[die, 0]
                b = (r[0, 1] * ox + r[1, 1] * oy + r[2, 1] * oz) / shape[die, 0]
                c = (r[0, 2] * ox + r[1, 2] * oy + r[2, 2] * oz) / shape[die, 0]
                h, bev = 0.5, shape[die, 1] / shape[die, 0]
                ma = max(abs(a) - (h - bev), 0.0)
                mb = max(abs(b) - (h - bev), 0.0)
                mc = max(abs(c) - (h - bev), 0.0)
                na, nb, nc = math.copysign(ma, a), math.copysign(mb, b), math.copysign(mc, c)
                length = math.sqrt(na * na + nb * nb + nc * nc)
                if math.sqrt(a * a + b * b + c * c) > shape[die, 2] / shape[die, 0] - 0.006:
                    na, nb, nc = a, b, c
                    length = math.sqrt(na * na + nb * nb + nc * nc)
                if length < 1e-9:
                    na, nb, nc = a, b, c
                    length = max(1e-9, math.sqrt(na * na + nb * nb + nc * nc))
                na, nb, nc = na / length, nb / length, nc / length
                if abs(a) >= abs(b) and abs(a) >= abs(c):
                    face = 0 if a > 0 else 1
                    fu, fv = b, c
                elif abs(b) >= abs(c):
                    face = 2 if b > 0 else 3
                    fu, fv = a, c
                else:
                    face = 4 if c > 0 else 5
                    fu, fv = a, b
                who[y, x], which[y, x] = die, face
                foot = 0.6 * t / f / shape[die, 0]
                for i in range(3):
                    colour[i] = body[die, i]
                shine, rough, glow = body[die, 3], body[die, 4], body[die, 6]
                depth = body[die, 5]
                for i in range(counts[die, face]):
                    qu, qv = fu - pips[die, face, i, 0], fv - pips[die, face, i, 1]
                    rad = pips[die, face, i, 2]
                    d = math.sqrt(qu * qu + qv * qv)
                    w = min(max(0.5 + (rad - d) / (2.0 * foot + 0.012), 0.0), 1.0)
                    w *= pips[die, face, i, 6]
                    if w > 0.0:
                        for j in range(3):
                            colour[j] += w * (pips[die, face, i, 3 + j] - colour[j])
                        glow *= 1.0 - w
                        bu, bv = -depth * w * qu / rad, -depth * w * qv / rad
                        if face < 2:
                            nb += bu
                            nc += bv
                        elif face < 4:
                            na += bu
                            nc += bv
                        else:
                            na += bu
                            nb += bv
                if face == 4 and sticker[die, 0] > 0.0:
                    qu, qv = fu - sticker[die, 4], fv + sticker[die, 4]
                    d = math.sqrt(qu * qu + qv * qv)
                    w = min(max(0.5 + (sticker[die, 0] - d) / (2.0 * foot + 0.005), 0.0), 1.0)
                    for j in range(3):
                        colour[j] += w * (sticker[die, 1 + j] - colour[j])
                wave = body[die, 7]
                if wave > 0.0:
                    # Faces of cast and polished dice are not quite even.
                    na += wave * math.sin(9.0 * b + 13.0 * c + 5.0 * math.sin(11.0 * a))
                    nb += wave * math.sin(12.0 * c + 8.0 * a + 4.0 * math.sin(13.0 * b))
                    nc += wave * math.sin(10.0 * a + 11.0 * b + 5.0 * math.sin(9.0 * c))
                nx = r[0, 0] * na + r[0, 1] * nb + r[0, 2] * nc
                ny = r[1, 0] * na + r[1, 1] * nb + r[1, 2] * nc
                nz = r[2, 0] * na + r[2, 1] * nb + r[2, 2] * nc
                n = math.sqrt(nx * nx + ny * ny + nz * nz)
                nx, ny, nz = nx / n, ny / n, nz / n
            # Ambient light, dimmed where another surface is near.
            open_sky = 1.0
            for k in range(centre.shape[0]):
                if k == die:
                    continue
                ox, oy, oz = px - centre[k, 0], py - centre[k, 1], pz - centre[k, 2]
                d = math.sqrt(ox * ox + oy * oy + oz * oz) / shape[k, 0]
                if d < 2.5:
                    facing = -(nx * ox + ny * oy + nz * oz) / (d * shape[k, 0] + 1e-6)
                    open_sky *= 1.0 - 0.45 * max(0.0, 0.35 + 0.65 * facing) / max(1.0, d * d * 2.4)
            if die >= 0:
                open_sky *= 0.55 + 0.45 * min(1.0, max(0.0, pz))
            amount = ambient * open_sky * (0.62 + 0.38 * nz)
            got[0] = got[1] = got[2] = amount
            sparkle = 0.0
            for m in range(lights.shape[0]):
                lx, ly, lz = lights[m, 0] - px, lights[m, 1] - py, lights[m, 2] - pz
                d = math.sqrt(lx * lx + ly * ly + lz * lz)
                lx, ly, lz = lx / d, ly / d, lz / d
                cosine = nx * lx + ny * ly + nz * lz
                if cosine <= 0.0:
                    continue
                free = _shade_factor(px, py, pz, lights[m], centre, turn, shape, die)
                for j in range(3):
                    got[j] += lights[m, 3 + j] * cosine * free
                if shine > 0.0:
                    hx, hy, hz = lx - dx, ly - dy, lz - dz
                    d = math.sqrt(hx * hx + hy * hy + hz * hz)
                    spec = max(0.0, (nx * hx + ny * hy + nz * hz) / d)
                    power = 2.0 / (rough * rough * rough * rough + 1e-4)
                    sparkle += (power + 2.0) * 0.04 * shine * free * lights[m, 4] * spec**power
            for j in range(3):
                out[y, x, j] = colour[j] * (got[j] + glow * 0.35 * (ambient + 0.5))
            if shine > 0.0:
                dot = dx * nx + dy * ny + dz * nz
                rx, ry, rz = dx - 2 * dot * nx, dy - 2 * dot * ny, dz - 2 * dot * nz
                fresnel = shine + (1.0 - shine) * (1.0 - min(1.0, -dot)) ** 5
                sheen = fresnel * _sky(rx, ry, rz, sky, quads) * (1.0 - 0.5 * rough)
                for j in range(3):
                    out[y, x, j] += sheen + sparkle
    return out, who, which
