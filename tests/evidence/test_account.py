"""What a run planned and its record does not conclude is told, from the record alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.evidence.html import html_page
from harness.evidence.journal_lines import read_records
from harness.evidence.record import RunRecord
from harness.evidence.report_data import gather
from harness.evidence.resume import recorded_results
from harness.evidence.summary import summarise
from harness.verdicts import Verdict

from .synthetic import ALL_RESULTS, BOOK, manifest, scenario, write_result

RIGS = ("left", "right")
DICE = ALL_RESULTS[:3]


@pytest.fixture
def record(tmp_path: Path):
    """A run of one book on two rigs, three results each; nothing is recorded yet."""
    sittings = [{"book": BOOK, "rig": f"rigs/{rig}.toml", "rig_name": rig} for rig in RIGS]
    made = manifest(invocation={"sittings": sittings}).to_json()
    asked = {BOOK: {"checked": len(DICE), "mode": "presented"}}
    with RunRecord.create(tmp_path / "run", made, asked) as opened:
        yield opened


def plan(record: RunRecord, rig: str) -> None:
    record.planned(BOOK, rig, [scenario(dice, rig) for dice in DICE])


def sit(record: RunRecord, rig: str, count: int = len(DICE)) -> None:
    """Record a rig's results, planned before and concluded after."""
    plan(record, rig)
    for index, dice in enumerate(DICE[:count]):
        write_result(record, dice, index, frames=0, rig=rig)
    record.concluded(BOOK, rig)


def end(record: RunRecord) -> dict:
    record.run_finished()
    return summarise(read_records(record.folder.journal))


def test_a_run_that_concludes_all_it_planned_passes(record):
    """Fails if a whole run is called incomplete."""
    for rig in RIGS:
        sit(record, rig)
    summary = end(record)
    assert (summary["verdict"], summary["planned"], summary["inconclusive"]) == ("PASS", 6, [])


def test_a_result_that_one_of_two_rigs_lacks_is_missed(record):
    """Fails if the other rig's record of the same result hides it."""
    sit(record, "left")
    sit(record, "right", 2)
    summary = end(record)
    assert summary["results"][BOOK]["recorded"] == len(DICE)
    assert summary["verdict"] == "RIG_FAULT"
    assert summary["inconclusive"] == [
        "toy on right: 1 of 3 planned scenarios without a conclusion: results.feature:1,1,3@right"
    ]


def test_a_clause_with_a_scenario_left_out_has_not_passed(record):
    """Fails if the clause matrix gives PASS where one of the scenarios planned is missing."""
    sit(record, "left")
    sit(record, "right", 2)
    record.run_finished()
    (book,) = gather(record.folder).books
    rows = {row.tag: row for row in book.clauses}
    assert (rows["toy.a"].verdict, rows["toy.a"].left) == (Verdict.RIG_FAULT, 1)
    assert "planned and not concluded: 1" in html_page(gather(record.folder), record.folder)
    assert (rows["toy.b"].verdict, rows["toy.b"].left) == (None, 0)


def test_a_rig_of_which_nothing_is_recorded_is_missed(record):
    """Fails if a worker that did not come to its plan leaves no trace."""
    sit(record, "left")
    summary = end(record)
    assert summary["verdict"] == "RIG_FAULT"
    assert summary["inconclusive"] == ["toy on right: not begun, nothing of it is recorded"]


def test_results_without_their_conclusion_are_not_enough(record):
    """Fails if a run passes whose diagnosis, or its last findings, were never recorded."""
    sit(record, "left")
    sit(record, "right")
    plan(record, "right")  # taken up again, and not through
    summary = end(record)
    assert summary["verdict"] == "RIG_FAULT"
    assert "was not concluded" in summary["inconclusive"][0]


def test_a_scenario_that_was_to_run_again_is_not_done(record):
    """Fails if an attempt that this host spoilt counts as the scenario's end."""
    sit(record, "left")
    sit(record, "right", 2)
    item = scenario(DICE[2], "right")
    record.scenario_started(item)
    record.scenario_finished(
        item, Verdict.RIG_FAULT, "host lag", started=0.0, ended=1.0, again=True
    )
    recorded = recorded_results(record.folder.journal)
    assert item.id not in recorded.scenarios
    assert recorded.attempts == {item.id: 1}
    summary = end(record)
    assert "1 of 3 planned scenarios" in summary["inconclusive"][0]
    assert (summary["planned"], summary["left"]) == (6, 1)
    report = gather(record.folder)
    assert "1 of 6 planned not concluded" in html_page(report, record.folder)


def test_a_run_said_to_be_complete_that_is_not_can_be_taken_up(record):
    """Fails if the word `complete` in the record outweighs what is missing from it."""
    sit(record, "left")
    record.run_finished(complete=True)
    record.folder.seal.write_text("{}")
    record.close()
    with RunRecord.resume(record.folder.path) as again:
        assert again.not_concluded() == ["toy on right: not begun, nothing of it is recorded"]
