"""The record of a qualification: a run folder whose journal holds every toss.

Kinds of record beside those of a run (`harness.evidence.records`):

- `toss`: `number` from 1 without a hole, `outcome`, `values` (null unless read; of die 1, 2, 3
  where told apart, else ascending), `reason`, `strokes`, `unmoved`, `confidence`, `took_s`,
  `frames` (kept of tosses that were not read).
- `dice-marks`: what the dice are told apart by, as learned from the first toss.

A toss counts once its line is on the disk. One that a break caught between the shaker and the
journal was never looked at by anyone: it is not in the record, and the next one is a fresh toss.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from harness.campaign.qualify_toss import Outcome, Toss
from harness.evidence.canonical import canonical, file_sha256
from harness.evidence.errors import UnreadableRecordError
from harness.evidence.finish import write_summary
from harness.evidence.frames import FrameStore
from harness.evidence.journal import Journal
from harness.evidence.journal_lines import read_records
from harness.evidence.keys import SigningKey
from harness.evidence.records import KeptFrame, Scenario, ScenarioFinished
from harness.evidence.reports import save_report
from harness.evidence.run_folder import RunFolder, create_run_folder, open_run_folder
from harness.evidence.run_lock import UNWINDING_S, RunLock
from harness.evidence.seal import seal_run
from harness.verdicts import HarnessError, Verdict

INSPECTION = "shaker-qualification"
_MOST_PICTURES = 300


@dataclass(slots=True)
class Recorded:
    """What a record holds: read tosses in order, shape (n, 3); how every toss came out; marks."""

    values: list[tuple[int, ...]] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)
    unmoved: int = 0
    unsensed: int = 0
    took_s: list[float] = field(default_factory=list)
    marks: NDArray[np.float64] | None = None
    number: int = 0
    pictures: int = 0

    def add(self, body: Mapping[str, Any]) -> None:
        """Take in one `toss`."""
        self.number += 1
        self.outcomes[body["outcome"]] = self.outcomes.get(body["outcome"], 0) + 1
        self.unmoved += body["unmoved"] > 0
        self.unsensed += body["strokes"] == 0
        self.took_s = [*self.took_s[-99:], body["took_s"]]
        self.pictures += bool(body["frames"])
        if body["values"] is not None:
            self.values.append(tuple(body["values"]))

    @property
    def tosses(self) -> NDArray[np.uint8]:
        """Give the read tosses: shape (n, 3)."""
        return np.array(self.values, np.uint8).reshape(-1, 3)


def manifest_of_qualification(path: Path) -> dict[str, Any]:
    """Give the manifest of a qualification; raises UnreadableRecordError if there is none."""
    manifest = open_run_folder(path).read_manifest()
    if manifest.get("inspection") != INSPECTION:
        raise UnreadableRecordError(
            str(path),
            expected="the folder of a shaker qualification",
            found="another kind of run",
            remedy="take it up with `sicbo-hil run --resume`",
        )
    return manifest


class QualificationRecord:
    """A qualification's folder, open for writing. Methods raise EvidenceError."""

    def __init__(self, folder: RunFolder, recorded: Recorded, lock: RunLock) -> None:
        self.folder = folder
        self._lock = lock
        self.recorded = recorded
        self._journal = Journal(folder.journal)
        self._frames = FrameStore(folder.frames)

    @classmethod
    def create(cls, path: Path, manifest: Mapping[str, object]) -> QualificationRecord:
        """Make the folder; raises FolderInUseError if there is anything in it."""
        folder = create_run_folder(path, manifest, {})
        return cls(folder, Recorded(), RunLock(path))

    @classmethod
    def resume(cls, path: Path) -> QualificationRecord:
        """Take up a qualification that stopped; raises UnreadableRecordError if it is none."""
        manifest_of_qualification(path)
        folder = open_run_folder(path)
        lock = RunLock(path, UNWINDING_S)
        try:
            return cls._taken_up(folder, lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def _taken_up(cls, folder: RunFolder, lock: RunLock) -> QualificationRecord:
        sealed = file_sha256(folder.seal) if folder.seal.is_file() else None
        folder.seal.unlink(missing_ok=True)
        for part in folder.path.glob("*.part"):
            part.unlink(missing_ok=True)
        recorded = read_recorded(folder)
        record = cls(folder, recorded, lock)
        last = read_records(folder.journal)[-1]
        gap = time.monotonic() - last.mono
        record._journal.append(
            "run-resumed",
            {
                "after_line": last.line,
                "after_utc": last.utc,
                "gap_s": gap if gap >= 0 else None,
                "why": "not known",
                "seal_sha256": sealed,
            },
        )
        return record

    def toss(self, toss: Toss) -> None:
        """Record a toss; on return it is on the disk, and counted."""
        kept = []
        if toss.values is None and self.recorded.pictures < _MOST_PICTURES:
            kept = self._frames.keep(
                [
                    KeptFrame(frame.jpeg, frame.at, camera=frame.camera)
                    for frame in toss.look.frames
                    if frame.jpeg is not None
                ]
            )
        body: dict[str, object] = {
            "number": self.recorded.number + 1,
            "outcome": toss.outcome,
            "values": None if toss.values is None else list(map(int, toss.values)),
            "reason": toss.reason,
            "strokes": toss.strokes,
            "unmoved": toss.unmoved,
            "confidence": round(float(toss.confidence), 6),
            "took_s": round(toss.took_s, 4),
            "frames": [dict(each) for each in kept],
        }
        self._journal.append("toss", body)
        self.recorded.add(body)

    def marks(self, by: str, marks: NDArray[np.float64]) -> None:
        """Record what the dice are told apart by."""
        self._journal.append("dice-marks", {"by": by, "marks": marks.round(4).tolist()})
        self.recorded.marks = marks

    def error(self, error: HarnessError, rig: str) -> None:
        """Record an error of the bench."""
        body = {"scenario": INSPECTION, "rig": rig, "error": error.to_json()}
        self._journal.append("error", body)

    def finding(self, finding: Mapping[str, object], rig: str) -> None:
        """Record a located cause, as `Finding.to_json` gives it."""
        self._journal.append("finding", {**finding, "book": None, "rig": rig})

    def verdict(self, rig: str, verdict: Verdict, what: str) -> None:
        """Record how it came out, as a run records a scenario; the last one counts."""
        scenario = Scenario(INSPECTION, "", "Shaker and dice are fair", "", rig)
        now = time.monotonic()
        body: ScenarioFinished = {
            **scenario.body(),
            "verdict": verdict.value,
            "what": what,
            "started": now,
            "ended": now,
            "steps": [],
            "results": {},
            "mode": "tossed",
            "depends_on": [],
            "evidence": [],
            "attempt": 1,
            "checks": [],
            "again": False,
        }
        self._journal.append("scenario-finished", body)

    def finish(
        self, *, complete: bool, why: str, files: Mapping[str, bytes], key: SigningKey | None
    ) -> None:
        """Record the end, write the files that follow from the record, and seal all."""
        self._journal.append("run-finished", {"complete": complete, "why": why})
        self._journal.close()
        write_summary(self.folder)
        for name, data in files.items():
            save_report(self.folder.path / name, data)
        seal_run(self.folder, key)
        self.close()

    def span(self) -> tuple[str, str]:
        """Give when the record begins and when it was last written (UTC)."""
        records = read_records(self.folder.journal)
        return records[0].utc, records[-1].utc

    def close(self) -> None:
        """Close the journal; nothing is lost by not calling it."""
        self._journal.close()
        self._lock.release()


def read_recorded(folder: RunFolder) -> Recorded:
    """Read every toss of a journal back; raises UnreadableRecordError where one is missing."""
    recorded = Recorded()
    for record in read_records(folder.journal):
        if record.kind == "dice-marks":
            recorded.marks = np.array(record.body["marks"], np.float64)
        if record.kind != "toss":
            continue
        body = record.body
        if body["number"] != recorded.number + 1 or body["outcome"] not in get_args(Outcome):
            raise UnreadableRecordError(
                f"{folder.journal}:{record.line}",
                expected=f"toss {recorded.number + 1}",
                found=f"toss {body['number']}, {body['outcome']}",
                remedy="run `sicbo-hil verify` on the folder to see what was changed",
            )
        recorded.add(body)
    return recorded


def csv_of(tosses: NDArray[np.uint8]) -> bytes:
    """Give tosses as the file that `shaker analyse` reads."""
    rows = "".join(f"{a},{b},{c}\n" for a, b, c in tosses.tolist())
    return f"die1,die2,die3\n{rows}".encode()


def json_of(value: Mapping[str, object]) -> bytes:
    """Give a JSON file's bytes: canonical, so the same record gives the same bytes."""
    return canonical(json.loads(json.dumps(value))) + b"\n"
