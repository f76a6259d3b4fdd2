"""Commands forked from a warm process: real ones, seen from outside."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.campaign.warm import WarmCommand, WarmProcessError
from tests.campaign.test_own_rigs import RIG


def test_commands_begun_side_by_side_keep_status_output_and_environment_apart(tmp_path):
    """Fails if one command's exit status, output or environment is taken for another's."""

    def carry_out(number: int) -> tuple[int | None, str]:
        wrong = number % 3 == 0
        arguments = ["history", "--json", *(["--wrong"] if wrong else [])]
        data = tmp_path / f"data-{number}"
        environment = {**os.environ, "XDG_DATA_HOME": str(data)}
        command = WarmCommand(arguments, tmp_path / f"{number}.txt", environment)
        assert command.wait(60.0)
        assert command.status == (2 if wrong else 0), command.printed
        return command.status, command.printed

    with ThreadPoolExecutor(6) as threads:
        made = list(threads.map(carry_out, range(24)))
    for status, printed in made:
        assert ("--wrong" in printed) is (status == 2)


def test_a_run_that_is_ended_unwinds(tmp_path):
    """Fails if a run is cut off before it closed its record, or leaves its bench behind."""
    folder = tmp_path / "run"
    arguments = ["run", "--rig", str(RIG.path), "--rules", "ny-5324.51", "--out", str(folder)]
    command = WarmCommand(arguments, tmp_path / "run.txt", os.environ)
    give_up = time.monotonic() + 60.0
    while '"scenario-finished"' not in _text(folder / "journal.jsonl"):
        assert time.monotonic() < give_up, command.printed
        time.sleep(0.05)
    assert command.status is None
    command.end()
    assert command.status == 130, command.printed
    assert "interrupted" in command.printed
    assert (folder / "summary.json").exists()


def test_a_command_whose_end_nobody_could_tell_is_ended_and_said(tmp_path):
    """Fails if a run is taken to have ended, and its bench for free, because what would have told
    so is gone."""
    begun = tmp_path / "run.txt"
    command = WarmCommand(["emulate", str(RIG.path)], begun, os.environ)
    give_up = time.monotonic() + 60.0
    while not _text(begun):
        assert time.monotonic() < give_up
        time.sleep(0.05)
    (server,) = (pid for pid in _children(os.getpid()) if "forkserver" in _called(pid))
    (run,) = _children(server)
    os.kill(server, signal.SIGKILL)
    with pytest.raises(WarmProcessError):
        command.wait(60.0)
    with pytest.raises(ProcessLookupError):
        os.kill(run, 0)


def _children(parent: int) -> list[int]:
    stats = {int(file.parent.name): _text(file) for file in Path("/proc").glob("[0-9]*/stat")}
    return [pid for pid, stat in stats.items() if stat and _parent(stat) == parent]


def _parent(stat: str) -> int:
    return int(stat.rpartition(")")[2].split()[1])


def _called(pid: int) -> str:
    return _text(Path(f"/proc/{pid}/cmdline"))


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return ""
