"""A short book to run, and runs of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.running import PROJECT, ended, processes_of, short


@pytest.fixture
def books(tmp_path: Path) -> Path:
    """New York's rules as a book from outside, with the every-result feature alone: quick."""
    folder = tmp_path / "books"
    shutil.copytree(PROJECT / "harness" / "rules" / "books" / "ny-5324.51", folder / "short")
    book = folder / "short" / "book.toml"
    book.write_text(book.read_text().replace('id = "ny-5324.51"', 'id = "short"', 1))
    shutil.copy(PROJECT / "harness" / "bdd" / "general" / "every-result.feature", folder / "short")
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
