"""Standard streams that outlive their reader: what nobody reads changes no exit status."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

from harness.verdicts import HarnessError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Stream(io.FileIO):
    """A descriptor that goes on as `/dev/null` when its reader has gone or it takes no more."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write; gives how many bytes. Raises HarnessError where the file takes no more."""
        try:
            return super().write(data)
        except BrokenPipeError:
            self._deaf()
            return memoryview(data).nbytes
        except OSError as error:
            self._deaf()
            raise HarnessError(
                f"standard {'output' if self.fileno() == 1 else 'error'}",
                expected="room for what is said",
                found=error.strerror or str(error),
                remedy="send it elsewhere",
            ) from None

    def _deaf(self) -> None:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self.fileno())
        os.close(null)


def outlive_readers() -> None:
    """Have this process's standard output and error go on without a reader (`| head`)."""
    sys.stdout, sys.stderr = _outliving(sys.stdout), _outliving(sys.stderr)


def _outliving(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):  # closed by whoever started us
        return stream
    try:
        descriptor = stream.fileno()
    except OSError:  # replaced by something that only looks like it
        return stream
    stream.flush()
    raw = _Stream(descriptor, "wb", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
    )
