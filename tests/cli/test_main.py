"""The command line's frame: what it imports, how it ends, what it says when something is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from harness.cli import main as command_line
from harness.verdicts import ConfigurationError, HarnessError, InvalidFileError, Problem

HEAVY = ("numpy", "cv2", "scipy", "pydantic", "rich", "pytest", "pymodbus", "serial", "reportlab")


PROGRAM = [sys.executable, "-c", "from harness.cli.main import main; main()"]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
        check=False,
    )


def test_help_lists_every_command_and_imports_nothing_heavy():
    """Fails if --help loads what only some command needs, or leaves a command out."""
    code = (
        "import sys\n"
        "from harness.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    assert ended.code == 0, ended\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code, "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert shown.stderr.strip() == "[]"
    for name in command_line.COMMANDS:
        assert f"\n  {name} " in shown.stdout


@pytest.mark.parametrize("name", command_line.COMMANDS)
def test_every_command_is_there_and_has_help(name):
    """Fails if the table names a module or attribute that does not exist."""
    shown = run(name, "--help")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith(f"Usage: sicbo-hil {name}")


def test_unknown_command_and_option_are_usage_errors():
    """Fails if a slip of the pen ends otherwise than with 2 and a line."""
    for arguments in (("ruin",), ("run", "--rulez", "x")):
        ended = run(*arguments)
        assert ended.returncode == 2
        assert "Error: No such" in ended.stderr
        assert "Traceback" not in ended.stderr


def ending(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    """Have a command raise an error; give the exit status."""

    @click.command()
    def command() -> None:
        raise error

    monkeypatch.setattr(command_line, "cli", command)
    monkeypatch.setattr(sys, "argv", ["sicbo-hil"])
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_errors_of_the_harness_end_with_their_status(monkeypatch, capsys):
    """Fails if a rig's fault or a wrong file ends with another status or without its words."""
    fields = {"expected": "a port", "found": "nothing", "remedy": "plug it in"}
    assert ending(monkeypatch, HarnessError("keys", **fields)) == 3
    assert ending(monkeypatch, ConfigurationError("file", **fields)) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "sicbo-hil: keys: expected a port, found nothing; plug it in"


def test_every_mistake_of_a_file_is_a_line(monkeypatch, capsys):
    """Fails if only the first mistake of a file is shown."""
    mistakes = [Problem(f"line {n}", "this", "that") for n in (3, 7)]
    assert ending(monkeypatch, InvalidFileError("rig.toml", mistakes)) == 2
    said = capsys.readouterr().err.splitlines()
    assert [line.split(":")[1:3] for line in said] == [
        [" rig.toml", " line 3"],
        [" rig.toml", " line 7"],
    ]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_interruption_ends_with_130(monkeypatch, error):
    """Fails if Ctrl-C looks like a verdict."""
    assert ending(monkeypatch, error) == 130


def test_internal_error_is_one_line_unless_asked_for_more(monkeypatch, capsys):
    """Fails if a traceback reaches a user, or cannot be had by one who asks."""
    assert ending(monkeypatch, ValueError("two\nlines")) == 3
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "ValueError: two lines" in said
    monkeypatch.setenv(command_line.TRACEBACK_VARIABLE, "1")
    assert ending(monkeypatch, ValueError("two\nlines")) == 3
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("errors_too", [False, True])
@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["rules", "table", "ny-5324.51"], 0),
        (["rules", "table", "ny-5324.51", "--json"], 0),
        (["run", "--help"], 0),
        (["dice", "read", "not-there.png", "--json"], 2),
        (["rules", "table", "no-such-book"], 2),
    ],
)
def test_reader_that_goes_away_changes_no_status(words, status, errors_too):
    """Fails if `| head` makes a good answer a failure, a refusal good, or is told as an error."""
    reader, nobody_reads = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [*PROGRAM, *words],
        stdout=nobody_reads,
        stderr=nobody_reads if errors_too else subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(nobody_reads)
    assert ended.returncode == status
    assert "Broken" not in (ended.stderr or "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_output_that_takes_no_more_is_told_in_a_line():
    """Fails if a full disk is an internal error, silent, or good."""
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [*PROGRAM, "rules", "list", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert ended.returncode == 3
    assert ended.stderr.count("\n") == 1
    assert "standard output" in ended.stderr
    assert "internal" not in ended.stderr
