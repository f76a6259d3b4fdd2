"""A terminal whose entry key completes an entry, over the wire: pressed, judged and diagnosed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.bdd.benches import facts_of, limits_of, terminal_of
from harness.dealing.entry import EntryTaker
from harness.diagnosis.diagnose import diagnose
from harness.observations import Dice, Entry
from harness.rig.bench import open_bench
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig
from harness.rig.sections import Rig
from harness.rules.books import load_book
from harness.rules.judgement import judge_entry
from harness.verdicts import Verdict

BOOK = load_book("ny-5324.51")
RESULTS: tuple[Dice, ...] = ((1, 1, 2), (3, 4, 5), (6, 6, 6), (2, 5, 6))


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    """The embedded bench with a terminal that has an entry key."""
    path = tmp_path / "entry-key.toml"
    path.write_text(
        f'include = ["{find_rig("emulated")}"]\n'
        '[table]\ncommit = "entry-key"\n[keys.map]\nenter = "keys:7"\n'
    )
    return load_rig(path)


def entered(rig: Rig, faults: Sequence[str], results: Sequence[Dice] = RESULTS) -> list[Entry]:
    with open_bench(rig, faults) as bench:
        assert bench.keys is not None
        taker = EntryTaker(
            bench.keys,
            bench.lamps,
            terminal_of(rig),
            book=BOOK.id,
            rig=rig.name,
            winning=BOOK.winning_areas,
        )
        return [
            taker.enter(n, [str(value) for value in dice], mode="entered")
            for n, dice in enumerate(results)
        ]


def test_a_sound_table_passes(rig) -> None:
    """Fails if the entry key is not pressed, is taken for a die, or is not expected."""
    entries = entered(rig, ())
    limits = limits_of(rig)
    assert [judge_entry(e, BOOK, None, limits).verdict for e in entries] == [Verdict.PASS] * 4
    found = diagnose(entries, BOOK, facts_of(rig))
    assert not found.findings
    assert set(found.verdicts) == {Verdict.PASS}
    assert all(e.lit("after-3") == frozenset() for e in entries)


@pytest.mark.parametrize("fault", ["F01:key=enter", "F02:key=enter"])
def test_an_entry_key_that_does_nothing_is_among_the_causes(rig, fault) -> None:
    """Dead or closed for good, no edge of it comes: no result lights, and why is not to be seen."""
    entries = entered(rig, [fault])
    limits = limits_of(rig)
    assert all(judge_entry(e, BOOK, None, limits).verdict is not Verdict.PASS for e in entries)
    found = diagnose(entries, BOOK, facts_of(rig)).findings
    assert len(found) == 1
    assert found[0].verdict is Verdict.AMBIGUOUS
    assert "key:enter" in found[0].part
    assert not any(part in found[0].part for part in ("key:1", "key:clear", "lamp:small"))
    assert "dead" in found[0].fault
    assert "stuck-closed" in found[0].fault


def test_lamps_that_do_not_wait_for_the_entry_key(rig) -> None:
    """What is lit after the third key, before the entry key, is the commit rule's fault."""
    entries = entered(rig, ["F27:after=3"])
    limits = limits_of(rig)
    assert {judge_entry(e, BOOK, None, limits).verdict for e in entries} == {Verdict.DUT_FAIL}
    found = diagnose(entries, BOOK, facts_of(rig)).findings
    assert [finding.verdict for finding in found] == [Verdict.DUT_FAIL]
    assert set(found[0].part) == {"rule:commit", "key:enter"}
    assert found[0].fault == "lights-early"


def test_a_digit_key_is_still_told_from_the_entry_key(rig) -> None:
    entries = entered(rig, ["F01:key=2"])
    found = diagnose(entries, BOOK, facts_of(rig)).findings
    assert [set(finding.part) for finding in found] == [{"key:2", "relay:2"}]
