"""All that the reports show, gathered once from the record: page and print are made from this."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from harness.evidence.account import clauses_not_concluded
from harness.evidence.canonical import canonical, sha256_hex
from harness.evidence.journal_lines import Record, read_records
from harness.evidence.records import dice_text, named_frames
from harness.evidence.report_items import Part, report_parts
from harness.evidence.run_folder import RunFolder
from harness.evidence.seal import record_digest
from harness.evidence.summary import ScenarioOutcome, counting, outcomes, summarise
from harness.verdicts import Verdict

TITLE = "Test report: Sic Bo table"
WORST_FIRST = (
    Verdict.DUT_FAIL,
    Verdict.PROCEDURE_FAIL,
    Verdict.RIG_FAULT,
    Verdict.AMBIGUOUS,
    Verdict.NO_RESULT,
    Verdict.PENDING,
    Verdict.PASS,
    Verdict.NOT_APPLICABLE,
)
_STAGES = {
    "before": "lamps sensed before the first key",
    "after-1": "lamps sensed after the first key",
    "after-2": "lamps sensed after the second key",
    "after-3": "lamps sensed after the third key, before the entry key",
    "lit": "lamps sensed after the committing key",
    "cleared": "lamps sensed after clear",
}


_CLOCK_STEP_S = 1.0
_UNTIMELY = ("early", "lingering", "late")


@dataclass(frozen=True, slots=True)
class Moment:
    """One point of a round's timeline: seconds from its start, a word for it, what it says."""

    t: float
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was sent to a device and what came back, `times` over without a change.

    Bytes are in hexadecimal unless all are text. `t`: seconds from the entry's start.
    """

    t: float
    device: str
    sent: str
    received: str
    times: int


@dataclass(frozen=True, slots=True)
class ResultView:
    """One result as entered: what was seen, keyed and sensed, and what came of it.

    `verdict` is the one that counts (after diagnosis); `alone` what the entry says by itself.
    Area ids are sorted; `frames` are names under `frames/`, `cameras` who took each, as far as
    recorded. `each_saw`: what each camera read by itself. `provoked`: wrong on purpose. `within`:
    name of its scenario where that is about more than this one result, else empty.
    `lamp_pictures`: pictures of the lamps, with who took each.
    """

    anchor: str
    book: str
    rig: str
    dice: str
    seen: str
    keyed: str
    verdict: Verdict
    alone: Verdict
    what: str
    mode: str
    scenario: str
    line: int
    lit: tuple[str, ...]
    expected: tuple[str, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    unknown: tuple[str, ...]
    doubtful: tuple[str, ...]
    clauses: tuple[str, ...]
    frames: tuple[str, ...]
    cameras: tuple[str, ...]
    each_saw: tuple[tuple[str, str], ...]
    provoked: bool
    within: str
    lamp_pictures: tuple[tuple[str, str], ...]
    settle_ms: float | None
    attempt: int
    timeline: tuple[Moment, ...]
    wire: tuple[Exchange, ...]


@dataclass(frozen=True, slots=True)
class ScenarioView:
    """One scenario with its steps, deviations, answers and measurements.

    `pictures`: those that it rests on beside its entries', and of what. `wrong_areas`: all that
    spoke against it are these areas of its entries; None where something else did, too.
    """

    anchor: str
    outcome: ScenarioOutcome
    deviations: tuple[Mapping[str, Any], ...]
    answers: tuple[Mapping[str, Any], ...]
    measurements: tuple[Mapping[str, Any], ...]
    errors: tuple[Mapping[str, Any], ...]
    timeline: tuple[Moment, ...]
    entries: int
    pictures: tuple[tuple[str, str], ...]
    wrong_areas: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class CalibrationView:
    """The calibration by which a camera was read: date and hash, None where it has none."""

    rig: str
    camera: str
    made: str | None
    sha256: str | None


@dataclass(frozen=True, slots=True)
class ClauseRow:
    """One clause of a book: tested how, by which scenarios, with which verdict; or why not.

    `scenarios`: anchor, name and verdict as to this clause, those that did not pass first. `left`:
    how many more were planned for it and not concluded.
    """

    tag: str
    clause: str
    says: str
    testable: str
    verdict: Verdict | None
    scenarios: tuple[tuple[str, str, Verdict], ...]
    left: int
    why_not: str


@dataclass(frozen=True, slots=True)
class BookView:
    """One rule book in this run."""

    book: str
    title: str
    source: str
    edition: str
    current_through: str
    sha256: str
    mode: str
    checked: int
    recorded: int
    passed: int
    readings: tuple[Mapping[str, Any], ...]
    clauses: tuple[ClauseRow, ...]
    areas: tuple[str, ...]
    lit_once: frozenset[str]
    dark_once: frozenset[str]


@dataclass(frozen=True, slots=True)
class ReportData:
    """A whole report.

    `clock_steps`: the journal's lines before which the host's clock was set, and by how many s.
    """

    report_id: str
    title: str
    manifest: Mapping[str, Any]
    summary: Mapping[str, Any]
    record_sha256: str
    amends: Mapping[str, Any] | None
    parts: tuple[Part, ...]
    books: tuple[BookView, ...]
    results: tuple[ResultView, ...]
    scenarios: tuple[ScenarioView, ...]
    facts: tuple[Mapping[str, Any], ...]
    breaks: tuple[Mapping[str, Any], ...]
    errors: tuple[Mapping[str, Any], ...]
    calibrations: tuple[CalibrationView, ...]
    clock_steps: tuple[tuple[int, float], ...]
    rig_faults: int
    retakes: int
    repeated_reads: int

    @property
    def verdict(self) -> Verdict:
        """The run's verdict."""
        return Verdict(self.summary["verdict"])


def gather(
    folder: RunFolder,
    *,
    amends: Mapping[str, Any] | None = None,
    profile: Mapping[str, Any] | None = None,
    issued: str | None = None,
) -> ReportData:
    """Read a run's record into a report.

    `amends` names the original of an amended report (`{"run_id", "seal_sha256", "why"}`); `profile`
    stands in place of the laboratory's profile that the run was made with. A report with either is
    another than the run's own and has an id of its own. `issued` (RFC 3339, UTC): when, if not at
    the end of the run.
    Raises UnreadableRecordError if the folder holds no run.
    """
    records = read_records(folder.journal)
    manifest = folder.read_manifest()
    if profile is not None:
        manifest = {**manifest, "laboratory": profile}
    summary = summarise(records)
    order = [book["book"] for book in manifest["books"]]
    done = dict(
        sorted(
            outcomes(records).items(),
            key=lambda item: order.index(book) if (book := item[1].body["book"]) in order else -1,
        )
    )
    attempts = counting(records)
    anchors = {scenario: f"s{number}" for number, scenario in enumerate(done, start=1)}
    results = tuple(_results(done, attempts))
    scenarios = tuple(
        _scenario_view(anchors[scenario], outcome, attempts[scenario])
        for scenario, outcome in done.items()
    )
    facts = tuple(r.body for r in records if r.kind == "rig-fact")
    left = clauses_not_concluded(records)
    original = amends or manifest.get("amends")
    return ReportData(
        report_id=str(summary["run_id"]) + further_id(original, profile),
        title=("Amended t" if original else "T") + TITLE[1:],
        manifest=manifest,
        summary=summary,
        record_sha256=record_digest(folder),
        amends=original,
        parts=report_parts(manifest, summary, facts, issued=issued),
        books=tuple(
            _book_view(book, summary["results"].get(book["book"], {}), scenarios, results, left)
            for book in manifest["books"]
        ),
        results=results,
        scenarios=scenarios,
        facts=facts,
        breaks=tuple({**r.body, "utc": r.utc} for r in records if r.kind == "run-resumed"),
        errors=tuple(r.body for r in records if r.kind == "error"),
        calibrations=tuple(_calibrations(manifest, facts)),
        clock_steps=tuple(_clock_steps(records)),
        rig_faults=sum(r.kind == "error" for r in records)
        + sum(bool(r.body["faults"]) for r in records if r.kind == "entry"),
        retakes=_count(records, "retakes") + _repeated(records),
        repeated_reads=_count(records, "reads"),
    )


def further_id(amends: Mapping[str, Any] | None, profile: Mapping[str, Any] | None) -> str:
    """Give what tells a further report of a run from the run's own; nothing for that one itself."""
    if amends is None and profile is None:
        return ""
    apart = sha256_hex(canonical({"amends": amends, "profile": profile}))[:8]
    return f"-amended-{apart}" if amends else f"-{apart}"


def _calibrations(
    manifest: Mapping[str, Any], facts: Sequence[Mapping[str, Any]]
) -> Iterator[CalibrationView]:
    """Give for each camera the calibration it was read by, from the manifest."""
    held = manifest.get("calibrations") or {}
    cameras = [(rig, camera) for rig, told in held.items() for camera in told]
    cameras += [
        (fact["rig"], fact["part"].removeprefix("camera:"))
        for fact in facts
        if fact["topic"] == "calibration"
    ]
    for rig, camera in dict.fromkeys(cameras):
        told = held.get(rig, {}).get(camera, {})
        yield CalibrationView(rig, camera, told.get("made"), told.get("sha256"))


def _clock_steps(records: Sequence[Record]) -> Iterator[tuple[int, float]]:
    """Find where wall clock and monotonic clock of the host went apart, a restart left out."""
    for before, after in pairwise(records):
        mono = after.mono - before.mono
        wall = (
            datetime.fromisoformat(after.utc) - datetime.fromisoformat(before.utc)
        ).total_seconds()
        if mono >= 0 and abs(wall - mono) > _CLOCK_STEP_S:
            yield after.line, wall - mono


def _of_clause(verdicts: Set[Verdict]) -> Verdict | None:
    """Give a clause the worst verdict of its scenarios: one that is pending has not passed."""
    return next((verdict for verdict in WORST_FIRST if verdict in verdicts), None)


def _count(records: Sequence[Record], topic: str) -> int:
    return sum(
        r.body["count"] for r in records if r.kind == "rig-fact" and r.body["topic"] == topic
    )


def _repeated(records: Sequence[Record]) -> int:
    """Count scenarios that were run again: attempts beyond the first of each."""
    begun = Counter(r.body["scenario"] for r in records if r.kind == "scenario-started")
    return sum(count - 1 for count in begun.values())


def _results(
    done: Mapping[str, ScenarioOutcome], attempts: Mapping[str, Sequence[Record]]
) -> Iterator[ResultView]:
    number = 0
    for scenario, outcome in done.items():
        records = attempts[scenario]
        entries = [record for record in records if record.kind == "entry"]
        for position, record in enumerate(entries):
            number += 1
            since = entries[position - 1].line if position else 0
            events = [r for r in records if r.kind == "event" and since < r.line <= record.line]
            if position == len(entries) - 1:
                events += [r for r in records if r.kind == "event" and r.line > record.line]
            wires = [r for r in records if r.kind == "wire" and since < r.line < record.line]
            yield _result_view(f"r{number}", outcome, record, events, wires)


def _result_view(
    anchor: str,
    outcome: ScenarioOutcome,
    record: Record,
    events: Sequence[Record],
    wires: Sequence[Record],
) -> ResultView:
    body = record.body
    judgement = body["judgement"]
    keyed = ",".join(body["keyed"])
    dice = dice_text(body["shown"]) if body["shown"] else keyed or "none"
    seen = body["seen"]
    own = Verdict(judgement["verdict"])
    only = len(outcome.results) <= 1
    verdict = outcome.results.get(dice, outcome.verdict if only else own)
    told = outcome.what if outcome.rejudged and only else judgement["what"]
    last = {s["path"]: s for s in body["lamps"] if s["stage"] == "lit"}
    lit = {area for sample in last.values() for area in sample["lit"]}
    doubtful = {
        area
        for name in ("disputed", "split", "flicker", "early", "lingering")
        for area in judgement.get(name, ())
    }
    return ResultView(
        anchor=anchor,
        book=body["book"],
        rig=body["rig"],
        dice=dice,
        seen=_seen_text(seen),
        keyed=keyed or "nothing",
        verdict=verdict,
        alone=own,
        what=told,
        mode=body["mode"],
        scenario=outcome.body["scenario"],
        line=record.line,
        lit=tuple(sorted(lit)),
        expected=tuple(judgement.get("expected", ())),
        missing=tuple(judgement.get("missing", ())),
        extra=tuple(judgement.get("extra", ())),
        unknown=tuple(judgement.get("unknown", ())),
        doubtful=tuple(sorted(doubtful)),
        clauses=tuple(outcome.body["clauses"]),
        frames=tuple(frame["name"] for frame in body["frames"]),
        cameras=tuple(frame.get("camera", "") for frame in body["frames"]),
        each_saw=tuple(
            (told["camera"], _seen_text(told)) for told in (seen or {}).get("cameras", ())
        ),
        provoked=body.get("provoked", False),
        within="" if dice in outcome.results else outcome.body["name"],
        lamp_pictures=tuple(
            (frame["name"], frame.get("camera", ""))
            for frame in named_frames(body)[len(body["frames"]) :]
        ),
        settle_ms=None if body["settle_s"] is None else body["settle_s"] * 1e3,
        attempt=body["attempt"],
        timeline=tuple(_timeline(events) or _from_samples(body)),
        wire=tuple(_exchanges(wires, body["started"])),
    )


def _bytes_text(parts: Sequence[str]) -> str:
    data = bytes.fromhex(" ".join(parts))
    text = data.decode("latin-1").rstrip("\r\n")
    return text if len(text) > 1 and text.isascii() and text.isprintable() else data.hex(" ")


def _exchanges(wires: Sequence[Record], start: float) -> Iterator[Exchange]:
    """Put answers beside their questions, and together what was asked again without a change."""
    pairs: list[tuple[float, str, list[str], list[str]]] = []
    for at, device, way, data in (passed for record in wires for passed in record.body["passed"]):
        same = next((pair for pair in reversed(pairs) if pair[1] == device), None)
        if way == "received" and same is not None:
            same[3].append(data)
        else:
            pairs.append((at, device, [data], []) if way == "sent" else (at, device, [], [data]))
    last: Exchange | None = None
    for at, device, out, back in pairs:
        sent, received = _bytes_text(out), _bytes_text(back)
        if last is not None and (last.device, last.sent, last.received) == (device, sent, received):
            last = replace(last, times=last.times + 1)
            continue
        if last is not None:
            yield last
        last = Exchange(at - start, device, sent, received, 1)
    if last is not None:
        yield last


def _seen_text(seen: Mapping[str, Any] | None) -> str:
    if seen is None:
        return "not looked at"
    return dice_text(seen["values"]) if seen["reason"] is None else f"refused: {seen['reason']}"


def _timeline(events: Sequence[Record]) -> list[Moment]:
    if not events:
        return []
    start = events[0].body["t"]
    return [
        Moment(event.body["t"] - start, event.body["event"], _event_text(event.body["data"]))
        for event in events
    ]


def _event_text(data: Mapping[str, Any]) -> str:
    return " ".join(
        ",".join(map(str, value)) if isinstance(value, list) else str(value)
        for value in data.values()
    )


def _from_samples(body: Mapping[str, Any]) -> list[Moment]:
    """Make a timeline of an entry whose round emitted no events, from when lamps were sensed."""
    start = body["started"]
    moments = [Moment(0.0, "entry begins", f"keys {','.join(body['keyed']) or 'none'}")]
    moments += [
        Moment(s["at"] - start, _STAGES[s["stage"]], f"{len(s['lit'])} lit, over {s['path']}")
        for s in body["lamps"]
    ]
    moments.append(Moment(body["ended"] - start, "entry ends", ""))
    return moments


def _scenario_view(
    anchor: str, outcome: ScenarioOutcome, records: Sequence[Record]
) -> ScenarioView:
    def bodies(kind: str) -> tuple[Mapping[str, Any], ...]:
        return tuple(record.body for record in records if record.kind == kind)

    entries = len(bodies("entry"))
    events = [record for record in records if record.kind == "event"]
    return ScenarioView(
        anchor=anchor,
        outcome=outcome,
        deviations=bodies("deviation"),
        answers=bodies("operator"),
        measurements=bodies("measurement"),
        errors=bodies("error"),
        timeline=() if entries else tuple(_timeline(events)),
        entries=entries,
        pictures=tuple(
            (frame["name"], look["what"].replace("-", " "))
            for look in bodies("look")
            for frame in look["frames"]
        ),
        wrong_areas=_wrong_areas(outcome.body, bodies("entry")),
    )


def _wrong_areas(
    end: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]
) -> frozenset[str] | None:
    """Give the areas that were wrong, if nothing but lamps of entries spoke against a scenario."""
    if any(
        check["verdict"] != Verdict.PASS and check["entry"] is None
        for check in end.get("checks", ({"verdict": "", "entry": None},))
    ):
        return None
    wrong: set[str] = set()
    for body in entries:
        judgement = body["judgement"]
        if body.get("provoked") or judgement["verdict"] == Verdict.PASS:
            continue
        areas = {
            area
            for name in ("missing", "extra", "disputed", "split", "flicker", *_UNTIMELY)
            for area in judgement.get(name, ())
        }
        if not areas or judgement["verdict"] not in (Verdict.DUT_FAIL, Verdict.AMBIGUOUS):
            return None
        wrong |= areas
    return frozenset(wrong)


def _book_view(
    facts: Mapping[str, Any],
    told: Mapping[str, Any],
    scenarios: Sequence[ScenarioView],
    results: Sequence[ResultView],
    left: Mapping[tuple[str, str], int],
) -> BookView:
    book = facts["book"]
    mine = [view for view in scenarios if view.outcome.body["book"] == book]
    entered = [view for view in results if view.book == book]
    areas = tuple(facts["areas"])
    return BookView(
        book=book,
        title=facts["title"],
        source=facts["source"],
        edition=facts["edition"],
        current_through=facts["current_through"] or "",
        sha256=facts["sha256"],
        mode=told.get("mode", "not tested"),
        checked=told.get("checked", 0),
        recorded=told.get("recorded", 0),
        passed=told.get("passed", 0),
        readings=tuple(facts["readings"]),
        clauses=tuple(
            _clause_row(
                clause, mine, facts.get("area_clauses", {}), left.get((book, clause["tag"]), 0)
            )
            for clause in facts["clauses"]
        ),
        areas=areas,
        lit_once=frozenset(area for view in entered for area in view.lit),
        dark_once=frozenset(
            area
            for view in entered
            for area in areas
            if area not in view.lit and area not in view.unknown
        ),
    )


def _clause_row(
    clause: Mapping[str, Any],
    scenarios: Sequence[ScenarioView],
    area_clauses: Mapping[str, str],
    left: int,
) -> ClauseRow:
    by = [
        (view.anchor, view.outcome.body["name"], _as_to(clause["tag"], view, area_clauses))
        for view in scenarios
        if clause["tag"] in view.outcome.body["clauses"]
    ]
    why_not = clause.get("why_not") or ""
    if not by and not why_not and not left:
        why_not = "no scenario of this run"
    verdicts = {verdict for _, _, verdict in by} | ({Verdict.RIG_FAULT} if left else set())
    return ClauseRow(
        tag=clause["tag"],
        clause=clause["clause"],
        says=clause.get("paraphrase") or clause.get("says") or "",
        testable=clause["testable"],
        verdict=_of_clause(verdicts),
        scenarios=tuple(sorted(by, key=lambda one: WORST_FIRST.index(one[2]))),
        left=left,
        why_not="" if by else why_not,
    )


def _as_to(tag: str, view: ScenarioView, area_clauses: Mapping[str, str]) -> Verdict:
    """Give a scenario's verdict as to one of its clauses.

    A clause that says when some areas win is not breached by an entry whose lamps were wrong for
    other areas only.
    """
    verdict = view.outcome.verdict
    if tag not in area_clauses.values() or not view.wrong_areas:
        return verdict
    if verdict not in (Verdict.DUT_FAIL, Verdict.AMBIGUOUS):  # not sensed right is not seen right
        return verdict
    breached = {area_clauses.get(area) for area in view.wrong_areas}
    return verdict if {tag, None} & breached else Verdict.PASS
