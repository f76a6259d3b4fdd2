"""The search for causes: the smallest sets of single faults that explain every sample."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import combinations

from harness.diagnosis.cause import Cause, Slip
from harness.diagnosis.key_causes import erratic_key_causes, key_causes, keys_entering
from harness.diagnosis.lamp_causes import groups, lamp_causes
from harness.diagnosis.layout import ASCENDING
from harness.diagnosis.patches import Patchwork, patchwork
from harness.diagnosis.rule_causes import order_dependent, rule_causes, wrong_rows
from harness.diagnosis.simulate import Prediction
from harness.observations import Dice, Stage
from harness.verdicts import Verdict

CauseSet = tuple[Cause, ...]
_TRIED_AT_MOST = 14
_MOST_CANDIDATES = 4
_COST_OF_EACH, _SAME_COST, _PLAIN_COST = 1.0, 0.05, 3.0


def explain(prediction: Prediction) -> list[CauseSet]:
    """Give the simplest cause sets that explain all samples; empty if the table did all it should.

    One cause is preferred to several, and a fault of the model to 'these results are wrong', unless
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
    rows = _row_causes(prediction)
    if whole:
        return _plainest(whole) + _by_one_result(prediction, whole, rows)
    whole = [(c,) for c in rows if c.few and not prediction.mismatches((c,), limit=1)]
    if whole:
        return whole
    helping = [c for left, c in sorted(scored, key=lambda s: s[0]) if left < whole_error]
    together = _together(prediction, helping)
    if together and together[0].cost <= _PLAIN_COST:
        return [each.causes for each in together]
    erratic: list[CauseSet] = [
        (c,)
        for c in erratic_key_causes(prediction.facts)
        if not prediction.mismatches((c,), limit=1)
    ]
    if erratic:
        return erratic[:1]
    return [each.causes for each in together]


def _by_one_result(
    prediction: Prediction, whole: Sequence[CauseSet], rows: Sequence[Cause]
) -> list[CauseSet]:
    """Give 'this result is wrong' beside a dead lamp that only that one result should light."""
    if any(causes[0].fault != "dead" or causes[0].lamp is None for causes in whole):
        return []
    return [
        (c,) for c in rows if c.few and c.slip is None and not prediction.mismatches((c,), limit=1)
    ]


def _plainest(whole: list[CauseSet]) -> list[CauseSet]:
    """Leave out what only restates a plainer cause of the same part."""
    faults = {causes[0].fault for causes in whole}
    if "swapped" in faults or "shorted" in faults:
        restated = {"enters-other", "permuted"}
        whole = [causes for causes in whole if causes[0].fault not in restated]
    return whole


def _together(prediction: Prediction, helping: Sequence[Cause]) -> list[Patchwork]:
    """Give the cheapest accounts of several faults at once: at keys and rules, and at each lamp.

    Those at keys and rules are tried none, one and two at a time; what they leave is the lamps'.
    """
    upstream = [c for c in helping if c.lamp is None][:_TRIED_AT_MOST]
    tried: list[CauseSet] = [(), *((c,) for c in upstream), *combinations(upstream, 2)]
    found: list[Patchwork] = []
    for given in tried:
        if sum(c.at_keys for c in given) > 1 and not _compose(given):
            continue
        account = patchwork(prediction, given)
        if account is not None:
            cost = account.cost + sum(_COST_OF_EACH for _ in given)
            found.append(Patchwork(account.causes, cost))
    if not found:
        return []
    least = min(each.cost for each in found)
    return [each for each in found if each.cost <= least + _SAME_COST][:_MOST_CANDIDATES]


def _compose(given: CauseSet) -> bool:
    """Tell whether two causes at the keys touch different keys."""
    first, second = given
    return not set(first.part) & set(second.part)


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
    several = keys_entering(_taken(prediction))
    return [
        *lamps,
        *([several] if several else []),
        *key_causes(prediction.facts),
        *rule_causes(areas),
        *_early(),
    ]


def _taken(prediction: Prediction) -> dict[str, str | None]:
    """Give what each key entered, from the entries in which it was pressed three times."""
    shown = {prediction.winning((n, n, n)): str(n) for n in range(1, 7)}
    taken: dict[str, str | None] = {}
    for seen in prediction.samples:
        keyed = prediction.entries[seen.entry].keyed
        digits = {key for key in keyed if key.isdigit()}
        if seen.stage == "lit" and len(digits) == 1 and (not seen.lit or seen.lit in shown):
            taken[digits.pop()] = shown.get(seen.lit)
    return taken


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
