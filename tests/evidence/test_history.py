"""History and comparison: an index that may be lost, and what changed between two runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from harness.evidence.compare import compare_runs
from harness.evidence.errors import EvidenceError, UnreadableRecordError
from harness.evidence.finish import finish_run
from harness.evidence.history import History
from harness.evidence.run_folder import RunFolder
from harness.verdicts import Finding, Verdict
from tests.evidence.synthetic import BOOK, make_run, write_result

BAD = {(1, 1, 2): frozenset({"single-1", "single-2", "total-9"})}


@pytest.fixture
def old(tmp_path):
    record = make_run(
        tmp_path / "old",
        12,
        wrong=BAD,
        finish=False,
        frames=0,
        dut={"serial": "T1", "firmware": "1.0"},
    )
    record.finding(Finding(Verdict.DUT_FAIL, ("lamp:total-9",), "stuck-on", "lit"), book=BOOK)
    record.run_finished()
    return tmp_path / "old"


@pytest.fixture
def new(tmp_path):
    make_run(tmp_path / "new", 12, frames=0, dut={"serial": "T1", "firmware": "1.1"})
    return tmp_path / "new"


@pytest.fixture
def history(tmp_path):
    index = History(f"sqlite:///{tmp_path / 'data' / 'history.sqlite'}")
    yield index
    index.close()


def test_runs_are_listed_oldest_first_with_their_table(history, old, new):
    for path in (new, old, new):
        history.add(path)
    runs = history.runs()
    assert [(run.firmware, run.verdict, run.passed, run.checked) for run in runs] == [
        ("1.0", "DUT_FAIL", 11, 12),
        ("1.1", "PASS", 12, 12),
    ]
    assert all(run.there for run in runs)
    assert runs[0].books == (BOOK,)


def test_the_index_is_rebuilt_from_the_folders_alone(history, old, new, tmp_path):
    for path in (old, new):
        history.add(path)
    before = history.runs()
    shutil.rmtree(old)
    assert [run.there for run in history.runs()] == [False, True]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "journal.jsonl").write_text("something else\n")
    assert history.rebuild([tmp_path]) == 1
    assert history.runs() == before[1:]


def test_a_run_is_found_by_the_beginning_of_its_id(history, old, new):
    history.add(old)
    run = history.add(new)
    assert history.folder_of(run[:13]) == new.resolve()
    for wrong in ("", "nothing-like-it"):
        with pytest.raises(UnreadableRecordError):
            history.folder_of(wrong)


def test_an_index_that_is_none_is_told(tmp_path):
    (tmp_path / "history.sqlite").write_text("this is no database, however long it may be" * 40)
    with pytest.raises(EvidenceError, match="index of runs"):
        History(f"sqlite:///{tmp_path / 'history.sqlite'}").runs()


def test_a_comparison_names_results_lamps_and_findings(old, new):
    told = compare_runs(old, new)
    (change,) = told.changes
    assert (change.result, change.before, change.after) == ("1,1,2", "DUT_FAIL", "PASS")
    assert (change.no_longer_lit, change.newly_lit) == (("total-9",), ("total-4",))
    assert told.unchanged == 11
    assert [finding["part"] for finding in told.findings_gone] == ["lamp:total-9"]
    assert told.findings_new == ()
    assert (told.before.firmware, told.after.firmware) == ("1.0", "1.1")


def test_a_run_compared_with_itself_is_the_same(old):
    assert compare_runs(old, old).same


def test_a_result_that_only_one_run_has_is_told(old, new, tmp_path):
    make_run(tmp_path / "short", 11, frames=0)
    told = compare_runs(new, tmp_path / "short")
    assert [(change.before, change.after) for change in told.changes] == [("PASS", None)]


# -- through the command line -------------------------------------------------------------------


@pytest.fixture
def sicbo(tmp_path, monkeypatch):
    """Run `sicbo-hil` in a home of its own; gives status, standard output and standard error."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))

    def run(*words):
        done = subprocess.run(
            [sys.executable, "-c", "from harness.cli.main import main; main()", *map(str, words)],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout, done.stderr

    return run


def test_two_rigs_of_one_book_are_compared_each_with_itself(tmp_path):
    """Fails if what one rig gave hides what another gave of the same result."""
    runs = []
    for name, wrong in (("old", None), ("new", BAD[1, 1, 2])):
        record = make_run(tmp_path / name, 0, finish=False, asked=2)
        write_result(record, (1, 1, 2), 1, frames=0, rig="left", lit=wrong)
        write_result(record, (1, 1, 2), 2, frames=0, rig="right")
        record.run_finished()
        runs.append(tmp_path / name)
    told = compare_runs(*runs)
    assert [(change.rig, change.after) for change in told.changes] == [("left", "DUT_FAIL")]
    assert told.unchanged == 1


def test_history_and_compare_through_the_command_line(sicbo, old, new):
    assert sicbo("history", "--json")[:2] == (0, "[]\n")
    status, out, _ = sicbo("history", "--add", old, "--add", new, "--json")
    assert status == 0
    runs = [run["run_id"] for run in json.loads(out)]
    status, out, _ = sicbo("compare", runs[0][:12], new, "--json")
    assert status == 1
    assert len(json.loads(out)["changes"]) == 1
    assert sicbo("compare", old, old)[0] == 0
    assert sicbo("compare", old, "nothing")[0] == 2
    assert sicbo("history")[1].count("\n") == 2


def test_key_verify_report_and_replay_through_the_command_line(sicbo, new, tmp_path):
    status, out, _ = sicbo("key", "new", "--json")
    assert status == 0
    key = json.loads(out)
    assert sicbo("key", "new")[0] == 2
    assert sicbo("key", "show", "--json")[1] == out
    finish_run(RunFolder(new))
    assert sicbo("verify", new)[0] == 0
    assert sicbo("verify", new, "--key", key["public_key"], "--json")[0] == 1
    for wanted in ("html", "pdf", "junit", "messages", "cucumber-json"):
        status, out, _ = sicbo("report", new, "--format", wanted)
        assert status == 0
        assert (tmp_path / out.strip()).stat().st_size > 0
    profile = tmp_path / "lab.toml"
    profile.write_text('[laboratory]\nname = "Testing House"\n')
    amended = sicbo(
        "report", new, "--format", "html", "--laboratory", profile, "--amends", new, "--why", "name"
    )
    assert amended[0] == 0
    assert "Testing House" in (tmp_path / amended[1].strip()).read_text("utf-8")
    assert sicbo("verify", new, "--json")[:2] == (
        0,
        '{"intact": true, "signed_by": null, "finished": true, "complete": true, "problems": []}\n',
    )
    (new / "summary.json").write_text("{}")
    status, out, _ = sicbo("verify", new, "--json")
    assert status == 1
    assert json.loads(out)["problems"] == [
        {"file": "summary.json", "line": 1, "what": "changed: 2 line(s) sealed from here, 1 found"}
    ]
    assert sicbo("verify", tmp_path / "nothing")[0] == 2
    assert sicbo("replay", tmp_path / "nothing", "--json")[0] == 2
