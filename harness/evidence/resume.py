"""Taking up a run that broke off: what its journal already holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.evidence.account import scenarios_done
from harness.evidence.journal_lines import Record, read_records
from harness.evidence.records import outside
from harness.evidence.summary import ScenarioOutcome, counting, outcomes


@dataclass(frozen=True, slots=True)
class Recorded:
    """What stands in a journal: finished scenarios by id, and the digest of each feature's text.

    A scenario that was to run again is not finished: `attempts` gives how often it has run.
    `last_index` is the highest index of any entry, 0 without one.
    """

    scenarios: Mapping[str, ScenarioOutcome]
    features: Mapping[str, str]
    last_index: int
    attempts: Mapping[str, int]


def recorded_results(journal: Path) -> Recorded:
    """Read a journal back into what need not be run again; raises UnreadableRecordError."""
    records = read_records(journal)
    done = scenarios_done(records)
    return Recorded(
        scenarios={name: told for name, told in outcomes(records).items() if name in done},
        features={r.body["uri"]: r.body["sha256"] for r in records if r.kind == "feature"},
        last_index=max((r.body["index"] for r in records if r.kind == "entry"), default=0),
        attempts={
            name: told.body["attempt"]
            for name, told in outcomes(records).items()
            if name not in done
        },
    )


def diagnosed_entries(records: Sequence[Record], book: str, rig: str) -> list[Record]:
    """Give the entries of a book on a rig that diagnosis is to explain, in order.

    An entry whose scenario did not finish is not among them: its verdict was never shown, and the
    scenario runs again.
    """
    apart = {outside(book, rig, "negative-control"), outside(book, rig, "further-test")}
    made = [record for attempt in counting(records).values() for record in attempt]
    made += [record for record in records if record.body.get("scenario") in apart]
    entries = [
        record
        for record in made
        if record.kind == "entry"
        and (record.body["book"], record.body["rig"]) == (book, rig)
        and record.body.get("diagnosed", True)
    ]
    return sorted(entries, key=lambda record: record.line)
