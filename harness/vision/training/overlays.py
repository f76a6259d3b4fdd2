"""Adds what lies between dice and picture: chips, dome reflections, motion, lens, sensor."""

# mypy: disable-error-code="import-not-found,misc,no-any-return,arg-type,call-overload"
# mypy: disable-error-code="import-untyped,assignment,untyped-decorator"
# Training only: torch and numba bring no types into the project's environment.

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from harness.vision.training.surfaces import any_colour, write

Rng = np.random.Generator


def draw_chip(rng: Rng, picture: Any, outline: Any, light: float) -> Any:
    """Lay a chip or a coin whose rim is `outline` (n, 2) px; gives its mask (h, w), 0 to 1."""
    shape = picture.shape[:2]
    size = 200
    face = np.ones((size, size, 3), np.float32) * any_colour(rng, 0.1, 0.9)
    c = size // 2
    rim = [float(v) for v in any_colour(rng, 0.2, 0.95)]
    n = int(rng.integers(0, 3)) * 4 + int(rng.integers(0, 3))
    for i in range(n):
        a = 360 * i / n
        cv2.ellipse(face, (c, c), (c - 8, c - 8), a, 0, rng.uniform(8, 22), rim, 18)
    for _ in range(int(rng.integers(0, 4))):
        cv2.circle(face, (c, c), int(rng.integers(10, c)), rim, int(rng.integers(1, 5)))
    if rng.random() < 0.4:
        write(face, str(rng.integers(1, 500)), (c - 50, c + 20), rng.uniform(1, 3), rim, 3)
    ring = np.array(
        [
            [c + c * np.cos(a), c + c * np.sin(a)]
            for a in np.linspace(0, 6.2832, len(outline), False)
        ],
        np.float32,
    )
    matrix, _ = cv2.findHomography(ring, outline.astype(np.float32))
    if matrix is None:
        return np.zeros(shape, np.float32)
    warped = cv2.warpPerspective(face, matrix, shape[::-1], flags=cv2.INTER_AREA)
    mask = np.zeros(shape, np.uint8)
    cv2.fillPoly(mask, [(outline * 8).astype(np.int32)], 255, cv2.LINE_AA, 3)
    alpha = mask.astype(np.float32) / 255
    shadow = cv2.GaussianBlur(alpha, (0, 0), 4)
    shift = rng.uniform(-6, 6, 2)
    shadow = cv2.warpAffine(shadow, np.float32([[1, 0, shift[0]], [0, 1, shift[1]]]), shape[::-1])
    picture *= (1 - 0.5 * shadow * (1 - alpha))[..., None]
    picture[:] = picture * (1 - alpha[..., None]) + warped * light * alpha[..., None]
    return alpha


def reflect_dome(rng: Rng, picture: Any, hearts: Any, edge: float, stark: bool = False) -> Any:
    """Add a dome's haze and reflections; gives the light it added (h, w).

    Every second reflection lies near one of `hearts` (n, 2), the dice, px; `stark` ones are as
    bright as what they mirror, with hard edges.
    """
    h, w = picture.shape[:2]
    glare = np.zeros((h, w), np.float32)
    if rng.random() < 0.6:
        centre = (int(rng.normal(w / 2, w / 8)), int(rng.normal(h / 2, h / 8)))
        axes = (int(rng.uniform(0.25, 0.6) * w), int(rng.uniform(0.25, 0.6) * w))
        cv2.ellipse(glare, centre, axes, 0, 0, 360, rng.uniform(0.01, 0.25) ** 1.0, -1)
        if rng.random() < 0.5:
            cv2.ellipse(
                glare, centre, axes, 0, 0, 360, rng.uniform(0.05, 0.6), int(rng.integers(1, 6))
            )
    for _ in range(int(rng.integers(0, 5))):
        patch = np.zeros((h, w), np.float32)
        x, y = rng.normal(w / 2, w / 6), rng.normal(h / 2, h / 6)
        if rng.random() < 0.5:
            x, y = rng.normal(hearts[rng.integers(len(hearts))], 0.8 * edge)
        size = rng.uniform(10, 110)
        kind = rng.integers(5)
        level = rng.uniform(0.05, 1) ** 2 * 2.2
        if stark:
            level = rng.uniform(0.2, 3)
        if kind <= 1:
            quad = cv2.boxPoints(((x, y), (size, size * rng.uniform(0.2, 1.2)), rng.uniform(0, 90)))
            quad += rng.normal(0, size * 0.06, (4, 2)).astype(np.float32)
            cv2.fillPoly(patch, [(quad * 8).astype(np.int32)], level, cv2.LINE_AA, 3)
        elif kind == 2:
            cv2.circle(patch, (int(x), int(y)), int(size * 0.3), level, max(2, int(size * 0.07)))
        elif kind == 3:
            for _ in range(int(rng.integers(1, 5))):
                at = (int(rng.normal(x, 60)), int(rng.normal(y, 60)))
                cv2.circle(patch, at, int(rng.integers(2, 10)), level * 1.5, -1)
        else:
            cv2.ellipse(
                patch,
                (int(x), int(y)),
                (int(size), int(size * rng.uniform(0.1, 0.5))),
                rng.uniform(0, 180),
                0,
                rng.uniform(60, 360),
                level,
                int(rng.integers(2, 14)),
            )
        if rng.random() < (0.2 if stark else 0.5):
            patch = cv2.GaussianBlur(patch, (0, 0), rng.uniform(0.5, 6))
        glare += patch
    tint = 1 + rng.normal(0, 0.06, 3)
    picture += glare[..., None] * tint.astype(np.float32)
    return glare


def mirror_lamps(rng: Rng, picture: Any, hearts: Any, edge: float) -> Any:
    """Add lamps mirrored in a dome, hard-edged: rings, windows, points with rays, rings on stems.

    Most lie on or near one of `hearts` (n, 2), the dice, px; gives the light added (h, w).
    """
    h, w = picture.shape[:2]
    light = np.zeros((h, w), np.float32)
    for _ in range(int(rng.integers(1, 5))):
        x, y = rng.normal(w / 2, w / 7), rng.normal(h / 2, h / 7)
        if rng.random() < 0.7:
            x, y = rng.normal(hearts[rng.integers(len(hearts))], 0.55 * edge)
        size = edge * np.exp(rng.uniform(np.log(0.1), np.log(1.1)))
        level = float(rng.uniform(0.08, 0.6) if rng.random() < 0.5 else rng.uniform(0.6, 3))
        patch = np.zeros((h, w), np.float32)
        at = (int(x * 8), int(y * 8))
        kind = rng.integers(4)
        if kind == 0:
            quad = cv2.boxPoints(((x, y), (size, size * rng.uniform(0.4, 1)), rng.uniform(0, 90)))
            a = np.linspace(0, 2 * np.pi, 5)[:4]
            quad += (rng.normal(0, size * 0.08, 2) * np.stack([np.cos(a), np.sin(a)], 1)).astype(
                np.float32
            )
            cv2.fillPoly(patch, [(quad * 8).astype(np.int32)], level, cv2.LINE_AA, 3)
        elif kind <= 2:
            size *= 0.6
            thick = max(2, int(size * rng.uniform(0.15, 0.5)))
            cv2.circle(patch, at, int(size * 4), level, thick, cv2.LINE_AA, 3)
            if kind == 2:
                a = rng.uniform(0, 2 * np.pi)
                far = size * rng.uniform(1, 2)
                ends = [
                    (int((x + r * np.cos(a)) * 8), int((y + r * np.sin(a)) * 8))
                    for r in (size * 0.5, far)
                ]
                cv2.line(patch, ends[0], ends[1], level, thick, cv2.LINE_AA, 3)
        else:
            size *= 0.25
            cv2.circle(patch, at, max(8, int(size * 4)), level, -1, cv2.LINE_AA, 3)
            for a in np.arange(rng.integers(4, 9)) * 0.8 + rng.uniform(0, 1):
                r = size * rng.uniform(0.6, 1.1)
                end = (int((x + r * np.cos(a)) * 8), int((y + r * np.sin(a)) * 8))
                cv2.line(patch, at, end, level, max(1, int(size * 0.12)), cv2.LINE_AA, 3)
        if rng.random() < 0.15:
            patch = cv2.GaussianBlur(patch, (0, 0), rng.uniform(0.5, 3))
        light += patch
    picture += light[..., None] * (1 + rng.normal(0, 0.06, 3)).astype(np.float32)
    return light


def gleam(rng: Rng, hearts: Any, edge: float) -> Any:
    """Give lamps mirrored on dice, (480, 640) light: spots of about a pip's size, and sheets.

    `hearts` (n, 2) are the dice in px, `edge` their edge in px.
    """
    light = np.zeros((480, 640), np.float32)
    for x, y in hearts:
        for _ in range(int(rng.integers(0, 3))):
            spot = np.zeros_like(light)
            at = rng.uniform(-0.48, 0.48, 2) * edge + (x, y)
            size = max(1.5, edge * rng.uniform(0.03, 0.13))
            n = int(rng.integers(5, 12))
            a = np.linspace(0, 2 * np.pi, n, endpoint=False)
            r = size * rng.uniform(0.6, 1.3, n)
            rim = np.stack([at[0] + r * np.cos(a), at[1] + r * np.sin(a)], 1)
            cv2.fillPoly(spot, [(rim * 8).astype(np.int32)], rng.uniform(0.3, 3), cv2.LINE_AA, 3)
            light += cv2.GaussianBlur(spot, (0, 0), rng.uniform(0.4, 1.5))
        if rng.random() < 0.15:
            sheet = np.zeros_like(light)
            at = rng.normal((x, y), 0.5 * edge)
            sides = edge * rng.uniform(0.4, 1.6, 2)
            quad = cv2.boxPoints((at.tolist(), sides.tolist(), rng.uniform(0, 90)))
            level = rng.uniform(0.1, 0.6)
            cv2.fillPoly(sheet, [(quad * 8).astype(np.int32)], level, cv2.LINE_AA, 3)
            if rng.random() < 0.5:
                ripple = rng.standard_normal((48, 64)).astype(np.float32)
                ripple = cv2.resize(ripple, (640, 480), interpolation=cv2.INTER_CUBIC)
                sheet *= np.clip(1 + 0.8 * ripple, 0, 2)
            light += sheet
    return light


def move_die(rng: Rng, without: Any, picture: Any, mask: Any, edge_px: float) -> Any:
    """Smear one die, given pictures without and with it and its mask (h, w) float."""
    length = int(max(5, edge_px * rng.uniform(0.3, 1.3)))
    angle = rng.uniform(0, np.pi)
    bend = rng.uniform(-0.8, 0.8)
    kernel = np.zeros((2 * length + 1, 2 * length + 1), np.float32)
    for s in np.linspace(-0.5, 0.5, 4 * length):
        a = angle + bend * s
        cv2.circle(
            kernel,
            (int(length + s * length * np.cos(a)), int(length + s * length * np.sin(a))),
            0,
            1.0,
            -1,
        )
    kernel /= kernel.sum()
    alpha = cv2.filter2D(mask, -1, kernel)[..., None]
    smear = cv2.filter2D(picture * mask[..., None], -1, kernel)
    return without * (1 - alpha) + smear


def develop(rng: Rng, picture: Any, ease: float) -> Any:
    """Turn light (h, w, 3) into an 8-bit picture: lens blur, exposure, white balance, noise.

    `ease` 0 to 1 makes the faults milder.
    """
    blur = rng.uniform(0.35, 1.1) + (1 - ease) * rng.exponential(0.5)
    picture = cv2.GaussianBlur(picture, (0, 0), min(blur, 3.0))
    if rng.random() < 0.2:
        glow = cv2.GaussianBlur(np.maximum(picture - 0.8, 0), (0, 0), rng.uniform(4, 20))
        picture = picture + glow * rng.uniform(0.05, 0.3)
    white = np.exp(rng.normal(0, 0.05 + 0.1 * (1 - ease), 3)).astype(np.float32)
    level = np.exp(rng.normal(0, 0.2 + 0.3 * (1 - ease)))
    if rng.random() < 0.12:
        level *= rng.uniform(1.4, 2.6)
    picture = np.maximum(picture * white * np.float32(level), 0)
    gamma = rng.uniform(0.4, 0.6)
    tone = np.minimum(picture, 1.5) ** gamma
    contrast = rng.uniform(0.0, 0.45)
    tone = np.minimum(tone, 1.0)
    tone = tone * (1 - contrast) + contrast * tone * tone * (3 - 2 * tone)
    noise = rng.uniform(0.2, 2.5) + (1 - ease) * rng.exponential(3.0)
    grain = rng.standard_normal(tone.shape).astype(np.float32)
    if rng.random() < 0.4:
        grain = cv2.GaussianBlur(grain, (0, 0), 0.7) * 1.8
    out = tone * 255 + grain * noise
    if rng.random() < 0.4:
        out += (out - cv2.GaussianBlur(out, (0, 0), 1.2)) * rng.uniform(0, 1.0)
    small = np.clip(out, 0, 255).astype(np.uint8)
    quality = int(rng.integers(45, 97))
    return cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
