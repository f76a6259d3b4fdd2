"""Any single fault of the model, seen by a smallest cover only: the candidates hold it."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.diagnosis import RigFacts
from harness.diagnosis.plan import in_varied_orders, plan_cover
from harness.verdicts import Verdict
from tests.diagnosis.broken_table import AREAS, Layout, Table, winners
from tests.diagnosis.further import explained

FACTS = RigFacts(map_verified=True)
COVER = in_varied_orders(plan_cover(Layout()).results)
KEYS = "123456"


def _triple(dice):
    return len(set(dice)) == 1


def _glow(change):
    return Table(glow=lambda lit, _before: change(lit))


def _dead(a, _b):
    return _glow(lambda lit: lit - {a}), {f"lamp:{a}", f"input:{a}"}


def _stuck(a, _b):
    return _glow(lambda lit: lit | {a}), {f"lamp:{a}"}


def _inverted(a, _b):
    return _glow(lambda lit: lit ^ {a}), {f"lamp:{a}"}


def _swapped(a, b):
    return _glow(lambda lit: {{a: b, b: a}.get(x, x) for x in lit}), {f"lamp:{a}", f"lamp:{b}"}


def _bridged(a, b):
    return _glow(lambda lit: lit | {a, b} if lit & {a, b} else lit), {f"lamp:{a}", f"lamp:{b}"}


def _residue(a, _b):
    table = Table(glow=lambda lit, before: lit if lit else before & {a})
    return table, {f"lamp:{a}"}


LAMP_FAULTS = st.sampled_from([_dead, _stuck, _inverted, _swapped, _bridged, _residue])


def key_faults():
    """Give keys dead, bouncing, exchanged, shorted, entering another digit, stuck closed."""
    one = st.sampled_from(KEYS)
    two = st.lists(one, min_size=2, max_size=2, unique=True)
    wires = st.one_of(
        one.map(lambda k: ({k: []}, {f"key:{k}"})),
        one.map(lambda k: ({k: [k, k]}, {f"key:{k}"})),
        two.map(lambda ab: ({ab[0]: [ab[1]], ab[1]: [ab[0]]}, {f"key:{k}" for k in ab})),
        two.map(lambda ab: ({ab[0]: ab, ab[1]: ab}, {f"key:{k}" for k in ab})),
        two.map(lambda ab: ({ab[0]: [ab[1]]}, {f"key:{ab[0]}"})),
    )
    wired = wires.map(lambda w: (Table(wire=lambda key: w[0].get(key, [key])), w[1]))
    return st.one_of(wired, one.map(lambda k: (Table(stuck=k), {f"key:{k}"})))


RULE_FAULTS = {
    "small-on-triple": lambda d: winners(d) | ({"small"} if _triple(d) and sum(d) <= 10 else set()),
    "big-on-triple": lambda d: winners(d) | ({"big"} if _triple(d) and sum(d) >= 11 else set()),
    "double-on-triple": lambda d: winners(d) - ({f"double-{d[0]}"} if _triple(d) else set()),
    "totals": lambda d: (
        ({a for a in winners(d) if not a.startswith("total-")} | {f"total-{sum(d) + 1}"})
        & set(AREAS)
    ),
    "any-triple": lambda d: winners(d) - {"any-triple"},
}


def held_to(findings, guilty: set[str]) -> None:
    """Fails if all passes, if no candidate set holds the guilty, or if another is convicted."""
    assert findings
    assert any(guilty & set(finding.part) for finding in findings), (guilty, findings)
    for finding in findings:
        if finding.verdict is not Verdict.AMBIGUOUS:
            assert guilty & set(finding.part), (guilty, finding)


@settings(max_examples=40, deadline=None)
@given(LAMP_FAULTS, st.lists(st.sampled_from(AREAS), min_size=2, max_size=2, unique=True))
def test_a_fault_of_lamps_in_the_daily_inspection(fault, two):
    """Fails if a cover of all areas does not find the lamp, or convicts another."""
    table, guilty = fault(*two)
    findings = explained(table, COVER, FACTS)
    told_apart = any((two[0] in lit) is not (two[1] in lit) for lit in map(winners, COVER))
    if findings or told_apart or fault not in (_bridged, _swapped):
        held_to(findings, guilty)


@settings(max_examples=30, deadline=None)
@given(key_faults())
def test_a_fault_of_keys_in_the_daily_inspection(broken):
    """Fails if a cover of all areas does not find the key, or convicts another."""
    table, guilty = broken
    held_to(explained(table, COVER, FACTS), guilty)


def test_wrong_rules_in_the_daily_inspection():
    """Fails if a rule that is wrong in firmware is not in the candidates of a cover."""
    for rule, logic in RULE_FAULTS.items():
        findings = explained(Table(logic=logic), COVER, FACTS)
        assert findings, rule
        named = {part for finding in findings for part in finding.part}
        assert f"rule:{rule}" in named, (rule, findings)


def test_the_cover_alone_passes_a_healthy_table():
    """Fails on any false alarm."""
    assert explained(Table(), COVER, FACTS) == []
    every = list(itertools.product(range(1, 7), repeat=3))
    assert explained(Table(), every[::-1], FACTS) == []
