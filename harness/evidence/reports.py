"""Every report of a run by its format, and where it is written.

A sealed folder is never written to: a report that is not, byte for byte, the one that was sealed
goes beside the folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import quote

from harness.evidence.canonical import file_sha256
from harness.evidence.errors import EvidenceError, SealedFolderError, UnreadableRecordError
from harness.evidence.journal_lines import read_records
from harness.evidence.junit import junit_xml
from harness.evidence.run_folder import RunFolder, open_run_folder, write_file
from harness.evidence.summary import outcomes, summarise

Format = Literal["html", "pdf", "junit", "messages", "cucumber-json"]
FORMATS: tuple[Format, ...] = get_args(Format)


def report_bytes(
    folder: RunFolder,
    wanted: Format,
    *,
    profile: Mapping[str, Any] | None = None,
    amends: Mapping[str, Any] | None = None,
    where: str = "",
) -> bytes:
    """Make one report from the record; the same record gives the same bytes.

    `profile` and `amends` concern page and print alone (see `report_data.gather`): with either the
    report is issued now. `where` leads from the report's place to the run folder, as part of a URI.
    """
    issued = None if profile is None and amends is None else datetime.now(UTC).isoformat()
    match wanted:
        case "html":
            from harness.evidence.html import html_page
            from harness.evidence.report_data import gather

            report = gather(folder, amends=amends, profile=profile, issued=issued)
            return html_page(report, folder, where).encode("utf-8")
        case "pdf":
            from harness.evidence.pdf import pdf_report
            from harness.evidence.report_data import gather

            return pdf_report(gather(folder, amends=amends, profile=profile, issued=issued), folder)
        case "junit":
            records = read_records(folder.journal)
            told = summarise(records)
            return junit_xml(
                str(told["run_id"]),
                told["started"],
                list(outcomes(records).values()),
                told["inconclusive"],
                told["findings"],
            )
        case "messages":
            from harness.evidence.messages import messages_ndjson

            return messages_ndjson(folder, where)
        case "cucumber-json":
            from harness.evidence.cucumber_json import cucumber_json
            from harness.evidence.messages import messages

            features = cucumber_json(messages(folder, where))
            return json.dumps(features, ensure_ascii=False, indent=1).encode("utf-8") + b"\n"


def report_path(folder: RunFolder, wanted: Format) -> Path:
    """Give where a report lies within the run folder."""
    return {
        "html": folder.html,
        "pdf": folder.pdf,
        "junit": folder.junit,
        "messages": folder.messages,
        "cucumber-json": folder.cucumber_json,
    }[wanted]


def write_report(
    path: Path,
    wanted: Format,
    *,
    out: Path | None = None,
    profile: Mapping[str, Any] | None = None,
    amends: Mapping[str, Any] | None = None,
) -> Path:
    """Write one report of the run in the folder `path` and give where it is.

    Raises UnreadableRecordError if there is no run, SealedFolderError if `out` lies in one that is
    sealed, EvidenceError if the report cannot be written.
    """
    from harness.evidence.report_data import further_id

    folder = open_run_folder(path)
    if out is not None and folder.seal.is_file() and path.resolve() in out.resolve().parents:
        raise SealedFolderError(
            str(out),
            expected="a place outside the sealed run folder",
            found="one within it, where it would break the seal",
            remedy="name another place with --out, or leave it out",
        )
    own = report_path(folder, wanted)
    place = out or own
    if out is None and folder.seal.is_file():
        if own.is_file() and own.read_bytes() == report_bytes(
            folder, wanted, profile=profile, amends=amends
        ):
            return own
        apart = further_id(amends, profile) if wanted in ("html", "pdf") else ""
        place = path.resolve().parent / f"{path.resolve().name}{apart}-{own.name}"
    to_run = os.path.relpath(path.resolve(), place.resolve().parent)
    lead = "" if to_run == "." else f"{quote(Path(to_run).as_posix())}/"
    save_report(place, report_bytes(folder, wanted, profile=profile, amends=amends, where=lead))
    return place


def save_report(path: Path, data: bytes) -> None:
    """Write a report whole or not at all; raises EvidenceError."""
    try:
        write_file(path, data)
    except OSError as error:
        raise EvidenceError(
            str(path),
            expected="a place and room for a report",
            found=error.strerror or str(error),
            remedy="make room or name another file, then write it with `sicbo-hil report`",
        ) from error


def original_of(path: Path, why: str) -> dict[str, str]:
    """Give what an amended report says of the run folder it amends.

    Raises UnreadableRecordError if that run is not there or not sealed.
    """
    folder = open_run_folder(path)
    if not folder.seal.is_file():
        raise UnreadableRecordError(
            str(path),
            expected="a sealed run whose report is amended",
            found="no seal.json",
            remedy="finish that run with `sicbo-hil run --resume`",
        )
    run_id = str(folder.read_manifest().get("run_id"))
    return {"run_id": run_id, "seal_sha256": file_sha256(folder.seal), "why": why}
