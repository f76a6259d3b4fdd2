"""Small pictures for the page; the frames themselves stay as they were received."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

THUMB_WIDTH = 160
_QUALITY = 55


def thumbnails(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """Give each frame as a `data:` URI of a picture `THUMB_WIDTH` px wide, by its name.

    A frame that is missing or no picture has no entry.
    """
    import cv2
    import numpy as np

    small: dict[str, str] = {}
    for name in dict.fromkeys(names):
        try:
            data = np.frombuffer((folder / name).read_bytes(), np.uint8)
        except OSError:
            continue
        picture = cv2.imdecode(data, cv2.IMREAD_REDUCED_COLOR_2) if data.size else None
        if picture is None:
            continue
        height = max(1, round(picture.shape[0] * THUMB_WIDTH / picture.shape[1]))
        picture = cv2.resize(picture, (THUMB_WIDTH, height), interpolation=cv2.INTER_AREA)
        done, coded = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
        if done:
            small[name] = "data:image/jpeg;base64," + base64.b64encode(coded.tobytes()).decode()
    return small
