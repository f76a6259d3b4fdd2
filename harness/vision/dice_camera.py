"""Calibrates a dice camera from pictures of dice that lie flat: scale, tilt, limits of quality."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from harness.vision.background import background_of
from harness.vision.calibration import CalibrationError, Profile
from harness.vision.decision import SURE
from harness.vision.faces import Picture, Pyramid
from harness.vision.pictures import fit_size
from harness.vision.plumb import Upright, fit_nadir
from harness.vision.quality import Quality, measure
from harness.vision.reader import DiceReader
from harness.vision.readings import DiceReading

LEAST_DICE = 9
"""Dice, over all pictures, below which tilt and focal length are not told."""
LEAST_SPREAD = 0.12
"""Part of the picture's width over which the dice must be spread for that."""
_SOFT = ("blurred", "moving")
ANYWHERE = Profile("", "", edge_px=(0.0, 1e9))
"""Of a camera of which nothing is known yet."""
BEYOND_EDGES = 1.5
"""Edges beyond the dice seen to which dice may still lie."""


@dataclass(slots=True)
class _Found:
    """What the pictures showed; lengths in pixels as looked at, `scale` of them to a camera's."""

    scale: float
    size: tuple[int, int]
    dice: list[Upright] = field(default_factory=list)
    qualities: list[Quality] = field(default_factory=list)


def calibrate_dice_camera(
    pictures: Sequence[Picture],
    camera: str,
    made: str,
    dice: int | None = 3,
    *,
    edge_mm: float | None = None,
    settings: str = "",
) -> tuple[Profile, tuple[DiceReading, ...]]:
    """Make a profile from pictures of dice lying flat in different places, with their readings.

    `camera` names it, `made` is the date (ISO 8601), `edge_mm` the edge of a die, `settings` the
    digest of the camera's settings. Raises CalibrationError saying what is missing: nothing read,
    too few dice, or all in one place.
    """
    height, width = pictures[0].shape[:2]
    if any(picture.shape[:2] != (height, width) for picture in pictures):
        raise CalibrationError(["the pictures are not all of one size"])
    found = _Found(fit_size(pictures[0])[1], (width, height))
    reader = DiceReader()
    read = [reader.read_closely(picture, dice) for picture in pictures]
    background = background_of(
        [fit_size(picture)[0] for picture in pictures],
        [[die.judged for die in looked if die.value is not None] for _, looked in read],
    )
    # What a lamp's image alone spoilt is read now that it is known to lie there always.
    aware = DiceReader(replace(ANYWHERE, background=background))
    for k, (reading, _) in enumerate(read):
        if reading.verdict != "values":
            read[k] = aware.read_closely(pictures[k], dice)
    readings = [reading for reading, _ in read]
    for picture, (reading, looked) in zip(pictures, read, strict=True):
        if reading.verdict != "values":
            continue
        found.dice += [
            die.judged.upright for die in looked if die.found.score >= SURE and not die.phantom
        ]
        found.qualities.append(measure(Pyramid(fit_size(picture)[0]).level(1)))
    if len(found.dice) < LEAST_DICE:
        raise CalibrationError([_too_few(len(found.dice), readings)])
    middles = np.array([d.frame.centre for d in found.dice])
    if np.abs(middles - middles.mean()).max() < LEAST_SPREAD * width * found.scale:
        raise CalibrationError(["the dice lie all in one place; lay them elsewhere each time"])
    profile = _profile(found, camera, made, edge_mm, settings)
    return replace(profile, background=background), tuple(readings)


def refusals(readings: Sequence[DiceReading]) -> str:
    """Say why pictures were refused, how many for each reason; a single picture of dice that lie
    still may look `moving` where it is out of focus."""
    reasons = Counter(r.reason for r in readings if r.reason is not None)
    return ", ".join(
        f"{'blurred or moving' if reason in _SOFT else reason} ({n})"
        for reason, n in reasons.most_common()
    )


def _too_few(count: int, readings: Sequence[DiceReading]) -> str:
    refused = refusals(readings)
    return (
        f"{count} dice were read in {len(readings)} pictures; at least {LEAST_DICE} are needed, "
        "lying flat, in several pictures" + (f"; refused: {refused}" if refused else "")
    )


def _profile(
    found: _Found, camera: str, made: str, edge_mm: float | None, settings: str
) -> Profile:
    width, height = (found.scale * side for side in found.size)
    edges = np.array([d.scale for d in found.dice])
    nadir, g = fit_nadir(found.dice, round(max(width, height)))
    # g = cos(tilt) / f and |nadir - middle| = f tan(tilt): two equations for two unknowns.
    away = abs(nadir - complex((width - 1) / 2, (height - 1) / 2))
    tilt = float(np.arcsin(np.clip(away * g, 0.0, 1.0)))
    nadir /= found.scale
    edges = edges / found.scale
    return Profile(
        camera=camera,
        made=made,
        edge_px=(round(float(edges.min()) * 0.8, 2), round(float(edges.max()) * 1.25, 2)),
        tilt_deg=round(float(np.degrees(tilt)), 2),
        nadir_px=(round(nadir.real, 1), round(nadir.imag, 1)),
        focal_px=round(float(np.cos(tilt) / g) / found.scale, 1),
        region=_region(found),
        sharpness_min=min(q.sharpness for q in found.qualities) * 0.4,
        bright_min=min(q.bright for q in found.qualities) * 0.4,
        white_max=min(1.0, max(q.white for q in found.qualities) * 2 + 0.1),
        size_px=(float(found.size[0]), float(found.size[1])),
        px_per_mm=0.0 if edge_mm is None else round(float(np.median(edges)) / edge_mm, 3),
        settings=settings,
    )


def _region(found: _Found) -> tuple[float, float, float, float]:
    """Give where dice can lie: the box of those seen, grown; within the picture.

    n places drawn evenly from a stretch leave (n - 1) / (n + 1) of it between the outermost ones,
    on average; beyond that the box is grown generously: a die left out is worse than one let in.
    """
    places = np.array([(d.frame.centre.real, d.frame.centre.imag) for d in found.dice])
    low, high = places.min(axis=0), places.max(axis=0)
    edge = max(d.scale for d in found.dice)
    grown = (high - low) / (len(places) - 1) + BEYOND_EDGES * edge
    low, high = (low - grown) / found.scale, (high + grown) / found.scale
    left, top = (float(max(0.0, v)) for v in low)
    right, bottom = (float(min(v, side - 1)) for v, side in zip(high, found.size, strict=True))
    return (round(left, 1), round(top, 1), round(right - left, 1), round(bottom - top, 1))
