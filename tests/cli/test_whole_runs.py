"""A run accounts for everything that it planned, whatever ends it or thins it out."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
LIMIT_S = 300
PROGRAM = [sys.executable, "-c", "from harness.cli.main import main; main()", "run"]
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


@pytest.fixture
def books(tmp_path: Path) -> Path:
    """New York's rules as a book from outside, with the every-result feature and one scenario."""
    folder = tmp_path / "books"
    shutil.copytree(PROJECT / "harness" / "rules" / "books" / "ny-5324.51", folder / "short")
    book = folder / "short" / "book.toml"
    book.write_text(book.read_text().replace('id = "ny-5324.51"', 'id = "short"', 1))
    shutil.copy(PROJECT / "harness" / "bdd" / "general" / "every-result.feature", folder / "short")
    return folder


@pytest.fixture
def run(books: Path, tmp_path: Path):
    """Run the short book, one result, or what is told; gives the process and the summary."""

    def go(*options: str, env: dict[str, str] | None = None):
        ended = subprocess.run(
            [*PROGRAM, *(options or begun(books))],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            cwd=tmp_path,
            check=False,
            env={**os.environ, **(env or {})},
        )
        assert "Traceback" not in ended.stderr
        return ended, json.loads((tmp_path / "out" / "summary.json").read_text())

    return go


def begun(books: Path, inspection: str = "minimum") -> list[str]:
    short = ["--rules-path", str(books), "--rules", "short", "--inspection", inspection]
    return [*short, "--out", "out"]


def test_a_scenario_that_was_planned_and_left_out_is_missed_and_made_up_for(run, books, tmp_path):
    """Fails if a worker that leaves a scenario out, and says all went well, makes a PASS."""
    (books / "short" / "further.feature").write_text(EXTRA)
    (tmp_path / "sabotage").mkdir()
    (tmp_path / "sabotage" / "sitecustomize.py").write_text(SABOTAGE)
    ended, summary = run(env={"PYTHONPATH": str(tmp_path / "sabotage")})
    assert (summary["planned"], sum(summary["counts"].values())) == (2, 1)
    assert summary["results"]["short"]["recorded"] == 1
    assert summary["verdict"] == "RIG_FAULT"
    assert "1 of 2 scenarios planned" in " ".join(summary["inconclusive"])
    assert ended.returncode == 3
    assert "--resume" in ended.stderr
    ended, summary = run("--resume", "out")
    assert (summary["planned"], sum(summary["counts"].values())) == (2, 2)
    assert not any("planned" in told for told in summary["inconclusive"])


def test_pytest_options_of_the_user_s_environment_leave_nothing_out(run):
    """Fails if what the environment tells pytest selects among a run's scenarios."""
    _, summary = run(env={"PYTEST_ADDOPTS": "-k nothing-is-named-so -x"})
    assert (summary["planned"], sum(summary["counts"].values())) == (1, 1)


def started(tmp_path: Path, *options: str, finished: int = 3) -> subprocess.Popen[bytes]:
    """Start a run and wait until it has recorded that many scenarios."""
    process = subprocess.Popen(
        [*PROGRAM, *options], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    journal = tmp_path / "out" / "journal.jsonl"
    deadline = time.monotonic() + LIMIT_S
    while (
        not journal.exists() or journal.read_text().count('"kind":"scenario-finished"') < finished
    ):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


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
    process = started(tmp_path, *begun(books, "cover"))
    os.kill(worker_of(tmp_path), signal.SIGTERM)
    assert process.wait(LIMIT_S) == 3
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["verdict"] == "RIG_FAULT"
    assert "of 17 scenarios planned" in " ".join(summary["inconclusive"])
    _, summary = run("--resume", "out")
    assert (summary["planned"], sum(summary["counts"].values())) == (17, 17)
    assert summary["results"]["short"]["recorded"] == 17


def test_a_bench_that_is_gone_at_the_end_is_a_fault_of_ours(books, tmp_path):
    """Fails if outputs that cannot be opened on the way out are told as a wrong option."""
    process = started(tmp_path, *begun(books, "cover"))
    for pid in offspring(worker_of(tmp_path)):
        os.kill(pid, signal.SIGKILL)
    assert process.wait(LIMIT_S) == 3
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert set(summary["counts"]) <= {"PASS", "RIG_FAULT"}
    assert sum(summary["counts"].values()) == 17
    assert "could not be collected" not in " ".join(summary["inconclusive"])


def test_a_run_goes_on_with_nothing_but_what_it_was_begun_with(run, books, tmp_path):
    """Fails if a changed book, rig or feature gets into a record that names the old one."""
    rig = tmp_path / "bench.toml"
    rig.write_text((PROJECT / "rigs" / "emulated.toml").read_text())
    for name in ("common", "paytables"):
        shutil.copytree(PROJECT / "rigs" / name, tmp_path / name)
    process = started(tmp_path, *begun(books, "cover"), "--rig", str(rig), finished=1)
    process.kill()
    process.wait()
    journal = tmp_path / "out" / "journal.jsonl"
    before = journal.read_bytes()
    changed = [rig, books / "short" / "book.toml", books / "short" / "every-result.feature"]
    for file in changed:
        file.write_text(file.read_text() + "\n# changed\n")
    ended = subprocess.run(
        [*PROGRAM, "--resume", "out"],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        cwd=tmp_path,
        check=False,
    )
    assert ended.returncode == 2
    said = [line for line in ended.stderr.splitlines() if line.startswith("sicbo-hil: ")]
    assert len(said) == 3, said
    assert journal.read_bytes().startswith(before)
    assert b"run-resumed" not in journal.read_bytes()
