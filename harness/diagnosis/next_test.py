"""The shortest further test that tells candidate causes apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from harness.diagnosis.cause import Cause
from harness.diagnosis.search import CauseSet
from harness.diagnosis.simulate import Prediction, trace
from harness.observations import Dice, Entry

_SEEN_ENOUGH = 4


@dataclass(frozen=True, slots=True)
class NextTest:
    """One more entry, of mode `entered`: press `keyed` while the dice lie as `shown`.

    `splits` are the groups of causes that it tells apart.
    """

    keyed: Dice
    shown: Dice
    splits: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        keyed, shown = (",".join(map(str, d)) for d in (self.keyed, self.shown))
        return f"enter {keyed} while the dice show {shown}"


def next_test(prediction: Prediction, candidates: Sequence[CauseSet]) -> NextTest | None:
    """Give the single entry whose lamps would differ between the most candidates, or None."""
    if len(candidates) < 2:
        return _again(prediction, candidates[0]) if candidates else None
    slip = next((c.slip for causes in candidates for c in causes if c.slip), None)
    best: tuple[int, NextTest] | None = None
    keyed_first = [slip.shown] if slip else []
    everything = [(a, b, c) for a, b, c in product(range(1, 7), repeat=3)]
    for keyed in [*keyed_first, *everything]:
        shown = _other(keyed) if slip else keyed
        by_mask: dict[int, list[str]] = {}
        for causes in candidates:
            by_mask.setdefault(_lit(prediction, causes, keyed, shown), []).append(_named(causes))
        if len(by_mask) > 1 and (best is None or len(by_mask) > best[0]):
            best = (len(by_mask), NextTest(keyed, shown, tuple(map(tuple, by_mask.values()))))
    return None if best is None else best[1]


def _again(prediction: Prediction, causes: CauseSet) -> NextTest | None:
    """Give the entry again that only 'this result is wrong' explains, until it was seen enough.

    What was wrong once may be a lamp that fails now and then.
    """
    wrong = [dice for cause in causes for dice in cause.rows]
    entered = Counter(entry.keyed[:3] for entry in prediction.entries)
    times = {dice: entered[tuple(map(str, dice))] for dice in wrong}
    if not times or max(times.values()) >= _SEEN_ENOUGH:
        return None
    dice = max(times, key=lambda each: times[each])
    return NextTest(dice, dice, ((_named(causes),),))


def _other(dice: Dice) -> Dice:
    """Give dice that share no value with these, so that what lies cannot be what is keyed."""
    free = [v for v in range(1, 7) if v not in dice]
    return free[0], free[1], free[2]


def _named(causes: Sequence[Cause]) -> str:
    return "+".join(part for cause in causes for part in cause.part)


def _lit(prediction: Prediction, causes: CauseSet, keyed: Dice, shown: Dice) -> int:
    keys = tuple(map(str, keyed))
    commit = ("enter",) if prediction.facts.commit == "entry-key" else ()
    entry = Entry(
        book="",
        rig="",
        index=0,
        mode="presented",
        shown=shown,
        seen=None,
        keyed=(*keys, *commit),
        lamps=(),
        started=0.0,
        ended=0.0,
    )
    state = trace((entry,), prediction.facts, causes)[0, "lit"]
    return prediction.lit(state, causes, prediction.facts.sense_paths[0])
