"""From light to a camera's picture: exposure, colour, tone, lens fall-off, noise, JPEG."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.float32]
Image = NDArray[np.uint8]

_STEPS = 4096
_TOP = 1.6
_SPREAD = 40  # pixels by which the noise field is larger than the picture


@dataclass(frozen=True)
class Sensor:
    """How the camera develops light.

    `ev` is exposure in stops, `white_balance` gains of B, G, R, `contrast` 0 to 1 steepens the tone
    curve, `noise` is the spread of the grain in grey levels, `vignette` the light lost in the
    corners, `quality` the JPEG quality.
    """

    ev: float = 0.0
    white_balance: tuple[float, float, float] = (1.0, 1.0, 1.0)
    contrast: float = 0.2
    noise: float = 1.5
    vignette: float = 0.12
    sharpen: float = 0.0
    quality: int = 88

    @cached_property
    def _curve(self) -> Image:
        light = np.linspace(0, _TOP, _STEPS) * 2.0**self.ev
        light = np.minimum(light, 1.0)
        tone = np.where(light < 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
        steep = tone * tone * (3 - 2 * tone)
        tone = (1 - self.contrast) * tone + self.contrast * steep
        return np.asarray(np.round(tone * 255), dtype=np.uint8)

    def fall_off(self, width: int, height: int) -> Picture:
        """Give the factors, shape (h, w, 3), of lens fall-off and white balance."""
        x = (np.arange(width, dtype=np.float32) - (width - 1) / 2) / (width / 2)
        y = (np.arange(height, dtype=np.float32) - (height - 1) / 2) / (width / 2)
        far = x[None, :] ** 2 + y[:, None] ** 2
        lens = 1 - self.vignette * far / far.max()
        out: Picture = lens[..., None] * np.array(self.white_balance, dtype=np.float32)
        return out.astype(np.float32)

    def develop(self, light: Picture, factors: Picture) -> Image:
        """Give the picture, uint8, of linear light, both (h, w, 3)."""
        scaled = cv2.multiply(light, factors, scale=(_STEPS - 1) / _TOP)
        steps = np.clip(scaled, 0, _STEPS - 1).astype(np.uint16)
        out: Image = self._curve[steps]
        if self.sharpen > 0:
            soft = cv2.GaussianBlur(out, (0, 0), 1.2)
            out = np.asarray(
                cv2.addWeighted(out, 1 + self.sharpen, soft, -self.sharpen, 0), np.uint8
            )
        return out

    def encode(self, image: Image) -> bytes:
        """Compress a picture as JPEG."""
        done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, self.quality])
        if not done:
            raise ValueError("the picture could not be compressed")
        return bytes(data)


class Grain:
    """Sensor noise: windows, drawn anew for each frame, of a field larger than the picture."""

    def __init__(self, width: int, height: int, spread: float, rng: np.random.Generator) -> None:
        size = (height + _SPREAD, width + _SPREAD, 3)
        raw = rng.standard_normal(size, dtype=np.float32)
        # A colour mosaic makes neighbours alike.
        soft = np.asarray(cv2.GaussianBlur(raw, (0, 0), 0.55), dtype=np.float32)
        soft *= spread / max(float(soft.std()), 1e-6)
        self._field = np.clip(np.round(soft), -127, 127).astype(np.int8)
        self._size = (height, width)
        self._rng = rng
        self._last = (-1, -1)

    def add(self, image: Image) -> Image:
        """Give the picture with noise of its own."""
        place = self._last
        while place == self._last:
            y, x = (int(n) for n in self._rng.integers(_SPREAD, size=2))
            place = (y, x)
        self._last = place
        h, w = self._size
        window = self._field[place[0] : place[0] + h, place[1] : place[1] + w]
        return np.asarray(cv2.add(image, window, dtype=cv2.CV_8U), dtype=np.uint8)


class Still:
    """A picture that lasts: noisy JPEGs of it are made one a frame, up to `bank`, then shown again.

    So a new picture costs one compression before it is out, and a lasting one soon none.
    """

    def __init__(self, clean: Image, bank: int) -> None:
        self.clean = clean
        self._bank = bank
        self._made: list[bytes] = []
        self._turn = 0

    def jpeg(self, sensor: Sensor, grain: Grain) -> bytes:
        """Give the next frame, other than the one before."""
        if len(self._made) < self._bank:
            self._made.append(sensor.encode(grain.add(self.clean)))
            return self._made[-1]
        self._turn = (self._turn + 1) % self._bank
        return self._made[self._turn - 1]
