"""A camera: device index, picture, folder of pictures, video file, or URL.

A live camera has a grabber thread that keeps only the newest picture and knows when it was not
there yet. `newer_than(at)` gives a picture whose exposure began after `at`, never an older one:

- by the camera's own stamp (`X-Timestamp` of an MJPEG part, UNIX time) where it gives one on this
  host's clock, and
- by the moment at which no byte of it had arrived, less `latency_ms`, the time a picture may
  take from exposure to its first byte. Without a stamp `latency_ms` is all there is to go by: its
  default is generous, `doctor` measures what it really is.

An MJPEG URL is read by our own client (see `harness.rig.mjpeg` for why); everything else by
`cv2.VideoCapture`, with its time-outs set, since they are 30 s by default.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.rig.device import Capability, DeviceSettings, LinkRecord, Surroundings
from harness.rig.errors import (
    CorruptFrameError,
    LinkLostError,
    NoFrameError,
    NotThereError,
    RigError,
    StaleFrameError,
)
from harness.rig.mjpeg import MjpegStream, NotMultipartError, NotReadyError, Picture
from harness.rig.pictures import decode
from harness.rig.roles import Frame

if TYPE_CHECKING:
    import cv2

PICTURE_SUFFIXES = frozenset((".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp"))
_UNSTAMPED_LATENCY_MS = 250.0
_STAMPED_LATENCY_MS = 500.0
_BEHIND_S, _BEHIND_PICTURES = 1.0, 5
"""A camera is behind if each picture of so long, and so many, came too late: one may be the host's
lag."""
_REOPEN_PAUSE_S = 0.2
_KEPT = 120
"""Pictures whose times are remembered."""
_EXPOSED_BY_HAND = 1
"""V4L2's word for manual exposure."""


class CameraSettings(DeviceSettings):
    """Section of a `camera`.

    source: index (`0`), picture, folder, video file, or URL. min_fps: least rate, pictures/s, for
    the self-check. latency_ms: most time from exposure to first byte, for cameras without stamps.
    width, height: asked of an index camera. exposure_ms: what it is set to; an index camera is set
    so. Lamps are lit by the mains or modulated: expose over whole half periods of the mains.
    """

    path_fields: ClassVar[tuple[str, ...]] = ("source",)
    location_field: ClassVar[str | None] = "source"

    source: str | int
    min_fps: float = Field(default=5.0, gt=0)
    latency_ms: float | None = Field(default=None, ge=0)
    silence_s: float = Field(default=2.0, gt=0)
    width: int | None = Field(default=None, gt=0)
    height: int | None = Field(default=None, gt=0)
    exposure_ms: float | None = Field(default=None, gt=0)

    @property
    def shareable(self) -> bool:
        """Stored pictures may be read by many."""
        return Path(str(self.source)).exists() and not str(self.source).startswith("/dev/")


class Shot(Protocol):
    """One picture a source gave: when it was not there yet, when it was, and its array."""

    absent_at: float
    at: float
    exposed_at: float | None
    jpeg: bytes | None

    def image(self) -> NDArray[np.uint8] | None:
        """Decode; None if the picture is broken."""
        ...


class _JpegShot:
    def __init__(self, picture: Picture) -> None:
        self.absent_at = picture.absent_at
        self.at = picture.at
        self.exposed_at = picture.exposed_at
        self.jpeg: bytes | None = picture.jpeg

    def image(self) -> NDArray[np.uint8] | None:
        return decode(self.jpeg or b"")


class _ArrayShot:
    exposed_at: float | None = None
    jpeg: bytes | None = None

    def __init__(self, image: NDArray[np.uint8], absent_at: float, at: float) -> None:
        self._image = image
        self.absent_at = absent_at
        self.at = at

    def image(self) -> NDArray[np.uint8] | None:
        return self._image


class _Live(Protocol):
    def next(self) -> Shot: ...

    def close(self) -> None: ...


class _MjpegSource:
    """An MJPEG URL."""

    def __init__(self, url: str, name: str, open_s: float, silence_s: float) -> None:
        self._stream = MjpegStream(url, name, open_s, silence_s)

    def next(self) -> Shot:
        return _JpegShot(self._stream.next())

    def close(self) -> None:
        self._stream.close()


class _CaptureSource:
    """Anything that `cv2.VideoCapture` opens and that goes on by itself."""

    def __init__(self, settings: CameraSettings, name: str, open_s: float) -> None:
        self._name = name
        self._capture = _open_capture(settings, name, open_s)
        self._waited_at = time.monotonic()

    def next(self) -> Shot:
        asked = time.monotonic()
        good, image = self._capture.read()
        now = time.monotonic()
        if not good or image is None:
            raise LinkLostError(
                self._name,
                expected="the next picture",
                found="the end of the stream",
                remedy="check the camera and its cable; it is opened again",
            )
        if now - asked > 0.001:
            # read had to wait, so this picture was not there when it was asked for
            self._waited_at = asked
        return _ArrayShot(image.astype(np.uint8, copy=False), self._waited_at, now)

    def close(self) -> None:
        self._capture.release()


def _open_capture(settings: CameraSettings, name: str, open_s: float) -> cv2.VideoCapture:
    import cv2

    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_ERROR)
    source = settings.source
    limits = [
        cv2.CAP_PROP_OPEN_TIMEOUT_MSEC,
        int(open_s * 1000),
        cv2.CAP_PROP_READ_TIMEOUT_MSEC,
        int(settings.silence_s * 1000),
    ]
    if isinstance(source, int):
        node = Path(f"/dev/video{source}")
        if Path("/dev").is_dir() and Path("/sys/class").is_dir() and not node.exists():
            raise _not_there(name, f"camera {source}", f"no {node}")
        capture = cv2.VideoCapture(source)
        if settings.width is not None:
            capture.set(cv2.CAP_PROP_FRAME_WIDTH, settings.width)
        if settings.height is not None:
            capture.set(cv2.CAP_PROP_FRAME_HEIGHT, settings.height)
        if settings.exposure_ms is not None:
            capture.set(cv2.CAP_PROP_AUTO_EXPOSURE, _EXPOSED_BY_HAND)
            capture.set(cv2.CAP_PROP_EXPOSURE, settings.exposure_ms * 10)  # in steps of 100 us
    else:
        capture = cv2.VideoCapture(source, cv2.CAP_FFMPEG, limits)
    if not capture.isOpened():
        capture.release()
        raise _not_there(name, f"a camera or video at {source}", "nothing that opens")
    return capture


def _not_there(name: str, expected: str, found: str) -> NotThereError:
    return NotThereError(
        name,
        expected=expected,
        found=found,
        remedy="plug the camera in, or correct its source in the rig file",
    )


class LiveCamera:
    """A camera that goes on by itself, opened; also for the layout."""

    settings_type: ClassVar[type[DeviceSettings]] = CameraSettings
    provides: ClassVar[frozenset[Capability]] = frozenset({"camera"})

    def __init__(self, name: str, settings: CameraSettings, open_s: float) -> None:
        self.name = name
        self.link = LinkRecord(name)
        self._settings = settings
        self._news = threading.Condition()
        self._newest: Shot | None = None
        self._count = 0
        self._times: list[float] = []
        self._ages: list[tuple[float, float]] = []
        self._trouble: RigError | None = None
        self._stopping = threading.Event()
        self._source = self._open_patiently(open_s)
        self._thread = threading.Thread(target=self._grab, name=f"grab {name}", daemon=True)
        self._thread.start()
        try:
            self._first(open_s)
        except RigError:
            self.close()
            raise

    def _open_source(self, open_s: float) -> _Live:
        source = self._settings.source
        if isinstance(source, str) and source.startswith("http://"):
            try:
                return _MjpegSource(source, self.name, open_s, self._settings.silence_s)
            except NotMultipartError:
                pass
        return _CaptureSource(self._settings, self.name, open_s)

    def _open_patiently(self, open_s: float) -> _Live:
        """Open the source; one that answers but is not ready gets the whole time."""
        deadline = time.monotonic() + open_s
        while True:
            left = max(0.1, deadline - time.monotonic())
            try:
                return self._open_source(left)
            except NotReadyError:
                if time.monotonic() + _REOPEN_PAUSE_S >= deadline:
                    raise
                time.sleep(_REOPEN_PAUSE_S)

    def _first(self, open_s: float) -> None:
        with self._news:
            if not self._news.wait_for(lambda: self._newest is not None, open_s):
                raise NoFrameError(
                    self.name,
                    expected=f"a first picture within {open_s:g} s",
                    found="none",
                    remedy="check the camera and that no other program uses it",
                )

    def _grab(self) -> None:
        """Keep the newest picture; open the source again when it dies."""
        source: _Live | None = self._source
        while not self._stopping.is_set():
            try:
                if source is None:
                    source = self._open_source(self._settings.silence_s)
                shot = source.next()
            except RigError as error:
                self.link.failed(error)
                if source is not None:
                    source.close()
                source = None
                with self._news:
                    self._trouble = error
                self._stopping.wait(_REOPEN_PAUSE_S)
                continue
            with self._news:
                self.link.exchanges += 1
                self._count += 1
                self._newest, self._trouble = shot, None
                self._times.append(shot.at)
                del self._times[:-_KEPT]
                if shot.exposed_at is not None:
                    self._ages.append((shot.at, shot.at - shot.exposed_at))
                    del self._ages[:-_KEPT]
                self._news.notify_all()
        if source is not None:
            source.close()

    def _began_after(self, shot: Shot, at: float) -> bool:
        """Tell whether the exposure of a picture surely began after a moment."""
        if shot.exposed_at is not None:
            return min(shot.exposed_at, shot.absent_at) > at
        latency_ms = self._settings.latency_ms
        if latency_ms is None:
            latency_ms = _UNSTAMPED_LATENCY_MS
        return shot.absent_at - latency_ms / 1000 > at

    def newer_than(self, at: float, timeout_s: float) -> Frame:
        """Give a whole picture whose exposure began after `at`.

        Raises NoFrameError, StaleFrameError or CorruptFrameError after `timeout_s`.
        """
        deadline = time.monotonic() + timeout_s
        broken = 0
        seen = -1
        while True:
            with self._news:
                fresh = self._news.wait_for(
                    partial(self._newer_than_seen, seen, at),
                    max(0.0, deadline - time.monotonic()),
                )
                shot, seen = self._newest, self._count
            if not fresh or shot is None:
                raise self._nothing_fresh(shot, at, timeout_s, broken)
            self._refuse_behind()
            image = shot.image()
            if image is not None:
                return Frame(image=image, at=shot.at, number=seen, jpeg=shot.jpeg)
            broken += 1
            self.link.failures["corrupt-frame"] = self.link.failures.get("corrupt-frame", 0) + 1

    def _newer_than_seen(self, seen: int, at: float) -> bool:
        newest = self._newest
        return self._count != seen and newest is not None and self._began_after(newest, at)

    def _refuse_behind(self) -> None:
        """Refuse a camera whose pictures all come too long after their exposure (StaleFrameError).

        What it shows is true, and old: with such a delay no picture can be told to follow its
        stimulus closely.
        """
        limit_ms = self._settings.latency_ms
        limit_ms = _STAMPED_LATENCY_MS if limit_ms is None else limit_ms
        with self._news:
            newest = self._ages[-1][0] if self._ages else 0.0
            oldest = self._ages[0][0] if self._ages else 0.0
            late = [age for came, age in self._ages if came >= newest - _BEHIND_S]
        long_enough = newest - oldest >= _BEHIND_S or len(self._ages) >= _KEPT
        if not long_enough or len(late) < _BEHIND_PICTURES or min(late) * 1000 <= limit_ms:
            return
        raise StaleFrameError(
            self.name,
            expected=f"pictures within {limit_ms:g} ms of their exposure",
            found=f"every one of {_BEHIND_S:g} s {min(late) * 1000:.0f} ms or more behind",
            remedy="use a camera with less delay, or state its latency_ms in the rig file",
        )

    def _nothing_fresh(self, shot: Shot | None, at: float, limit_s: float, broken: int) -> RigError:
        if broken:
            return CorruptFrameError(
                self.name,
                expected="a whole JPEG",
                found=f"{broken} broken one(s) in {limit_s:g} s",
                remedy="check the camera's network link",
            )
        if shot is None or shot.at <= at:
            trouble = "" if self._trouble is None else f" ({self._trouble.found})"
            return NoFrameError(
                self.name,
                expected=f"a picture within {limit_s:g} s of its stimulus",
                found=f"no new one{trouble}",
                remedy="check the camera, its cable and its power",
            )
        began = shot.absent_at if shot.exposed_at is None else shot.exposed_at
        age_ms = (shot.at - began) * 1000
        return StaleFrameError(
            self.name,
            expected="a picture exposed after its stimulus",
            found=f"only older ones; the newest came {age_ms:.0f} ms after its exposure",
            remedy="use a camera with less delay, or set its clock to this host's",
        )

    def fps(self) -> float | None:
        """Give the rate over the last pictures (pictures/s), None before there are two."""
        with self._news:
            times = list(self._times)
        if len(times) < 2 or times[-1] <= times[0]:
            return None
        return (len(times) - 1) / (times[-1] - times[0])

    def identify(self) -> str | None:
        """Cameras reached this way do not say what they are."""
        return None

    def close(self) -> None:
        """Stop the thread and give the camera back."""
        self._stopping.set()
        self._thread.join(timeout=self._settings.silence_s + 1.0)


class StoredPictures:
    """A picture, a folder of pictures in name order, or a video file: one picture a call."""

    settings_type: ClassVar[type[DeviceSettings]] = CameraSettings
    provides: ClassVar[frozenset[Capability]] = frozenset({"camera"})

    def __init__(self, name: str, settings: CameraSettings, open_s: float) -> None:
        self.name = name
        self.link = LinkRecord(name)
        self._path = Path(str(settings.source))
        self._count = 0
        self._pictures: Iterator[tuple[NDArray[np.uint8] | None, bytes | None]]
        if self._path.is_dir():
            files = sorted(p for p in self._path.iterdir() if p.suffix.lower() in PICTURE_SUFFIXES)
            if not files:
                raise _not_there(name, f"pictures in {self._path}", "none")
            self._pictures = (_stored(path) for path in files)
        elif self._path.suffix.lower() in PICTURE_SUFFIXES:
            self._pictures = _over_and_over(self._path)
        else:
            self._pictures = _video(_open_capture(settings, name, open_s))

    def newer_than(self, at: float, timeout_s: float) -> Frame:
        """Give the next picture. A single picture comes again and again."""
        self.link.exchanges += 1
        image, jpeg = next(self._pictures, (None, None))
        if image is None:
            error = NoFrameError if jpeg is None else CorruptFrameError
            raise error(
                self.name,
                expected=f"a further picture in {self._path}",
                found="the end" if jpeg is None else "a file that is no whole picture",
                remedy="give more pictures, or replace the broken one",
            )
        self._count += 1
        return Frame(image=image, at=time.monotonic(), number=self._count, jpeg=jpeg)

    def fps(self) -> float | None:
        """Stored pictures have no rate."""
        return None

    def identify(self) -> str | None:
        """Give the path."""
        return str(self._path)

    def close(self) -> None:
        """Nothing is held between calls that the garbage collector does not give back."""


def _stored(path: Path) -> tuple[NDArray[np.uint8] | None, bytes | None]:
    import cv2

    data = path.read_bytes()
    if path.suffix.lower() in (".jpg", ".jpeg"):
        return decode(data), data
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
    if image is None:
        return None, data
    return image.astype(np.uint8, copy=False), None


def _over_and_over(path: Path) -> Iterator[tuple[NDArray[np.uint8] | None, bytes | None]]:
    while True:
        yield _stored(path)


def _video(capture: cv2.VideoCapture) -> Iterator[tuple[NDArray[np.uint8] | None, bytes | None]]:
    try:
        while True:
            good, image = capture.read()
            if not good or image is None:
                return
            yield image.astype(np.uint8, copy=False), None
    finally:
        capture.release()


class Camera:
    """The `camera` driver: opens what its source is."""

    settings_type: ClassVar[type[DeviceSettings]] = CameraSettings
    provides: ClassVar[frozenset[Capability]] = frozenset({"camera"})

    @classmethod
    def open(
        cls, name: str, settings: DeviceSettings, around: Surroundings
    ) -> LiveCamera | StoredPictures:
        """Open the source and have a first picture from it."""
        own = cast("CameraSettings", settings)
        open_s = around.open_limit_s
        if isinstance(own.source, str) and "://" not in own.source:
            if own.source.isdigit():
                own = own.model_copy(update={"source": int(own.source)})
            elif not Path(str(own.source)).exists():
                raise _not_there(name, f"a picture, folder or video at {own.source}", "nothing")
            else:
                return StoredPictures(name, own, open_s)
        return LiveCamera(name, own, open_s)
