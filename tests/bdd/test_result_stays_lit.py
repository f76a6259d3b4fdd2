"""A result has to stay lit until the table is cleared: wagers are settled by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.bdd.collecting import ScenarioFacts
from harness.bdd.scenario_run import ScenarioRun
from harness.evidence.manifest import Manifest
from harness.evidence.record import RunRecord
from harness.evidence.records import Scenario
from harness.rig.bench import open_bench
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig
from harness.rules.books import load_book
from harness.verdicts import Verdict
from tests.bdd.sittings import sitting_on

HOLDS = """
include = ["{rig}"]
[table]
paytable = "{paytable}"
[emulator.options]
hold_ms = {hold_ms}
"""


@pytest.mark.parametrize(
    ("hold_ms", "found", "unsteady"),
    [
        (0, [], False),
        (900, [], True),  # while the lamps of the first entry are watched
        (2000, [(Verdict.DUT_FAIL, "went-out")], False),
    ],
)
def test_a_result_that_goes_out_by_itself_is_the_tables(tmp_path, hold_ms, found, unsteady):
    """Fails if a table that drops its result passes, or one that keeps it does not."""
    book, usual = load_book("ny-5324.51"), find_rig("emulated").resolve()
    file = tmp_path / "holds.toml"
    paytable = usual.parent / "paytables" / "new-york.json"
    file.write_text(HOLDS.format(rig=usual, paytable=paytable, hold_ms=hold_ms))
    rig = load_rig(file, book.areas)
    manifest = Manifest(rigs=[], books=[], invocation={}).to_json()
    facts = ScenarioFacts("f", "s", Path("a.feature"), 1, (), frozenset(), True, {}, None)
    scenario = ScenarioRun(facts, Scenario("id", "f", "s", book.id, rig.name))
    with RunRecord.create(tmp_path / "run", manifest, {}) as record, open_bench(rig) as bench:
        sitting = sitting_on(bench, book, record, None)
        try:
            sitting.begin(scenario)
            sitting.round.enter((1, 2, 6), provoked=True)
            sitting.round.clear()
        finally:
            sitting.close()
    assert [(check.verdict, check.fault) for check in scenario.checks] == found
    lit = [s.sample for s in scenario.entries[-1].entry.lamps if s.stage == "lit"]
    assert (lit[-1].flicker == book.winning_areas((1, 2, 6))) is unsteady
