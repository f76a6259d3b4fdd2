"""One possible cause: where it sits in the chain from pressed key to sensed lamp, and what it does.

The chain is key -> terminal -> rule -> lamp -> sense. A cause changes one link; several causes
compose in the order of the chain, so any set of causes predicts every sample of a run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from harness.diagnosis.facts import FourthKey
from harness.diagnosis.terminal import KeyFault
from harness.observations import Dice, Stage
from harness.verdicts import Verdict

RuleFault = Callable[[Dice, int], int]
"""From the dice entered and the mask that should be lit to the mask the table computes."""

LampFault = Callable[[int, int, bool], int]
"""From the commanded mask, the last result's commanded mask and whether a result is entered now
to the mask that shines."""


@dataclass(frozen=True, slots=True)
class Slip:
    """A person keys `entered` when the dice lying are `shown` (both sorted)."""

    shown: Dice
    entered: Dice


@dataclass(frozen=True, slots=True)
class Cause:
    """A single fault that the model knows.

    `part` is the table's (or person's) side, `rig_part` what on our side would look the same over
    one sense path or one actuator. `verdict` is what stands when `rig_part` can be excluded.
    `excluded_by` names what excludes it: a verified map, a second sense path, or nothing. A cause
    that is not `few` only lists what was seen, so every other explanation comes before it.
    `ignored`: areas of which nothing can be predicted. `loose`: a key that enters itself at any
    time; `unreliable`: one of whose presses some are taken twice, or not at all; `misreads`: one of
    whose presses some enter another digit.
    `slow`: keys of which a press right after one of the same key is not taken, `deaf_to` of them in
    a row at most.
    `rows`: the results that it alone calls wrong; entered again they must be wrong again.
    `forgets_after_s`: the terminal drops a half-made entry if the next key comes later than this.
    `since`: the entry (its place in the run) and the number of its presses from which on the cause
    acts; None: all the time.
    """

    part: tuple[str, ...]
    fault: str
    what: str
    verdict: Verdict = Verdict.DUT_FAIL
    rig_part: tuple[str, ...] = ()
    excluded_by: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    key: KeyFault | None = None
    held: str | None = None
    fourth_key: FourthKey | None = None
    slip: Slip | None = None
    rule: RuleFault | None = None
    lamp: LampFault | None = None
    path: str | None = None
    ignored: int = 0
    loose: str | None = None
    unreliable: str | None = None
    misreads: str | None = None
    slow: frozenset[str] = frozenset()
    deaf_to: int = 1
    forgets_after_s: float | None = None
    rows: tuple[Dice, ...] = ()
    wild: frozenset[Stage] = frozenset()
    few: bool = True
    since: tuple[int, int] | None = None

    @property
    def at_keys(self) -> bool:
        """Tell whether the cause changes what the terminal takes as entered."""
        return bool(
            self.key
            or self.held
            or self.fourth_key
            or self.slip
            or self.slow
            or self.erratic
            or self.forgets_after_s is not None
        )

    @property
    def erratic(self) -> bool:
        """Tell whether what the terminal takes is not determined by what was driven."""
        return bool(self.loose or self.unreliable or self.misreads)

    def began(self, entry: int, presses: int, said: str) -> Cause:
        """Give the same cause, acting from a moment of the run on."""
        return replace(self, since=(entry, presses), what=f"{self.what}; right until {said}")

    def over(self, path: str) -> Cause:
        """Give the same change seen over one sense path only: then our sense is at fault."""
        return replace(
            self,
            part=self.rig_part,
            rig_part=(),
            verdict=Verdict.RIG_FAULT,
            path=path,
            excluded_by=(),
            what=f"{self.what} over {path} only; another path sees it right",
        )


CauseSet = tuple[Cause, ...]
"""Causes at work together."""
