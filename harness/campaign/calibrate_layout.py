"""Calibrates one layout camera on the bench: results are entered until every lamp was lit."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from harness.dealing.entry import EntryTaker, Terminal
from harness.diagnosis.plan import in_varied_orders, plan_distinguish
from harness.observations import Dice, LampSample
from harness.rig.bench import Bench
from harness.rig.drivers.layout_camera import LayoutCameraSettings
from harness.rig.roles import DiceCamera
from harness.rules.books import RuleBook
from harness.verdicts import HarnessError
from harness.vision.calibration import CalibrationError
from harness.vision.faces import Picture
from harness.vision.lamp_calibration import (
    Corners,
    Lighting,
    Shots,
    calibrate_lamps,
    corners_in,
    find_spots,
    spots_from_regions,
)
from harness.vision.lamp_reference import LampReference
from harness.vision.lamps import LampReader

FRAMES = 4
"""Pictures of the layout at a time: enough to see light that varies with the exposure."""
FRAME_TIMEOUT_S = 2.0
LEARNED = "learned from the table"
IN_RIG_FILE = "rig file"


class DarkTableError(HarnessError):
    """The table did not light what was entered: it is no table to calibrate on."""


@dataclass(frozen=True, slots=True)
class LayoutCalibration:
    """A layout camera calibrated: its reference, remarks, a picture dark and one with each lamp.

    `corners` are the markers in the dark picture.
    """

    reference: LampReference
    remarks: tuple[str, ...]
    dark: Picture
    lit: tuple[Picture, ...]
    corners: Corners

    @property
    def learned(self) -> bool:
        """Tell whether the places were learned from the table, which cannot vouch for itself."""
        return self.reference.areas_by == LEARNED


def calibrate_layout(
    bench: Bench,
    name: str,
    book: RuleBook,
    terminal: Terminal,
    made: str,
    tell: Callable[[str], None],
    *,
    settings_digest: str,
) -> LayoutCalibration:
    """Calibrate the layout camera of that name. tell: takes a line of progress.

    The results of the plan that lights every area and tells every two apart are entered on the
    terminal. Where the bench senses the lamps otherwise too, these must be right: a faulty table is
    no reference. settings_digest: of the camera's settings in the rig file. Raises CalibrationError
    with all that is wrong, and what the bench raises.
    """
    bench.need("keys")
    cameras = dict(zip(bench.rig.roles.layout_camera, bench.layout_cameras, strict=True))
    settings = cast("LayoutCameraSettings", bench.rig.devices[name])
    _refuse_areas(settings, book)
    shots = _Photographer(bench, name, cameras[name], book, terminal, tell).shots()
    corners = corners_in(shots)
    own = corners[id(shots.dark[0])]
    if settings.size is not None and settings.regions and settings.size != shots.size:
        raise CalibrationError(
            [
                f"a picture of {shots.size[0]} x {shots.size[1]} px, the rig file's places are for "
                f"{settings.size[0]} x {settings.size[1]}"
            ]
        )
    if settings.regions:
        spots = spots_from_regions(settings.regions, settings.markers, own, shots.size[0])
    else:
        spots = find_spots(shots, corners)
    reference, remarks = calibrate_lamps(
        spots,
        shots,
        corners,
        camera=name,
        made=made,
        settings=settings_digest,
        areas_by=IN_RIG_FILE if settings.regions else LEARNED,
    )
    _prove(reference, shots)
    lit = tuple(each.frames[0] for each in shots.lightings)
    return LayoutCalibration(reference, remarks, shots.dark[0], lit, own)


def _refuse_areas(settings: LayoutCameraSettings, book: RuleBook) -> None:
    if not settings.regions:
        return
    lines = []
    if missing := sorted(book.areas.keys() - settings.regions.keys()):
        lines.append(f"the rig file tells no place for: {', '.join(missing)}")
    if unknown := sorted(settings.regions.keys() - book.areas.keys()):
        lines.append(f"no area of {book.id}: {', '.join(unknown)}")
    if lines:
        raise CalibrationError(lines)


def _prove(reference: LampReference, shots: Shots) -> None:
    """Read every picture with the reference made of them all: each must say what was entered."""
    reader = LampReader(reference)
    lines = []
    for lighting in (*shots.lightings, Lighting("clear", frozenset(), shots.dark)):
        seen = reader.read(lighting.frames)
        if seen.refusal is not None:
            lines.append(f"with {lighting.name} its own pictures are refused: {seen.refusal}")
        elif seen.lit != lighting.areas:
            wrong = ", ".join(sorted(seen.lit ^ lighting.areas))
            lines.append(f"with {lighting.name} its own pictures are misread at: {wrong}")
    if lines:
        raise CalibrationError(lines)


class _Photographer:
    """Lights the areas by entries and takes their pictures."""

    def __init__(
        self,
        bench: Bench,
        name: str,
        camera: DiceCamera,
        book: RuleBook,
        terminal: Terminal,
        tell: Callable[[str], None],
    ) -> None:
        assert bench.keys is not None
        self._bench = bench
        self._name = name
        self._camera = camera
        self._terminal = terminal
        self._tell = tell
        table = book.table(book.in_force())
        self._winning: Callable[[Dice], frozenset[str]] = lambda dice: frozenset(table[dice])
        self._results = in_varied_orders(plan_distinguish(book, book.in_force()).results)
        self._taker = EntryTaker(
            bench.keys,
            bench.lamps,
            terminal,
            book=book.id,
            rig=bench.rig.name,
            winning=self._winning,
            travel=bench.key_travel,
        )

    def shots(self) -> Shots:
        """Take all pictures: dark, each result, dark again."""
        if self._bench.cover is not None and self._bench.rig.table.cover != "none":
            self._bench.cover.take_off()  # a terminal may refuse entries while the dice are covered
        self._taker.clear()
        self._settle()
        self._refuse_lit(self._taker.sense_all())
        dark = self._take()
        corners_in(Shots(dark, ()))  # what is wrong with the picture is said before anything is lit
        lightings = []
        for n, dice in enumerate(self._results, 1):
            lightings.append(self._lighting(dice))
            self._tell(
                f"{self._name}: result {n} of {len(self._results)}: {lightings[-1].name}, "
                f"{len(lightings[-1].areas)} areas"
            )
        self._taker.clear()
        self._settle()
        return Shots(dark, tuple(lightings), self._take())

    def _lighting(self, dice: Dice) -> Lighting:
        frames: list[Picture] = []

        def photograph() -> None:
            self._settle()
            frames.extend(self._take())

        name = ",".join(map(str, dice))
        entry = self._taker.enter(
            0, [str(face) for face in dice], mode="entered", once_lit=photograph
        )
        if entry.faults:
            fault = entry.faults[0]
            raise DarkTableError(
                str(fault["subject"]),
                expected=str(fault["expected"]),
                found=f"with {name} entered: {fault['found']}",
                remedy=str(fault["remedy"]),
            )
        must = self._winning(dice)
        for staged in entry.lamps:
            if staged.stage == "lit":
                self._refuse_wrong(staged.sample, must, name)
        return Lighting(name, must, tuple(frames))

    def _refuse_wrong(self, sample: LampSample, must: frozenset[str], name: str) -> None:
        """A table whose lamps are wrong on another way to sense them is no reference."""
        wrong = sorted((sample.lit ^ must) | sample.unknown | sample.split | sample.flicker)
        least = self._bench.rig.limits.lamp_level_min
        dim = [
            area
            for area in sorted(must)
            if least is not None and sample.levels and sample.levels.get(area, 1.0) < least
        ]
        if wrong or dim:
            raise DarkTableError(
                f"table on {self._bench.rig.name}",
                expected=f"the winning areas of {name}, as {sample.path} senses the lamps",
                found="otherwise or in doubt: " + ", ".join(wrong or dim),
                remedy="have the table put right first: its lamps are what the camera is "
                "calibrated by",
            )

    def _refuse_lit(self, samples: Sequence[LampSample]) -> None:
        for sample in samples:
            if sample.lit or sample.unknown:
                raise DarkTableError(
                    f"table on {self._bench.rig.name}",
                    expected=f"every lamp dark, as {sample.path} senses them",
                    found=", ".join(sorted(sample.lit | sample.unknown)) + " lit or not sensed",
                    remedy="clear the table, then calibrate again",
                )

    def _settle(self) -> None:
        """Wait until lamps are surely as they will stay."""
        time.sleep(self._terminal.settle_s)

    def _take(self) -> tuple[Picture, ...]:
        pictures = []
        for _ in range(FRAMES):
            frame = self._camera.newer_than(time.monotonic(), FRAME_TIMEOUT_S)
            pictures.append(frame.image)
        return tuple(pictures)
