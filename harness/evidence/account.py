"""The account of a run: is everything that was planned concluded, by the record's own witness?

A run may end in many ways that nobody foresaw. Whatever the way, what it planned and did not
conclude is found here, from the journal alone, and is told: such a run never passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from harness.evidence.journal_lines import Record

_NAMED = 3
Of = tuple[str, str]
"""A rule book's id and a rig's name."""


def not_concluded(records: Sequence[Record]) -> list[str]:
    """Tell what a run planned and its record does not conclude, a line for each book on a rig.

    Each sitting of `run-started` needs a `planned`; each scenario planned needs its end, one that
    is to run again the end of that; and after the last `planned` there must be a `concluded`.
    """
    planned, told = _planned(records), list[str]()
    done = scenarios_done(records)
    for book, rig in _sittings(records) | dict.fromkeys(planned):
        of = (book, rig)
        if of not in planned:
            told.append(f"{book} on {rig}: not begun, nothing of it is recorded")
            continue
        scenarios, concluded = planned[of]
        left = [scenario for scenario in scenarios if scenario not in done]
        if left:
            named = ", ".join(scenario.rpartition("/")[2] for scenario in left[:_NAMED])
            further = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
            told.append(
                f"{book} on {rig}: {len(left)} of {len(scenarios)} planned scenarios without "
                f"a conclusion: {named}{further}"
            )
        elif not concluded:
            told.append(f"{book} on {rig}: what its scenarios together say was not concluded")
    return told


def scenarios_done(records: Sequence[Record]) -> set[str]:
    """Give the scenarios that came to an end which counts; not one that was to run again."""
    done = set[str]()
    for record in records:
        if record.kind == "scenario-finished":
            scenario = record.body["scenario"]
            if record.body.get("again", False):
                done.discard(scenario)
            else:
                done.add(scenario)
    return done


def planned_count(records: Sequence[Record]) -> int | None:
    """Give how many scenarios the run planned; None where its record holds no plan."""
    planned = _planned(records)
    return sum(len(scenarios) for scenarios, _ in planned.values()) if planned else None


def left_count(records: Sequence[Record]) -> int | None:
    """Give how many of those have no conclusion; None where the record holds no plan."""
    planned, done = _planned(records), scenarios_done(records)
    scenarios = {scenario for of_one, _ in planned.values() for scenario in of_one}
    return len(scenarios - done) if planned else None


def clauses_not_concluded(records: Sequence[Record]) -> Counter[tuple[str, str]]:
    """Count for each book's clause the scenarios planned for it that have no conclusion."""
    done = scenarios_done(records)
    return Counter(
        (book, clause)
        for (book, _), (scenarios, _) in _planned(records).items()
        for scenario, clauses in scenarios.items()
        if scenario not in done
        for clause in clauses
    )


def _sittings(records: Sequence[Record]) -> dict[Of, None]:
    """Give the books on rigs that the run was to hold, in the order asked for."""
    told: list[dict[str, Any]] = []
    for record in records:
        if record.kind == "run-started":
            told = record.body.get("sittings") or []
    return {(sitting["book"], sitting["rig"]): None for sitting in told}


def _planned(records: Sequence[Record]) -> dict[Of, tuple[dict[str, tuple[str, ...]], bool]]:
    """Give for each book on a rig every scenario ever planned, and whether it was concluded.

    Scenarios with the clauses that they are of.
    """
    planned: dict[Of, tuple[dict[str, tuple[str, ...]], bool]] = {}
    for record in records:
        body = record.body
        if record.kind == "planned":
            of = (body["book"], body["rig"])
            before, _ = planned.get(of, ({}, False))
            now = {one["scenario"]: tuple(one["clauses"]) for one in body["scenarios"]}
            planned[of] = (before | now, False)
        elif record.kind == "concluded":
            of = (body["book"], body["rig"])
            scenarios, _ = planned.get(of, ({}, False))
            planned[of] = (scenarios, True)
    return planned
