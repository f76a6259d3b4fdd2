"""Terminals that take an entry when their entry key is pressed: their faults, and nobody else's."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.diagnosis import RigFacts, diagnose
from harness.diagnosis.plan import in_varied_orders, plan_cover
from harness.verdicts import Verdict
from tests.diagnosis.broken_table import AREAS, Layout, Table, sweep
from tests.diagnosis.further import explained

COVER = in_varied_orders(plan_cover(Layout()).results)
FACTS = RigFacts(map_verified=True, commit="entry-key")


class WithEntryKey(Table):
    """A terminal that shows a result once its entry key was pressed on three digits."""

    entry_key = True
    taken: tuple[str, ...] = ()

    def press(self, key: str) -> None:
        for contact in self.wire(key):
            if contact == "clear":
                self.digits, self.taken = [self.stuck] if self.stuck else [], ()
            elif contact == "enter":
                self.commit()
            elif contact != self.stuck:
                self.digit(contact)

    def half_made(self) -> bool:
        return not self.taken

    def commit(self) -> None:
        if len(self.digits) == 3:
            self.taken = tuple(self.digits)

    def digit(self, digit: str) -> None:
        if len(self.digits) < 3:
            self.digits.append(digit)

    def lamps(self) -> set[str]:
        lit = self.logic(tuple(map(int, self.taken))) if self.taken else set()
        shining = set(self.glow(lit, self.last))
        if lit:
            self.last = lit
        return shining


class TakesTheThird(WithEntryKey):
    """A terminal that takes its third digit for the entry key."""

    def digit(self, digit: str) -> None:
        super().digit(digit)
        self.commit()


class LightsAfter(WithEntryKey):
    """A terminal that lights the singles of what was typed, from a number of digits on."""

    def __init__(self, digits: int) -> None:
        super().__init__()
        self.after = digits

    def lamps(self) -> set[str]:
        early = not self.taken and len(self.digits) >= self.after
        return {f"single-{n}" for n in self.digits} if early else super().lamps()


class Shifting(WithEntryKey):
    """A terminal that keeps the last three of four digits."""

    def digit(self, digit: str) -> None:
        self.digits = [*self.digits, digit][-3:]


class Erring(WithEntryKey):
    """A terminal that takes a fourth digit for an error and drops them all."""

    def digit(self, digit: str) -> None:
        self.digits = [] if len(self.digits) == 3 else [*self.digits, digit]


class EverySecondPress(WithEntryKey):
    """A terminal of which one key takes every second press only."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key, self.times = key, 0

    def press(self, key: str) -> None:
        self.times += key == self.key
        if key != self.key or self.times % 2 == 0:
            super().press(key)


def wired(**keys: str) -> Table:
    """Give a terminal whose keys `k1` … enter what is given."""
    return WithEntryKey(wire=lambda key: list(keys.get(f"k{key}", key)) if len(key) == 1 else [key])


def without(key: str) -> Table:
    """Give a terminal of which a key does nothing."""
    return WithEntryKey(wire=lambda pressed: [] if pressed == key else [pressed])


def found(table: Table):
    """Diagnose a cover, and give what is found of it."""
    return diagnose(sweep(table, COVER), Layout(), FACTS).findings


def test_a_healthy_terminal_passes():
    """Fails if the entry key is thought not to be driven, or another key to be driven for it."""
    diagnosis = diagnose(sweep(WithEntryKey(), COVER), Layout(), FACTS)
    assert diagnosis.findings == ()
    assert set(diagnosis.verdicts) == {Verdict.PASS}


def test_a_dead_entry_key_is_among_what_keeps_all_lamps_dark():
    """Fails if the entry key is left out of what may be at fault, or convicted by darkness."""
    (finding,) = found(without("enter"))
    assert finding.verdict is Verdict.AMBIGUOUS
    assert finding.part == ("lamps", "inputs", "key:enter", "keys", "device:keys")
    assert "the enter key does nothing: the earlier state persists" in finding.what
    assert "the enter key stays closed: no press of it is seen" in finding.what
    assert len(finding.results) == len(COVER)


def test_a_terminal_without_an_entry_key_has_none_to_be_dead():
    """Fails if a key is accused that the terminal does not have."""
    entries = sweep(Table(wire=lambda _key: []), COVER)
    (finding,) = diagnose(entries, Layout(), replace(FACTS, commit="third-key")).findings
    assert finding.part == ("lamps", "inputs", "keys", "device:keys")


def test_a_dead_clear_key_leaves_the_first_result():
    """Fails if a result that no digit replaces is not put down to the clear key."""
    (finding,) = found(without("clear"))
    assert (finding.verdict, finding.part) == (Verdict.DUT_FAIL, ("key:clear",))


def test_lamps_that_light_before_the_entry_key():
    """Fails if what lights with the third digit is not the entry key's, or its rule's."""
    (finding,) = found(TakesTheThird())
    assert (finding.verdict, finding.part) == (Verdict.DUT_FAIL, ("rule:commit", "key:enter"))
    assert finding.fault == "lights-early"
    assert finding.what == (
        "lamps light before the entry key is pressed: the rule, or the key is closed"
    )
    assert len(finding.evidence) == len(COVER)


@pytest.mark.parametrize("digits", [1, 2])
def test_lamps_that_light_with_an_earlier_digit(digits):
    """Fails if the entry key is accused of what lit two digits before it."""
    (finding,) = found(LightsAfter(digits))
    assert (finding.verdict, finding.part) == (Verdict.DUT_FAIL, ("rule:commit",))
    assert f"lamps light after key {digits}, before the entry is whole" in finding.what


def key_faults():
    """Give keys dead, bouncing, exchanged, shorted, entering another digit, stuck closed."""
    one = st.sampled_from("123456")
    two = st.lists(one, min_size=2, max_size=2, unique=True)
    wires = st.one_of(
        one.map(lambda k: ({f"k{k}": ""}, {f"key:{k}"})),
        one.map(lambda k: ({f"k{k}": k + k}, {f"key:{k}"})),
        two.map(lambda ab: ({f"k{ab[0]}": ab[1], f"k{ab[1]}": ab[0]}, {f"key:{k}" for k in ab})),
        two.map(lambda ab: (dict.fromkeys((f"k{k}" for k in ab), "".join(ab)), {f"key:{ab[0]}"})),
        two.map(lambda ab: ({f"k{ab[0]}": ab[1]}, {f"key:{ab[0]}"})),
    )
    wired_so = wires.map(lambda made: (wired(**made[0]), made[1]))
    return st.one_of(wired_so, one.map(lambda k: (WithEntryKey(stuck=k), {f"key:{k}"})))


@settings(max_examples=15, deadline=None)
@given(key_faults())
def test_any_fault_of_one_key_is_among_the_candidates(broken):
    """Fails if all passes, if no candidate set holds the key, or if another part is convicted."""
    table, guilty = broken
    findings = explained(table, COVER, FACTS)
    assert any(guilty & set(finding.part) for finding in findings)
    for finding in findings:
        assert guilty & set(finding.part) or finding.verdict is Verdict.AMBIGUOUS, finding


@settings(max_examples=6, deadline=None)
@given(st.sampled_from(AREAS))
def test_a_lamp_stuck_on(area):
    """Fails if a lamp that is lit before the entry key is held against the key or its rule."""
    (finding,) = found(WithEntryKey(glow=lambda lit, _: lit | {area}))
    assert (finding.verdict, finding.part) == (Verdict.DUT_FAIL, (f"lamp:{area}",))


def test_a_lamp_that_stays_after_the_clear_beside_one_stuck_on():
    """Fails if what stays dark under the next result is thought to stay lit, or is at random."""
    table = WithEntryKey(
        glow=lambda lit, before: (lit or {"single-1"} & before) | {"total-17"},
    )
    told = {finding.part: finding.fault for finding in found(table)}
    assert told == {("lamp:single-1",): "residue", ("lamp:total-17",): "stuck-on"}


def test_a_lamp_that_stays_under_the_next_result():
    """Fails if a lamp that shows the last two results is said to be lit at random."""
    (finding,) = found(WithEntryKey(glow=lambda lit, before: lit | ({"total-10"} & before)))
    assert (finding.verdict, finding.part) == (Verdict.DUT_FAIL, ("lamp:total-10",))
    assert finding.fault == "residue"


@pytest.mark.parametrize("key", ["3", "enter", "clear"])
def test_a_key_that_takes_every_second_press(key):
    """Fails if the way of an erratic key is followed without the entry key that came after it, or
    if the entry key is thought to do the same each time."""
    findings = explained(EverySecondPress(key), COVER, FACTS)
    parts = {part for finding in findings for part in finding.part}
    assert {f"key:{key}", f"relay:{key}"} <= parts
    assert parts <= {f"{side}:{each}" for side in ("key", "relay") for each in (key, "enter")}


@pytest.mark.parametrize(
    ("handled", "kind"), [("last-three", Shifting), ("error", Erring), ("ignored", WithEntryKey)]
)
def test_a_fourth_key_handled_otherwise_than_required(handled, kind):
    """Fails if lamps are blamed for it, or if how it is handled is not told."""
    table = kind()
    made = [table.enter(n, keys) for n, keys in enumerate([(1, 2, 3), (1, 2, 3, 5), (4, 4, 6, 6)])]
    for required in ("ignored", "last-three", "error"):
        findings = diagnose(made, Layout(), replace(FACTS, fourth_key=required)).findings
        if required == handled:
            assert findings == ()
            continue
        (finding,) = findings
        assert (finding.verdict, finding.part) == (Verdict.DUT_FAIL, ("rule:fourth-key",))
        said = f"a fourth key is handled as '{handled}', required is '{required}'"
        assert finding.what == said


def test_an_entry_forgotten_before_its_entry_key():
    """Fails if a hesitation before the entry key counts for nothing."""
    table = WithEntryKey(forgets_s=0.5)
    entries = [table.enter(i, dice, dice, gap_s=0.13) for i, dice in enumerate(COVER)]
    assert diagnose(entries, Layout(), FACTS).findings == ()
    entries[4] = table.enter(4, COVER[4], COVER[4], gap_s=(0.13, 0.13, 1.2))
    (finding,) = diagnose(entries, Layout(), FACTS).findings
    assert finding.part == ("rule:entry-timeout", "device:keys")
    assert finding.fault == "entry-timeout"
    assert finding.evidence == ("entry:4",)
