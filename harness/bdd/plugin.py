"""The pytest plugin: collects `.feature` files directly and refuses what would pass in silence.

It drives nothing. A run adds its own plugin object, which opens the bench and keeps the record.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.bdd.collecting import FeatureFile
from harness.bdd.inspection import results_of
from harness.bdd.steps import MODULES
from harness.rules.books import load_book

STEP_MODULES = tuple(f"harness.bdd.steps.{name}" for name in MODULES)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that say what is collected."""
    group = parser.getgroup("sicbo-hil", "Sic Bo features")
    group.addoption("--book", metavar="ID", help="rule book that the features are of")
    group.addoption(
        "--rules-path", metavar="DIR", action="append", default=[], help="further rule books"
    )
    group.addoption(
        "--inspection",
        choices=["full", "cover", "minimum"],
        default="full",
        help="which results 'each of 216' stands for",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the step definitions known and load the rule book."""
    for module in STEP_MODULES:
        config.pluginmanager.import_plugin(module)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a feature file; its folder's name is its rule book, unless `--book` says it."""
    if file_path.suffix != ".feature":
        return None
    config = parent.config
    book = load_book(
        config.getoption("book") or file_path.parent.name,
        [Path(folder) for folder in config.getoption("rules_path")],
    )
    return FeatureFile.of(parent, file_path, book, results_of(config.getoption("inspection"), book))


def pytest_bdd_apply_tag(tag: str) -> bool:
    """Keep tags out of pytest's marks: they name clauses and capabilities."""
    del tag
    return True
