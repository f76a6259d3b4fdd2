"""A serial port as a line of bytes: opened once, read to the exact length, never blocking for ever.

Ports are tty paths or pyserial URLs (`socket://`, `rfc2217://`). Every failure of the operating
system or of pyserial (`SerialException`, bare `OSError`, `termios.error`) becomes a `RigError`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import termios
import threading
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import serial

from harness.rig import wire
from harness.rig.errors import LinkLostError, NotThereError, PortBusyError

_FAILURES = (serial.SerialException, OSError, termios.error)
_DISCARD_LIMIT = 65536
_READ_SLICE_S = 0.02
_COME_BACK_S = 2.0

Parity = Literal["N", "E", "O"]


@dataclass(frozen=True, slots=True)
class Framing:
    """Baud rate (bit/s), data bits, parity, stop bits and flow control of a line."""

    baud: int = 9600
    bits: Literal[7, 8] = 8
    parity: Parity = "N"
    stop: Literal[1, 2] = 1
    xonxoff: bool = False
    dsrdtr: bool = False

    @property
    def char_s(self) -> float:
        """Seconds that one character takes on the wire."""
        return (1 + self.bits + (self.parity != "N") + self.stop) / self.baud


class SerialLine:
    """One open port. Shared by the devices on it; hold `turn` for a whole exchange."""

    def __init__(self, port: str, framing: Framing, subject: str) -> None:
        """Describe the line; `subject` is the device that errors name. Nothing is opened yet."""
        self.port = port
        self.framing = framing
        self.subject = subject
        self.turn = threading.RLock()
        self.quiet_since = 0.0
        self._serial: serial.Serial | None = None
        self._fd: int | None = None

    @property
    def is_open(self) -> bool:
        """Tell whether the port is held. A port that failed is closed at once."""
        return self._serial is not None

    def open(self) -> None:
        """Open the port exclusively.

        Raises NotThereError or PortBusyError; nothing stays open then.
        """
        if self._serial is not None:
            return
        port = None
        try:
            port = serial.serial_for_url(self.port, do_not_open=True)
            port.baudrate = self.framing.baud
            port.bytesize = self.framing.bits
            port.parity = self.framing.parity
            port.stopbits = self.framing.stop
            port.xonxoff = self.framing.xonxoff
            port.dsrdtr = self.framing.dsrdtr
            port.timeout = _READ_SLICE_S
            if "://" not in self.port:
                port.write_timeout = 2.0
                port.exclusive = True
            with warnings.catch_warnings():
                # pyserial's rfc2217 client starts its thread by a call that Python deprecates
                warnings.simplefilter("ignore", DeprecationWarning)
                port.open()
        except (*_FAILURES, ValueError, NotImplementedError) as error:
            if port is not None:
                with contextlib.suppress(*_FAILURES):
                    port.close()
            raise self._not_open(error) from error
        self._serial = port
        # only a plain tty has a descriptor that pyserial does not wrap in a protocol of its own
        self._fd = port.fileno() if "://" not in self.port else None
        self.quiet_since = time.monotonic()

    def _not_open(self, error: Exception) -> NotThereError | PortBusyError:
        number = getattr(error, "errno", None)
        text = str(error)
        if number in (errno.EBUSY, errno.EWOULDBLOCK) or "exclusively lock" in text:
            return PortBusyError(
                self.subject,
                expected=f"port {self.port} free",
                found=f"it is in use{_holders(self.port)}",
                remedy="stop the program that holds it",
            )
        if number == errno.EACCES:
            return NotThereError(
                self.subject,
                expected=f"access to port {self.port}",
                found="permission denied",
                remedy="add this user to the group that owns the port (often dialout)",
            )
        found = os.strerror(number) if isinstance(number, int) else text.splitlines()[0]
        return NotThereError(
            self.subject,
            expected=f"port {self.port}",
            found=found.lower() if isinstance(number, int) else found,
            remedy="plug the adapter in, or correct the port in the rig file",
        )

    def close(self) -> None:
        """Give the port back; never raises, never waits for unsent bytes."""
        port, self._serial, self._fd = self._serial, None, None
        if port is None:
            return
        with contextlib.suppress(*_FAILURES):
            port.reset_output_buffer()
        with contextlib.suppress(*_FAILURES):
            port.close()

    def come_back(self, within_s: float = _COME_BACK_S) -> None:
        """Open the port anew if it vanished, trying until `within_s` has passed.

        For reads only: after a port came back, what is driven has to be read before anything is
        driven again, and a write on a vanished port is an error.
        """
        if self._serial is not None:
            return
        deadline = time.monotonic() + within_s
        while True:
            try:
                self.open()
            except NotThereError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(0.05)
            else:
                return

    def _lost(self, error: Exception, received: bytes = b"") -> LinkLostError:
        self.close()
        return LinkLostError(
            self.subject,
            expected=f"port {self.port} to stay open",
            found=f"the link went away ({error})",
            remedy="check the cable and the device's power, then run again",
            received=received or None,
        )

    def _held(self) -> serial.Serial:
        if self._serial is None:
            raise LinkLostError(
                self.subject,
                expected=f"port {self.port} open",
                found="it is closed",
                remedy="open it again",
            )
        return self._serial

    def discard(self) -> bytes:
        """Take away what lies in the input and return it (at most 64 KiB). Never blocks."""
        port = self._held()
        stale = bytearray()
        try:
            while (waiting := port.in_waiting) and len(stale) < _DISCARD_LIMIT:
                stale += port.read(waiting)
        except _FAILURES as error:
            raise self._lost(error, bytes(stale)) from error
        if stale:
            self.quiet_since = time.monotonic()
            wire.received(self.subject, stale)
        return bytes(stale)

    def write(self, data: bytes) -> None:
        """Hand all bytes to the port. The line is busy for `len(data)` characters from now."""
        port = self._held()
        try:
            sent = 0 if self._fd is None else os.write(self._fd, data)
            if sent < len(data):
                port.write(data[sent:])
        except _FAILURES as error:
            raise self._lost(error) from error
        wire.sent(self.subject, data)

    def read_some(self, limit: int, deadline: float) -> bytes:
        """Wait for bytes and take what is there, at most `limit`; none came by `deadline`: empty.

        The quick way to read a reply: a tty is read past pyserial, which would select and read
        again for each part.
        """
        port = self._held()
        try:
            if self._fd is None:
                while time.monotonic() < deadline and not port.in_waiting:
                    first: bytes = port.read(1)
                    if first:
                        self.quiet_since = time.monotonic()
                        wire.received(self.subject, first)
                        return first
                data: bytes = port.read(min(limit, port.in_waiting))
            else:
                left = max(0.0, deadline - time.monotonic())
                if not select.select([self._fd], [], [], left)[0]:
                    return b""
                data = os.read(self._fd, limit)
                if not data:
                    raise OSError(errno.EIO, "the port is ready to read and gives nothing")
        except _FAILURES as error:
            raise self._lost(error) from error
        if data:
            self.quiet_since = time.monotonic()
            wire.received(self.subject, data)
        return data

    def read_exactly(self, size: int, deadline: float) -> bytes:
        """Read `size` bytes, or what came until `deadline` (monotonic s): then fewer."""
        port = self._held()
        got = bytearray()
        try:
            while len(got) < size:
                left = deadline - time.monotonic()
                if left <= 0 and not port.in_waiting:
                    break
                chunk = port.read(size - len(got) if left > _READ_SLICE_S else 1)
                got += chunk
        except _FAILURES as error:
            raise self._lost(error, bytes(got)) from error
        if got:
            self.quiet_since = time.monotonic()
            wire.received(self.subject, got)
        return bytes(got)

    def read_until_silence(self, silence_s: float, deadline: float, limit: int = 512) -> bytes:
        """Read until the line has been silent for `silence_s`, `limit` bytes came, or deadline."""
        got = bytearray()
        while len(got) < limit:
            now = time.monotonic()
            if now >= deadline:
                break
            chunk = self.read_exactly(1, min(now + silence_s, deadline))
            if not chunk:
                break
            got += chunk
        return bytes(got)

    def read_line(self, end: bytes, deadline: float, limit: int = 4096) -> bytes:
        """Read up to and with `end`; without it at the end when the deadline or limit struck."""
        got = bytearray()
        while not got.endswith(end) and len(got) < limit:
            chunk = self.read_exactly(1, deadline)
            if not chunk:
                break
            got += chunk
        return bytes(got)


def _holders(port: str) -> str:
    """Name the programs that hold a tty, as far as the system tells (Linux /proc)."""
    try:
        target = Path(port).resolve(strict=True)
    except OSError:
        return ""
    held = []
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        with contextlib.suppress(OSError):
            if any(fd.resolve() == target for fd in (process / "fd").iterdir()):
                name = (process / "comm").read_text().strip()
                held.append(f"{name} (process {process.name})")
    return f" by {', '.join(held)}" if held else " by a program the system does not name"
