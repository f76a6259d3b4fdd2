"""The folder of one run: where each file lies, and how the folder comes into being."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.evidence.canonical import canonical, file_sha256
from harness.evidence.errors import (
    EvidenceError,
    FolderInUseError,
    UnwritableFolderError,
    not_a_run,
)
from harness.evidence.journal import Journal


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The paths of a run's files."""

    path: Path

    @property
    def manifest(self) -> Path:
        """What the run is of and how it was made."""
        return self.path / "manifest.json"

    @property
    def journal(self) -> Path:
        """The append-only record."""
        return self.path / "journal.jsonl"

    @property
    def frames(self) -> Path:
        """The pictures that voted, as received."""
        return self.path / "frames"

    @property
    def summary(self) -> Path:
        """Verdict, counts and findings."""
        return self.path / "summary.json"

    @property
    def messages(self) -> Path:
        """Cucumber Messages."""
        return self.path / "messages.ndjson"

    @property
    def junit(self) -> Path:
        """JUnit XML."""
        return self.path / "junit.xml"

    @property
    def html(self) -> Path:
        """The page."""
        return self.path / "report.html"

    @property
    def pdf(self) -> Path:
        """The printed report."""
        return self.path / "report.pdf"

    @property
    def cucumber_json(self) -> Path:
        """The older Cucumber JSON, made on demand."""
        return self.path / "cucumber.json"

    @property
    def seal(self) -> Path:
        """Digests of every other file, and the signature."""
        return self.path / "seal.json"

    def read_manifest(self) -> dict[str, Any]:
        """Give the manifest; raises UnreadableRecordError if it is missing or no JSON object."""
        try:
            value = json.loads(self.manifest.read_bytes())
        except OSError as error:
            raise not_a_run(self.path, "no manifest.json that can be read") from error
        except ValueError as error:
            raise not_a_run(self.path, "a manifest.json that is not JSON") from error
        if not isinstance(value, dict):
            raise not_a_run(self.path, "a manifest.json that is not an object")
        return value


_WRONG_PLACE = (
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EEXIST,
    errno.ENAMETOOLONG,
)


def create_run_folder(
    path: Path, manifest: Mapping[str, object], asked: Mapping[str, object]
) -> RunFolder:
    """Make the folder with its manifest and the journal's first line; neither ever changes.

    The folder is made beside `path` and moved there, so that a run killed at any moment has left
    either a run that can be taken up or nothing. Raises FolderInUseError (exit status 2) if there
    is anything in it, UnwritableFolderError (2, too) for a place where nothing can be written,
    EvidenceError if the disk fails.
    """
    folder = RunFolder(path)
    beside = RunFolder(path.with_name(f".{path.name}.part"))
    try:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise FolderInUseError(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(beside.path, ignore_errors=True)
        _fill(beside, manifest, asked)
        try:
            beside.path.rename(path)
        except OSError:  # a mount point cannot be moved onto
            shutil.rmtree(beside.path)
            _fill(folder, manifest, asked)
    except OSError as error:
        refusal = UnwritableFolderError if error.errno in _WRONG_PLACE else EvidenceError
        raise refusal(
            str(path),
            expected="a folder that can be written",
            found=error.strerror or str(error),
            remedy="make room or give write access, or name another folder with --out",
        ) from error
    return folder


def _fill(folder: RunFolder, manifest: Mapping[str, object], asked: Mapping[str, object]) -> None:
    folder.frames.mkdir(parents=True)
    write_file(folder.manifest, canonical(manifest) + b"\n")
    body = {
        "run_id": manifest["run_id"],
        "manifest_sha256": file_sha256(folder.manifest),
        "asked": dict(asked),
        "sittings": _sittings(manifest),
    }
    with Journal(folder.journal) as journal:
        journal.append("run-started", body)


def _sittings(manifest: Mapping[str, Any]) -> list[dict[str, object]]:
    """Give the books on rigs that the manifest names, for the journal to hold the run to."""
    sittings = manifest["invocation"].get("sittings", ())
    return [{"book": one["book"], "rig": one["rig_name"]} for one in sittings]


def open_run_folder(path: Path) -> RunFolder:
    """Give a folder that holds a run; raises UnreadableRecordError (exit 2) if it does not."""
    folder = RunFolder(path)
    if not path.is_dir():
        raise not_a_run(path, "no such folder")
    if not folder.journal.is_file():
        raise not_a_run(path, "no journal.jsonl")
    folder.read_manifest()
    return folder


def write_file(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, on the disk when this returns; raises OSError."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
