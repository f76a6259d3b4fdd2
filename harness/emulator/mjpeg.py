"""A camera on the network: motion JPEG over HTTP, as IP cameras and ustreamer give it.

`GET /NAME` answers `multipart/x-mixed-replace`, a part a frame, each with its `Content-Length` and
`X-Timestamp`, the time at which its exposure began, in s of UNIX time; `GET /NAME/snapshot` (and
`/snapshot` for the first camera) one JPEG; any other path 404. One thread serves all clients
without blocking on any: a client that cannot keep up misses frames and, beyond what its socket
already holds, never gets an old one.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

_BOUNDARY = "frame"
_LONGEST_REQUEST = 8192
_REASONS = {400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 503: "Gone Dark"}


@dataclass(frozen=True, slots=True)
class Exposure:
    """A frame whose exposure began before it was asked for: at `at`, s of UNIX time."""

    jpeg: bytes
    at: float


Camera = Callable[[], bytes | Exposure]


@dataclass(eq=False)
class _Client:
    link: socket.socket
    request: bytearray = field(default_factory=bytearray)
    stream: str | None = None
    unsent: memoryview = field(default_factory=lambda: memoryview(b""))
    last: bool = False
    """Closed once `unsent` is out."""


class MjpegServer:
    """Serves cameras on loopback until closed.

    `cameras` maps a stream's name to what exposes and gives its next JPEG; that callable raises
    `ConnectionError` when the camera gives no more: its clients are then cut off, and new ones get
    503. It is called only while someone watches, `fps` times a second at most.
    """

    def __init__(
        self,
        cameras: Mapping[str, Camera],
        fps: float = 60.0,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self._cameras = dict(cameras)
        self._period = 1 / fps
        self._listener = socket.create_server((host, port))
        self._listener.setblocking(False)
        self._host, self._port = self._listener.getsockname()[:2]
        self._selector = selectors.DefaultSelector()
        self._wake, self._woken = socket.socketpair()
        self._woken.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._clients: set[_Client] = set()
        self._due = time.monotonic()
        self._stopping = False
        self._thread = threading.Thread(target=self._serve, name="mjpeg", daemon=True)
        self._thread.start()

    def url(self, name: str) -> str:
        """Give a stream's address."""
        return f"http://{self._host}:{self._port}/{name}"

    def close(self) -> None:
        """Cut all clients off and free the port; returns once that is done."""
        self._stopping = True
        with contextlib.suppress(OSError):
            self._wake.send(b"x")
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- the serving thread ---------------------------------------------------------------------

    def _serve(self) -> None:
        try:
            while not self._stopping:
                watched = {c.stream for c in self._clients if c.stream is not None}
                wait = max(0.0, self._due - time.monotonic()) if watched else None
                for key, events in self._selector.select(wait):
                    self._attend(key, events)
                if watched and time.monotonic() >= self._due:
                    self._tick(watched)
        finally:
            for client in list(self._clients):
                self._drop(client)
            self._selector.close()
            for link in (self._listener, self._wake, self._woken):
                link.close()

    def _attend(self, key: selectors.SelectorKey, events: int) -> None:
        if key.fileobj is self._listener:
            self._accept()
        elif key.fileobj is self._woken:
            with contextlib.suppress(BlockingIOError):
                self._woken.recv(64)
        else:
            client: _Client = key.data
            if events & selectors.EVENT_READ:
                self._receive(client)
            if events & selectors.EVENT_WRITE and client in self._clients:
                self._send(client)

    def _accept(self) -> None:
        try:
            link, _ = self._listener.accept()
        except OSError:
            return
        link.setblocking(False)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client = _Client(link)
        self._clients.add(client)
        self._selector.register(link, selectors.EVENT_READ, client)

    def _receive(self, client: _Client) -> None:
        try:
            data = client.link.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(client)
            return
        if client.stream is not None or client.last:
            return  # what a client says after its request is of no interest
        client.request += data
        if b"\r\n\r\n" in client.request:
            self._answer(client)
        elif len(client.request) > _LONGEST_REQUEST:
            self._refuse(client, 400)

    def _answer(self, client: _Client) -> None:
        words = bytes(client.request.split(b"\r\n", 1)[0]).decode("latin-1").split()
        if len(words) != 3 or not words[2].startswith("HTTP/"):
            self._refuse(client, 400)
            return
        method, path = words[0], words[1].partition("?")[0].strip("/")
        if method != "GET":
            self._refuse(client, 405)
            return
        name, _, leaf = path.rpartition("/") if path.endswith("snapshot") else (path, "", "")
        if leaf == "snapshot" and not name:
            name = next(iter(self._cameras), "")
        camera = self._cameras.get(name)
        if camera is None:
            self._refuse(client, 404)
            return
        try:
            frame = _expose(camera)
        except ConnectionError:
            self._refuse(client, 503)
            return
        if leaf == "snapshot":
            head = _head(200, "OK", "image/jpeg", _about(frame))
            client.last = True
            client.unsent = memoryview(head + frame.jpeg)
        else:
            head = _head(200, "OK", f"multipart/x-mixed-replace; boundary={_BOUNDARY}", "")
            client.stream = name
            client.unsent = memoryview(head + f"--{_BOUNDARY}\r\n".encode() + _part(frame))
            self._due = min(self._due, time.monotonic() + self._period)
            self._due = max(self._due, time.monotonic())
        self._send(client)

    def _refuse(self, client: _Client, status: int) -> None:
        reason = _REASONS[status]
        body = f"{status} {reason}\n".encode()
        client.last = True
        client.unsent = memoryview(
            _head(status, reason, "text/plain", f"Content-Length: {len(body)}\r\n") + body
        )
        self._send(client)

    def _tick(self, watched: set[str]) -> None:
        """Take one frame of each watched camera and hand it to those who are ready for it."""
        self._due += self._period
        now = time.monotonic()
        if self._due < now:  # behind: frames are lost, the pace is kept
            self._due = now + self._period
        for name in watched:
            ready = [c for c in self._clients if c.stream == name and not c.unsent]
            if not ready:
                continue
            try:
                part = _part(_expose(self._cameras[name]))
            except ConnectionError:
                for client in [c for c in self._clients if c.stream == name]:
                    self._drop(client)
                continue
            for client in ready:
                client.unsent = memoryview(part)
                self._send(client)

    def _send(self, client: _Client) -> None:
        try:
            while client.unsent:
                sent = client.link.send(client.unsent)
                client.unsent = client.unsent[sent:]
        except BlockingIOError:
            pass
        except OSError:
            self._drop(client)
            return
        if not client.unsent and client.last:
            self._drop(client)
            return
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if client.unsent else 0)
        if self._selector.get_key(client.link).events != events:
            self._selector.modify(client.link, events, client)

    def _drop(self, client: _Client) -> None:
        if client in self._clients:
            self._clients.remove(client)
            self._selector.unregister(client.link)
            client.link.close()


def _head(status: int, reason: str, kind: str, more: str) -> bytes:
    return (
        f"HTTP/1.0 {status} {reason}\r\nServer: dice-camera\r\nConnection: close\r\n"
        f"Cache-Control: no-store\r\nContent-Type: {kind}\r\n{more}\r\n"
    ).encode()


def _expose(camera: Camera) -> Exposure:
    began = time.time()
    frame = camera()
    return frame if isinstance(frame, Exposure) else Exposure(frame, began)


def _about(frame: Exposure) -> str:
    return f"X-Timestamp: {frame.at:.6f}\r\nContent-Length: {len(frame.jpeg)}\r\n"


def _part(frame: Exposure) -> bytes:
    """Wrap a frame; the next boundary is sent with it, so no reader waits for the next frame."""
    head = f"Content-Type: image/jpeg\r\n{_about(frame)}\r\n".encode()
    return head + frame.jpeg + f"\r\n--{_BOUNDARY}\r\n".encode()
