"""The folder of a bench's port links: gone with the bench, or swept up by the next one's start."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NAME = re.compile(r"sicbo-hil-bench-(\d+)-\w+")


@contextmanager
def port_folder() -> Iterator[Path]:
    """Give a new folder, named after this process, and remove it afterwards."""
    _sweep(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=f"sicbo-hil-bench-{os.getpid()}-") as folder:
        yield Path(folder)


def _sweep(parent: Path) -> None:
    """Remove what processes that were killed left behind; another user's stays."""
    for folder in parent.glob("sicbo-hil-bench-*"):
        match = _NAME.fullmatch(folder.name)
        if match is not None and not _alive(int(match[1])):
            with contextlib.suppress(OSError):
                if folder.stat().st_uid == os.getuid():
                    shutil.rmtree(folder)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
