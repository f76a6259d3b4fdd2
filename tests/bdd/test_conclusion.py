"""What a book's record on one rig says as a whole."""

from __future__ import annotations

from pathlib import Path

from harness.bdd.benches import limits_of
from harness.bdd.case import Case, Premises
from harness.bdd.collecting import ScenarioFacts
from harness.bdd.conclusion import conclude
from harness.bdd.scenario_run import KeptEntry, ScenarioRun
from harness.diagnosis.diagnose import Diagnosis
from harness.evidence.records import Scenario
from harness.observations import Entry
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig
from harness.rules.books import load_book
from harness.rules.judgement import judge_entry
from harness.verdicts import Verdict

RIG = load_rig(find_rig("emulated-instruments"))
BOOK = load_book("ny-5324.51")


def test_a_press_that_was_not_felt_is_the_actuator_s_and_no_lamp_s():
    """Fails if the finding of an entry that no cause explains names lamps that were not judged."""
    entry = Entry(
        BOOK.id, RIG.name, 1, "entered", None, None, ("1", "1", "2"), (), 0.0, 1.0,
        travelled=("1", "2"),
    )  # fmt: skip
    kept = KeptEntry(entry, judge_entry(entry, BOOK, None, limits_of(RIG)), 7, "id")
    facts = ScenarioFacts("dice", "a die", Path("a.feature"), 1, (), frozenset(), True, {}, None)
    run = ScenarioRun(facts, Scenario("id", "dice", "a die", BOOK.id, RIG.name))
    run.entries.append(kept)
    case = Case((run,), (kept,), {}, 0, 0, {}, {}, ())
    unexplained = Diagnosis((), (Verdict.PASS,))
    (finding,) = conclude(case, unexplained, BOOK, Premises.of(RIG)).findings
    assert (finding.verdict, finding.part) == (Verdict.RIG_FAULT, ("relay:1",))
