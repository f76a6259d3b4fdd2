"""Draws faces of dice, one a picture, for tests of what reads their pips."""

import cv2
import numpy as np

from harness.vision.faces import Frame
from harness.vision.lattice import PATTERNS

COLOURS = {
    "white": ((215, 220, 220), (25, 25, 25)),
    "red": ((40, 30, 170), (225, 225, 225)),
    "asian": ((220, 220, 220), (40, 30, 200)),
    "black": ((35, 35, 35), (230, 230, 230)),
    "ivory": ((180, 215, 235), (30, 30, 30)),
    "green": ((50, 120, 40), (220, 220, 220)),
}


def draw(pattern: int, edge: float, turn: float, style: str = "white", reach: float = 0.23,
         radius: float = 0.09, noise: float = 3.0, seed: int = 0):  # fmt: skip
    """Draw one face; gives the picture and its true frame."""
    body, pip = COLOURS[style]
    side = int(edge * 2.2)
    image = np.full((side, side, 3), (60, 80, 50), np.uint8)
    middle = complex(side / 2, side / 2)
    u = edge / 2 * complex(np.cos(turn), np.sin(turn))
    frame = Frame(middle, u, u * 1j)
    corners = np.array(frame.corners)
    cv2.fillPoly(image, [(corners * 16).astype(np.int32)], body, cv2.LINE_AA, 4)
    for a, b in PATTERNS[pattern][1]:
        x, y = frame.at(a * reach * 2, b * reach * 2)
        cv2.circle(image, (round(x * 16), round(y * 16)), round(radius * edge * 16), pip, -1,
                   cv2.LINE_AA, 4)  # fmt: skip
    image = cv2.GaussianBlur(image, (0, 0), 0.8)
    grain = np.random.default_rng(seed).normal(0, noise, image.shape)
    return np.clip(image + grain, 0, 255).astype(np.uint8), frame


def lit(image, frame, a, b, radius, colour=(255, 255, 255)):
    """Lay a round light on a face, at face coordinates (a, b)."""
    x, y = frame.at(a, b)
    cv2.circle(image, (round(x), round(y)), round(radius * frame.edge / 2), colour, -1, cv2.LINE_AA)
    return image


def spots_at_random(seed):
    """Give four spots anywhere on a bare body, that fit a pattern by chance only, and the frame."""
    rng = np.random.default_rng(seed)
    image = np.full((180, 180, 3), 210, np.uint8)
    for x, y in rng.uniform(50, 130, (4, 2)):
        cv2.circle(image, (int(x), int(y)), 7, (20, 20, 20), -1, cv2.LINE_AA)
    return image, Frame(complex(90, 90), 45, 45j)
