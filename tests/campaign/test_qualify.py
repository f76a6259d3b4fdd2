"""`sicbo-hil shaker qualify` on the emulated bench, over its wires, killed and taken up again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.evidence.verify import verify_run
from harness.rig.find import find_rig

PROGRAM = str(Path(sys.executable).with_name("sicbo-hil"))
LOADED = ("--fault", "F57:die=2,face=6,by=0.83")


@pytest.fixture
def rig(tmp_path):
    """Give a bench like the usual one, four times as fast."""
    usual = json.dumps(str(find_rig("emulated").resolve()))
    file = tmp_path / "fast.toml"
    file.write_text(f'title = "Fast bench"\ninclude = [{usual}]\n[emulator]\ntime_scale = 4.0\n')
    return file


def tosses_in(folder):
    journal = folder / "journal.jsonl"
    lines = journal.read_bytes().split(b"\n") if journal.exists() else []
    return [line for line in lines if b'"kind":"toss"' in line and line.endswith(b"}")]


def test_a_loaded_die_is_found_though_the_harness_was_killed_on_the_way(rig, tmp_path):
    """Fails if a kill loses or doubles a toss, or a heavily loaded die is not found after it."""
    folder = tmp_path / "q"
    command = [PROGRAM, "shaker", "qualify", str(rig), "--out", str(folder), "--most", "80"]
    with (
        (tmp_path / "said").open("w+") as said,
        subprocess.Popen([*command, *LOADED], stderr=said) as first,
    ):
        deadline = time.monotonic() + 120
        while len(tosses_in(folder)) < 3 and time.monotonic() < deadline:
            assert first.poll() is None, (tmp_path / "said").read_text()
            time.sleep(0.1)
        os.kill(first.pid, signal.SIGKILL)
    kept = tosses_in(folder)
    assert len(kept) >= 3
    done = subprocess.run(
        [PROGRAM, "shaker", "qualify", "--resume", str(folder)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("biased after")
    tosses = [json.loads(line)["body"] for line in tosses_in(folder)]
    assert [toss["number"] for toss in tosses] == list(range(1, len(tosses) + 1))
    assert tosses_in(folder)[: len(kept)] == kept
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["verdict"] == "DUT_FAIL"
    assert {finding["part"] for finding in summary["findings"]} == {"dice"}
    assert {finding["fault"] for finding in summary["findings"]} <= {"loaded", "unfair"}
    assert "6" in summary["findings"][0]["what"]
    read = [toss["values"] for toss in tosses if toss["values"] is not None]
    rows = (folder / "tosses.csv").read_text().splitlines()[1:]
    assert rows == [",".join(map(str, values)) for values in read]
    assert verify_run(folder).intact
    again = [PROGRAM, "replay", str(folder), "--json"]
    derived = subprocess.run(again, capture_output=True, text=True, timeout=120, check=False)
    assert json.loads(derived.stdout)["same"], derived.stdout


def test_leaning_dice_are_counted_and_never_read(rig, tmp_path):
    """Fails if leaning dice are read, or tosses go on for ever without a result."""
    folder = tmp_path / "q"
    done = subprocess.run(
        [PROGRAM, "shaker", "qualify", str(rig), "--out", str(folder), "--fault", "F52"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    tosses = [json.loads(line)["body"] for line in tosses_in(folder)]
    assert {toss["values"] for toss in tosses} == {None}
    assert {toss["outcome"] for toss in tosses} <= {"leaning", "stacked", "unread"}
    told = json.loads((folder / "qualification.json").read_text())
    assert told["decision"] == "undecided"
    assert told["rates_per_1000"]["leaning"]["count"] > 0
    assert json.loads((folder / "summary.json").read_text())["verdict"] != "PASS"


def test_a_resumed_qualification_takes_no_other_settings(tmp_path):
    """Fails if one record could mix two error rates."""
    done = subprocess.run(
        [PROGRAM, "shaker", "qualify", "--resume", str(tmp_path), "--alpha", "0.05"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "--most" in done.stderr
