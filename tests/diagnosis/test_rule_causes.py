"""Wrong rules of a table's logic: each lights just what it says, on every result."""

from __future__ import annotations

import itertools

import pytest

from harness.diagnosis.areamask import AreaMask
from harness.diagnosis.rule_causes import order_dependent, rule_causes, wrong_rows
from harness.verdicts import Verdict
from tests.diagnosis.broken_table import AREAS, winners

MASKS = AreaMask(sorted(AREAS))
EVERY = list(itertools.product(range(1, 7), repeat=3))


def of_kind(kind: str) -> set[str]:
    """Give the areas of a kind."""
    return {area for area in AREAS if area.startswith(f"{kind}-")}


def triple(dice) -> bool:
    """Tell whether all three dice show one number."""
    return len(set(dice)) == 1


def side(dice, low: range, high: range) -> set[str]:
    """Give small or big for a triple, by its total."""
    total = 3 * dice[0] if triple(dice) else 0
    return {name for name, span in (("small", low), ("big", high)) if total in span}


def off_by(by: int):
    """Give what is lit where totals are off."""
    return lambda d: (winners(d) - of_kind("total")) | ({f"total-{sum(d) + by}"} & set(AREAS))


OPEN, CLOSED = (range(3, 11), range(11, 19)), (range(4, 11), range(11, 18))
SAID = {
    f"{name} light on triples ({totals})": (
        tuple(f"rule:{each}-on-triple" for each in sides),
        "lights-on-triple",
        (),
        lambda d, spans=spans, sides=sides: winners(d) | (side(d, *spans) & set(sides)),
    )
    for spans, totals in (
        (OPEN, "totals 3 to 10 and 11 to 18"),
        (CLOSED, "totals 4 to 10 and 11 to 17"),
    )
    for name, sides in (
        ("small and big", ("small", "big")),
        ("small", ("small",)),
        ("big", ("big",)),
    )
}
SAID |= {
    f"every total lights the area {abs(by)} {'above' if by > 0 else 'below'} its own": (
        ("rule:totals",),
        f"off-by-{'+' if by > 0 else '-'}{abs(by)}",
        (),
        off_by(by),
    )
    for by in (-3, -2, -1, 1, 2, 3)
}
SAID |= {
    "totals stay dark on triples": (
        ("rule:total-on-triple",),
        "dark-on-triple",
        (),
        lambda d: winners(d) - (of_kind("total") if triple(d) else set()),
    ),
    "any-triple stays dark on every triple": (
        ("rule:any-triple",),
        "never-lights",
        (),
        lambda d: winners(d) - {"any-triple"},
    ),
    "a double stays dark on the triple of its number": (
        ("rule:double-on-triple",),
        "dark-on-triple",
        ("double-wins-on-triple",),
        lambda d: winners(d) - (of_kind("double") if triple(d) else set()),
    ),
    "a pair stays dark when one of its numbers shows twice": (
        ("rule:pair-on-double",),
        "dark-on-double",
        ("pair-counts-once",),
        lambda d: winners(d) - (of_kind("pair") if len(set(d)) == 2 else set()),
    ),
    "singles stay dark on a triple": (
        ("rule:single-on-triple",),
        "dark-on-triple",
        (),
        lambda d: winners(d) - (of_kind("single") if triple(d) else set()),
    ),
    "singles stay dark on a double": (
        ("rule:single-on-double",),
        "dark-on-double",
        (),
        lambda d: winners(d) - (of_kind("single") if len(set(d)) == 2 else set()),
    ),
}
DOUBLES = "a double lights on the triple of its number"


def causes():
    """Give the causes by their sentence."""
    return {cause.what: cause for cause in rule_causes(MASKS)}


def test_every_wrong_rule_is_known_and_no_other():
    """Fails if a rule is left out, given twice under another sentence, or made up."""
    assert set(causes()) == {*SAID, DOUBLES}
    assert len(list(rule_causes(MASKS))) == len(SAID) + 1


@pytest.mark.parametrize("said", SAID)
def test_a_wrong_rule_lights_what_it_says(said):
    """Fails if it lights otherwise on any result, or is told of another part or reading."""
    part, fault, depends_on, lit = SAID[said]
    cause = causes()[said]
    assert (cause.part, cause.fault, cause.depends_on) == (part, fault, depends_on)
    assert cause.verdict is Verdict.DUT_FAIL
    for dice in EVERY:
        shown = cause.rule(dice, MASKS.mask(winners(dice)))
        assert set(MASKS.names(shown)) == lit(dice), dice


def test_a_double_lights_on_its_triple_where_the_book_has_it_dark():
    """Fails if a double of another number lights, or one lights on another result."""
    cause = causes()[DOUBLES]
    assert (cause.part, cause.fault) == (("rule:double-on-triple",), "lights-on-triple")
    assert cause.depends_on == ("double-wins-on-triple",)
    for dice in EVERY:
        by_book = winners(dice) - (of_kind("double") if triple(dice) else set())
        shown = cause.rule(dice, MASKS.mask(by_book))
        assert set(MASKS.names(shown)) == winners(dice)


@pytest.mark.parametrize(
    ("areas", "parts"),
    [
        (["small", "single-1"], {"rule:single-on-triple", "rule:single-on-double"}),
        (["total-4"], {"rule:totals", "rule:total-on-triple"}),
        (["any-triple"], {"rule:any-triple"}),
        (["double-2"], {"rule:double-on-triple"}),
        (["pair-1-2"], {"rule:pair-on-double"}),
        (["small", "big"], {"rule:small-on-triple", "rule:big-on-triple"}),
    ],
)
def test_a_layout_has_wrong_rules_of_its_own_areas_only(areas, parts):
    """Fails if a rule is accused of areas that the layout does not have."""
    found = rule_causes(AreaMask(areas))
    assert {part for cause in found for part in cause.part} == parts


def rows_without(*areas: str, on):
    """Give the rows of a table in which areas stay dark on some results, and the right ones."""
    healthy = {dice: MASKS.mask(winners(dice)) for dice in on}
    return {dice: mask & ~MASKS.mask(areas) for dice, mask in healthy.items()}, healthy


def test_one_area_wrong_on_results_may_be_its_lamp():
    """Fails if a rule is convicted of what its only lamp may have done."""
    rows, healthy = rows_without("single-1", on=[(1, 2, 3), (1, 2, 4)])
    for sure in (True, False):
        cause = wrong_rows(rows, healthy, MASKS, sure=sure)
        assert cause.part == ("rule:single-1", "lamp:single-1")
        assert cause.rig_part == ("input:single-1",)
        assert cause.verdict is Verdict.AMBIGUOUS
        assert cause.what == "single-1 wrong on 1,2,3, 1,2,4 only"
        assert cause.rows == ((1, 2, 3), (1, 2, 4))
        assert not cause.few


def test_two_areas_wrong_alike_on_several_results_are_their_rules_once_seen_often():
    """Fails if lamps are accused that would have to fail together, or are acquitted too soon."""
    rows, healthy = rows_without("single-1", "single-2", on=[(1, 2, 3), (1, 2, 4)])
    sure = wrong_rows(rows, healthy, MASKS, sure=True)
    assert (sure.part, sure.verdict) == (("rule:single-1", "rule:single-2"), Verdict.DUT_FAIL)
    unsure = wrong_rows(rows, healthy, MASKS, sure=False)
    assert unsure.part == ("rule:single-1", "lamp:single-1", "rule:single-2", "lamp:single-2")
    assert unsure.verdict is Verdict.AMBIGUOUS
    one, right = rows_without("single-1", "single-2", on=[(1, 2, 3)])
    assert wrong_rows(one, right, MASKS, sure=True).verdict is Verdict.AMBIGUOUS
    unlike, right = dict(rows), dict(healthy)
    unlike[1, 2, 4] = healthy[1, 2, 4] & ~MASKS.bit("single-1")
    assert wrong_rows(unlike, right, MASKS, sure=True).verdict is Verdict.AMBIGUOUS


def test_many_areas_wrong_are_the_rules():
    """Fails if more than three areas are named by their lamps, or rules of one kind are not."""
    rows, healthy = rows_without("single-1", "single-2", "single-3", on=[(1, 2, 3)])
    three = wrong_rows(rows, healthy, MASKS, sure=False)
    assert len(three.part) == 6
    assert three.few
    pairs = ("pair-1-2", "pair-1-3", "pair-2-3")
    rows, healthy = rows_without("single-1", *pairs, on=[(1, 2, 3)])
    four = wrong_rows(rows, healthy, MASKS, sure=False)
    assert (four.part, four.rig_part) == (("rule:results",), ("inputs",))
    assert four.verdict is Verdict.AMBIGUOUS
    assert wrong_rows(rows, healthy, MASKS, sure=True).verdict is Verdict.DUT_FAIL
    on = list(itertools.permutations((1, 2, 3)))
    rows = {dice: MASKS.mask(winners(dice) ^ {"pair-1-2", "pair-1-3", "pair-2-3"}) for dice in on}
    rows[1, 2, 3] ^= MASKS.bit("pair-5-6")
    alike = wrong_rows(rows, {d: MASKS.mask(winners(d)) for d in on}, MASKS, sure=False)
    assert (alike.part, alike.verdict) == (("rule:pairs", "group:pairs"), Verdict.DUT_FAIL)
    once = wrong_rows({(1, 2, 3): rows[1, 2, 3]}, healthy, MASKS, sure=False)
    assert (once.part, once.verdict) == (("rule:pairs", "group:pairs"), Verdict.AMBIGUOUS)
    assert alike.few  # one result, in all its orders


def test_an_order_is_told_from_the_orders_that_came_out_right():
    """Fails if a lamp is left out while it may have failed at random, or named after that."""
    right = {(2, 1, 3): MASKS.mask(winners((1, 2, 3))), (4, 4, 4): MASKS.mask(winners((4, 4, 4)))}
    rows = {(1, 2, 3): right[2, 1, 3] & ~MASKS.bit("small")}
    unsure = order_dependent(rows, right, MASKS, sure=False)
    assert unsure.part == ("rule:order-of-entry", "lamp:small")
    assert unsure.verdict is Verdict.AMBIGUOUS
    assert unsure.what == "lamps depend on the order of entry: wrong for 1,2,3, right for 2,1,3"
    sure = order_dependent(rows, right, MASKS, sure=True)
    assert (sure.part, sure.verdict) == (("rule:order-of-entry",), Verdict.DUT_FAIL)
    assert sure.rule((1, 2, 3), 0) == rows[1, 2, 3]
    assert sure.rule((2, 1, 3), 5) == 5
    rows[1, 1, 2] = 0  # no order of it came out right
    assert order_dependent(rows, right, MASKS, sure=True) is None
    assert order_dependent({}, right, MASKS, sure=True) is None
