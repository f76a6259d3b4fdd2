"""One byte-exact form of JSON and the digest used throughout a record.

Every file that the record hashes or signs has exactly one right form: keys sorted by code point,
no spaces, UTF-8, no NaN. A byte that differs is therefore always a change, never a matter of taste.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

_BLOCK = 1 << 20


def canonical(value: object) -> bytes:
    """Give `value` as canonical JSON without a line end.

    Raises TypeError or ValueError for what JSON cannot hold (NaN and infinity included).
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode("utf-8")


def sha256_hex(data: bytes) -> str:
    """Give the SHA-256 of `data` as 64 lower-case hexadecimal digits (FIPS 180-4)."""
    return hashlib.sha256(data).hexdigest()


def file_sha256(path: Path) -> str:
    """Give the SHA-256 of a file's bytes; raises OSError if it cannot be read."""
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
