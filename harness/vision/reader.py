"""Reads dice: finds them, reads each top face twice by independent means, refuses when in doubt."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.vision import finder
from harness.vision.background import changes
from harness.vision.bodies import body_shows
from harness.vision.calibration import Profile
from harness.vision.decision import (
    CERTAIN,
    FLAT_ENOUGH,
    MAYBE_COVERED,
    NEARLY_SURE,
    WASHED_OUT,
    Die,
    decide,
)
from harness.vision.faces import Frame, Pyramid
from harness.vision.finder import SURE, Finder, Scene
from harness.vision.judge import Judged, TwoLooks
from harness.vision.pictures import as_picture, fit_size
from harness.vision.pip_map import PipMap
from harness.vision.pips import NO_PIPS, PipReading, read_pips
from harness.vision.plumb import Upright, lean_chances, with_looks
from harness.vision.quality import picture_fault
from harness.vision.readings import NO_RESULT_REASONS, DiceReading, DieSeen, ReadingVerdict

WORTH_ANOTHER_LOOK = ("disagreement", "glare", "missing", "obstructed", "leaning", "stacked")
"""Refusals that may come of a frame that is off: the picture is looked at again. Not `extra`: a die
too many is not gone because it is hardly seen the other way."""
MAYBE_LEANING = 0.03
"""Chance that a die leans from which dice are looked at more often."""
CLOSER, FARTHER = 0.88, 1.08
"""How much smaller and larger frames are then laid. The closer look sees less of dice that touch
this one, which hide its sides and are taken for them; the farther one more of its own sides."""
SAME = 0.1
"""Part of an edge within which two looks see the same face. Where one took a side for a part of it,
its upright edge is no other look at the same."""
FLAT, LEANING = finder.STATES.index("flat"), finder.STATES.index("leaning")
SPOILT = ("blank", "pattern", "glare", "ambiguous")
"""Why spots tell no value where marks of pips may: light lies on them, or makes more of them."""
MAY_BE_LIGHT = ("obstructed", "glare", "disagreement")
"""Refusals of a die that may come of light on its face."""
SURELY_SEEN = 0.75
"""Score from which what was found is a die, whatever the background says."""
NOT_AN_IMAGE = DiceReading("unreadable", (), "not-an-image", 0.0, (), 0.0)


class DiceReader:
    """Reads pictures of dice. Holds the networks: one reader per thread."""

    def __init__(self, profile: Profile | None = None) -> None:
        self._profile = profile
        self._finder = Finder()
        self._looks = TwoLooks()
        self._pip_map = PipMap()

    def read(self, image: NDArray[Any], dice: int | None = 3) -> DiceReading:
        """Read one picture, (h, w) or (h, w, 3 or 4) as OpenCV gives it, 8 or 16 bits.

        `dice` is how many there must be, None any number but none. Gives sorted values, or the
        reason for none; never raises for what a picture shows.
        """
        return self.read_closely(image, dice)[0]

    def read_closely(
        self, image: NDArray[Any], dice: int | None = 3
    ) -> tuple[DiceReading, tuple[Die, ...]]:
        """Read one picture like `read`; gives besides what was seen of each die.

        Those are in pixels of the picture as looked at: shrunk, if it was larger than
        `pictures.MOST_SIDE`.
        """
        began = time.perf_counter()
        picture = as_picture(image)
        if picture is None:
            return NOT_AN_IMAGE, ()
        picture, scale = fit_size(picture)
        pyramid = Pyramid(picture)
        seen = self._look(pyramid, scale, self._finder.find(pyramid, dice))
        decision = decide(seen.dice, seen.chips, dice)
        if decision.reason in WORTH_ANOTHER_LOOK and not decision.settled and seen.dice:
            frames = [d.found.frame for d in seen.dice]
            enough = decision.reason != "missing"
            scene = self._finder.find_again(pyramid, frames, enough)
            again = self._look(pyramid, scale, scene, before=seen)
            other = decide(again.dice, again.chips, dice)
            if other.reason is None:
                seen, decision = again, other
        reason = decision.reason
        if reason is not None or self._profile is not None:
            reason = picture_fault(pyramid.level(1), bool(seen.dice), self._profile) or reason
        verdict: ReadingVerdict = "values"
        if reason is not None:
            verdict = "no-result" if reason in NO_RESULT_REASONS else "unreadable"
        reading = DiceReading(
            verdict,
            decision.values if reason is None else (),
            reason,
            decision.confidence,
            _unscaled(decision.dice, scale),
            (time.perf_counter() - began) * 1000,
        )
        return reading, seen.dice

    def _look(
        self, pyramid: Pyramid, scale: float, scene: Scene, before: _Seen | None = None
    ) -> _Seen:
        """Look at every die of a scene that the profile allows; another way than `before`.

        Upright edges are then the means of both looks.
        """
        found = [f for f in scene.dice if self._may_be(f.frame, scale)]
        judged = self._looks.look(pyramid, [f.frame for f in found], before is not None)
        sure = [k for k, f in enumerate(found) if f.score >= SURE]
        uprights = [judged[k].upright for k in sure]
        if before is not None:
            uprights = [_mean([u, *_same(u, before)]) for u in uprights]
        height, width = pyramid.level(0).shape[:2]
        known = self._known(scale)
        chances = lean_chances(uprights, (width, height), known)
        if sum(chances) > MAYBE_LEANING and before is None:
            uprights = self._look_at_uprights(pyramid, uprights)
            chances = lean_chances(uprights, (width, height), known)
        looks = [found[k].states[LEANING] + judged[k].states[LEANING] for k in sure]
        leans = dict(zip(sure, with_looks(chances, looks), strict=True))
        # Of what was hardly found pips count only if it looks like a die that lies flat.
        flat = [(f.states[FLAT] + j.states[FLAT]) / 2 for f, j in zip(found, judged, strict=True)]
        read = [k for k, f in enumerate(found) if f.score >= SURE or flat[k] > FLAT_ENOUGH]
        pips = dict(zip(read, read_pips(pyramid, [judged[k].frame for k in read]), strict=True))
        dice = tuple(
            Die(f, judged[k], pips[k], leans.get(k, 0.0), _has_strays(k, pips[k], judged))
            if k in pips
            else Die(f, judged[k], NO_PIPS)
            for k, f in enumerate(found)
        )
        dice = self._marked(pyramid, dice)
        dice = self._against_background(pyramid, _with_bodies(pyramid, dice))
        return _Seen(dice, scene.chips, uprights)

    def _marked(self, pyramid: Pyramid, dice: tuple[Die, ...]) -> tuple[Die, ...]:
        """Read by the pip map where spots tell no value, if it says what the judge is sure of.

        The finder must not be sure of another value.
        """
        unread = [
            d
            for d in dice
            if d.pips.why_not in SPOILT
            and d.pips is not NO_PIPS
            and max(d.judged.values) > NEARLY_SURE
            and (d.found.value == d.judged.value or max(d.found.values) < CERTAIN)
            and (d.refusal in MAY_BE_LIGHT or d.phantom)
        ]
        marked = self._pip_map.read(pyramid, [d.judged.frame for d in unread])
        told = {
            id(d): replace(d, pips=reading)
            for d, reading in zip(unread, marked, strict=True)
            if reading is not None and reading.value == d.judged.value
        }
        return tuple(told.get(id(d), d) for d in dice)

    def _against_background(self, pyramid: Pyramid, dice: tuple[Die, ...]) -> tuple[Die, ...]:
        """Leave out what lay there without dice too; mark what may be a die that light hides."""
        background = "" if self._profile is None else self._profile.background
        doubted = [d.phantom or d.found.score < SURE or d.refusal is not None for d in dice]
        if not background or not any(doubted):
            return dice
        lying = [d.judged for d, doubt in zip(dice, doubted, strict=True) if not doubt]
        changed = changes(pyramid.level(0), background, lying)
        if changed is None:
            return dice
        kept = []
        for die, doubt in zip(dice, doubted, strict=True):
            seen = changed.differences(die.judged.frame) if doubt else None
            if seen is None:
                kept.append(die)
            elif not seen.nothing or die.found.score > SURELY_SEEN:
                certain = seen.under_light or seen.more_than_shadow
                least = MAYBE_COVERED if certain else WASHED_OUT
                appeared = seen.something and die.found.score > least
                kept.append(replace(die, appeared=appeared))
        return tuple(kept)

    def _look_at_uprights(self, pyramid: Pyramid, uprights: list[Upright]) -> list[Upright]:
        """Look at dice four more ways, and join what is seen of their upright edges."""
        frames = [u.frame for u in uprights]
        mirrored = [Frame(f.centre, -f.across, f.along) for f in frames]
        turned = [Frame(f.centre, f.along, -f.across) for f in frames]
        ways = [
            mirrored,
            [_grown(f, CLOSER) for f in mirrored],
            [_grown(f, CLOSER) for f in turned],
            [_grown(f, FARTHER) for f in turned],
        ]
        judged = self._looks.stand(pyramid, [f for way in ways for f in way])
        looks = [j.upright for j in judged]
        # What was seen before is itself the mean of two looks.
        return [_mean([u, u, *looks[k :: len(frames)]]) for k, u in enumerate(uprights)]

    def _may_be(self, frame: Frame, scale: float) -> bool:
        """Tell whether the profile allows a die of this size at this place."""
        profile = self._profile
        if profile is None:
            return True
        x, y, w, h = profile.region
        at = frame.centre / scale
        inside = w <= 0 or (x <= at.real <= x + w and y <= at.imag <= y + h)
        return inside and profile.edge_px[0] <= frame.edge / scale <= profile.edge_px[1]

    def _known(self, scale: float) -> tuple[complex, float] | None:
        """Give the nadir and g of a calibrated camera, in the pixels looked at."""
        profile = self._profile
        if profile is None or profile.focal_px <= 0:
            return None
        nadir = complex(*profile.nadir_px) * scale
        return nadir, math.cos(math.radians(profile.tilt_deg)) / (profile.focal_px * scale)


@dataclass(frozen=True, slots=True)
class _Seen:
    dice: tuple[Die, ...]
    chips: tuple[tuple[float, float], ...]
    uprights: list[Upright]
    """Of the dice that were surely found."""


def _with_bodies(pyramid: Pyramid, dice: tuple[Die, ...]) -> tuple[Die, ...]:
    """Look whether what may be no die shows the colour of the bodies of those that are read."""
    doubted = [d.phantom or d.found.score < SURE for d in dice]
    if not any(doubted):
        return dice
    read = [
        d.judged.frame
        for d, doubt in zip(dice, doubted, strict=True)
        if not doubt and d.refusal is None
    ]
    return tuple(
        replace(d, bodied=body_shows(pyramid, read, d.judged.frame)) if doubt else d
        for d, doubt in zip(dice, doubted, strict=True)
    )


def _same(upright: Upright, before: _Seen) -> list[Upright]:
    """Give the same die's upright edge as seen before, if it was."""
    frame = upright.frame
    return [u for u in before.uprights if abs(u.frame.centre - frame.centre) < SAME * frame.edge][
        :1
    ]


def _grown(frame: Frame, by: float) -> Frame:
    return Frame(frame.centre, frame.across * by, frame.along * by)


def _mean(looks: list[Upright]) -> Upright:
    """Give an upright edge as the mean of several looks at it.

    They are of the same pixels, so many looks doubt hardly less than one; where they differ, more.
    """
    foot = sum(u.foot for u in looks) / len(looks)
    doubt = sum(u.doubt**2 for u in looks) / len(looks)
    apart = sum(abs(u.foot - foot) ** 2 for u in looks) / len(looks)
    return Upright(looks[0].frame, foot, math.sqrt(0.72 * doubt + 0.25 * apart))


def _has_strays(k: int, pips: PipReading, faces: list[Judged]) -> bool:
    """Tell whether spots like a face's pips lie about it that no face and no side explains."""
    mine = faces[k]
    for a, b in pips.strays:
        at = complex(*mine.frame.at(a, b))
        own_side = _covers(mine, at, 0.96, through=True) and not _covers(mine, at, 0.96)
        others = (_covers(f, at, 1.12, through=True) for n, f in enumerate(faces) if n != k)
        if not own_side and not any(others):
            return True
    return False


def _covers(face: Judged, at: complex, grow: float, through: bool = False) -> bool:
    """Tell whether a die's top face, grown, covers a pixel; with `through` its sides too."""
    u, v = face.frame.across, face.frame.along
    area = (u.conjugate() * v).imag
    if area == 0:
        return False
    # Pips on sides seen at a low angle are slivers, no spots.
    through = through and abs(face.foot) > 0.3 * face.frame.edge
    for step in (0.0, 0.25, 0.5, 0.75, 1.0) if through else (0.0,):
        d = at - face.frame.centre - step * face.foot
        a, b = (d.conjugate() * v).imag / area, (u.conjugate() * d).imag / area
        if abs(a) <= grow and abs(b) <= grow:
            return True
    return False


def _unscaled(dice: tuple[DieSeen, ...], scale: float) -> tuple[DieSeen, ...]:
    """Give the dice in pixels of the picture as it came, before it was shrunk."""
    if scale == 1.0:
        return dice

    def back(points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        moved = (np.asarray(points).reshape(-1, 2) + 0.5) / scale - 0.5
        return tuple((float(x), float(y)) for x, y in moved)

    return tuple(
        DieSeen(
            d.value,
            d.state,
            back((d.centre_px,))[0],
            back(d.corners_px),
            d.confidence,
            back(d.pips_px),
        )
        for d in dice
    )
