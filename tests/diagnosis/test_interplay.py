"""Lamps that depend on others: every way, for every state of the two."""

from __future__ import annotations

import pytest

from harness.diagnosis.areamask import AreaMask
from harness.diagnosis.interplay import interplay, sagging
from harness.diagnosis.lamp_causes import lamp_causes

AREAS = AreaMask(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"])
A, B = AREAS.bit("a"), AREAS.bit("b")
STATES = (0, A, B, A | B)

WAYS = {
    "a and b are always equal: both light when either should": (0, A | B, A | B, A | B),
    "a and b are always equal: both light when both should": (0, 0, 0, A | B),
    "a lights also with b": (0, A, A | B, A | B),
    "a lights only together with b": (0, 0, B, A | B),
    "a lights except with b": (0, A, B, B),
    "a lights with b": (0, 0, A | B, A | B),
}


def by_sentence(causes):
    return {cause.what: cause for cause in causes}


@pytest.mark.parametrize("said", WAYS)
def test_a_lamp_that_depends_on_another(said):
    """Fails if a way of depending shows other lamps than it says, or touches a third."""
    cause = by_sentence(interplay(AREAS, "a"))[said]
    rest = AREAS.mask(["d", "k"])
    for mask, shown in zip(STATES, WAYS[said], strict=True):
        for now in (True, False):
            assert cause.lamp(mask, A | B, now) == shown, (said, mask)
            assert cause.lamp(mask | rest, 0, now) == shown | rest


def test_what_is_answerable_for_a_dependence():
    """Fails if a map acquits our input where it may fail at times, or does not elsewhere."""
    causes = by_sentence(interplay(AREAS, "a"))
    for said in WAYS:
        cause = causes[said]
        lamps = ("lamp:a", "lamp:b") if "equal" in said else ("lamp:a",)
        assert cause.part == lamps
        assert cause.rig_part == tuple(part.replace("lamp", "input") for part in lamps)
        dark = "only together" in said or "except" in said
        assert cause.excluded_by == (("paths",) if dark else ("map", "paths"))
        assert cause.fault == ("bridged" if "equal" in said else "miswired")


def test_a_lamp_never_depends_on_itself():
    """Fails if a lamp is said to light with itself, or if another lamp is left out."""
    said = by_sentence(interplay(AREAS, "a"))
    assert "a lights with a" not in said
    assert {f"a lights with {area}" for area in AREAS.areas if area != "a"} <= said.keys()


@pytest.mark.parametrize("load", range(4, 11))
def test_lamps_under_load(load):
    """Fails if a lamp goes dark under less than its load, or stays lit under it."""
    said = f"a lights but not where {load} areas or more should"
    one = by_sentence(interplay(AREAS, "a"))[said]
    told = f"no lamp lights where {load} areas or more should: their supply gives way"
    every = by_sentence(sagging())[told]
    assert (every.part, every.rig_part, every.fault) == (("lamps",), ("inputs",), "sags")
    for count in range(1, 12):
        mask = AREAS.mask(AREAS.areas[:count])
        assert one.lamp(mask, 0, True) == (mask & ~A if count >= load else mask)
        assert every.lamp(mask, 0, True) == (0 if count >= load else mask)
    assert len(list(sagging())) == 7


PAIRED = {
    "a and b are exchanged: each lights when the other should": (0, B, A, A | B),
    "a and b are always equal: both light when either should": (0, A | B, A | B, A | B),
    "a and b are always equal: both light when both should": (0, 0, 0, A | B),
    "b follows a": (0, A | B, 0, A | B),
    "a follows b": (0, 0, A | B, A | B),
    "b lights where a should": (0, B, B, B),
    "a lights where b should": (0, A, A, A),
    "a never lights: its lamp, its driver or our input": (0, 0, B, B),
    "a is lit always, for losing results and after clear": (A, A, A | B, A | B),
    "a is dark where it should be lit and lit where it should be dark": (A, 0, A | B, B),
    "none of a, b lights: one common line is open": (0, 0, 0, 0),
    "all of a, b are lit always: one common line is live": (A | B, A | B, A | B, A | B),
}


def test_faults_of_one_and_of_two_lamps():
    """Fails if a fault shows other lamps than it says, or touches a third."""
    never = ["a"]
    causes = by_sentence(lamp_causes(AREAS, ["a", "b"], never, {"twins": ["a", "b"]}))
    rest = AREAS.bit("k")
    for said, shown in PAIRED.items():
        for mask, out in zip(STATES, shown, strict=True):
            assert causes[said].lamp(mask, 0, True) == out, (said, mask)
            assert causes[said].lamp(mask | rest, 0, True) == out | rest, (said, mask)
    dark = causes["no lamp lights at all: lamp supply, its common, or our whole sense path"]
    assert dark.lamp(AREAS.all, 0, True) == 0
    assert (dark.part, dark.rig_part, dark.excluded_by) == (("lamps",), ("inputs",), ("paths",))


def test_what_acquits_our_side_of_each_fault_of_lamps():
    """Fails if a map acquits an input that may be dead, or does not acquit a wire in its place."""
    for cause in lamp_causes(AREAS, ["a", "b"], ["a"], {"twins": ["a", "b"]}):
        by_paths_alone = cause.fault in ("dead", "all-dark")
        assert cause.excluded_by == (("paths",) if by_paths_alone else ("map", "paths"))
        assert cause.rig_part
        assert all(part.startswith("input") for part in cause.rig_part)


def test_residue_shows_after_the_clear_or_under_the_next_result():
    """Fails if what stays is not what the last result lit."""
    after, under = (
        cause
        for cause in lamp_causes(AREAS, ["a"], [], {})
        if cause.what == "a stays lit after the clear of a result that lit it"
    )
    assert [after.lamp(0, A, now) for now in (False, True)] == [A, 0]
    assert [under.lamp(0, A, now) for now in (False, True)] == [A, A]
    assert [after.lamp(0, B, now) for now in (False, True)] == [0, 0]
