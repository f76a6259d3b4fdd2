"""A thorough forger: journal records changed or left out, and everything mended that would show."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.evidence.canonical import canonical, sha256_hex
from harness.evidence.journal import seal_line
from harness.evidence.journal_lines import read_records
from harness.evidence.run_folder import RunFolder
from harness.evidence.seal import seal_run
from harness.evidence.summary import summarise


def rewrite(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change records in place (`change` gives False to leave one out) and mend every hash.

    Mended are line numbers, the chain, the summary where there is one, and the seal.
    """
    digest, lines = "0" * 64, []
    for line in (path / "journal.jsonl").read_bytes().splitlines():
        record = json.loads(line)
        del record["hash"]
        if change(record) is False:
            continue
        record["prev"], record["n"] = digest, len(lines) + 1
        digest = sha256_hex(new := seal_line(record))
        lines.append(new + b"\n")
    (path / "journal.jsonl").write_bytes(b"".join(lines))
    folder = RunFolder(path)
    if folder.summary.is_file():
        summary = summarise(read_records(folder.journal))
        folder.summary.write_bytes(canonical(summary) + b"\n")
    seal_run(folder, None)
