"""From a camera's bytes to an array, without taking a broken picture for a whole one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_START, _END = b"\xff\xd8", b"\xff\xd9"
_NO_LENGTH = frozenset((0x01, *range(0xD0, 0xD8)))


def whole_jpeg(data: bytes) -> bool:
    """Tell whether a JPEG is whole by its markers (ITU-T T.81, B.1).

    `cv2.imdecode` fills what is missing of a broken-off JPEG with grey and says nothing; so the
    segments are walked, the coded data may hold no stray marker, and it must end with EOI.
    """
    if not data.startswith(_START):
        return False
    at, size = 2, len(data)
    while at + 4 <= size + 2:
        if at + 2 > size or data[at] != 0xFF:
            return False
        marker = data[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if marker == 0xD9:
            return True
        if marker in _NO_LENGTH:
            at += 2
            continue
        if at + 4 > size:
            return False
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        at += 2 + length
        if length < 2 or at > size:
            return False
        if marker == 0xDA:
            at = _end_of_scan(data, at)
            if at < 0:
                return False
    return False


def _end_of_scan(data: bytes, at: int) -> int:
    """Give where the coded data ends (at the next marker), or -1 if it never does."""
    while True:
        at = data.find(b"\xff", at)
        if at < 0 or at + 1 >= len(data):
            return -1
        if data[at + 1] == 0x00 or 0xD0 <= data[at + 1] <= 0xD7:
            at += 2
        elif data[at + 1] == 0xFF:
            at += 1
        else:
            return at


def decode(data: bytes) -> NDArray[np.uint8] | None:
    """Decode a JPEG to BGR, uint8, shape (h, w, 3); None if it is not whole."""
    import cv2

    if not whole_jpeg(data):
        return None
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        return None
    return None if image is None else image.astype(np.uint8, copy=False)
