"""Pictures of a run read back from its folder, and held against what the journal says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.evidence.canonical import sha256_hex
from harness.evidence.records import FrameRef

Broken = tuple[str, str]
"""A picture's name and what is wrong with it."""


def read_picture(frames: Path, frame: FrameRef) -> tuple[Any, list[Broken]]:
    """Give a kept picture (BGR, uint8, shape (h, w, 3); None without one) and what is wrong."""
    import cv2
    import numpy as np

    name, broken = frame["name"], list[Broken]()
    try:
        data = (frames / name).read_bytes()
    except OSError as error:
        return None, [(name, error.strerror or "cannot be read")]
    if sha256_hex(data) != frame["sha256"]:
        broken.append((name, "not the picture that was recorded"))
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
    if image is None:
        return None, [*broken, (name, "no picture")]
    return np.asarray(image, np.uint8), broken
