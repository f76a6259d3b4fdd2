"""The run folder, what a broken-off run leaves, and the summary and JUnit made from the record."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import MISSING, fields, replace

import pytest

from harness.evidence.errors import (
    FolderInUseError,
    UnreadableRecordError,
    UnwritableFolderError,
)
from harness.evidence.finish import finish_run
from harness.evidence.journal_lines import check_lines, read_records
from harness.evidence.record import RunRecord
from harness.evidence.records import KeptFrame, Scenario, entry_body, outside, read_entry
from harness.evidence.resume import diagnosed_entries, recorded_results
from harness.evidence.run_folder import RunFolder
from harness.evidence.run_lock import RunAtWorkError
from harness.evidence.summary import outcomes, summarise
from harness.evidence.verify import verify_run
from harness.observations import Entry, LampSample
from harness.rules.judgement import judge_entry
from harness.verdicts import ConfigurationError, Finding, Measurement, Verdict
from tests.evidence.synthetic import (
    ALL_RESULTS,
    BOOK,
    RIG,
    ToyBook,
    entry,
    jpeg,
    make_run,
    manifest,
    scenario,
    write_result,
)


def summary_of(path):
    return summarise(read_records(path / "journal.jsonl"))


def test_a_folder_with_anything_in_it_is_refused(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x").write_text("mine")
    with pytest.raises(FolderInUseError) as refused:
        RunRecord.create(tmp_path / "out", manifest().to_json(), {})
    assert refused.value.exit_status == 2
    assert [p.name for p in tmp_path.rglob("*")] == ["out", "x"]


def test_a_new_or_empty_folder_is_taken(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("empty", "deep/er/new"):
        RunRecord.create(tmp_path / name, manifest().to_json(), {}).close()
        assert (tmp_path / name / "manifest.json").is_file()
    assert not list(tmp_path.rglob("*.part"))


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(UnwritableFolderError, match="can be written"):
        RunRecord.create(tmp_path / "file" / "run", manifest().to_json(), {})


def test_an_entry_comes_back_as_it_was():
    """Fails if a field of an entry is not recorded: each here differs from its default."""
    made = replace(
        entry((1, 1, 2), 7, lit=frozenset({"single-1"})),
        echoed=("1", "1", "2"),
        cleared_by_key=False,
        pressed_at=(1.0, 1.5, 2.0),
        travelled=("1", "1"),
        late=frozenset({"total-4"}),
        watched=(LampSample(1.0, "layout", frozenset({"total-4"}), levels={"total-4": 1.0}),),
        faults=({"subject": "inputs"},),
    )
    for field in fields(Entry):
        assert field.default is MISSING or getattr(made, field.name) != field.default, field.name
    body = entry_body(made, scenario="s", frames=[], judgement={}, options={}, limits={}, attempt=1)
    assert read_entry(json.loads(json.dumps(body))) == made


def test_a_healthy_run_passes_with_every_result(tmp_path):
    make_run(tmp_path / "run", 216, frames=0)
    summary = summary_of(tmp_path / "run")
    assert summary["verdict"] == "PASS"
    assert summary["counts"] == {"PASS": 216}
    assert summary["results"] == {
        BOOK: {"checked": 216, "recorded": 216, "passed": 216, "mode": "presented"}
    }
    assert summary["started"] <= summary["ended"]


def test_frames_are_kept_as_received_and_each_once(tmp_path):
    with make_run(tmp_path / "run", 0, finish=False) as record:
        pictures = [jpeg(1), jpeg(2), jpeg(1)]
        write_result(record, (1, 2, 3), 0, pictures=pictures)
    body = next(r.body for r in read_records(record.folder.journal) if r.kind == "entry")
    kept = [(record.folder.frames / frame["name"]).read_bytes() for frame in body["frames"]]
    assert kept == pictures
    assert len(list(record.folder.frames.iterdir())) == 2


def test_a_result_without_a_record_never_makes_a_pass(tmp_path):
    make_run(tmp_path / "run", 5, asked=6)
    summary = summary_of(tmp_path / "run")
    assert summary["verdict"] == "RIG_FAULT"
    assert "no record of 1 of" in summary["inconclusive"][0]


def test_an_unfinished_run_never_makes_a_pass(tmp_path):
    make_run(tmp_path / "run", 5, finish=False)
    assert summary_of(tmp_path / "run")["verdict"] == "RIG_FAULT"


@pytest.mark.parametrize(
    ("write", "verdict"),
    [
        (
            lambda r: r.error(ConfigurationError("a", expected="b", found="c", remedy="d")),
            "RIG_FAULT",
        ),
        (lambda r: r.rig_fact(RIG, "self-check", "x", "wrong", good=False), "RIG_FAULT"),
        (lambda r: r.rig_fact(RIG, "reads", "x", "3 repeated", count=3), "PASS"),
        (
            lambda r: r.finding(Finding(Verdict.DUT_FAIL, ("die:1",), "loaded", "biased")),
            "DUT_FAIL",
        ),
        (lambda r: r.run_finished(complete=False, why="interrupted"), "RIG_FAULT"),
    ],
)
def test_what_lies_outside_the_scenarios_counts_too(tmp_path, write, verdict):
    record = make_run(tmp_path / "run", 2)
    write(record)
    assert summary_of(tmp_path / "run")["verdict"] == verdict


def test_diagnosis_may_rejudge_and_a_last_attempt_counts(tmp_path):
    record = make_run(tmp_path / "run", 0, finish=False, asked=1)
    item = scenario((1, 1, 1))
    for attempt, verdict in ((1, Verdict.RIG_FAULT), (2, Verdict.DUT_FAIL)):
        record.scenario_finished(
            item, verdict, "", started=0, ended=1, results={"1,1,1": verdict}, attempt=attempt
        )
    record.rejudged(
        item.id, Verdict.AMBIGUOUS, "lamp or input", "one path", {"1,1,1": Verdict.AMBIGUOUS}
    )
    record.run_finished()
    summary = summary_of(tmp_path / "run")
    (outcome,) = outcomes(read_records(tmp_path / "run" / "journal.jsonl")).values()
    assert outcome.results == {"1,1,1": Verdict.AMBIGUOUS}
    assert summary["counts"] == {"AMBIGUOUS": 1}
    assert summary["verdict"] == "AMBIGUOUS"


def test_a_finding_recorded_again_after_a_break_is_told_once(tmp_path):
    record = make_run(tmp_path / "run", 1, finish=False)
    for _ in range(2):
        record.finding(Finding(Verdict.DUT_FAIL, ("lamp:small",), "dead", "dark"), book=BOOK)
    assert len(summary_of(tmp_path / "run")["findings"]) == 1


def test_junit_blames_the_table_and_the_rig_apart(tmp_path):
    record = make_run(tmp_path / "run", 0, finish=False, asked=0)
    for n, verdict in enumerate(Verdict):
        item = Scenario(
            f"s{n}", "features/toy/all.feature", f"{verdict} \x00<&", BOOK, RIG, (), ("toy.a",)
        )
        record.scenario_finished(item, verdict, "why \x1b", started=0.0, ended=1.5)
    record.error(ConfigurationError("camera", expected="b", found="gone", remedy="d"))
    record.run_finished()
    finish_run(RunFolder(tmp_path / "run"))
    root = ET.parse(tmp_path / "run" / "junit.xml").getroot()
    assert {k: root.get(k) for k in ("tests", "failures", "errors", "skipped")} == {
        "tests": "9",
        "failures": "2",
        "errors": "4",
        "skipped": "2",
    }
    for case in root.iter("testcase"):
        told = {p.get("name"): p.get("value") for p in case.iter("property")}
        if "verdict" in told:
            assert told["clause"] == "toy.a"
        tags = {child.tag for child in case} - {"properties"}
        expected = {
            "PASS": set(),
            "DUT_FAIL": {"failure"},
            "PROCEDURE_FAIL": {"failure"},
            "NOT_APPLICABLE": {"skipped"},
            "PENDING": {"skipped"},
        }.get(told.get("verdict", ""), {"error"})
        assert tags == expected, told


def _work(path, start):
    with RunRecord.attach(path) as record:
        for n in range(start, start + 20):
            write_result(record, ALL_RESULTS[n], n, frames=1)
            record.measurement("s", Measurement("settle", "ms", 0, 100, 11.0, 1.0))


def test_workers_write_one_record(tmp_path):
    record = make_run(tmp_path / "run", 0, finish=False, asked=60)
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_work, args=(tmp_path / "run", 20 * n)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    record.run_finished()
    finish_run(record.folder)
    assert summary_of(tmp_path / "run")["verdict"] == "PASS"
    assert verify_run(tmp_path / "run").intact


def test_a_folder_without_a_run_cannot_be_taken_up(tmp_path):
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(UnreadableRecordError):
            RunRecord.resume(path)


_RUN = """
import sys
from pathlib import Path
from harness.evidence.errors import UnreadableRecordError
from harness.evidence.record import RunRecord
from harness.evidence.resume import recorded_results
from harness.evidence.seal import seal_run
from tests.evidence.synthetic import ALL_RESULTS, BOOK, manifest, scenario, write_result

path, wanted = Path(sys.argv[1]), ALL_RESULTS[:16]
if path.exists():
    record = RunRecord.resume(path, "killed")
else:
    asked = {BOOK: {"checked": len(wanted), "mode": "presented"}}
    record = RunRecord.create(path, manifest().to_json(), asked)
done = recorded_results(record.folder.journal).scenarios
for index, dice in enumerate(wanted):
    if scenario(dice).id not in done:
        write_result(record, dice, index, frames=2)
        print(scenario(dice).id, flush=True)
record.run_finished()
seal_run(record.folder, None)
print("end", flush=True)
"""


@pytest.mark.parametrize("seed", range(3))
def test_killed_at_random_moments_a_run_is_taken_up_to_its_end(tmp_path, seed):
    """Fails if a shown result is lost or run twice, or the folder cannot be sealed in the end."""
    path, rng, shown, ended = tmp_path / "run", random.Random(seed), [], False
    for _ in range(60):
        process = subprocess.Popen(
            [sys.executable, "-c", _RUN, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        shown.append(process.stdout.readline().strip())
        time.sleep(rng.uniform(0.0, 0.06))
        process.send_signal(signal.SIGKILL)
        shown += process.stdout.read().split("\n")
        process.stdout.close()
        process.wait()
        if ended := "end" in shown:
            break
    assert ended
    results = [line for line in shown if "@" in line]
    assert len(results) == len(set(results))
    summary = summary_of(path)
    assert summary["verdict"] == "PASS"
    assert summary["results"][BOOK]["passed"] == 16
    records = read_records(path / "journal.jsonl")
    assert len(diagnosed_entries(records, BOOK, RIG)) == 16
    assert list(check_lines((path / "journal.jsonl").read_bytes())) == []
    assert verify_run(path).intact


def test_diagnosis_gets_back_what_it_is_to_explain(tmp_path):
    """Fails if a resumed run is diagnosed on other entries than one that was not interrupted."""
    record = make_run(tmp_path / "run", 2, finish=False)
    item, judged = scenario((6, 6, 6)), judge_entry(entry((6, 6, 6), 1), ToyBook())
    record.entry(entry((6, 6, 6), 40), judged, scenario=outside(BOOK, RIG, "negative-control"))
    record.entry(entry((6, 6, 6), 41), judged, scenario=outside(BOOK, "other", "further-test"))
    record.scenario_started(item)
    for index, how in ((50, {"provoked": True}), (51, {"diagnosed": False}), (52, {})):
        record.entry(entry((6, 6, 6), index), judged, scenario=item.id, **how)
    record.scenario_finished(item, Verdict.PASS, "", started=0, ended=1)
    records = read_records(record.folder.journal)
    found = diagnosed_entries(records, BOOK, RIG)
    assert [one.body["index"] for one in found] == [0, 1, 40, 50, 52]
    assert recorded_results(record.folder.journal).last_index == 52


def test_a_broken_off_attempt_does_not_count(tmp_path):
    """Fails if an entry whose verdict was never shown is taken for a recorded result."""
    record = make_run(tmp_path / "run", 1, finish=False)
    dice = (6, 6, 5)
    record.scenario_started(scenario(dice))
    made = entry(dice, 99)
    judged = judge_entry(made, ToyBook())
    record.entry(made, judged, scenario=scenario(dice).id, frames=[KeptFrame(jpeg(5))])
    (record.folder.frames / "half.jpg").write_bytes(b"\xff\xd8")
    record.close()
    taken = RunRecord.resume(tmp_path / "run", "power cut")
    assert not (record.folder.frames / "half.jpg").exists()
    before = recorded_results(record.folder.journal)
    assert len(diagnosed_entries(read_records(record.folder.journal), BOOK, RIG)) == 1
    assert scenario(dice).id not in before.scenarios
    write_result(taken, dice, 99)
    assert len(diagnosed_entries(read_records(record.folder.journal), BOOK, RIG)) == 2
    assert summary_of(tmp_path / "run")["breaks"] == 1


_HOLDER = """
import os, subprocess, sys
from pathlib import Path
from harness.evidence.record import RunRecord

record = RunRecord.resume(Path(sys.argv[1]))
worker = subprocess.Popen(["sleep", "60"], pass_fds=(record.lock.fd,), stdout=subprocess.DEVNULL)
print(worker.pid, flush=True)
sys.stdin.read()
"""


def test_a_run_at_work_is_not_taken_up(tmp_path, monkeypatch):
    """Fails if two programs may write one record: killed, its worker must be gone, too."""
    monkeypatch.setattr("harness.evidence.record.UNWINDING_S", 0.2)
    make_run(tmp_path / "run", 1, finish=False).close()
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(tmp_path / "run")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        worker = int(holder.stdout.readline())
        for end in (holder.kill, lambda: os.kill(worker, signal.SIGKILL)):
            before = (tmp_path / "run" / "journal.jsonl").read_bytes()
            with pytest.raises(RunAtWorkError):
                RunRecord.resume(tmp_path / "run")
            assert (tmp_path / "run" / "journal.jsonl").read_bytes() == before
            end()
        holder.wait()
    monkeypatch.setattr("harness.evidence.record.UNWINDING_S", 10.0)
    RunRecord.resume(tmp_path / "run").close()


def test_junit_tells_a_finding_that_no_scenario_shows(tmp_path):
    """Fails if a link that fails now and then, and nothing else, leaves JUnit without an error."""
    record = make_run(tmp_path / "run", 1, finish=False, frames=0)
    for verdict, part in ((Verdict.RIG_FAULT, "device:inputs"), (Verdict.DUT_FAIL, "lamp:x")):
        record.finding(Finding(verdict, (part,), "fault", "what"), book=BOOK, rig=RIG)
    record.run_finished()
    finish_run(record.folder)
    root = ET.parse(tmp_path / "run" / "junit.xml").getroot()
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "1", "1")
    assert "device:inputs: fault" in root.find(".//error").get("message")


def test_junit_has_no_two_cases_of_one_name(tmp_path):
    """Fails if results of two rigs, or books, are one test to readers that go by class and name."""
    record = make_run(tmp_path / "run", 0, finish=False, asked=1)
    for index, rig in enumerate(("left", "right")):
        write_result(record, (1, 1, 2), index, frames=0, rig=rig)
    record.run_finished()
    finish_run(record.folder)
    cases = ET.parse(tmp_path / "run" / "junit.xml").getroot().findall(".//testcase")
    names = [(case.get("classname"), case.get("name")) for case in cases]
    assert len(names) == len(set(names)) == 2
    assert [name.partition(":")[0] for name, _ in names] == [f"{BOOK} on left", f"{BOOK} on right"]
