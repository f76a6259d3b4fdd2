"""The append-only journal of a run: JSON lines, each chained to the line before.

A line is canonical JSON (`harness.evidence.canonical`) with these members:

`v` schema version, `n` line number from 1, `prev` SHA-256 of the line before (its bytes without the
line end; 64 zeros for line 1), `utc` host time (RFC 3339, microseconds), `mono` host monotonic
time in seconds, `pid` the process that wrote it, `kind` and `body` (see
`harness.evidence.records`), and last `hash`, the SHA-256 of the line as it reads without its
`hash` member. `prev` shows what was taken out or moved; `hash` shows which line was changed.

Several processes may append to one file: each append holds an exclusive lock (flock) and chains on
the line that is last at that moment. What a power cut or a killed writer left half-written at the
end of the file was never acknowledged to anyone; the next writer moves those bytes to
`journal.torn-HASH` beside the journal and records that it did (`kind` `torn`).
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from types import TracebackType

from harness.evidence.canonical import canonical, sha256_hex
from harness.evidence.errors import EvidenceError

SCHEMA_VERSION = 1
FIRST_PREV = "0" * 64
TORN_PREFIX = "journal.torn-"
_TAIL_BLOCK = 1 << 16


@dataclass(slots=True)
class _End:
    """Where the chain stands: size of the file, number and digest of its last line."""

    size: int = 0
    number: int = 0
    digest: str = FIRST_PREV
    torn: bytes = field(default=b"")


class Journal:
    """A journal open for appending; also a context manager.

    Opening creates the file if need be and sets aside a half-written end. Every method may raise
    `EvidenceError` (disk full, file gone). Safe between threads, between processes, and after a
    fork.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._thread_lock = Lock()
        self._end = _End()
        try:
            new = not path.exists()
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            if new:
                _sync_folder(path.parent)
        except OSError as error:
            raise _refused(path, error) from error
        self._owner = os.getpid()
        with self._exclusive():
            self._catch_up()
            self._record_forgotten_torn()

    def append(self, kind: str, body: Mapping[str, object]) -> int:
        """Append one record and give its line number; on return it is on the disk."""
        return self.append_all([(kind, body)])[0]

    def append_all(self, records: Iterable[tuple[str, Mapping[str, object]]]) -> list[int]:
        """Append records as consecutive lines with one flush; give their line numbers."""
        kept = list(records)
        if not kept:
            return []
        with self._exclusive():
            self._catch_up()
            return self._write(kept)

    def close(self) -> None:
        """Close the file; nothing is buffered, so nothing can be lost here."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        with self._thread_lock:
            try:
                if self._owner != os.getpid():  # a fork shares its parent's lock: take our own
                    os.close(self._fd)
                    self._fd = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
                    self._owner = os.getpid()
                fcntl.flock(self._fd, fcntl.LOCK_EX)
                try:
                    yield
                finally:
                    fcntl.flock(self._fd, fcntl.LOCK_UN)
            except OSError as error:
                raise _refused(self.path, error) from error

    def _catch_up(self) -> None:
        """Take in what other writers appended, and set a torn end aside."""
        size = os.fstat(self._fd).st_size
        if size == self._end.size:
            return
        if size < self._end.size:
            raise EvidenceError(
                str(self.path),
                expected=f"at least {self._end.size} bytes already written",
                found=f"{size} bytes",
                remedy="keep other programs off the run folder; the run cannot go on",
            )
        self._end = _find_end(self._fd, size)
        if self._end.number == 0 and b"\n" in self._end.torn:
            raise EvidenceError(
                str(self.path),
                expected="a journal of this program",
                found="lines that are none of its records",
                remedy="name the folder of a run",
            )
        if self._end.torn:
            self._set_torn_aside()

    def _set_torn_aside(self) -> None:
        """Keep the half-written bytes in a file of their own, then take them off the journal."""
        torn = self._end.torn
        aside = self.path.with_name(f"{TORN_PREFIX}{sha256_hex(torn)[:16]}")
        _write_whole(aside, torn)
        os.ftruncate(self._fd, self._end.size)
        os.fsync(self._fd)
        self._end.torn = b""
        self._write([("torn", _torn_body(aside.name, torn))])

    def _record_forgotten_torn(self) -> None:
        """Record torn ends that were set aside just before another power cut."""
        for aside in sorted(self.path.parent.glob(f"{TORN_PREFIX}*")):
            if aside.name.encode() not in self.path.read_bytes():
                self._write([("torn", _torn_body(aside.name, aside.read_bytes()))])

    def _write(self, records: list[tuple[str, Mapping[str, object]]]) -> list[int]:
        number, digest = self._end.number, self._end.digest
        utc, mono, pid = _utc_now(), time.monotonic(), os.getpid()
        lines: list[bytes] = []
        for kind, body in records:
            number += 1
            line = seal_line(
                {
                    "v": SCHEMA_VERSION,
                    "n": number,
                    "prev": digest,
                    "utc": utc,
                    "mono": mono,
                    "pid": pid,
                    "kind": kind,
                    "body": dict(body),
                }
            )
            digest = sha256_hex(line)
            lines.append(line + b"\n")
        data = b"".join(lines)
        try:
            _write_all(self._fd, data)
            os.fdatasync(self._fd)
        except OSError:
            os.ftruncate(self._fd, self._end.size)  # a full disk must not leave half a line
            raise
        self._end = _End(self._end.size + len(data), number, digest)
        return list(range(number - len(records) + 1, number + 1))


def seal_line(record: Mapping[str, object]) -> bytes:
    """Give a journal line (no line end) for a record without `hash`, its hash put last."""
    text = canonical(record)
    return text[:-1] + b',"hash":"' + sha256_hex(text).encode() + b'"}'


def line_hash_holds(line: bytes) -> bool:
    """Tell whether a line's own `hash` member is the digest of the rest of the line."""
    mark = line.rfind(b',"hash":"')
    return mark > 0 and line[mark:] == (
        b',"hash":"' + sha256_hex(line[:mark] + b"}").encode() + b'"}'
    )


def line_number(line: bytes) -> int:
    """Give the number a whole line carries; raises ValueError if it carries none."""
    mark = line.rfind(b',"n":')
    end = line.find(b',"pid":', mark)
    if mark < 0 or end < 0:
        raise ValueError(line[:80])
    return int(line[mark + 5 : end])


def _find_end(fd: int, size: int) -> _End:
    """Read backwards to the last whole line; what follows it is torn."""
    tail, start = b"", size
    while start > 0:
        block = min(_TAIL_BLOCK, start)
        start -= block
        tail = os.pread(fd, block, start) + tail
        while (cut := tail.rfind(b"\n")) >= 0:
            begin = tail.rfind(b"\n", 0, cut)
            if begin < 0 and start > 0:
                break  # the line's beginning lies further back
            line = tail[begin + 1 : cut]
            if line_hash_holds(line):
                whole = start + cut + 1
                torn = os.pread(fd, size - whole, whole)
                return _End(whole, line_number(line), sha256_hex(line), torn)
            tail = tail[: begin + 1]
            if not tail:
                break
    return _End(torn=os.pread(fd, size, 0))


def _torn_body(name: str, torn: bytes) -> dict[str, object]:
    return {"file": name, "bytes": len(torn), "sha256": sha256_hex(torn)}


def _utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _write_whole(path: Path, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        _write_all(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _refused(path: Path, error: OSError) -> EvidenceError:
    return EvidenceError(
        str(path),
        expected="a record that can be written",
        found=error.strerror or str(error),
        remedy="make room or give write access, then take the run up with --resume",
    )
