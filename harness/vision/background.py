"""What a calibrated dice camera sees without dice: tells a lamp's image from a die that it hides.

The images of lamps in a dome, and prints on a tray, look the same before each toss; a die that
lies under a lamp's image changes what is about it. The background is the median of the pictures
that the camera was calibrated with, each without its dice.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.vision.faces import Frame, Picture
from harness.vision.judge import Judged

SIDE = 160
"""Longer side of the picture that is kept (px)."""
LEAST_SEEN = 3
"""Pictures, at least, that must show a place without dice."""
ABOUT, LOWER = 1.25, 1.2
"""How much larger than its face, and how much longer than its upright edge, a die is taken to be
where its own picture is left out: its edges and the seam of its shadow too."""
AROUND = 1.5
"""By how much a face is grown to be held against the background: with a die's sides."""
OTHERWISE = 9.0
"""Grey levels from which a place is otherwise than it was."""
UNLIKE, ALIKE = 6.0, 0.8
"""Grey levels by which this part of the places without dice may differ at most, if the background
is to count: a camera that was moved, or other light, differs more."""
AS_BEFORE, OTHERWISE_ABOUT = 0.02, 0.08
"""Part of a face and of what is about it that may differ if nothing lies there, and that differs if
something does."""
LIGHTER, HIDDEN = 0.03, 0.1
"""Part of that which is lighter if more than a shadow lies there, and part of the face alone up to
which light hides what does."""
LEAST_BARE = 0.35
"""Part of a face, at least, that lies where the background is known and no other die."""
LEAST_PLACES = 8
"""The same in pixels of the background."""
_GAIN = (0.5, 2.0)

Mask = NDArray[np.bool_]


def background_of(pictures: Sequence[Picture], dice: Sequence[Sequence[Judged]]) -> str:
    """Give the background of pictures with those dice in them, as `Profile.background` holds it.

    All pictures are of one size; the dice are those that were read in each. Places that fewer than
    `LEAST_SEEN` pictures show without dice stay unknown.
    """
    shown = [_shrunk(picture) for picture in pictures]
    layers = np.stack([picture.astype(np.float32) for picture in shown])
    for layer, picture, lying in zip(layers, pictures, dice, strict=True):
        scale = layer.shape[1] / picture.shape[1]
        layer[_covered(lying, layer.shape[:2], scale)] = np.nan
    seen = np.isfinite(layers[..., 0]).sum(axis=0) >= LEAST_SEEN
    kept = np.zeros((*seen.shape, 4), np.uint8)
    kept[seen, :3] = np.rint(np.nanmedian(layers[:, seen], axis=0))
    kept[..., 3] = np.where(seen, 255, 0)
    return base64.b64encode(cv2.imencode(".png", kept)[1].tobytes()).decode("ascii")


@lru_cache(maxsize=16)
def background_picture(text: str) -> Picture | None:
    """Give a background as a picture, (h, w, 4): BGR, and 0 where it is not known; None if it is
    none."""
    try:
        data = np.frombuffer(base64.b64decode(text, validate=True), np.uint8)
        kept = cv2.imdecode(data, cv2.IMREAD_UNCHANGED)
    except (ValueError, cv2.error):
        return None
    if kept is None or kept.dtype != np.uint8 or kept.ndim != 3 or kept.shape[2] != 4:
        return None
    return np.asarray(kept, np.uint8) if max(kept.shape[:2]) <= SIDE else None


@dataclass(frozen=True, slots=True)
class Differences:
    """Parts of a face (None if it cannot be told), and of it with what is about it, that differ.

    `lighter`: the part of the latter that is lighter.
    """

    face: float | None
    about: float
    lighter: float

    @property
    def nothing(self) -> bool:
        """Tell whether nothing lies there that did not always."""
        return self.about < AS_BEFORE

    @property
    def under_light(self) -> bool:
        """Tell whether light that always lies there hides what has changed about it."""
        return self.face is not None and self.face < HIDDEN and self.about > OTHERWISE_ABOUT

    @property
    def more_than_shadow(self) -> bool:
        """Tell whether something lies there; shadows are darker only."""
        return self.lighter > LIGHTER and self.about > OTHERWISE_ABOUT

    @property
    def something(self) -> bool:
        """Tell whether something lies there, or its shadow."""
        return self.about > OTHERWISE_ABOUT


@dataclass(frozen=True, slots=True)
class Changes:
    """Where a picture is lighter, or darker, than its background, and where that is known, (h, w).

    `scale`: pixels of these masks per pixel of the picture.
    """

    lighter: Mask
    darker: Mask
    known: Mask
    scale: float

    def differences(self, frame: Frame) -> Differences | None:
        """Give what differs of a face and of what is about it, None if too little can be told."""
        about = self._told(frame, AROUND)
        if about is None:
            return None
        face = self._told(frame, 1.0)
        otherwise = self.lighter | self.darker
        return Differences(
            None if face is None else float(otherwise[face].mean()),
            float(otherwise[about].mean()),
            float(self.lighter[about].mean()),
        )

    def _told(self, frame: Frame, grown: float) -> Mask | None:
        face = _hull([_grown(frame, grown)], self.known.shape, self.scale)
        told = face & self.known
        enough = told.sum() >= max(LEAST_PLACES, LEAST_BARE * face.sum())
        return told if enough else None


def changes(picture: Picture, background: str, dice: Sequence[Judged]) -> Changes | None:
    """Compare a picture with its camera's background, but for where the dice in it lie.

    None if there is no background, or the picture as a whole is unlike it.
    """
    kept = background_picture(background) if background else None
    if kept is None:
        return None
    height, width = kept.shape[:2]
    scale = width / picture.shape[1]
    if abs(picture.shape[0] * scale - height) > 1:
        return None
    now = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA).astype(np.float32)
    known = (kept[..., 3] > 0) & ~_covered(dice, (height, width), scale)
    if known.mean() < LEAST_BARE:
        return None
    before = kept[..., :3].astype(np.float32)
    gain = np.median(before[known], axis=0) / np.maximum(np.median(now[known], axis=0), 1.0)
    now *= np.clip(gain, *_GAIN)
    # A step of one pixel is no change: cameras tremble.
    about = np.ones((3, 3), np.uint8)
    over = (now - cv2.dilate(before, about)).max(axis=2)
    under = (cv2.erode(before, about) - now).max(axis=2)
    if np.quantile(np.maximum(over, under)[known], ALIKE) > UNLIKE:
        return None
    return Changes(over > OTHERWISE, under > OTHERWISE, known, scale)


def _shrunk(picture: Picture) -> Picture:
    scale = SIDE / max(picture.shape[:2])
    size = (max(1, round(picture.shape[1] * scale)), max(1, round(picture.shape[0] * scale)))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)


def _covered(dice: Sequence[Judged], shape: tuple[int, ...], scale: float) -> Mask:
    """Give where dice and what is just about them are seen."""
    covered = np.zeros(shape[:2], np.bool_)
    for die in dice:
        face = _grown(die.frame, ABOUT)
        low = Frame(face.centre + LOWER * die.foot, face.across, face.along)
        covered |= _hull([face, low], shape, scale)
    return covered


def _grown(frame: Frame, by: float) -> Frame:
    return Frame(frame.centre, frame.across * by, frame.along * by)


def _hull(frames: Sequence[Frame], shape: tuple[int, ...], scale: float) -> Mask:
    """Give the pixels within the convex hull of faces."""
    corners = np.array([corner for frame in frames for corner in frame.corners], np.float32)
    outline = cv2.convexHull((corners + 0.5) * scale - 0.5)
    mask = np.zeros(shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, np.rint(outline).astype(np.int32), 1)
    return np.asarray(mask, np.bool_)
