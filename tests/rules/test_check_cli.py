"""`rules check` on the command line: what it prints and what it ends with."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli.main import cli
from harness.verdicts import InvalidFileError
from tests.rules.rounds import DEALINGS, Act, act


def recorded(name: str, happened: list[Act]) -> str:
    setup = DEALINGS[name].setup
    lines: list[object] = [{"setup": {"shaker": setup.shaker, "cover": setup.cover}}]
    lines += [{"t": t, "event": one, **data} for t, (one, data) in enumerate(happened)]
    return "".join(json.dumps(line) + "\n" for line in lines)


def check(name: str, happened: list[Act], *more: str) -> Result:
    return CliRunner().invoke(
        cli,
        ["rules", "check", DEALINGS[name].book, "--events", "-", *more],
        input=recorded(name, happened),
    )


@pytest.mark.parametrize("name", DEALINGS)
def test_a_healthy_round_ends_with_zero(name: str, tmp_path: Path):
    """Fails if a file is read otherwise than standard input, or JSON is not all of the output."""
    file = tmp_path / "round.jsonl"
    file.write_text(recorded(name, DEALINGS[name].round()), encoding="utf-8")
    arguments = ["rules", "check", DEALINGS[name].book, "--events", str(file), "--json"]
    ran = CliRunner().invoke(cli, arguments)
    assert (ran.exit_code, json.loads(ran.stdout)) == (0, {"deviations": [], "outcome": "settled"})
    assert check(name, DEALINGS[name].round(), "--json").stdout == ran.stdout


def test_a_deviation_ends_with_one_and_is_printed_with_clause_and_time():
    """Fails if a breach is not told, or the status says that all was well."""
    uncalled = [one for one in DEALINGS["ny manual"].round() if one[0] != "no-more-bets"]
    ran = check("ny manual", uncalled, "--json")
    assert ran.exit_code == 1
    answer = json.loads(ran.stdout)
    (deviation,) = answer["deviations"]
    assert (deviation["clause"], deviation["at"]) == ("ny.e.2", 4.0)
    assert "no-more-bets" in deviation["what"]
    assert answer["outcome"] == "settled"
    told = check("ny manual", uncalled)
    assert told.exit_code == 1
    assert "ny.e.2" in told.stdout
    assert "outcome: settled" in told.stdout


def test_an_outcome_that_is_no_deviation_ends_with_zero():
    """Fails if a void round handled by the book is held against somebody."""
    dealing = DEALINGS["cca"]
    void = [
        *dealing.head,
        act("dice-at-rest", state="leaning"),
        act("no-result", by="dealer", reason="leaning"),
        act("round-end"),
    ]
    ran = check("cca", void, "--json")
    assert (ran.exit_code, json.loads(ran.stdout)["outcome"]) == (0, "void")


def test_a_bad_file_is_refused_whole():
    """Fails if any mistake of the file is passed over, or anything is judged in spite of it."""
    ran = CliRunner().invoke(
        cli,
        ["rules", "check", "ny-5324.51", "--events", "-", "--json"],
        input=recorded("ny manual", [act("shaek"), act("wager", area="odd")]),
    )
    assert isinstance(ran.exception, InvalidFileError)
    assert [problem.where for problem in ran.exception.problems] == [
        "line 2, event",
        "line 3, area",
    ]
    assert ran.stdout == ""


@pytest.mark.parametrize(
    ("book", "events"),
    [("ny-5324.51", "nowhere.jsonl"), ("ny-5324.52", "-"), ("tai-sai", "-")],
    ids=["no file", "no book", "other equipment"],
)
def test_what_cannot_be_checked_ends_with_two_and_one_line(book: str, events: str):
    """Fails if a wrong file, book or kind of shaker ends in a traceback or another status."""
    ran = subprocess.run(
        [
            *(sys.executable, "-c", "from harness.cli.main import main; main()"),
            *("rules", "check", book, "--events", events, "--json"),
        ],
        input=recorded("ny manual", DEALINGS["ny manual"].round()),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.count("\n") == 1
    assert "Traceback" not in ran.stderr
