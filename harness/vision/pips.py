"""Reads a face by its pips alone: spots found on the flattened face, fitted to the six patterns.

A pattern is told by which of the nine places of a 3 x 3 lattice hold a pip. A place counts as empty
only where the bare body is seen: where light hides the body, the face is not read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.vision.faces import Floats, Frame, Pyramid
from harness.vision.lattice import (
    LATTICE,
    NEAR,
    PATTERNS,
    PLACES,
    USUAL,
    Point,
    fit_pattern,
    sound,
)
from harness.vision.lit_faces import LitFace, lit_parts, values_left

SIDE, FACE = 60, 40.0
RADII = (0.15, 0.2, 0.3)
"""Radii of pips looked for, in half edges."""
INNER, OUTER = 0.5, 1.35
LEAST_CONTRAST = 7.0
"""Grey levels by which a pip must stand out."""

Indices = NDArray[np.intp]
_BESIDE = np.array(
    [(a, b) for a in (-1.55, 1.55) for b in (-0.5, 0.5)]
    + [(a, b) for a in (-0.5, 0.5) for b in (-1.55, 1.55)]
    + [(a, b) for a in (-0.5, 0.5) for b in (-0.5, 0.5)],
    np.float32,
)
BURNT = 249
"""Grey level from which all colour channels are taken as burnt out by light."""
UNEVEN = 12
"""Grey levels by which a body that light burns out evenly differs from place to place."""
WHITE, LESS_WHITE = 252, 3.0
"""Grey level from which all colour channels are white, and by how much the bare body is less so
where no light lies on it: so near white a camera tells much light from more by little. Of 58 faces
read on burnt bodies, two are refused for it."""
DIMMED = 0.45
"""Part of their contrast by which light dims one pip of a face more than another, from which it may
take all of a third's. On faces that are read rightly, their bodies white, it is up to 0.38."""
INSET = 0.09
"""Part of the face at its border in which no pip's middle lies."""
_MEAN = np.full((1, 3), 1 / 3, np.float32)
_NEIGHBOURS = np.ones((5, 5), np.uint8)
_RING = np.stack([np.cos(np.arange(8) * np.pi / 4), np.sin(np.arange(8) * np.pi / 4)], 1).astype(
    np.float32
)

WhyNot = Literal["blank", "pattern", "glare", "white", "ambiguous"]


@dataclass(frozen=True, slots=True)
class PipReading:
    """What the pips say: a value, or why not. `contrast` in grey levels, `misfit` in half edges.

    `white`: light on a body as white may hide more pips, whoever looks.
    """

    value: int | None
    why_not: WhyNot | None
    contrast: float
    misfit: float
    pips: tuple[Point, ...]
    """Face coordinates of the pips found."""
    maybe: frozenset[int] = frozenset()
    """Values that the spots allow when some are taken as dimmed, hidden or added by light."""
    strays: tuple[Point, ...] = ()
    """Of a 1, 2 or 3: face coordinates of spots like its pips that lie about it."""
    only: int | None = None
    """Without a value: the only one that agrees with what light does not hide."""


NO_PIPS = PipReading(None, "blank", 0.0, 1.0, ())


@dataclass(frozen=True, slots=True)
class _Spots:
    where: Floats
    """(n, 2) face coordinates."""
    step: Floats
    """(n, 3) colour of the spot less colour around it, of the length of its contrast."""
    size: Floats
    """(n,) contrast."""
    half: Floats
    """(n,) contrast that half of what is around exceeds."""
    least: Floats
    """(n,) contrast to the side where it is weakest."""

    def within(self, reach: float) -> _Spots:
        """Give those whose face coordinates do not exceed a reach."""
        keep = np.abs(self.where).max(axis=1) <= reach
        return _Spots(
            self.where[keep], self.step[keep], self.size[keep], self.half[keep], self.least[keep]
        )


def _box(sigma: float) -> int:
    """Give the odd side of a box whose spread is about sigma."""
    return 2 * round((sigma * 12**0.5 - 1) / 2) + 1


def _find_spots(flats: Floats, margin: int, most: int) -> list[_Spots]:
    """Find round spots that differ from what is around them on every side, strongest first.

    `flats` (h, w, 3 n) holds n faces' colours one after another, which saves calls; gives the spots
    of each. `margin` px at a face's border are left out, the `most` strongest looked at.
    """
    faces = flats.shape[2] // 3
    inner, sizes = [], []
    for radius in RADII:
        r = radius * FACE / 2
        far = _box(OUTER * r)
        near = np.asarray(cv2.GaussianBlur(flats, (0, 0), INNER * r)).reshape(flats.shape)
        step = cv2.subtract(near, np.asarray(cv2.blur(flats, (far, far))).reshape(flats.shape))
        squares = cv2.multiply(step, step).reshape(-1, 3)
        inner.append(near.reshape(SIDE, SIDE, faces, 3))
        sizes.append(cv2.transform(squares[:, None], _MEAN).reshape(SIDE, SIDE, faces))
    best = np.asarray(cv2.max(cv2.max(sizes[0], sizes[1]), sizes[2])).reshape(SIDE, SIDE, faces)
    highest = np.asarray(cv2.dilate(best, _NEIGHBOURS)).reshape(best.shape)
    peaks = (best >= highest) & (best > (LEAST_CONTRAST * 0.5) ** 2)
    peaks[:margin] = peaks[-margin:] = False
    peaks[:, :margin] = peaks[:, -margin:] = False
    ks, ys, xs = np.nonzero(peaks.transpose(2, 0, 1))
    order = np.lexsort((-best[ys, xs, ks], ks))
    ks, ys, xs = ks[order], ys[order], xs[order]
    firsts = np.searchsorted(ks, np.arange(faces + 1))
    strongest = np.arange(len(ks)) - firsts[ks] < most
    ks, ys, xs = ks[strongest], ys[strongest], xs[strongest]
    scale = np.argmax([size[ys, xs, ks] for size in sizes], axis=0)
    where = np.stack([xs, ys], axis=1).astype(np.float32)
    soft = np.asarray(cv2.GaussianBlur(flats, (0, 0), 0.07 * FACE / 2))
    soft = soft.reshape(SIDE, SIDE, faces, 3)
    # A pip may be a dark ring about a bright gleam: its heart is taken at its own size.
    heart = np.choose(scale[:, None], [near[ys, xs, ks] for near in inner])
    reach = np.asarray(RADII, np.float32)[scale] * np.float32(FACE / 2 * 1.75)
    ring = where[:, None, :] + reach[:, None, None] * _RING[None]
    px = np.minimum(np.maximum(np.rint(ring).astype(np.intp), 0), SIDE - 1)
    around = soft[px[..., 1], px[..., 0], ks[:, None]]
    middle = heart - np.sort(around, axis=1)[:, 3:5].mean(axis=1)
    norm = np.sqrt((middle**2).sum(axis=1, keepdims=True)) + 1e-6
    sides = ((heart[:, None, :] - around) * (middle / norm)[:, None, :]).sum(axis=2)
    # The third weakest of eight sides: an edge or a corner has more weak sides, a pip between two
    # others has two.
    ranked = np.asarray(np.sort(sides, axis=1) / 3**0.5, np.float32)
    weak = ranked[:, 2]
    step = (middle / norm * np.maximum(weak, 0)[:, None] * 3**0.5).astype(np.float32)
    where = (where - (SIDE - 1) / 2) * np.float32(2 / FACE)
    out = []
    for k in range(faces):
        own = np.flatnonzero((ks == k) & (weak > LEAST_CONTRAST))
        own = own[np.argsort(-weak[own])]
        out.append(_Spots(where[own], step[own], weak[own], ranked[own, 3], ranked[own, 0]))
    return out


def read_pips(pyramid: Pyramid, frames: Sequence[Frame]) -> list[PipReading]:
    """Read each face by its pips."""
    if not frames:
        return []
    flats = np.concatenate([pyramid.lay_flat(f, SIDE, FACE) for f in frames], axis=2)
    flats = flats.astype(np.float32)
    smooth = np.asarray(cv2.GaussianBlur(flats, (0, 0), 0.09 * FACE / 2), np.float32)
    smooth = smooth.reshape(SIDE, SIDE, len(frames), 3)
    found = _find_spots(flats, 2, 24)
    light = lit_parts(flats.reshape(smooth.shape))
    out = []
    for k, everywhere in enumerate(found):
        face = LitFace(light[:, :, k], smooth[:, :, k], FACE)
        reading = _read(everywhere, face, smooth[:, :, k])
        if reading.why_not not in (None, "blank", "white") and face.any_light:
            reading = replace(reading, only=_only(everywhere.within(1 - 2 * INSET), face))
        out.append(reading)
    return out


def _only(spots: _Spots, face: LitFace) -> int | None:
    """Give the only value that agrees with what light does not hide of a face."""
    inner = np.abs(spots.where).max(axis=1) < 0.76
    left: set[int] = set()
    for lead, alike, hidden in _groups(spots, _STRICT):
        where, others = spots.where[alike & inner], spots.where[hidden & inner]
        left |= values_left(face, where, others, float(spots.size[lead]), _BESIDE)
    # A one or a two has too few pips to be told from what light leaves of others.
    return left.pop() if len(left) == 1 and min(left) > 2 else None


def _groups(
    spots: _Spots, demands: _Demands
) -> Iterator[tuple[int, NDArray[np.bool_], NDArray[np.bool_]]]:
    """Give groups of alike spots: the leading one, which are alike, which may be dimmed ones."""
    size = spots.size
    led = np.zeros(len(size), bool)
    for lead in range(len(size)):
        contrast = float(size[lead])
        if contrast < max(LEAST_CONTRAST, 0.25 * float(size[0])):
            break
        if led[lead]:
            continue
        along = spots.step @ spots.step[lead] / (3 * contrast * np.maximum(size, 1e-6))
        alike = (along > demands.colour) & (size > demands.share * contrast)
        alike &= size < 1.7 * contrast
        led |= (along > 0.9) & (size > 0.7 * contrast)
        hidden = ~alike & (along > 0.5) & (spots.half > 0.5 * contrast)
        yield lead, alike, hidden


def _read(everywhere: _Spots, face: LitFace, smooth: Floats) -> PipReading:
    """Read one face from its spots; `smooth` is the face laid flat (SIDE, SIDE, 3), smoothed."""
    spots = everywhere.within(1 - 2 * INSET)
    found = _patterns(spots, _STRICT)
    if not found:
        strongest = float(spots.size[0]) if len(spots.size) else 0.0
        why: WhyNot = "blank" if strongest < LEAST_CONTRAST else "pattern"
        return PipReading(None, why, strongest, 1.0, _points(spots.where[:6]), _maybe(spots))
    strongest = max(f.contrast for f in found)
    found = [f for f in found if f.contrast > 0.6 * strongest]
    found.sort(key=lambda f: (-len(f.pips), f.misfit))
    best = found[0]
    rivals = [
        f
        for f in found[1:]
        if f.value != best.value
        and f.contrast > 0.7 * best.contrast
        and len(f.pips) >= len(best.pips)
    ]
    pips = _points(best.pips)
    if rivals:
        return PipReading(None, "ambiguous", best.contrast, best.misfit, pips)
    # A five or a six with one more pip, hidden by light, is no face.
    if best.value < 5 and not _body_seen(face, smooth, best):
        maybe = frozenset({best.value}) | _maybe(spots)
        return PipReading(None, "glare", best.contrast, best.misfit, pips, maybe)
    if best.value < 5 and _white_may_hide(smooth, best):
        return PipReading(None, "white", best.contrast, best.misfit, pips)
    strays = _strays(everywhere, best) if best.value <= 3 else ()
    only = frozenset({best.value})
    return PipReading(best.value, None, best.contrast, best.misfit, pips, only, strays)


def _strays(spots: _Spots, best: _Fit) -> tuple[Point, ...]:
    """Give the spots about a face that look like its pips: if they are on no other face, this
    frame is not the whole face.
    """
    near = np.hypot(*(best.pips[:, None] - spots.where[None]).transpose(2, 0, 1)).min(axis=0)
    mine = spots.step[[int(np.hypot(*(spots.where - best.pips[0]).T).argmin())]]
    size = float(np.sqrt((mine**2).mean()))
    along = (spots.step @ mine[0]) / (3 * size * np.maximum(spots.size, 1e-6))
    alike = (along > 0.85) & (spots.size > 0.55 * size) & (spots.size < 1.6 * size)
    alike &= spots.least > 0.5 * size
    return _points(spots.where[alike & (near > 0.25) & (near < 1.45)])


def _points(where: Floats) -> tuple[Point, ...]:
    return tuple((float(x), float(y)) for x, y in where)


@dataclass(frozen=True, slots=True)
class _Fit:
    value: int
    pips: Floats
    lattice: Floats
    contrast: float
    misfit: float


@dataclass(frozen=True, slots=True)
class _Demands:
    """What spots must have in common to be one face's pips."""

    colour: float
    """Least cosine between their steps of colour."""
    share: float
    """Least contrast, of the leading spot's."""
    spare: int
    """Spots that may lie apart from the pattern's places."""


_STRICT = _Demands(0.8, 0.4, 0)
_LOOSE = (_Demands(0.6, 0.25, 0), _Demands(0.6, 0.14, 0), _Demands(0.6, 0.4, 1))


def _maybe(spots: _Spots) -> frozenset[int]:
    """Give the values whose patterns the spots allow when light has dimmed or added some."""
    return frozenset(
        f.value
        for demands in _LOOSE
        for f in _patterns(spots, demands)
        if f.contrast > 0.3 * float(spots.size[0])
    )


def _patterns(spots: _Spots, demands: _Demands) -> list[_Fit]:
    """Fit all patterns to all groups of alike spots."""
    found: list[_Fit] = []
    inner = np.abs(spots.where).max(axis=1) < 0.76
    for lead, alike, hidden in _groups(spots, demands):
        contrast = float(spots.size[lead])
        if not demands.spare and (hidden & inner).any():
            continue
        where = spots.where[alike & inner]
        if not len(where):
            continue
        off = LATTICE[:, None] * np.float32(USUAL) - where
        gaps = np.hypot(off[..., 0], off[..., 1]).min(axis=1).tolist()
        for (value, sites), places in zip(PATTERNS, PLACES, strict=True):
            spare = len(where) - len(sites)
            if not 0 <= spare <= (demands.spare if len(sites) > 2 else 0):
                continue
            if max(gaps[p] for p in places) > NEAR:
                continue
            fit = fit_pattern(where, sites)
            if fit is None:
                continue
            chosen, matrix, misfit = fit
            if not sound(matrix, value) or misfit > 0.075:
                continue
            pips = where[chosen]
            if spare and _on_lattice(where, chosen, matrix):
                continue
            found.append(_Fit(value, pips, matrix, contrast, misfit))
    return found


def _on_lattice(where: Floats, chosen: Indices, matrix: Floats) -> bool:
    """Tell whether a spot outside the pattern lies where another pattern has a pip."""
    places = LATTICE @ matrix[:, :2].T + matrix[:, 2]
    for k in set(range(len(where))) - set(chosen.tolist()):
        if np.hypot(*(places - where[k]).T).min() < 0.25:
            return True
    return False


def _body_seen(face: LitFace, smooth: Floats, best: _Fit) -> bool:
    """Tell whether the bare body is seen at every empty place of the lattice."""
    matrix = best.lattice
    sites, empty = _empty_places(best)
    if not empty.any():
        return True
    # The body's colour, beside the lattice's places.
    beside = np.minimum(np.maximum(_BESIDE @ matrix[:, :2].T, -0.72), 0.72) + matrix[:, 2]
    if face.any_light and face.hides(sites[empty], beside, UNEVEN):
        return False
    around = np.sort(_sample(smooth, beside), axis=0)
    body = around[5:7].mean(axis=0)
    seen = _sample(smooth, sites[empty])
    # Places are burnt out while others are not, or hardly: light may hide pips there.
    light = np.sort(np.concatenate([around, seen]).min(axis=1))
    burnt = float(seen.min(axis=1).max())
    if burnt > BURNT and (around[2].min() < BURNT - 8 or light[1] < burnt - UNEVEN):
        return False
    apart = math.sqrt(float(((seen - body) ** 2).sum(axis=1).max()) / 3)
    return apart < max(0.6 * best.contrast, 12.0)


def _empty_places(best: _Fit) -> tuple[Floats, NDArray[np.bool_]]:
    """Give the lattice's places on a face (9, 2), and which of them hold no pip."""
    sites = LATTICE @ best.lattice[:, :2].T + best.lattice[:, 2]
    free = 0.5 if len(best.pips) == 1 else 0.3
    off = sites[:, None] - best.pips
    return sites, np.hypot(off[..., 0], off[..., 1]).min(axis=1) > free


def _white_may_hide(smooth: Floats, best: _Fit) -> bool:
    """Tell whether white light may hide all the pips that another value has more than those seen.

    A white place may hide a pip if it is whiter than the bare body elsewhere, or if light lies
    unevenly over the pips that are seen.
    """
    sites, empty = _empty_places(best)
    whiteness = _sample(smooth, sites).min(axis=1)
    if not (whiteness[empty] > WHITE).any():
        return False
    least = float(WHITE)
    if np.ptp(_sample(smooth, best.pips).min(axis=1)) < DIMMED * best.contrast:
        least = max(least, float(whiteness[empty].min()) + LESS_WHITE)
    bare = set(np.flatnonzero(empty & (whiteness <= least)).tolist())
    seen = set(np.flatnonzero(~empty).tolist())
    return any(seen < set(places) and bare.isdisjoint(places) for places in PLACES)


def _sample(flat: Floats, where: Floats) -> Floats:
    px = np.rint(where * FACE / 2 + (SIDE - 1) / 2).astype(np.intp)
    px = np.minimum(np.maximum(px, 0), SIDE - 1)
    return np.asarray(flat[px[:, 1], px[:, 0]], np.float32)
