"""A sitting on an open bench, as a run holds one."""

from __future__ import annotations

from harness.bdd.benches import limits_of, setup_of, terminal_of
from harness.bdd.sitting import Sitting
from harness.dealing.look import Eyes
from harness.evidence.record import RunRecord
from harness.rig.bench import Bench
from harness.rules.books import RuleBook


def sitting_on(bench: Bench, book: RuleBook, record: RunRecord, eyes: Eyes | None) -> Sitting:
    """Begin a sitting with a book; it is to be closed."""
    rig = bench.rig
    return Sitting(
        book,
        bench,
        record,
        rig=rig.name,
        setup=setup_of(rig),
        terminal=terminal_of(rig),
        limits=limits_of(rig),
        eyes=eyes,
        first_index=1,
    )
