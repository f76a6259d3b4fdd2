"""A serial port of the bench: a pty behind a stable path, which can be unplugged and plugged in."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import termios
import time
import tty
from pathlib import Path

_SPEEDS = {
    getattr(termios, f"B{baud}"): baud
    for baud in (1200, 2400, 4800, 9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600)
    if hasattr(termios, f"B{baud}")
}
_CODES = {baud: code for code, baud in _SPEEDS.items()}


class Tty:
    """One end of a pty; the client opens `path`, a link that stays the same over a replug.

    One thread calls `read` and `write`; all else may be called from any.
    """

    def __init__(self, path: Path, baud: int) -> None:
        self.path = path
        self._baud = baud
        self._master = self._slave = -1
        self._wake_out, self._wake_in = os.pipe()
        self._plugged = False
        self._wanted = True
        self._closed = False
        self._appear()

    @property
    def closed(self) -> bool:
        """Tell whether the port was closed for good."""
        return self._closed

    @property
    def client_baud(self) -> int | None:
        """Give the speed that the client has set on its end, None for an odd one."""
        try:
            return _SPEEDS.get(termios.tcgetattr(self._slave)[5])
        except termios.error:
            return None

    def plug(self) -> None:
        """Make the port appear at its path."""
        self._ask(True)

    def unplug(self) -> None:
        """Make the port vanish: its path is gone and whoever has it open gets a hang-up."""
        self._ask(False)

    def occupy(self, occupied: bool) -> None:
        """Hold the port as another program would that has opened it for itself."""
        fcntl.flock(self._slave, fcntl.LOCK_EX if occupied else fcntl.LOCK_UN)
        fcntl.ioctl(self._slave, termios.TIOCEXCL if occupied else termios.TIOCNXCL)

    def _ask(self, plugged: bool) -> None:
        """Leave it to the thread that reads, so that no file descriptor goes under its feet."""
        self._wanted = plugged
        self._wake()

    def _appear(self) -> None:
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        attributes = termios.tcgetattr(self._slave)
        attributes[4] = attributes[5] = _CODES.get(self._baud, termios.B9600)
        termios.tcsetattr(self._slave, termios.TCSANOW, attributes)
        os.set_blocking(self._master, False)
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        self.path.symlink_to(os.ttyname(self._slave))
        self._plugged = True

    def _vanish(self) -> None:
        self._plugged = False
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        os.close(self._slave)
        os.close(self._master)
        self._master = self._slave = -1

    def close(self) -> None:
        """Remove the port for good and end a `read`."""
        self._closed = True
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        self._wake()

    def read(self, timeout_s: float | None) -> bytes:
        """Wait for bytes and give those that are there; empty on time-out, unplug or close."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._closed:
            if self._wanted is not self._plugged:
                (self._appear if self._wanted else self._vanish)()
            watched = [self._wake_out, *([self._master] if self._plugged else [])]
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready = select.select(watched, [], [], left)[0]
            if self._wake_out in ready:
                os.read(self._wake_out, 4096)
                continue
            if not ready:
                return b""
            with contextlib.suppress(OSError):
                return os.read(self._master, 4096)
        if self._plugged:
            self._vanish()
        return b""

    def write(self, data: bytes) -> None:
        """Give bytes to the client; lost if the port is unplugged or nobody takes them."""
        with contextlib.suppress(OSError):
            os.write(self._master, data)

    def drain(self) -> None:
        """Throw away what has arrived and was not read."""
        with contextlib.suppress(OSError):
            while os.read(self._master, 4096):
                pass

    def _wake(self) -> None:
        os.write(self._wake_in, b"!")
