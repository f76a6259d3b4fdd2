"""Reads a face part of which light hides: what is seen of it must leave one value only.

A lamp mirrored in a dome hides pips or looks like one. Each value is tried: its pips must be seen
or lie in light, and so must the bare body at all other places of the lattice. A five with a corner
in light is still no other value; a four with its middle in light may be a five, and is not read.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from harness.vision.faces import Floats
from harness.vision.lattice import LATTICE, NEAR, PATTERNS, USUAL, fit_lattice, sound

LIGHT = 236
"""Grey level from which all colour channels are taken as light."""
ABOUT = np.ones((5, 5), np.uint8)
"""What lies about light is not trusted either."""
LEAST_SEEN = {1: 1, 2: 2, 3: 2, 4: 3, 5: 3, 6: 4}
"""How many pips of a value must be seen."""
AT = 0.4
"""How near a place of the lattice a spot may be its pip."""
BRIGHTER = 8.0
"""Grey levels by which light exceeds pips in some channel, being no darker in any."""
BODY = (0.5, 12.0)
"""How far off the body's colour may be, in contrasts of the pips or grey levels."""
REACHES = (NEAR, 0.2, 0.16)
"""How far from its place a pip may lie at first, and when the lattice is fitted."""


def lit_parts(flats: Floats) -> NDArray[np.uint8]:
    """Tell which pixels of faces laid flat (side, side, n, 3) are in light or about it."""
    weakest = np.minimum(np.minimum(flats[..., 0], flats[..., 1]), flats[..., 2])
    burnt = np.asarray(weakest >= LIGHT, np.uint8)
    return np.asarray(cv2.dilate(burnt, ABOUT), np.uint8).reshape(burnt.shape)


class LitFace:
    """A face laid flat, smoothed (side, side, 3), of which it can be asked what is in light.

    `light` (side, side) is what `lit_parts` tells of it, `face` the px that it spans.
    """

    def __init__(self, light: NDArray[np.uint8], smooth: Floats, face: float) -> None:
        self._light, self._smooth, self._half = light, smooth, face / 2
        self.any_light = bool(light.any())

    def lit(self, where: Floats) -> NDArray[np.bool_]:
        """Tell which face coordinates (n, 2) lie in light or at its border."""
        x, y = self._pixels(where)
        return np.asarray(self._light[y, x], np.bool_)

    def hides(self, places: Floats, beside: Floats, brighter: float) -> bool:
        """Tell whether light lies on one of some places, brighter than the bare body beside."""
        dark = beside[~self.lit(beside)]
        bright = places[self.lit(places)]
        if len(dark) < 5 or not len(bright):
            return False
        body = np.median(self.colours(dark), axis=0)
        return bool((self.colours(bright) - body).max() > brighter)

    def colours(self, where: Floats) -> Floats:
        """Give the colours (n, 3) at face coordinates (n, 2)."""
        x, y = self._pixels(where)
        return np.asarray(self._smooth[y, x], np.float32)

    def _pixels(self, where: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        side = len(self._smooth)
        px = np.rint(where * self._half + (side - 1) / 2).astype(np.intp)
        px = np.minimum(np.maximum(px, 0), side - 1)
        return px[:, 0], px[:, 1]


def values_left(
    face: LitFace, spots: Floats, others: Floats, contrast: float, beside: Floats
) -> frozenset[int]:
    """Give the values that spots (n, 2) alike allow, of which some may be but light.

    `others` (m, 2) are spots that may be pips that light has dimmed; `beside` (k, 2) are the places
    beside the lattice where the bare body is looked for, in its own steps.
    """
    if not face.lit(others).all():
        return frozenset()
    spots = spots[~_are_light(face, spots)]
    left = set()
    for value, sites in PATTERNS:
        fit = _fit_part(spots, sites, LEAST_SEEN[value])
        if fit is None:
            continue
        chosen, seen, matrix = fit
        own = sites @ matrix[:, :2].T + matrix[:, 2]
        if not sound(matrix, value) or not face.lit(own[~seen]).all():
            continue
        places = LATTICE @ matrix[:, :2].T + matrix[:, 2]
        spare = np.delete(spots, chosen[seen], axis=0)
        if not face.lit(spare).all() or (_gaps(spare, places) < AT).any():
            continue
        if _bare(face, places[_gaps(places, own) > 0.2], matrix, contrast, beside):
            left.add(value)
    return frozenset(left)


def _are_light(face: LitFace, spots: Floats) -> NDArray[np.bool_]:
    """Tell which of some spots alike are light rather than pips: brighter than the rest."""
    lit = face.lit(spots)
    if not lit.any():
        return lit
    colours = face.colours(spots)
    pips = colours[~lit] if not lit.all() else colours
    more = colours - np.median(pips, axis=0)
    return np.asarray(lit & (more.min(axis=1) > -2) & (more.max(axis=1) > BRIGHTER))


def _bare(face: LitFace, places: Floats, matrix: Floats, contrast: float, beside: Floats) -> bool:
    """Tell whether each of some places shows the bare body or lies in light."""
    dark = places[~face.lit(places)]
    about = np.minimum(np.maximum(beside @ matrix[:, :2].T, -0.72), 0.72) + matrix[:, 2]
    about = about[~face.lit(about)]
    if len(about) < 5:
        return False
    if not len(dark):
        return True
    body = np.median(face.colours(about), axis=0)
    off = np.sqrt(((face.colours(dark) - body) ** 2).mean(axis=1))
    return bool(off.max() < max(BODY[0] * contrast, BODY[1]))


def _gaps(points: Floats, others: Floats) -> Floats:
    """Give how far each of some points lies from the nearest of others."""
    off = points[:, None] - others
    return np.asarray(np.hypot(off[..., 0], off[..., 1]).min(axis=1), np.float32)


def _fit_part(
    spots: Floats, sites: Floats, least: int
) -> tuple[NDArray[np.intp], NDArray[np.bool_], Floats] | None:
    """Fit a pattern of which some pips are not seen.

    Gives each site's nearest spot, whether that is its pip, and the lattice; None if fewer than
    `least` are seen, or they do not fit.
    """
    if len(spots) < least:
        return None
    matrix = np.array([[USUAL, 0, 0], [0, USUAL, 0]], np.float32)
    for reach in REACHES:
        expected = sites @ matrix[:, :2].T + matrix[:, 2]
        off = expected[:, None] - spots
        distance = np.hypot(off[..., 0], off[..., 1])
        chosen = distance.argmin(axis=1)
        seen = distance.min(axis=1) <= reach
        if seen.sum() < least or len(set(chosen[seen].tolist())) < seen.sum():
            return None
        matrix = _lattice(sites[seen], spots[chosen[seen]])
    expected = sites[seen] @ matrix[:, :2].T + matrix[:, 2]
    misfit = np.sqrt(((expected - spots[chosen[seen]]) ** 2).sum(axis=1).mean())
    return (chosen, seen, matrix) if misfit < 0.075 else None


def _lattice(sites: Floats, spots: Floats) -> Floats:
    """Give the lattice that takes some of a pattern's sites to spots."""
    if len(sites) == 1:
        matrix = np.array([[0.45, 0, 0], [0, 0.45, 0]], np.float32)
        matrix[:, 2] = spots[0] - sites[0] * 0.45
        return matrix
    if len(sites) < 4:
        return fit_lattice(sites, spots)
    known = np.column_stack([sites, np.ones(len(sites), np.float32)])
    if np.linalg.matrix_rank(known) < 3:
        return fit_lattice(sites[:2], spots[:2])
    return np.asarray(np.linalg.lstsq(known, spots, rcond=None)[0].T, np.float32)
