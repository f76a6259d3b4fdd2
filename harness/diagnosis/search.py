"""The search for causes: the smallest sets of single faults that explain every sample."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from harness.diagnosis.cause import Cause, CauseSet, Slip
from harness.diagnosis.forgetting import forgetting
from harness.diagnosis.interplay import interplay, sagging
from harness.diagnosis.key_causes import erratic_key_causes, key_causes, keys_entering
from harness.diagnosis.lamp_causes import groups, lamp_causes
from harness.diagnosis.layout import ASCENDING
from harness.diagnosis.next_test import seen_enough
from harness.diagnosis.patches import Patchwork, patchwork
from harness.diagnosis.rule_causes import order_dependent, rule_causes, wrong_rows
from harness.diagnosis.simulate import CLEAR_KEY, CLEARED, LIT, Prediction
from harness.observations import Dice, Stage
from harness.verdicts import Verdict

_TRIED_AT_MOST, _MOST_OF_A_KIND = 14, 4
_MOST_CANDIDATES = 4
_COST_OF_EACH, _SAME_COST, _PLAIN_COST = 1.0, 0.6, 3.0
_CLOSEST, _NEARLY, _HELPS = 3, 1.15, 0.9


def explain(prediction: Prediction) -> list[CauseSet]:
    """Give the simplest cause sets that explain all samples; empty if the table did all it should.

    One cause is preferred to several, and a fault of the model to 'these results are wrong', unless
    that is one result in all its orders; beside that stand a cause that began in mid-run, and a
    lamp that depends on others. Every set returned explains every sample; an empty list with
    mismatches left means that nothing does.
    """
    wrong = prediction.mismatches(())
    if not wrong:
        return []
    singles = _singles(prediction, wrong)
    whole: list[CauseSet] = [
        (c,)
        for c in _plausible(prediction, singles, wrong[0])
        if not prediction.mismatches((c,), limit=1)
    ]
    rows = _row_causes(prediction)
    if whole and all(c.wild and c.verdict is Verdict.AMBIGUOUS for (c,) in whole):
        whole += _erratic(prediction)  # it may be a key's bounce as well
    if whole:
        return (
            _plainest(whole) + _by_one_result(prediction, whole, rows) + _by_slip(prediction, whole)
        )
    by_rows = [c for c in rows if not prediction.mismatches((c,), limit=1)]
    whole = [(c,) for c in by_rows if c.few]
    conditional = _by_interplay(prediction, wrong)
    conditional += _begun_later(prediction, singles, wrong[0])
    if conditional and all(cause.fault != "bridged" for (cause,) in conditional):
        # What hangs on other lamps, or on the time, may as well hang on what was entered: where
        # that names its areas, it is a candidate too, but for a plain bridge.
        whole += [(c,) for c in by_rows if not c.few and len(c.part) > 1]
    if whole or conditional:
        return whole + conditional
    whole_error = prediction.error((), limit=sys.maxsize)
    scored = [(prediction.error((c,), limit=whole_error), c) for c in singles]
    helping = [c for left, c in sorted(scored, key=lambda s: s[0]) if left < whole_error]
    together = _together(prediction, helping)
    if together and together[0].cost <= _PLAIN_COST:
        return [each.causes for each in together]
    return _erratic(prediction) or [each.causes for each in together]


def _erratic(prediction: Prediction) -> list[CauseSet]:
    """Give the keys that explain everything if they do not do the same each time."""
    for kind in erratic_key_causes(prediction.facts):
        found: list[CauseSet] = [(c,) for c in kind if not prediction.mismatches((c,), limit=1)]
        if found:
            return found
    return []


def _plausible(
    prediction: Prediction, singles: Sequence[Cause], first_wrong: int
) -> Sequence[Cause]:
    """Leave out causes that do not explain what first went wrong: so the whole run is tried on few.

    A clear takes away whatever an entry before left behind; without one nothing is left out.
    """
    if prediction.facts.clear != "required":
        return singles
    at = prediction.samples[first_wrong].entry
    around = prediction.of_entries(max(0, at - 1), at + 1)
    return [cause for cause in singles if not around.mismatches((cause,), limit=1)]


def _by_interplay(prediction: Prediction, wrong: Sequence[int]) -> list[CauseSet]:
    """Give the ways in which the one lamp that differs may depend on the others."""
    names = prediction.areas.names(_differing(prediction, wrong))
    if len(names) != 1:
        return []
    return [
        (c,)
        for c in interplay(prediction.areas, names[0])
        if not prediction.mismatches((c,), limit=1)
    ]


def _begun_later(
    prediction: Prediction, singles: Sequence[Cause], first_wrong: int
) -> list[CauseSet]:
    """Give the single causes that explain everything if they began where things first went wrong.

    A cause at the keys may have begun at any press of that entry, or at the clear before it; one at
    the lamps before that entry, when they lit, or with the clear.
    """
    at = prediction.samples[first_wrong].entry
    number = prediction.entries[at].index
    if at == 0:
        return []
    around = prediction.of_entries(at - 1, at + 1)  # most causes do not explain even these
    found: list[CauseSet] = []
    for cause in singles:
        if cause.wild or not (cause.lamp or cause.key or cause.held):
            continue
        moments = [(0, CLEAR_KEY), *((1, n) for n in range(CLEAR_KEY + 1))]
        of_lamps = [(1, 0), (1, LIT), (1, CLEARED)]
        for entry, presses in moments if cause.at_keys else of_lamps:
            if around.mismatches((cause.began(entry, presses, ""),), limit=1):
                continue
            begun = cause.began(at - 1 + entry, presses, f"entry {number}")
            if not prediction.mismatches((begun,), limit=1):
                found.append((begun,))
                break
    return found


def closest(prediction: Prediction) -> list[Cause]:
    """Give the single causes that explain most of a run which nothing explains whole.

    Lamps that no clear puts out any more bear witness to the clear key by themselves, unless they
    are always lit, and too few to be a result that was entered before the run.
    """
    wrong = prediction.mismatches(())
    whole_error = prediction.error((), limit=sys.maxsize)
    singles = _singles(prediction, wrong)
    always = prediction.areas.all
    for seen in prediction.samples:
        always &= seen.lit | ~seen.known
    if always.bit_count() >= min(prediction.winning(dice).bit_count() for dice in ASCENDING) - 1:
        always = 0
    after_clear = [seen.lit & ~always for seen in prediction.samples if seen.stage == "cleared"]
    in_the_end = set(after_clear[len(after_clear) // 2 :])
    if len(in_the_end) == 1 and in_the_end != {0}:
        return [c for c in singles if (c.part, c.fault) == (("key:clear",), "dead")]
    scored = [(prediction.error((c,), limit=whole_error), c) for c in singles if not c.wild]
    least = min((left for left, _ in scored), default=whole_error)
    if least > _HELPS * whole_error:
        return []
    near = [c for left, c in sorted(scored, key=lambda s: s[0]) if left <= _NEARLY * least]
    return near[:_CLOSEST]


def by_results(prediction: Prediction) -> list[CauseSet]:
    """Give 'these results are wrong', where each of them came out the same whenever entered."""
    rows = _row_causes(prediction)
    return [(c,) for c in rows if c.rows and not prediction.mismatches((c,), limit=1)]


def _by_one_result(
    prediction: Prediction, whole: Sequence[CauseSet], rows: Sequence[Cause]
) -> list[CauseSet]:
    """Give 'this result is wrong' beside a dead lamp that only that one result should light.

    Not where two paths saw it dark: then it is the table's, and dark is all that its lamp ever was.
    """
    if len(prediction.facts.sense_paths) > 1 or any(
        causes[0].fault != "dead" or causes[0].lamp is None for causes in whole
    ):
        return []
    return [
        (replace(c, verdict=Verdict.DUT_FAIL),)  # in either case it is the table's
        for c in rows
        if c.few and c.slip is None and not prediction.mismatches((c,), limit=1)
    ]


def _by_slip(prediction: Prediction, whole: Sequence[CauseSet]) -> list[CauseSet]:
    """Give 'a person keyed another result' beside what else may be wrong at the keys."""
    if not all(cause.at_keys for causes in whole for cause in causes):
        return []
    return [(c,) for c in slips(prediction) if not prediction.mismatches((c,), limit=1)]


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
    upstream = _varied([c for c in helping if c.lamp is None])[:_TRIED_AT_MOST]
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


def _varied(causes: Sequence[Cause]) -> list[Cause]:
    """Leave out, in this order, what has been there several times with another part."""
    kinds: Counter[str] = Counter()
    kept = []
    for cause in causes:
        kinds[cause.fault] += 1
        if kinds[cause.fault] <= _MOST_OF_A_KIND:
            kept.append(cause)
    return kept


def _compose(given: CauseSet) -> bool:
    """Tell whether two causes at the keys touch different keys."""
    first, second = given
    return not set(first.part) & set(second.part)


def _singles(prediction: Prediction, wrong: Sequence[int]) -> list[Cause]:
    areas = prediction.areas
    states = prediction.trace(())
    ever_lit = should_light = 0
    for seen in prediction.samples:
        ever_lit |= seen.lit & seen.known
        should_light |= prediction.lit(states[seen.entry, seen.stage], (), seen.path)
    differing = _differing(prediction, wrong)
    never_lit = areas.names(differing & should_light & ~ever_lit)
    lamps = list(lamp_causes(areas, areas.names(differing), never_lit, groups(areas)))
    paths = {seen.path for seen in prediction.samples}
    if len(paths) > 1:
        lamps += [cause.over(path) for cause in lamps for path in sorted(paths) if cause.rig_part]
    several, forgets = keys_entering(_taken(prediction)), forgetting(prediction)
    return [
        *lamps,
        *sagging(),
        *([several] if several else []),
        *([forgets] if forgets else []),
        *key_causes(prediction.facts),
        *rule_causes(areas),
        *_early(prediction, wrong),
    ]


def _differing(prediction: Prediction, wrong: Sequence[int]) -> int:
    """Give the mask of the areas that differ in any of these samples."""
    states = prediction.trace(())
    mask = 0
    for n in wrong:
        seen = prediction.samples[n]
        expected = prediction.lit(states[seen.entry, seen.stage], (), seen.path)
        mask |= (expected ^ seen.lit) & seen.known
    return mask


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


def _early(prediction: Prediction, wrong: Sequence[int]) -> list[Cause]:
    """Give the cause 'lamps light before the entry is whole'; what shows then is not modelled.

    What shows in less than half the entries is suspected only: it may be a key's. One lamp that is
    all that ever lights then may do so by itself.
    """
    stages: tuple[Stage, ...] = ("after-1", "after-2")
    if prediction.facts.commit == "entry-key":
        stages = ("after-1", "after-2", "after-3")
    samples = prediction.samples
    early = [n for n in wrong if samples[n].stage in stages and samples[n].lit]
    looked = {seen.entry for seen in samples if seen.stage in stages}
    lit_in = {samples[n].entry for n in early}
    if not early:
        return []
    verdict = Verdict.DUT_FAIL if 2 * len(lit_in) >= len(looked) else Verdict.AMBIGUOUS
    lit = 0
    for n in early:
        lit |= samples[n].lit & samples[n].known
    names = prediction.areas.names(lit)
    itself = names if len(names) == 1 else ()
    lamps, inputs = (tuple(f"{side}:{area}" for area in itself) for side in ("lamp", "input"))
    if prediction.facts.commit == "entry-key":
        lit_at = {samples[n].stage for n in early}
        if lit_at.isdisjoint(stages[:2]):
            return [
                Cause(
                    (*lamps, "rule:commit", "key:enter"),
                    "lights-early",
                    "lamps light before the entry key is pressed: the rule, or the key is closed",
                    verdict=verdict,
                    rig_part=inputs,
                    excluded_by=("map", "paths"),
                    wild=frozenset(stages[2:]),
                )
            ]
    return [
        Cause(
            (*lamps, "rule:commit"),
            "lights-early",
            f"{' '.join(itself) or 'lamps'} light after key {n}, before the entry is whole",
            verdict=verdict,
            rig_part=inputs,
            excluded_by=("map", "paths"),
            wild=frozenset(stages[n - 1 :]),
        )
        for n in (2, 1)
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
    sure = seen_enough(prediction, rows)
    order = order_dependent(rows, right, prediction.areas, sure=sure)
    if order is not None:
        return [*causes, order]
    healthy = {dice: prediction.winning(dice) for dice in rows}
    return [*causes, wrong_rows(rows, healthy, prediction.areas, sure=sure)]


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
