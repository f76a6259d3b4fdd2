"""TCP servers on loopback: one thread a client."""

from __future__ import annotations

import contextlib
import socket
import threading
import weakref
from collections.abc import Callable, Iterator

from harness.emulator.devices.link import Link

Reply = Callable[[bytes], bytes]
MOST_IN_A_LINE = 65536


class Connection:
    """One client. Replies may be sent late, after others that were asked for later."""

    def __init__(self, client: socket.socket) -> None:
        self._client = client
        self._sending = threading.Lock()

    def receive(self) -> bytes:
        """Wait for bytes; empty once the client has hung up."""
        with contextlib.suppress(OSError):
            return self._client.recv(4096)
        return b""

    def send(self, data: bytes, late_s: float = 0.0) -> None:
        """Send, now or so much later; what the client is not there to take is lost."""
        if late_s:
            timer = threading.Timer(late_s, self.send, (data,))
            timer.daemon = True
            timer.start()
            return
        with self._sending, contextlib.suppress(OSError):
            self._client.sendall(data)

    def lines(self) -> Iterator[bytes]:
        """Give lines without their LF until the client hangs up or sends one without end."""
        pending = b""
        while chunk := self.receive():
            *lines, pending = (pending + chunk).split(b"\n")
            yield from lines
            if len(pending) > MOST_IN_A_LINE:
                return


class TcpServer:
    """Listens on a port of its own until closed; `open` again gives the same port.

    It is kept meanwhile: a port let go may be any other program's the next moment.
    """

    def __init__(self, name: str, serve: Callable[[Connection], None]) -> None:
        self._serve = serve
        self._name = name
        self._clients: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener: socket.socket | None = None
        keeper = socket.socket()
        weakref.finalize(self, keeper.close)
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeper.bind(("127.0.0.1", 0))
        self.port: int = keeper.getsockname()[1]
        self.open()

    @property
    def address(self) -> str:
        """Give `host:port`."""
        return f"127.0.0.1:{self.port}"

    def open(self) -> None:
        """Listen."""
        if self._listener is not None:
            return
        listener = socket.create_server(("127.0.0.1", self.port))
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
                target=self._attend, args=(client,), name=f"{self._name} client", daemon=True
            ).start()

    def _attend(self, client: socket.socket) -> None:
        with client:
            self._serve(Connection(client))
        with self._lock:
            self._clients.discard(client)


def line_server(name: str, reply: Reply, link: Link | None = None) -> TcpServer:
    """Serve a line protocol: each line that is not empty gets its reply, over its link."""

    def serve(client: Connection) -> None:
        for line in client.lines():
            answer = reply(line) if line.strip() else b""
            if answer and link is not None:
                answer = link.outgoing(line, answer)
            if answer:
                client.send(answer, link.late_s if link is not None else 0.0)

    return TcpServer(name, serve)
