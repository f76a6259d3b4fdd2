"""What changed between two runs, result by result: say, between two firmware versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from harness.evidence.canonical import canonical
from harness.evidence.journal_lines import Record, read_records
from harness.evidence.records import dice_text
from harness.evidence.report_items import table_identity
from harness.evidence.run_folder import open_run_folder
from harness.evidence.summary import ScenarioOutcome, counting, findings, outcomes, rigs_of_books


class Key(NamedTuple):
    """What is compared: empty `rig` where the book ran on one alone, empty `result` without one."""

    book: str
    rig: str
    feature: str
    scenario: str
    result: str


@dataclass(frozen=True, slots=True)
class Side:
    """One of two runs: its id, its table, and for each key its verdict and the lamps seen lit."""

    run_id: str
    serial: str | None
    firmware: str | None
    verdicts: Mapping[Key, str]
    lit: Mapping[Key, tuple[str, ...]]
    findings: Mapping[bytes, Mapping[str, Any]]

    def to_json(self) -> dict[str, object]:
        """Give whose run it is."""
        return {"run_id": self.run_id, "serial": self.serial, "firmware": self.firmware}


@dataclass(frozen=True, slots=True)
class Change:
    """One result that came out otherwise; a verdict is None where the run did not have it.

    `rig` is empty where the book ran on one rig alone, in both runs: benches may have other names.
    """

    book: str
    rig: str
    feature: str
    scenario: str
    result: str
    before: str | None
    after: str | None
    no_longer_lit: tuple[str, ...]
    newly_lit: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """Give the change as `compare --json` prints it."""
        told = {name: getattr(self, name) for name in self.__slots__}
        return told | {
            "no_longer_lit": list(self.no_longer_lit),
            "newly_lit": list(self.newly_lit),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs compared: results that differ, findings gone and new."""

    before: Side
    after: Side
    changes: tuple[Change, ...]
    unchanged: int
    findings_gone: tuple[Mapping[str, Any], ...]
    findings_new: tuple[Mapping[str, Any], ...]

    @property
    def same(self) -> bool:
        """Whether nothing changed."""
        return not (self.changes or self.findings_gone or self.findings_new)

    def to_json(self) -> dict[str, object]:
        """Give the comparison as `compare --json` prints it."""
        return {
            "same": self.same,
            "before": self.before.to_json(),
            "after": self.after.to_json(),
            "changes": [change.to_json() for change in self.changes],
            "unchanged": self.unchanged,
            "findings_gone": list(self.findings_gone),
            "findings_new": list(self.findings_new),
        }


def compare_runs(before: Path, after: Path) -> Comparison:
    """Compare two run folders; raises UnreadableRecordError if one holds no run."""
    runs = [
        (f.read_manifest(), read_records(f.journal)) for f in map(open_run_folder, (before, after))
    ]
    several = {
        book
        for _, records in runs
        for book, rigs in rigs_of_books(outcomes(records).values()).items()
        if len(rigs) > 1
    }
    old, new = (_side(manifest, records, several) for manifest, records in runs)
    changes, unchanged = [], 0
    for key in sorted(set(old.verdicts) | set(new.verdicts)):
        was, is_ = old.verdicts.get(key), new.verdicts.get(key)
        lamps_before, lamps_after = set(old.lit.get(key, ())), set(new.lit.get(key, ()))
        both = key in old.lit and key in new.lit
        if was == is_ and (lamps_before == lamps_after or not both):
            unchanged += 1
            continue
        changes.append(
            Change(
                *key,
                was,
                is_,
                tuple(sorted(lamps_before - lamps_after)) if both else (),
                tuple(sorted(lamps_after - lamps_before)) if both else (),
            )
        )
    return Comparison(
        old,
        new,
        tuple(changes),
        unchanged,
        tuple(found for cause, found in old.findings.items() if cause not in new.findings),
        tuple(found for cause, found in new.findings.items() if cause not in old.findings),
    )


def _side(manifest: Mapping[str, Any], records: Sequence[Record], several: Set[str]) -> Side:
    """Give one run; `several`: the books of which a rig's name tells results apart."""

    def key(outcome: ScenarioOutcome, result: str) -> Key:
        body = outcome.body
        rig = body["rig"] if body["book"] in several else ""
        return Key(body["book"], rig, body["feature"], body["name"], result)

    serial, firmware = table_identity(manifest)
    done, verdicts, lit = outcomes(records), {}, {}
    for outcome in done.values():
        for result, verdict in (outcome.results or {"": outcome.verdict}).items():
            verdicts[key(outcome, result)] = verdict.value
    for scenario, made in counting(records).items():
        for record in made:
            if record.kind != "entry":
                continue
            body = record.body
            dice = dice_text(body["shown"]) if body["shown"] else ",".join(body["keyed"])
            last = {s["path"]: s["lit"] for s in body["lamps"] if s["stage"] == "lit"}
            if dice in done[scenario].results:
                lamps = {area for areas in last.values() for area in areas}
                lit[key(done[scenario], dice)] = tuple(sorted(lamps))
    causes = {
        canonical(
            [found.get(name) for name in ("verdict", "part", "fault", "book")]
            + [found.get("rig") if found.get("book") in several else None]
        ): found
        for found in findings(records)
    }
    return Side(str(manifest.get("run_id")), serial, firmware, verdicts, lit, causes)
