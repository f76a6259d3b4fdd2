"""What can be wrong with a camera."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
FaultKind = Literal[
    "frozen", "stale", "dark", "saturated", "blurred", "moved", "dies", "corrupt"
]  # fmt: skip
FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)


@dataclass(frozen=True)
class CameraFault:
    """A fault of the camera, `after` further frames from now; `ms` is a stale frame's age."""

    kind: FaultKind
    after: int = 0
    ms: float = 800.0


class StreamDeadError(ConnectionError):
    """The camera gives no more frames."""


def spoil(image: Image, kind: FaultKind | None) -> Image:
    """Give the picture as a dark, saturated, blurred or moved camera has it; else as it is."""
    height, width = image.shape[:2]
    if kind == "dark":
        return (image // 24).astype(np.uint8)
    if kind == "saturated":
        return np.clip(image.astype(np.int16) * 5 + 120, 0, 255).astype(np.uint8)
    if kind == "blurred":
        return np.asarray(cv2.GaussianBlur(image, (0, 0), width / 60), np.uint8)
    if kind == "moved":
        turn = cv2.getRotationMatrix2D((width / 2, height / 2), 9.0, 1.0)
        turn[:, 2] += (0.3 * width, 0.22 * height)
        moved = cv2.warpAffine(image, turn, (width, height), borderMode=cv2.BORDER_REFLECT)
        return np.asarray(moved, np.uint8)
    return image


def torn(jpeg: bytes) -> bytes:
    """Give a JPEG of which two thirds were lost on the way."""
    return jpeg[: len(jpeg) // 3]
