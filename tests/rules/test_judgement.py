"""What one entry alone says. Each case states what was sensed and who may be blamed for it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.observations import DiceSeen, Entry, LampSample, StagedSample
from harness.rules.judgement import Judgement, Limits, judge_entry, read_limits
from harness.verdicts import Verdict

VERIFIED = Limits(map_verified=True)
DICE = (1, 2, 4)
RIGHT = frozenset({"single-1", "single-2", "single-4", "total-7"})


class Singles:
    """Singles and totals only."""

    def winning_areas(self, dice, options=None):
        del options
        return frozenset({*(f"single-{face}" for face in dice), f"total-{sum(dice)}"})


def staged(stage, lit=frozenset(), path="inputs", **more):
    return StagedSample(stage, LampSample(0.0, path, frozenset(lit), **more))


def made(*lamps, **changes):
    entry = Entry(
        book="b",
        rig="r",
        index=1,
        mode="presented",
        shown=DICE,
        seen=DiceSeen((1, 2, 4), None, 0.99),
        keyed=("1", "2", "4"),
        lamps=lamps
        or (
            staged("before"),
            staged("after-1"),
            staged("after-2"),
            staged("lit", RIGHT),
            staged("cleared"),
        ),
        started=0.0,
        ended=1.0,
    )
    return replace(entry, **changes)


def judge(entry, limits=VERIFIED):
    return judge_entry(entry, Singles(), None, limits)


def at_lit(lit, cleared=frozenset(), **more):
    return made(staged("lit", lit, **more), staged("cleared", cleared))


def test_exactly_the_winning_areas_pass():
    judgement = judge(made())
    assert judgement.verdict is Verdict.PASS
    assert (judgement.judged, judgement.expected) == (DICE, RIGHT)


def test_a_dark_lamp_over_one_path_may_be_our_input():
    judgement = judge(at_lit(RIGHT - {"total-7"}))
    assert judgement.verdict is Verdict.AMBIGUOUS
    assert judgement.missing == {"total-7"}


def test_a_dark_lamp_over_two_paths_is_the_table_s():
    lamps = [staged("lit", RIGHT - {"total-7"}, path) for path in ("inputs", "layout-camera")]
    judgement = judge(made(*lamps, staged("cleared")))
    assert judgement.verdict is Verdict.DUT_FAIL
    assert judgement.missing == {"total-7"}


def test_a_dark_lamp_that_the_other_path_could_not_sense_is_dark_over_one_path():
    """Fails if a path that is offline for an area counts as a witness that it is dark."""
    entry = made(
        staged("lit", RIGHT - {"total-7"}),
        staged("lit", RIGHT - {"total-7"}, path="camera", unknown=frozenset({"total-7"})),
        staged("cleared"),
        staged("cleared", path="camera"),
    )
    judged = judge(entry)
    assert judged.verdict is Verdict.AMBIGUOUS
    assert judged.missing == {"total-7"}


def test_paths_that_disagree_blame_nobody():
    lamps = [staged("lit", RIGHT), staged("lit", RIGHT - {"total-7"}, "layout-camera")]
    judgement = judge(made(*lamps, staged("cleared")))
    assert judgement.verdict is Verdict.AMBIGUOUS
    assert judgement.disputed == {"total-7"}
    assert not judgement.missing


@pytest.mark.parametrize(("verified", "verdict"), [(True, "DUT_FAIL"), (False, "AMBIGUOUS")])
def test_an_extra_lamp_is_the_table_s_only_with_a_verified_map(verified, verdict):
    judgement = judge(at_lit(RIGHT | {"total-8"}), Limits(map_verified=verified))
    assert judgement.verdict == verdict
    assert judgement.extra == {"total-8"}


@pytest.mark.parametrize("stage", ["before", "after-1", "after-2"])
def test_lamps_lit_before_the_entry_is_complete_fail(stage):
    judgement = judge(made(staged(stage, {"single-1"}), staged("lit", RIGHT), staged("cleared")))
    assert judgement.verdict is Verdict.DUT_FAIL
    assert judgement.early == {"single-1"}


def test_lamps_lit_after_clear_fail_where_a_clear_is_demanded():
    entry = at_lit(RIGHT, cleared={"total-7"})
    assert judge(entry).lingering == {"total-7"}
    assert judge(entry).verdict is Verdict.DUT_FAIL
    free = Limits(map_verified=True, clear_required=False)
    assert judge(entry, free).verdict is Verdict.PASS
    before = made(staged("before", {"total-9"}), staged("lit", RIGHT), staged("cleared"))
    assert judge(before, free).verdict is Verdict.PASS


def test_the_last_sample_of_a_stage_counts():
    entry = made(staged("lit", {"single-1"}), staged("lit", RIGHT), staged("cleared"))
    assert judge(entry).verdict is Verdict.PASS


def test_areas_that_nobody_sensed_are_unknown_never_dark():
    judgement = judge(at_lit(RIGHT - {"total-7"}, unknown=frozenset({"total-7"})))
    assert judgement.verdict is Verdict.RIG_FAULT
    assert judgement.unknown == {"total-7"}
    assert not judgement.missing


@pytest.mark.parametrize("dropped", ["lit", "cleared"])
def test_lamps_that_were_not_sensed_never_pass(dropped):
    entry = made()
    lamps = tuple(s for s in entry.lamps if s.stage != dropped)
    assert judge(replace(entry, lamps=lamps)).verdict is Verdict.RIG_FAULT


def test_what_must_have_been_lit_is_told_of_lamps_that_were_not_sensed():
    """Fails if a record of an entry without a look at its lamps leaves out what was expected."""
    judgement = judge(made(staged("before"), staged("cleared")))
    assert judgement == Judgement(Verdict.RIG_FAULT, "no lamps were sensed", DICE, RIGHT)


def test_unsteady_and_late_lamps_fail_whatever_the_map():
    unsteady = at_lit(RIGHT, flicker=frozenset({"total-7"}))
    late = replace(made(), settle_s=0.4)
    assert judge(unsteady, Limits()).verdict is Verdict.DUT_FAIL
    assert judge(late, Limits(settle_s=0.1)).verdict is Verdict.DUT_FAIL
    assert judge(late, Limits(settle_s=0.5)).verdict is Verdict.PASS


def test_lamps_of_one_area_that_disagree_fail():
    assert judge(at_lit(RIGHT, split=frozenset({"total-7"}))).verdict is Verdict.DUT_FAIL


@pytest.mark.parametrize(
    ("reason", "verdict"),
    [
        *((r, "NO_RESULT") for r in ("leaning", "stacked", "missing", "extra", "moving")),
        *((r, "RIG_FAULT") for r in ("blurred", "dark", "glare", "disagreement")),
    ],
)
def test_dice_without_a_reading_are_not_judged_further(reason, verdict):
    entry = replace(made(), seen=DiceSeen((), reason, 0.0), keyed=(), lamps=())
    assert judge(entry).verdict == verdict


def test_a_wrong_key_is_a_person_s_slip_and_the_lamps_are_held_to_what_was_keyed():
    lit = frozenset({"single-1", "single-2", "single-5", "total-8"})
    slip = replace(at_lit(lit), keyed=("1", "2", "5"))
    assert judge(slip).verdict is Verdict.PROCEDURE_FAIL
    assert not judge(slip).missing | judge(slip).extra
    both = replace(at_lit(lit | {"total-9"}), keyed=("1", "2", "5"))
    assert judge(both).verdict is Verdict.PROCEDURE_FAIL
    assert "total-9" in judge(both).what


def test_the_order_of_keys_is_free():
    assert judge(replace(made(), keyed=("4", "1", "2"))).verdict is Verdict.PASS


def test_dice_read_otherwise_than_laid_blame_nobody():
    entry = replace(made(), seen=DiceSeen((1, 2, 5), None, 0.9))
    assert judge(entry).verdict is Verdict.AMBIGUOUS


def test_a_terminal_that_shows_other_keys_is_not_a_slip():
    entry = replace(made(), echoed=("1", "2", "5"))
    assert judge(entry).verdict is Verdict.DUT_FAIL
    assert judge(entry, Limits()).verdict is Verdict.AMBIGUOUS


def test_a_key_that_was_driven_and_did_not_go_down_is_our_actuator_s():
    jammed = replace(made(staged("lit"), staged("cleared")), travelled=("2", "4"))
    assert judge(jammed).verdict is Verdict.RIG_FAULT
    assert "1" in judge(jammed).what
    assert judge(replace(made(), travelled=("1", "2", "4"))).verdict is Verdict.PASS


def test_an_area_that_came_right_late_is_named():
    late = replace(made(), late=frozenset({"total-7"}))
    assert judge(late, Limits()).verdict is Verdict.DUT_FAIL
    assert judge(late).late == {"total-7"}
    assert "total-7" in judge(late).what


def test_our_own_error_takes_the_ground_from_everything_else():
    fault = {"subject": "inputs", "expected": "a reply", "found": "none"}
    judgement = judge(replace(at_lit(frozenset()), faults=(fault,)))
    assert judgement.verdict is Verdict.RIG_FAULT
    assert "inputs" in judgement.what


def test_dice_that_no_camera_read_are_only_good_enough_for_entered():
    unread = judge(replace(made(), seen=None))
    assert unread.verdict is Verdict.RIG_FAULT
    assert unread.what == "dice were presented and no camera read them"
    assert judge(replace(made(), seen=None, shown=None, mode="entered")).verdict is Verdict.PASS


AREAS = sorted(RIGHT | {"total-8", "single-3", "single-5"})


@given(lit=st.sets(st.sampled_from(AREAS)), verified=st.booleans())
def test_nothing_but_the_winning_areas_ever_passes(lit, verified):
    judgement = judge(at_lit(frozenset(lit)), Limits(map_verified=verified))
    assert (judgement.verdict is Verdict.PASS) == (lit == RIGHT)
    assert judgement.missing == RIGHT - lit
    assert judgement.extra == lit - RIGHT


@given(
    st.builds(
        Limits,
        settle_s=st.none() | st.floats(0, 10),
        map_verified=st.booleans(),
        clear_required=st.booleans(),
        early_stages=st.sampled_from([(), ("after-1",), ("before", "after-2")]),
    )
)
def test_limits_come_back_from_a_record(limits):
    """Fails if a limit is lost on its way into a record, or stands there under another name."""
    assert list(limits.to_json()) == ["settle_s", "map_verified", "clear_required", "early_stages"]
    assert read_limits(limits.to_json()) == limits


def test_a_record_holds_each_set_of_areas_under_its_own_name():
    """Fails if a report would take one kind of difference for another."""
    kinds = ("expected", "missing", "extra", "unknown", "disputed", "split", "flicker")
    kinds += ("early", "lingering", "late")
    sets = {kind: frozenset({f"area-{kind}", "small"}) for kind in kinds}
    record = Judgement(Verdict.DUT_FAIL, "as said", (1, 2, 4), **sets).to_json()
    assert record == {
        "verdict": "DUT_FAIL",
        "what": "as said",
        "judged": [1, 2, 4],
        **{kind: [f"area-{kind}", "small"] for kind in kinds},
    }


FAULT = {"subject": "inputs", "expected": "a reply", "found": "none"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"echoed": ("1", "2", "5")},
            "keys 1,2,4 were pressed, the terminal shows 1,2,5",
        ),
        ({"echoed": ()}, "keys 1,2,4 were pressed, the terminal shows nothing"),
        ({"travelled": ("2",)}, "keys 1,4 were driven and did not go down"),
        ({"keyed": ("1", "2")}, "1,2 were driven: not one key for each die"),
        ({"keyed": ("1", "2", "7")}, "1,2,7 were driven: not one key for each die"),
        ({"keyed": ()}, "nothing were driven: not one key for each die"),
        (
            {"keyed": ("2", "1", "5")},
            "the dice are 1,2,4, entered were 2,1,5; lamps: dark that must be lit: single-5, "
            "total-8; lit that must be dark: single-4, total-7",
        ),
        (
            {"seen": DiceSeen((1, 2, 5), None, 0.9)},
            "1,2,4 were presented, the camera read 1,2,5: a wrong die, the presenter or the camera",
        ),
        ({"seen": DiceSeen((), "stacked", 0.9)}, "the dice have no reading: stacked"),
        ({"seen": DiceSeen((), "glare", 0.9)}, "the picture cannot be read: glare"),
        ({"seen": None, "mode": "tossed"}, "dice were tossed and no camera read them"),
        ({"faults": (FAULT,)}, "inputs: expected a reply, found none"),
        ({"faults": (FAULT, {}, {})}, "inputs: expected a reply, found none (and 2 more)"),
        ({"faults": ({},)}, "the rig: expected None, found None"),
        ({"late": frozenset({"total-7"})}, "right only after the limit: total-7"),
        ({"settle_s": 0.4}, "lamps settled after 400 ms, limit 100 ms"),
    ],
)
def test_why_an_entry_does_not_pass_is_said(changes, said):
    """Fails if values, keys or areas are left out of the sentence, or told for each other."""
    entry = replace(made(), **changes)
    assert judge(entry, Limits(map_verified=True, settle_s=0.1)).what == said


def test_what_was_seen_is_said_in_full():
    """Fails if a kind of difference, or an area of it, is left out of the sentence."""
    entry = made(
        staged("before", {"total-3"}),
        staged("lit", {"single-1", "total-8"}, flicker=frozenset({"single-1"})),
        staged("cleared", {"total-8"}),
    )
    assert judge(entry).what == (
        "dark that must be lit: single-2, single-4, total-7; lit that must be dark: total-8; "
        "unsteady: single-1; lit before the entry was complete: total-3; lit after clear: total-8"
    )
    unknown = frozenset({"single-2"})
    entry = made(
        staged("lit", RIGHT - {"single-2", "total-7"}, unknown=unknown),
        staged("lit", RIGHT - {"single-2"}, path="layout", unknown=unknown),
    )
    assert judge(entry).what == (
        "not sensed: single-2; two sense paths disagree on: total-7; "
        "the lamps were not sensed after clear"
    )
    assert judge(at_lit(RIGHT, split=frozenset({"single-4"}))).what == (
        "lamps of one area disagree: single-4"
    )
    assert judge(made()).what == "lit exactly the winning areas"
