"""Calibrates a layout camera: where each area's lamp lies, its light when dark and when lit.

It is fed pictures of the table with every lamp dark, and of results entered one after the other:
which areas must light is known, so each place is proved by every result, and what lights where it
must not is found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.vision.calibration import CalibrationError
from harness.vision.faces import Floats, Picture
from harness.vision.lamp_reference import LampReference, LampSpot
from harness.vision.lamps import (
    LEAST_SWING,
    MARKERS,
    OFF,
    PerLamp,
    SamplePoints,
    aspect_of,
    linear_light,
    seen_markers,
)
from harness.vision.quality import WHITE, picture_fault

Corners = tuple[tuple[float, float], ...]

CLEARLY_LIT = 0.8
"""Part of its mean light that a lamp must give with every result that lights it."""
UNSTEADY = 0.12
"""Part of a lamp's light by which it may vary between pictures of one result."""
CLIPPED = 0.2
"""Part of a lit spot's pixels that may be white: with more a dim lamp looks like a good one."""
WEAK = 0.6
"""Part of the usual lamp's light below which a lamp is named, for a person to look at."""
ROOM_STEADY = 0.1
"""Part by which the room's light may change while calibrating."""
_DARKEST = 25
"""Percentile of the surroundings' change that tells the room's, while lamps are lit."""
MOVED = 0.05
"""Part of the picture's width by which markers may lie off their places in the rig file."""

_RECTIFIED = 720
"""Width (px) of the layout between its markers when places are searched."""
_MARGIN = 0.15
"""Part of that by which lamps may lie beyond the markers."""
_LEAST_SPOT = 12
"""Pixels of it that a lamp must cover."""


@dataclass(frozen=True, slots=True)
class Lighting:
    """One result entered: its name (`1,1,2`), the areas that must be lit, pictures (BGR)."""

    name: str
    areas: frozenset[str]
    frames: tuple[Picture, ...]


@dataclass(frozen=True, slots=True)
class Shots:
    """All pictures of a calibration: lamps dark, results one by one, lamps dark again."""

    dark: tuple[Picture, ...]
    lightings: tuple[Lighting, ...]
    dark_after: tuple[Picture, ...] = ()

    @property
    def size(self) -> tuple[int, int]:
        """Give the pictures' width and height (px)."""
        height, width = self.dark[0].shape[:2]
        return width, height


def corners_in(shots: Shots) -> dict[int, Corners]:
    """Find the markers in every picture; by the picture's `id`.

    Raises CalibrationError where a picture is dark, overexposed, blurred, of another size, or shows
    not all four markers; each kind of mistake is told once.
    """
    frames = [*shots.dark, *(f for each in shots.lightings for f in each.frames), *shots.dark_after]
    found: dict[int, Corners] = {}
    faults: dict[str, int] = {}
    for frame in frames:
        fault = picture_fault(frame, dice_seen=False)
        seen = seen_markers(frame)
        missing = [str(number) for number in MARKERS if number not in seen]
        if (frame.shape[1], frame.shape[0]) != shots.size:
            told = "of another size than the first"
        elif fault is not None and (missing or fault == "overexposed"):
            told = fault
        elif missing:
            told = f"without marker {', '.join(missing)}"
        else:
            found[id(frame)] = tuple(seen[number] for number in MARKERS)
            continue
        faults[told] = faults.get(told, 0) + 1
    if faults:
        raise CalibrationError(
            [f"{count} of {len(frames)} pictures {told}" for told, count in sorted(faults.items())]
        )
    return found


def spots_from_regions(
    regions: Mapping[str, Sequence[tuple[float, float, float]]],
    markers: Sequence[tuple[float, float]],
    corners: Corners,
    width: int,
) -> dict[str, tuple[LampSpot, ...]]:
    """Give the places that a rig file tells, x, y, radius (px), in the layout's own coordinates.

    `markers`: where the file says that the markers are (px, any order); without them the camera
    must stand as it did. `corners`: the markers as seen. Raises CalibrationError if they lie
    elsewhere.
    """
    own = corners
    if len(markers) == len(MARKERS):
        nearest = [min(markers, key=partial(_distance, c)) for c in corners]
        off = max(_distance(m, c) for m, c in zip(nearest, corners, strict=True))
        if len(set(nearest)) < len(MARKERS) or off > MOVED * width:
            raise CalibrationError(
                [f"markers lie up to {off:.0f} px off their places in the rig file"]
            )
        own = tuple((float(x), float(y)) for x, y in nearest)
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    matrix = cv2.getPerspectiveTransform(np.asarray(own, np.float32), square)
    across = (_distance(own[0], own[1]) + _distance(own[3], own[2])) / 2
    spots: dict[str, tuple[LampSpot, ...]] = {}
    for area, places in regions.items():
        middles = np.array([[(x, y) for x, y, _ in places]], np.float64)
        at = np.asarray(cv2.perspectiveTransform(middles, matrix))[0]
        spots[area] = tuple(
            LampSpot(float(x), float(y), radius / across)
            for (x, y), (_, _, radius) in zip(at, places, strict=True)
        )
    return spots


def find_spots(shots: Shots, corners: Mapping[int, Corners]) -> dict[str, tuple[LampSpot, ...]]:
    """Find each area's lamps by what lights with the results that it wins on, and no other.

    The results must tell every two areas apart. Raises CalibrationError naming the areas for which
    no such place is found.
    """
    aspect = _aspect(corners)
    dark = _rectified(shots.dark, corners, aspect)
    rises = np.stack([_rectified(each.frames, corners, aspect) - dark for each in shots.lightings])
    areas = sorted(frozenset[str]().union(*(each.areas for each in shots.lightings)))
    spots: dict[str, tuple[LampSpot, ...]] = {}
    lost = []
    for area in areas:
        wins = np.array([area in each.areas for each in shots.lightings])
        own = rises[wins].min(axis=0) - np.maximum(0.0, rises[~wins].max(axis=0, initial=0.0))
        found = _patches(own, aspect)
        if found:
            spots[area] = found
        else:
            lost.append(area)
    if lost:
        raise CalibrationError([f"no place was found that lights with: {', '.join(lost)}"])
    return spots


def calibrate_lamps(
    spots: Mapping[str, Sequence[LampSpot]],
    shots: Shots,
    corners: Mapping[int, Corners],
    *,
    camera: str = "",
    made: str = "",
    settings: str = "",
    areas_by: str = "",
) -> tuple[LampReference, tuple[str, ...]]:
    """Make a reference, and remarks that a person should look at.

    `corners`: the markers of each picture (`corners_in`). Raises CalibrationError with everything
    that is wrong: areas that no result lights, light that does not rise where it must or rises
    where it must not, lit lamps that are white in the picture or vary, a room whose light changes.
    """
    aspect = _aspect(corners)
    kept = {area: tuple(of_area) for area, of_area in spots.items()}
    points = SamplePoints(kept, aspect)
    names = [area for area, of_area in kept.items() for _ in of_area]
    wins = np.array([[name in each.areas for name in names] for each in shots.lightings])
    unlit = [name for name, times in zip(names, wins.sum(axis=0), strict=True) if not times]
    if unlit:
        raise CalibrationError([f"no result that was entered lights: {_list(unlit)}"])
    seen = _measure(shots, corners, points, wins)
    lines = _mistakes(seen, names, [each.name for each in shots.lightings])
    if lines:
        raise CalibrationError(lines)
    usual = float(np.median(seen.swing))
    weak = [(n, s / usual) for n, s in zip(names, seen.swing, strict=True) if s < WEAK * usual]
    reference = LampReference(
        spots=kept,
        corners_px=corners[id(shots.dark[0])],
        dark=_written(points.by_area(seen.dark)),
        lit=_written(points.by_area(seen.lit)),
        around=_written(points.by_area(seen.around)),
        aspect=round(aspect, 4),
        camera=camera,
        made=made,
        size_px=shots.size,
        settings=settings,
        areas_by=areas_by,
    )
    return reference, tuple(f"{n} gives {part:.2f} of the usual lamp's light" for n, part in weak)


@dataclass(frozen=True, slots=True)
class _Seen:
    """Linear light of each lamp: dark, lit, around it (lamps); `around_after` when dark again.

    `rooms`: the light around the dark lamps with each result, of that with all lamps dark. By
    result and lamp: whether it `wins`, the part of its own swing that it gives (`levels`), by
    how much its light varies from picture to picture (`ranges`), the part of its pixels that are
    `white`.
    """

    dark: Floats
    lit: Floats
    around: Floats
    around_after: Floats
    wins: NDArray[np.bool_]
    levels: Floats
    ranges: Floats
    white: Floats
    rooms: Floats

    @property
    def swing(self) -> Floats:
        """By how much each lamp's light rises."""
        return self.lit - self.dark


def _measure(
    shots: Shots, corners: Mapping[int, Corners], points: SamplePoints, wins: NDArray[np.bool_]
) -> _Seen:
    def look(frames: Sequence[Picture]) -> tuple[Floats, Floats, Floats]:
        """Give light inside, light around, part of white pixels: (frames, lamps) each."""
        pixels = np.stack([points.pixels(frame, corners[id(frame)]) for frame in frames])
        light = linear_light(pixels).mean(axis=3)
        white = (pixels[:, 0] >= WHITE).any(axis=3).mean(axis=2)
        return light[:, 0], light[:, 1], np.asarray(white, np.float32)

    darks, arounds, _ = look(shots.dark)
    after = look(shots.dark_after)[1] if shots.dark_after else arounds
    by_result = [look(each.frames) for each in shots.lightings]
    means = np.stack([inside.mean(axis=0) for inside, _, _ in by_result])
    dark = darks.mean(axis=0)
    lit = (means * wins).sum(axis=0) / wins.sum(axis=0)
    return _Seen(
        dark=dark,
        lit=lit.astype(np.float32),
        around=arounds.mean(axis=0),
        around_after=after.mean(axis=0),
        wins=wins,
        levels=((means - dark) / np.maximum(lit - dark, LEAST_SWING)).astype(np.float32),
        ranges=np.stack([np.ptp(inside, axis=0) for inside, _, _ in by_result]),
        white=np.stack([white.mean(axis=0) for _, _, white in by_result]),
        rooms=np.array(
            [
                _room(arounds[:, ~won], around[:, ~won], _DARKEST)
                for won, (_, around, _) in zip(wins, by_result, strict=True)
            ],
            np.float32,
        ),
    )


def _mistakes(seen: _Seen, names: Sequence[str], results: Sequence[str]) -> list[str]:
    """Say everything for which these pictures are no calibration."""
    wins, rises = seen.wins, seen.swing >= LEAST_SWING
    lines = []
    if not rises.all():
        lines.append(f"no light rises at the place of: {_named(~rises, names)}")
    for bad, said in (
        (wins & (seen.levels < CLEARLY_LIT), "must be lit and is not, at its place,"),
        (~wins & (seen.levels > OFF), "must be dark, and light rises at its place,"),
    ):
        at: dict[str, list[str]] = {}
        for result, lamp in np.argwhere(bad & rises):
            at.setdefault(names[lamp], []).append(results[result])
        lines += [f"{name} {said} with {_list(told)}" for name, told in at.items()]
    clipped = (wins & (seen.white > CLIPPED)).any(axis=0)
    if clipped.any():
        lines.append(
            "overexposed: lit lamps are white in the picture, so that a dim one would look good: "
            + _named(clipped, names)
        )
    varying = (wins & (seen.ranges > UNSTEADY * seen.swing)).any(axis=0) & rises
    if varying.any():
        lines.append(
            "lit lamps vary from picture to picture (does the exposure hold whole periods of the "
            f"mains and of the lamps' drive?): {_named(varying, names)}"
        )
    after = _room(seen.around[None], seen.around_after[None], 50)
    if abs(after - 1) > ROOM_STEADY:
        lines.append(f"the room's light changed to {after:.2f} of what it was at first")
    elif (follows := seen.rooms < 1 - ROOM_STEADY).any():
        lines.append(
            "the picture grows darker when lamps are lit (switch automatic exposure off, give "
            f"exposure_ms, keep the room's light steady): with {_named(follows, results)}"
        )
    return lines


def _written(values: PerLamp) -> PerLamp:
    """Give values as they are written, so that a file holds what was calibrated."""
    return {area: tuple(round(v, 5) for v in of_area) for area, of_area in values.items()}


def _room(before: Floats, after: Floats, percentile: float) -> float:
    """Tell how the room's light changed, by the surroundings (frames, lamps) of dark lamps.

    Light of lit lamps strays over some of these: the darkest tell, and those may be brighter.
    """
    change = after.mean(axis=0) / np.maximum(before.mean(axis=0), 1e-4)
    return float(np.percentile(change, percentile)) if change.size else 1.0


def _named(lamps: NDArray[np.bool_] | np.bool_, names: Sequence[str]) -> str:
    return _list([names[int(n)] for n in np.flatnonzero(lamps)])


def _list(names: Sequence[str], most: int = 8) -> str:
    different = list(dict.fromkeys(names))
    more = f" and {len(different) - most} more" if len(different) > most else ""
    return ", ".join(different[:most]) + more


def _distance(one: tuple[float, float], other: tuple[float, float]) -> float:
    return float(np.hypot(one[0] - other[0], one[1] - other[1]))


def _aspect(corners: Mapping[int, Corners]) -> float:
    return float(np.median([aspect_of(each) for each in corners.values()]))


def _rectified(frames: Sequence[Picture], corners: Mapping[int, Corners], aspect: float) -> Floats:
    """Give the mean light of pictures, laid flat: the markers' rectangle and a margin about it."""
    across, down = _RECTIFIED, _RECTIFIED / aspect
    ahead_x, ahead_y = _MARGIN * across, _MARGIN * down
    size = (round(across + 2 * ahead_x), round(down + 2 * ahead_y))
    flat = np.array([[0, 0], [across, 0], [across, down], [0, down]], np.float32)
    flat += np.array([ahead_x, ahead_y], np.float32)
    total = np.zeros((size[1], size[0]), np.float32)
    for frame in frames:
        seen = np.asarray(corners[id(frame)], np.float32)
        matrix = cv2.getPerspectiveTransform(seen, flat)
        laid = cv2.warpPerspective(frame, matrix, size, flags=cv2.INTER_LINEAR)
        total += linear_light(np.asarray(laid, np.uint8))
    return np.asarray(cv2.GaussianBlur(total / len(frames), (0, 0), 1.5), np.float32)


def _patches(own: Floats, aspect: float) -> tuple[LampSpot, ...]:
    """Give the lamps in a picture of the light that is one area's own; largest first."""
    peak = float(own.max())
    if peak < LEAST_SWING:
        return ()
    mask = np.asarray(own > max(0.5 * peak, LEAST_SWING), np.uint8)
    count, labels, stats, middles = cv2.connectedComponentsWithStats(mask, connectivity=4)
    sizes = {n: int(stats[n, cv2.CC_STAT_AREA]) for n in range(1, count)}
    largest = max(sizes.values(), default=0)
    spots = []
    for n in sorted(sizes, key=lambda n: -sizes[n]):
        if sizes[n] < max(_LEAST_SPOT, 0.3 * largest):
            continue
        alone = cv2.copyMakeBorder(
            np.asarray(labels == n, np.uint8), 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=(0,)
        )
        depth = np.asarray(cv2.distanceTransform(alone, cv2.DIST_L2, 5))[1:-1, 1:-1]
        x, y = (float(v) for v in middles[n])
        reach = float(depth[round(y), round(x)])
        if reach < 0.8 * depth.max():
            row, column = np.unravel_index(int(depth.argmax()), depth.shape)
            x, y, reach = float(column), float(row), float(depth.max())
        spots.append(
            LampSpot(
                round((x - _MARGIN * _RECTIFIED) / _RECTIFIED, 5),
                round((y - _MARGIN * _RECTIFIED / aspect) / (_RECTIFIED / aspect), 5),
                round(reach / _RECTIFIED, 5),
            )
        )
    return tuple(spots)
