"""What a run is of: everything a report must say that the journal does not tell.

Written once, before anything is driven. What the laboratory's profile leaves out stays `None` and
is printed as missing, never left out (ISO/IEC 17025:2017, 7.8.2.1).
"""

from __future__ import annotations

import platform
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata

MANIFEST_VERSION = 1
_VERSIONS_OF = (
    "sicbo-hil",
    "onnxruntime",
    "opencv-python-headless",
    "numpy",
    "pytest",
    "pytest-bdd",
    "pydantic",
)


@dataclass(frozen=True, slots=True)
class RigFacts:
    """A rig file as used: name, title, digest, and who proved its map, when and how."""

    name: str
    file: str
    sha256: str
    title: str = ""
    map_verified: Mapping[str, object] | None = None
    hold_risk: str | None = None
    book: str | None = None
    devices: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BookFacts:
    """A rule book as used: edition, digest, readings in force, its clauses and their state.

    Each clause is `{"tag", "clause", "testable", "paraphrase", "why_not"}`; each reading
    `{"name", "value", "source": "text" | "reading", "note"}`. `area_clauses` gives for each area
    the clause that says when it wins.
    """

    book: str
    title: str
    source: str
    edition: str
    current_through: str
    sha256: str
    readings: Sequence[Mapping[str, object]] = ()
    clauses: Sequence[Mapping[str, object]] = ()
    areas: Sequence[str] = ()
    area_clauses: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Instrument:
    """A measuring part of the rig; dates as ISO 8601, None where not known."""

    device: str
    what: str
    serial: str | None = None
    calibrated: str | None = None
    due: str | None = None
    certificate: str | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """The facts of a run; `profile` is the laboratory's file (`harness.evidence.profile`).

    `invocation` holds what `run --resume` needs to go on: the options as given.
    `negative_control`, `campaign` and `reference_table` name the deliberate mismatch caught before
    this run, the fault campaign this version passed, and the last check on a reference table.
    `amends` names the original of an amended report: `{"run_id", "seal_sha256", "why"}`.
    """

    rigs: Sequence[RigFacts]
    books: Sequence[BookFacts]
    invocation: Mapping[str, object]
    inspection: str = "full"
    instruments: Sequence[Instrument] = ()
    operator: str | None = None
    dut: Mapping[str, object] = field(default_factory=dict)
    profile: Mapping[str, object] = field(default_factory=dict)
    negative_control: Mapping[str, object] | None = None
    campaign: Mapping[str, object] | None = None
    reference_table: Mapping[str, object] | None = None
    amends: Mapping[str, object] | None = None
    run_id: str = field(default_factory=lambda: str(uuid.uuid4()))

    def to_json(self) -> dict[str, object]:
        """Give the manifest as it is written; the time of the call is the run's creation."""
        return {
            "schema": MANIFEST_VERSION,
            "run_id": self.run_id,
            "created": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "clock": _clock(),
            "versions": _versions(),
            "host": {"system": platform.platform(), "machine": platform.machine()},
            "invocation": dict(self.invocation),
            "inspection": self.inspection,
            "rigs": [_plain(rig) for rig in self.rigs],
            "books": [_plain(book) for book in self.books],
            "instruments": [_plain(instrument) for instrument in self.instruments],
            "laboratory": dict(self.profile),
            "operator": self.operator,
            "dut": dict(self.dut),
            "negative_control": self.negative_control,
            "campaign": self.campaign,
            "reference_table": self.reference_table,
            "amends": self.amends,
        }


def _plain(facts: RigFacts | BookFacts | Instrument) -> dict[str, object]:
    return {name: getattr(facts, name) for name in facts.__slots__}


def _clock() -> dict[str, object]:
    wall, steady = time.get_clock_info("time"), time.get_clock_info("monotonic")
    return {
        "utc": "system clock of the host",
        "utc_implementation": wall.implementation,
        "monotonic_implementation": steady.implementation,
        "monotonic_resolution_s": steady.resolution,
        "utc_at_creation_s": time.time(),
        "monotonic_at_creation_s": time.monotonic(),
    }


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in _VERSIONS_OF:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
