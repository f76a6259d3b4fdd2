"""Reading a journal: its records one by one, and every line that is not as it must be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.evidence.canonical import sha256_hex
from harness.evidence.errors import UnreadableRecordError
from harness.evidence.journal import FIRST_PREV, SCHEMA_VERSION, line_hash_holds

_LINE = re.compile(
    rb'\{"body":\{.*\},"kind":"[a-z-]+","mono":[0-9.e+-]+,"n":([0-9]+),"pid":[0-9]+,'
    rb'"prev":"([0-9a-f]{64})","utc":"[0-9TZ:.-]+","v":([0-9]+),"hash":"[0-9a-f]{64}"\}',
    re.DOTALL,
)
"""A line as this program writes it; its own hash vouches for the bytes within `body`."""


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


def read_records(path: Path, *, after: int = 0) -> list[Record]:
    """Give the records of a journal; a half-written last line is left out.

    after: the number of lines that are left out at the beginning.

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
    return [
        _record(path, number, line) for number, line in enumerate(lines[after:], start=after + 1)
    ]


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
    before: str | None = FIRST_PREV  # what the next line must carry; None after a changed line
    last = 0  # number of the last sound line that stood in its place
    for place, line in enumerate(lines, start=1):
        form = _LINE.fullmatch(line)
        if form is None or not line_hash_holds(line):
            yield BadLine(place, "changed: the line does not fit its own hash")
            before = None
            continue
        number, prev, version = int(form[1]), form[2].decode(), int(form[3])
        if version != SCHEMA_VERSION:
            yield BadLine(place, f"schema version {version} is not known to this program")
        if number <= last:
            yield BadLine(place, f"doubled or moved here: it is line {number}, not {last + 1}")
            continue  # what follows is measured against what came before
        if before is not None and number > last + 1:
            yield BadLine(place, f"{_removed(last + 1, number - 1)} before this line")
        elif before is not None and prev != before:
            yield BadLine(place, "not chained to the line before")
        before, last = sha256_hex(line), number
    if torn:
        yield BadLine(len(lines) + 1, "the last line is half-written or its line end was changed")


def _removed(first: int, last: int) -> str:
    return f"line {first} was removed" if first == last else f"lines {first} to {last} were removed"
