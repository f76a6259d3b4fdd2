"""A short book to run, and runs of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import ended, processes_of, short, write_short_book


@pytest.fixture
def books(tmp_path: Path) -> Path:
    """A folder with the short book."""
    folder = tmp_path / "books"
    write_short_book(folder)
    return folder


@pytest.fixture
def run(books: Path, tmp_path: Path):
    """Run the short book, or take its run up; gives the process and what `summary.json` says."""

    def go(*options: str, env: dict[str, str] | None = None, resume: bool = False):
        told = ("--resume", "out") if resume else short(books, *options)
        process = ended(tmp_path, *told, env=env)
        assert not processes_of(tmp_path)
        summary = tmp_path / "out" / "summary.json"
        return process, json.loads(summary.read_text()) if summary.exists() else {}

    return go
