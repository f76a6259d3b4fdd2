"""The other end of the wire in tests: written from the public protocols, not from our drivers."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import socket
import tempfile
import threading
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path


def modbus_crc(data: bytes) -> bytes:
    """CRC-16/MODBUS, bit by bit from the serial line specification."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            low = crc & 1
            crc >>= 1
            if low:
                crc ^= 0xA001
    return bytes((crc & 0xFF, crc >> 8))


def framed(*head: int) -> bytes:
    body = bytes(head)
    return body + modbus_crc(body)


class PtyPeer:
    """A thread at the far end of a pty; `answer` is called with what came up to a silence.

    `path` is a link of its own, gone with the peer: the kernel gives a closed tty's number to
    whichever program next asks for one.
    """

    def __init__(self, answer: Callable[[bytes], bytes | None], silence_s: float = 0.003) -> None:
        self._answer = answer
        self._silence_s = silence_s
        self.master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        self._folder = tempfile.TemporaryDirectory()
        self.path = str(Path(self._folder.name) / "tty")
        Path(self.path).symlink_to(os.ttyname(self._slave))
        self.heard: list[bytes] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        pending = b""
        while not self._stop.is_set():
            wait = self._silence_s if pending else 0.05
            try:
                if select.select([self.master], [], [], wait)[0]:
                    pending += os.read(self.master, 4096)
                    continue
                if pending:
                    frame, pending = pending, b""
                    self.heard.append(frame)
                    reply = self._answer(frame)
                    if reply:
                        os.write(self.master, reply)
            except (OSError, ValueError):
                return

    def say(self, data: bytes) -> None:
        os.write(self.master, data)

    def close(self) -> None:
        self._folder.cleanup()
        self._stop.set()
        self._thread.join(2)
        for fd in (self.master, self._slave):
            with contextlib.suppress(OSError):
                os.close(fd)

    def __enter__(self) -> PtyPeer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Dialogue:
    """A dialogue that must be spoken word for word and to its end: (heard, said) pairs."""

    def __init__(self, lines: Sequence[tuple[bytes, bytes | None]]) -> None:
        self.left = list(lines)
        self.wrong: list[tuple[bytes, bytes]] = []

    def __call__(self, heard: bytes) -> bytes | None:
        if not self.left:
            self.wrong.append((b"<end of dialogue>", heard))
            return None
        expected, reply = self.left.pop(0)
        if heard != expected:
            self.wrong.append((expected, heard))
            return None
        return reply

    def finish(self) -> None:
        assert not self.wrong, f"expected {self.wrong[0][0]!r}, heard {self.wrong[0][1]!r}"
        assert not self.left, f"never heard {self.left[0][0]!r}"


class RelaysAndInputs:
    """A bench of one RTU unit: 8 coils with flash, 64 discrete inputs. Answers as the public
    protocol says: exceptions for what it has not, silence for other units and bad CRCs."""

    def __init__(self, unit: int = 1) -> None:
        self.unit = unit
        self.coils = [False] * 8
        self.inputs = [False] * 64
        self.presses: list[int] = []
        self.spoil: Callable[[bytes, bytes], bytes | None] | None = None

    def __call__(self, frame: bytes) -> bytes | None:
        reply = self._reply(frame)
        if reply is not None and self.spoil is not None:
            return self.spoil(frame, reply)
        return reply

    def _reply(self, frame: bytes) -> bytes | None:
        if len(frame) < 4 or modbus_crc(frame[:-2]) != frame[-2:] or frame[0] != self.unit:
            return None
        function = frame[1]
        start, count = int.from_bytes(frame[2:4], "big"), int.from_bytes(frame[4:6], "big")
        if function in (1, 2):
            bits = self.coils if function == 1 else self.inputs
            if not count or start + count > len(bits):
                return framed(self.unit, function | 0x80, 2)
            packed = bytearray((count + 7) // 8)
            for i, bit in enumerate(bits[start : start + count]):
                packed[i // 8] |= bit << (i % 8)
            return framed(self.unit, function, len(packed), *packed)
        if function == 5:
            if start & 0xFF00 == 0x0200 and start & 0xFF < 8:
                self.presses.append(start & 0xFF)
            elif start < 8 and count in (0xFF00, 0):
                if count and not self.coils[start]:
                    self.presses.append(start)
                self.coils[start] = bool(count)
            else:
                return framed(self.unit, function | 0x80, 3)
            return frame
        if function == 3 and (start, count) == (0x8000, 1):
            return framed(self.unit, 3, 2, 0, 200)
        return framed(self.unit, function | 0x80, 1)


class TcpPeer:
    """A server on loopback; `serve` gets each connection in a thread of its own."""

    def __init__(self, serve: Callable[[socket.socket], None]) -> None:
        self._serve = serve
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._links: list[socket.socket] = []
        self._closed = False
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def _accept(self) -> None:
        while not self._closed:
            try:
                link, _ = self._listener.accept()
            except OSError:
                return
            self._links.append(link)
            thread = threading.Thread(target=self._run, args=(link,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _run(self, link: socket.socket) -> None:
        with contextlib.suppress(OSError), link:
            self._serve(link)

    def close(self) -> None:
        self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for link in self._links:
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(2)

    def __enter__(self) -> TcpPeer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def lines_of(link: socket.socket) -> Iterator[bytes]:
    """Give the lines a client sends, without their ends."""
    data = b""
    while True:
        while b"\n" in data:
            line, _, data = data.partition(b"\n")
            yield line
        chunk = link.recv(65536)
        if not chunk:
            return
        data += chunk


def eventually(true: Callable[[], bool], within_s: float = 5.0) -> bool:
    """Wait until something is true; tell whether it became so."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.02)
    return true()


def gone(pid: int) -> bool:
    """Tell whether a process is gone (or a zombie that nobody reaped)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"
