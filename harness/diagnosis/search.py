"""The search for causes: the smallest sets of single faults that explain every sample."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import combinations

from harness.diagnosis.areamask import AreaMask
from harness.diagnosis.cause import Cause, Slip
from harness.diagnosis.key_causes import key_causes
from harness.diagnosis.lamp_causes import lamp_causes
from harness.diagnosis.layout import ASCENDING
from harness.diagnosis.rule_causes import order_dependent, rule_causes, wrong_rows
from harness.diagnosis.simulate import Prediction
from harness.observations import Dice, Stage
from harness.verdicts import Verdict

CauseSet = tuple[Cause, ...]
_PAIRED_AT_MOST = 60


def explain(prediction: Prediction) -> list[CauseSet]:
    """Give the simplest cause sets that explain all samples; empty if the table did all it should.

    One cause is preferred to two, and a fault of the model to 'these results are wrong', unless
    that is one result in all its orders. Every set returned explains every sample; an empty list
    with mismatches left means that nothing does.
    """
    wrong = prediction.mismatches(())
    if not wrong:
        return []
    singles = _singles(prediction, wrong)
    whole_error = prediction.error((), limit=sys.maxsize)
    scored = [(prediction.error((c,), limit=whole_error), c) for c in singles]
    whole: list[CauseSet] = [(c,) for left, c in scored if left == 0]
    if whole:
        return whole
    rows = _row_causes(prediction)
    whole = [(c,) for c in rows if c.few and not prediction.mismatches((c,), limit=1)]
    if whole:
        return whole
    helping = [c for left, c in sorted(scored, key=lambda s: s[0]) if left < whole_error]
    pairs: list[CauseSet] = [
        pair
        for pair in combinations(helping[:_PAIRED_AT_MOST], 2)
        if not prediction.mismatches(pair, limit=1)
    ]
    if pairs:
        return pairs
    whole = [(c,) for c in rows if not prediction.mismatches((c,), limit=1)]
    return whole or _with_rows(prediction, helping)


def _singles(prediction: Prediction, wrong: Sequence[int]) -> list[Cause]:
    areas = prediction.areas
    states = prediction.trace(())
    differing = ever_lit = should_light = 0
    for seen in prediction.samples:
        ever_lit |= seen.lit & seen.known
        should_light |= prediction.lit(states[seen.entry, seen.stage], (), seen.path)
    for n in wrong:
        seen = prediction.samples[n]
        expected = prediction.lit(states[seen.entry, seen.stage], (), seen.path)
        differing |= (expected ^ seen.lit) & seen.known
    never_lit = areas.names(differing & should_light & ~ever_lit)
    lamps = list(lamp_causes(areas, areas.names(differing), never_lit, groups(areas)))
    paths = {seen.path for seen in prediction.samples}
    if len(paths) > 1:
        lamps += [cause.over(path) for cause in lamps for path in sorted(paths) if cause.rig_part]
    return [
        *lamps,
        *key_causes(prediction.facts),
        *rule_causes(areas),
        *_early(),
    ]


def groups(areas: AreaMask) -> dict[str, list[str]]:
    """Give the areas by kind of wager, as lamps' common lines usually follow."""
    out: dict[str, list[str]] = {}
    for area in areas.areas:
        kind = area.partition("-")[0]
        if area[-1].isdigit():
            out.setdefault(f"{kind}s", []).append(area)
    return out


def _early() -> list[Cause]:
    """Give the cause 'lamps light before the entry is whole'; what shows then is not modelled."""
    both: frozenset[Stage] = frozenset({"after-1", "after-2"})
    one: frozenset[Stage] = frozenset({"after-2"})
    return [
        Cause(
            ("rule:commit",),
            "lights-early",
            f"lamps light after key {n}, before the entry is whole",
            wild=wild,
        )
        for n, wild in ((2, one), (1, both))
    ]


def _seen_rows(prediction: Prediction) -> tuple[dict[Dice, int], dict[Dice, int]] | None:
    """Give the masks seen for results that came out wrong, and for those that came out right.

    None if one result showed two different masks: then no row of a table explains it.
    """
    states = prediction.trace(())
    rows: dict[Dice, int] = {}
    right: dict[Dice, int] = {}
    for seen in prediction.samples:
        entered = states[seen.entry, seen.stage].entered
        if seen.stage != "lit" or entered is None:
            continue
        healthy = prediction.winning(entered)
        mask = (seen.lit & seen.known) | (healthy & ~seen.known)
        known = rows.get(entered, right.get(entered))
        if known is not None and known != mask:
            return None
        (right if mask == healthy else rows)[entered] = mask
    return rows, right


def _row_causes(prediction: Prediction) -> list[Cause]:
    found = _seen_rows(prediction)
    causes = slips(prediction)
    if found is None or not found[0]:
        return causes
    rows, right = found
    order = order_dependent(rows, right, prediction.areas)
    if order is not None:
        return [order]
    healthy = {dice: prediction.winning(dice) for dice in rows}
    return [*causes, wrong_rows(rows, healthy, prediction.areas)]


def slips(prediction: Prediction) -> list[Cause]:
    """Give the cause 'a person keyed another result than the dice', where the lamps show one.

    Only where everything wrong happened with one set of dice lying, and the lamps then were exactly
    those of one other result.
    """
    states = prediction.trace(())
    shown: set[Dice] = set()
    lit: set[int] = set()
    for n in prediction.mismatches(()):
        seen = prediction.samples[n]
        lying = prediction.entries[seen.entry].shown
        if lying is None or seen.stage != "lit" or states[seen.entry, seen.stage].entered is None:
            return []
        first, second, third = sorted(lying)
        shown.add((first, second, third))
        lit.add(seen.lit)
    if len(shown) != 1 or len(lit) != 1:
        return []
    (dice,), (mask,) = shown, lit
    return [
        Cause(
            ("dealer",),
            "wrong-entry",
            f"{_said(other)} was entered while the dice showed {_said(dice)}",
            verdict=Verdict.PROCEDURE_FAIL,
            slip=Slip(dice, other),
        )
        for other in ASCENDING
        if other != dice and prediction.winning(other) == mask
    ]


def _said(dice: Dice) -> str:
    return ",".join(map(str, dice))


def _with_rows(prediction: Prediction, helping: Sequence[Cause]) -> list[CauseSet]:
    """Try one cause and wrong rows over what it leaves, then wrong rows alone."""
    for cause in helping[:_PAIRED_AT_MOST]:
        rows: dict[Dice, int] = {}
        states = prediction.trace((cause,))
        for n in prediction.mismatches((cause,)):
            seen = prediction.samples[n]
            entered = states[seen.entry, seen.stage].entered
            if seen.stage == "lit" and entered is not None:
                rows[entered] = seen.lit
        if not rows:
            continue
        healthy: Mapping[Dice, int] = {dice: prediction.winning(dice) for dice in rows}
        pair = (wrong_rows(rows, healthy, prediction.areas), cause)
        if not prediction.mismatches(pair, limit=1):
            return [pair]
    return []
