"""Fails when `dice read` leaves its formats, orders or exit statuses, or dies of a file."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

DICE = Path(__file__).parents[2] / "fixtures" / "dice"
READ, MISSING = "dev_0002.jpg", "dev_0131.jpg"
FIELDS = ["file", "verdict", "values", "reason", "confidence", "ms"]


def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    program = "from harness.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, "dice", "read", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(DICE.parents[1])},
        check=False,
    )


def lines(done: subprocess.CompletedProcess[str]) -> list[dict]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def odd_files(tmp_path_factory) -> Path:
    """A folder of every kind of file that is no usual picture, and one that is."""
    folder = tmp_path_factory.mktemp("odd")
    picture = cv2.imread(str(DICE / READ))
    cv2.imwrite(str(folder / "grey.png"), cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY))
    cv2.imwrite(str(folder / "deep.png"), picture.astype(np.uint16) * 257)
    cv2.imwrite(str(folder / "alpha.png"), cv2.cvtColor(picture, cv2.COLOR_BGR2BGRA))
    cv2.imwrite(str(folder / "one.png"), np.zeros((1, 1, 3), np.uint8))
    cv2.imwrite(str(folder / "thin.png"), np.zeros((1, 900, 3), np.uint8))
    cv2.imwrite(str(folder / "huge.jpg"), np.full((6000, 8000, 3), 90, np.uint8))
    (folder / "empty.jpg").write_bytes(b"")
    (folder / "text.png").write_text("no picture\n")
    (folder / "notes.txt").write_text("not looked at\n")
    os.mkfifo(folder / "pipe.png")  # which nobody ever writes to
    whole = (DICE / READ).read_bytes()
    (folder / "broken.jpg").write_bytes(whole[:300])
    shutil.copy(DICE / READ, folder / "usual.JPG")
    return folder


def test_each_odd_file_gets_one_line_and_the_rest_are_still_read(odd_files):
    done = run(odd_files, "--json")
    got = {Path(line["file"]).name: line for line in lines(done)}
    names = [Path(line["file"]).name for line in lines(done)]
    assert names == sorted(p.name for p in odd_files.iterdir() if p.name != "notes.txt")
    for name in ("empty.jpg", "text.png", "broken.jpg", "one.png", "thin.png", "pipe.png"):
        assert (got[name]["verdict"], got[name]["reason"]) == ("unreadable", "not-an-image"), name
        assert sum(name in line for line in done.stderr.splitlines()) == 1
    for name in ("deep.png", "alpha.png", "usual.JPG"):
        assert got[name]["values"] == [2, 4, 5], name
    assert got["grey.png"]["values"] in ([2, 4, 5], [])
    assert got["huge.jpg"]["verdict"] in ("no-result", "unreadable")
    assert "Traceback" not in done.stderr
    assert done.returncode == 3


def test_fields_and_their_order_and_types():
    done = run(DICE / READ, DICE / MISSING, "--json")
    read, refused = lines(done)
    assert list(read) == list(refused) == FIELDS
    assert read["file"] == str(DICE / READ)
    assert (read["verdict"], read["values"], read["reason"]) == ("values", [2, 4, 5], None)
    assert (refused["verdict"], refused["values"]) == ("no-result", [])
    assert refused["reason"] == "missing"
    assert 0 <= refused["confidence"] <= 1
    assert read["ms"] > 0


def test_all_read_is_status_0_and_one_refused_is_3():
    assert run(DICE / READ).returncode == 0
    assert run(DICE / READ, DICE / MISSING).returncode == 3


def test_nothing_opened_is_status_2_and_says_so(tmp_path):
    done = run(tmp_path / "nowhere.jpg", "--json")
    assert done.returncode == 2
    assert lines(done)[0]["reason"] == "not-an-image"
    assert "nowhere.jpg" in done.stderr


def test_an_empty_folder_is_status_2(tmp_path):
    done = run(tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "found none" in done.stderr


def test_the_order_given_is_kept_and_paths_are_as_given():
    done = run(f"dice/{MISSING}", f"dice/{READ}", f"dice/{MISSING}", "--json", cwd=DICE.parent)
    assert [line["file"] for line in lines(done)] == [
        f"dice/{MISSING}",
        f"dice/{READ}",
        f"dice/{MISSING}",
    ]


@pytest.mark.parametrize("count", ["0", "-1", "three", "1.5", ""])
def test_a_wrong_number_of_dice_is_a_usage_error(count):
    assert run(DICE / READ, "--dice", count).returncode == 2


def test_another_number_of_dice_than_there_are_is_refused():
    done = run(DICE / READ, "--dice", "2", "--json")
    assert (lines(done)[0]["reason"], done.returncode) == ("extra", 3)
    done = run(DICE / READ, "--dice", "4", "--json")
    assert (lines(done)[0]["reason"], done.returncode) == ("missing", 3)


def test_any_number_reads_as_many_as_there_are():
    assert lines(run(DICE / READ, "--dice", "any", "--json"))[0]["values"] == [2, 4, 5]


def test_annotate_draws_a_picture_for_each_that_could_be_opened(tmp_path):
    run(DICE / READ, DICE / MISSING, tmp_path / "nowhere.jpg", "--annotate", tmp_path / "drawn")
    drawn = sorted((tmp_path / "drawn").iterdir())
    assert [p.name for p in drawn] == ["dev_0002.png", "dev_0131.png"]
    before = cv2.imread(str(DICE / READ))
    after = cv2.imread(str(drawn[0]))
    assert after.shape == before.shape
    assert (np.abs(after.astype(int) - before).max(axis=2) > 60).sum() > 500


def test_annotating_into_a_file_is_refused_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    done = run(DICE / READ, "--annotate", tmp_path / "file" / "in")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_a_wrong_profile_is_refused_with_every_mistake(tmp_path):
    profile = tmp_path / "profile.json"
    profile.write_text('{"camera": 5, "tilt": 3}')
    done = run(DICE / READ, "--profile", profile)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 3
