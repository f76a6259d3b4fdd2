"""What a run tries and measures once its scenarios are done, and what may befall it there."""

from __future__ import annotations

import json
from pathlib import Path

from harness.evidence.journal_lines import read_records
from tests.cli.running import ended, sabotaged

FORGETS = (
    *("--fault", "F29:ms=120"),
    *("--fault", "F34:device=inputs,ms=150"),  # with a look between two keys it forgets the first
)
KILLED_ONCE_MEASURED = """
import os, signal, sys
if "harness.bdd.worker" in sys.orig_argv:
    from harness.bdd.closing import Closing
    Closing._keep_links = lambda self, links: os.kill(os.getpid(), signal.SIGKILL)
"""


def of(folder: Path, kind: str) -> list[dict]:
    """Give what a run's record holds of a kind."""
    return [r.body for r in read_records(folder / "out" / "journal.jsonl") if r.kind == kind]


def measured(folder: Path) -> list[dict]:
    """Give the limits that were measured."""
    return [fact["data"] for fact in of(folder, "rig-fact") if fact["topic"] == "measured"]


def replayed(folder: Path) -> list[dict]:
    """Give what comes out otherwise in a replay."""
    return json.loads(ended(folder, "out", "--json", command="replay").stdout)["differences"]


def test_what_was_measured_before_a_break_holds_after_it_and_in_a_replay(run, tmp_path):
    """Fails if a run taken up again, or its replay, concludes without what it measured before."""
    env = sabotaged(tmp_path, KILLED_ONCE_MEASURED)
    broken_off, _ = run("--inspection", "minimum", *FORGETS, env=env)
    assert broken_off.returncode == 3
    assert of(tmp_path, "diagnosis") == []
    (limit,) = measured(tmp_path)
    resumed, summary = run(resume=True)
    assert resumed.returncode == 1, resumed.stderr
    assert measured(tmp_path) == [limit]
    assert len(of(tmp_path, "run-resumed")) == 1
    (told,) = [each for each in summary["findings"] if each["verdict"] == "DUT_FAIL"]
    assert told["part"] == "rule:entry-timeout"
    assert f"{limit['low_s'] * 1e3:.0f} to {limit['high_s'] * 1e3:.0f} ms later" in told["what"]
    assert replayed(tmp_path) == []
