"""One harness at a time on a rig.

The kernel holds the lock (flock) on one file for each place the rig uses, in a folder of this
user; it is gone with the process, a crash or kill -9 included. The file's text names the holder.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from harness.rig.errors import RigBusyError


def lock_folder() -> Path:
    """Give this user's folder of locks, made if it was not there."""
    home = os.environ.get("XDG_RUNTIME_DIR")
    if home and Path(home).is_dir() and os.access(home, os.W_OK):
        folder = Path(home) / "sicbo-hil"
    else:
        folder = Path(tempfile.gettempdir()) / f"sicbo-hil-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise RigBusyError(
            str(folder),
            expected="a folder of this user",
            found="something of another user's",
            remedy="remove it, or set XDG_RUNTIME_DIR",
        )
    return folder


def _same_place(location: str) -> str:
    """Give one spelling for a place: links to a tty are followed."""
    return location if "://" in location else os.path.realpath(location)


@contextmanager
def hold(rig: str, locations: Iterable[str]) -> Iterator[None]:
    """Hold the lock of every location for as long as the block runs.

    Raises RigBusyError naming the process that holds one. Locks are taken in one order by all, so
    that two harnesses never wait for each other; nobody waits at all.
    """
    with ExitStack() as stack:
        folder = lock_folder()
        for place in sorted({_same_place(location) for location in locations}):
            stack.enter_context(_held(folder, rig, place))
        yield


@contextmanager
def _held(folder: Path, rig: str, place: str) -> Iterator[None]:
    readable = re.sub(r"[^A-Za-z0-9]+", "-", place).strip("-")[-40:]
    digest = hashlib.sha256(place.encode()).hexdigest()[:12]
    path = folder / f"{readable}-{digest}.lock"
    file = _locked(path, rig, place)
    try:
        holder = {
            "pid": os.getpid(),
            "program": Path(sys.argv[0]).name or "python",
            "rig": rig,
            "place": place,
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        os.ftruncate(file, 0)
        os.pwrite(file, json.dumps(holder).encode() + b"\n", 0)
        yield
    finally:
        # removed while the lock is still held: whoever waits on this file finds it gone
        with contextlib.suppress(OSError):
            path.unlink()
        os.close(file)


def _locked(path: Path, rig: str, place: str) -> int:
    """Open the file and lock it; give its descriptor. Raises RigBusyError."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.stat().st_ino == os.fstat(file).st_ino:
                return file
        except BlockingIOError:
            busy = _busy(file, rig, place)
            os.close(file)
            raise busy from None
        except FileNotFoundError:
            pass
        os.close(file)  # its last holder removed it meanwhile: this lock is on no file


def _busy(file: int, rig: str, place: str) -> RigBusyError:
    try:
        holder = json.loads(os.pread(file, 4096, 0))
        by = f"process {holder['pid']} ({holder['program']}) since {holder['since']}"
    except (ValueError, KeyError, TypeError):
        by = "another process"
    return RigBusyError(
        rig,
        expected=f"{place} free",
        found=f"it is driven by {by}",
        remedy="wait for it to end, or stop it",
    )
