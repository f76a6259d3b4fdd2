"""Verdicts derived again from recorded observations alone, and compared with those recorded.

Pictures are read anew, each entry is judged anew by the rule book as it is now, and the summary is
made anew from the journal. Nothing of the record's own conclusions is used. What all entries
together say is derived again by the rooms above that drew it (`harness.bdd.concluded_again`,
`harness.campaign.qualify_again`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.evidence.journal_lines import Record, read_records
from harness.evidence.records import (
    EntryBody,
    LookBody,
    dice_text,
    named_frames,
    read_entry,
)
from harness.evidence.replay_lamps import changes
from harness.evidence.replay_pictures import Glimpsed, Looked, Pictures
from harness.evidence.run_folder import RunFolder, open_run_folder
from harness.evidence.summary import ScenarioOutcome, counting, outcomes, summarise
from harness.observations import DiceSeen, Entry
from harness.rules.areas import Options
from harness.rules.books import RuleBook
from harness.rules.judgement import Judgement, WinningAreas, judge_entry, read_limits
from harness.rules.monitor import Monitor
from harness.rules.timeline import Event, Setup
from harness.verdicts import CHECKS_WORST_FIRST, HarnessError, Measurement, Verdict

_BLAMING = (Verdict.DUT_FAIL, Verdict.PROCEDURE_FAIL)
LoadBook = Callable[[str], WinningAreas]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that came out otherwise: where it stands, what it is of, both values."""

    file: str
    line: int | None
    scenario: str | None
    result: str | None
    what: str
    recorded: object
    derived: object

    def to_json(self) -> dict[str, object]:
        """Give the difference as `replay --json` prints it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of it: how much was derived again, and what came out otherwise.

    `judged`: for each entry's line the entry, its dice as read anew, and its judgement as made
    anew.
    """

    entries: int
    pictures: int
    differences: tuple[Difference, ...]
    judged: Mapping[int, tuple[Entry, Judgement]]

    @property
    def same(self) -> bool:
        """Whether everything came out as recorded."""
        return not self.differences

    def to_json(self) -> dict[str, object]:
        """Give the answer as `replay --json` prints it."""
        return {
            "same": self.same,
            "differences": [difference.to_json() for difference in self.differences],
            "entries": self.entries,
            "pictures": self.pictures,
        }


def replay_run(path: Path, load_book: LoadBook) -> Replay:
    """Derive a run's readings and verdicts again; `load_book` gives the rule book of an id.

    Raises UnreadableRecordError if the folder holds no run, and what `load_book` raises.
    """
    folder = open_run_folder(path)
    records = read_records(folder.journal)
    entries = [record for record in records if record.kind == "entry"]
    books = {book: load_book(book) for book in sorted({r.body["book"] for r in entries})}
    reread = Pictures(folder)
    workers = max(1, min(2, os.cpu_count() or 1))
    with ThreadPoolExecutor(workers) as pool:  # OpenCV lets the interpreter go while it works
        looked = list(pool.map(reread.look, (record.body for record in entries)))
        looks = [record for record in records if record.kind == "look"]
        relooked = list(pool.map(reread.look_again, (record.body for record in looks)))
    manifest = folder.read_manifest()
    differences = list(_compare_calibrations(manifest))
    judged: dict[int, tuple[Entry, Judgement]] = {}
    for record, seen in zip(entries, looked, strict=True):
        entry, judgement = _judge(record, seen, books[record.body["book"]])
        differences += _compare_entry(record, seen, judgement)
        if isinstance(judgement, str):
            judgement = Judgement(Verdict.RIG_FAULT, judgement)
        judged[record.line] = (entry, judgement)
    for record, again in zip(looks, relooked, strict=True):
        differences += _compare_look(record, again)
    verdicts = {line: judgement.verdict for line, (_, judgement) in judged.items()}
    differences += _compare_scenarios(records, verdicts)
    differences += _compare_measurements(records)
    differences += _compare_procedure(manifest, records, load_book)
    differences += _compare_summary(folder, records)
    pictures = sum(len(named_frames(record.body)) for record in (*entries, *looks))
    return Replay(len(entries), pictures, tuple(differences), judged)


def _compare_calibrations(manifest: Mapping[str, Any]) -> Iterator[Difference]:
    """Tell calibrations in the manifest that are not those of their own hash."""
    from harness.vision.calibration import digest_of

    for rig, cameras in (manifest.get("calibrations") or {}).items():
        for camera, told in cameras.items():
            if (derived := digest_of(told["contents"])) != told["sha256"]:
                what = f"calibration of {camera} on {rig}"
                yield Difference("manifest.json", 1, None, None, what, told["sha256"], derived)


def _judge(record: Record, looked: Looked, book: WinningAreas) -> tuple[Entry, Judgement | str]:
    """Judge an entry anew on the dice as read anew; gives a text where the book refuses."""
    body: EntryBody = record.body
    entry = _seen_anew(read_entry(body), looked)
    try:
        judgement = judge_entry(
            entry,
            book,
            body["options"],  # type: ignore[arg-type]  # JSON holds them as they were given
            read_limits(body["limits"]),
        )
    except HarnessError as error:
        return entry, str(error)
    return entry, judgement


def _seen_anew(entry: Entry, looked: Looked) -> Entry:
    """Put what was read anew in the place of what was recorded."""
    if looked.seen is not None and entry.seen is not None:
        entry = replace(entry, seen=looked.seen)
    lamps = list(entry.lamps)
    for place, again in looked.lamps.items():
        told = again.told
        if told is not None and place < len(lamps):
            sample = replace(
                lamps[place].sample,
                lit=told.lit,
                split=told.split,
                flicker=told.flicker,
                levels=told.levels,
            )
            lamps[place] = replace(lamps[place], sample=sample)
    return replace(entry, lamps=tuple(lamps))


def _compare_entry(record: Record, looked: Looked, judged: Judgement | str) -> Iterator[Difference]:
    body: EntryBody = record.body
    seen = read_entry(body).seen
    result = dice_text(body["shown"]) if body["shown"] else ",".join(body["keyed"]) or None

    def differs(what: str, recorded: object, derived: object) -> Difference:
        return Difference(
            "journal.jsonl", record.line, body["scenario"], result, what, recorded, derived
        )

    for name, what in looked.broken:
        yield Difference(f"frames/{name}", None, body["scenario"], result, "picture", None, what)
    samples = [*body["lamps"], *body.get("watched", ())]
    for place, again in looked.lamps.items():
        of = f"lamps {samples[place]['stage']} by {samples[place]['path']}"
        for name, what in again.broken:
            yield differs(f"{of}: picture {name}".rstrip(), None, what)
        if again.told is not None:
            for name, was, is_ in changes(samples[place], again.told):
                yield differs(f"{of}: {name}", was, is_)
    if looked.seen is not None and seen is not None:
        derived = looked.seen
        if (seen.values, seen.reason) != (derived.values, derived.reason):
            yield differs("dice", _told(seen), _told(derived))
    recorded = body["judgement"]
    if isinstance(judged, str):
        yield differs("judgement", recorded.get("verdict"), judged)
        return
    for name, value in judged.to_json().items():
        if value != recorded.get(name, [] if value == [] else None):
            yield differs(name, recorded.get(name), value)


def _compare_look(record: Record, again: Looked | Glimpsed) -> Iterator[Difference]:
    body: LookBody = record.body
    for name, what in again.broken:
        yield Difference(f"frames/{name}", None, body["scenario"], None, "picture", None, what)
    was: object = body["legible"]
    derived: object
    if isinstance(again, Glimpsed):
        derived = again.legible
    else:
        seen = body["seen"]
        was = None if seen is None else seen["reason"] or list(seen["values"])
        derived = None if again.seen is None else _told(again.seen)
    if was != derived:
        what = f"pictures, {body['what']}"
        yield Difference("journal.jsonl", record.line, body["scenario"], None, what, was, derived)


def _told(seen: DiceSeen) -> object:
    return list(seen.values) if seen.reason is None else seen.reason


def _compare_scenarios(
    records: Sequence[Record], derived: Mapping[int, Verdict]
) -> Iterator[Difference]:
    """Hold each scenario's verdict against what its steps and entries bear.

    `derived` gives each entry's verdict as judged anew, by its line. Diagnosis may have changed a
    verdict that was no pass; it makes none a pass, and without anything that failed nobody is
    blamed.
    """
    final = outcomes(records)
    for scenario, made in counting(records).items():
        end, outcome = made[-1], final[scenario]
        entries = [r for r in made if r.kind == "entry" and not r.body.get("provoked", False)]
        steps = [Verdict(s["verdict"]) for s in end.body["steps"] if s["verdict"]]
        borne = _worst([*steps, *(derived[entry.line] for entry in entries)])
        told = _not_borne(outcome, Verdict(end.body["verdict"]), borne, made)
        if told is not None and borne is not None:
            yield _scenario_differs(end, None, told, borne)
        for entry in entries:
            dice, verdict = dice_text(entry.body["shown"] or ()), derived[entry.line]
            if verdict is not Verdict.PASS and outcome.results.get(dice) is Verdict.PASS:
                yield _scenario_differs(entry, dice, Verdict.PASS, verdict)


def _not_borne(
    outcome: ScenarioOutcome, own: Verdict, borne: Verdict | None, made: Sequence[Record]
) -> Verdict | None:
    """Give a scenario's verdict, its own or that of diagnosis, that what it holds does not bear."""
    if borne is None:
        return None
    if CHECKS_WORST_FIRST.index(own) > CHECKS_WORST_FIRST.index(borne):
        return own
    if outcome.verdict is Verdict.PASS and borne is not Verdict.PASS:
        return outcome.verdict
    if own in _BLAMING and borne is Verdict.PASS and not _else_failed(made):
        return own
    return None


def _scenario_differs(
    record: Record, result: str | None, recorded: Verdict, derived: Verdict
) -> Difference:
    scenario = record.body["scenario"]
    return Difference(
        "journal.jsonl",
        record.line,
        scenario,
        result,
        "scenario verdict",
        recorded.value,
        derived.value,
    )


def _worst(verdicts: Sequence[Verdict]) -> Verdict | None:
    return next((verdict for verdict in CHECKS_WORST_FIRST if verdict in verdicts), None)


def _else_failed(made: Sequence[Record]) -> bool:
    """Tell whether a scenario holds, beside steps and entries, anything that may fail it."""
    return any(
        record.kind in ("deviation", "error")
        or (record.kind == "operator" and record.body["answer"] == "no")
        or (record.kind == "measurement" and record.body["verdict"] != Verdict.PASS)
        for record in made
    )


def _compare_measurements(records: Sequence[Record]) -> Iterator[Difference]:
    """Judge every measured value by its limits and its uncertainty again."""
    for record in records:
        if record.kind != "measurement":
            continue
        body = record.body
        derived = Measurement(
            body["name"],
            body["unit"],
            body["low"],
            body["high"],
            body["value"],
            body["uncertainty"],
        ).verdict.value
        if derived != body["verdict"]:
            what = f"measurement {body['name']}"
            yield Difference(
                "journal.jsonl",
                record.line,
                body["scenario"],
                None,
                what,
                body["verdict"],
                derived,
            )


def _compare_procedure(
    manifest: Mapping[str, Any], records: Sequence[Record], load_book: LoadBook
) -> Iterator[Difference]:
    """Have the procedure monitor judge every recorded timeline again.

    A rig whose shaker and cover the manifest does not tell has no timeline that could be judged.
    """
    options = {r.body["book"]: r.body["options"] for r in records if r.kind == "entry"}
    for made in counting(records).values():
        end = made[-1].body
        events = [record for record in made if record.kind == "event"]
        if not events:  # nothing was played: a shaker's qualification has not even a book
            continue
        book, setup = load_book(end["book"]), _setup(manifest, end["rig"])
        if setup is None or not isinstance(book, RuleBook):
            continue
        told = [(r.body["clause"], r.body["at"]) for r in made if r.kind == "deviation"]
        derived = list(_deviations(book, setup, options.get(book.id), events))
        if told != derived:
            yield Difference(
                "journal.jsonl",
                events[0].line,
                end["scenario"],
                None,
                "deviations",
                [list(one) for one in told],
                [list(one) for one in derived],
            )


def _deviations(
    book: RuleBook, setup: Setup, options: Options | None, events: Sequence[Record]
) -> Iterator[tuple[str, float]]:
    """Give clause and time of every deviation; time that goes back begins another timeline."""
    monitor, last = Monitor(book, setup, options), float("-inf")
    for record in events:
        body = record.body
        if body["t"] < last:
            monitor = Monitor(book, setup, options)
        last = body["t"]
        for found in monitor.feed(Event(last, body["event"], body["data"])):
            yield found.clause, found.at


def _setup(manifest: Mapping[str, Any], rig: str) -> Setup | None:
    table = manifest["dut"].get(rig)
    if not isinstance(table, Mapping) or not {"shaker", "cover"} <= set(table):
        return None
    return Setup(table["shaker"], table["cover"])


def _compare_summary(folder: RunFolder, records: Sequence[Record]) -> Iterator[Difference]:
    """Compare `summary.json`, if it is there, with what the journal says now."""
    import json

    if not folder.summary.is_file():
        return
    derived = summarise(records)
    try:
        recorded = json.loads(folder.summary.read_bytes())
    except ValueError:
        recorded = None
    if not isinstance(recorded, Mapping):
        yield Difference("summary.json", 1, None, None, "summary", "not JSON", derived["verdict"])
        return
    for name in sorted(set(derived) | set(recorded)):
        if recorded.get(name) != derived.get(name):
            yield Difference(
                "summary.json", 1, None, None, name, recorded.get(name), derived.get(name)
            )
