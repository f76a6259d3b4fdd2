"""Each fault of the model, put into a table of the tests' own: located, and nobody else blamed."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.diagnosis import RigFacts, diagnose
from harness.diagnosis.plan import in_varied_orders, plan_cover
from harness.observations import Entry
from harness.verdicts import Verdict
from tests.diagnosis.broken_table import AREAS, Layout, Table, sweep, winners

COVER = in_varied_orders(plan_cover(Layout()).results)

VERIFIED = RigFacts(map_verified=True)
UNVERIFIED = RigFacts(map_verified=False)
TWO_PATHS = RigFacts(map_verified=True, sense_paths=("inputs", "layout"))
AREA = st.sampled_from(AREAS)


def only_finding(entries: list[Entry], facts: RigFacts = VERIFIED):
    """Fails if the table is not blamed exactly once."""
    diagnosis = diagnose(entries, Layout(), facts)
    assert len(diagnosis.findings) == 1, diagnosis.findings
    return diagnosis.findings[0], diagnosis


def test_a_healthy_sweep_passes_whole():
    """Fails on any false alarm."""
    diagnosis = diagnose(sweep(Table()), Layout(), VERIFIED)
    assert diagnosis.findings == ()
    assert set(diagnosis.verdicts) == {Verdict.PASS}
    assert len(diagnosis.verdicts) == 216


@settings(max_examples=12, deadline=None)
@given(AREA)
def test_a_dead_lamp_is_lamp_or_input_over_one_path(area):
    """Fails if one sense path convicts the lamp, or if more than the area's results are touched."""
    finding, diagnosis = only_finding(sweep(Table(glow=lambda lit, _: lit - {area})))
    assert finding.verdict is Verdict.AMBIGUOUS
    assert {f"lamp:{area}", f"input:{area}"} <= set(finding.part)
    assert len(finding.part) <= 3
    touched = [d for d in itertools.product(range(1, 7), repeat=3) if area in winners(d)]
    assert diagnosis.verdicts.count(Verdict.AMBIGUOUS) == len(touched)


@settings(max_examples=8, deadline=None)
@given(AREA)
def test_a_dead_lamp_seen_over_two_paths_is_the_tables(area):
    """Fails if an agreeing second path does not convict."""
    entries = sweep(Table(glow=lambda lit, _: lit - {area}), paths=("inputs", "layout"))
    finding, _ = only_finding(entries, TWO_PATHS)
    assert finding.verdict is Verdict.DUT_FAIL
    assert f"lamp:{area}" in finding.part


@settings(max_examples=8, deadline=None)
@given(AREA)
def test_an_input_that_one_path_contradicts_is_the_rigs(area):
    """Fails if a stuck input of ours is blamed on the table."""
    entries = sweep(
        Table(),
        paths=("inputs", "layout"),
        blind=lambda path, lit: lit - {area} if path == "inputs" else lit,
    )
    finding, diagnosis = only_finding(entries, TWO_PATHS)
    assert finding.verdict is Verdict.RIG_FAULT
    assert finding.part == (f"input:{area}",)
    assert Verdict.DUT_FAIL not in diagnosis.verdicts


@settings(max_examples=8, deadline=None)
@given(AREA, st.booleans())
def test_a_lamp_stuck_on(area, verified):
    """Fails if it convicts without a verified map, or does not with one."""
    entries = sweep(Table(glow=lambda lit, _: lit | {area}))
    finding, _ = only_finding(entries, VERIFIED if verified else UNVERIFIED)
    assert finding.fault == "stuck-on"
    assert finding.verdict is (Verdict.DUT_FAIL if verified else Verdict.AMBIGUOUS)
    assert f"lamp:{area}" in finding.part


@settings(max_examples=12, deadline=None)
@given(st.lists(AREA, min_size=2, max_size=2, unique=True))
def test_two_lamps_exchanged(two):
    """Fails if another part than the two lamps is named."""
    a, b = two

    def glow(lit, _):
        return {{a: b, b: a}.get(x, x) for x in lit}

    finding, _ = only_finding(sweep(Table(glow=glow)))
    assert finding.verdict is Verdict.DUT_FAIL
    assert set(finding.part) == {f"lamp:{a}", f"lamp:{b}"}
    assert "swapped" in finding.fault


@settings(max_examples=8, deadline=None)
@given(st.lists(AREA, min_size=2, max_size=2, unique=True))
def test_two_lamps_bridged(two):
    """Fails if the two are not named as a bridge, unless each would do so by the rules anyway."""
    bridge = set(two)

    def glow(lit, _):
        return lit | bridge if lit & bridge else lit

    entries = sweep(Table(glow=glow))
    diagnosis = diagnose(entries, Layout(), VERIFIED)
    (finding,) = diagnosis.findings
    assert finding.verdict is Verdict.DUT_FAIL
    assert set(finding.part) >= {f"lamp:{a}" for a in two}


def test_a_common_line_is_judged_by_the_paths_that_see_its_own_lamps():
    """Fails if an area of another line, seen over one path only, acquits it."""
    doubles = {f"double-{n}" for n in range(1, 7)}
    entries = sweep(Table(glow=lambda lit, _: lit - doubles), paths=("inputs", "layout"))
    hidden = [
        replace(
            entry,
            lamps=tuple(
                replace(s, sample=replace(s.sample, unknown=frozenset({"small"})))
                if s.sample.path == "layout"
                else s
                for s in entry.lamps
            ),
        )
        for entry in entries
    ]
    findings = diagnose(hidden, Layout(), replace(TWO_PATHS, map_verified=False)).findings
    told = {finding.part: finding.verdict for finding in findings}
    assert told == {
        ("group:doubles",): Verdict.DUT_FAIL,
        ("device:inputs",): Verdict.RIG_FAULT,
    }


@pytest.mark.parametrize("group", ["total", "pair", "single", "double", "triple"])
def test_an_open_common_is_one_finding(group):
    """Fails if n lamps make n findings."""
    members = {a for a in AREAS if a.startswith(f"{group}-")}
    finding, _ = only_finding(sweep(Table(glow=lambda lit, _: lit - members)))
    assert finding.verdict is Verdict.DUT_FAIL
    assert f"group:{group}s" in finding.part


@settings(max_examples=8, deadline=None)
@given(AREA)
def test_residue_names_the_lamp(area):
    """Fails if a lamp that stays after clear is called stuck on."""

    def glow(lit, before):
        return lit if lit else lit | ({area} & before)

    finding, _ = only_finding(sweep(Table(glow=glow)))
    assert finding.fault == "residue"
    assert finding.part == (f"lamp:{area}",)


@pytest.mark.parametrize("area", ["total-5", "pair-4-5", "small", "triple-3"])
def test_residue_of_a_result_entered_before_the_run(area):
    """Fails if what lit the lamp before our first entry must be among our entries."""
    table = Table(glow=lambda lit, before: lit or {area} & before)
    table.enter(0, next(dice for dice in COVER if area in winners(dice)))
    finding, _ = only_finding(sweep(table, COVER))
    assert (finding.fault, finding.part) == ("residue", (f"lamp:{area}",))


@pytest.mark.parametrize("key", "123456")
def test_a_dead_key(key):
    """Fails if the relay is acquitted without key travel being sensed, or convicted with it."""
    entries = sweep(Table(wire=lambda k: [] if k == key else [k]))
    finding, diagnosis = only_finding(entries)
    assert finding.verdict is Verdict.AMBIGUOUS
    assert set(finding.part) == {f"key:{key}", f"relay:{key}"}
    assert diagnosis.verdicts.count(Verdict.AMBIGUOUS) == 91
    went_down = [replace(entry, travelled=entry.keyed) for entry in entries]
    finding, _ = only_finding(went_down)
    assert (finding.verdict, finding.part) == (Verdict.DUT_FAIL, (f"key:{key}",))
    stayed_up = [
        replace(entry, travelled=tuple(k for k in entry.keyed if k != key)) for entry in entries
    ]
    finding, _ = only_finding(stayed_up)
    assert (finding.verdict, finding.part) == (Verdict.RIG_FAULT, (f"relay:{key}",))


@pytest.mark.parametrize("key", "16")
def test_a_bouncing_key(key):
    """Fails if a double entry is not named as such."""
    finding, _ = only_finding(sweep(Table(wire=lambda k: [k, k] if k == key else [k])))
    assert (finding.verdict, finding.part) == (Verdict.DUT_FAIL, (f"key:{key}",))
    assert finding.fault == "bounce"


@pytest.mark.parametrize("key", "25")
def test_a_key_stuck_closed(key):
    """Fails if the entry made with every relay open is not traced to the key."""
    finding, _ = only_finding(sweep(Table(stuck=key)))
    assert (finding.verdict, finding.part) == (Verdict.DUT_FAIL, (f"key:{key}",))
    assert finding.fault == "stuck-closed"


@pytest.mark.parametrize(("verified", "verdict"), [(True, "DUT_FAIL"), (False, "AMBIGUOUS")])
def test_two_keys_exchanged(verified, verdict):
    """Fails if two relay wires of ours are not considered while the map is unverified."""
    swap = {"2": "5", "5": "2"}
    entries = sweep(Table(wire=lambda k: [swap.get(k, k)]))
    finding, _ = only_finding(entries, VERIFIED if verified else UNVERIFIED)
    assert finding.verdict.value == verdict
    assert {"key:2", "key:5"} <= set(finding.part)
    assert ("relay:2" in finding.part) is not verified


def test_two_keys_shorted():
    """Fails if two entries from one press are not seen as a short."""
    finding, _ = only_finding(sweep(Table(wire=lambda k: ["2", "5"] if k in "25" else [k])))
    assert (finding.fault, set(finding.part)) == ("shorted", {"key:2", "key:5"})


def test_clear_does_nothing():
    """Fails if the earlier result that persists is not traced to the clear key."""
    finding, _ = only_finding(sweep(Table(wire=lambda k: [] if k == "clear" else [k])))
    assert (finding.verdict, finding.part) == (Verdict.DUT_FAIL, ("key:clear",))


@pytest.mark.parametrize(
    ("which", "spans", "count"),
    [
        ("small", ((3, 10), (19, 19)), 3),
        ("big", ((19, 19), (11, 18)), 3),
        ("both", ((3, 10), (11, 18)), 6),
        ("both", ((4, 10), (11, 17)), 4),
    ],
)
def test_small_and_big_on_triples_is_a_rule(which, spans, count):
    """Fails if the rule is not named once, with exactly its results."""
    (low, high), (low2, high2) = spans

    def logic(dice):
        lit = winners(dice)
        if len(set(dice)) == 1:
            lit |= {"small"} if low <= sum(dice) <= high else set()
            lit |= {"big"} if low2 <= sum(dice) <= high2 else set()
        return lit

    finding, diagnosis = only_finding(sweep(Table(logic=logic)))
    names = ("small", "big") if which == "both" else (which,)
    assert finding.verdict is Verdict.DUT_FAIL
    assert finding.part == tuple(f"rule:{n}-on-triple" for n in names)
    assert len(finding.results) == count
    assert diagnosis.verdicts.count(Verdict.DUT_FAIL) == count


def test_double_dark_on_triples_depends_on_the_reading():
    """Fails if the finding does not say that it stands or falls with reading A1."""
    finding, _ = only_finding(
        sweep(
            Table(
                logic=lambda d: winners(d) - {f"double-{d[0]}"} if len(set(d)) == 1 else winners(d)
            )
        )
    )
    assert finding.part == ("rule:double-on-triple",)
    assert finding.depends_on == ("double-wins-on-triple",)
    assert len(finding.results) == 6


@pytest.mark.parametrize("by", [-3, -2, -1, 1, 2, 3])
def test_totals_off(by):
    """Fails if fourteen lamps are blamed for one wrong sum, or it is told as so many results."""

    def logic(dice):
        lit = {a for a in winners(dice) if not a.startswith("total-")}
        return lit | ({f"total-{sum(dice) + by}"} if 4 <= sum(dice) + by <= 17 else set())

    finding, _ = only_finding(sweep(Table(logic=logic)))
    assert (finding.verdict, finding.part) == (Verdict.DUT_FAIL, ("rule:totals",))
    assert finding.fault == f"off-by-{by:+d}"


def test_pairs_dark_on_doubles_depend_on_the_reading():
    """Fails if the finding does not say that it stands or falls with how often a pair counts."""

    def logic(dice):
        dark = "pair-" if len(set(dice)) == 2 else "none"
        return {area for area in winners(dice) if not area.startswith(dark)}

    finding, _ = only_finding(sweep(Table(logic=logic), COVER))
    assert (finding.verdict, finding.part) == (Verdict.DUT_FAIL, ("rule:pair-on-double",))
    assert finding.depends_on == ("pair-counts-once",)


def test_any_triple_never_lights_may_be_its_lamp():
    """Fails if one path alone decides between the rule and the lamp, or leaves one of them out."""
    finding, _ = only_finding(sweep(Table(logic=lambda d: winners(d) - {"any-triple"})))
    assert finding.verdict is Verdict.AMBIGUOUS
    assert set(finding.part) == {"rule:any-triple", "lamp:any-triple", "input:any-triple"}
    entries = sweep(Table(logic=lambda d: winners(d) - {"any-triple"}), paths=("inputs", "layout"))
    finding, _ = only_finding(entries, TWO_PATHS)
    assert finding.verdict is Verdict.DUT_FAIL
    assert len(finding.results) == 6


def test_order_of_entry():
    """Fails if the permutation that differs is not told from those that do not."""

    def logic(dice):
        return winners(dice) - {"small"} if dice == (1, 2, 3) else winners(dice)

    table = Table(logic=logic)
    entries = sweep(table)
    finding, diagnosis = only_finding(entries)
    assert finding.verdict is Verdict.AMBIGUOUS  # seen once: the lamp may have failed by chance
    assert finding.part == ("rule:order-of-entry", "lamp:small")
    while diagnosis.next_tests:
        test = diagnosis.next_tests[0]
        entries.append(table.enter(len(entries), test.keyed, test.shown, mode="entered"))
        finding, diagnosis = only_finding(entries)
    assert finding.part == ("rule:order-of-entry",)
    assert finding.results == ("1,2,3",)
    assert set(diagnosis.verdicts) == {Verdict.PASS, Verdict.DUT_FAIL}
    assert len(entries) == 216 + 3


def test_a_wrong_row_is_the_results_own():
    """Fails if one wrong result condemns another area, or its lamp without its rule."""

    def logic(dice):
        return winners(dice) - {"pair-2-4"} if sorted(dice) == [2, 4, 6] else winners(dice)

    finding, diagnosis = only_finding(sweep(Table(logic=logic)))
    assert finding.verdict is Verdict.AMBIGUOUS
    assert finding.part == ("rule:pair-2-4", "lamp:pair-2-4", "input:pair-2-4")
    assert len(finding.results) == 6
    assert diagnosis.verdicts.count(Verdict.AMBIGUOUS) == 6


def test_a_slip_of_the_hand_is_told_from_a_wrong_row():
    """Fails if the dealer or the table is convicted before the test that splits them, or after it
    the wrong one is."""

    def slip(dice, keys):
        return ("1", "2", "4") if dice and sorted(dice) == [1, 2, 3] else keys

    for table, verdict, part in (
        (Table(slip=slip), Verdict.PROCEDURE_FAIL, "dealer"),
        (
            Table(logic=lambda d: winners((1, 2, 4)) if sorted(d) == [1, 2, 3] else winners(d)),
            Verdict.DUT_FAIL,
            "rule:",
        ),
    ):
        entries = sweep(table)
        first = diagnose(entries, Layout(), VERIFIED)
        assert [f.verdict for f in first.findings] == [Verdict.AMBIGUOUS]
        (test,) = first.next_tests
        for index in range(216, 220):
            entries.append(table.enter(index, test.keyed, test.shown, mode="entered"))
            finding, second = only_finding(entries)
            if not second.next_tests:
                break
            (test,) = second.next_tests
        assert finding.verdict is verdict
        assert finding.part[0].startswith(part)
        assert finding.fault == ("wrong-entry" if part == "dealer" else "wrong-result")
        assert "1,2,3" in finding.what
        assert "1,2,4" in finding.what or verdict is Verdict.DUT_FAIL
        assert all(len(test.splits) == 1 for test in second.next_tests)  # to be seen again, no more


@settings(max_examples=15, deadline=None)
@given(
    AREA,
    st.sampled_from(["dead-key-3", "stuck-lamp", "small-on-triple"]),
    st.sampled_from(AREAS),
)
def test_two_faults_together_blame_no_third(area, other, second):
    """Fails if a part that is healthy is convicted, or if all passes."""
    if area == second:
        return
    glow = {"stuck-lamp": lambda lit, _: (lit - {area}) | {second}}.get(
        other, lambda lit, _: lit - {area}
    )
    table = Table(
        wire=(lambda k: [] if k == "3" else [k]) if other == "dead-key-3" else lambda k: [k],
        logic=(
            (lambda d: winners(d) | ({"small"} if d in ((2, 2, 2), (3, 3, 3)) else set()))
            if other == "small-on-triple"
            else winners
        ),
        glow=glow,
    )
    diagnosis = diagnose(sweep(table), Layout(), VERIFIED)
    assert set(diagnosis.verdicts) != {Verdict.PASS}
    guilty = {f"lamp:{area}", f"input:{area}", f"lamp:{second}", "key:3", "relay:3"} | {
        "rule:small-on-triple",
        "rule:small",
        f"rule:{area}",
        "rule:any-triple",
    }
    for finding in diagnosis.findings:
        if finding.verdict is Verdict.DUT_FAIL:
            assert set(finding.part) <= guilty, finding


class Shifting(Table):
    """A table that takes the last three of four keys."""

    def press(self, key: str) -> None:
        if key.isdigit() and len(self.digits) == 3:
            self.digits = [*self.digits[1:], key]
        else:
            super().press(key)


class Erring(Table):
    """A table that takes four keys for an error, and shows nothing until it is cleared."""

    over = False

    def press(self, key: str) -> None:
        self.over = key != "clear" and (self.over or len(self.digits) == 3)
        super().press(key)

    def lamps(self) -> set[str]:
        return set() if self.over else super().lamps()


@pytest.mark.parametrize(
    ("required", "tables"),
    [
        ("ignored", {"last-three": Shifting, "error": Erring}),
        ("last-three", {"ignored": Table, "error": Erring}),
        ("error", {"ignored": Table, "last-three": Shifting}),
    ],
)
def test_a_fourth_key_handled_otherwise_than_required(required, tables):
    """Fails if lamps are blamed for it, or if how it is handled is not told."""
    for handled, kind in tables.items():
        table = kind()
        made = [table.enter(n, k) for n, k in enumerate([(1, 2, 3), (1, 2, 3, 5), (4, 4, 6, 6)])]
        finding, diagnosis = only_finding(made, replace(VERIFIED, fourth_key=required))
        assert (finding.verdict, finding.part) == (Verdict.DUT_FAIL, ("rule:fourth-key",))
        said = f"a fourth key is handled as '{handled}', required is '{required}'"
        assert finding.what == said
        assert diagnosis.verdicts[0] is Verdict.PASS


def test_a_result_that_lights_another_ones_areas_is_the_rules_or_a_slip():
    """Fails if areas of several kinds are put down to the rule of one kind."""
    entries = sweep(Table(logic=lambda d: winners((3, 3, 6) if sorted(d) == [2, 2, 5] else d)))
    finding, _ = only_finding(entries)
    assert (finding.verdict, finding.part) == (Verdict.AMBIGUOUS, ("dealer", "rule:results"))
    assert finding.results == ("2,2,5", "2,5,2", "5,2,2")
