"""The pictures of a run, as received.

Each frame that voted is a file under `frames/`, named by the digest of its bytes, so one picture
is kept once whoever writes it and its name cannot belong to another picture.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from harness.evidence.canonical import sha256_hex
from harness.evidence.errors import EvidenceError
from harness.evidence.records import FrameRef, KeptFrame

_AT_ONCE = 16


class FrameStore:
    """Writes frames into a folder; several processes may do so at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, frames: Sequence[KeptFrame]) -> list[FrameRef]:
        """Write frames and give their references; on return their bytes are on the disk.

        Raises EvidenceError if one cannot be written.
        """
        if len(frames) < 2:
            return [self._keep_one(frame) for frame in frames]
        # Flushed together, they share the wait.
        with ThreadPoolExecutor(min(len(frames), _AT_ONCE)) as pool:
            return list(pool.map(self._keep_one, frames))

    def _keep_one(self, frame: KeptFrame) -> FrameRef:
        digest = sha256_hex(frame.data)
        path = self._folder / (digest[:40] + frame.suffix)
        try:
            # Not moved into place from a part: no line names the file before it is whole, and one
            # left half-written by a power cut is written over here, or cleared away on a resume.
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                if os.fstat(fd).st_size != len(frame.data):
                    written = 0
                    while written < len(frame.data):
                        written += os.pwrite(fd, frame.data[written:], written)
                    os.ftruncate(fd, written)
                    os.fsync(fd)
            finally:
                os.close(fd)
        except OSError as error:
            raise EvidenceError(
                str(path),
                expected="room for a picture of the dice",
                found=error.strerror or str(error),
                remedy="make room, then take the run up with --resume",
            ) from error
        kept: FrameRef = {"name": path.name, "sha256": digest, "at": frame.at}
        return kept if frame.camera is None else {**kept, "camera": frame.camera}

    def drop_unnamed(self, named: frozenset[str]) -> None:
        """Remove pictures that no line of the journal names: what a break left half-made."""
        for path in self._folder.iterdir():
            if path.name not in named:
                path.unlink()
