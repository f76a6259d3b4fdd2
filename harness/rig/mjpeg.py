"""MJPEG over HTTP: parts of a `multipart/x-mixed-replace` answer, each with the time it came.

`cv2.VideoCapture` can be read from the same URL, but a slow reader then gets pictures seconds old,
it hides when a picture's bytes arrived and the stamp the camera gave it, and it decodes every
picture, wanted or not. This reader takes the bytes as they come, keeps them undecoded, and knows
for each picture a moment at which no byte of it had arrived yet.
"""

from __future__ import annotations

import base64
import contextlib
import re
import select
import socket
import time
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from harness.rig.errors import CorruptReplyError, LinkLostError, NoFrameError, NotThereError

MOST_BYTES: Final = 32 * 1024 * 1024
_HEAD_LIMIT: Final = 64 * 1024
_LONGEST_SIZE: Final = 256
"""Bytes of a chunk's size with all that may follow it on its line."""
_MOST_AT_ONCE: Final = 16
_STAMP_TOLERANCE_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the stream: header names in lower case, and the body."""

    headers: dict[str, str]
    body: bytes


class PartParser:
    """Takes a multipart stream apart as bytes come in. Any byte string is safe to feed.

    boundary: as the Content-Type header gives it. A Content-Length that does not end at a boundary
    is not believed: the part then ends at the next boundary. Raises CorruptReplyError where a
    part outgrows 32 MiB.
    """

    def __init__(self, boundary: bytes, device: str) -> None:
        self._mark = b"--" + boundary.removeprefix(b"--")
        self._device = device
        self._held = bytearray()

    @property
    def between_parts(self) -> bool:
        """Tell whether no byte of an unfinished part is held, but for the boundary before it."""
        return self._held.strip(b"\r\n") in (b"", self._mark)

    def feed(self, data: bytes) -> list[Part]:
        """Take bytes in; give the parts they complete."""
        self._held += data
        parts = []
        while (part := self._take()) is not None:
            parts.append(part)
        if len(self._held) > MOST_BYTES:
            raise CorruptReplyError(
                self._device,
                expected="pictures of at most 32 MiB",
                found="a part without end",
                remedy="check that the URL gives an MJPEG stream",
                received=bytes(self._held[:64]),
            )
        return parts

    def _take(self) -> Part | None:
        held, mark = self._held, self._mark
        start = held.find(mark)
        if start < 0:
            # nothing before a mark is of use; keep what may be the beginning of one
            del held[: max(0, len(held) - len(mark))]
            return None
        if start:
            del held[:start]
        head_end = held.find(b"\r\n\r\n", len(mark))
        skip = 4
        if head_end < 0:
            head_end, skip = held.find(b"\n\n", len(mark)), 2
        if head_end < 0:
            if len(held) > _HEAD_LIMIT:
                del held[: len(mark)]
            return None
        headers = _headers(bytes(held[len(mark) : head_end]))
        body_at = head_end + skip
        length = headers.get("content-length", "")
        if length.isascii() and length.isdigit() and int(length) <= MOST_BYTES:
            end = body_at + int(length)
            if len(held) < end:
                early = held.find(b"\r\n" + mark, body_at)
                if early < 0:
                    return None
                end = early
        else:
            end = held.find(mark, body_at)
            if end < 0:
                return None
            # the line end before the boundary is the boundary's, and so are dashes of its own
            body = bytes(held[body_at:end]).rstrip(b"-")
            del held[:end]
            return Part(headers, body.removesuffix(b"\n").removesuffix(b"\r"))
        body = bytes(held[body_at:end])
        del held[:end]
        return Part(headers, body)


class Chunks:
    """Takes an HTTP body sent in chunks apart as bytes come in (RFC 9112, 7.1).

    Small cameras send so whatever the request's version. Any byte string is safe to feed. Raises
    CorruptReplyError for what is no chunk.
    """

    def __init__(self, device: str) -> None:
        self._device = device
        self._held = bytearray()
        self._left = 0

    def feed(self, data: bytes) -> bytes:
        """Take bytes in; give the body's bytes among them."""
        self._held += data
        body = bytearray()
        while self._held:
            if self._left:
                body += self._held[: self._left]
                here = min(self._left, len(self._held))
                self._left -= here
                del self._held[:here]
                continue
            if self._held[0] in b"\r\n":  # the line end of the chunk before
                del self._held[:1]
                continue
            end = self._held.find(b"\n")
            if end < 0 and len(self._held) <= _LONGEST_SIZE:
                break
            size = bytes(self._held[: max(0, end)]).partition(b";")[0].strip()
            if not re.fullmatch(rb"[0-9A-Fa-f]{1,8}", size):
                raise CorruptReplyError(
                    self._device,
                    expected="the size of a chunk",
                    found=repr(bytes(self._held[:40])),
                    remedy="check that the URL gives an MJPEG stream",
                    received=bytes(self._held[:64]),
                )
            del self._held[: end + 1]
            self._left = int(size, 16)
        return bytes(body)


def _headers(block: bytes) -> dict[str, str]:
    headers = {}
    for line in block.splitlines():
        name, colon, value = line.decode("latin-1").partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    return headers


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture as received.

    absent_at: a moment (monotonic s) at which no byte of it had arrived; at: its last byte was
    here; exposed_at: when its exposure began, by the camera's own stamp, or None.
    """

    jpeg: bytes
    absent_at: float
    at: float
    exposed_at: float | None


def stamp_of(headers: dict[str, str], wall: float, now: float) -> float | None:
    """Turn an `X-Timestamp` (UNIX time, s) into monotonic seconds; None if it is another clock's.

    wall and now are the host's UNIX and monotonic time at one moment.
    """
    try:
        stamp = float(headers.get("x-timestamp", ""))
    except ValueError:
        return None
    if not abs(stamp - wall) < _STAMP_TOLERANCE_S:
        return None
    return now + (stamp - wall)


class MjpegStream:
    """One GET of an MJPEG URL, opened."""

    def __init__(self, url: str, device: str, open_s: float, silence_s: float) -> None:
        """Connect and read the answer's head.

        Raises NotThereError; NotMultipart where the URL answers with something else.
        """
        self._device = device
        self._silence_s = silence_s
        parts = urlsplit(url)
        try:
            port = parts.port or 80
        except ValueError:
            raise self._absent(url, "a port that is no number") from None
        if not parts.hostname:
            raise self._absent(url, "no host in the URL")
        deadline = time.monotonic() + open_s
        try:
            self._socket = socket.create_connection((parts.hostname, port), timeout=open_s)
        except OSError as error:
            raise self._absent(url, error.strerror or str(error) or "no answer") from error
        try:
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            request = f"GET {path} HTTP/1.0\r\nHost: {parts.hostname}:{port}\r\n"
            if parts.username is not None:
                pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
                token = base64.b64encode(pair.encode()).decode()
                request += f"Authorization: Basic {token}\r\n"
            self._socket.sendall(f"{request}Accept: */*\r\n\r\n".encode())
            head, rest = self._head(deadline)
        except OSError as error:
            self.close()
            raise self._not_ready(url, error.strerror or str(error) or "no answer") from error
        status, _, block = head.partition(b"\r\n")
        headers = _headers(block)
        if not re.match(rb"HTTP/1\.\d 200\b", status):
            self.close()
            told = status.decode("latin-1")[:80] or "no HTTP answer"
            if re.match(rb"HTTP/1\.\d 5\d\d\b", status):
                raise self._not_ready(url, told)
            raise self._absent(url, told)
        kind = headers.get("content-type", "")
        match = re.search(r'boundary="?([^";]+)', kind, re.IGNORECASE)
        if not kind.lower().startswith("multipart/") or match is None:
            self.close()
            raise NotMultipartError(
                device,
                expected="an MJPEG stream (multipart)",
                found=kind or "no content type",
                remedy="use the camera's MJPEG address",
            )
        self._socket.setblocking(False)
        self._parser = PartParser(match[1].strip().encode("latin-1"), device)
        chunked = "chunked" in headers.get("transfer-encoding", "").lower()
        self._chunks = Chunks(device) if chunked else None
        self._absent_at = time.monotonic()
        self._part_absent_at = self._absent_at
        self._ready = self._pictures(rest, self._absent_at)

    def _absent(self, url: str, found: str) -> NotThereError:
        return NotThereError(
            self._device,
            expected=f"a camera at {_without_password(url)}",
            found=found.lower(),
            remedy="check that the camera is on, its address and the network",
        )

    def _not_ready(self, url: str, found: str) -> NotReadyError:
        return NotReadyError(
            self._device,
            expected=f"pictures from {_without_password(url)}",
            found=found.lower(),
            remedy="check the camera; it answers, but gives no pictures",
        )

    def _head(self, deadline: float) -> tuple[bytes, bytes]:
        data = b""
        while b"\r\n\r\n" not in data:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("no answer in time")
            self._socket.settimeout(left)
            chunk = self._socket.recv(65536)
            if not chunk or len(data) > _HEAD_LIMIT:
                raise ConnectionError("the answer broke off")
            data += chunk
        head, _, rest = data.partition(b"\r\n\r\n")
        return head, rest

    def next(self) -> Picture:
        """Wait for the next whole picture; when several are there, the newest.

        Raises NoFrameError after silence, LinkLostError at the stream's end.
        """
        deadline = time.monotonic() + self._silence_s
        while not self._ready:
            self._ready = self._receive(deadline)
        newest, self._ready = self._ready[-1], []
        return newest

    def _receive(self, deadline: float) -> list[Picture]:
        pictures: list[Picture] = []
        while len(pictures) < _MOST_AT_ONCE:
            try:
                data = self._socket.recv(1 << 18)
            except BlockingIOError:
                # nothing is waiting: whatever comes later was not here at this moment
                self._absent_at = time.monotonic()
                if pictures:
                    return pictures
                left = deadline - self._absent_at
                if left <= 0 or not select.select([self._socket], [], [], left)[0]:
                    raise NoFrameError(
                        self._device,
                        expected=f"a picture within {self._silence_s:g} s",
                        found="none",
                        remedy="check the camera; the stream is opened again",
                    ) from None
                continue
            except OSError as error:
                raise self._ended(error.strerror or str(error)) from error
            if not data:
                if pictures:
                    return pictures
                raise self._ended("closed by the camera")
            pictures += self._pictures(data, time.monotonic())
        return pictures

    def _pictures(self, data: bytes, now: float) -> list[Picture]:
        if self._parser.between_parts:
            self._part_absent_at = self._absent_at
        parts = self._parser.feed(data if self._chunks is None else self._chunks.feed(data))
        wall = time.time()
        pictures = [
            Picture(part.body, self._part_absent_at, now, stamp_of(part.headers, wall, now))
            for part in parts
        ]
        if parts:
            # the part that follows began in this same chunk, or has not come yet
            self._part_absent_at = self._absent_at
        return pictures

    def _ended(self, why: str) -> LinkLostError:
        return LinkLostError(
            self._device,
            expected="the stream to go on",
            found=why.lower(),
            remedy="check the camera; the stream is opened again",
        )

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):
            self._socket.close()


class NotReadyError(NotThereError):
    """Somebody is there, but gives no pictures yet."""


class NotMultipartError(NotThereError):
    """The URL answers, but not with an MJPEG stream."""


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    if parts.password is None:
        return url
    return url.replace(f":{parts.password}@", ":***@", 1)
