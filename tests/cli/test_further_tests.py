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
SILENT_KEYS = """
import sys
if "harness.bdd.worker" in sys.orig_argv:
    from harness.bdd.sitting import Sitting
    further = Sitting.enter_further
    def silenced(self, test):
        self.bench.presenter.do("arm", fault="F31", **{"with": {"device": "keys"}})
        return further(self, test)
    Sitting.enter_further = silenced
"""
LOST_WHILE_MEASURING = """
import sys
if "harness.bdd.worker" in sys.orig_argv:
    from harness.bdd.sitting import Sitting
    forgotten_after = Sitting.forgotten_after
    def lost(self):
        self.bench.presenter.do("arm", fault="F33", **{"with": {"device": "keys", "nth": "5"}})
        return forgotten_after(self)
    Sitting.forgotten_after = lost
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


def test_keys_that_fall_silent_in_a_further_test_are_ours_and_end_it(run, tmp_path):
    """Fails if what befalls a further test ends without conclusions, blames the table or is not
    told, or if more is done on a table whose keys no longer answer."""
    env = sabotaged(tmp_path, SILENT_KEYS)
    process, summary = run("--inspection", "minimum", *FORGETS, env=env)
    assert process.returncode == 3
    lines = [each for each in process.stderr.splitlines() if " emulated: keys: " in each]
    assert "expected a reply" in lines[0]
    assert len(lines) <= 2  # the other: its outputs were not seen open at the end
    assert (summary["verdict"], summary["counts"]) == ("RIG_FAULT", {"AMBIGUOUS": 1})
    records = read_records(tmp_path / "out" / "journal.jsonl")
    kinds = [record.kind for record in records if record.kind in {"error", "diagnosis"}]
    assert kinds[:2] == ["error", "diagnosis"]  # told when it came, not as outputs are opened
    assert of(tmp_path, "error")[0]["error"]["part"] == "device:keys"
    ours = [told for told in summary["findings"] if told["verdict"] == "RIG_FAULT"]
    assert {told["part"] for told in ours} == {"device:keys"}
    (left_open,) = [told for told in summary["findings"] if told not in ours]
    assert left_open["verdict"] == "AMBIGUOUS"
    assert "rule:entry-timeout" in left_open["part"]
    further = [made for made in of(tmp_path, "entry") if "further-test" in made["scenario"]]
    assert len(further) == 1
    assert measured(tmp_path) == []
    assert replayed(tmp_path) == []


def test_a_press_whose_reply_is_lost_while_a_limit_is_measured_is_ours_and_told(run, tmp_path):
    """Fails if the part of ours that failed is named by nobody, or the press is sent again."""
    env = sabotaged(tmp_path, LOST_WHILE_MEASURING)
    process, summary = run("--inspection", "minimum", *FORGETS, env=env)
    assert process.returncode == 3
    assert any(" emulated: keys: " in each for each in process.stderr.splitlines())
    assert summary["verdict"] == "RIG_FAULT"
    ours = [told for told in summary["findings"] if told["verdict"] == "RIG_FAULT"]
    assert [told["part"] for told in ours] == ["device:keys"]
    assert not [told for told in summary["findings"] if told["verdict"] == "DUT_FAIL"]
    assert measured(tmp_path) == []
    assert replayed(tmp_path) == []
