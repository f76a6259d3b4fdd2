"""Decides what a picture says from what was seen of each die: values, or the reason for none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import median

import cv2
import numpy as np

from harness.vision import finder
from harness.vision.faces import Frame
from harness.vision.finder import Found
from harness.vision.judge import STATES, Judged
from harness.vision.pips import PipReading
from harness.vision.plumb import Upright
from harness.vision.readings import DieSeen, DieState
from harness.vision.sizes import of_one_set, one_falls_short, one_higher

SURE = finder.SURE
"""Score from which something found counts as a die."""
CALIBRATION = (-4.7, 14.2)
"""Logit of the chance that the judge is right, as a line over chance of flat times chance of value:
fitted on 1,787 dice of synthetic and emulated pictures. Where both readings agree, as they must, it
is on the safe side: of 1,638 dice read none was wrong."""
CERTAIN = 0.8
"""Chance of the judge's value from which it counts."""
LIKELY = 0.5
"""Chance of the finder's value from which it bears out the judge's."""
NEARLY_SURE = 0.97
"""The same where the pips allow the value but do not show it."""
SURE_AS_ONE_OF_THREE = 0.9
"""The same where the finder sees the same value and the pips leave no other."""
FLAT = 0.5
"""Chance of lying flat from which a die is read."""
FLAT_ENOUGH = 0.72
"""The same for what was hardly found."""
LEANING = 0.085
"""Chance that one of the dice leans from which they are not read."""
SURELY_LEANING = 0.8
"""The same, from which two dice are enough to tell."""
MAYBE_COVERED = 0.33
"""Score from which something may be a die whose face is hidden."""
WHOLE = 0.6
"""Score from which a face is surely a whole one, whatever lies beside it."""
AS_GOOD_AS_SURE = 0.995
"""Chance of the judge's value where light lies over the face, or its pips say nothing."""
PHANTOM, FAINT = 0.7, 0.52
"""Scores below which something without pips may be a reflection: if it does not look like a die,
and even if it does."""
WASHED_OUT, LIKE_A_LAMP = 0.45, 0.06
"""Score from which what has the size and shape of the dice's faces, and no pips, may be a die that
light has washed out, and chance that it is no face at all from which it may not."""
AS_LARGE, AS_SQUARE = 0.12, 0.1
"""How far its edge may be from the dice's, and its edges from each other, as parts of them."""
FACELESS = 0.85
"""Chance that no face is seen from which pips that read are none."""
MAYBE_MOVING = 0.6
"""Chance of motion from which what was hardly found explains a die too few."""
MAYBE_STACKED = 0.1
"""Chance of a stack, to the judge, from which it explains a die too few."""
OVERLAP = 0.1
"""Part of a top face that another may overlap, by how finely faces are laid: those of dice that lie
on one floor never do."""
MAYBE_HIDDEN = 0.1
"""Chance that a face is hidden in part from which its size must be that of the others."""
SETTLED, SETTLED_LEANING = 0.95, 0.12
"""How sure a reason, or a lean, must be to need no other look. Two looks at the same pixels that
differ over a lean doubt each other; they do not make a die lie flat."""
STACKED = STATES.index("stacked")


@dataclass(frozen=True)
class Die:
    """Everything seen of one die."""

    found: Found
    judged: Judged
    pips: PipReading
    lean: float = 0.0
    """Chance that it leans, by its upright edge and the other dice's."""
    stray: bool = False
    """Whether spots like its pips lie beside the face, on no other face seen."""
    bodied: bool = False
    """Whether it shows the colour of the bodies of dice that are read."""
    appeared: bool = False
    """Whether what is seen there was not there when the camera was calibrated."""

    @cached_property
    def chances(self) -> dict[str, float]:
        """Give the chance of each state, from both looks."""
        far, near = self.found.states, self.judged.states
        stacked = (far[2] + far[3]) / 2
        return {
            "flat": (far[0] + near[0]) / 2,
            "leaning": (far[1] + near[1]) / 2,
            "stacked": (stacked + near[2]) / 2,
            "obstructed": (far[4] + near[3]) / 2,
            "moving": (far[5] + near[4]) / 2,
            "nothing": near[5] / 2,
        }

    @property
    def state(self) -> str:
        """The likeliest state."""
        chances = self.chances
        return max(chances, key=lambda name: chances[name])

    @cached_property
    def refusal(self) -> str | None:
        """Give why this die has no value, None if it has one."""
        state = self.state
        if state == "nothing":
            return "disagreement"
        if state != "flat":
            return state
        if self.lean > LEANING:
            return "leaning"
        weak = self.found.score < WHOLE and self.chances["flat"] < FLAT_ENOUGH
        if max(self.judged.values) < CERTAIN or self.chances["flat"] < FLAT or weak:
            return "disagreement"
        if self.pips.value is not None:
            whole = not self.stray or self.found.score > WHOLE
            return None if self.pips.value == self.judged.value and whole else "disagreement"
        if self.pips.why_not == "blank":
            return "obstructed"
        if self.pips.why_not == "white":
            return "glare"
        if self._light_leaves_it or self._finder_agrees:
            return None
        return "glare" if self.pips.why_not == "glare" else "disagreement"

    @property
    def _light_leaves_it(self) -> bool:
        """Tell whether what light does not hide of the pips leaves the judge's value only.

        The judge must be nearly sure of it, and the finder not sure of another; if the finder says
        the same, it is enough that the judge is as sure as that.
        """
        value, least = self.judged.value, NEARLY_SURE
        if max(self.found.values) > CERTAIN:
            if self.found.value != value:
                return False
            least = SURE_AS_ONE_OF_THREE
        return self.pips.only == value and max(self.judged.values) > least

    @property
    def _finder_agrees(self) -> bool:
        """Tell whether the finder's own reading stands in for pips that light has spoilt.

        The finder saw the whole picture at another size: a second opinion of the value. The pips,
        as far as they are seen, must not speak for another value.
        """
        value, why = self.judged.value, self.pips.why_not
        allowed = value in self.pips.maybe
        if self.found.value != value or (not allowed and (self.pips.maybe or why == "glare")):
            return False
        # Where light lies on a place of a pip, or the spots say nothing at all, both networks must
        # be as good as sure.
        sure = NEARLY_SURE if allowed and why != "glare" else AS_GOOD_AS_SURE
        return max(self.judged.values) > sure and max(self.found.values) > CERTAIN

    @property
    def value(self) -> int | None:
        """Give the value both readings agree on."""
        return None if self.refusal else self.judged.value

    @property
    def covered(self) -> bool:
        """Tell whether what was hardly found looks like a die whose face is hidden."""
        return self.found.score > MAYBE_COVERED and self.chances["obstructed"] > CERTAIN

    @property
    def phantom(self) -> bool:
        """Tell whether this may be no die at all: hardly found and without pips.

        Nor do both networks read the same on it: light hides the pips of dice too. A ring in a
        mirror image reads as a one, but looks like no face to the networks. What shows the colour
        of the other dice's bodies is a die, whatever light lies over it.
        """
        if self.bodied:
            return False
        faceless = self.chances["obstructed"] + self.chances["nothing"] > FACELESS
        if (self.pips.value is not None and not faceless) or self._alike_to_both:
            return False
        weak = self.found.score < PHANTOM and self.state in ("obstructed", "nothing", "moving")
        return weak or self.found.score < FAINT

    @property
    def _alike_to_both(self) -> bool:
        """Tell whether both networks take this for the same face of a die that lies flat."""
        return max(self.found.values) > CERTAIN and self._borne_out

    @property
    def _borne_out(self) -> bool:
        """Tell whether the finder bears out what the judge is sure of, on a die that lies flat."""
        sure = max(self.found.values) > LIKELY and max(self.judged.values) > CERTAIN
        return sure and self.found.value == self.judged.value and self.chances["flat"] > FLAT

    @property
    def surely_leans(self) -> bool:
        """Tell whether it leans by its looks, or surely by its upright edge."""
        return self.lean > SURELY_LEANING or self.state == "leaning"

    @property
    def die_all_the_same(self) -> bool:
        """Tell whether what was hardly found reads as a die that lies flat."""
        reads = self.pips.value is not None and self.pips.value == self.judged.value
        return (reads and self.chances["flat"] > FLAT_ENOUGH) or self._borne_out

    @property
    def confidence(self) -> float:
        """Give the chance that the judge's value is right, as calibrated."""
        doubt = CALIBRATION[0] + CALIBRATION[1] * self.chances["flat"] * max(self.judged.values)
        return 1 / (1 + math.exp(-doubt))

    def seen(self) -> DieSeen:
        """Give the die as a reading holds it."""
        frame = self.judged.frame
        states: dict[str, DieState] = {
            "leaning": "leaning",
            "stacked": "stacked",
            "moving": "moving",
        }
        return DieSeen(
            self.value,
            "leaning" if self.refusal == "leaning" else states.get(self.state, "flat"),
            (frame.centre.real, frame.centre.imag),
            frame.corners,
            self.confidence,
            tuple(frame.at(a, b) for a, b in self.pips.pips),
        )


@dataclass(frozen=True, slots=True)
class Decision:
    """Values sorted, or the reason for none.

    `confidence`: the chance that all values are right; of a refusal, how sure its
    reason is.
    """

    values: tuple[int, ...]
    reason: str | None
    confidence: float
    dice: tuple[DieSeen, ...]

    @property
    def settled(self) -> bool:
        """Tell whether the reason for none is so sure that no other look can change it."""
        least = SETTLED_LEANING if self.reason == "leaning" else SETTLED
        return self.reason in ("leaning", "obstructed") and self.confidence > least


def decide(
    seen: tuple[Die, ...], chips: tuple[tuple[float, float], ...], count: int | None
) -> Decision:
    """Decide from all dice seen; `count` is how many there must be, None any number but none."""
    sure = [d for d in seen if d.found.score >= SURE]
    doubtful = [d for d in seen if d.found.score < SURE]
    solid = [d for d in sure if not d.phantom]
    welcome = [d for d in doubtful if d.die_all_the_same]
    if count is not None and len(solid) < count and len(solid) + len(welcome) == count:
        # Hardly found, but they read as dice, and so many there must be.
        solid, doubtful = solid + welcome, [d for d in doubtful if not d.die_all_the_same]
    too_few = count is not None and len(solid) < count
    # As many dice as there must be, seen without them: what has no pips is a reflection.
    hidden = [d for d in sure if d.phantom] if too_few or count is None else []
    sure = solid + hidden
    dice = tuple(d.seen() for d in sure)
    confidence = math.prod(d.confidence for d in sure)

    def refuse(reason: str) -> Decision:
        return Decision((), reason, _sureness(reason, sure, confidence), dice)

    refusals = {d.refusal for d in sure} - {None}
    if sum(d.lean for d in sure) > LEANING:
        refusals.add("leaning")
    smeared = too_few and any(d.chances["moving"] > MAYBE_MOVING for d in doubtful)
    if "moving" in refusals or smeared:
        return refuse("moving")
    if too_few and any(d.judged.states[STACKED] > MAYBE_STACKED for d in solid):
        return refuse("stacked")
    if "stacked" in refusals:
        return refuse("stacked")
    overlapping = _overlap([d.judged.frame for d in sure]) > OVERLAP
    if overlapping and not any(d.surely_leans for d in sure):
        return refuse("stacked")
    # Two dice hardly tell a nadir: where one is missing, that is the surer reason.
    if "leaning" in refusals and (not too_few or any(d.surely_leans for d in sure)):
        return refuse("leaning")
    too_many = count is not None and len(solid) > count
    hidden_die = any(d.appeared or _washed_out(d, solid) for d in seen if d.phantom)
    if too_many or (not too_few and hidden_die):
        return refuse("disagreement" if count is None else "extra")
    if too_few or not sure:
        if "obstructed" in refusals or chips or any(d.covered for d in doubtful):
            return refuse("obstructed")
        return refuse("stacked" if one_higher(_uprights(solid)) else "missing")
    for reason in ("obstructed", "glare", "disagreement"):
        if reason in refusals:
            return refuse(reason)
    # A spot of light, a print: dice of one set are of one size.
    if not of_one_set(_uprights(sure)) or _one_is_a_part(sure):
        return refuse("disagreement")
    if any(
        d.bodied or (d.die_all_the_same and of_one_set(_uprights([d, *sure]))) for d in doubtful
    ):
        # What was hardly found reads as a die all the same, or shows a die's body.
        return refuse("disagreement" if count is None else "extra")
    values = tuple(sorted(d.value for d in sure if d.value is not None))
    return Decision(values, None, confidence, dice)


def _washed_out(die: Die, solid: list[Die]) -> bool:
    """Tell whether what may be a lamp's image may as well be a die whose face light hides."""
    frame = die.judged.frame
    bare = die.pips.value is None and die.state == "obstructed"
    if not bare or die.found.score < WASHED_OUT or not solid:
        return False
    edge = median(d.judged.frame.edge for d in solid)
    large = abs(frame.edge / edge - 1) < AS_LARGE
    square = abs(abs(frame.across) / abs(frame.along) - 1) < AS_SQUARE
    return large and square and die.chances["nothing"] < LIKE_A_LAMP


def _sureness(reason: str, dice: list[Die], confidence: float) -> float:
    """Give how sure a refusal's reason is, 0 to 1; no calibrated chance."""
    if reason in ("missing", "extra", "stacked"):
        return confidence
    if reason == "leaning":
        return max(max(d.chances["leaning"], d.lean) for d in dice)
    if reason == "obstructed":
        return max((d.chances["obstructed"] for d in dice), default=0.5)
    return max(0.5, 1 - confidence)


def _one_is_a_part(dice: list[Die]) -> bool:
    """Tell whether what was found of one die is only a part of its face."""
    return one_falls_short(_uprights(dice), [d.chances["obstructed"] > MAYBE_HIDDEN for d in dice])


def _uprights(dice: list[Die]) -> list[Upright]:
    return [die.judged.upright for die in dice]


def _overlap(frames: list[Frame]) -> float:
    """Give the greatest part of a top face that lies under another's, 0 to 1."""
    outlines = [np.array(frame.corners, np.float32) for frame in frames]
    parts = [
        cv2.intersectConvexConvex(one, other)[0] / min(cv2.contourArea(one), cv2.contourArea(other))
        for one, other in combinations(outlines, 2)
    ]
    return max(parts, default=0.0)
