"""A book is not applicable to equipment that it does not allow, and says so by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

NOT_ALLOWED = [
    ("cca-1992", "emulated-manual", "shaker manual, cover opaque"),
    ("nj-13.69f-9.5", "emulated-automated-covered", "shaker automated, cover opaque"),
]


@pytest.mark.parametrize(("book", "rig", "found"), NOT_ALLOWED)
def test_a_book_on_a_rig_it_does_not_allow(book: str, rig: str, found: str, tmp_path: Path) -> None:
    """Fails if a scenario of a book passes or fails on equipment that the book does not know."""
    folder = tmp_path / "run"
    command = "import sys; from harness.cli.main import main; sys.exit(main())"
    options = ["--rules", book, "--rig", rig, "--inspection", "minimum", "--out", str(folder)]
    ended = subprocess.run(
        [sys.executable, "-c", command, "run", *options],
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 3, ended.stderr
    summary = json.loads((folder / "summary.json").read_text())
    assert set(summary["counts"]) == {"NOT_APPLICABLE"}
    lines = map(json.loads, (folder / "journal.jsonl").read_text().splitlines())
    told = {line["body"]["what"] for line in lines if line["kind"] == "scenario-finished"}
    assert len(told) == 1
    assert found in told.pop()
