"""A run accounts for everything that it planned, whatever ends it or thins it out."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

from tests.cli.running import (
    LIMIT_S,
    OF_COVER,
    PROJECT,
    ended,
    gone,
    lines_of,
    sabotaged,
    short,
    started,
)

EXTRA = """Feature: Further
  Scenario: One more
    Given the dice lie at 1,1,2
    When what the dice show is entered on the terminal and then cleared
    Then exactly the winning areas were lit, and none after clearing
"""
SABOTAGE = """
import sys
if "harness.bdd.worker" in sys.orig_argv:
    from harness.bdd.run_plugin import RunPlugin
    run = RunPlugin._run
    RunPlugin._run = lambda self, item, following: (
        None if "further" in str(item.path) else run(self, item, following)
    )
"""

FAILING = """
import sys
if "harness.bdd.worker" in sys.orig_argv:
    from harness.bdd.sitting import Sitting
    Sitting.end = lambda self, *, broke_off: {}["nothing"]
"""

UNPLUGGED = """
import sys
if "harness.bdd.worker" in sys.orig_argv:
    from harness.bdd.run_plugin import RunPlugin
    from harness.rig.errors import LinkLostError
    run_all = RunPlugin._run_all
    def unplugged(self, session):
        run_all(self, session)
        raise LinkLostError("keys", expected="the port", found="it gone", remedy="look")
    RunPlugin._run_all = unplugged
"""


def test_a_scenario_that_was_planned_and_left_out_is_missed_and_made_up_for(run, books, tmp_path):
    """Fails if a worker that leaves a scenario out, and says all went well, makes a PASS."""
    (books / "short" / "further.feature").write_text(EXTRA)
    process, summary = run("--inspection", "minimum", env=sabotaged(tmp_path, SABOTAGE))
    assert (summary["planned"], sum(summary["counts"].values())) == (2, 1)
    assert summary["results"]["short"]["recorded"] == 1
    assert summary["verdict"] == "RIG_FAULT"
    assert "1 of 2 planned scenarios" in " ".join(summary["inconclusive"])
    assert process.returncode == 3
    assert "--resume" in process.stderr
    process, summary = run(resume=True)
    assert (summary["planned"], sum(summary["counts"].values())) == (2, 2)
    assert not any("planned" in told for told in summary["inconclusive"])


def test_an_error_of_ours_after_a_scenario_ends_the_bench_and_blames_no_table(run, tmp_path):
    """Fails if a table that nobody put right is judged further, or the error is not told."""
    process, summary = run("--inspection", "cover", env=sabotaged(tmp_path, FAILING))
    assert process.returncode == 3
    assert summary["counts"] == {"RIG_FAULT": OF_COVER}
    told = {(finding["part"], finding["fault"]) for finding in summary["findings"]}
    assert told == {("harness", "internal-error"), ("rig", "unknown-state")}


def test_a_device_that_goes_once_all_is_explained_is_named_all_the_same(run, tmp_path):
    """Fails if a run is inconclusive and no finding says whose fault that is."""
    process, summary = run("--inspection", "minimum", env=sabotaged(tmp_path, UNPLUGGED))
    assert process.returncode == 3
    assert summary["counts"] == {"PASS": 1}
    told = [(finding["part"], finding["fault"]) for finding in summary["findings"]]
    assert told == [("device:keys", "link-lost")]


def test_pytest_options_of_the_user_s_environment_leave_nothing_out(run):
    """Fails if what the environment tells pytest selects among a run's scenarios."""
    _, summary = run("--inspection", "minimum", env={"PYTEST_ADDOPTS": "-k nothing-is-named-so -x"})
    assert (summary["planned"], sum(summary["counts"].values())) == (1, 1)


def worker_of(tmp_path: Path) -> int:
    """Give the process that writes what happens into the record."""
    lines = (tmp_path / "out" / "journal.jsonl").read_text().splitlines()
    return next(json.loads(line)["pid"] for line in lines if '"kind":"planned"' in line)


def offspring(parent: int) -> list[int]:
    """Give the processes that a process started, and those that they started."""
    tasks = Path(f"/proc/{parent}/task").iterdir()
    own = [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
    return own + [pid for child in own for pid in offspring(child)]


def test_a_worker_that_somebody_ended_is_told_and_its_results_are_made_up_for(run, books, tmp_path):
    """Fails if a run whose worker was ended passes, or cannot be taken up."""
    process = started(tmp_path, *short(books, "--inspection", "cover"))
    os.kill(worker_of(tmp_path), signal.SIGTERM)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode == 3
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["verdict"] == "RIG_FAULT"
    assert f"of {OF_COVER} planned scenarios" in " ".join(summary["inconclusive"])
    _, summary = run(resume=True)
    assert (summary["planned"], sum(summary["counts"].values())) == (OF_COVER, OF_COVER)
    assert summary["results"]["short"]["recorded"] == OF_COVER


def test_a_bench_that_is_gone_at_the_end_is_a_fault_of_ours(books, tmp_path):
    """Fails if outputs that cannot be opened on the way out are told as a wrong option."""
    process = started(tmp_path, *short(books, "--inspection", "cover"))
    for pid in offspring(worker_of(tmp_path)):
        os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=LIMIT_S)
    assert process.returncode == 3
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert set(summary["counts"]) <= {"PASS", "RIG_FAULT"}
    assert sum(summary["counts"].values()) == OF_COVER
    assert "could not be collected" not in " ".join(summary["inconclusive"])


def test_a_run_goes_on_with_nothing_but_what_it_was_begun_with(run, books, tmp_path):
    """Fails if a changed book, rig or feature gets into a record that names the old one, or the
    refusal leaves a trace in it."""
    rig = tmp_path / "bench.toml"
    rig.write_text((PROJECT / "rigs" / "emulated.toml").read_text())
    for name in ("common", "paytables"):
        shutil.copytree(PROJECT / "rigs" / name, tmp_path / name)
    process = started(
        tmp_path, *short(books, "--inspection", "cover", "--rig", str(rig)), finished=1
    )
    process.kill()
    process.communicate(timeout=LIMIT_S)
    assert gone(tmp_path)
    journal = tmp_path / "out" / "journal.jsonl"
    before = journal.read_bytes()
    changed = [rig, books / "short" / "book.toml", books / "short" / "every-result.feature"]
    for file in changed:
        file.write_text(file.read_text() + "\n# changed\n")
    refused = ended(tmp_path, "--resume", "out")
    assert refused.returncode == 2
    said = lines_of(refused)
    assert len(said) == 3, said
    assert journal.read_bytes() == before
