"""The way to write a run's record: one typed method for each kind of record.

One process makes the record (`RunRecord.create`) or takes it up after a break
(`RunRecord.resume`); workers join it (`RunRecord.attach`). All append to one journal.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from types import TracebackType

from harness.evidence.account import not_concluded
from harness.evidence.canonical import file_sha256, sha256_hex
from harness.evidence.errors import UnreadableRecordError
from harness.evidence.frames import FrameStore
from harness.evidence.journal import Journal
from harness.evidence.journal_lines import read_records
from harness.evidence.records import (
    AskedResults,
    CheckBody,
    DiagnosisBody,
    KeptFrame,
    LookBody,
    LookedAt,
    Rejudged,
    RunFinished,
    RunResumed,
    Scenario,
    ScenarioFinished,
    Step,
    entry_body,
    named_frames,
    seen_body,
)
from harness.evidence.run_folder import RunFolder, create_run_folder, open_run_folder
from harness.evidence.run_lock import UNWINDING_S, RunLock
from harness.evidence.wire_log import WireLog
from harness.observations import DiceSeen, Entry, Mode
from harness.rules.judgement import Judgement, Limits
from harness.rules.timeline import Event
from harness.verdicts import Finding, HarnessError, Measurement, Verdict


class RunRecord:
    """The record of one run, open for writing; also a context manager.

    Each method returns the number of the journal line it wrote, once that is on the disk, and
    raises EvidenceError if it cannot be written. Methods may be called from several threads and,
    each with its own RunRecord, from several processes. Elapsed time spent in here is summed in
    `spent_s`.
    """

    def __init__(self, folder: RunFolder, lock: RunLock | None = None) -> None:
        self.folder = folder
        self.lock = lock
        self.spent_s = 0.0
        self.scenario: str | None = None
        """The scenario that runs: what passes on the wires is recorded with it."""
        self._wire: WireLog | None = None
        self._journal = Journal(folder.journal)
        self._frames = FrameStore(folder.frames)

    @classmethod
    def create(
        cls, path: Path, manifest: Mapping[str, object], asked: Mapping[str, AskedResults]
    ) -> RunRecord:
        """Make the run folder and the journal's first line.

        `manifest` is `harness.evidence.manifest.Manifest.to_json()`; `asked` says for each book how
        many results this run is to check and in which mode. Raises FolderInUseError if the folder
        is not empty.
        """
        folder = create_run_folder(path, manifest, asked)
        return cls(folder, RunLock(path))

    @classmethod
    def attach(cls, path: Path) -> RunRecord:
        """Join a run that another process created; UnreadableRecordError if there is none."""
        return cls(open_run_folder(path))

    @classmethod
    def resume(cls, path: Path, why: str = "not known") -> RunRecord:
        """Take up a run that broke off, and record the break.

        Clears away what the break left half-made (files, pictures that no line names) and the seal
        of a run that was sealed incomplete, whose digest the break names. Raises
        UnreadableRecordError if the folder holds no run, or one that is complete and sealed,
        RunAtWorkError if another program is at work on it.
        """
        folder = open_run_folder(path)
        lock = RunLock(path, UNWINDING_S)
        try:
            return cls._taken_up(folder, lock, why)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def _taken_up(cls, folder: RunFolder, lock: RunLock, why: str) -> RunRecord:
        if folder.seal.is_file() and _complete(folder):
            raise UnreadableRecordError(
                str(folder.path),
                expected="a run that broke off",
                found="one that is complete and sealed",
                remedy="begin a new run",
            )
        sealed = file_sha256(folder.seal) if folder.seal.is_file() else None
        folder.seal.unlink(missing_ok=True)
        for part in folder.path.glob("*.part"):
            part.unlink(missing_ok=True)
        record = cls(folder, lock)
        records = read_records(folder.journal)
        record._frames.drop_unnamed(
            frozenset(
                frame["name"]
                for r in records
                if r.kind in ("entry", "look")
                for frame in named_frames(r.body)
            )
        )
        last = records[-1]
        body: RunResumed = {
            "after_line": last.line,
            "after_utc": last.utc,
            "gap_s": gap if (gap := time.monotonic() - last.mono) >= 0 else None,
            "why": why,
            "seal_sha256": sealed,
        }
        record._append("run-resumed", body)
        return record

    def rig_fact(
        self,
        rig: str,
        topic: str,
        part: str,
        what: str,
        *,
        good: bool | None = None,
        count: int = 1,
        data: Mapping[str, object] | None = None,
    ) -> int:
        """Record a fact about our side (self-check, reference, repeated reads, retakes)."""
        return self._append(
            "rig-fact",
            {
                "rig": rig,
                "topic": topic,
                "part": part,
                "what": what,
                "good": good,
                "count": count,
                "data": dict(data or {}),
            },
        )

    def feature(self, uri: str, text: str) -> int:
        """Record a feature's text as it is run; `uri` is its path within the project."""
        body = {"uri": uri, "text": text, "sha256": sha256_hex(text.encode("utf-8"))}
        return self._append("feature", body)

    def record_wire(self, rig: str) -> WireLog:
        """Give what is to be told of all that passes on a rig's wires.

        It is written with the next record, by the same flush.
        """
        self._wire = WireLog(rig)
        return self._wire

    def planned(self, book: str, rig: str, scenarios: Iterable[Scenario]) -> int:
        """Record all scenarios of a book on a rig, before the first of them."""
        told = [{"scenario": one.id, "clauses": list(one.clauses)} for one in scenarios]
        return self._append("planned", {"book": book, "rig": rig, "scenarios": told})

    def concluded(self, book: str, rig: str) -> int:
        """Record that all conclusions of a book on a rig are recorded."""
        return self._append("concluded", {"book": book, "rig": rig})

    def scenario_started(self, scenario: Scenario) -> int:
        """Record that a scenario begins."""
        line = self._append("scenario-started", scenario.body())
        self.scenario = scenario.id
        return line

    def events(self, scenario: str, rig: str, events: Iterable[Event]) -> list[int]:
        """Record events of a round's timeline, in order, with one flush."""
        return self._append_all(
            (
                "event",
                {
                    "scenario": scenario,
                    "rig": rig,
                    "t": event.t,
                    "event": event.name,
                    "data": dict(event.data),
                },
            )
            for event in events
        )

    def entry(
        self,
        entry: Entry,
        judgement: Judgement,
        *,
        scenario: str,
        frames: Sequence[KeptFrame] = (),
        lamp_frames: Sequence[Sequence[KeptFrame]] = (),
        options: Mapping[str, object] | None = None,
        limits: Limits | None = None,
        attempt: int = 1,
        events: Iterable[Event] = (),
        provoked: bool = False,
        diagnosed: bool = True,
    ) -> int:
        """Record one entry with its frames, its timeline and its first judgement.

        `frames` are the bytes as received of every picture of the dice that voted, `lamp_frames`
        those of each sample of `pictured(entry)`; they are on the disk before the line that names
        them. `events` of the entry's round are written with the same flush.
        `options` and `limits` are those the judgement was made with. `provoked`: wrong on purpose,
        judged by its scenario alone; not `diagnosed`: no part of the run's diagnosis. Gives the
        entry's line.
        """
        begun = time.perf_counter()
        kept = self._frames.keep([*frames, *chain.from_iterable(lamp_frames)])
        of_lamps = iter(kept[len(frames) :])
        body = entry_body(
            entry,
            scenario=scenario,
            frames=kept[: len(frames)],
            lamp_frames=[list(islice(of_lamps, len(one))) for one in lamp_frames],
            judgement=judgement.to_json(),
            options=dict(options or {}),
            limits=(limits or Limits()).to_json(),
            attempt=attempt,
            provoked=provoked,
            diagnosed=diagnosed,
        )
        records: list[tuple[str, Mapping[str, object]]] = [
            (
                "event",
                {
                    "scenario": scenario,
                    "rig": entry.rig,
                    "t": event.t,
                    "event": event.name,
                    "data": dict(event.data),
                },
            )
            for event in events
        ]
        lines = self._journal.append_all([*self._passed(), *records, ("entry", body)])
        self.spent_s += time.perf_counter() - begun
        return lines[-1]

    def look(
        self,
        scenario: str,
        rig: str,
        what: LookedAt,
        *,
        frames: Sequence[KeptFrame],
        seen: DiceSeen | None = None,
        legible: int | None = None,
    ) -> int:
        """Record pictures that a scenario's verdict rests on and no entry holds, see `LookBody`."""
        begun = time.perf_counter()
        kept = self._frames.keep(frames)
        self.spent_s += time.perf_counter() - begun
        body: LookBody = {
            "scenario": scenario,
            "rig": rig,
            "what": what,
            "frames": kept,
            "seen": None if seen is None else seen_body(seen, kept),
            "legible": legible,
        }
        return self._append("look", body)

    def measurement(self, scenario: str, measurement: Measurement) -> int:
        """Record a measured value with its limits, uncertainty and verdict."""
        return self._append(
            "measurement",
            {
                "scenario": scenario,
                "name": measurement.name,
                "unit": measurement.unit,
                "low": measurement.low,
                "high": measurement.high,
                "value": measurement.value,
                "uncertainty": measurement.uncertainty,
                "verdict": measurement.verdict.value,
            },
        )

    def operator(
        self, scenario: str, rig: str, *, prompt: str, clause: str, answer: str | None, by: str = ""
    ) -> int:
        """Record what a person was asked and said; None if no answer came in time."""
        return self._append(
            "operator",
            {
                "scenario": scenario,
                "rig": rig,
                "prompt": prompt,
                "clause": clause,
                "answer": answer,
                "by": by,
            },
        )

    def deviation(self, scenario: str, rig: str, clause: str, what: str, at: float) -> int:
        """Record a breach of the procedure."""
        return self._append(
            "deviation",
            {"scenario": scenario, "rig": rig, "clause": clause, "what": what, "at": at},
        )

    def error(
        self, error: HarnessError, *, scenario: str | None = None, rig: str | None = None
    ) -> int:
        """Record an error of the harness; one outside any scenario makes the run inconclusive."""
        return self._append("error", {"scenario": scenario, "rig": rig, "error": error.to_json()})

    def scenario_finished(
        self,
        scenario: Scenario,
        verdict: Verdict,
        what: str,
        *,
        started: float,
        ended: float,
        steps: Sequence[Step] = (),
        results: Mapping[str, Verdict] | None = None,
        mode: Mode | None = None,
        depends_on: Sequence[str] = (),
        evidence: Sequence[str] = (),
        attempt: int = 1,
        checks: Sequence[CheckBody] = (),
        again: bool = False,
    ) -> int:
        """Record a scenario's verdict; only when this has returned may the verdict be shown.

        `results` gives each result the scenario answers for (`1,1,2`) its verdict. Of several
        attempts of one scenario id the last one counts. `checks`: what its steps found. `again`:
        the scenario runs once more.
        """
        body: ScenarioFinished = {
            **scenario.body(),
            "verdict": verdict.value,
            "what": what,
            "started": started,
            "ended": ended,
            "steps": [step.body() for step in steps],
            "results": {dice: found.value for dice, found in (results or {}).items()},
            "mode": mode,
            "depends_on": list(depends_on),
            "evidence": list(evidence),
            "attempt": attempt,
            "checks": list(checks),
            "again": again,
        }
        line = self._append("scenario-finished", body)
        self.scenario = None
        return line

    def scenarios_not_run(
        self,
        left: Iterable[tuple[Scenario, Verdict, str, Sequence[Step], Mapping[str, Verdict]]],
        mode: Mode,
    ) -> list[int]:
        """Record scenarios that cannot run, all with one flush.

        For each: the scenario, its verdict, why it was not run, its steps (none reached), and the
        verdict of each result it answers for.
        """
        now = time.monotonic()
        return self._append_all(
            (
                "scenario-finished",
                {
                    **scenario.body(),
                    "verdict": verdict.value,
                    "what": what,
                    "started": now,
                    "ended": now,
                    "steps": [step.body() for step in steps],
                    "results": {dice: found.value for dice, found in results.items()},
                    "mode": mode,
                    "depends_on": [],
                    "evidence": [],
                    "attempt": 1,
                    "checks": [
                        {
                            "verdict": verdict.value,
                            "what": what,
                            "part": [],
                            "fault": "",
                            "clauses": list(scenario.clauses),
                            "depends_on": [],
                            "by_camera": False,
                            "entry": None,
                        }
                    ],
                },
            )
            for scenario, verdict, what, steps, results in left
        )

    def diagnosis(
        self,
        book: str,
        rig: str,
        *,
        options: Mapping[str, object],
        premises: Mapping[str, object],
        broken: int | None = None,
    ) -> int:
        """Record that a book on a rig is through; its conclusions follow.

        `broken`: the line of the error that ended the work on this bench.
        """
        body: DiagnosisBody = {
            "book": book,
            "rig": rig,
            "options": dict(options),
            "premises": dict(premises),
            "broken": broken,
        }
        return self._append("diagnosis", body)

    def rejudged(
        self,
        scenario: str,
        verdict: Verdict,
        what: str,
        why: str,
        results: Mapping[str, Verdict] | None = None,
    ) -> int:
        """Record that diagnosis, in the light of the whole run, changed a scenario's verdict."""
        body: Rejudged = {
            "scenario": scenario,
            "verdict": verdict.value,
            "what": what,
            "results": {dice: found.value for dice, found in (results or {}).items()},
            "why": why,
        }
        return self._append("rejudged", body)

    def finding(self, finding: Finding, *, book: str | None = None, rig: str | None = None) -> int:
        """Record a located cause."""
        return self._append("finding", {**finding.to_json(), "book": book, "rig": rig})

    def not_concluded(self) -> list[str]:
        """Tell what the run planned and its record does not conclude; see `account`."""
        return not_concluded(read_records(self.folder.journal))

    def run_finished(self, *, complete: bool = True, why: str = "") -> int:
        """Record the end; not complete where what was left could not be run."""
        body: RunFinished = {"complete": complete, "why": why}
        return self._append("run-finished", body)

    def close(self) -> None:
        """Close the journal; nothing is lost by not calling it but what last passed on wires."""
        passed = self._passed()
        if passed:
            self._journal.append_all(passed)
        self._journal.close()
        if self.lock is not None:
            self.lock.release()

    def __enter__(self) -> RunRecord:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _append(self, kind: str, body: Mapping[str, object]) -> int:
        return self._append_all([(kind, body)])[0]

    def _append_all(self, records: Iterable[tuple[str, Mapping[str, object]]]) -> list[int]:
        begun = time.perf_counter()
        passed = self._passed()
        lines = self._journal.append_all([*passed, *records])
        self.spent_s += time.perf_counter() - begun
        return lines[len(passed) :]

    def _passed(self) -> list[tuple[str, Mapping[str, object]]]:
        """Give what passed on the wires since the last record, as a record of its own."""
        body = self._wire.taken(self.scenario) if self._wire is not None else None
        return [] if body is None else [("wire", body)]


def _complete(folder: RunFolder) -> bool:
    records = read_records(folder.journal)
    ends = [r for r in records if r.kind in ("run-finished", "run-resumed")]
    if not ends or ends[-1].kind == "run-resumed" or ends[-1].body["complete"] is not True:
        return False
    return not not_concluded(records)
