"""A bench is taken over as it was left, and put at rest before anything is judged by it."""

from __future__ import annotations

import pytest

from harness.bdd.proving import prove
from harness.dealing.look import Eyes
from harness.dealing.selfcheck import CONTROL_KEYED
from harness.evidence.journal_lines import read_records
from harness.evidence.manifest import Manifest
from harness.evidence.record import RunRecord
from harness.rig.bench import open_bench
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig
from harness.rules.books import load_book
from harness.vision.reader import DiceReader
from tests.bdd.sittings import sitting_on


@pytest.fixture
def book():
    return load_book("ny-5324.51")


def test_what_a_killed_run_left_on_the_table_is_put_right_first(tmp_path, book):
    """Fails if a cover left on hides the dice, or half an entry becomes part of the next one."""
    rig = load_rig(find_rig("emulated"), book.areas)
    manifest = Manifest(rigs=[], books=[], invocation={}).to_json()
    with RunRecord.create(tmp_path / "run", manifest, {}) as record, open_bench(rig) as bench:
        assert bench.cover is not None
        assert bench.cover_sense is not None
        bench.cover.put_on()
        bench.keys.press("1")
        sitting = sitting_on(bench, book, record, Eyes(bench.dice_cameras, DiceReader()))
        try:
            prove(sitting)
        finally:
            sitting.close()
        assert not bench.cover_sense.is_on()
    records = read_records(tmp_path / "run" / "journal.jsonl")
    (control,) = [r.body for r in records if r.kind == "entry"]
    assert control["seen"]["reason"] is None
    lit = {area for s in control["lamps"] if s["stage"] == "lit" for area in s["lit"]}
    assert lit == set(book.winning_areas(CONTROL_KEYED))
