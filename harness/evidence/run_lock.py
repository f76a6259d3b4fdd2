"""One program at a time works on a run: a lock on its folder, which the kernel keeps.

The lock is on the open folder itself (flock), so it leaves no file and ends with its holders, a
kill included. Workers of a run inherit it: as long as one of them lives, the run is at work.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from harness.evidence.errors import EvidenceError
from harness.verdicts import ConfigurationError

UNWINDING_S = 12.0
"""How long the workers of a run that was killed may take until they are gone."""


class RunAtWorkError(ConfigurationError):
    """A run that another program is at work on."""


class RunLock:
    """The lock, held. `fd` is to be handed to processes that work on the run, too."""

    def __init__(self, folder: Path, wait_s: float = 0.0) -> None:
        """Take the lock, waiting for at most `wait_s`.

        Raises RunAtWorkError if another holds it, EvidenceError if the folder cannot be locked.
        """
        self.fd = -1
        try:
            self.fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            self._take(folder, time.monotonic() + wait_s)
        except OSError as error:
            raise EvidenceError(
                str(folder),
                expected="a run folder that can be locked",
                found=error.strerror or str(error),
                remedy="keep runs on a local disk",
            ) from error

    def _take(self, folder: Path, until: float) -> None:
        while True:
            try:
                fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < until:
                    time.sleep(0.05)
                    continue
                self.release()
                raise RunAtWorkError(
                    str(folder),
                    expected="a run that nobody is at work on",
                    found="another sicbo-hil at work on it",
                    remedy="let it end, or stop it, then take the run up with --resume",
                ) from None
            return

    def release(self) -> None:
        """Let go; processes that it was handed to hold it further."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
