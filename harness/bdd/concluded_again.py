"""The conclusions of a run drawn again from its record, and compared with those recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from harness.bdd.case import Premises, read_case
from harness.bdd.conclusion import Conclusion, conclude, diagnosis_of
from harness.dealing.selfcheck import control_proof
from harness.evidence.canonical import canonical
from harness.evidence.journal_lines import Record
from harness.evidence.records import outside
from harness.evidence.replay import Difference
from harness.evidence.summary import ScenarioOutcome, counting, finding_records, outcomes
from harness.observations import Entry
from harness.rules.books import RuleBook
from harness.rules.judgement import Judgement, read_limits

_CAUSE = ("verdict", "part", "fault")
Of = tuple[str, str]
"""A rule book's id and a rig's name."""


def compare_conclusions(
    records: Sequence[Record],
    judged: Mapping[int, tuple[Entry, Judgement]],
    load_book: Callable[[str], RuleBook],
) -> Iterator[Difference]:
    """Diagnose each book on each rig again, and give what comes out otherwise.

    judged: for each entry's line the entry as read anew and its judgement as made anew. A run that
    broke off before a book was diagnosed has nothing to compare there; one that is complete must
    have been diagnosed.
    """
    diagnosed: dict[Of, Record] = {}
    for record in records:
        if record.kind == "diagnosis":
            diagnosed[record.body["book"], record.body["rig"]] = record
    in_force = outcomes(records)
    for of, record in diagnosed.items():
        body = record.body
        premises = Premises.read(body["premises"])
        book = load_book(body["book"])
        case = read_case(records, *of, lambda record: judged[record.line])
        diagnosis = diagnosis_of(case, book, premises, body["options"])
        conclusion = conclude(case, diagnosis, book, premises)
        yield from _compare_scenarios(conclusion, in_force, _rejudged(records))
        yield from _compare_findings(conclusion, records, record)
    yield from _undiagnosed(records, set(diagnosed))
    yield from _compare_controls(records, judged, load_book)


def _compare_controls(
    records: Sequence[Record],
    judged: Mapping[int, tuple[Entry, Judgement]],
    load_book: Callable[[str], RuleBook],
) -> Iterator[Difference]:
    """See again whether each deliberate mismatch was caught."""
    for number, record in enumerate(records):
        body = record.body
        if record.kind != "entry" or body["scenario"] != outside(
            body["book"], body["rig"], "negative-control"
        ):
            continue
        told = next(
            (
                each
                for each in records[number:]
                if each.pid == record.pid
                and each.kind == "rig-fact"
                and each.body["topic"] == "negative-control"
            ),
            None,
        )
        if told is None:  # the run broke off in between
            continue
        proof = control_proof(
            judged[record.line][0],
            load_book(body["book"]),
            body["options"],
            read_limits(body["limits"]),
        )
        if (told.body["good"], told.body["what"]) != (proof.held, proof.what):
            yield _differs(told.line, "negative control", told.body["what"], proof.what)


def _undiagnosed(records: Sequence[Record], diagnosed: set[Of]) -> Iterator[Difference]:
    end = next((r for r in reversed(records) if r.kind in ("run-finished", "run-resumed")), None)
    if end is None or end.body.get("complete") is not True:
        return
    ends = [made[-1].body for made in counting(records).values()]
    tested = {(body["book"], body["rig"]): body["scenario"] for body in ends if body["steps"]}
    for of in tested.keys() - diagnosed:
        yield Difference(
            "journal.jsonl", end.line, None, None, f"diagnosis of {of[0]} on {of[1]}", None, "made"
        )


def _rejudged(records: Sequence[Record]) -> dict[str, int]:
    """Give for each scenario that was judged again the line that did so last."""
    return {record.body["scenario"]: record.line for record in records if record.kind == "rejudged"}


def _compare_scenarios(
    conclusion: Conclusion, in_force: Mapping[str, ScenarioOutcome], rejudged: Mapping[str, int]
) -> Iterator[Difference]:
    for scenario, told in conclusion.scenarios.items():
        recorded = in_force[scenario]
        line = rejudged.get(scenario, recorded.line)
        result = next(iter(recorded.results), None)
        pairs: list[tuple[str, object, object]] = [
            ("diagnosed verdict", recorded.verdict.value, told.verdict.value),
            (
                "diagnosed results",
                {dice: verdict.value for dice, verdict in recorded.results.items()},
                {dice: verdict.value for dice, verdict in told.results.items()},
            ),
        ]
        if scenario in rejudged:
            pairs.append(("diagnosed what", recorded.what, told.what))
        for what, was, is_ in pairs:
            if was != is_:
                yield Difference("journal.jsonl", line, scenario, result, what, was, is_)


def _compare_findings(
    conclusion: Conclusion, records: Sequence[Record], diagnosis: Record
) -> Iterator[Difference]:
    of = (diagnosis.body["book"], diagnosis.body["rig"])
    recorded = {
        _cause(record.body): record
        for record in finding_records(records)
        if (record.body.get("book"), record.body.get("rig")) == of
    }
    derived = {_cause(found): found for found in (one.to_json() for one in conclusion.findings)}
    for cause, record in recorded.items():
        if cause not in derived:
            yield _differs(record.line, "finding", _said(record.body), None)
            continue
        for name, value in derived[cause].items():
            if name not in record.body or record.body[name] != value:
                yield _differs(record.line, f"finding's {name}", record.body.get(name), value)
    for cause, found in derived.items():
        if cause not in recorded:
            yield _differs(diagnosis.line, "finding", None, _said(found))


def _cause(finding: Mapping[str, Any]) -> bytes:
    return canonical([finding.get(name) for name in _CAUSE])


def _said(finding: Mapping[str, Any]) -> str:
    part = finding.get("part")
    parts = ", ".join(map(str, part)) if isinstance(part, list) else part
    return f"{finding.get('verdict')}: {parts}: {finding.get('fault')}: {finding.get('what')}"


def _differs(line: int, what: str, recorded: object, derived: object) -> Difference:
    return Difference("journal.jsonl", line, None, None, what, recorded, derived)
