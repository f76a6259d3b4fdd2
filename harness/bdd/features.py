"""Where the features of a rule book lie."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import harness

if TYPE_CHECKING:
    from harness.rules.books import RuleBook

GENERAL = Path(__file__).with_name("general")
"""Features for a book that brings none: every result, no clause of its own."""


def embedded_features() -> Path:
    """Give the folder of the embedded features: packaged, or the project's own."""
    package = Path(harness.__file__).parent
    packaged = package / "_features"
    return packaged if packaged.is_dir() else package.parent / "features"


def feature_uri(file: Path, folder: Path) -> str:
    """Give the name by which the record knows a feature file in a book's folder of features."""
    return f"features/{folder.name}/{file.relative_to(folder).as_posix()}"


def features_of(book: RuleBook) -> Path:
    """Give the folder of a book's features.

    A book's own lie in its folder; those of the embedded books in `features/BOOK`.
    """
    if any(book.folder.glob("*.feature")):
        return book.folder
    embedded = embedded_features() / book.id
    return embedded if any(embedded.glob("*.feature")) else GENERAL
