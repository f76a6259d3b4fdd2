"""Taking up a run that broke off: what its journal already holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.evidence.journal_lines import read_records
from harness.evidence.records import read_entry
from harness.evidence.summary import ScenarioOutcome, counting, outcomes
from harness.observations import Entry


@dataclass(frozen=True, slots=True)
class Recorded:
    """What stands in a journal: finished scenarios by id, entries of those, and whether it ended.

    `entries` are those that diagnosis is to explain, not those that were wrong on purpose. An entry
    whose scenario did not finish is not among them: its verdict was never shown, and the scenario
    runs again. `last_index` is the highest index of any entry, 0 without one.
    """

    scenarios: Mapping[str, ScenarioOutcome]
    entries: tuple[Entry, ...]
    entry_lines: tuple[int, ...]
    features: frozenset[str]
    finished: bool
    asked: Mapping[str, Any]
    last_index: int


def recorded_results(journal: Path) -> Recorded:
    """Read a journal back into what need not be run again; raises UnreadableRecordError."""
    records = read_records(journal)
    done = outcomes(records)
    entries = [
        record
        for attempt in counting(records).values()
        for record in attempt
        if record.kind == "entry"
        and record.body.get("diagnosed", True)
        and not record.body.get("provoked", False)
    ]
    entries.sort(key=lambda record: record.line)
    return Recorded(
        scenarios=done,
        entries=tuple(read_entry(record.body) for record in entries),
        entry_lines=tuple(record.line for record in entries),
        features=frozenset(r.body["uri"] for r in records if r.kind == "feature"),
        finished=any(r.kind == "run-finished" for r in records),
        asked=next((r.body["asked"] for r in records if r.kind == "run-started"), {}),
        last_index=max((r.body["index"] for r in records if r.kind == "entry"), default=0),
    )
