"""A terminal that drops a half-made entry too soon, told from one that takes no key."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from harness.diagnosis import RigFacts, diagnose
from harness.diagnosis.areamask import AreaMask
from harness.diagnosis.forgetting import forgetting
from harness.diagnosis.plan import in_varied_orders, plan_cover
from harness.diagnosis.simulate import Prediction
from harness.verdicts import Verdict
from tests.diagnosis.broken_table import Layout, Table

COVER = in_varied_orders(plan_cover(Layout()).results)
FACTS = RigFacts(map_verified=True)
LOOKED_S, HURRIED_S = 0.2, 0.13


def inspected(table: Table, gaps, hurried_s: float = HURRIED_S):
    """Enter a cover with these times between keys, then make the further tests asked for."""
    entries = [
        table.enter(i, dice, dice, gap_s=gap)
        for i, (dice, gap) in enumerate(zip(COVER, gaps, strict=True))
    ]
    tests = []
    while (diagnosis := diagnose(entries, Layout(), FACTS)).next_tests and len(tests) < 6:
        test = diagnosis.next_tests[0]
        tests.append(test)
        pace = hurried_s if test.hurried else LOOKED_S
        entries.append(
            table.enter(
                len(entries),
                test.keyed,
                test.shown,
                mode="entered",
                gap_s=pace,
                look_between=not test.hurried,
            )
        )
    return diagnosis.findings, tests


def test_forgotten_sooner_than_we_press():
    """Nothing ever lights: fails if keys or lamps are blamed once a faster entry came out right."""
    findings, tests = inspected(Table(forgets_s=0.18), [LOOKED_S] * len(COVER))
    (finding,) = findings
    assert finding.verdict is Verdict.DUT_FAIL
    assert finding.part == ("rule:entry-timeout",)
    assert tests[0].hurried
    assert "as fast as the keys take it" in str(tests[0])


def test_no_key_is_taken_however_fast():
    """Fails if the memory of a terminal is blamed that takes no key at all."""
    findings, tests = inspected(Table(wire=lambda _key: []), [LOOKED_S] * len(COVER))
    (finding,) = findings
    assert finding.verdict is Verdict.AMBIGUOUS
    assert finding.part == ("lamps", "inputs", "keys", "device:keys")
    assert [test.hurried for test in tests] == [True]


def test_a_rig_that_cannot_press_faster_tries_once():
    """Fails if an entry that tells nothing is asked for again, or if one candidate is dropped."""
    findings, tests = inspected(Table(forgets_s=0.18), [LOOKED_S] * len(COVER), LOOKED_S)
    (finding,) = findings
    assert finding.verdict is Verdict.AMBIGUOUS
    assert {"rule:entry-timeout", "keys", "device:keys"} < set(finding.part)
    assert [test.hurried for test in tests] == [True]


@pytest.mark.parametrize("forgets_s", [0.5, 0.2])
def test_one_hesitation_among_quick_entries(forgets_s):
    """Fails if one entry made much slower than the others convicts by itself, or if how long the
    terminal remembers is then not to be measured; or if two do not convict."""
    for slow in (1, 2):
        gaps = [HURRIED_S] * (len(COVER) - slow) + [1.2] * slow
        table = Table(forgets_s=forgets_s)
        entries = [table.enter(i, d, d, gap_s=gaps[i]) for i, d in enumerate(COVER)]
        told = diagnose(entries, Layout(), FACTS)
        (finding,) = told.findings
        assert finding.fault == "entry-timeout"
        assert finding.what == "a half-made entry is dropped when the next key comes 1.2 s later"
        assert len(finding.evidence) == slow
        assert told.may_forget
        if slow == 1:
            assert finding.verdict is Verdict.AMBIGUOUS
            assert finding.part == ("rule:entry-timeout", "device:keys")
        else:
            assert finding.verdict is Verdict.DUT_FAIL
            assert finding.part == ("rule:entry-timeout",)


def test_a_slower_half_that_stayed_dark_is_to_be_entered_faster():
    """Fails if chance convicts, or if it is not told what the further entry decides."""
    table, results = Table(forgets_s=0.2), COVER[3:11]
    entries = [
        table.enter(i, dice, dice, gap_s=0.19 if i < 3 else 0.21) for i, dice in enumerate(results)
    ]
    told = diagnose(entries, Layout(), FACTS)
    (finding,), (test,) = told.findings, told.next_tests
    assert finding.verdict is Verdict.AMBIGUOUS
    assert finding.part == ("rule:entry-timeout", "device:keys")
    assert (test.keyed, test.shown, test.hurried) == ((1, 2, 3), (1, 2, 3), True)
    assert test.splits == (("rule:entry-timeout",),)
    assert finding.next_test == str(test)


def test_a_limit_is_set_where_most_entries_agree_with_it():
    """Fails if entries made just as slowly as the quickest dark one speak against it."""
    dark, lit = Table(logic=lambda _dice: set()), Table()
    made = [(lit, 0.1)] * 9 + [(dark, 0.2)] * 4 + [(lit, 0.3)] * 3 + [(dark, 0.4)]
    entries = [
        table.enter(i, dice, dice, gap_s=gap)
        for i, (dice, (table, gap)) in enumerate(zip(COVER, made, strict=True))
    ]
    areas = AreaMask(sorted(Layout.areas))
    winning = Layout().winning_areas
    cause = forgetting(Prediction(entries, FACTS, areas, lambda dice: areas.mask(winning(dice))))
    assert cause.what == "a half-made entry is dropped when the next key comes 0.2 s later"
    assert cause.forgets_after_s == pytest.approx((0.15 + 0.2) / 2)


@pytest.mark.parametrize("seed", range(5))
def test_just_as_fast_as_the_terminal_forgets(seed):
    """Some entries a little faster than others lit: fails if a part other than memory is named."""
    rng = random.Random(seed)
    gaps = [rng.uniform(0.19, 0.21) for _ in COVER]
    findings, _ = inspected(Table(forgets_s=0.2), gaps)
    (finding,) = findings
    assert finding.verdict is Verdict.DUT_FAIL
    assert finding.part == ("rule:entry-timeout",)


def test_dropped_entries_say_nothing_else_once_the_limit_was_measured():
    """Some came out right, some did not, not by their pace: fails if keys or lamps are blamed.

    A lamp that is dead besides is found in what remains.
    """
    rng = random.Random(3)
    table = Table(glow=lambda lit, _: lit - {"single-4"})
    entries = []
    for i, dice in enumerate(COVER):
        table.forgets_s = 0.15 if rng.random() < 0.4 else 1.0  # a busy host: about as it pleases
        entries.append(table.enter(i, dice, dice, gap_s=LOOKED_S))
    vague = diagnose(entries, Layout(), FACTS)
    assert vague.may_forget
    assert all(f.verdict is Verdict.AMBIGUOUS for f in vague.findings)
    diagnosis = diagnose(entries, Layout(), replace(FACTS, memory_s=(0.17, 0.19)))
    assert not diagnosis.may_forget
    blamed = {part for finding in diagnosis.findings for part in finding.part}
    assert {"rule:entry-timeout", "lamp:single-4"} <= blamed
    assert blamed <= {"rule:entry-timeout", "lamp:single-4", "input:single-4", "rule:single-4"}


def test_a_host_that_stalled_convicts_no_terminal():
    """Fails if an entry made slower than a terminal must remember is held against it."""
    table = Table(forgets_s=10.0)
    entries = [
        table.enter(i, dice, dice, gap_s=12.0 if i == 5 else LOOKED_S)
        for i, dice in enumerate(COVER)
    ]
    for facts in (FACTS, replace(FACTS, remembers_s=10.0)):
        (finding,) = diagnose(entries, Layout(), facts).findings
        assert finding.verdict is Verdict.AMBIGUOUS
        assert finding.part == ("host:entry", "rule:entry-timeout")
        assert finding.evidence == ("entry:5",)


def test_a_terminal_measured_to_remember_is_not_said_to_forget():
    """One hesitant entry lost a press: fails if memory is blamed that was seen to hold."""
    gaps = [HURRIED_S] * (len(COVER) - 1) + [1.2]
    table = Table(forgets_s=0.5)  # as if a press had been lost just then
    entries = [
        table.enter(i, dice, dice, gap_s=gap)
        for i, (dice, gap) in enumerate(zip(COVER, gaps, strict=True))
    ]
    told = diagnose(entries, Layout(), replace(FACTS, memory_s=(1.25, None)))
    assert told.findings
    assert all("rule:entry-timeout" not in finding.part for finding in told.findings)


def test_a_dead_key_is_found_beside_a_measured_memory():
    """Entries made faster than the terminal forgets: fails if they count as dropped."""
    table = Table(wire=lambda key: [] if key == "6" else [key], forgets_s=0.26)
    entries = [table.enter(i, dice, dice, gap_s=LOOKED_S) for i, dice in enumerate(COVER)]
    entries.append(table.enter(len(entries), (1, 2, 3), None, gap_s=(1.2, 0.2)))
    told = diagnose(entries, Layout(), replace(FACTS, memory_s=(0.25, 0.27)))
    parts = [finding.part for finding in told.findings]
    assert ("rule:entry-timeout",) in parts
    assert any("key:6" in part for part in parts)


def test_four_keys_that_came_out_right_were_not_dropped():
    table = Table()
    entries = [table.enter(0, (1, 2, 3, 5), None, gap_s=LOOKED_S)]
    told = diagnose(entries, Layout(), replace(FACTS, memory_s=(0.14, 0.15)))
    (finding,) = told.findings  # of the measurement
    assert finding.evidence == ()
    assert told.verdicts == (Verdict.PASS,)


def test_what_is_left_of_a_dropped_entry_is_dropped_before_the_next():
    """Without a clear key: fails if the next entry is thought to complete what is gone."""

    class NoClear(Table):
        def press(self, key):
            if key != "clear":
                if len(self.digits) == 3:
                    self.digits = []
                super().press(key)

    table = NoClear(forgets_s=0.5)
    entries = []
    for i, dice in enumerate(COVER):
        gaps = (1.0, 0.2) if i == 5 else (0.2, 0.2)
        entry = table.enter(i, dice, dice, gap_s=gaps)
        if len(table.digits) < 3:
            table.digits.clear()  # long before the next entry
        at = tuple(100.0 * i + t for t in entry.pressed_at)
        entries.append(replace(entry, pressed_at=at, cleared_by_key=False))
    facts = replace(FACTS, clear="unspecified")
    (finding,) = diagnose(entries, Layout(), facts).findings
    assert finding.part == ("rule:entry-timeout", "device:keys")


def test_the_first_of_four_keys_dropped_is_no_wrong_fourth():
    table = Table()
    entries = [table.enter(i, dice, dice, gap_s=0.1) for i, dice in enumerate(COVER)]
    table.forgets_s = 0.15
    entries.append(table.enter(len(entries), (1, 2, 3, 5), None, gap_s=(0.2, 0.1, 0.1)))
    told = diagnose(entries, Layout(), replace(FACTS, memory_s=(0.14, 0.15)))
    assert [finding.part for finding in told.findings] == [("rule:entry-timeout",)]


@pytest.mark.parametrize("nth", [0, 7])
def test_one_dark_entry_that_happened_to_be_the_slowest_accuses_no_memory(nth):
    """Fails if chance accuses: of entries made about as fast, one stays dark once."""
    gaps = [LOOKED_S] * len(COVER)
    gaps[nth] = 0.21
    entered = iter(range(1000))
    table = Table()
    table.logic = lambda dice, sound=table.logic, dark=nth: (
        set() if next(entered) == dark else sound(dice)
    )
    findings, _ = inspected(table, gaps)
    assert findings
    assert all("rule:entry-timeout" not in finding.part for finding in findings)
