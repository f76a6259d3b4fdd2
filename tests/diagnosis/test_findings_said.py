"""What is said of each fault, word for word: `findings.tsv` beside this file.

A row: the fault, whether the map is verified, verdict, parts, word of diagnosis, sentence, results,
next test; a fault with several findings has several rows.
`python -m tests.diagnosis.test_findings_said` prints the table as it is now.
"""

from __future__ import annotations

import random
from collections import defaultdict
from copy import deepcopy
from pathlib import Path

import pytest

from harness.diagnosis import RigFacts, diagnose
from tests.diagnosis.broken_table import AREAS, Layout, Table, sweep, winners
from tests.diagnosis.further import explained
from tests.diagnosis.test_any_single_fault import COVER
from tests.diagnosis.test_unlisted_faults import UNLISTED, glow, moved

SAID = Path(__file__).with_name("findings.tsv")
Row = tuple[str, ...]


def wired(**keys: str) -> Table:
    """Give a table whose keys `k1` … enter what is given."""
    return Table(wire=lambda key: list(keys.get(f"k{key}", key)) if key.isdigit() else [key])


def triples(*lit: str, dark: str = "") -> Table:
    """Give a table whose logic lights or leaves dark some areas on triples."""

    def logic(dice):
        out = winners(dice)
        if len(set(dice)) == 1:
            low = "small" if sum(dice) <= 10 else "big"
            out = {a for a in out if not dark or not a.startswith(dark)}
            out |= {low} & set(lit)
        return out

    return Table(logic=logic)


def off_by(step: int) -> Table:
    """Give a table whose totals are off."""
    return Table(
        logic=lambda d: (
            {a for a in winners(d) if not a.startswith("total-")}
            | ({f"total-{sum(d) + step}"} & set(AREAS))
        )
    )


class Early(Table):
    """A table that lights the singles of an entry that is not whole."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after

    def lamps(self) -> set[str]:
        early = self.after <= len(self.digits) < 3
        return {f"single-{n}" for n in self.digits} if early else super().lamps()


class AtRandom(Table):
    """A table of which some lamps are lit or dark at random, whatever is entered."""

    def __init__(self, *areas: str) -> None:
        super().__init__()
        self.areas, self.chance = areas, random.Random(len(areas))

    def lamps(self) -> set[str]:
        lit = super().lamps()
        for area in self.areas:
            lit = lit ^ {area} if self.chance.random() < 0.5 else lit
        return lit


LISTED = {
    "four lamps at random": AtRandom("small", "total-9", "pair-1-2", "double-3"),
    "eight lamps at random": AtRandom(*AREAS[::7]),
    "one lamp dead": glow(lambda lit, _: lit - {"total-9"}),
    "one lamp stuck on": glow(lambda lit, _: lit | {"total-9"}),
    "two lamps exchanged": moved({"small": "big", "big": "small"}),
    "two lamps bridged": glow(
        lambda lit, _: lit | {"single-2", "single-3"} if lit & {"single-2", "single-3"} else lit
    ),
    "two lamps bridged, both dark": glow(
        lambda lit, _: lit if {"single-2", "single-3"} <= lit else lit - {"single-2", "single-3"}
    ),
    "a common open": glow(lambda lit, _: {a for a in lit if not a.startswith("total-")}),
    "all lamps dark": glow(lambda _lit, _: set()),
    "residue": glow(lambda lit, before: lit or before & {"total-10"}),
    "residue under the next result": glow(lambda lit, before: lit | (before & {"total-10"})),
    "a key dead": wired(k4=""),
    "a key held": Table(stuck="5"),
    "a key that counts twice": wired(k2="22"),
    "two keys exchanged": wired(k2="5", k5="2"),
    "two keys shorted": wired(k2="25", k5="25"),
    "the clear key dead": Table(wire=lambda key: [] if key == "clear" else [key]),
    "no key taken": Table(wire=lambda _key: []),
    "four keys dead": wired(k1="", k2="", k3="", k4=""),
    "small on triples": triples("small"),
    "small and big on triples": triples("small", "big"),
    "doubles dark on triples": triples(dark="double-"),
    "totals dark on triples": triples(dark="total-"),
    "singles dark on triples": triples(dark="single-"),
    "any-triple dark": triples(dark="any-triple"),
    "totals one up": off_by(1),
    "totals two down": off_by(-2),
    "lit after the second key": Early(2),
    "lit after the first key": Early(1),
    "a result's row wrong": Table(
        logic=lambda d: winners((1, 1, 4)) if sorted(d) == [4, 5, 6] else winners(d)
    ),
    "seven lamps dead": glow(
        lambda lit, _: (
            lit - {"total-4", "total-9", "big", "pair-1-2", "single-3", "double-6", "triple-5"}
        )
    ),
}
EVERY: dict[str, Table] = {**LISTED, **{name: table for name, (table, _) in UNLISTED.items()}}


def said_of(name: str) -> list[Row]:
    """Diagnose a table, with a map that is verified and with one that is not."""
    return [
        (
            "verified" if verified else "unverified",
            finding.verdict.value,
            " ".join(finding.part),
            finding.fault,
            finding.what,
            "; ".join(finding.results),
            finding.next_test or "-",
        )
        for verified in (True, False)
        for finding in explained(deepcopy(EVERY[name]), COVER, RigFacts(map_verified=verified))
    ]


def expected() -> dict[str, list[Row]]:
    """Read the table."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for line in SAID.read_text(encoding="utf-8").splitlines():
        name, *row = line.split("\t")
        rows[name].append(tuple(row))
    return rows


@pytest.mark.parametrize("name", EVERY)
def test_what_is_said(name):
    """Fails if a verdict, a part, a sentence, a result or a next test is another than before."""
    assert said_of(name) == expected()[name]


def test_evidence_names_the_entries_that_were_wrong():
    """Fails if a finding refers to nothing, or to entries that were right."""
    entries = sweep(glow(lambda lit, _: lit - {"total-10"}), COVER)
    (finding,) = diagnose(entries, Layout(), RigFacts(map_verified=True)).findings
    touched = [f"entry:{i}" for i, dice in enumerate(COVER) if sum(dice) == 10]
    assert list(finding.evidence) == touched


if __name__ == "__main__":
    for each in EVERY:
        for said in said_of(each):
            print("\t".join((each, *said)))
