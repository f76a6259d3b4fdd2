"""A serial port reached over the network, as a terminal server gives it (RFC 2217).

The far side sets baud rate, parity and stop bits; they are set on the port here.
"""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import serial
import serial.rfc2217

from harness.emulator.devices.tcp_server import Connection, TcpServer


class _Pty(serial.Serial):
    """A pty as pyserial opens it; it has no modem lines, so those are as a null modem ties them."""

    @property
    def cts(self) -> bool:
        """Clear to send."""
        return True

    @property
    def dsr(self) -> bool:
        """Data set ready."""
        return True

    @property
    def ri(self) -> bool:
        """Ring indicator."""
        return False

    @property
    def cd(self) -> bool:
        """Carrier detect."""
        return True

    def _update_dtr_state(self) -> None:
        """Set no line: there is none."""

    def _update_rts_state(self) -> None:
        """Set no line: there is none."""


class Rfc2217Port:
    """Serves the port at `path` to one client after the other."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._server = TcpServer(f"rfc2217 {name}", self._serve)

    @property
    def url(self) -> str:
        """Give the address as pyserial takes it."""
        return f"rfc2217://{self._server.address}"

    def close(self) -> None:
        """Hang up and stop listening."""
        self._server.close()

    def _serve(self, client: Connection) -> None:
        with contextlib.suppress(OSError), _Pty(str(self._path), timeout=0.2) as port:
            # typeshed wants the client's class here; the manager works on a local port
            manager = serial.rfc2217.PortManager(
                port,  # type: ignore[arg-type]
                _Writer(client),  # type: ignore[arg-type]
            )
            gone = threading.Event()
            reader = threading.Thread(
                target=_forward, args=(port, manager, client, gone), name="rfc2217", daemon=True
            )
            reader.start()
            while data := client.receive():
                port.write(b"".join(manager.filter(data)))
            gone.set()
            reader.join()


class _Writer:
    """What the port manager answers negotiations to."""

    def __init__(self, client: Connection) -> None:
        self._client = client

    def write(self, data: bytes) -> None:
        """Send to the client."""
        self._client.send(data)


def _forward(
    port: _Pty,
    manager: serial.rfc2217.PortManager,
    client: Connection,
    gone: threading.Event,
) -> None:
    with contextlib.suppress(OSError):
        while not gone.is_set():
            data = port.read(port.in_waiting or 1)
            if data:
                client.send(b"".join(manager.escape(data)))
