"""Reading a journal: its records one by one, and every line that is not as it must be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.evidence.canonical import canonical, sha256_hex
from harness.evidence.errors import UnreadableRecordError
from harness.evidence.journal import FIRST_PREV, SCHEMA_VERSION, line_hash_holds

_MEMBERS = {"v", "n", "prev", "utc", "mono", "pid", "kind", "body", "hash"}


@dataclass(frozen=True, slots=True)
class Record:
    """One line of the journal: number from 1, kind, body, wall clock (RFC 3339), monotonic s."""

    line: int
    kind: str
    body: Any
    utc: str
    mono: float
    pid: int


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is not as it must be: its number in the file as it stands, and what is wrong."""

    line: int
    what: str


def read_records(path: Path) -> list[Record]:
    """Give the records of a journal; a half-written last line is left out.

    Raises UnreadableRecordError at the first line that is not a record. The chain is not followed
    here: that is `check_lines`.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableRecordError(
            str(path),
            expected="the journal of a run",
            found=error.strerror or str(error),
            remedy="name the folder that `sicbo-hil run` wrote",
        ) from error
    lines = data.split(b"\n")[:-1]
    return [_record(path, number, line) for number, line in enumerate(lines, start=1)]


def _record(path: Path, number: int, line: bytes) -> Record:
    try:
        value = json.loads(line)
        return Record(
            value["n"], value["kind"], value["body"], value["utc"], value["mono"], value["pid"]
        )
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableRecordError(
            f"{path}:{number}",
            expected="a record of the journal",
            found="a line that is none",
            remedy="run `sicbo-hil verify` on the folder to see what was changed",
        ) from error


def check_lines(data: bytes) -> Iterator[BadLine]:
    """Find every changed, removed, added, doubled or moved line of a journal's bytes.

    A line is blamed for its own bytes by its own hash; only lines whose bytes are sound are then
    compared with the line before, so one change is told once, where it is.
    """
    if not data:
        yield BadLine(1, "the journal is empty")
        return
    lines = data.split(b"\n")
    torn = lines.pop()
    before: bytes | None = b""
    expected = 1
    for place, line in enumerate(lines, start=1):
        fault = _own_fault(line)
        if fault:
            yield BadLine(place, fault)
            before, expected = None, expected + 1
            continue
        record = json.loads(line)
        number, prev = record["n"], record["prev"]
        if number > expected:
            yield BadLine(place, f"{_lines(expected, number - 1)} removed before this line")
        elif number < expected:
            yield BadLine(place, f"line {number} stands here where line {expected} belongs")
            continue  # doubled or moved here: what follows is measured against what came before
        elif before is not None and prev != (sha256_hex(before) if before else FIRST_PREV):
            yield BadLine(place, "not chained to the line before")
        before, expected = line, number + 1
    if torn:
        yield BadLine(len(lines) + 1, "the last line is half-written or its line end was changed")


def _own_fault(line: bytes) -> str | None:
    if not line_hash_holds(line):
        return "changed: the line does not fit its own hash"
    try:
        record = json.loads(line)
    except ValueError:
        return "not a JSON record"
    if not isinstance(record, dict) or set(record) != _MEMBERS:
        return "not a record of the journal"
    if record["v"] != SCHEMA_VERSION:
        return f"schema version {record['v']} is not known to this program"
    digest = record.pop("hash")
    text = canonical(record)
    if line != text[:-1] + b',"hash":"' + digest.encode() + b'"}':
        return "not in canonical form"
    return None


def _lines(first: int, last: int) -> str:
    return f"line {first} was" if first == last else f"lines {first} to {last} were"
