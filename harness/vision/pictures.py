"""Turns what a file or a camera gives into a picture: BGR, 8 bits, of a size fit for the eyes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.vision.faces import Picture

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp")
LEAST_SIDE = 24
"""A picture smaller than this (px) cannot show a die."""
MOST_SIDE = 1280
"""Larger pictures are read at this size."""


def as_picture(array: NDArray[Any] | None) -> Picture | None:
    """Give an array as a BGR 8-bit picture, or None if it is none.

    Takes (h, w), (h, w, 1), (h, w, 3) or (h, w, 4), of 8 or 16 bits (12 in 16 too) or floats from
    0 to 1. Alpha is dropped.
    """
    if array is None or array.ndim not in (2, 3) or min(array.shape[:2]) < LEAST_SIDE:
        return None
    if array.ndim == 3 and array.shape[2] not in (1, 3, 4):
        return None
    if array.dtype == np.uint16:
        deep = int(array.max()) >= 4096
        array = np.asarray(array >> (8 if deep else 4), np.uint8)
    elif array.dtype in (np.float32, np.float64):
        array = np.asarray(np.clip(np.nan_to_num(array), 0, 1) * 255, np.uint8)
    elif array.dtype == np.bool_:
        array = np.asarray(array, np.uint8) * 255
    elif array.dtype != np.uint8:
        return None
    if array.ndim == 2 or array.shape[2] == 1:
        return np.asarray(cv2.cvtColor(array, cv2.COLOR_GRAY2BGR), np.uint8)
    return np.ascontiguousarray(array[..., :3])


def fit_size(picture: Picture) -> tuple[Picture, float]:
    """Shrink a picture to at most `MOST_SIDE`; gives it and its pixels per original pixel."""
    longest = max(picture.shape[:2])
    if longest <= MOST_SIDE:
        return picture, 1.0
    scale = MOST_SIDE / longest
    size = (max(1, round(picture.shape[1] * scale)), max(1, round(picture.shape[0] * scale)))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8), scale


def read_file(path: Path) -> tuple[Picture | None, str]:
    """Read a picture file; gives the picture, or None and what is wrong with the file."""
    if path.exists() and not path.is_file():
        return None, "it is no regular file"  # a pipe or a device might never end
    try:
        data = np.fromfile(path, np.uint8)
    except OSError as error:
        return None, error.strerror or str(error)
    if data.size == 0:
        return None, "the file is empty"
    try:
        array = cv2.imdecode(data, cv2.IMREAD_UNCHANGED)
    except (cv2.error, MemoryError):
        return None, "it cannot be decoded as a picture"
    if array is None:
        return None, "it is not a picture, or a broken one"
    picture = as_picture(array)
    if picture is None:
        shape = "x".join(str(n) for n in array.shape[1::-1])
        return None, f"{shape} px of {array.dtype} cannot show a die"
    return picture, ""
