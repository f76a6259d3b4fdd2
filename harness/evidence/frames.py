"""The pictures of a run, as received.

Each frame that voted is a file under `frames/`, named by the digest of its bytes, so one picture
is kept once whoever writes it and its name cannot belong to another picture.
"""

from __future__ import annotations

import os
from pathlib import Path

from harness.evidence.canonical import sha256_hex
from harness.evidence.errors import EvidenceError
from harness.evidence.records import FrameRef, KeptFrame


class FrameStore:
    """Writes frames into a folder; several processes may do so at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, frame: KeptFrame) -> FrameRef:
        """Write one frame and give its reference; on return its bytes are on the disk.

        Raises EvidenceError if it cannot be written.
        """
        digest = sha256_hex(frame.data)
        path = self._folder / (digest[:40] + frame.suffix)
        if not path.exists():
            part = path.with_suffix(f".{os.getpid()}.part")
            try:
                with part.open("wb") as stream:
                    stream.write(frame.data)
                    stream.flush()
                    os.fsync(stream.fileno())
                part.replace(path)
            except OSError as error:
                part.unlink(missing_ok=True)
                raise EvidenceError(
                    str(path),
                    expected="room for a picture of the dice",
                    found=error.strerror or str(error),
                    remedy="make room, then take the run up with --resume",
                ) from error
        return {"name": path.name, "sha256": digest, "at": frame.at}
