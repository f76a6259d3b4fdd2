"""Two ways to sense the same lamps are compared, on the bench that has them, over their wires."""

from __future__ import annotations

import pytest

from harness.bdd.benches import limits_of, terminal_of
from harness.dealing.entry import EntryTaker
from harness.rig.bench import open_bench
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig
from harness.rules.books import load_book
from harness.rules.judgement import judge_entry
from harness.verdicts import Verdict

BOOK = load_book("ny-5324.51")


@pytest.mark.parametrize(
    ("fault", "verdict", "disputed", "missing"),
    [
        ("F17:lamp=total-9,value=0", Verdict.AMBIGUOUS, {"total-9"}, set()),
        ("F10:lamp=total-9", Verdict.DUT_FAIL, set(), {"total-9"}),
    ],
)
def test_paths_that_differ_dispute_and_paths_that_agree_convict(
    fault, verdict, disputed, missing
) -> None:
    """A stuck input is contradicted by the photodiodes; of a dead lamp both say the same."""
    rig = load_rig(find_rig("emulated-instruments"))
    with open_bench(rig, [fault]) as bench:
        assert bench.keys is not None
        assert len(bench.lamps) == 2
        taker = EntryTaker(
            bench.keys,
            bench.lamps,
            terminal_of(rig),
            book=BOOK.id,
            rig=rig.name,
            winning=BOOK.winning_areas,
        )
        entry = taker.enter(1, ["2", "3", "4"], mode="entered")
    judged = judge_entry(entry, BOOK, None, limits_of(rig))
    assert not entry.faults
    assert (judged.verdict, judged.disputed, judged.missing) == (verdict, disputed, missing)
