"""A terminal that drops a half-made entry too soon: after which time, the gaps between keys tell.

Only times between keys that were driven are known. Where those of entries that lit and of entries
that stayed dark lie close together, it may be by chance that the slower ones are the dark ones.
"""

from __future__ import annotations

from itertools import pairwise
from math import comb

from harness.diagnosis.cause import Cause
from harness.diagnosis.simulate import Prediction
from harness.observations import Entry
from harness.verdicts import Verdict

_QUICKEST_S = 0.15
"""No hand presses one key after another sooner: what forgets sooner still takes no key at all."""
_FAR_APART = 3.0
_LEAST_ODDS = 100


def longest_gap_s(entry: Entry) -> float:
    """Give the longest time between two presses of an entry that follow each other; 0: unknown."""
    return max((later - at for at, later in pairwise(entry.pressed_at)), default=0.0)


def forgetting(prediction: Prediction) -> Cause | None:
    """Give the cause 'a half-made entry is dropped too soon', with the time that fits most entries.

    None if no entry that stayed dark was made slower than one that lit, than a hand can press or
    than the terminal was measured to remember, or if so few were that it may be chance. What was
    made slower than it must remember counts for nothing.
    """
    facts = prediction.facts
    least_s = max(_QUICKEST_S, 0.0 if facts.memory_s is None else facts.memory_s[0])
    lit = {seen.entry for seen in prediction.samples if seen.stage == "lit" and seen.lit}
    gaps = [
        (longest_gap_s(entry), i in lit)
        for i, entry in enumerate(prediction.entries)
        if entry.lit("lit") is not None and longest_gap_s(entry) < facts.must_remember_s
    ]
    best: tuple[int, float, float] | None = None
    for high in sorted({gap for gap, was_lit in gaps if not was_lit and gap > least_s}):
        low = max([_QUICKEST_S, *(gap for gap, _ in gaps if gap < high)])
        against = sum(was_lit is (gap >= high) for gap, was_lit in gaps)
        best = min(best or (against, low, high), (against, low, high))
    if best is None:
        return None
    _, low, high = best
    slower = sum(gap >= high for gap, _ in gaps)
    far_apart = high > _FAR_APART * low
    # One entry alone may have stayed dark for any reason.
    sure = slower > 1 and (far_apart or comb(len(gaps), slower) >= _LEAST_ODDS)
    if not sure and not far_apart and 2 * slower < len(gaps):
        return None
    return Cause(
        ("rule:entry-timeout",),
        "entry-timeout",
        f"a half-made entry is dropped when the next key comes {high:.2g} s later",
        verdict=Verdict.DUT_FAIL if sure else Verdict.AMBIGUOUS,
        rig_part=() if sure else ("device:keys",),
        forgets_after_s=(low + high) / 2,
    )
