"""Entries that say nothing of the table but how long its terminal remembers: they are set aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.diagnosis.collected import Collected, evidence_of, results_of
from harness.diagnosis.facts import RigFacts
from harness.diagnosis.forgetting import longest_gap_s
from harness.diagnosis.layout import Layout
from harness.observations import Entry
from harness.verdicts import Finding, Verdict

_FEW_PARTS = 3
_KEYS = 3
_NEARLY = 0.85
"""Part of the time after which entries are kept still; beyond it a busy host may be why not."""


def set_aside(
    entries: Sequence[Entry],
    sound: Sequence[int],
    book: Layout,
    facts: RigFacts,
    options: Mapping[str, bool | str] | None,
    collected: Collected,
) -> set[int]:
    """Find the entries made too slowly, and those dropped by a terminal measured to forget.

    sound: the places of the entries in question. What is found is collected.
    """
    aside = _made_too_slowly(entries, sound, facts, collected)
    if facts.forgets_too_soon:
        aside |= _dropped(entries, sound, book, facts, options, collected)
    return aside


def may_forget(entries: Sequence[Entry], sound: Sequence[int], findings: Sequence[Finding]) -> bool:
    """Tell whether a terminal that forgets may be behind entries that stayed dark."""
    dark = {f"entry:{entries[i].index}" for i in sound if _dark(entries[i])}
    return any(
        "entry-timeout" in finding.fault.split(" or ")
        or (finding.verdict is Verdict.AMBIGUOUS and len(finding.part) > _FEW_PARTS)
        for finding in findings
        if not dark.isdisjoint(finding.evidence)
    )


def _dark(entry: Entry) -> bool:
    return entry.lit("lit") == frozenset()


def _made_too_slowly(
    entries: Sequence[Entry], sound: Sequence[int], facts: RigFacts, collected: Collected
) -> set[int]:
    """Find dark entries whose keys came later than a terminal must remember the one before."""
    slow = [
        i for i in sound if _dark(entries[i]) and longest_gap_s(entries[i]) > facts.must_remember_s
    ]
    if slow:
        longest = max(longest_gap_s(entries[i]) for i in slow)
        collected.add(
            Finding(
                Verdict.AMBIGUOUS,
                ("host:entry", "rule:entry-timeout"),
                "made-too-slowly",
                f"nothing lit where a key came {longest:.2g} s after the one before; up to "
                f"{facts.must_remember_s:.2g} s a terminal must remember it",
                evidence=evidence_of(entries, slow),
                results=results_of(entries, slow),
                next_test="enter the results again, faster",
            ),
            slow,
        )
    return set(slow)


def _dropped(
    entries: Sequence[Entry],
    sound: Sequence[int],
    book: Layout,
    facts: RigFacts,
    options: Mapping[str, bool | str] | None,
    collected: Collected,
) -> set[int]:
    """Find the entries that a terminal measured to forget may have dropped: dark, made slowly.

    Of four keys it may have dropped the first alone.
    """
    assert facts.memory_s is not None
    kept_s, forgets_s = facts.memory_s
    dropped = []
    for i in sound:
        entry = entries[i]
        if longest_gap_s(entry) <= _NEARLY * kept_s:
            continue
        keyed = [int(key) for key in entry.keyed[:_KEYS]]
        first_three = book.winning_areas((keyed[0], keyed[1], keyed[2]), options)
        if _dark(entry) or (len(entry.keyed) > _KEYS and entry.lit("lit") != first_three):
            dropped.append(i)
    collected.add(
        Finding(
            Verdict.DUT_FAIL,
            ("rule:entry-timeout",),
            "entry-timeout",
            f"a half-made entry is dropped when the next key comes {forgets_s:.2g} s later",
            evidence=evidence_of(entries, dropped),
            results=results_of(entries, dropped),
        ),
        dropped,
    )
    return set(dropped)
