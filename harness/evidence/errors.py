"""What can go wrong with a record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.verdicts import ConfigurationError, HarnessError


class EvidenceError(HarnessError):
    """The record could not be kept: the disk is full, gone or refuses writing."""


class UnreadableRecordError(ConfigurationError):
    """A run folder, or a file of it, is not there or is not what it should be."""


class FolderInUseError(ConfigurationError):
    """The folder asked for already holds something: a run never mixes with other files."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            str(folder),
            expected="a folder that is new or empty",
            found="files in it",
            remedy="name another folder with --out, or take up that run with --resume",
        )


class UnwritableFolderError(ConfigurationError):
    """The folder asked for lies where nothing can be written."""


class SealedFolderError(ConfigurationError):
    """A file that would be added to a run folder that is sealed."""


@contextmanager
def as_schema_has_it(folder: Path) -> Iterator[None]:
    """Tell a record whose members are not those of the schema; its hashes may be mended."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableRecordError(
            str(folder),
            expected="a record with the members that its schema has",
            found=f"one without ({type(error).__name__}: {error})",
            remedy="run `sicbo-hil verify` on the folder; if it is intact, its maker changed it",
        ) from error


def not_a_run(folder: Path, found: str) -> UnreadableRecordError:
    """Make the error for a folder that holds no run."""
    return UnreadableRecordError(
        str(folder),
        expected="a run folder (manifest.json and journal.jsonl)",
        found=found,
        remedy="name the folder that `sicbo-hil run` wrote",
    )
