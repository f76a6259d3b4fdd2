"""The camera driver over HTTP: never a picture older than its stimulus, never half a picture."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.rig.device import Surroundings
from harness.rig.drivers.camera import Camera, CameraSettings
from harness.rig.errors import (
    CorruptFrameError,
    CorruptReplyError,
    NoFrameError,
    NotThereError,
    StaleFrameError,
)
from harness.rig.mjpeg import Chunks, PartParser, stamp_of
from harness.rig.pictures import decode, whole_jpeg
from tests.rig.peers import TcpPeer, eventually


def jpeg(level: int) -> bytes:
    """A grey picture whose level can be read back from it."""
    image = np.full((48, 64, 3), level, np.uint8)
    return cv2.imencode(".jpg", image)[1].tobytes()


def level_of(image: np.ndarray) -> int:
    return round(float(image.mean()))


class MjpegCamera:
    """An MJPEG server that shows `scene` at `fps`, `delay_s` after it was so.

    lengths: whether parts have a Content-Length; stamped: whether they have an X-Timestamp.
    """

    def __init__(self, *, fps: float = 100, delay_s: float = 0, lengths=True, stamped=True) -> None:
        self.level = 10
        self.fps, self.delay_s, self.lengths, self.stamped = fps, delay_s, lengths, stamped
        self.spoil: Callable[[bytes], bytes] | None = None
        self.dead = threading.Event()
        self.frozen = threading.Event()
        self.opened = 0

    def __call__(self, link: socket.socket) -> None:
        self.opened += 1
        link.recv(4096)
        link.sendall(
            b"HTTP/1.0 200 OK\r\n"
            b"Content-Type: multipart/x-mixed-replace; boundary=cut\r\n\r\n--cut\r\n"
        )
        pipeline: list[tuple[float, bytes]] = []
        while not self.dead.is_set():
            began = time.time()
            data = jpeg(self.level)
            pipeline.append((began, data if self.spoil is None else self.spoil(data)))
            time.sleep(1 / self.fps)
            while pipeline and pipeline[0][0] + self.delay_s <= time.time():
                stamp, body = pipeline.pop(0)
                head = b"Content-Type: image/jpeg\r\n"
                head += b"Content-Length: %d\r\n" % len(body) if self.lengths else b""
                head += b"X-Timestamp: %.6f\r\n" % stamp if self.stamped else b""
                while self.frozen.is_set() and not self.dead.is_set():
                    time.sleep(0.01)
                link.sendall(head + b"\r\n" + body + b"\r\n--cut\r\n")

    def serve(self) -> TcpPeer:
        return TcpPeer(self)


def open_camera(peer: TcpPeer, **settings):
    own = CameraSettings(driver="camera", source=f"http://{peer.address}/", **settings)
    return Camera.open("eye", own, Surroundings())


@pytest.mark.parametrize("lengths", [True, False])
def test_every_picture_shows_what_was_after_its_stimulus(lengths) -> None:
    """The scene changes, then a picture is asked for: fails if one ever shows the scene before."""
    scene = MjpegCamera(lengths=lengths)
    with scene.serve() as peer:
        camera = open_camera(peer)
        try:
            for n in range(40):
                scene.level = 20 + 5 * n
                frame = camera.newer_than(time.monotonic(), 2.0)
                assert abs(level_of(frame.image) - scene.level) <= 1
                assert frame.jpeg is not None
                assert decode(frame.jpeg) is not None
        finally:
            scene.dead.set()
            camera.close()


def test_a_slow_reader_gets_no_backlog() -> None:
    """Fails if pictures queue up while nobody asks (seconds, with cv2.VideoCapture)."""
    scene = MjpegCamera(fps=100)
    with scene.serve() as peer:
        camera = open_camera(peer)
        try:
            for n in range(5):
                time.sleep(0.3)
                scene.level = 40 + 20 * n
                at = time.monotonic()
                frame = camera.newer_than(at, 2.0)
                assert abs(level_of(frame.image) - scene.level) <= 1
                assert time.monotonic() - at < 1.0
        finally:
            scene.dead.set()
            camera.close()


def test_stale_pictures_are_refused_by_their_stamp() -> None:
    """Pictures come on time, each 800 ms old, which the rig file allows."""
    scene = MjpegCamera(delay_s=0.8)
    with scene.serve() as peer:
        camera = open_camera(peer, latency_ms=1000)
        try:
            time.sleep(0.9)
            with pytest.raises(StaleFrameError, match="ms after its exposure"):
                camera.newer_than(time.monotonic(), 0.5)
            scene.level = 200
            frame = camera.newer_than(time.monotonic(), 3.0)
            assert abs(level_of(frame.image) - 200) <= 1
        finally:
            scene.dead.set()
            camera.close()


def test_a_camera_always_behind_is_refused() -> None:
    """Fails if pictures that are each 800 ms old are used as soon as they are newer."""
    scene = MjpegCamera(delay_s=0.8)
    with scene.serve() as peer:
        camera = open_camera(peer)
        try:
            time.sleep(2.2)
            with pytest.raises(StaleFrameError, match="behind"):
                camera.newer_than(time.monotonic(), 3.0)
        finally:
            scene.dead.set()
            camera.close()


def test_a_pause_of_the_stream_is_no_camera_behind() -> None:
    """Fails if pictures that queued up while nothing ran are taken for a slow camera."""
    scene = MjpegCamera()
    with scene.serve() as peer:
        camera = open_camera(peer)
        try:
            time.sleep(1.2)
            scene.frozen.set()
            time.sleep(0.9)
            scene.frozen.clear()
            assert camera.newer_than(time.monotonic(), 3.0) is not None
        finally:
            scene.dead.set()
            camera.close()


def test_pictures_without_a_stamp_wait_out_the_latency() -> None:
    """A camera 150 ms behind, without stamps: the stated latency covers it."""
    scene = MjpegCamera(delay_s=0.15, stamped=False)
    with scene.serve() as peer:
        camera = open_camera(peer, latency_ms=200)
        try:
            for n in range(5):
                scene.level = 40 + 20 * n
                frame = camera.newer_than(time.monotonic(), 2.0)
                assert abs(level_of(frame.image) - scene.level) <= 1
        finally:
            scene.dead.set()
            camera.close()


def test_a_frozen_stream_gives_no_frame() -> None:
    scene = MjpegCamera()
    with scene.serve() as peer:
        camera = open_camera(peer)
        try:
            scene.frozen.set()
            time.sleep(0.1)
            with pytest.raises(NoFrameError):
                camera.newer_than(time.monotonic(), 0.3)
        finally:
            scene.frozen.clear()
            scene.dead.set()
            camera.close()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:-2],
        lambda data: b"\x00" * 500,
        lambda data: data[:-40] + b"\xff\xc4" + data[-38:],
    ],
)
def test_broken_pictures_are_never_given(spoil) -> None:
    """cv2.imdecode takes the first of these for a picture and fills it with grey."""
    scene = MjpegCamera()
    with scene.serve() as peer:
        camera = open_camera(peer)
        try:
            scene.spoil = spoil
            time.sleep(0.05)
            with pytest.raises(CorruptFrameError):
                camera.newer_than(time.monotonic(), 0.3)
            scene.spoil = None
            assert camera.newer_than(time.monotonic(), 2.0).image.shape == (48, 64, 3)
            assert camera.link.failures["corrupt-frame"] > 0
        finally:
            scene.dead.set()
            camera.close()


def test_a_stream_that_dies_is_opened_again() -> None:
    scene = MjpegCamera()
    with scene.serve() as peer:
        camera = open_camera(peer)
        try:
            scene.dead.set()
            assert eventually(lambda: camera.link.failures.get("link-lost", 0) > 0)
            scene.dead.clear()
            scene.level = 222
            frame = camera.newer_than(time.monotonic(), 3.0)
            assert abs(level_of(frame.image) - 222) <= 1
            assert scene.opened >= 2
        finally:
            scene.dead.set()
            camera.close()


def plain(*blocks: bytes) -> bytes:
    return b"".join(blocks)


def chunked(*blocks: bytes) -> bytes:
    """As small cameras send it: boundary, head and picture each a chunk of its own."""
    return b"".join(b"%x;by=camera\r\n%b\r\n" % (len(block), block) for block in blocks)


OTHER_CAMERAS = {
    "dashes in the header's boundary too": (b'; boundary="--cut"', b"--cut", b"\r\n", plain, True),
    "a boundary of dashes, no lengths": (b";boundary=--cut", b"----cut", b"\r\n", plain, False),
    "bare line feeds, no lengths": (b"; Boundary=cut", b"--cut", b"\n", plain, False),
    "chunks": (b";boundary=cut", b"--cut", b"\r\n", chunked, True),
    "chunks, no lengths": (b";boundary=cut", b"--cut", b"\r\n", chunked, False),
}


@pytest.mark.parametrize("name", OTHER_CAMERAS)
def test_other_makers_ways_to_send_pictures(name) -> None:
    """What multipart and HTTP leave open; fails if a picture is not whole, or none comes."""
    boundary, mark, end, wrapped, lengths = OTHER_CAMERAS[name]
    stop = threading.Event()

    def serve(link: socket.socket) -> None:
        link.recv(4096)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace" + boundary
        head += b"\r\nTransfer-Encoding: chunked" if wrapped is chunked else b""
        link.sendall(head + b"\r\n\r\n")
        while not stop.wait(0.02):
            picture = jpeg(150)
            length = b"Content-Length: %d%b" % (len(picture), end) if lengths else b""
            part = b"Content-Type: image/jpeg" + end + length + end
            link.sendall(wrapped(end + mark + end, part, picture))

    with TcpPeer(serve) as peer:
        camera = open_camera(peer)
        try:
            for _ in range(3):
                frame = camera.newer_than(time.monotonic(), 3.0)
                assert abs(level_of(frame.image) - 150) <= 1
        finally:
            stop.set()
            camera.close()


def test_a_camera_that_is_not_there_is_said_in_time() -> None:
    began = time.monotonic()
    for source in ("http://127.0.0.1:9/", "rtsp://127.0.0.1:9/", "99", "nothing.jpg"):
        with pytest.raises(NotThereError) as caught:
            Camera.open("eye", CameraSettings(driver="camera", source=source), Surroundings())
        assert caught.value.subject == "eye"
    assert time.monotonic() - began < 10


def test_a_server_that_accepts_and_says_nothing() -> None:
    with TcpPeer(lambda link: time.sleep(3)) as peer:
        began = time.monotonic()
        with pytest.raises(NotThereError):
            Camera.open(
                "eye",
                CameraSettings(driver="camera", source=f"http://{peer.address}/"),
                Surroundings(open_limit_s=0.5),
            )
        assert time.monotonic() - began < 3


def test_stored_pictures(tmp_path: Path) -> None:
    for n in (3, 1, 2):
        (tmp_path / f"{n}.jpg").write_bytes(jpeg(50 * n))
    (tmp_path / "notes.txt").write_text("no picture")
    settings = CameraSettings(driver="camera", source=str(tmp_path))
    camera = Camera.open("eye", settings, Surroundings())
    levels = [level_of(camera.newer_than(0, 1).image) for _ in range(3)]
    assert levels == [50, 100, 150]
    with pytest.raises(NoFrameError, match="the end"):
        camera.newer_than(0, 1)
    one = CameraSettings(driver="camera", source=str(tmp_path / "2.jpg"))
    camera = Camera.open("eye", one, Surroundings())
    assert [level_of(camera.newer_than(0, 1).image) for _ in range(2)] == [100, 100]
    (tmp_path / "4.jpg").write_bytes(jpeg(9)[:-20])
    broken = CameraSettings(driver="camera", source=str(tmp_path / "4.jpg"))
    with pytest.raises(CorruptFrameError):
        Camera.open("eye", broken, Surroundings()).newer_than(0, 1)


def test_a_video_file(tmp_path: Path) -> None:
    path = tmp_path / "dice.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 10, (64, 48))
    for n in range(3):
        writer.write(np.full((48, 64, 3), 60 * n, np.uint8))
    writer.release()
    camera = Camera.open("eye", CameraSettings(driver="camera", source=str(path)), Surroundings())
    levels = [level_of(camera.newer_than(0, 1).image) for _ in range(3)]
    assert levels == pytest.approx([0, 60, 120], abs=4)
    with pytest.raises(NoFrameError):
        camera.newer_than(0, 1)


def test_whole_pictures_are_whole() -> None:
    """Every JPEG that cv2 writes passes, at any quality and with restart markers."""
    rng = np.random.default_rng(1)
    image = rng.integers(0, 255, (120, 160, 3), np.uint8)
    for quality in (5, 50, 95, 100):
        for restart in (0, 2):
            options = [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_RST_INTERVAL, restart]
            data = cv2.imencode(".jpg", image, options)[1].tobytes()
            assert whole_jpeg(data)
            for cut in range(2, len(data), 97):
                assert not whole_jpeg(data[:cut])
    progressive = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_PROGRESSIVE, 1])[1].tobytes()
    assert whole_jpeg(progressive)


def test_a_stamp_of_another_clock_is_not_believed() -> None:
    """mjpg-streamer on a UVC camera stamps seconds since its own start."""
    assert stamp_of({"x-timestamp": "1234.5"}, wall=1.8e9, now=50.0) is None
    assert stamp_of({"x-timestamp": "nonsense"}, wall=1.8e9, now=50.0) is None
    assert stamp_of({"x-timestamp": "nan"}, wall=1.8e9, now=50.0) is None
    assert stamp_of({"x-timestamp": "1800000000.25"}, wall=1.8e9, now=50.0) == 50.25


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_any_bytes_may_be_fed(chunks: list[bytes]) -> None:
    parser = PartParser(b"cut", "eye")
    for chunk in chunks:
        try:
            for part in parser.feed(chunk):
                assert isinstance(part.body, bytes)
        except CorruptReplyError:
            return


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=5), st.integers(1, 40), st.booleans())
def test_parts_come_out_as_they_went_in(bodies, size, lengths) -> None:
    """However the stream is cut into chunks; fails if a part is lost, split or joined."""
    bodies = [body.replace(b"--cut", b"") for body in bodies]
    stream = b"--cut\r\n"
    for body in bodies:
        stream += b"Content-Length: %d\r\n" % len(body) if lengths else b"X: y\r\n"
        stream += b"\r\n" + body + b"\r\n--cut\r\n"
    stream += b"Content-Length: 0\r\n\r\n\r\n--cut"
    parser, got = PartParser(b"cut", "eye"), []
    for at in range(0, len(stream), size):
        got += [part.body for part in parser.feed(stream[at : at + size])]
    assert got[: len(bodies)] == bodies


@given(st.binary(max_size=200))
def test_any_bytes_may_be_a_picture(data: bytes) -> None:
    whole_jpeg(data)
    whole_jpeg(b"\xff\xd8" + data)
    assert decode(b"\xff\xd8" + data + b"\xff\xd9") is None or data


@given(st.lists(st.binary(max_size=60), max_size=6), st.integers(1, 9))
def test_chunks_come_out_as_they_went_in(blocks: list[bytes], step: int) -> None:
    """However the network cuts them; fails if a byte is lost or a size is taken for body."""
    wire, chunks = chunked(*(block for block in blocks if block)), Chunks("x")
    body = b"".join(chunks.feed(wire[at : at + step]) for at in range(0, len(wire), step))
    assert body == b"".join(blocks)
