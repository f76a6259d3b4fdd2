"""A run that is interrupted, stopped or killed leaves nothing behind and is taken up again."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.cli.running import LIMIT_S, OF_COVER, gone, short, started


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_ends_with_130_and_leaves_nothing_running(books, tmp_path, number):
    """Fails if a worker or an emulator outlives its run, or an interrupted run looks whole."""
    process = started(tmp_path, *short(books))
    process.send_signal(number)
    _, said = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert gone(tmp_path)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["verdict"] != "PASS"


def test_worker_that_is_stopped_and_continued_goes_on(books, tmp_path):
    """Fails if a worker takes its being stopped for the end of the run that started it."""
    process = started(tmp_path, *short(books, "--inspection", "cover"))
    worker = next(
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit()
        and b"harness.bdd.worker" in (entry / "cmdline").read_bytes()
        and str(tmp_path) in (entry / "cmdline").read_bytes().decode()
    )
    os.kill(worker, signal.SIGSTOP)
    time.sleep(0.5)
    os.kill(worker, signal.SIGCONT)
    said, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode in {0, 3}, said  # what was measured meanwhile may be lost, no more
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert sum(summary["counts"].values()) == OF_COVER
    assert "interrupted" not in " ".join(summary.get("inconclusive", []))


def test_killed_run_leaves_nothing_running_and_is_taken_up_where_it_stopped(run, books, tmp_path):
    """Fails if a kill -9 leaves a process, or a resumed run loses or doubles a result."""
    process = started(tmp_path, *short(books, "--inspection", "cover"))
    process.kill()
    process.communicate(timeout=LIMIT_S)
    assert gone(tmp_path)
    resumed, summary = run(resume=True)
    assert resumed.returncode in {0, 3}, resumed.stderr
    # What a busy host makes of single results is not the matter here: that each is there is.
    assert sum(summary["counts"].values()) == OF_COVER, resumed.stderr
    assert not any("planned" in told for told in summary["inconclusive"])
    assert summary["results"]["short"]["recorded"] == OF_COVER
    assert summary["finished"]
    assert summary["breaks"] == 1
    lines = (tmp_path / "out" / "journal.jsonl").read_text().splitlines()
    finished = [json.loads(line) for line in lines if '"kind":"scenario-finished"' in line]
    ids = [record["body"]["scenario"] for record in finished]
    assert len(ids) == len(set(ids)) == OF_COVER
