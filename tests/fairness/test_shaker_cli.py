"""`sicbo-hil shaker` from outside: answers, exit statuses, refused files."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from harness.fairness.sample_size import fixed_throws
from harness.fairness.tosses import read_tosses
from harness.verdicts import InvalidFileError


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
    path = recorded(tmp_path / "a.csv", tosses.tolist())
    done = shaker("analyse", path, "--json", "--report", tmp_path / "page")
    assert done.returncode == 1
    said = json.loads(done.stdout)
    first = said["rejected"][0]
    assert (first["name"], first["die"], first["face"]) == ("die3-faces", 3, 6)
    assert said["log10_e_value"] >= 2
    page = (tmp_path / "page" / "report.html").read_text()
    assert "die 3: face 6 comes too often" in page
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    for drawing in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(drawing)


def test_dice_that_were_not_told_apart(tmp_path):
    """Fails if the order within a toss matters, or the weaker claim is not said."""
    tosses = np.random.default_rng(4).integers(1, 7, (700, 3))
    said = shaker("analyse", recorded(tmp_path / "a.csv", tosses.tolist()), "--alike", "--json")
    mixed = recorded(tmp_path / "b.csv", np.sort(tosses, axis=1).tolist())
    assert shaker("analyse", mixed, "--alike", "--json").stdout == said.stdout
    answer = json.loads(said.stdout)
    assert answer["dice"] == "alike"
    assert np.array(answer["faces"]).shape == (1, 6, 2)


def test_windows_line_ends_and_blanks_are_read(tmp_path):
    """Fails if a file that differs only in line ends or blanks is read otherwise."""
    tosses = np.random.default_rng(2).integers(1, 7, (80, 3)).tolist()
    plain = recorded(tmp_path / "a.csv", tosses)
    other = recorded(tmp_path / "b.csv", tosses, end=" \r\n")
    one, two = (np.concatenate(list(read_tosses(path))) for path in (plain, other))
    assert (one == two).all()
    assert (one == tosses).all()


MISTAKES = [
    ("die1,die2,die3\n1,2,3\n0,1,1\n1,1,7\n", ["line 3", "line 4"]),
    ("die1,die2,die3\n1,2,3\n1,,3\n", ["line 3"]),
    ("die1,die2,die3\n1,2,3\n\n1,2,3\n", ["line 3"]),
    ("die1,die2,die3\n1,2,3,4\n", ["line 2"]),
    ("a,b,c\n1,2,3\n", ["line 1"]),
    ("die1,die2,die3\n", ["line 2"]),
    ("", ["line 1"]),
    ("die1,die2,die3\n1,2,3\n1,2", ["line 3"]),
]


@pytest.mark.parametrize(("text", "where"), MISTAKES)
def test_a_file_with_mistakes_is_refused_with_its_lines(tmp_path, text, where):
    """Fails if a mistake is passed over or its line is wrong."""
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InvalidFileError) as refused:
        list(read_tosses(path))
    assert [problem.where for problem in refused.value.problems] == where


def test_nothing_is_computed_from_a_file_with_mistakes(tmp_path):
    """Fails if anything is printed or written, or the exit status is not 2."""
    path = tmp_path / "bad.csv"
    path.write_text(MISTAKES[0][0])
    done = shaker("analyse", path, "--json", "--report", tmp_path / "page")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert "line 4" in done.stderr
    assert not (tmp_path / "page").exists()


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
    assert said["hours"]["fixed"] == pytest.approx(said["fixed"] * 6 / 3600)
    assert [bias["shift"] for bias in said["biases"]] == [0.02, 0.04, 0.01]
    assert shaker("plan", "--alpha", "2").returncode == 2
