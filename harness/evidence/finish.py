"""The end of a run: every report from the one record, then the seal."""

from __future__ import annotations

from typing import Any

from harness.evidence.canonical import canonical
from harness.evidence.journal_lines import read_records
from harness.evidence.keys import SigningKey
from harness.evidence.reports import Format, report_bytes, report_path, save_report
from harness.evidence.run_folder import RunFolder
from harness.evidence.seal import seal_run
from harness.evidence.summary import summarise

SEALED_REPORTS: tuple[Format, ...] = ("junit", "messages", "html", "pdf")


def write_summary(folder: RunFolder) -> dict[str, Any]:
    """Write `summary.json` from the journal and give what it says."""
    summary = summarise(read_records(folder.journal))
    save_report(folder.summary, canonical(summary) + b"\n")
    return summary


def finish_run(folder: RunFolder, key: SigningKey | None = None) -> dict[str, Any]:
    """Write every file that follows from the record, then seal it all; give the summary.

    `key` is `harness.evidence.keys.load_signing_key()`, read before the run so that a wrong key
    file stops it early; None leaves the seal unsigned. To be called once the journal holds
    `run-finished`. May be called again: the same record gives the same files. Raises EvidenceError
    if one cannot be written.
    """
    folder.seal.unlink(missing_ok=True)
    summary = write_summary(folder)
    for wanted in SEALED_REPORTS:
        save_report(report_path(folder, wanted), report_bytes(folder, wanted))
    seal_run(folder, key)
    return summary
