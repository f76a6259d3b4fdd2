"""The negative control: one deliberate mismatch, judged by hand-made observations."""

from __future__ import annotations

import pytest

from harness.dealing.selfcheck import CONTROL_DICE, CONTROL_KEYED, Proof, control_proof
from harness.observations import Dice, DiceSeen, Entry, LampSample, StagedSample
from harness.rules.books import load_book
from harness.rules.judgement import Limits

BOOK = load_book("ny-5324.51")
LIMITS = Limits(settle_s=0.1, map_verified=True)


def control(
    shown_by_lamps: Dice | None, seen: DiceSeen | None, travelled: tuple[str, ...] | None = None
) -> Proof:
    """Judge the control of a table whose lamps show some result, or nothing."""
    lit = frozenset[str]() if shown_by_lamps is None else BOOK.winning_areas(shown_by_lamps)
    stages = (("before", frozenset[str]()), ("lit", lit), ("cleared", frozenset[str]()))
    entry = Entry(
        book=BOOK.id,
        rig="bench",
        index=0,
        mode="entered" if seen is None else "presented",
        shown=CONTROL_DICE,
        seen=seen,
        keyed=tuple(map(str, CONTROL_KEYED)),
        lamps=tuple(
            StagedSample(stage, LampSample(float(at), "inputs", areas))  # type: ignore[arg-type]
            for at, (stage, areas) in enumerate(stages)
        ),
        started=0.0,
        ended=3.0,
        settle_s=0.02,
        travelled=travelled,
        echoed=travelled and travelled[:3],
    )
    return control_proof(entry, BOOK, BOOK.in_force(), LIMITS)


READ = DiceSeen(CONTROL_DICE, None, 0.99)


@pytest.mark.parametrize("seen", [READ, None], ids=["dice read", "no dice"])
@pytest.mark.parametrize(
    "shown",
    [CONTROL_KEYED, CONTROL_DICE, (1, 1, 1), None],
    ids=["sound", "exchanged", "other", "dark"],
)
def test_mismatch_is_caught_whatever_the_table_makes_of_it(shown, seen):
    """Fails if a table that exchanges just the control's keys is taken for a blind harness."""
    assert control(shown, seen).held


def test_mismatch_is_caught_where_keys_are_sensed_and_the_terminal_shows_its_entry():
    """Fails if what was sensed of the keys stands in for the lamps."""
    assert control(CONTROL_KEYED, READ, (*map(str, CONTROL_KEYED), "clear")).held


def test_dice_without_a_reading_leave_it_to_the_lamps_and_that_is_said():
    """Fails if a refusal of the reader is told as a mismatch caught by the dice."""
    proof = control(CONTROL_KEYED, DiceSeen((), "leaning", 0.4))
    assert proof.held
    assert "by the lamps alone" in proof.what


def test_comparison_that_passes_anything_is_not_believed(monkeypatch):
    """Fails if a harness that calls every entry good may judge a table."""
    from harness.dealing import selfcheck
    from harness.rules.judgement import Judgement
    from harness.verdicts import Verdict

    good = Judgement(Verdict.PASS, "lit exactly the winning areas")
    monkeypatch.setattr(selfcheck, "judge_entry", lambda *_: good)
    proof = control(CONTROL_KEYED, READ)
    assert not proof.held
    assert proof.fault == "negative-control-missed"
