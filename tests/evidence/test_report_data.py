"""What the reports are made from: clauses judged each by itself, cameras by their names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.evidence.finish import finish_run
from harness.evidence.journal_lines import read_records
from harness.evidence.manifest import BookFacts
from harness.evidence.record import RunRecord
from harness.evidence.records import KeptFrame
from harness.evidence.report_data import gather
from harness.evidence.run_folder import RunFolder
from harness.evidence.verify import verify_run
from harness.observations import CameraReading, DiceSeen
from harness.rig.wire import Passed
from harness.rules.judgement import judge_entry
from harness.verdicts import Verdict
from tests.evidence.synthetic import (
    BOOK,
    RIG,
    ToyBook,
    entry,
    jpeg,
    manifest,
    scenario,
)

TAGS = ("toy.single", "toy.total", "toy.lamps")
AREAS = [f"single-{n}" for n in range(1, 7)] + [f"total-{n}" for n in range(3, 19)]
FACTS = BookFacts(
    BOOK,
    "Toy rules",
    "nowhere",
    "1st",
    "2026-01-01",
    "1" * 64,
    clauses=[{"tag": tag, "clause": tag, "testable": "yes", "says": tag} for tag in TAGS],
    areas=AREAS,
    area_clauses={area: "toy." + area.partition("-")[0] for area in AREAS},
)
CHECK = {
    "verdict": "PASS",
    "what": "",
    "part": [],
    "fault": "",
    "clauses": [],
    "depends_on": [],
    "by_camera": False,
    "entry": None,
}
CALIBRATIONS = {
    RIG: {"overhead": {"made": "2026-11-01", "sha256": "a" * 64, "contents": {}}},
}


def run(path, lit, *, checks=({**CHECK},), verdict=Verdict.DUT_FAIL):
    """One result whose scenario carries every clause; `lit` instead of the winning areas."""
    dice = (1, 1, 2)
    item = replace(scenario(dice), clauses=TAGS)
    both = (
        CameraReading("overhead", (1, 1, 2), None, 0.99),
        CameraReading("oblique", (), "glare", 0.5),
    )
    made = replace(
        entry(dice, 1, lit), seen=DiceSeen((), "disagreement", 0.5, cameras=both), mode="entered"
    )
    judged = judge_entry(replace(made, seen=None, shown=None), ToyBook())
    facts = manifest(books=[FACTS]).to_json() | {"calibrations": CALIBRATIONS}
    with RunRecord.create(path, facts, {}) as record:
        for camera in ("overhead", "oblique"):
            record.rig_fact(RIG, "calibration", f"camera:{camera}", "as the manifest says")
        record.scenario_started(item)
        frames = [KeptFrame(jpeg(n), 1.0 + n, camera=c.camera) for n, c in enumerate(both)]
        record.entry(made, judged, scenario=item.id, frames=frames)
        record.scenario_finished(
            item,
            verdict,
            judged.what,
            started=0,
            ended=1,
            results={"1,1,2": verdict},
            mode="entered",
            checks=checks,
        )
        record.run_finished()
    finish_run(RunFolder(path))
    return gather(RunFolder(path))


def verdicts(report):
    return {row.tag: row.verdict for row in report.books[0].clauses}


def test_a_clause_of_areas_that_were_right_is_not_breached_by_others(tmp_path):
    """Fails if a wrong total is held against the clause that says when a single wins."""
    report = run(tmp_path / "run", frozenset({"single-1", "single-2", "total-9"}))
    assert verdicts(report) == {
        "toy.single": Verdict.PASS,
        "toy.total": Verdict.DUT_FAIL,
        "toy.lamps": Verdict.DUT_FAIL,
    }


@pytest.mark.parametrize(
    "how",
    [
        {"checks": ({**CHECK, "verdict": "DUT_FAIL"},)},
        {"checks": ({**CHECK, "verdict": "PENDING"},)},
        {"verdict": Verdict.RIG_FAULT},
    ],
    ids=["something else failed, too", "a ruling is missing", "the rig was at fault"],
)
def test_no_clause_passes_in_a_scenario_that_failed_otherwise(tmp_path, how):
    """Fails if a clause is said to be kept by what was not judged for it."""
    lit = frozenset({"single-1", "single-2", "total-9"})
    assert Verdict.PASS not in verdicts(run(tmp_path / "run", lit, **how)).values()


def test_each_camera_is_named_with_what_it_read_and_its_calibration(tmp_path):
    report = run(tmp_path / "run", None, verdict=Verdict.PASS)
    (view,) = report.results
    assert view.each_saw == (("overhead", "1,1,2"), ("oblique", "refused: glare"))
    assert view.cameras == ("overhead", "oblique")
    told = {(one.camera, one.made, one.sha256) for one in report.calibrations}
    assert told == {("overhead", "2026-11-01", "a" * 64), ("oblique", None, None)}
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "Camera oblique: refused: glare" in page
    assert "picture 2, oblique" in page
    messages = (tmp_path / "run" / "messages.ndjson").read_text("utf-8")
    assert "camera oblique: glare" in messages
    assert "# camera oblique\\nframes/" in messages
    row = page[page.index(f'<th scope="row">{RIG}/oblique') :].partition("</tr>")[0]
    assert row.count("missing") >= 2


def test_what_passed_on_the_wires_stands_with_its_result(tmp_path):
    """Fails if an exchange is lost, put to another result, or a poll floods the page."""
    path = tmp_path / "run"
    with RunRecord.create(path, manifest(books=[FACTS]).to_json(), {}) as record:
        told = record.record_wire(RIG)
        for index, dice in enumerate(((1, 1, 2), (6, 6, 6)), start=1):
            told(Passed(99.0, "hand", True, b"between scenarios"))
            item, made = scenario(dice), entry(dice, index)
            record.scenario_started(item)
            told(Passed(100.0, "keys", True, bytes([1, 5, index])))
            told(Passed(100.1, "keys", False, b"\x01"))
            told(Passed(100.101, "keys", False, b"\x05"))
            for n in range(50):
                told(Passed(100.2 + n, "inputs", True, b"\x02"))
                told(Passed(100.3 + n, "inputs", False, b"\x00"))
            record.entry(made, judge_entry(made, ToyBook()), scenario=item.id)
            record.scenario_finished(item, Verdict.PASS, "", started=0, ended=1)
        told(Passed(300.0, "keys", True, b"\xff"))
        record.run_finished()
    finish_run(RunFolder(path))
    first, second = gather(RunFolder(path)).results
    assert [(one.device, one.sent, one.received, one.times) for one in first.wire] == [
        ("keys", "01 05 01", "01 05", 1),
        ("inputs", "02", "00", 50),
    ]
    assert second.wire[0].sent == "01 05 02"
    assert "51 exchanges" in (path / "report.html").read_text("utf-8")
    journal = read_records(path / "journal.jsonl")
    assert [r.body["passed"][-1][3] for r in journal if r.kind == "wire"][-1] == "ff"
    assert verify_run(path).intact
