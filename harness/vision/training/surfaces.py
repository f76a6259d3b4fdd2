"""Draws what dice lie on: felt, carpet, wood, cloth, prints, and a shaker's plate with its rim."""

# mypy: disable-error-code="import-not-found,misc,no-any-return,arg-type,call-overload"
# mypy: disable-error-code="import-untyped,assignment,untyped-decorator"
# Training only: torch and numba bring no types into the project's environment.

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

Rng = np.random.Generator
SIDE = 1024


def _noise(rng: Rng, cells: tuple[int, int]) -> Any:
    """Give smooth noise, (SIDE, SIDE), about -1 to 1, with that many cells across."""
    coarse = rng.standard_normal(cells).astype(np.float32)
    return cv2.resize(coarse, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)


def any_colour(rng: Rng, low: float = 0.02, high: float = 0.85) -> Any:
    """Give an albedo (BGR), saturated or greyish."""
    hue, sat = rng.uniform(0, 360), rng.uniform(0, 1) ** 1.6
    val = low + (high - low) * rng.uniform(0, 1) ** 1.5
    pixel = np.array([[[hue, sat, val]]], np.float32)
    return cv2.cvtColor(pixel, cv2.COLOR_HSV2BGR)[0, 0]


def _plain(rng: Rng) -> Any:
    base = np.ones((SIDE, SIDE, 3), np.float32) * any_colour(rng)
    if rng.random() < 0.35:
        base[:] = [(0.1, 0.3, 0.04), (0.03, 0.03, 0.03), (0.08, 0.08, 0.08), (0.05, 0.05, 0.3)][
            rng.integers(4)
        ]
    grain = rng.uniform(0, 0.25) * rng.standard_normal((SIDE, SIDE)).astype(np.float32)
    return base * (1 + cv2.GaussianBlur(grain, (0, 0), rng.uniform(0.5, 2)) * 2)[..., None]


def _rough(rng: Rng) -> Any:
    """Carpet and speckled cloth: strong noise at one or two scales."""
    size = int(rng.integers(60, 260))
    n = _noise(rng, (size, int(size * rng.uniform(0.6, 1.6)))) * rng.uniform(0.1, 0.45)
    n += _noise(rng, (int(size * 2.3), int(size * 2.3))) * rng.uniform(0.05, 0.3)
    base = any_colour(rng, 0.05, 0.7)
    other = any_colour(rng, 0.02, 0.9) if rng.random() < 0.4 else base * rng.uniform(0.1, 0.6)
    mix = np.clip(0.5 + n, 0, 1)[..., None]
    return base * mix + other * (1 - mix)


def _wood(rng: Rng) -> Any:
    n = _noise(rng, (4, int(rng.integers(20, 120)))) * 0.5 + _noise(rng, (12, 400)) * 0.25
    warp = _noise(rng, (5, 5)) * rng.uniform(0, 40)
    ys, xs = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    n = cv2.remap(n, xs + warp, ys, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    base = np.array([rng.uniform(0.03, 0.5), rng.uniform(0.1, 0.6), rng.uniform(0.3, 0.8)])
    strength = rng.uniform(0.05, 0.4)
    return (base * np.clip(1 + strength * n, 0.2, 1.6)[..., None]).astype(np.float32)


def _weave(rng: Rng) -> Any:
    ys, xs = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    step = rng.uniform(6, 40)
    wobble = _noise(rng, (40, 40)) * step * rng.uniform(0, 0.5)
    n = np.sin((xs + wobble) * 6.28 / step) * np.sin(
        (ys + wobble) * 6.28 / step / rng.uniform(0.5, 1.5)
    )
    n = np.clip(n * rng.uniform(1, 4), -1, 1) * 0.5 + _noise(rng, (300, 300)) * 0.2
    mix = np.clip(0.5 + n * 0.6, 0, 1)[..., None]
    return (any_colour(rng) * mix + any_colour(rng) * (1 - mix)).astype(np.float32)


def write(
    picture: Any, text: str, at: tuple[int, int], size: float, colour: Any, thick: int
) -> None:
    """Write a text on a picture of floats, which OpenCV writes on 8-bit pictures only."""
    mask = np.zeros(picture.shape[:2], np.uint8)
    cv2.putText(mask, text, at, cv2.FONT_HERSHEY_SIMPLEX, size, 255, thick, cv2.LINE_AA)
    alpha = (mask.astype(np.float32) / 255)[..., None]
    picture[:] = picture * (1 - alpha) + np.asarray(colour, np.float32) * alpha


def _print_on(rng: Rng, cloth: Any) -> None:
    """Print words, lines, rings, spots and drawn dice on a surface: none of them a die."""
    for _ in range(int(rng.integers(1, 14))):
        colour = [float(c) for c in any_colour(rng, 0.02, 0.95)]
        x, y = (int(v) for v in rng.integers(0, SIDE, 2))
        kind = rng.integers(6)
        thick = int(rng.integers(1, 7))
        if kind == 0:
            text = "".join(rng.choice(list("ABIGSMALTRPE012345"), int(rng.integers(1, 7))))
            write(cloth, text, (x, y), float(rng.uniform(0.6, 4)), colour, thick)
        elif kind == 1:
            x2, y2 = (int(v) for v in rng.integers(0, SIDE, 2))
            cv2.line(cloth, (x, y), (x2, y2), colour, thick)
        elif kind == 2:
            cv2.circle(cloth, (x, y), int(rng.integers(4, 120)), colour, thick)
        elif kind == 3:
            spread = rng.uniform(14, 60)
            for _ in range(int(rng.integers(1, 7))):
                sx, sy = (int(v) for v in rng.normal((x, y), spread))
                cv2.circle(cloth, (sx, sy), int(rng.uniform(0.12, 0.3) * spread) + 1, colour, -1)
        elif kind == 4:
            box = cv2.boxPoints(((x, y), tuple(rng.uniform(30, 260, 2)), rng.uniform(0, 90)))
            shape = [box.astype(np.int32)]
            if rng.random() < 0.5:
                cv2.fillPoly(cloth, shape, colour)
            else:
                cv2.polylines(cloth, shape, True, colour, thick)
        else:
            cv2.ellipse(
                cloth,
                (x, y),
                (int(rng.integers(10, 200)), int(rng.integers(10, 200))),
                rng.uniform(0, 180),
                0,
                rng.uniform(90, 360),
                colour,
                thick,
            )


def draw_surface(rng: Rng, plate: bool, extent: float, radius: float) -> Any:
    """Draw the albedo of a square of the plane, `extent` edges wide, centred at the origin.

    With `plate`, a shaker's plate of that radius (edges) with rim, screws and surroundings.
    """
    kinds = (_plain, _plain, _rough, _wood, _weave)
    base = kinds[rng.integers(2 if plate and rng.random() < 0.8 else 5)](rng)
    if rng.random() < (0.3 if plate else 0.25):
        base = np.ascontiguousarray(base, np.float32)
        _print_on(rng, base)
    if not plate:
        return np.clip(base, 0.005, 0.95).astype(np.float32)
    around = kinds[rng.integers(5 if rng.random() < 0.3 else 2)](rng)
    scale = SIDE / extent
    ys, xs = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    dist = np.hypot(xs - SIDE / 2, ys - SIDE / 2) / scale
    picture = np.where((dist < radius)[..., None], base, around)
    inner = radius
    for _ in range(int(rng.integers(1, 4))):
        outer = inner + rng.uniform(0.05, 0.9)
        ring = (dist >= inner) & (dist < outer)
        colour = any_colour(rng, 0.03, 0.95)
        angle = np.arctan2(ys - SIDE / 2, xs - SIDE / 2)
        sheen = 1 + rng.uniform(0, 0.6) * np.cos(angle * rng.integers(1, 4) + rng.uniform(0, 6.3))
        slope = 1 + rng.uniform(-0.4, 0.4) * (dist - inner) / (outer - inner)
        picture[ring] = (colour * (sheen * slope)[..., None])[ring]
        if rng.random() < 0.3:
            n = int(rng.integers(3, 9))
            for i in range(n):
                a = 6.283 * i / n
                at = (
                    int(SIDE / 2 + np.cos(a) * (inner + outer) / 2 * scale),
                    int(SIDE / 2 + np.sin(a) * (inner + outer) / 2 * scale),
                )
                cv2.circle(
                    picture,
                    at,
                    max(2, int(scale * rng.uniform(0.05, 0.18))),
                    [float(c) for c in any_colour(rng, 0.02, 0.95)],
                    -1,
                )
        inner = outer
    return np.clip(picture, 0.005, 1.2).astype(np.float32)
