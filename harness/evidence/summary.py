"""The record boiled down: verdict, counts, findings, results of each book.

Everything here is derived from the journal alone, so it can be derived again and compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.evidence.account import left_count, not_concluded, planned_count
from harness.evidence.canonical import canonical
from harness.evidence.journal_lines import Record
from harness.verdicts import Verdict, overall


@dataclass(frozen=True, slots=True)
class ScenarioOutcome:
    """A scenario as it stands in the end: its last attempt, rejudged where diagnosis did so."""

    line: int
    body: Mapping[str, Any]
    verdict: Verdict
    what: str
    results: Mapping[str, Verdict]
    rejudged: str | None = None


def outcomes(records: Sequence[Record]) -> dict[str, ScenarioOutcome]:
    """Give each finished scenario's outcome by its id, in the order they first finished."""
    found: dict[str, ScenarioOutcome] = {}
    for record in records:
        body = record.body
        if record.kind == "scenario-finished":
            found[body["scenario"]] = ScenarioOutcome(
                record.line,
                body,
                Verdict(body["verdict"]),
                body["what"],
                {dice: Verdict(verdict) for dice, verdict in body["results"].items()},
            )
        elif record.kind == "rejudged" and body["scenario"] in found:
            old = found[body["scenario"]]
            changed = {dice: Verdict(verdict) for dice, verdict in body["results"].items()}
            found[body["scenario"]] = ScenarioOutcome(
                old.line,
                old.body,
                Verdict(body["verdict"]),
                body["what"],
                {**old.results, **changed},
                body["why"],
            )
    return found


def rigs_of_books(done: Iterable[ScenarioOutcome]) -> dict[str, set[str]]:
    """Give for each book the rigs that it ran on."""
    rigs: dict[str, set[str]] = {}
    for outcome in done:
        rigs.setdefault(outcome.body["book"], set()).add(outcome.body["rig"])
    return rigs


def counting(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Give for each finished scenario the records of the attempt that counts, in order.

    What a broken-off or repeated attempt left stays in the journal and counts no more.
    """
    return {scenario: made[-1] for scenario, made in finished_attempts(records).items()}


def finished_attempts(records: Sequence[Record]) -> dict[str, list[list[Record]]]:
    """Give for each scenario the records of every attempt that came to its end, in order."""
    attempt: dict[str, list[Record]] = {}
    kept: dict[str, list[list[Record]]] = {}
    for record in records:
        scenario = record.body.get("scenario")
        if scenario is None:
            continue
        if record.kind == "scenario-started":
            attempt[scenario] = []
        attempt.setdefault(scenario, []).append(record)
        if record.kind == "scenario-finished":
            kept.setdefault(scenario, []).append(attempt.pop(scenario))
    return kept


def findings(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Give the findings that count, each once."""
    return [record.body for record in finding_records(records)]


def parts_text(finding: Mapping[str, Any]) -> str:
    """Give the parts that a finding names as one text."""
    part = finding["part"]
    return part if isinstance(part, str) else ", ".join(part)


def finding_records(records: Sequence[Record]) -> list[Record]:
    """Give the records of the findings that count, each told once.

    A resumed run is diagnosed again as a whole: what was found before then counts no more.
    """
    kept: dict[bytes, Record] = {}
    for record in records:
        body = record.body
        if record.kind == "diagnosis":
            of = (body["book"], body["rig"])
            kept = {
                cause: found
                for cause, found in kept.items()
                if (found.body.get("book"), found.body.get("rig")) != of
            }
        elif record.kind == "finding":
            cause = [body.get(n) for n in ("verdict", "part", "fault", "what", "book", "rig")]
            kept[canonical(cause)] = record
    return list(kept.values())


def book_results(
    records: Sequence[Record], done: Mapping[str, ScenarioOutcome]
) -> dict[str, dict[str, Any]]:
    """Give for each book how many results were asked for, how many passed, and the mode.

    A result seen on several rigs, or by several scenarios, has passed if it passed in all. Where a
    bench turned out to lay no dice, the mode is the one that its results came about in.
    """
    verdicts: dict[str, dict[str, list[Verdict]]] = {}
    modes: dict[str, set[str]] = {}
    asked: dict[str, Any] = {}
    for record in records:
        if record.kind == "run-started":
            asked = record.body["asked"]
    for outcome in done.values():
        book = outcome.body["book"]
        if outcome.results:
            modes.setdefault(book, set()).add(outcome.body["mode"])
        for dice, verdict in outcome.results.items():
            verdicts.setdefault(book, {}).setdefault(dice, []).append(verdict)
    return {
        book: {
            "checked": asked[book]["checked"] if book in asked else len(verdicts[book]),
            "recorded": len(verdicts.get(book, {})),
            "passed": sum(
                all(verdict is Verdict.PASS for verdict in each)
                for each in verdicts.get(book, {}).values()
            ),
            "mode": _mode(modes.get(book, set()), asked.get(book)),
        }
        for book in sorted(set(asked) | set(verdicts))
    }


def _mode(seen: set[str], asked: Mapping[str, Any] | None) -> str:
    """Give the least that results of one book came about in: `entered` says least."""
    if asked is None or "entered" in seen:
        return min(seen, key=("entered", "tossed", "presented").index)
    mode: str = asked["mode"]
    return mode


def summarise(records: Sequence[Record]) -> dict[str, Any]:
    """Give `summary.json` from the journal's records.

    The run's verdict is the worst of its scenarios, results and findings. An error of our side, a
    rig fact that is not good, a result asked for and not recorded, anything planned and not
    concluded, or a record without its end makes inconclusive what would otherwise have passed.
    """
    done = outcomes(records)
    causes = findings(records)
    books = book_results(records, done)
    counts = Counter(outcome.verdict.value for outcome in done.values())
    end = next((r.body for r in reversed(records) if r.kind == "run-finished"), None)
    inconclusive = [
        *(
            f"{r.body['error'].get('subject')}: {r.body['error'].get('found')}"
            for r in records
            if r.kind == "error" and r.body["scenario"] is None
        ),
        *(r.body["what"] for r in records if r.kind == "rig-fact" and r.body["good"] is False),
        *(
            f"{book}: no record of {told['checked'] - told['recorded']} of "
            f"{told['checked']} results"
            for book, told in books.items()
            if told["recorded"] < told["checked"]
        ),
        *not_concluded(records),
    ]
    if end is None:
        inconclusive.append("the run is unfinished")
    elif not end["complete"]:
        inconclusive.append(end["why"] or "the run is not complete")
    verdicts = [outcome.verdict for outcome in done.values()]
    verdicts += [verdict for outcome in done.values() for verdict in outcome.results.values()]
    verdicts += [Verdict(cause["verdict"]) for cause in causes]
    if inconclusive:
        verdicts.append(Verdict.RIG_FAULT)
    run_id = next((r.body["run_id"] for r in records if r.kind == "run-started"), None)
    return {
        "run_id": run_id,
        "verdict": overall(verdicts).value,
        "counts": {
            verdict.value: counts[verdict.value] for verdict in Verdict if verdict.value in counts
        },
        "planned": planned_count(records),
        "left": left_count(records),
        "findings": causes,
        "results": books,
        "inconclusive": inconclusive,
        "finished": end is not None,
        "breaks": sum(r.kind == "run-resumed" for r in records),
        "started": records[0].utc if records else None,
        "ended": records[-1].utc if records else None,
    }
