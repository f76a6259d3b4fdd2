"""TCP connections: addresses, connecting within a time, and whether the peer hung up."""

from __future__ import annotations

import socket

from harness.rig.errors import NotThereError
from harness.verdicts import ConfigurationError


def host_and_port(address: str, device: str, default: int | None = None) -> tuple[str, int]:
    """Split `host:port`, `tcp://host:port` or `[v6]:port`.

    Raises ConfigurationError if it is none of these.
    """
    rest = address.partition("://")[2] if "://" in address else address
    host, colon, port = rest.rstrip("/").rpartition(":")
    if not colon and default is not None:
        host, port = rest, str(default)
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise ConfigurationError(
            device,
            expected="an address as host:port",
            found=address,
            remedy="correct the address in the rig file",
        )
    return host.strip("[]"), int(port)


def connect(address: str, device: str, limit_s: float, default: int | None = None) -> socket.socket:
    """Connect within `limit_s`, without Nagle's delay. Raises NotThereError."""
    host, port = host_and_port(address, device, default)
    try:
        link = socket.create_connection((host, port), timeout=limit_s)
    except OSError as error:
        raise NotThereError(
            device,
            expected=f"a connection to {host}:{port} within {limit_s:g} s",
            found=(error.strerror or str(error) or type(error).__name__).lower(),
            remedy="check that the device is on, its address and the network",
        ) from error
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link


def hung_up(link: socket.socket) -> bool:
    """Tell whether the peer closed a connection. Reads nothing away, never blocks."""
    try:
        return link.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
