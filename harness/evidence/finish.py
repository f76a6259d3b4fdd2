"""The end of a run: every report from the one record, then the seal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.evidence.canonical import canonical
from harness.evidence.errors import EvidenceError
from harness.evidence.html import html_page
from harness.evidence.journal_lines import read_records
from harness.evidence.junit import junit_xml
from harness.evidence.keys import SigningKey
from harness.evidence.report_data import gather
from harness.evidence.run_folder import RunFolder, write_file
from harness.evidence.seal import seal_run
from harness.evidence.summary import outcomes, summarise


def write_summary(folder: RunFolder) -> dict[str, Any]:
    """Write `summary.json` from the journal and give what it says."""
    summary = summarise(read_records(folder.journal))
    _write(folder.summary, canonical(summary) + b"\n")
    return summary


def write_junit(folder: RunFolder) -> None:
    """Write `junit.xml` from the journal."""
    records = read_records(folder.journal)
    summary = summarise(records)
    document = junit_xml(
        str(summary["run_id"]),
        summary["started"],
        outcomes(records).values(),
        summary["inconclusive"],
    )
    _write(folder.junit, document)


def write_html(folder: RunFolder) -> None:
    """Write `report.html` from the record."""
    _write(folder.html, html_page(gather(folder), folder).encode("utf-8"))


def finish_run(folder: RunFolder, key: SigningKey | None = None) -> dict[str, Any]:
    """Write every file that follows from the record, then seal it all; give the summary.

    `key` is `harness.evidence.keys.load_signing_key()`, read before the run so that a wrong key
    file stops it early; None leaves the seal unsigned.

    To be called once the journal holds `run-finished`, or when the run breaks off. May be called
    again: the same record gives the same files. Raises EvidenceError if one cannot be written.
    """
    summary = write_summary(folder)
    write_junit(folder)
    write_html(folder)
    seal_run(folder, key)
    return summary


def _write(path: Path, data: bytes) -> None:
    try:
        write_file(path, data)
    except OSError as error:
        raise EvidenceError(
            str(path),
            expected="room for a report",
            found=error.strerror or str(error),
            remedy="make room, then write it with `sicbo-hil report`",
        ) from error
