"""`sicbo-hil rules` as a program: its JSON, its error lines, its exit status."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.cli.main import main
from tests.rules.definitions import COMMON, RESULTS, wins

PROJECT = Path(__file__).parents[2]
FIXTURE_BOOKS = PROJECT / "fixtures" / "books"
BOOKS = ["cca-1992", "nj-13.69f-9.5", "ny-5324.51", "pa-625a.5", "tai-sai"]


def rules(*arguments: str | Path, cwd: Path = PROJECT) -> subprocess.CompletedProcess[str]:
    """Run one `rules` command as its user does."""
    return subprocess.run(
        [sys.executable, "-c", "from harness.cli.main import main; main()", "rules"]
        + [str(argument) for argument in arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(PROJECT), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def answer(*arguments: str | Path) -> Any:
    """Give the JSON of a command that must succeed and say nothing else on standard output."""
    done = rules(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Refused:
    """Runs a command that must fail, in this process for speed, by the program's own entry."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str | Path, status: int = 2) -> str:
        """Give what it says: nothing on standard output, and no traceback."""
        self._monkeypatch.setattr("sys.argv", ["sicbo-hil", "rules", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = self._capsys.readouterr()
        assert ended.value.code == status, said
        assert said.out == ""
        assert "Traceback" not in said.err
        assert "internal error" not in said.err
        return said.err


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refused:
    return Refused(monkeypatch, capsys)


def test_list():
    listed = answer("list")
    assert [book["book"] for book in listed] == BOOKS
    for book in listed:
        assert {"book", "title", "source", "edition", "options"} <= book.keys()
        assert book["options"]["double-wins-on-triple"] is True
        assert book["options"]["inspection-profile"] == "full"
    assert listed[2]["current_through"] == "2024-11-02"


@pytest.mark.parametrize("book", BOOKS)
def test_table(book: str):
    table = answer("table", book)
    assert table["book"] == book
    assert list(table["results"]) == [",".join(map(str, dice)) for dice in RESULTS]
    for text, lit in table["results"].items():
        dice = tuple(int(face) for face in text.split(","))
        assert lit == sorted(area for area in COMMON if wins(area, dice))


def test_table_under_another_reading():
    table = answer("table", "ny-5324.51", "--option", "double-wins-on-triple=false")
    assert table["options"]["double-wins-on-triple"] is False
    assert "double-2" not in table["results"]["2,2,2"]
    assert "double-2" in table["results"]["1,2,2"]


def test_a_reading_against_the_text_is_said_aloud():
    done = rules("table", "cca-1992", "--option", "double-wins-on-triple=false", "--json")
    assert done.returncode == 0
    assert "departs from the text of cca.3.1.4" in done.stderr
    assert rules("table", "ny-5324.51", "--option", "double-wins-on-triple=no").stderr == ""


def test_settle():
    settled = answer(
        *("settle", "cca-1992", "--dice", "1,1,2"),
        *("--wager", "double-1=10", "--wager", "single-1=2.5:promo", "--wager", "big=7/2"),
    )
    assert [
        [wager[key] for key in ("area", "stake", "outcome", "odds", "pays", "clause")]
        for wager in settled["wagers"]
    ] == [
        ["double-1", "10", "win", "11", "110", "cca.6.1.row-4"],
        ["single-1", "5/2", "win", "2", "5", "cca.6.1.row-19"],
        ["big", "7/2", "lose", None, "0", "cca.3.1.2.2"],
    ]


def test_settle_pending_and_posted(tmp_path: Path):
    asked = ("settle", "nj-13.69f-9.5", "--dice", "1,1,2", "--wager", "small=3")
    (wager,) = answer(*asked)["wagers"]
    assert (wager["outcome"], wager["odds"], wager["pays"]) == ("pending", None, None)
    file = tmp_path / "posted.json"
    file.write_text('{"small": "3/2", "single-1": ["1", "2", "3"]}')
    (wager,) = answer(*asked, "--paytable", file)["wagers"]
    assert (wager["outcome"], wager["odds"], wager["pays"]) == ("win", "3/2", "9/2")


def test_settle_void_with_and_without_dice():
    for dice in ((), ("--dice", "1,1,2")):
        (wager,) = answer("settle", "tai-sai", *dice, "--wager", "small=3", "--void")["wagers"]
        assert (wager["outcome"], wager["odds"], wager["pays"]) == ("void", None, "0")
        assert wager["clause"] == "ts.5"


def test_returns(tmp_path: Path):
    assert answer("returns", "ny-5324.51")["areas"]["small"] == {"wins": 105, "return": "35/36"}
    assert answer("returns", "pa-625a.5")["areas"]["small"] == {"wins": 105, "return": None}
    file = tmp_path / "posted.json"
    file.write_text('{"triple-1": 180}')
    posted = answer("returns", "pa-625a.5", "--paytable", file)["areas"]
    assert posted["triple-1"] == {"wins": 1, "return": "181/216"}
    assert posted["triple-2"] == {"wins": 1, "return": None}
    assert set(posted) == set(COMMON)


def test_clauses():
    every = answer("clauses")
    assert len(every) == 191
    ours = answer("clauses", "tai-sai")
    assert [row["tag"] for row in ours] == [
        row["tag"] for row in every if row["tag"].startswith("ts.")
    ]
    for row in every:
        assert {"tag", "clause", "testable", "scenarios", "why_not"} <= row.keys()
        assert (row["why_not"] is None) == (row["testable"] in ("yes", "partial"))
        assert all({"feature", "name"} == scenario.keys() for scenario in row["scenarios"])


def test_a_book_from_outside():
    table = answer("table", "example-106", "--rules-path", FIXTURE_BOOKS)
    assert table["results"]["2,5,5"] == [
        *("big", "double-5", "even", "pair-2-5", "set-2-5-5", "single-2", "single-5", "total-12"),
    ]
    assert answer("list", "--rules-path", FIXTURE_BOOKS)[-1]["book"] == "example-106"
    assert len(answer("clauses", "example-106", "--rules-path", FIXTURE_BOOKS)) == 15
    returned = answer("returns", "example-106", "--rules-path", FIXTURE_BOOKS)["areas"]
    assert returned["set-1-2-3"] == {"wins": 6, "return": "31/36"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("list",),
        ("table", "tai-sai"),
        ("settle", "ny-5324.51", "--dice", "1,1,2", "--wager", "small=1"),
        ("returns", "nj-13.69f-9.5"),
        ("clauses", "pa-625a.5"),
    ],
)
def test_people_get_a_table(arguments: tuple[str, ...]):
    done = rules(*arguments)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 3
    assert not done.stdout.startswith(("{", "["))


SETTLE = ("settle", "ny-5324.51", "--dice", "1,1,2")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("table", "ny-5324"), "did you mean 'ny-5324.51'?"),
        (("clauses", "nowhere"), "the id of a rule book"),
        (("table", "ny-5324.51", "--option", "double=no"), "an option of this book"),
        (("table", "ny-5324.51", "--option", "double-wins-on-triple"), "NAME=VALUE"),
        (("table", "ny-5324.51", "--option", "commit=now"), "one of third-key, entry-key"),
        (("table", "tai-sai", "--option", "clear=a", "--option", "clear=b"), "given twice"),
        ((*SETTLE, "--wager", "small=0"), "a stake above zero"),
        ((*SETTLE, "--wager", "small=-2"), "a stake above zero"),
        ((*SETTLE, "--wager", "smal=1"), "did you mean 'small'?"),
        ((*SETTLE, "--wager", "small"), "AREA=STAKE"),
        ((*SETTLE, "--wager", "small=1:free"), "AREA=STAKE"),
        ((*SETTLE, "--wager", "small=1e3"), "AREA=STAKE"),
        ((*SETTLE, "--wager", "small=nan"), "AREA=STAKE"),
        (SETTLE, "--wager"),
        (("settle", "ny-5324.51", "--wager", "small=1"), "--dice is needed"),
        (("settle", "ny-5324.51", "--dice", "1,1", "--wager", "small=1"), "three face values"),
        (("settle", "ny-5324.51", "--dice", "1,1,7", "--wager", "small=1"), "three face values"),
        (("settle", "ny-5324.51", "--dice", "1-1-2", "--wager", "small=1"), "three face values"),
        (("settle", "ny-5324.51", "--dice", "1,²,2", "--wager", "small=1"), "three face values"),
        (("returns", "ny-5324.51", "--paytable", "nowhere.json"), "nowhere.json"),
        (("list", "--rules-path", "nowhere"), "nowhere"),
        (("nothing",), "No such command"),
    ],
)
def test_mistakes_of_the_user_end_with_2(refused: Refused, arguments: tuple[str, ...], told: str):
    assert told in refused(*arguments)


def test_a_posted_paytable_with_mistakes_ends_with_2(refused: Refused, tmp_path: Path):
    file = tmp_path / "posted.json"
    file.write_text('{"smal": "1", "big": "-1"}')
    text = refused("returns", "nj-13.69f-9.5", "--paytable", file)
    assert text.count(str(file)) == 2


def test_unlawful_posted_odds_end_with_1_and_name_the_clauses(refused: Refused, tmp_path: Path):
    file = tmp_path / "posted.json"
    file.write_text('{"double-1": "7", "single-2": ["1", "2", "4"]}')
    for arguments in ((*SETTLE, "--wager", "small=1"), ("returns", "ny-5324.51")):
        text = refused(*arguments, "--paytable", file, status=1)
        assert "ny.d.1.row-2 demands at least 8 to 1, 7 to 1 is posted" in text
        assert "ny.d.2 demands 3 to 1, 4 to 1 is posted" in text


def test_a_spoilt_book_ends_with_2_and_every_mistake(refused: Refused, tmp_path: Path):
    copied = Path(shutil.copytree(FIXTURE_BOOKS / "example-106", tmp_path / "example-106"))
    text = (copied / "book.toml").read_text()
    (copied / "book.toml").write_text(
        text.replace("to_one = 150", "to_one = -150").replace('kind = "odd-even"', 'kind = "odd"')
    )
    told = refused("list", "--rules-path", tmp_path)
    assert f"{copied}/book.toml: odds[4].to_one (ex.triple)" in told
    assert told.count("areas[2].kind (odd)") == told.count("areas[3].kind (even)") == 1


def test_a_mistake_ends_the_program_itself_with_2_and_a_line():
    done = rules("table", "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


def test_help_names_every_command():
    done = rules("--help")
    assert done.returncode == 0
    for name in ("list", "table", "settle", "returns", "clauses"):
        assert name in done.stdout
