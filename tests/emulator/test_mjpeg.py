"""The MJPEG server, spoken to over HTTP."""

from __future__ import annotations

import itertools
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import cv2
import numpy as np
import pytest

from harness.emulator.mjpeg import MjpegServer
from harness.emulator.scene import Camera, CameraFault, Scene, SceneConfig


class Counter:
    """A camera whose pictures hold their number as brightness; `begun` counts them."""

    def __init__(self, padding: int = 0) -> None:
        self.begun = 0
        self.dead = False
        self._padding = padding

    def __call__(self) -> bytes:
        if self.dead:
            raise ConnectionError("dead")
        self.begun += 1
        image = np.full((48, 64, 3), self.begun % 200, np.uint8)
        data = cv2.imencode(".jpg", image)[1].tobytes()
        comment = f"{self.begun:08d}".encode() + bytes(self._padding)
        # A comment segment right after the start of the image carries number and padding.
        out = data[:2]
        for start in range(0, len(comment), 60000):
            part = comment[start : start + 60000]
            out += b"\xff\xfe" + (len(part) + 2).to_bytes(2) + part
        return out + data[2:]


def number(jpeg: bytes) -> int:
    return int(jpeg[6:14])


def parts(link: socket.socket) -> Iterator[bytes]:
    """Read a stream's frames as they come."""
    stream = link.makefile("rb")
    while line := stream.readline():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
            assert stream.readline() == b"\r\n"
            yield stream.read(length)


def connect(server: MjpegServer, name: str = "dice-camera", buffer: int | None = None):
    host, port = server.url("x").split("/")[2].split(":")
    link = socket.socket()
    if buffer:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    link.settimeout(10)
    link.connect((host, int(port)))
    link.sendall(f"GET /{name} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    return link


@pytest.fixture
def small() -> Scene:
    return Scene(SceneConfig(camera=Camera(width=320, height=240, focal_px=700.0)), seed=1)


def test_opencv_reads_the_stream_and_sees_the_dice_change(small):
    """Fails if cv2.VideoCapture cannot read it, or reads old dice for long after a change."""
    with MjpegServer({"dice-camera": small.jpeg}) as server:
        capture = cv2.VideoCapture(server.url("dice-camera"), cv2.CAP_FFMPEG)
        try:
            assert capture.isOpened()
            before = [capture.read()[1] for _ in range(5)][-1]
            assert before.shape == (240, 320, 3)
            small.lay((6, 6, 6), "flat", np.random.default_rng(0))
            shown = [capture.read()[1] for _ in range(4)][-1]
            assert (cv2.absdiff(before, shown) > 40).any(axis=2).sum() > 200
        finally:
            capture.release()


def test_frames_are_whole_pictures_and_keep_their_pace():
    """Fails if parts are cut, or come much slower or faster than the rate asked for."""
    camera = Counter()
    with MjpegServer({"dice-camera": camera}, fps=100) as server, connect(server) as link:
        started = time.monotonic()
        taken = list(itertools.islice(parts(link), 60))
        took = time.monotonic() - started
    numbers = [number(jpeg) for jpeg in taken]
    assert numbers == list(range(numbers[0], numbers[0] + 60))
    assert all(jpeg.endswith(b"\xff\xd9") for jpeg in taken)
    assert 0.5 < took < 3


def test_a_slow_client_stalls_nobody_and_gets_no_old_frames():
    """Fails if frames queue up for a client that does not read, or others must wait for it."""
    camera = Counter(padding=200_000)
    with MjpegServer({"dice-camera": camera}, fps=60) as server:
        slow, quick = connect(server, buffer=4096), connect(server)
        with slow, quick:
            slowly, quickly = parts(slow), parts(quick)
            next(slowly)
            started = time.monotonic()
            for _ in range(60):
                next(quickly)
            assert time.monotonic() - started < 5
            # What the two sockets' buffers held is all that may be old.
            seen = camera.begun
            held = [number(next(slowly)) for _ in range(40)]
            fresh = sum(n > seen for n in held)
            assert fresh >= 10
            assert max(b - a for a, b in itertools.pairwise(held)) > 5


def test_a_frame_read_after_a_round_trip_is_newer_than_the_change():
    """Fails if the server holds a frame back: a reader that keeps up is one frame behind."""
    camera = Counter()
    with MjpegServer({"dice-camera": camera}, fps=60) as server, connect(server) as link:
        stream = parts(link)
        for _ in range(30):
            got = number(next(stream))
            assert camera.begun - got <= 2


def test_nothing_is_drawn_while_nobody_watches():
    """Fails if the camera is asked for frames without a client."""
    camera = Counter()
    with MjpegServer({"dice-camera": camera}):
        time.sleep(0.15)
        assert camera.begun == 0


def test_streams_go_by_their_names_and_other_paths_are_refused():
    """Fails if a wrong path gets a picture, or two streams are mixed up."""
    one, two = Counter(), Counter(padding=10)
    with MjpegServer({"dice-camera": one, "layout-camera": two}) as server:
        base = server.url("")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(base + "other", timeout=5)
        assert refused.value.code == 404
        refused.value.close()
        with urllib.request.urlopen(base + "snapshot", timeout=5) as answer:
            assert answer.headers["Content-Type"] == "image/jpeg"
            assert number(answer.read()) == 1
        with urllib.request.urlopen(base + "layout-camera/snapshot", timeout=5) as answer:
            answer.read()
        assert (one.begun, two.begun) == (1, 1)


@pytest.mark.parametrize(
    "request_text", [b"nonsense\r\n\r\n", b"POST / HTTP/1.1\r\n\r\n", b"A" * 9000]
)
def test_a_malformed_request_is_refused_and_the_server_lives(request_text):
    """Fails if bad input is answered with a picture or kills the server."""
    camera = Counter()
    with MjpegServer({"dice-camera": camera}) as server:
        host, port = server.url("x").split("/")[2].split(":")
        with socket.create_connection((host, int(port)), timeout=5) as link:
            link.sendall(request_text)
            assert link.recv(100).startswith(b"HTTP/1.0 4")
        with connect(server) as link:
            assert number(next(parts(link))) == 1


def test_a_dead_camera_ends_its_stream_and_refuses_new_clients_until_healed(small):
    """Fails if a dead stream hangs open, or a healed one stays dead."""
    with MjpegServer({"dice-camera": small.jpeg}) as server:
        with connect(server) as link:
            stream = parts(link)
            next(stream)
            small.fail(CameraFault("dies", after=3))
            assert len(list(stream)) <= 5
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(server.url("dice-camera"), timeout=5)
        assert refused.value.code == 503
        refused.value.close()
        small.fail(None)
        with connect(server) as link:
            assert next(parts(link)).endswith(b"\xff\xd9")


def test_closing_cuts_clients_off_and_ends_the_thread():
    """Fails if a client or the thread outlives the server."""
    before = threading.active_count()
    server = MjpegServer({"dice-camera": Counter()})
    with connect(server) as link:
        stream = parts(link)
        next(stream)
        server.close()
        assert len(list(stream)) < 100
    assert threading.active_count() == before
