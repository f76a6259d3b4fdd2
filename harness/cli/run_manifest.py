"""The facts of a run, gathered from its books and rigs before anything is driven."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.campaign.passed import passed_campaign
from harness.dealing.calibrations import load_calibrations
from harness.evidence.manifest import BookFacts, Instrument, Manifest, RigFacts
from harness.evidence.profile import load_profile

if TYPE_CHECKING:
    from harness.cli.run_jobs import Order
    from harness.rig.sections import Rig
    from harness.rules.books import RuleBook


def new_folder(run_id: str) -> Path:
    """Give a folder for a run that was told none: `runs/TIME-ID`, the time in UTC."""
    return Path("runs") / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{run_id[:8]}"


def manifest_of(wanted: Order) -> dict[str, object]:
    """Give the manifest of a run; a `Manifest` as JSON."""
    rigs = {sitting.rig_name: sitting.rig for sitting in wanted.sittings}
    books = {sitting.book.id: sitting.book for sitting in wanted.sittings}
    laboratory = next((rig.laboratory for rig in rigs.values() if rig.laboratory), None)
    return Manifest(
        rigs=[rig_facts(name, rig) for name, rig in rigs.items()],
        books=[_book_facts(book) for book in books.values()],
        invocation=wanted.invocation(),
        inspection=wanted.inspection,
        campaign=passed_campaign(),
        instruments=[one for rig in rigs.values() for one in instruments_of(rig)],
        operator=laboratory.operator if laboratory is not None else None,
        dut={name: dut_of(rig) for name, rig in rigs.items()},
        profile=load_profile()
        | (laboratory.model_dump(mode="json") if laboratory is not None else {}),
    ).to_json() | {
        "calibrations": {name: load_calibrations(rig).to_json() for name, rig in rigs.items()}
    }


def rig_facts(name: str, rig: Rig) -> RigFacts:
    """Give what a record says of a rig file."""
    return RigFacts(
        name=name,
        file=rig.path.name,
        sha256=_digest(rig.files),
        title=rig.title,
        map_verified=rig.map_verified.model_dump(mode="json") if rig.map_verified else None,
        hold_risk="accepted" if rig.hold_risk else None,
        devices={
            device: settings.model_dump(mode="json", exclude_none=True)
            for device, settings in rig.devices.items()
        },
    )


def _book_facts(book: RuleBook) -> BookFacts:
    in_force = book.in_force()
    readings: list[dict[str, Any]] = [
        {
            "name": reading.option or reading.id,
            "value": in_force.get(reading.option) if reading.option else None,
            "source": reading.basis,
            "note": reading.says,
        }
        for reading in book.readings
    ]
    clauses = [
        {
            "tag": clause.tag,
            "clause": clause.clause,
            "testable": clause.testable,
            "paraphrase": clause.says,
            "why_not": clause.why_not,
        }
        for clause in book.clauses
    ]
    through = book.current_through
    return BookFacts(
        book=book.id,
        title=book.title,
        source=book.source,
        edition=book.edition,
        current_through=through.isoformat() if through is not None else "",
        sha256=_digest(sorted(book.folder.glob("*.toml"))),
        readings=readings,
        clauses=clauses,
        areas=list(book.areas),
        area_clauses={area.id: area.clause for area in book.areas.values()},
    )


def instruments_of(rig: Rig) -> list[Instrument]:
    """Give what a record says of a rig's devices as instruments.

    Of a camera for which the rig file states no calibration: the one by which it is read.
    """
    kept = load_calibrations(rig).to_json()
    made = {camera: str(one["made"]) for camera, one in kept.items()}
    digests = {camera: f"calibration, sha256 {one['sha256']}" for camera, one in kept.items()}
    return [
        Instrument(
            device=f"{rig.name}/{name}",
            what=settings.driver,
            serial=settings.serial_number,
            calibrated=settings.calibrated.isoformat() if settings.calibrated else made.get(name),
            due=settings.calibration_due.isoformat() if settings.calibration_due else None,
            certificate=settings.certificate or digests.get(name),
        )
        for name, settings in rig.devices.items()
    ]


def dut_of(rig: Rig) -> dict[str, object]:
    """Give what a record says of the table on a rig."""
    return rig.table.model_dump(mode="json", exclude_none=True)


def _digest(files: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        data = file.read_bytes()
        digest.update(f"{file.name} {len(data)}\n".encode() + data)
    return digest.hexdigest()
