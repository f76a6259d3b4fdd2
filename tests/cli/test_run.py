"""`sicbo-hil run` from end to end, on emulated benches over their wires."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
FEATURE = PROJECT / "harness" / "bdd" / "general" / "every-result.feature"
TRIPLES = {"1,1,1", "2,2,2", "3,3,3", "4,4,4", "5,5,5", "6,6,6"}
LIMIT_S = 300
PROGRAM = [sys.executable, "-c", "from harness.cli.main import main; main()", "run"]


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """New York's rules as a book from outside, with the every-result feature alone: quick."""
    folder = tmp_path_factory.mktemp("books")
    shutil.copytree(PROJECT / "harness" / "rules" / "books" / "ny-5324.51", folder / "short")
    book = folder / "short" / "book.toml"
    book.write_text(book.read_text().replace('id = "ny-5324.51"', 'id = "short"', 1))
    shutil.copy(FEATURE, folder / "short")
    return folder


@pytest.fixture
def run(books: Path, tmp_path: Path):
    """Run the short book; gives the ended process and what `summary.json` says."""

    def go(*options: str) -> tuple[subprocess.CompletedProcess[str], dict]:
        out = tmp_path / "out"
        short = ["--rules-path", str(books), "--rules", "short", "--out", str(out)]
        ended = subprocess.run(
            [*PROGRAM, *short, *options],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            cwd=tmp_path,
            check=False,
        )
        assert "Traceback" not in ended.stderr
        assert not processes_of(tmp_path)
        summary = out / "summary.json"
        return ended, json.loads(summary.read_text()) if summary.exists() else {}

    return go


def processes_of(folder: Path) -> list[str]:
    """Give the command lines of processes that name a folder or run in it."""
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            inside = str(folder) in line or (process / "cwd").readlink() == folder
        except OSError:
            continue
        if inside and "Z" not in (process / "stat").read_text().rpartition(")")[2].split()[:1]:
            found.append(line)
    return found


def parts(summary: dict) -> set[str]:
    """Give every part that a finding names."""
    named = [finding["part"] for finding in summary["findings"]]
    return {part for one in named for part in ([one] if isinstance(one, str) else one)}


def test_healthy_table_passes_and_leaves_a_whole_run_folder(run, tmp_path):
    """Fails if a good table is blamed, a result goes unchecked, or a file of the record lacks."""
    ended, summary = run("--inspection", "cover")
    assert ended.returncode == 0, ended.stderr
    assert summary["verdict"] == "PASS"
    assert summary["findings"] == []
    told = summary["results"]["short"]
    assert (told["checked"], told["passed"], told["mode"]) == (17, 17, "presented")
    assert summary["counts"] == {"PASS": 17}
    out = tmp_path / "out"
    for name in ("manifest.json", "journal.jsonl", "junit.xml", "report.html", "seal.json"):
        assert (out / name).stat().st_size > 0
    assert any((out / "frames").iterdir())
    suites = ET.parse(out / "junit.xml").getroot()
    assert len(suites.findall(".//testcase")) == 17
    assert not suites.findall(".//failure")
    assert ended.stdout.strip() == str(out)


def test_dead_lamp_is_named_and_nothing_else(run):
    """Fails if the lamp is missed, passed, or another part is blamed."""
    ended, summary = run("--inspection", "cover", "--fault", "F10:lamp=total-9")
    assert ended.returncode in (1, 3)
    assert "lamp:total-9" in parts(summary) <= {"lamp:total-9", "input:total-9"}


def test_swapped_lamps_are_both_named(run):
    """Fails if an exchange of two lamps is told as anything but the two, at fault together."""
    ended, summary = run("--inspection", "cover", "--fault", "F12:a=small,b=big")
    assert ended.returncode == 1
    assert [finding["verdict"] for finding in summary["findings"]] == ["DUT_FAIL"]
    assert parts(summary) == {"lamp:small", "lamp:big"}


def test_wrong_rule_names_its_six_results(run):
    """Fails if small and big on triples are not told as one rule with exactly its results."""
    ended, summary = run("--inspection", "cover", "--fault", "F21")
    assert ended.returncode == 1
    assert all(part.startswith("rule:") for part in parts(summary))
    assert {result for found in summary["findings"] for result in found["results"]} == TRIPLES
    assert summary["results"]["short"]["passed"] == 17 - 6


def test_silent_device_is_our_own_fault_and_ends_the_run_soon(run):
    """Fails if a table is blamed for our silent module, or what was not run looks run."""
    began = time.monotonic()
    ended, summary = run("--inspection", "full", "--fault", "F31")
    assert ended.returncode == 3
    assert parts(summary) == {"device:inputs"}
    assert summary["counts"] == {"RIG_FAULT": 216}
    told = summary["results"]["short"]
    assert (told["checked"], told["passed"]) == (216, 0)
    assert time.monotonic() - began < 120


def test_wrong_entry_is_told_apart_from_a_fault_of_the_equipment(run):
    """Fails if a dealer's slip blames the table, or passes."""
    ended, summary = run("--inspection", "cover", "--fault", "F58:shown=1-2-5,entered=1-2-4")
    assert ended.returncode == 1
    assert [finding["verdict"] for finding in summary["findings"]] == ["PROCEDURE_FAIL"]
    assert parts(summary) == {"dealer"}
    assert "1,2,4" in summary["findings"][0]["what"]
    assert "1,2,5" in summary["findings"][0]["what"]


def test_new_york_passes_whole_on_its_usual_bench(tmp_path):
    """Fails if a scenario that this bench can run does not pass on a healthy table."""
    ended = subprocess.run(
        [*PROGRAM, "--rules", "ny-5324.51", "--inspection", "minimum", "--out", "out"],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        cwd=tmp_path,
        check=False,
    )
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["findings"] == [], ended.stderr
    assert set(summary["counts"]) <= {"PASS", "NOT_APPLICABLE"}
    assert summary["counts"]["PASS"] >= 46
    assert ended.returncode == 0


def test_equipment_that_a_book_does_not_allow_is_not_applicable_by_name(run, tmp_path):
    """Fails if a book runs on equipment that it does not allow, or does not say which."""
    ended, summary = run("--rig", "emulated-puncher", "--inspection", "minimum")
    assert ended.returncode == 3
    assert summary["counts"] == {"NOT_APPLICABLE": 1}
    assert "puncher" in (tmp_path / "out" / "journal.jsonl").read_text()


# What is wrong is said in a line, soon, and nothing stays behind.


@pytest.fixture
def rig_file(tmp_path: Path):
    """Make a rig file out of the default one, with something in it replaced."""

    def make(old: str, new: str) -> Path:
        text = (PROJECT / "rigs" / "emulated.toml").read_text()
        changed = re.sub(old, new, text, count=1, flags=re.DOTALL)
        assert changed != text
        file = tmp_path / "bench.toml"
        file.write_text(changed)
        return file

    return make


def lines_of(ended: subprocess.CompletedProcess[str]) -> list[str]:
    """Give the lines that the program marks as errors."""
    marked = [line for line in ended.stderr.splitlines() if line.startswith("sicbo-hil: ")]
    return [line.removeprefix("sicbo-hil: ") for line in marked]


def test_unknown_keys_of_a_rig_file_are_told_all_at_once(run, rig_file):
    """Fails if a misspelt key is ignored, or only the first is told."""
    file = rig_file(r"seed = 1(.*?)press_ms = 10", r"sed = 1\1pres_ms = 10")
    ended, _ = run("--rig", str(file))
    assert ended.returncode == 2
    said = lines_of(ended)
    assert len(said) == 2
    assert "emulator.sed" in said[0]
    assert "did you mean 'press_ms'" in said[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rules", "nowhere"], ["rule book 'nowhere'"]),
        (["--rig", "nowhere.toml"], ["rig nowhere.toml"]),
        (["--rig", "emulatd"], ["did you mean 'emulated'"]),
        (["--rules", "nowhere", "--rig", "emulatd"], ["'nowhere'", "emulatd"]),
    ],
)
def test_what_is_not_there_is_a_line_each(run, options, words):
    """Fails if a missing book or rig file starts anything, or hides another mistake."""
    ended, summary = run(*options)
    assert ended.returncode == 2
    assert summary == {}
    said = "\n".join(lines_of(ended))
    assert all(word in said for word in words)


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        (r'(\[devices.keys\].*?port = )"emulated"', r'\1"/dev/tty-not-there"', "device:keys"),
        (r'source = "emulated"', 'source = "http://127.0.0.1:9/"', "device:dice-camera"),
        (r'source = "emulated"[^\n]*', "source = 97", "device:dice-camera"),
    ],
)
def test_port_or_camera_that_is_not_there_is_inconclusive(run, rig_file, old, new, part):
    """Fails if a missing part blames the table, passes, or is not named."""
    ended, summary = run("--rig", str(rig_file(old, new)), "--inspection", "minimum")
    assert ended.returncode == 3
    assert parts(summary) == {part}
    assert summary["counts"] == {"RIG_FAULT": 1}


def test_fault_that_the_emulator_does_not_know_is_a_wrong_option(run):
    """Fails if a misspelt fault runs as if none were armed."""
    ended, _ = run("--fault", "F99", "--inspection", "minimum")
    assert ended.returncode == 2
    assert any("F99" in line for line in lines_of(ended))


def test_folder_in_use_is_not_touched(run, tmp_path):
    """Fails if a run mixes with other files."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("kept")
    ended, _ = run()
    assert ended.returncode == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


def test_feature_with_an_undefined_step_stops_the_run(run, books, tmp_path):
    """Fails if a run drives anything although a step of its features is not defined."""
    extra = books / "short" / "extra.feature"
    extra.write_text("Feature: Extra\n  Scenario: One\n    Given nothing that is defined\n")
    try:
        ended, summary = run("--inspection", "minimum")
    finally:
        extra.unlink()
    assert ended.returncode == 2
    assert any("undefined step" in line for line in lines_of(ended))
    assert summary["counts"] == {}


# Broken off and taken up.


def started(books: Path, tmp_path: Path, *options: str) -> subprocess.Popen[str]:
    """Start a run, of all results if not told otherwise; wait until it has recorded a few."""
    short = ["--rules-path", str(books), "--rules", "short", "--out", "out"]
    process = subprocess.Popen(
        [*PROGRAM, *short, *options],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    journal = tmp_path / "out" / "journal.jsonl"
    deadline = time.monotonic() + LIMIT_S
    while not journal.exists() or journal.read_text().count('"kind":"scenario-finished"') < 3:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return process


def gone(tmp_path: Path) -> bool:
    """Wait until no process of a run is left."""
    deadline = time.monotonic() + 60
    while processes_of(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not processes_of(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_ends_with_130_and_leaves_nothing_running(books, tmp_path, number):
    """Fails if a worker or an emulator outlives its run, or an interrupted run looks whole."""
    process = started(books, tmp_path)
    process.send_signal(number)
    _, said = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert gone(tmp_path)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["verdict"] != "PASS"


def test_worker_that_is_stopped_and_continued_goes_on(books, tmp_path):
    """Fails if a worker takes its being stopped for the end of the run that started it."""
    process = started(books, tmp_path, "--inspection", "cover")
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
    assert sum(summary["counts"].values()) == 17
    assert "interrupted" not in " ".join(summary.get("inconclusive", []))


def test_table_left_in_an_unknown_state_by_an_error_of_ours_is_not_blamed(run):
    """Fails if lamps left lit by an entry that our link broke off are laid to the table.

    A reply to the keys is lost with the clear key dead: the lamps stay lit for a reason
    that cannot be told from a clear that never reached the table.
    """
    ended, summary = run(
        *("--inspection", "cover"),
        *("--fault", "F33:device=keys,nth=11", "--fault", "F07:key=clear"),
    )
    assert ended.returncode != 0
    blamed = {f["part"] for f in summary["findings"] if f["verdict"] == "DUT_FAIL"}
    assert blamed <= {"key:clear"}
    assert "unknown-state" in {finding["fault"] for finding in summary["findings"]}


def test_killed_run_leaves_nothing_running_and_is_taken_up_where_it_stopped(books, tmp_path):
    """Fails if a kill -9 leaves a process, or a resumed run loses or doubles a result."""
    process = started(books, tmp_path, "--inspection", "cover")
    process.kill()
    process.communicate(timeout=LIMIT_S)
    assert gone(tmp_path)
    resumed = subprocess.run(
        [*PROGRAM, "--resume", "out"],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        cwd=tmp_path,
        check=False,
    )
    assert "Traceback" not in resumed.stderr
    assert resumed.returncode in {0, 3}, resumed.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    # What a busy host makes of single results is not the matter here: that each is there is.
    assert sum(summary["counts"].values()) == 17, resumed.stderr
    assert not any("planned" in told for told in summary["inconclusive"])
    assert summary["results"]["short"]["recorded"] == 17
    assert summary["finished"]
    assert summary["breaks"] == 1
    lines = (tmp_path / "out" / "journal.jsonl").read_text().splitlines()
    finished = [json.loads(line) for line in lines if '"kind":"scenario-finished"' in line]
    ids = [record["body"]["scenario"] for record in finished]
    assert len(ids) == len(set(ids)) == 17


def test_resume_takes_no_further_options(tmp_path):
    """Fails if a run could be taken up otherwise than it was begun."""
    ended = subprocess.run(
        [*PROGRAM, "--resume", "out", "--inspection", "cover"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        check=False,
    )
    assert ended.returncode == 2
