"""The shortest further test that tells candidate causes apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import median

from harness.diagnosis.cause import Cause, CauseSet
from harness.diagnosis.forgetting import longest_gap_s
from harness.diagnosis.layout import ASCENDING
from harness.diagnosis.simulate import Prediction, Shining, trace
from harness.observations import Dice, Entry
from harness.verdicts import Verdict

_SEEN_ENOUGH = 4
_DIFFERENT: Dice = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class NextTest:
    """One more entry, of mode `entered`: press `keyed` while the dice lie as `shown`.

    `splits` are the groups of causes that it tells apart. `hurried`: one key right after the other,
    with no look at the lamps between them.
    """

    keyed: Dice
    shown: Dice
    splits: tuple[tuple[str, ...], ...]
    hurried: bool = False

    def __str__(self) -> str:
        keyed, shown = (",".join(map(str, d)) for d in (self.keyed, self.shown))
        fast = " as fast as the keys take it" if self.hurried else ""
        return f"enter {keyed}{fast} while the dice show {shown}"


def next_test(prediction: Prediction, candidates: Sequence[CauseSet]) -> NextTest | None:
    """Give the single entry that leaves the fewest candidates whatever it shows, or None."""
    if len(candidates) < 2:
        return _confirming(prediction, candidates[0]) if candidates else None
    return _splitting(prediction, candidates) or _borne_out_again(prediction, candidates)


def _splitting(prediction: Prediction, candidates: Sequence[CauseSet]) -> NextTest | None:
    slip = next((c.slip for causes in candidates for c in causes if c.slip), None)
    best: tuple[int, NextTest] | None = None
    usual_gap_s = median(map(longest_gap_s, prediction.entries))
    paces = [False]
    if any(c.forgets_after_s for causes in candidates for c in causes) and _can_hurry(prediction):
        paces.append(True)
    keyed_first = [slip.shown] if slip else []
    entered = {entry.keyed[:3] for entry in prediction.entries}
    everything = [(a, b, c) for a, b, c in product(range(1, 7), repeat=3)]
    # First what was entered before: where it comes out otherwise now, time is what makes the odds.
    everything.sort(key=lambda dice: tuple(map(str, dice)) not in entered)
    for hurried, keyed in product(paces, [*keyed_first, *everything]):
        shown, gap_s = _other(keyed) if slip else keyed, 0.0 if hurried else usual_gap_s
        by_mask: dict[tuple[int, ...], list[str]] = {}
        for causes in candidates:
            lit = _lit(prediction, causes, keyed, shown, gap_s)
            by_mask.setdefault(lit, []).append(_named(causes))
        most_left = max(map(len, by_mask.values()))
        if len(by_mask) > 1 and (best is None or most_left < best[0]):
            splits = tuple(map(tuple, by_mask.values()))
            best = (most_left, NextTest(keyed, shown, splits, hurried))
    return None if best is None else best[1]


def _can_hurry(prediction: Prediction) -> bool:
    """Tell whether keys come sooner where nobody looks between them, for all that is known."""
    by_pace: dict[bool, list[float]] = {True: [], False: []}
    for entry in prediction.entries:
        if entry.lit("lit") is not None:
            by_pace[entry.lit("after-1") is None].append(longest_gap_s(entry))
    hurried, usual = by_pace[True], by_pace[False]
    return not hurried or max(hurried) < median(usual or [0.0])


def _confirming(prediction: Prediction, causes: CauseSet) -> NextTest | None:
    """Give an entry that bears out what so far one result alone shows, or None."""
    if any(cause.rows for cause in causes):
        return _again(prediction, causes)
    if again := _borne_out_again(prediction, [causes]):
        return again
    entered = {tuple(sorted(entry.keyed[:3])) for entry in prediction.entries}
    for cause in causes:
        if cause.forgets_after_s and cause.verdict is Verdict.AMBIGUOUS and _can_hurry(prediction):
            return NextTest(_DIFFERENT, _DIFFERENT, ((_named(causes),),), hurried=True)
        if cause.at_keys or cause.slip or len(prediction.borne_out(cause, causes)) > 1:
            continue
        others = [each for each in causes if each is not cause]
        for dice in ASCENDING:
            differs = _lit(prediction, causes, dice, dice) != _lit(prediction, others, dice, dice)
            if differs and tuple(map(str, dice)) not in entered:
                return NextTest(dice, dice, ((_named(causes),),))
    return None


def only_wrong_entry(prediction: Prediction, candidates: Sequence[CauseSet]) -> Entry | None:
    """Give an entry that went wrong, if no other result did and what explains it sits at the keys.

    That may have been one press that failed, or a wrong row: a key shows in its other results too.
    A slip of the hand, and what becomes of a fourth key, show in the same entry made twice.
    """
    every = [cause for causes in candidates for cause in causes]
    if not all(cause.at_keys or cause.wild for cause in every):
        return None
    numbers = sorted({prediction.samples[n].entry for n in prediction.mismatches(())})
    wrong = [prediction.entries[number] for number in numbers]
    if not wrong or len({tuple(sorted(entry.keyed)) for entry in wrong}) > 1:
        return None
    twice_will_do = all(cause.slip or cause.fourth_key for cause in every)
    return None if twice_will_do and len(wrong) > 1 else wrong[0]


def _borne_out_again(prediction: Prediction, candidates: Sequence[CauseSet]) -> NextTest | None:
    """Give an entry that goes wrong too if these causes are why the only wrong entry did.

    Of a slip of the hand it is the same again. Of a fault it is another result, under other dice:
    the same again would bear out a slip, or a wrong row, as well. Nothing can be told beforehand of
    keys that fail now and then, nor is a pause tried again: how long it may be is measured.
    """
    entry = only_wrong_entry(prediction, candidates)
    every = [cause for causes in candidates for cause in causes]
    if entry is None or any(cause.erratic or cause.forgets_after_s for cause in every):
        return None
    named = (tuple(map(_named, candidates)),)
    entered = {each.keyed for each in prediction.entries}
    slip = next((cause.slip for cause in every if cause.slip), None)
    if slip is not None:
        first, second, third = (int(key) for key in entry.keyed)
        under_them = [
            each.keyed
            for each in prediction.entries
            if each.shown is not None and tuple(sorted(each.shown)) == slip.shown
        ]
        made_again = under_them.count(entry.keyed) > 1
        return None if made_again else NextTest((first, second, third), slip.shown, named)
    for a, b, c in product(range(1, 7), repeat=3):
        keyed = (a, b, c)
        if tuple(map(str, keyed)) not in entered and all(
            any(cause.wild for cause in causes) or _differs(prediction, causes, keyed)
            for causes in candidates
        ):
            return NextTest(keyed, keyed if entry.shown is None else _other(keyed), named)
    return None


def _differs(prediction: Prediction, causes: CauseSet, keyed: Dice) -> bool:
    """Tell whether the causes would show in this entry, made after the last one."""
    last = prediction.entries[-1]
    entry = replace(last, keyed=tuple(map(str, keyed)), shown=None, pressed_at=())
    for_both = [
        trace((last, entry), prediction.facts, [replace(cause, since=None) for cause in each])
        for each in (causes, ())
    ]
    with_them, without = (states[1, "lit"].entered for states in for_both)
    return prediction.commanded(with_them, ()) != prediction.commanded(without, ())


def _again(prediction: Prediction, causes: CauseSet) -> NextTest | None:
    """Give the entry again that only 'this result is wrong' explains, until it was seen enough.

    What was wrong once may be a lamp that fails now and then.
    """
    wrong = [dice for cause in causes for dice in cause.rows]
    if not wrong or seen_enough(prediction, wrong):
        return None
    times = _times(prediction, wrong)
    dice = max(wrong, key=lambda each: times[each])
    return NextTest(dice, dice, ((_named(causes),),))


def seen_enough(prediction: Prediction, wrong: Iterable[Dice]) -> bool:
    """Tell whether one of these results, wrong each time, was entered often enough to say so."""
    return max(_times(prediction, wrong).values(), default=0) >= _SEEN_ENOUGH


def _times(prediction: Prediction, wrong: Iterable[Dice]) -> dict[Dice, int]:
    entered = Counter(entry.keyed[:3] for entry in prediction.entries)
    return {dice: entered[tuple(map(str, dice))] for dice in wrong}


def _other(dice: Dice) -> Dice:
    """Give dice that share no value with these, so that what lies cannot be what is keyed."""
    free = [v for v in range(1, 7) if v not in dice]
    return free[0], free[1], free[2]


def _named(causes: Sequence[Cause]) -> str:
    return "+".join(part for cause in causes for part in cause.part)


def _lit(
    prediction: Prediction, causes: Sequence[Cause], keyed: Dice, shown: Dice, gap_s: float = 0.0
) -> tuple[int, ...]:
    """Give the masks that an entry would be seen to light, over each path.

    gap_s: time between one of its presses and the next.
    """
    paths = prediction.facts.sense_paths
    if not any(cause.at_keys for cause in causes):
        return tuple(prediction.lit(Shining(keyed, None), causes, path) for path in paths)
    keys = tuple(map(str, keyed))
    entry = Entry(
        book="",
        rig="",
        index=0,
        mode="presented",
        shown=shown,
        seen=None,
        keyed=keys,
        lamps=(),
        started=0.0,
        ended=0.0,
        pressed_at=tuple(n * gap_s for n in range(len(keys) + 1)),
    )
    by_now = [replace(cause, since=None) for cause in causes]
    state = trace((entry,), prediction.facts, by_now)[0, "lit"]
    return tuple(prediction.lit(state, causes, path) for path in paths)
