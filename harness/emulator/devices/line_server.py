"""A TCP server on loopback for line protocols: one thread a client, one reply a line."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable

Reply = Callable[[bytes], bytes]
MOST_IN_A_LINE = 65536


class LineServer:
    """Serves lines ended by LF. `reply` gives what goes back, empty for nothing."""

    def __init__(self, name: str, reply: Reply) -> None:
        self._reply = reply
        self._name = name
        self._clients: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        self.port = 0
        self.open()

    @property
    def address(self) -> str:
        """Give `host:port`."""
        return f"127.0.0.1:{self.port}"

    def open(self) -> None:
        """Listen, on the same port as before if there was one."""
        if self._listener is not None:
            return
        listener = socket.create_server(("127.0.0.1", self.port))
        self.port = listener.getsockname()[1]
        self._listener = listener
        threading.Thread(
            target=self._accept, args=(listener,), name=self._name, daemon=True
        ).start()

    def close(self) -> None:
        """Hang up on every client and stop listening."""
        with self._lock:
            clients, self._clients = self._clients, set()
        listener, self._listener = self._listener, None
        for each in (*clients, *([listener] if listener else [])):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._clients.add(client)
            threading.Thread(
                target=self._serve, args=(client,), name=f"{self._name} client", daemon=True
            ).start()

    def _serve(self, client: socket.socket) -> None:
        pending = b""
        with contextlib.suppress(OSError), client:
            while chunk := client.recv(4096):
                *lines, pending = (pending + chunk).split(b"\n")
                if len(pending) > MOST_IN_A_LINE:
                    break
                for line in lines:
                    reply = self._reply(line) if line.strip() else b""
                    if reply:
                        client.sendall(reply)
        with self._lock:
            self._clients.discard(client)
