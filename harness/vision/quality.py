"""Gates on a whole picture: too dark, too bright, out of focus."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from harness.vision.calibration import Profile
from harness.vision.faces import Picture

DARK = 26.0
"""A picture whose brightest hundredth lies below this grey level is too dark."""
WHITE = 250
OVEREXPOSED = 0.6
"""Part of the pixels at white from which a picture is overexposed."""
SOFT = 6.0
"""Greatest local contrast (grey levels) below which no edge of a picture is sharp."""


@dataclass(frozen=True, slots=True)
class Quality:
    """What a picture's pixels say of it.

    `bright` is the grey level that one pixel in a hundred exceeds, `white` the part of pixels at
    white, `sharpness` the 99.5th percentile of the Laplacian (grey levels per px^2).
    """

    bright: float
    white: float
    sharpness: float


def measure(picture: Picture) -> Quality:
    """Measure a BGR picture."""
    grey = np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), np.uint8)
    histogram = np.bincount(grey.ravel(), minlength=256)
    below = np.cumsum(histogram) / grey.size
    bright = float(np.searchsorted(below, 0.99))
    laplacian = np.abs(np.asarray(cv2.Laplacian(cv2.GaussianBlur(grey, (3, 3), 0), cv2.CV_16S)))
    sharp = np.cumsum(np.bincount(laplacian.ravel(), minlength=2))
    return Quality(
        bright,
        float(histogram[WHITE:].sum() / grey.size),
        float(np.searchsorted(sharp, 0.995 * grey.size)),
    )


def picture_fault(picture: Picture, dice_seen: bool, profile: Profile | None = None) -> str | None:
    """Give `dark`, `overexposed` or `blurred` if the whole picture is; None if it is not.

    Without a profile asked only of pictures that were not read: what can be read needs no excuse.
    With one, its limits hold for every picture: a camera that is not as calibrated is not trusted.
    """
    quality = measure(picture)
    if profile is not None:
        if quality.bright < profile.bright_min:
            return "dark"
        if quality.white > profile.white_max:
            return "overexposed"
        if quality.sharpness < profile.sharpness_min:
            return "blurred"
        if dice_seen:
            return None
    if quality.bright < DARK:
        return "dark"
    if quality.white > OVEREXPOSED:
        return "overexposed"
    if not dice_seen and quality.sharpness < SOFT:
        return "blurred"
    return None
