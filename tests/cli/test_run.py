"""`sicbo-hil run` from end to end, on emulated benches over their wires: verdicts and parts."""

from __future__ import annotations

import json
import time
import xml.etree.ElementTree as ET

from tests.cli.running import ended, parts

TRIPLES = {"1,1,1", "2,2,2", "3,3,3", "4,4,4", "5,5,5", "6,6,6"}


def test_healthy_table_passes_and_leaves_a_whole_run_folder(run, tmp_path):
    """Fails if a good table is blamed, a result goes unchecked, or a file of the record lacks."""
    process, summary = run("--inspection", "cover")
    assert process.returncode == 0, process.stderr
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
    assert process.stdout.strip() == "out"


def test_dead_lamp_is_named_and_nothing_else(run):
    """Fails if the lamp is missed, passed, or another part is blamed."""
    process, summary = run("--inspection", "cover", "--fault", "F10:lamp=total-9")
    assert process.returncode in (1, 3)
    assert "lamp:total-9" in parts(summary) <= {"lamp:total-9", "input:total-9"}


def test_swapped_lamps_are_both_named(run):
    """Fails if an exchange of two lamps is told as anything but the two, at fault together."""
    process, summary = run("--inspection", "cover", "--fault", "F12:a=small,b=big")
    assert process.returncode == 1
    assert [finding["verdict"] for finding in summary["findings"]] == ["DUT_FAIL"]
    assert parts(summary) == {"lamp:small", "lamp:big"}


def test_wrong_rule_names_its_six_results(run):
    """Fails if small and big on triples are not told as one rule with exactly its results."""
    process, summary = run("--inspection", "cover", "--fault", "F21")
    assert process.returncode == 1
    assert all(part.startswith("rule:") for part in parts(summary))
    assert {result for found in summary["findings"] for result in found["results"]} == TRIPLES
    assert summary["results"]["short"]["passed"] == 17 - 6


def test_silent_device_is_our_own_fault_and_ends_the_run_soon(run):
    """Fails if a table is blamed for our silent module, or what was not run looks run."""
    began = time.monotonic()
    process, summary = run("--inspection", "full", "--fault", "F31")
    assert process.returncode == 3
    assert parts(summary) == {"device:inputs"}
    assert summary["counts"] == {"RIG_FAULT": 216}
    told = summary["results"]["short"]
    assert (told["checked"], told["passed"]) == (216, 0)
    assert time.monotonic() - began < 120


def test_wrong_entry_is_told_apart_from_a_fault_of_the_equipment(run):
    """Fails if a dealer's slip blames the table, or passes."""
    process, summary = run("--inspection", "cover", "--fault", "F58:shown=1-2-5,entered=1-2-4")
    assert process.returncode == 1
    assert [finding["verdict"] for finding in summary["findings"]] == ["PROCEDURE_FAIL"]
    assert parts(summary) == {"dealer"}
    assert "1,2,4" in summary["findings"][0]["what"]
    assert "1,2,5" in summary["findings"][0]["what"]


def test_new_york_passes_whole_on_its_usual_bench(tmp_path):
    """Fails if a scenario that this bench can run does not pass on a healthy table."""
    process = ended(tmp_path, "--rules", "ny-5324.51", "--inspection", "minimum", "--out", "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["findings"] == [], process.stderr
    assert set(summary["counts"]) <= {"PASS", "NOT_APPLICABLE"}
    assert summary["counts"]["PASS"] >= 46
    assert process.returncode == 0


def test_equipment_that_a_book_does_not_allow_is_not_applicable_by_name(run, tmp_path):
    """Fails if a book runs on equipment that it does not allow, or does not say which."""
    process, summary = run("--rig", "emulated-puncher", "--inspection", "minimum")
    assert process.returncode == 3
    assert summary["counts"] == {"NOT_APPLICABLE": 1}
    assert "puncher" in (tmp_path / "out" / "journal.jsonl").read_text()


def test_table_left_in_an_unknown_state_by_an_error_of_ours_is_not_blamed(run):
    """Fails if lamps left lit by an entry that our link broke off are laid to the table.

    A reply to the keys is lost in the first entry that lights a lamp which no clear puts out:
    what is lit then cannot be told from what the broken entry left.
    """
    process, summary = run(
        *("--inspection", "cover"),
        *("--fault", "F33:device=keys,nth=14"),
        *("--fault", "F28:lamp=small", "--fault", "F28:lamp=big"),
    )
    assert process.returncode != 0
    blamed = {f["part"] for f in summary["findings"] if f["verdict"] == "DUT_FAIL"}
    assert blamed <= {"lamp:small", "lamp:big"}
    assert "unknown-state" in {finding["fault"] for finding in summary["findings"]}


def test_a_lost_reply_blames_nothing_beside_a_dead_clear_key(run):
    """Fails if lamps that a dead clear key left lit before our link failed blame another part."""
    process, summary = run(
        *("--inspection", "cover"),
        *("--fault", "F33:device=keys,nth=11", "--fault", "F07:key=clear"),
    )
    assert process.returncode == 1
    blamed = {f["part"] for f in summary["findings"] if f["verdict"] == "DUT_FAIL"}
    assert blamed == {"key:clear"}
