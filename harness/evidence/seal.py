"""The seal of a run: `seal.json`, digests of every other file and a signature if there is a key.

The file is one line of canonical JSON, so it has exactly one right form:

`files` gives each file's SHA-256 and, for text, `lines`: the first 12 hexadecimal digits of
each line's SHA-256, run together, so that a change is not only found but found where it is.
`record_sha256` is the digest of the evidence alone (manifest, journal, pictures), known before the
reports are written and printed on them. `signature` is Ed25519 over the canonical JSON of all but
`signature` and `seal_sha256`; `seal_sha256` is the SHA-256 of the canonical JSON of all but itself.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.evidence.canonical import canonical, file_sha256, sha256_hex
from harness.evidence.errors import EvidenceError
from harness.evidence.journal import TORN_PREFIX
from harness.evidence.keys import SigningKey
from harness.evidence.run_folder import RunFolder, write_file

SEAL_VERSION = 1
LINE_DIGITS = 12
NOT_A_FILE = "not a file"
TEXT_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".xml", ".html"})
UNSIGNED = "no key was made: this seal shows change, not who sealed"


def seal_run(folder: RunFolder, key: SigningKey | None) -> dict[str, Any]:
    """Seal a run folder as it stands and give the seal's content.

    Without a key the seal is unsigned and says so. Raises EvidenceError if it cannot be written.
    """
    try:
        files = {
            name: _facts(folder.path / name, digest)
            for name, digest in digests(folder.path).items()
            if name != folder.seal.name
        }
        seal: dict[str, Any] = {
            "schema": SEAL_VERSION,
            "run_id": folder.read_manifest().get("run_id"),
            "sealed": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "files": files,
            "record_sha256": record_sha256(
                {name: facts["sha256"] for name, facts in files.items()}
            ),
            "signed_by": key.fingerprint if key else None,
            "public_key": key.public.hex() if key else None,
            "note": None if key else UNSIGNED,
        }
        seal["signature"] = key.sign(canonical(seal)).hex() if key else None
        seal["seal_sha256"] = sha256_hex(canonical(seal))
        write_file(folder.seal, canonical(seal) + b"\n")
    except OSError as error:
        raise EvidenceError(
            str(folder.seal),
            expected="room for the seal",
            found=error.strerror or str(error),
            remedy="make room, then take the run up with --resume",
        ) from error
    return seal


def signed_part(seal: Mapping[str, Any]) -> bytes:
    """Give the bytes that a seal's signature is over."""
    return canonical({k: v for k, v in seal.items() if k not in ("signature", "seal_sha256")})


def digested_part(seal: Mapping[str, Any]) -> bytes:
    """Give the bytes that a seal's own digest is over."""
    return canonical({k: v for k, v in seal.items() if k != "seal_sha256"})


def record_digest(folder: RunFolder) -> str:
    """Give the digest of a run's evidence as it stands: what the reports print."""
    return record_sha256(digests(folder.path, evidence_only=True))


def record_sha256(files: Mapping[str, str]) -> str:
    """Give the digest of the evidence among `files` (name to SHA-256)."""
    return sha256_hex(canonical({n: digest for n, digest in files.items() if is_evidence(n)}))


def is_evidence(name: str) -> bool:
    """Tell whether a file is evidence itself and not derived from it."""
    return name in ("manifest.json", "journal.jsonl") or name.startswith(("frames/", TORN_PREFIX))


def digests(top: Path, *, evidence_only: bool = False) -> dict[str, str]:
    """Give the SHA-256 of every file under a folder by its path within, in order of the paths."""
    names = sorted(n for n in file_names(top) if not evidence_only or is_evidence(n))
    return {name: _digest(top / name) for name in names}


def _digest(path: Path) -> str:
    """Give a file's SHA-256; a link or a device has none, whatever it leads to."""
    return file_sha256(path) if stat.S_ISREG(path.lstat().st_mode) else NOT_A_FILE


def file_names(top: Path) -> Iterator[str]:
    """Give the path within `top` of everything there that is not a folder, links included."""
    folders = [""]
    while folders:
        within = folders.pop()
        with os.scandir(top / within) as found:
            for item in found:
                if item.is_dir(follow_symlinks=False):
                    folders.append(f"{within}{item.name}/")
                else:
                    yield f"{within}{item.name}"


def _facts(path: Path, digest: str) -> dict[str, str]:
    facts = {"sha256": digest}
    if path.suffix in TEXT_SUFFIXES:
        facts["lines"] = line_digests(path.read_bytes())
    return facts


def line_digests(data: bytes) -> str:
    """Give the first digits of each line's SHA-256, run together; a line ends with line feed."""
    return "".join(sha256_hex(line)[:LINE_DIGITS] for line in data.split(b"\n"))
