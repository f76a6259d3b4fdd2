"""Everything that the record holds of one book on one rig, as its conclusion is drawn from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.bdd.benches import facts_of
from harness.bdd.collecting import ScenarioFacts
from harness.bdd.scenario_run import Check, KeptEntry, ScenarioRun
from harness.diagnosis.facts import RigFacts
from harness.evidence.journal_lines import Record
from harness.evidence.records import CheckBody, Scenario, outside, read_entry
from harness.evidence.resume import diagnosed_entries
from harness.evidence.summary import counting
from harness.observations import Entry
from harness.rules.judgement import Judgement, WinningAreas, judge_entry, read_limits
from harness.verdicts import Verdict

if TYPE_CHECKING:
    from harness.rig.sections import Rig

Judge = Callable[[Record], tuple[Entry, Judgement]]
"""Gives the entry that a record holds, and its judgement by itself."""


@dataclass(frozen=True, slots=True)
class Premises:
    """What a rig file states that a conclusion rests on: times in ms, names of dice cameras."""

    facts: RigFacts
    cameras: tuple[str, ...] = ()
    press_ms: float = 0.0
    press_limit_ms: float | None = None
    entry_timeout_ms: float | None = None

    @classmethod
    def of(cls, rig: Rig) -> Premises:
        """Take them from a rig file."""
        return cls(
            facts_of(rig),
            tuple(rig.roles.dice_camera),
            rig.keys.press_ms if rig.keys is not None else 0.0,
            rig.limits.press_ms,
            rig.limits.entry_timeout_ms,
        )

    def to_json(self) -> dict[str, object]:
        """Give them as a record holds them."""
        return asdict(self)

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> Premises:
        """Read them back."""
        names = [field.name for field in fields(RigFacts)]
        facts = {name: body["facts"][name] for name in names if name in body["facts"]}
        facts["sense_paths"] = tuple(facts["sense_paths"])
        told = {field.name: body[field.name] for field in fields(cls)}
        return cls(**{**told, "facts": RigFacts(**facts), "cameras": tuple(body["cameras"])})


@dataclass(frozen=True, slots=True)
class Link:
    """How a device's link did: exchanges, repeated reads, failures by word of diagnosis."""

    exchanges: int
    repeats: int
    failures: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Case:
    """The record of one book on one rig.

    `entries`: those that diagnosis explains, in order. `links`: for each device its exchanges,
    repeated reads and failures by word. `timed`, `untimed`: entries with a settling time, and those
    whose lamps were looked at too late to time them. `measured`: limits found afterwards, `press`
    or `timeout`, s; None: beyond all that was tried. `slow`: in how many of the untimed a part of
    the bench was too slow. `broken`: the errors that ended the work on the bench.
    """

    scenarios: tuple[ScenarioRun, ...]
    entries: tuple[KeptEntry, ...]
    links: Mapping[str, Link]
    timed: int
    untimed: int
    slow: Mapping[str, int]
    measured: Mapping[str, tuple[float, float | None]]
    broken: tuple[Mapping[str, Any], ...]

    @property
    def observed(self) -> list[Entry]:
        """Give the bare entries."""
        return [kept.entry for kept in self.entries]


def read_case(
    records: Sequence[Record],
    book: str,
    rig: str,
    judge: Judge,
    broken: Sequence[int] = (),
) -> Case:
    """Read one book on one rig out of a run's records.

    broken: the lines of errors that ended the work on the bench, beside those that a `diagnosis`
    names.
    """
    of, control = (book, rig), outside(book, rig, "negative-control")
    kept: dict[int, KeptEntry] = {}

    def entry(record: Record) -> KeptEntry:
        if record.line not in kept:
            body = record.body
            seen, judged = judge(record)
            if body["scenario"] == control:  # on the terminal it was an entry like any other
                seen = replace(seen, mode="entered", shown=None, seen=None)
            kept[record.line] = KeptEntry(
                seen,
                judged,
                record.line,
                body["scenario"],
                body.get("provoked", False),
                body.get("diagnosed", True),
            )
        return kept[record.line]

    scenarios = []
    for made in counting(records).values():
        end = made[-1].body
        if (end["book"], end["rig"]) == of:
            run = _scenario_run(end)
            run.entries = [entry(record) for record in made if record.kind == "entry"]
            scenarios.append(run)
    facts = [r.body for r in records if r.kind == "rig-fact" and r.body["rig"] == rig]
    facts = [fact for fact in facts if fact["data"].get("book") == book]
    lags = [fact["data"] for fact in facts if fact["topic"] == "host-lag"]
    ended = {
        record.body["broken"]
        for record in records
        if record.kind == "diagnosis" and (record.body["book"], record.body["rig"]) == of
    }
    ended.update(broken)
    return Case(
        scenarios=tuple(scenarios),
        entries=tuple(entry(record) for record in diagnosed_entries(records, book, rig)),
        links=_links(facts),
        timed=sum(lag["timed"] for lag in lags),
        untimed=sum(lag["untimed"] for lag in lags),
        slow=sum((Counter(lag.get("slow", {})) for lag in lags), Counter()),
        measured={
            fact["data"]["limit"]: (fact["data"]["low_s"], fact["data"]["high_s"])
            for fact in facts
            if fact["topic"] == "measured"
        },
        broken=tuple(r.body["error"] for r in records if r.kind == "error" and r.line in ended),
    )


def judged_as_recorded(book: WinningAreas) -> Judge:
    """Judge entries as they stand in the record."""

    def judge(record: Record) -> tuple[Entry, Judgement]:
        body, entry = record.body, read_entry(record.body)
        return entry, judge_entry(entry, book, body["options"], read_limits(body["limits"]))

    return judge


def check_body(check: Check) -> CheckBody:
    """Write a check as JSON."""
    return {
        "verdict": check.verdict.value,
        "what": check.what,
        "part": list(check.part),
        "fault": check.fault,
        "clauses": list(check.clauses),
        "depends_on": list(check.depends_on),
        "by_camera": check.by_camera,
        "entry": check.entry,
    }


def _read_check(body: CheckBody) -> Check:
    return Check(
        Verdict(body["verdict"]),
        body["what"],
        tuple(body["part"]),
        body["fault"],
        tuple(body["clauses"]),
        tuple(body["depends_on"]),
        body["by_camera"],
        body["entry"],
    )


def _scenario_run(end: Mapping[str, Any]) -> ScenarioRun:
    """Read a finished scenario back, without its entries."""
    facts = ScenarioFacts(
        feature=end["feature"],
        name=end["name"],
        path=Path(end["feature"]),
        line=end["line"] or 0,
        clauses=tuple(end["clauses"]),
        needs=frozenset(),
        irregular=False,
        example={},
        result=next(iter(end["results"]), None),
    )
    scenario = Scenario(
        id=end["scenario"],
        feature=end["feature"],
        name=end["name"],
        book=end["book"],
        rig=end["rig"],
        tags=tuple(end["tags"]),
        clauses=tuple(end["clauses"]),
        line=end["line"],
    )
    checks = [_read_check(check) for check in end.get("checks", ())]
    return ScenarioRun(facts, scenario, started=end["started"], checks=checks)


def _links(facts: Sequence[Mapping[str, Any]]) -> dict[str, Link]:
    links: dict[str, Link] = {}
    for fact in facts:
        if fact["topic"] != "reads":
            continue
        device, data = fact["part"].removeprefix("device:"), fact["data"]
        before = links.get(device, Link(0, 0, {}))
        links[device] = Link(
            before.exchanges + data["exchanges"],
            before.repeats + fact["count"],
            Counter(before.failures) + Counter(data["failures"]),
        )
    return links
