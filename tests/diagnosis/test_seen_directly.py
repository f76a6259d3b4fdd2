"""What entries say without any search: links, cameras, unsteady, dim and late lamps."""

from __future__ import annotations

from dataclasses import replace

from harness.diagnosis import RigFacts, diagnose
from harness.observations import DiceSeen, StagedSample
from tests.diagnosis.broken_table import Layout, Table, sweep, winners

RESULTS = [(1, 2, 3), (2, 2, 6), (3, 3, 4), (5, 6, 6)]
FACTS = RigFacts(
    map_verified=True,
    lamp_channels={"total-6": "inputs:3", "small": "inputs:0", "big": "boxes:1"},
    lamp_level_min=0.8,
    dark_level_max=0.2,
    level_uncertainty=0.04,
    settle_s=0.1,
)


def entries():
    return sweep(Table(), RESULTS)


def told(made, facts=FACTS):
    diagnosis = diagnose(made, Layout(), facts)
    return [
        (f.verdict.value, f.part, f.fault, f.what, f.evidence, f.results)
        for f in diagnosis.findings
    ], [verdict.value for verdict in diagnosis.verdicts]


def at_lit(entry, **changes):
    """Give the entry with its lit samples changed."""
    lamps = tuple(
        StagedSample(s.stage, replace(s.sample, **changes)) if s.stage == "lit" else s
        for s in entry.lamps
    )
    return replace(entry, lamps=lamps)


def test_a_fault_of_a_link_takes_its_entry_out():
    """Fails if an entry with a failed link is judged, or if the error's words are lost."""
    made = entries()
    fault = {
        "subject": "inputs",
        "error": "NoReplyError",
        "expected": "a reply",
        "found": "silence",
        "remedy": "check the line",
    }
    wrong = at_lit(made[1], lit=frozenset())
    made[1] = replace(wrong, faults=(fault,))
    made[3] = replace(made[3], faults=(fault | {"found": "noise", "fault": "no-reply"},))
    assert told(made) == (
        [
            (
                "RIG_FAULT",
                ("device:inputs",),
                "NoReplyError",
                "expected a reply, found silence; check the line",
                ("entry:1", "entry:3"),
                (),
            )
        ],
        ["PASS", "RIG_FAULT", "PASS", "RIG_FAULT"],
    )
    made[1] = replace(wrong, faults=(fault | {"subject": "relay:1", "fault": "welded"},))
    made[3] = entries()[3]
    ((_, part, word, *_),), _ = told(made)
    assert (part, word) == (("relay:1",), "welded")


def test_what_could_not_be_sensed_is_unknown():
    """Fails if an area that could not be sensed counts as dark, or its device is not named."""
    made = entries()
    lit = frozenset(winners((1, 2, 3))) - {"total-6", "small"}
    made[0] = at_lit(made[0], lit=lit, unknown=frozenset({"total-6", "small"}))
    made[3] = at_lit(made[3], unknown=frozenset({"big"}))
    assert told(made) == (
        [
            (
                "RIG_FAULT",
                ("device:inputs",),
                "not-sensed",
                "small, total-6 could not be sensed: unknown, not dark",
                ("entry:0",),
                (),
            ),
            (
                "RIG_FAULT",
                ("device:boxes",),
                "not-sensed",
                "big could not be sensed: unknown, not dark",
                ("entry:3",),
                (),
            ),
        ],
        ["RIG_FAULT", "PASS", "PASS", "RIG_FAULT"],
    )


def test_lamps_whose_channels_are_not_told_are_on_the_inputs():
    made = entries()
    made[1] = at_lit(made[1], unknown=frozenset({"total-9"}))
    assert told(made, replace(FACTS, lamp_channels={}))[0][0][:3] == (
        "RIG_FAULT",
        ("device:inputs",),
        "not-sensed",
    )


def test_unsteady_and_split_lamps_are_the_tables():
    """Fails if a lamp that changes, or lamps of one area that disagree, pass."""
    made = entries()
    made[0] = at_lit(made[0], flicker=frozenset({"small"}))
    made[2] = at_lit(
        made[2], lit=frozenset(winners((3, 3, 4))) - {"double-3"}, split=frozenset({"double-3"})
    )
    assert told(made) == (
        [
            (
                "DUT_FAIL",
                ("lamp:small",),
                "flicker",
                "small does not stay as it is: it flickers, or changes while no key is pressed",
                ("entry:0",),
                (),
            ),
            (
                "DUT_FAIL",
                ("lamp:double-3",),
                "split",
                "double-3 has lamps that disagree",
                ("entry:2",),
                (),
            ),
        ],
        ["DUT_FAIL", "PASS", "DUT_FAIL", "PASS"],
    )


def test_lamps_that_are_all_unsteady_are_one_finding():
    """Fails if a supply that gives way is told lamp by lamp, or hides one lamp of its own."""
    made = entries()
    for i in (0, 1):
        lit = at_lit(made[i]).lit("lit")
        made[i] = at_lit(made[i], lit=frozenset(), flicker=lit)
    made[2] = at_lit(made[2], flicker=frozenset({"small"}))
    found, verdicts = told(made)
    assert [(*finding[:3], finding[4]) for finding in found] == [
        ("DUT_FAIL", ("lamp:small",), "flicker", ("entry:2",)),
        ("DUT_FAIL", ("lamps",), "flicker", ("entry:0", "entry:1")),
    ]
    assert verdicts == ["DUT_FAIL", "DUT_FAIL", "DUT_FAIL", "PASS"]


def level(value):
    made = entries()
    levels = dict.fromkeys(winners((1, 2, 3)), 1.0) | {"total-6": value}
    lit = frozenset(area for area, each in levels.items() if each > 0.5)
    made[0] = at_lit(made[0], lit=lit | {"total-6"}, levels=levels)
    return told(made)


def test_levels_against_their_limits():
    """Fails if a dim lamp passes, if the uncertainty is left out, or if a good one is held dim."""
    words = "total-6 gives {} of a good lamp, at least 0.8 required (+/- 0.04)"
    assert level(0.5) == (
        [
            (
                "DUT_FAIL",
                ("lamp:total-6",),
                "dim",
                words.format("0.50"),
                ("entry:0",),
                (),
            )
        ],
        ["DUT_FAIL", "PASS", "PASS", "PASS"],
    )
    for marginal in (0.78, 0.8, 0.82):
        (found,), verdicts = level(marginal)
        assert found[0] == "AMBIGUOUS"
        assert found[3] == "marginal: " + words.format(f"{marginal:.2f}")
        assert found[4] == ("entry:0",)
        assert verdicts == ["AMBIGUOUS", "PASS", "PASS", "PASS"]
    assert level(0.85) == ([], ["PASS"] * 4)


def test_a_level_just_good_is_no_evidence_of_a_dim_lamp():
    """Fails if an entry in which the lamp passed is held against it."""
    made = sweep(Table(), [(1, 2, 3), (1, 1, 4), (2, 2, 2)])
    for i, level in ((0, 0.8125), (1, 0.5)):
        lit = made[i].lit("lit")
        made[i] = at_lit(made[i], levels=dict.fromkeys(lit, 1.0) | {"total-6": level})
    facts = replace(FACTS, lamp_level_min=0.75, level_uncertainty=0.0625)
    (found,), verdicts = told(made, facts)
    assert (found[1], found[2], found[4]) == (("lamp:total-6",), "dim", ("entry:1",))
    assert verdicts == ["PASS", "DUT_FAIL", "PASS"]


def test_a_level_between_dark_and_good_says_nothing_of_lit_or_dark():
    """Fails if a dim lamp is called dead or stuck on as well; at its limit a level counts."""
    made = entries()
    levels = dict.fromkeys(winners((1, 2, 3)), 1.0)
    without = frozenset(winners((1, 2, 3))) - {"total-6"}
    made[0] = at_lit(made[0], lit=without, levels=levels | {"total-6": 0.5})
    assert told(made) == ([], ["PASS"] * 4)
    made[0] = at_lit(made[0], lit=without, levels=levels | {"total-6": 0.2})
    (found,), _ = told(made)
    assert found[:2] == ("AMBIGUOUS", ("lamp:total-6", "input:total-6", "rule:total-6"))
    made[0] = at_lit(made[0], lit=without, levels=levels | {"total-6": 0.8})
    (found, *_), _ = told(made)
    assert found[1] == ("lamp:total-6", "input:total-6", "rule:total-6")


def test_without_limits_a_level_says_nothing_against_what_was_sensed():
    """Fails if a lamp sensed dark is passed over because its level lies between none and all."""
    made = entries()
    levels = dict.fromkeys(winners((1, 2, 3)), 1.0) | {"total-6": 0.5}
    made[0] = at_lit(made[0], lit=frozenset(winners((1, 2, 3))) - {"total-6"}, levels=levels)
    (found,), verdicts = told(made, RigFacts(map_verified=True))
    assert found[:2] == ("AMBIGUOUS", ("lamp:total-6", "input:total-6", "rule:total-6"))
    assert verdicts == ["AMBIGUOUS", "PASS", "PASS", "PASS"]


def test_lamps_late_because_a_key_was_not_taken_are_no_finding_of_their_own():
    """Fails if lamps are called late whose entry never came."""
    dead = Table(wire=lambda key: [] if key == "6" else [key])
    made = [
        replace(entry, late=frozenset(winners(entry.shown)), settle_s=0.5)
        if "6" in entry.keyed
        else entry
        for entry in sweep(dead, [*RESULTS, (1, 1, 6), (4, 5, 5)])
    ]
    found, verdicts = told(made)
    assert found
    assert {each[2] for each in found} == {"dead"}
    assert verdicts[0] == verdicts[2] == verdicts[5] == "PASS"


def test_entries_without_a_look_before_them_are_judged_by_the_others():
    """Fails if the lamps must have been sensed before the first key."""
    table = Table(glow=lambda lit, _: lit | {"total-17"})
    made = [
        replace(entry, lamps=tuple(s for s in entry.lamps if s.stage in ("lit", "cleared")))
        for entry in sweep(table, RESULTS)
    ]
    assert [each[:3] for each in told(made)[0]] == [
        ("DUT_FAIL", ("lamp:total-17",), "stuck-on"),
    ]
    sound = [replace(entry, lamps=entry.lamps[-2:]) for entry in entries()]
    assert told(sound) == ([], ["PASS"] * 4)


def test_late_lamps():
    """Fails if lamps late together are told apart, or a whole result late is not told as such."""
    made = entries()
    made[0] = replace(made[0], late=frozenset({"total-6", "small"}), settle_s=0.8504)
    made[3] = replace(made[3], late=frozenset(winners((5, 6, 6))), settle_s=0.9204)
    found, verdicts = told(made)
    assert sorted(found) == [
        (
            "DUT_FAIL",
            ("lamp:small", "lamp:total-6"),
            "late",
            "small, total-6 not settled 850 ms after the last key, limit 100 ms",
            ("entry:0",),
            ("1,2,3",),
        ),
        (
            "DUT_FAIL",
            ("lamps",),
            "late",
            f"{', '.join(sorted(winners((5, 6, 6))))} not settled 920 ms after the last key, "
            "limit 100 ms",
            ("entry:3",),
            ("5,6,6",),
        ),
    ]
    assert verdicts == ["DUT_FAIL", "PASS", "PASS", "DUT_FAIL"]
    made[0] = replace(made[0], late=frozenset(winners((1, 2, 3))))
    (both,), _ = told(made)  # whole results late are one cause, whatever they light
    assert both[1] == ("lamps",)
    assert both[5] == ("1,2,3", "5,6,6")
    no_limit = replace(FACTS, settle_s=None)
    assert all("limit" not in each[3] for each in told(made, no_limit)[0])


def test_dice_and_pictures_that_were_not_read():
    """Fails if how dice lie is called the camera's fault, or a bad picture the dice's."""
    made = entries()
    made[1] = replace(made[1], seen=DiceSeen((), "leaning", 0.9))
    made[2] = replace(made[2], seen=DiceSeen((), "dark", 0.9))
    assert told(made) == (
        [
            (
                "NO_RESULT",
                ("dice",),
                "leaning",
                "the dice were not read: leaning",
                ("entry:1",),
                (),
            ),
            (
                "RIG_FAULT",
                ("camera:dice",),
                "dark",
                "the dice were not read: dark",
                ("entry:2",),
                (),
            ),
        ],
        ["PASS", "NO_RESULT", "RIG_FAULT", "PASS"],
    )


def test_pictures_that_disagree_of_dice_that_lean_are_no_fault_of_the_camera():
    """Fails if the camera is blamed for dice astray, or acquitted where none are."""
    made = entries()
    made[1] = replace(made[1], seen=DiceSeen((), "disagreement", 0.9))
    assert [each[:3] for each in told(made)[0]] == [("RIG_FAULT", ("camera:dice",), "disagreement")]
    made[2] = replace(made[2], seen=DiceSeen((), "leaning", 0.9))
    assert [each[:3] for each in told(made)[0]] == [
        ("NO_RESULT", ("dice",), "disagreement"),
        ("NO_RESULT", ("dice",), "leaning"),
    ]
    assert told(made)[1] == ["PASS", "NO_RESULT", "NO_RESULT", "PASS"]


def test_dice_read_otherwise_than_laid():
    """Fails if the camera is convicted where dice do not lie as laid, or acquitted."""
    made = entries()
    made[1] = replace(made[1], seen=DiceSeen((2, 3, 6), None, 1.0), mode="entered")
    words = "dice set to 2,2,6 were read as 2,3,6"
    assert told(made)[0] == [("RIG_FAULT", ("camera:dice",), "misread", words, ("entry:1",), ())]
    made[3] = replace(made[3], seen=DiceSeen((), "extra", 0.9))
    assert told(made)[0][1] == (
        "AMBIGUOUS",
        ("camera:dice", "dice"),
        "misread",
        words,
        ("entry:1",),
        (),
    )


def test_keys_driven_for_other_values_than_were_read():
    """Fails if a slip of the hand is not the dealer's, or if a result as read is one."""
    made = entries()
    made[0] = replace(Table().enter(0, (1, 2, 4), (1, 2, 3)), seen=DiceSeen((1, 2, 3), None, 1.0))
    assert told(made) == (
        [
            (
                "PROCEDURE_FAIL",
                ("dealer",),
                "wrong-entry",
                "1,2,4 was entered while the dice showed 1,2,3",
                ("entry:0",),
                ("1,2,3",),
            )
        ],
        ["PROCEDURE_FAIL", "PASS", "PASS", "PASS"],
    )


def test_a_hurried_look_may_show_the_state_before():
    """Fails if lamps that had not yet followed the key just pressed are held against the table."""
    made = entries()
    late = tuple(
        StagedSample(s.stage, replace(s.sample, lit=frozenset(winners((5, 5, 5)))))
        if s.stage in ("before", "after-1")
        else s
        for s in made[0].lamps
    )
    table = Table()
    for key in "555":
        table.press(key)
    without_clear = replace(FACTS, clear="unspecified")
    made = [replace(made[0], lamps=late, cleared_by_key=False)]
    made = [replace(e, lamps=tuple(s for s in e.lamps if s.stage != "cleared")) for e in made]
    assert told(made, without_clear) == ([], ["PASS"])
    later = tuple(
        StagedSample(s.stage, replace(s.sample, lit=frozenset(winners((5, 5, 5)))))
        if s.stage == "after-2"
        else s
        for s in made[0].lamps
    )
    assert told([replace(made[0], lamps=later)], without_clear)[0]
