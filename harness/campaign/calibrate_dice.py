"""Calibrates one dice camera on the bench: dice are laid or tossed, read, the profile proved."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.dealing.look import Eyes
from harness.observations import Dice
from harness.rig.bench import Bench
from harness.rig.roles import DiceCamera, Frame
from harness.vision.calibration import CalibrationError, Profile
from harness.vision.dice_camera import calibrate_dice_camera, refusals
from harness.vision.reader import DiceReader
from harness.vision.readings import DiceReading

LAID: tuple[Dice, ...] = (
    (1, 2, 3),
    (4, 5, 6),
    (2, 4, 6),
    (1, 3, 5),
    (6, 6, 1),
    (5, 5, 2),
    (3, 3, 4),
    (1, 1, 1),
    (6, 5, 4),
)
"""What is laid for the profile: each face, and each with others."""
PROVED: tuple[Dice, ...] = ((2, 3, 5), (6, 4, 1), (3, 6, 6), (4, 2, 1), (5, 1, 5))
"""What is laid to prove it: pictures that it was not made of."""
STROKES = 3
LEAST_READ = 0.6
"""Part of the pictures that must be read, with the profile as without."""


@dataclass(frozen=True, slots=True)
class DiceCalibration:
    """A dice camera calibrated: its profile, and the pictures and readings that it was made of.

    `proved`: of how many further pictures it read how many.
    """

    profile: Profile
    frames: tuple[Frame, ...]
    readings: tuple[DiceReading, ...]
    proved: tuple[int, int]


def calibrate_dice(
    bench: Bench,
    name: str,
    made: str,
    tell: Callable[[str], None],
    *,
    settings_digest: str,
    edge_mm: float | None = None,
) -> DiceCalibration:
    """Calibrate the dice camera of that name. tell: takes a line of progress.

    settings_digest: of the camera's settings in the rig file; edge_mm: a die's edge. Dice are laid
    by the presenter, else tossed by the shaker. Raises CalibrationError with all that is wrong, and
    what the bench raises.
    """
    cameras = dict(zip(bench.rig.roles.dice_camera, bench.dice_cameras, strict=True))
    hands = _Hands(bench, cameras[name])
    frames = [
        hands.lay(dice, f"{name}: picture {n} of {len(LAID)}", tell)
        for n, dice in enumerate(LAID, 1)
    ]
    profile, readings = calibrate_dice_camera(
        [frame.image for frame in frames],
        name,
        made,
        edge_mm=edge_mm,
        settings=settings_digest,
    )
    laid: tuple[Dice | None, ...] = LAID if hands.presents else (None,) * len(LAID)
    _refuse_unfit(readings, laid, "")
    reader = DiceReader(profile)
    again = [reader.read(frame.image) for frame in frames]
    _refuse_unfit(again, laid, "with the profile ")
    proofs = []
    for n, dice in enumerate(PROVED, 1):
        frame = hands.lay(dice, f"{name}: proof {n} of {len(PROVED)}", tell)
        proofs.append(reader.read(frame.image))
    _refuse_unfit(
        proofs, PROVED if hands.presents else (None,) * len(PROVED), "in pictures of its proof "
    )
    read = sum(reading.verdict == "values" for reading in proofs)
    return DiceCalibration(profile, tuple(frames), readings, (read, len(proofs)))


class _Hands:
    """Whoever brings other dice before the camera."""

    def __init__(self, bench: Bench, camera: DiceCamera) -> None:
        if bench.presenter is None:
            bench.need("shaker")
        self.presents = bench.presenter is not None
        self._bench = bench
        self._eyes = Eyes((camera,), [DiceReader()])
        if bench.cover is not None and bench.rig.table.cover != "none":
            bench.cover.take_off()

    def lay(self, dice: Dice, what: str, tell: Callable[[str], None]) -> Frame:
        """Lay dice, or toss, and give the last picture of them at rest."""
        bench = self._bench
        if bench.presenter is not None:
            bench.presenter.present(dice)
        elif bench.rig.table.shaker == "manual":
            assert bench.shaker is not None
            bench.shaker.shake(STROKES)
        else:
            assert bench.shaker is not None
            bench.shaker.activate("dealer")
        look = self._eyes.look(time.monotonic(), moved=True)
        seen = look.seen
        tell(f"{what}: {seen.reason or ','.join(map(str, seen.values))}")
        return look.frames[-1]


def _refuse_unfit(
    readings: Sequence[DiceReading],
    laid: Sequence[Dice | None],
    which: str,
) -> None:
    """Refuse pictures that are mostly not read, or read as other dice than were laid."""
    lines = [
        f"dice laid at {','.join(map(str, dice))} {which}are read as "
        f"{','.join(map(str, reading.values))}"
        for dice, reading in zip(laid, readings, strict=True)
        if dice is not None
        and reading.verdict == "values"
        and reading.values != tuple(sorted(dice))
    ]
    refused = sum(reading.verdict != "values" for reading in readings)
    if refused > (1 - LEAST_READ) * len(readings):
        lines.append(
            f"{refused} of {len(readings)} pictures {which}are not read: {refusals(readings)}"
        )
    if lines:
        raise CalibrationError(lines)
