"""Calibrates a dice camera from pictures of dice that lie flat: scale, tilt, limits of quality."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.vision.calibration import Profile
from harness.vision.decision import SURE
from harness.vision.faces import Picture, Pyramid
from harness.vision.plumb import Upright, fit_nadir
from harness.vision.quality import Quality, measure
from harness.vision.reader import DiceReader
from harness.vision.readings import DiceReading

LEAST_DICE = 9
"""Dice, over all pictures, below which tilt and focal length are not told."""
LEAST_SPREAD = 0.12
"""Part of the picture's width over which the dice must be spread for that."""


class CalibrationError(ValueError):
    """The pictures do not tell what a profile needs."""


def calibrate_dice_camera(
    pictures: Sequence[Picture], camera: str, made: str, dice: int | None = 3
) -> tuple[Profile, tuple[DiceReading, ...]]:
    """Make a profile from pictures of dice lying flat in different places, with their readings.

    `camera` names it, `made` is the date (ISO 8601). Raises CalibrationError saying what is
    missing: nothing read, too few dice, or all in one place.
    """
    reader = DiceReader()
    readings, dice_seen, qualities = [], [], []
    for picture in pictures:
        reading, looked = reader.read_closely(picture, dice)
        readings.append(reading)
        if reading.verdict != "values":
            continue
        dice_seen += [die.judged.upright for die in looked if die.found.score >= SURE]
        qualities.append(measure(Pyramid(picture).level(1)))
    if len(dice_seen) < LEAST_DICE:
        raise CalibrationError(
            f"{len(dice_seen)} dice were read in {len(pictures)} pictures; at least {LEAST_DICE} "
            "are needed, lying flat, in several pictures"
        )
    width = pictures[0].shape[1]
    middles = np.array([d.frame.centre for d in dice_seen])
    if np.abs(middles - middles.mean()).max() < LEAST_SPREAD * width:
        raise CalibrationError("the dice lie all in one place; lay them elsewhere for each picture")
    return _profile(camera, made, pictures[0], dice_seen, qualities), tuple(readings)


def _profile(
    camera: str,
    made: str,
    picture: Picture,
    dice: list[Upright],
    qualities: list[Quality],
) -> Profile:
    height, width = picture.shape[:2]
    scale = np.array([d.scale for d in dice])
    nadir, g = fit_nadir(dice, max(width, height))
    # g = cos(tilt) / f and |nadir - middle| = f tan(tilt): two equations for two unknowns.
    away = abs(nadir - complex((width - 1) / 2, (height - 1) / 2))
    tilt = float(np.arcsin(np.clip(away * g, 0.0, 1.0)))
    return Profile(
        camera=camera,
        made=made,
        edge_px=(float(scale.min()) * 0.8, float(scale.max()) * 1.25),
        tilt_deg=round(float(np.degrees(tilt)), 2),
        nadir_px=(nadir.real, nadir.imag),
        focal_px=round(float(np.cos(tilt) / g), 1),
        sharpness_min=min(q.sharpness for q in qualities) * 0.4,
        bright_min=min(q.bright for q in qualities) * 0.4,
        white_max=min(1.0, max(q.white for q in qualities) * 2 + 0.1),
    )
