"""Checking a run folder against its seal: what was changed, removed, added or moved, and where.

Three witnesses are heard, each enough to find a change on its own: the journal's chain, the
digests that the journal holds of the pictures, and the seal over every file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.evidence.canonical import canonical, sha256_hex
from harness.evidence.errors import UnreadableRecordError, not_a_run
from harness.evidence.journal import line_hash_holds
from harness.evidence.journal_lines import check_lines
from harness.evidence.keys import fingerprint, signature_holds
from harness.evidence.records import named_frames
from harness.evidence.run_folder import RunFolder
from harness.evidence.seal import (
    LINE_DIGITS,
    NOT_A_FILE,
    SEAL_VERSION,
    digested_part,
    digests,
    line_digests,
    record_sha256,
    signed_part,
)

_SEAL_MEMBERS = {
    "schema",
    "run_id",
    "sealed",
    "files",
    "record_sha256",
    "signed_by",
    "public_key",
    "note",
    "signature",
    "seal_sha256",
}


@dataclass(frozen=True, slots=True)
class Tampering:
    """One thing wrong: the file's path within the run, its line from 1 if it has lines, what."""

    file: str
    line: int | None
    what: str

    def to_json(self) -> dict[str, object]:
        """Give the problem as `verify --json` prints it."""
        return {"file": self.file, "line": self.line, "what": self.what}


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` found. `signed_by` is a fingerprint, None where unsigned or not well signed.

    `finished`: the journal has its end; `complete`: everything asked for was run.
    """

    problems: tuple[Tampering, ...]
    signed_by: str | None
    finished: bool
    complete: bool

    @property
    def intact(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def to_json(self) -> dict[str, object]:
        """Give the answer as `verify --json` prints it."""
        return {
            "intact": self.intact,
            "signed_by": self.signed_by,
            "finished": self.finished,
            "complete": self.complete,
            "problems": [problem.to_json() for problem in self.problems],
        }


def verify_run(path: Path, trusted: bytes | None = None) -> Verification:
    """Check a run folder; with `trusted` (a public key, 32 bytes) only that signer is good.

    Never trusts a byte of the folder: whatever stands in it, the answer is a list of problems.
    Raises UnreadableRecordError only if there is no run at all.
    """
    folder = RunFolder(path)
    if not path.is_dir():
        raise not_a_run(path, "no such folder")
    if not any(file.exists() for file in (folder.manifest, folder.journal, folder.seal)):
        raise not_a_run(path, "neither manifest, journal nor seal")
    try:
        return _verify(folder, trusted)
    except OSError as error:
        raise UnreadableRecordError(
            str(error.filename or path),
            expected="a file that can be read",
            found=error.strerror or str(error),
            remedy="give read access to the whole run folder",
        ) from error


def _verify(folder: RunFolder, trusted: bytes | None) -> Verification:
    path = folder.path
    present = digests(path)
    journal = folder.journal.read_bytes() if folder.journal.is_file() else None
    seal, problems, signed_by = _check_seal(folder, trusted)
    if seal is not None:
        problems += _check_files(path, present, seal["files"], journal)
        if (
            record_sha256({n: f["sha256"] for n, f in seal["files"].items()})
            != (seal["record_sha256"])
        ):
            problems.append(Tampering("seal.json", 1, "its digest of the record does not fit"))
    finished = complete = False
    if journal is None:
        problems.append(Tampering("journal.jsonl", None, "removed"))
    else:
        finished, complete = _end_of(journal)
        problems += (Tampering("journal.jsonl", bad.line, bad.what) for bad in check_lines(journal))
        problems += _check_witnessed(journal, present)
        if not finished:
            last = journal.count(b"\n")
            problems.append(
                Tampering(
                    "journal.jsonl", last or None, "the run is unfinished: no end is recorded"
                )
            )
    return Verification(_each_once(problems), signed_by, finished, complete)


def _check_seal(
    folder: RunFolder, trusted: bytes | None
) -> tuple[dict[str, Any] | None, list[Tampering], str | None]:
    """Read the seal; give it if its files can be compared, what is wrong, and the signer."""
    name = folder.seal.name
    if not folder.seal.is_file():
        return None, [Tampering(name, None, "the run is not sealed")], None
    data = folder.seal.read_bytes()
    try:
        seal = json.loads(data)
    except (ValueError, RecursionError):
        return None, [Tampering(name, 1, "changed: not JSON")], None
    if not _is_seal(seal):
        return None, [Tampering(name, 1, "changed: not a seal of this program")], None
    problems: list[Tampering] = []
    if not _fits_itself(seal, data):
        # The files are not held against a seal that was itself changed: that would blame them.
        return None, [Tampering(name, 1, "changed: the seal does not fit its own digest")], None
    signed_by, fault = _signer(seal)
    if fault:
        problems.append(Tampering(name, 1, fault))
    if trusted is not None and not fault and signed_by != fingerprint(trusted):
        problems.append(
            Tampering(name, 1, f"signed by {signed_by or 'nobody'}, not by the key given")
        )
    return seal, problems, signed_by


def _fits_itself(seal: Mapping[str, Any], data: bytes) -> bool:
    try:
        form, digest = canonical(seal) + b"\n", sha256_hex(digested_part(seal))
    except ValueError:  # JSON that has no canonical form, such as NaN or half a surrogate pair
        return False
    return data == form and seal["seal_sha256"] == digest


def _is_seal(seal: object) -> bool:
    return (
        isinstance(seal, dict)
        and set(seal) == _SEAL_MEMBERS
        and seal["schema"] == SEAL_VERSION
        and isinstance(seal["files"], dict)
        and all(
            isinstance(facts, dict)
            and isinstance(facts.get("sha256"), str)
            and isinstance(facts.get("lines", ""), str)
            for facts in seal["files"].values()
        )
    )


def _signer(seal: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Give the signer's fingerprint, or what is wrong with the signature."""
    claimed = (seal["signed_by"], seal["public_key"], seal["signature"])
    if claimed == (None, None, None):
        return None, None
    try:
        public, signature = bytes.fromhex(seal["public_key"]), bytes.fromhex(seal["signature"])
    except (TypeError, ValueError):
        return None, "changed: the signature is none"
    if not signature_holds(public, signature, signed_part(seal)):
        return None, "the signature does not fit the seal"
    if seal["signed_by"] != fingerprint(public):
        return None, "signed by another key than it names"
    return fingerprint(public), None


def _check_files(
    top: Path,
    present: Mapping[str, str],
    sealed: Mapping[str, Mapping[str, Any]],
    journal: bytes | None,
) -> Iterator[Tampering]:
    for name, facts in sealed.items():
        if name not in present:
            yield Tampering(name, None, "removed")
        elif present[name] == NOT_A_FILE:
            yield Tampering(name, None, "replaced by a link or a device")
        elif present[name] != facts["sha256"]:
            if name == "journal.jsonl" and journal is not None:
                data = journal
            else:
                data = (top / name).read_bytes()
            yield from _locate(name, data, facts.get("lines"))
    for name in present.keys() - sealed.keys() - {"seal.json"}:
        linked = present[name] == NOT_A_FILE
        what = "a link or a device" if linked else "the seal does not know it"
        yield Tampering(name, None, f"added: {what}")


def _locate(name: str, data: bytes, sealed: str | None) -> Iterator[Tampering]:
    """Say which lines of a changed file differ from those that were sealed."""
    if sealed is None:
        yield Tampering(name, None, "changed")
        return
    then, now = _split(sealed), _split(line_digests(data))
    found = list(_differences(then, now))
    yield from (Tampering(name, line, what) for line, what in found)
    if not found:
        yield Tampering(name, None, "changed")


def _split(text: str) -> list[str]:
    return [text[at : at + LINE_DIGITS] for at in range(0, len(text), LINE_DIGITS)]


def _differences(then: Sequence[str], now: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Compare two lists of line digests, blaming as few lines as can be."""
    start = 0
    while start < min(len(then), len(now)) and then[start] == now[start]:
        start += 1
    end = 0
    while end < min(len(then), len(now)) - start and then[-1 - end] == now[-1 - end]:
        end += 1
    old, new = then[start : len(then) - end], now[start : len(now) - end]
    if len(old) == len(new):
        known = Counter(then)
        for offset, (was, is_) in enumerate(zip(old, new, strict=True)):
            if was != is_:
                yield start + offset + 1, "moved here" if is_ in known else "changed"
    elif not new:
        yield start + 1, f"{len(old)} line(s) removed before this line"
    elif not old:
        known = Counter(then)
        for offset, is_ in enumerate(new):
            yield start + offset + 1, "doubled" if is_ in known else "added"
    else:
        yield start + 1, f"changed: {len(old)} line(s) sealed from here, {len(new)} found"


def _check_witnessed(journal: bytes, present: Mapping[str, str]) -> Iterator[Tampering]:
    """Compare files with the digests that the journal itself holds of them."""
    for number, line in enumerate(journal.split(b"\n"), start=1):
        if not any(mark in line for mark in _WITNESSES) or not line_hash_holds(line):
            continue  # a line that was itself changed bears no witness
        try:
            record = json.loads(line)
            told = list(_told(record["kind"], record["body"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        for name, digest in told:
            if name not in present:
                yield Tampering(name, None, f"removed: line {number} of the journal refers to it")
            elif present[name] != digest:
                yield Tampering(name, None, f"changed: line {number} of the journal differs")


_WITNESSES = (b'"kind":"entry"', b'"kind":"look"', b'"kind":"run-started"', b'"kind":"torn"')


def _told(kind: str, body: Any) -> Iterator[tuple[str, str]]:
    if kind in ("entry", "look"):
        for frame in named_frames(body):
            yield f"frames/{frame['name']}", frame["sha256"]
    elif kind == "run-started":
        yield "manifest.json", body["manifest_sha256"]
    elif kind == "torn":
        yield body["file"], body["sha256"]


def _end_of(journal: bytes) -> tuple[bool, bool]:
    """Tell whether the journal has its end, and whether all that was asked for was run."""
    for line in reversed(journal.split(b"\n")):
        if b'"kind":"run-resumed"' in line:
            return False, False
        if b'"kind":"run-finished"' in line:
            try:
                return True, json.loads(line)["body"]["complete"] is True
            except (ValueError, KeyError, TypeError):
                return False, False
    return False, False


def _each_once(problems: Sequence[Tampering]) -> tuple[Tampering, ...]:
    """Keep one problem for each file and line, the first told; then in order of place."""
    kept: dict[tuple[str, int | None], Tampering] = {}
    placed = {problem.file for problem in problems if problem.line is not None}
    for problem in problems:
        if problem.line is None and problem.file in placed:
            continue
        kept.setdefault((problem.file, problem.line), problem)
    return tuple(sorted(kept.values(), key=lambda p: (p.file, p.line or 0)))
