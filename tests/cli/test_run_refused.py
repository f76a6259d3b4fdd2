"""What is wrong with a run's options, files or bench is said in a line, soon; nothing is left."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.running import PROJECT, ended, lines_of, parts


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


def test_unknown_keys_of_a_rig_file_are_told_all_at_once(run, rig_file):
    """Fails if a misspelt key is ignored, or only the first is told."""
    file = rig_file(r"seed = 1(.*?)press_ms = 10", r"sed = 1\1pres_ms = 10")
    process, _ = run("--rig", str(file))
    assert process.returncode == 2
    said = lines_of(process)
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
    process, summary = run(*options)
    assert process.returncode == 2
    assert summary == {}
    said = "\n".join(lines_of(process))
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
    process, summary = run("--rig", str(rig_file(old, new)), "--inspection", "minimum")
    assert process.returncode == 3
    assert parts(summary) == {part}
    assert summary["counts"] == {"RIG_FAULT": 1}


def test_fault_that_the_emulator_does_not_know_is_a_wrong_option(run):
    """Fails if a misspelt fault runs as if none were armed."""
    process, _ = run("--fault", "F99", "--inspection", "minimum")
    assert process.returncode == 2
    assert any("F99" in line for line in lines_of(process))


def test_faults_that_will_not_do_are_told_together_and_nothing_is_begun(run, tmp_path):
    """Fails if a wrong fault is told only once another is mended, or a folder is left."""
    process, _ = run("--fault", "F99", "--fault", "F12:a=small,b=small", "--inspection", "minimum")
    assert process.returncode == 2
    assert "F99: " in process.stderr
    assert "F12:b: " in process.stderr
    assert not (tmp_path / "out").exists()


def test_folder_in_use_is_not_touched(run, tmp_path):
    """Fails if a run mixes with other files."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("kept")
    process, _ = run()
    assert process.returncode == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


def test_feature_with_an_undefined_step_stops_the_run(run, books):
    """Fails if a run drives anything although a step of its features is not defined."""
    extra = books / "short" / "extra.feature"
    extra.write_text("Feature: Extra\n  Scenario: One\n    Given nothing that is defined\n")
    process, summary = run("--inspection", "minimum")
    assert process.returncode == 2
    assert any("undefined step" in line for line in lines_of(process))
    assert summary["counts"] == {}


def test_resume_takes_no_further_options(tmp_path):
    """Fails if a run could be taken up otherwise than it was begun."""
    process = ended(tmp_path, "--resume", "out", "--inspection", "cover")
    assert process.returncode == 2
    assert "no further options" in process.stderr
