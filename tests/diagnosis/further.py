"""A broken table diagnosed as a bench would: with the further tests that are asked for."""

from __future__ import annotations

from harness.diagnosis import RigFacts, diagnose
from tests.diagnosis.broken_table import Layout, Table, sweep

MOST_FURTHER_TESTS = 6


def explained(table: Table, results, facts: RigFacts) -> list:
    """Give the findings once the further tests that are asked for were made."""
    entries = sweep(table, results)
    diagnosis = diagnose(entries, Layout(), facts)
    for _ in range(MOST_FURTHER_TESTS):
        if not diagnosis.next_tests:
            break
        test = diagnosis.next_tests[0]
        entries.append(table.enter(len(entries), test.keyed, test.shown, mode="entered"))
        diagnosis = diagnose(entries, Layout(), facts)
    return list(diagnosis.findings)
