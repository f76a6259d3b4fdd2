"""What the journal holds: the kinds of record and the shape of each body.

The schema's version is `harness.evidence.journal.SCHEMA_VERSION`; members may be added within a
version, never renamed or given another meaning. Times named `t`, `at`, `started` and `ended` are
seconds on the host's monotonic clock, as is `mono` of the line; `utc` of the line is the wall
clock. A member that is `None` was not known or does not apply.

| kind | body | written |
|---|---|---|
| `run-started` | `RunStarted` | first line |
| `run-resumed` | `RunResumed` | when a broken-off run goes on: the break |
| `torn` | `Torn` | when a half-written end was found and set aside |
| `rig-fact` | `RigFact` | self-check, identification, references, repeated reads, retakes |
| `feature` | `FeatureSource` | once for each feature file, before its first scenario |
| `planned` | `Planned` | what a book on a rig consists of, before its first scenario |
| `scenario-started` | `ScenarioStarted` | |
| `event` | `EventBody` | one act or observation of a round's timeline |
| `wire` | `WireBody` | with `run --record-wire`: what passed on the links before it |
| `entry` | `EntryBody` | one result entered, lamps sensed, frames that voted, first judgement |
| `look` | `LookBody` | pictures that a scenario's verdict rests on, beside those of its entries |
| `measurement` | `MeasurementBody` | |
| `operator` | `OperatorAnswer` | a question put to a person and the answer |
| `deviation` | `DeviationBody` | a breach found by the procedure monitor |
| `error` | `ErrorBody` | an error of the harness (`HarnessError.to_json`) |
| `scenario-finished` | `ScenarioFinished` | the verdict that counts |
| `diagnosis` | `DiagnosisBody` | a book on a rig is through: what is concluded follows |
| `rejudged` | `Rejudged` | diagnosis changed a scenario's verdict: this one counts |
| `finding` | `FindingBody` | one cause, located |
| `concluded` | `Concluded` | all conclusions of a book on a rig are recorded |
| `run-finished` | `RunFinished` | last line; without it the run is unfinished |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, TypedDict

from harness.observations import (
    CameraReading,
    Dice,
    DiceSeen,
    Entry,
    LampSample,
    Mode,
    Stage,
    StagedSample,
)
from harness.verdicts import Verdict


class RunStarted(TypedDict):
    """The run's id, the digest of its manifest and what is asked for.

    `asked` gives for each book how many results are to be checked and in which mode. `sittings`
    names every book on a rig that the run is to hold.
    """

    run_id: str
    manifest_sha256: str
    asked: dict[str, AskedResults]
    sittings: NotRequired[list[SittingOf]]


class SittingOf(TypedDict):
    """A rule book's id and a rig's name."""

    book: str
    rig: str


class PlannedScenario(TypedDict):
    """A scenario that is to be concluded, and the clauses it is of."""

    scenario: str
    clauses: list[str]


class Planned(SittingOf):
    """All scenarios of a book on a rig, those of an earlier part of the run included."""

    scenarios: list[PlannedScenario]


class Concluded(SittingOf):
    """A book on a rig is through: everything concluded from it stands before this line."""


class AskedResults(TypedDict):
    """How many results of a book a run is to check, and how they come about."""

    checked: int
    mode: Mode


class RunResumed(TypedDict):
    """A break: why (as far as known), the last line before it, how long nothing was recorded.

    `gap_s` is None across a restart of the host. `seal_sha256` is the digest of the `seal.json`
    that the run had been closed with before it was taken up again.
    """

    after_line: int
    after_utc: str
    gap_s: float | None
    why: str
    seal_sha256: str | None


class Torn(TypedDict):
    """Where half-written bytes were set aside."""

    file: str
    bytes: int
    sha256: str


class RigFact(TypedDict):
    """A fact about our side: `topic` is `self-check`, `negative-control`, `retakes`, or below.

    `good` is False for a fault of the rig, None where the fact is neither. Counts
    (`reads` repeated, `retakes` of a picture) are summed in the report. Diagnosis rests on `data`
    (with the `book` it is of) of `reads`: `exchanges`, `failures` by word; of `host-lag`: entries
    `timed`, `untimed` and parts too `slow`; of `measured`: between which times, `low_s` and
    `high_s`, the `limit` lies (`press`, `timeout`). `calibration`: `made` and `sha256` of a
    camera's, or nothing.
    """

    rig: str
    topic: str
    part: str
    good: bool | None
    what: str
    count: int
    data: dict[str, object]


class FeatureSource(TypedDict):
    """A feature as it was when it ran: its path within the project and its whole text."""

    uri: str
    text: str
    sha256: str


class StepResult(TypedDict):
    """One step of a scenario; `line` is its line in the feature, `verdict` None if not reached."""

    keyword: str
    text: str
    line: int | None
    verdict: str | None
    what: str
    started: float | None
    ended: float | None
    arguments: NotRequired[list[str]]


class CheckBody(TypedDict):
    """One thing that a step found; `part` and `fault` locate it where it is not PASS.

    `by_camera`: seen by the dice camera alone. `entry`: index of the entry it judges.
    """

    verdict: str
    what: str
    part: list[str]
    fault: str
    clauses: list[str]
    depends_on: list[str]
    by_camera: bool
    entry: int | None


class ScenarioStarted(TypedDict):
    """A scenario begins; `scenario` is its id: stable, unique in the run (also over a resume)."""

    scenario: str
    feature: str
    name: str
    line: int | None
    tags: list[str]
    clauses: list[str]
    book: str
    rig: str


class ScenarioFinished(ScenarioStarted):
    """A scenario's end. `results` gives each result it answers for its own verdict (`1,1,2`: PASS).

    `attempt` counts retakes from 1; the last attempt counts. `depends_on` are readings. `evidence`
    refers into the record: `journal:LINE`, `frames/NAME`. `checks` is what the steps found beside
    the entries. `again`: this host was too busy to watch, the scenario is to run once more.
    """

    verdict: str
    what: str
    started: float
    ended: float
    steps: list[StepResult]
    results: dict[str, str]
    mode: Mode | None
    depends_on: list[str]
    evidence: list[str]
    attempt: int
    checks: NotRequired[list[CheckBody]]
    again: NotRequired[bool]


class DiagnosisBody(TypedDict):
    """What a book's entries on a rig were explained on, beside the record so far.

    `rejudged` and `finding` of this book and rig that follow are its conclusions; those of an
    earlier diagnosis of the same count no more. `options` are the readings in force, `premises`
    what the rig file states, `broken` the line of the error that ended the work on this bench.
    """

    book: str
    rig: str
    options: dict[str, object]
    premises: dict[str, object]
    broken: int | None


class Rejudged(TypedDict):
    """A scenario's verdict, and those of its results, in the light of the whole run."""

    scenario: str
    verdict: str
    what: str
    results: dict[str, str]
    why: str


class EventBody(TypedDict):
    """An event of the timeline (`harness.rules.timeline.Event`) of one round of a rig."""

    scenario: str
    rig: str
    t: float
    event: str
    data: dict[str, object]


class WireBody(TypedDict):
    """What passed on the links of a rig, in order, before the record that follows it.

    `passed` holds `[at, device, "sent" or "received", bytes in hexadecimal]`; bytes that came in
    several reads are joined. Pictures are not among it, nor is anything that opens a connection.
    """

    scenario: str | None
    rig: str
    passed: list[list[object]]


class FrameRef(TypedDict):
    """A picture that voted: its file under `frames/` and the digest of the bytes as received.

    `camera` is the camera's name in the rig file.
    """

    name: str
    sha256: str
    at: float | None
    camera: NotRequired[str]


class PicturesBody(TypedDict):
    """The pictures that a lamp sample was read from, as `harness.observations.LampPictures`."""

    frames: list[FrameRef]
    watched: bool
    dim_is_lit: bool


class SampleBody(TypedDict):
    """A lamp sample with its place in the entry; area ids sorted by code point.

    `pictures`: where a camera sensed it, what it was read from.
    """

    stage: Stage
    at: float
    path: str
    lit: list[str]
    unknown: list[str]
    split: list[str]
    flicker: list[str]
    levels: dict[str, float] | None
    pictures: NotRequired[PicturesBody]


class CameraSeenBody(TypedDict):
    """What one dice camera gave by itself."""

    camera: str
    values: list[int]
    reason: str | None
    confidence: float


class SeenBody(TypedDict):
    """What the dice cameras gave together, and each by itself."""

    values: list[int]
    reason: str | None
    confidence: float
    frames: list[str]
    cameras: NotRequired[list[CameraSeenBody]]


class EntryBody(TypedDict):
    """An `harness.observations.Entry` as JSON, with its judgement and the scenario it belongs to.

    `options` are the readings in force for the judgement, `limits` what it was judged against. An
    entry `provoked` was wrong on purpose: its scenario alone judges it. One not `diagnosed` takes
    no part in the diagnosis of the whole run. Of no scenario, but of a bench (`outside`), are the
    deliberate mismatch before a run and the tests that split a candidate set after it. `watched`:
    samples of lamps that a camera watched and found steady. `frames` are of the dice. `judgement`:
    `harness.rules.judgement.Judgement` as its `to_json` gives it, of the entry alone, before
    diagnosis.
    """

    scenario: str
    book: str
    rig: str
    index: int
    mode: Mode
    shown: list[int] | None
    seen: SeenBody | None
    keyed: list[str]
    echoed: list[str] | None
    lamps: list[SampleBody]
    started: float
    ended: float
    settle_s: float | None
    cleared_by_key: bool
    pressed_at: NotRequired[list[float]]
    travelled: NotRequired[list[str] | None]
    late: NotRequired[list[str]]
    watched: NotRequired[list[SampleBody]]
    faults: list[dict[str, object]]
    frames: list[FrameRef]
    judgement: dict[str, object]
    options: dict[str, object]
    limits: dict[str, object]
    attempt: int
    provoked: NotRequired[bool]
    diagnosed: NotRequired[bool]


LookedAt = Literal["dice", "before-toss", "under-cover"]


class LookBody(TypedDict):
    """Pictures that no entry holds: of the dice at rest (`seen`), or one by one under the cover.

    `legible`: in how many of the single pictures dice could be read.
    """

    scenario: str
    rig: str
    what: LookedAt
    frames: list[FrameRef]
    seen: SeenBody | None
    legible: int | None


class MeasurementBody(TypedDict):
    """A `harness.verdicts.Measurement` with its verdict; `uncertainty` is expanded, k = 2."""

    scenario: str
    name: str
    unit: str
    low: float | None
    high: float | None
    value: float | None
    uncertainty: float
    verdict: str


class OperatorAnswer(TypedDict):
    """What a person was asked and said; `answer` None if there was no answer in time."""

    scenario: str
    rig: str
    prompt: str
    clause: str
    answer: str | None
    by: str


class DeviationBody(TypedDict):
    """A breach of the procedure: the clause, what happened, when."""

    scenario: str
    rig: str
    clause: str
    what: str
    at: float


class ErrorBody(TypedDict):
    """An error of the harness, as `HarnessError.to_json` gives it."""

    scenario: str | None
    rig: str | None
    error: dict[str, object]


FindingBody = dict[str, object]
"""`harness.verdicts.Finding.to_json`, plus `book` and `rig` where the finding is of one."""


class RunFinished(TypedDict):
    """The end: `complete` is False where what was left could not be run (a broken rig, Ctrl-C)."""

    complete: bool
    why: str


Outside = Literal["negative-control", "further-test"]


def outside(book: str, rig: str, what: Outside) -> str:
    """Give what stands as `scenario` in an entry made outside every scenario."""
    return f"{book}/{rig}/{what}"


@dataclass(frozen=True, slots=True)
class KeptFrame:
    """A frame to be kept beside an entry: the bytes as received, when (monotonic s), by whom."""

    data: bytes
    at: float | None = None
    suffix: str = ".jpg"
    camera: str | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """Which scenario a record belongs to; `id` is unique in the run and the same on a resume."""

    id: str
    feature: str
    name: str
    book: str
    rig: str
    tags: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    line: int | None = None

    def body(self) -> ScenarioStarted:
        """Give the scenario as its records hold it."""
        return {
            "scenario": self.id,
            "feature": self.feature,
            "name": self.name,
            "line": self.line,
            "tags": list(self.tags),
            "clauses": list(self.clauses),
            "book": self.book,
            "rig": self.rig,
        }


@dataclass(frozen=True, slots=True)
class Step:
    """One step as it went; `verdict` None if the scenario ended before it."""

    keyword: str
    text: str
    verdict: Verdict | None
    what: str = ""
    line: int | None = None
    started: float | None = None
    ended: float | None = None
    arguments: tuple[str, ...] = field(default=())

    def body(self) -> StepResult:
        """Give the step as `scenario-finished` holds it."""
        return {
            "keyword": self.keyword,
            "text": self.text,
            "line": self.line,
            "verdict": None if self.verdict is None else self.verdict.value,
            "what": self.what,
            "started": self.started,
            "ended": self.ended,
            "arguments": list(self.arguments),
        }


def sample_body(staged: StagedSample, frames: Sequence[FrameRef] = ()) -> SampleBody:
    """Write a lamp sample as JSON; `frames` are its pictures as kept."""
    sample = staged.sample
    body: SampleBody = {
        "stage": staged.stage,
        "at": sample.at,
        "path": sample.path,
        "lit": sorted(sample.lit),
        "unknown": sorted(sample.unknown),
        "split": sorted(sample.split),
        "flicker": sorted(sample.flicker),
        "levels": None if sample.levels is None else dict(sample.levels),
    }
    if sample.pictures is not None:
        body["pictures"] = {
            "frames": list(frames),
            "watched": sample.pictures.watched,
            "dim_is_lit": sample.pictures.dim_is_lit,
        }
    return body


def read_sample(body: SampleBody) -> StagedSample:
    """Read a lamp sample back."""
    return StagedSample(
        body["stage"],
        LampSample(
            at=body["at"],
            path=body["path"],
            lit=frozenset(body["lit"]),
            unknown=frozenset(body["unknown"]),
            split=frozenset(body["split"]),
            flicker=frozenset(body["flicker"]),
            levels=body["levels"],
        ),
    )


def entry_body(
    entry: Entry,
    *,
    scenario: str,
    frames: Sequence[FrameRef],
    judgement: Mapping[str, object],
    options: Mapping[str, object],
    limits: Mapping[str, object],
    attempt: int,
    provoked: bool = False,
    diagnosed: bool = True,
    lamp_frames: Sequence[Sequence[FrameRef]] = (),
) -> EntryBody:
    """Write an entry as JSON; `frames` replace the names the entry itself carries.

    `lamp_frames` are the pictures of `pictured(entry)`, as kept, in that order.
    """
    seen = entry.seen
    frames_of = dict(zip(map(id, pictured(entry)), lamp_frames, strict=True))

    def sample(staged: StagedSample) -> SampleBody:
        return sample_body(staged, frames_of.get(id(staged.sample), ()))

    return {
        "scenario": scenario,
        "book": entry.book,
        "rig": entry.rig,
        "index": entry.index,
        "mode": entry.mode,
        "shown": None if entry.shown is None else list(entry.shown),
        "seen": None if seen is None else seen_body(seen, frames),
        "keyed": list(entry.keyed),
        "echoed": None if entry.echoed is None else list(entry.echoed),
        "lamps": [sample(staged) for staged in entry.lamps],
        "started": entry.started,
        "ended": entry.ended,
        "settle_s": entry.settle_s,
        "cleared_by_key": entry.cleared_by_key,
        "pressed_at": list(entry.pressed_at),
        "travelled": None if entry.travelled is None else list(entry.travelled),
        "late": sorted(entry.late),
        "watched": [sample(StagedSample("lit", watched)) for watched in entry.watched],
        "faults": [dict(fault) for fault in entry.faults],
        "frames": list(frames),
        "judgement": dict(judgement),
        "options": dict(options),
        "limits": dict(limits),
        "attempt": attempt,
        "provoked": provoked,
        "diagnosed": diagnosed,
    }


def pictured(entry: Entry) -> list[LampSample]:
    """Give an entry's lamp samples that were read from pictures, each once, in order."""
    samples = [*(staged.sample for staged in entry.lamps), *entry.watched]
    of_pictures = (sample for sample in samples if sample.pictures is not None)
    return list({id(sample): sample for sample in of_pictures}.values())


def named_frames(body: Mapping[str, Any]) -> list[FrameRef]:
    """Give every picture that an entry or a look names: of the dice, then of the lamps."""
    samples = [*body.get("lamps", ()), *body.get("watched", ())]
    of_lamps = [frame for s in samples if "pictures" in s for frame in s["pictures"]["frames"]]
    return [*body["frames"], *of_lamps]


def read_entry(body: EntryBody) -> Entry:
    """Read an entry back; equal to what was written but for the frames' names."""
    seen, shown = body["seen"], body["shown"]
    return Entry(
        book=body["book"],
        rig=body["rig"],
        index=body["index"],
        mode=body["mode"],
        shown=None if shown is None else as_dice(shown),
        seen=None if seen is None else _read_seen(seen),
        keyed=tuple(body["keyed"]),
        lamps=tuple(read_sample(sample) for sample in body["lamps"]),
        started=body["started"],
        ended=body["ended"],
        echoed=None if body["echoed"] is None else tuple(body["echoed"]),
        settle_s=body["settle_s"],
        cleared_by_key=body["cleared_by_key"],
        pressed_at=tuple(body.get("pressed_at", ())),
        travelled=_travelled(body),
        late=frozenset(body.get("late", ())),
        watched=tuple(read_sample(sample).sample for sample in body.get("watched", ())),
        faults=tuple(body["faults"]),
    )


def seen_body(seen: DiceSeen, frames: Sequence[FrameRef]) -> SeenBody:
    """Write what dice cameras gave as JSON; `frames` are the pictures as kept."""
    return {
        "values": list(seen.values),
        "reason": seen.reason,
        "confidence": seen.confidence,
        "frames": [frame["name"] for frame in frames],
        "cameras": [_camera_body(camera) for camera in seen.cameras],
    }


def _camera_body(camera: CameraReading) -> CameraSeenBody:
    return {
        "camera": camera.camera,
        "values": list(camera.values),
        "reason": camera.reason,
        "confidence": camera.confidence,
    }


def _read_seen(seen: SeenBody) -> DiceSeen:
    cameras = tuple(
        CameraReading(c["camera"], tuple(c["values"]), c["reason"], c["confidence"])
        for c in seen.get("cameras", ())
    )
    return DiceSeen(
        tuple(seen["values"]), seen["reason"], seen["confidence"], tuple(seen["frames"]), cameras
    )


def _travelled(body: EntryBody) -> tuple[str, ...] | None:
    travelled = body.get("travelled")
    return None if travelled is None else tuple(travelled)


def as_dice(values: Sequence[int]) -> Dice:
    """Give three values as dice; raises ValueError for another number of values."""
    first, second, third = values
    return (first, second, third)


def dice_text(values: Sequence[int]) -> str:
    """Write dice as everywhere in the record: `1,1,2`."""
    return ",".join(str(value) for value in values)
