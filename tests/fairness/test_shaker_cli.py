"""`sicbo-hil shaker` from outside: answers, exit statuses, refused files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.fairness.sample_size import fixed_throws


def shaker(*args):
    return subprocess.run(
        [str(Path(sys.executable).with_name("sicbo-hil")), "shaker", *map(str, args)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def recorded(path, tosses, header="die1,die2,die3", end="\n"):
    rows = end.join(",".join(map(str, t)) for t in tosses)
    path.write_text(f"{header}{end}{rows}{end}", newline="")
    return path


def test_undecided_on_few(tmp_path):
    """Fails if a handful of tosses decides anything, or a field of the interface is missing."""
    tosses = np.random.default_rng(1).integers(1, 7, (50, 3)).tolist()
    done = shaker("analyse", recorded(tmp_path / "a.csv", tosses), "--json")
    assert done.returncode == 3
    said = json.loads(done.stdout)
    assert (said["tosses"], said["decision"]) == (50, "undecided")
    assert np.array(said["faces"]).shape == (3, 6, 2)
    for test in said["tests"]:
        assert {"name", "null", "statistic"} <= test.keys()
        assert "p_value" in test or "log10_e_value" in test


def test_a_die_that_only_shows_six_is_biased(tmp_path):
    """Fails if the exit status is not 1 or the die is not named."""
    tosses = np.random.default_rng(1).integers(1, 7, (400, 3))
    tosses[:, 2] = 6
    done = shaker("analyse", recorded(tmp_path / "a.csv", tosses.tolist()), "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["rejected"][0]["name"] == "die3-faces"


def test_windows_line_ends_and_blanks_are_read(tmp_path):
    """Fails if a file that differs only in line ends gives another answer."""
    tosses = np.random.default_rng(2).integers(1, 7, (80, 3)).tolist()
    plain = shaker("analyse", recorded(tmp_path / "a.csv", tosses), "--json")
    other = shaker("analyse", recorded(tmp_path / "b.csv", tosses, end="\r\n"), "--json")
    assert json.loads(plain.stdout) == json.loads(other.stdout)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("die1,die2,die3\n1,2,3\n0,1,1\n1,1,7\n", ["line 3", "line 4"]),
        ("die1,die2,die3\n1,2,3\n1,,3\n", ["line 3"]),
        ("die1,die2,die3\n1,2,3\n\n1,2,3\n", ["line 3"]),
        ("die1,die2,die3\n1,2,3,4\n", ["line 2"]),
        ("a,b,c\n1,2,3\n", ["line 1"]),
        ("die1,die2,die3\n", ["line 2"]),
        ("", ["line 1"]),
        ("die1,die2,die3\n1,2,3\n1,2", ["line 3"]),
    ],
)
def test_a_file_with_mistakes_is_refused_whole(tmp_path, text, where):
    """Fails if a mistake is passed over, its line is wrong, or anything is computed from it."""
    path = tmp_path / "bad.csv"
    path.write_text(text)
    done = shaker("analyse", path, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    for line in where:
        assert line in done.stderr


def test_a_file_that_is_not_there(tmp_path):
    """Fails if a missing file is not one line and exit 2."""
    done = shaker("analyse", tmp_path / "none.csv")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1


def test_known_sample_sizes():
    """Fails if the chi-square plan misses the two published numbers."""
    assert fixed_throws(0.02, 0.01, 0.9) == 7649
    assert fixed_throws(0.01, 0.01, 0.9) == 30594


def test_plan_answers(tmp_path):
    """Fails if the sequential plan is not told, or is not below the fixed one for its family."""
    done = shaker("plan", "--json")
    assert done.returncode == 0
    said = json.loads(done.stdout)
    assert said["sequential_median"] < said["fixed"]
    assert said["fair_median"] <= said["fair_95"] <= 20_000
    assert shaker("plan", "--alpha", "2").returncode == 2
