"""Wrong rules in the table's logic, each as one rule, and wrong rows where no rule fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.diagnosis.areamask import AreaMask
from harness.diagnosis.cause import Cause, RuleFault
from harness.observations import Dice
from harness.verdicts import Verdict

_NAMED_AT_MOST = 3
TRIPLE_READING = "double-wins-on-triple"


def rule_causes(areas: AreaMask) -> Iterator[Cause]:
    """Give the wrong rules known of makers' firmware, as far as the layout has the areas."""
    yield from _ranges_on_triples(areas)
    yield from _doubles(areas)
    yield from _totals(areas)
    yield from _any_triple(areas)
    yield from _pairs_and_singles(areas)


def _has(areas: AreaMask, *names: str) -> bool:
    return all(name in areas.areas for name in names)


def _ranges_on_triples(areas: AreaMask) -> Iterator[Cause]:
    if not _has(areas, "small", "big"):
        return
    small, big = areas.bit("small"), areas.bit("big")
    spans = {
        "open": (range(3, 11), range(11, 19), "totals 3 to 10 and 11 to 18"),
        "closed": (range(4, 11), range(11, 18), "totals 4 to 10 and 11 to 17"),
    }
    for low, high, said in spans.values():
        for which in ("both", "small", "big"):
            names = ("small", "big") if which == "both" else (which,)
            yield Cause(
                tuple(f"rule:{name}-on-triple" for name in names),
                "lights-on-triple",
                f"{' and '.join(names)} light on triples ({said})",
                rule=_on_triples((which != "big") * small, low, (which != "small") * big, high),
            )


def _on_triples(small: int, low: range, big: int, high: range) -> RuleFault:
    def lights(dice: Dice, mask: int) -> int:
        if len(set(dice)) > 1:
            return mask
        return mask | (sum(dice) in low) * small | (sum(dice) in high) * big

    return lights


def _rows(rows: Mapping[Dice, int]) -> RuleFault:
    def lights(dice: Dice, mask: int) -> int:
        return rows.get(dice, mask)

    return lights


def _shifted(areas: AreaMask, totals: int, by: int) -> RuleFault:
    return lambda dice, mask: (mask & ~totals) | areas.mask([f"total-{sum(dice) + by}"])


def _doubles(areas: AreaMask) -> Iterator[Cause]:
    doubles = areas.mask(a for a in areas.areas if a.startswith("double-"))
    if doubles:
        yield Cause(
            ("rule:double-on-triple",),
            "dark-on-triple",
            "a double stays dark on the triple of its number",
            depends_on=(TRIPLE_READING,),
            rule=lambda dice, mask: mask & ~doubles if len(set(dice)) == 1 else mask,
        )
        yield Cause(
            ("rule:double-on-triple",),
            "lights-on-triple",
            "a double lights on the triple of its number",
            depends_on=(TRIPLE_READING,),
            rule=lambda dice, mask: (
                mask | areas.mask([f"double-{dice[0]}"]) if len(set(dice)) == 1 else mask
            ),
        )


def _totals(areas: AreaMask) -> Iterator[Cause]:
    totals = areas.mask(a for a in areas.areas if a.startswith("total-"))
    if not totals:
        return
    for by in (-3, -2, -1, 1, 2, 3):
        yield Cause(
            ("rule:totals",),
            f"off-by-{by:+d}",
            f"every total lights the area {abs(by)} {'above' if by > 0 else 'below'} its own",
            rule=_shifted(areas, totals, by),
        )
    yield Cause(
        ("rule:total-on-triple",),
        "dark-on-triple",
        "totals stay dark on triples",
        rule=lambda dice, mask: mask & ~totals if len(set(dice)) == 1 else mask,
    )


def _any_triple(areas: AreaMask) -> Iterator[Cause]:
    if _has(areas, "any-triple"):
        bit = areas.bit("any-triple")
        yield Cause(
            ("rule:any-triple",),
            "never-lights",
            "any-triple stays dark on every triple",
            rule=lambda _dice, mask: mask & ~bit,
        )


def _pairs_and_singles(areas: AreaMask) -> Iterator[Cause]:
    pairs = areas.mask(a for a in areas.areas if a.startswith("pair-"))
    singles = areas.mask(a for a in areas.areas if a.startswith("single-"))

    def only(numbers: int, off: int) -> RuleFault:
        return lambda dice, mask: mask & ~off if len(set(dice)) == numbers else mask

    if pairs:
        yield Cause(
            ("rule:pair-on-double",),
            "dark-on-double",
            "a pair stays dark when one of its numbers shows twice",
            depends_on=("pair-counts-once",),
            rule=only(2, pairs),
        )
    for numbers, word in ((1, "triple"), (2, "double")):
        if singles:
            yield Cause(
                (f"rule:single-on-{word}",),
                f"dark-on-{word}",
                f"singles stay dark on a {word}",
                rule=only(numbers, singles),
            )


def wrong_rows(
    rows: Mapping[Dice, int], healthy: Mapping[Dice, int], areas: AreaMask, *, sure: bool
) -> Cause:
    """Give the cause 'these results light these areas': what is left when no simpler one fits.

    rows: the mask seen for each result that differs; healthy: the mask each should have. Where few
    areas are wrong, their lamps are candidates beside the rule: what the logic lights cannot be
    told from what a lamp makes of it. sure: one result was wrong so often that no lamp fails at
    random; that several lamps fail on just the same results is then no candidate any more. Many
    areas wrong on one result that was seen once may as well be one press gone wrong.
    """
    wrong = 0
    for dice, mask in rows.items():
        wrong |= mask ^ healthy[dice]
    names = areas.names(wrong)
    said = ", ".join(",".join(map(str, dice)) for dice in sorted(rows))
    few = len(names) <= _NAMED_AT_MOST
    kinds = {name.partition("-")[0] for name in names}
    kind = f"{kinds.pop()}s" if len(kinds) == 1 else None
    # Lamps that go wrong together may share a line that fails under load as well as a rule.
    many = (f"rule:{kind}", f"group:{kind}") if kind else ("rule:results",)
    all_alike = all(mask ^ healthy[dice] == wrong for dice, mask in rows.items())
    often = sure or (kind is not None and len(rows) > 1)
    by_rule = sure and all_alike and len(names) > 1 and len(rows) > 1
    sides = ("rule",) if by_rule else ("rule", "lamp")
    return Cause(
        tuple(f"{side}:{name}" for name in names for side in sides) if few else many,
        "wrong-result",
        f"{', '.join(names)} wrong on {said} only",
        verdict=Verdict.DUT_FAIL if by_rule or (often and not few) else Verdict.AMBIGUOUS,
        rig_part=tuple(f"input:{name}" for name in names) if few else ("inputs",),
        excluded_by=("map", "paths"),
        rule=_rows(rows),
        few=len({tuple(sorted(dice)) for dice in rows}) == 1,
        rows=tuple(sorted(rows)),
    )


def order_dependent(
    rows: Mapping[Dice, int], right: Mapping[Dice, int], areas: AreaMask, *, sure: bool
) -> Cause | None:
    """Give the cause 'lamps depend on the order of entry', if the rows show it.

    rows: results entered in an order that came out wrong, with the masks seen. right: other orders
    of the same results that came out right. None unless every wrong result has a right order.
    sure: one was wrong so often that its lamps do not fail at random; else they are candidates too.
    """
    orders_right = {tuple(sorted(d)) for d in right}
    if not rows or not all(tuple(sorted(d)) in orders_right for d in rows):
        return None
    wrong = ", ".join(",".join(map(str, d)) for d in sorted(rows))
    same = [d for d in sorted(right) if tuple(sorted(d)) in {tuple(sorted(r)) for r in rows}]
    healthy = {tuple(sorted(d)): right[d] for d in same}
    wrong_areas = 0
    for dice, mask in rows.items():
        wrong_areas |= mask ^ healthy[tuple(sorted(dice))]
    names = () if sure else areas.names(wrong_areas)
    lamps = tuple(f"lamp:{name}" for name in names) if len(names) <= _NAMED_AT_MOST else ()
    return Cause(
        ("rule:order-of-entry", *lamps),
        "order-dependent",
        f"lamps depend on the order of entry: wrong for {wrong}, right for "
        f"{', '.join(','.join(map(str, d)) for d in same)}",
        verdict=Verdict.DUT_FAIL if sure else Verdict.AMBIGUOUS,
        rule=_rows(rows),
        rows=tuple(sorted(rows)),
    )
