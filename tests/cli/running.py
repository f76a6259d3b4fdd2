"""A run of the command line in a folder of its own, and what is left of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).parents[2]
LIMIT_S = 300
PROGRAM = [sys.executable, "-c", "from harness.cli.main import main; main()"]
OF_COVER = 17
"""Results of a daily inspection of New York's layout."""


def write_short_book(books: Path) -> None:
    """Write New York's rules as a book from outside, with the every-result feature alone: quick."""
    book = books / "short"
    shutil.copytree(PROJECT / "harness" / "rules" / "books" / "ny-5324.51", book)
    top = book / "book.toml"
    top.write_text(top.read_text().replace('id = "ny-5324.51"', 'id = "short"', 1))
    shutil.copy(PROJECT / "harness" / "bdd" / "general" / "every-result.feature", book)


def short(books: Path, *options: str) -> list[str]:
    """Give a run's options: the short book, into the folder `out`."""
    return ["--rules-path", str(books), "--rules", "short", "--out", "out", *options]


def sabotaged(folder: Path, how: str) -> dict[str, str]:
    """Give an environment in which every worker begins by doing this to itself."""
    (folder / "sabotage").mkdir()
    (folder / "sabotage" / "sitecustomize.py").write_text(how)
    kept = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([str(folder / "sabotage"), *([kept] if kept else [])])}


def ended(
    folder: Path, *options: str, env: dict[str, str] | None = None, command: str = "run"
) -> subprocess.CompletedProcess[str]:
    """Run, or have another command done, in a folder until it ends; gives the process."""
    process = subprocess.run(
        [*PROGRAM, command, *options],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        cwd=folder,
        check=False,
        env={**os.environ, **(env or {})},
    )
    assert "Traceback" not in process.stderr
    return process


def started(folder: Path, *options: str, finished: int = 3) -> subprocess.Popen[str]:
    """Start a run in a folder and wait until it has recorded that many scenarios."""
    process = subprocess.Popen(
        [*PROGRAM, "run", *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    journal = folder / "out" / "journal.jsonl"
    deadline = time.monotonic() + LIMIT_S
    while (
        not journal.exists() or journal.read_text().count('"kind":"scenario-finished"') < finished
    ):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


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


def gone(folder: Path) -> bool:
    """Wait until no process of a run in a folder is left; tells whether so it came."""
    deadline = time.monotonic() + 60
    while processes_of(folder) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not processes_of(folder)


def parts(summary: dict) -> set[str]:
    """Give every part that a finding names."""
    named = [finding["part"] for finding in summary["findings"]]
    return {part for one in named for part in ([one] if isinstance(one, str) else one)}


def lines_of(process: subprocess.CompletedProcess[str]) -> list[str]:
    """Give the lines that the program marks as errors."""
    marked = [line for line in process.stderr.splitlines() if line.startswith("sicbo-hil: ")]
    return [line.removeprefix("sicbo-hil: ") for line in marked]
