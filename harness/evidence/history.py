"""Runs over time: an index in SQLite. The run folders stay the truth; the index can be rebuilt.

Each run is a row, each result of a run another one, so that two firmware versions can be compared
result by result without opening the folders. Another database is named by its SQLAlchemy URL.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import ForeignKey, create_engine, delete, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from harness.evidence.canonical import file_sha256
from harness.evidence.errors import EvidenceError, UnreadableRecordError
from harness.evidence.journal_lines import read_records
from harness.evidence.report_items import table_identity
from harness.evidence.run_folder import RunFolder, open_run_folder
from harness.evidence.summary import outcomes, summarise
from harness.evidence.user_data import data_folder


class _Base(DeclarativeBase):
    """Base of the index's tables."""


class RunRow(_Base):
    """One run: where it lies, when, of which table, with which verdict."""

    __tablename__ = "runs"

    run_id: Mapped[str] = mapped_column(primary_key=True)
    folder: Mapped[str]
    started: Mapped[str | None]
    ended: Mapped[str | None]
    verdict: Mapped[str]
    finished: Mapped[bool]
    serial: Mapped[str | None]
    firmware: Mapped[str | None]
    version: Mapped[str | None]
    checked: Mapped[int]
    passed: Mapped[int]
    seal_sha256: Mapped[str | None]
    books: Mapped[str]
    results: Mapped[list[ResultRow]] = relationship(cascade="all, delete-orphan")


class ResultRow(_Base):
    """One result or scenario of a run with its verdict; `result` is empty for a scenario."""

    __tablename__ = "results"

    run_id: Mapped[str] = mapped_column(
        ForeignKey("runs.run_id", ondelete="CASCADE"), primary_key=True
    )
    book: Mapped[str] = mapped_column(primary_key=True)
    rig: Mapped[str] = mapped_column(primary_key=True)
    scenario: Mapped[str] = mapped_column(primary_key=True)
    result: Mapped[str] = mapped_column(primary_key=True)
    verdict: Mapped[str]
    what: Mapped[str]


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run as the history lists it; times are RFC 3339, `books` in order of their ids."""

    run_id: str
    folder: str
    started: str | None
    ended: str | None
    verdict: str
    finished: bool
    serial: str | None
    firmware: str | None
    version: str | None
    checked: int
    passed: int
    books: tuple[str, ...]
    there: bool

    def to_json(self) -> dict[str, object]:
        """Give the run as `history --json` prints it."""
        return {name: getattr(self, name) for name in self.__slots__} | {"books": list(self.books)}


class History:
    """The index, made on first use. Every method may raise EvidenceError (index not usable)."""

    def __init__(self, url: str | None = None) -> None:
        if url is None:
            path = data_folder() / "history.sqlite"
            url = f"sqlite:///{path}"
        self._url = url
        try:
            if url.startswith("sqlite:///"):
                Path(url.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
            self._engine = create_engine(url)
            _Base.metadata.create_all(self._engine)
        except (SQLAlchemyError, OSError) as error:
            raise self._refused(error) from error

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def add(self, path: Path) -> str:
        """Index one run folder, anew if it is known; gives the run's id.

        Raises UnreadableRecordError if the folder holds no run.
        """
        row = _row(open_run_folder(path))
        try:
            with Session(self._engine) as session, session.begin():
                session.execute(delete(ResultRow).where(ResultRow.run_id == row.run_id))
                session.execute(delete(RunRow).where(RunRow.run_id == row.run_id))
                session.flush()
                session.add(row)
                run_id = row.run_id
        except SQLAlchemyError as error:
            raise self._refused(error) from error
        return run_id

    def rebuild(self, folders: Iterable[Path]) -> int:
        """Forget everything and index every run found in or under `folders`; gives how many."""
        try:
            with Session(self._engine) as session, session.begin():
                session.execute(delete(ResultRow))
                session.execute(delete(RunRow))
        except SQLAlchemyError as error:
            raise self._refused(error) from error
        count = 0
        for top in folders:
            for journal in sorted(top.rglob("journal.jsonl")):
                try:
                    self.add(journal.parent)
                except UnreadableRecordError:
                    continue  # a journal of something else
                count += 1
        return count

    def runs(self) -> list[PastRun]:
        """Give every run known, the oldest first."""
        try:
            with Session(self._engine) as session:
                rows = session.scalars(select(RunRow).order_by(RunRow.started, RunRow.run_id))
                return [_past(row) for row in rows]
        except SQLAlchemyError as error:
            raise self._refused(error) from error

    def folder_of(self, run: str) -> Path:
        """Give the folder of a run by its id or the beginning of it.

        Raises UnreadableRecordError if no run, or more than one, is meant.
        """
        found = [past for past in self.runs() if past.run_id.startswith(run)]
        if len(found) != 1:
            raise UnreadableRecordError(
                f"run {run!r}",
                expected="a run folder, or the id of one known run",
                found=f"{len(found)} runs of that id",
                remedy="see `sicbo-hil history`, or name the folder",
            )
        return Path(found[0].folder)

    def _refused(self, error: Exception) -> EvidenceError:
        return EvidenceError(
            self._url,
            expected="an index of runs",
            found=" ".join(str(error).split())[:200],
            remedy="move the index away; `sicbo-hil history --rebuild DIR` makes it anew",
        )


def index_run(path: Path) -> None:
    """Add a run folder to the user's own history; raises EvidenceError if it cannot be kept."""
    history = History()
    try:
        history.add(path)
    finally:
        history.close()


def _row(folder: RunFolder) -> RunRow:
    records = read_records(folder.journal)
    manifest = folder.read_manifest()
    told = summarise(records)
    serial, firmware = table_identity(manifest)
    run_id = str(manifest.get("run_id"))
    return RunRow(
        run_id=run_id,
        folder=str(folder.path.resolve()),
        started=told["started"],
        ended=told["ended"],
        verdict=told["verdict"],
        finished=told["finished"],
        serial=serial,
        firmware=firmware,
        version=manifest["versions"].get("sicbo-hil"),
        checked=sum(book["checked"] for book in told["results"].values()),
        passed=sum(book["passed"] for book in told["results"].values()),
        seal_sha256=file_sha256(folder.seal) if folder.seal.is_file() else None,
        books=json.dumps(sorted({book["book"] for book in manifest["books"]})),
        results=[
            ResultRow(
                run_id=run_id,
                book=outcome.body["book"],
                rig=outcome.body["rig"],
                scenario=scenario,
                result=result,
                verdict=verdict.value,
                what=outcome.what,
            )
            for scenario, outcome in outcomes(records).items()
            for result, verdict in (outcome.results or {"": outcome.verdict}).items()
        ],
    )


def _past(row: RunRow) -> PastRun:
    books: Sequence[Any] = json.loads(row.books)
    return PastRun(
        run_id=row.run_id,
        folder=row.folder,
        started=row.started,
        ended=row.ended,
        verdict=row.verdict,
        finished=row.finished,
        serial=row.serial,
        firmware=row.firmware,
        version=row.version,
        checked=row.checked,
        passed=row.passed,
        books=tuple(books),
        there=Path(row.folder).is_dir(),
    )
