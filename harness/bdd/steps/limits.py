"""Limits of the entry terminal: how long it remembers, and what its interlock forbids."""

from __future__ import annotations

import time

from pytest_bdd import parsers, then, when

from harness.bdd.capabilities import needs
from harness.bdd.sitting import Sitting
from harness.verdicts import Verdict

DIGIT = "[1-6]"


@when(
    parsers.re(
        rf"(?P<a>{DIGIT}) is entered and nothing more for as long as the terminal may remember it"
    )
)
@needs("keys", "lamps", "entry-timeout")
def half_entry(sitting: Sitting, a: str) -> None:
    """Press one key and rest until the terminal must have dropped it."""
    limits = sitting.bench.rig.limits
    assert limits.entry_timeout_ms is not None
    assert sitting.bench.keys is not None
    sitting.bench.keys.press(a)
    most_ms = limits.entry_timeout_ms + (limits.entry_timeout_tolerance_ms or 0.0)
    scale = sitting.bench.rig.emulator.time_scale if sitting.bench.rig.emulator else 1.0
    time.sleep((most_ms + limits.uncertainty_ms) / 1000 / scale)
    sitting.half_entered = a


@when(
    parsers.re(rf"(?P<a>{DIGIT}), (?P<b>{DIGIT}) and (?P<c>{DIGIT}) are entered on the terminal$")
)
@needs("keys", "lamps")
def three_keys(sitting: Sitting, a: str, b: str, c: str) -> None:
    """Enter three values and judge what lights."""
    entry = sitting.take_entry((int(a), int(b), int(c)), own_values=True)
    half, sitting.half_entered = sitting.half_entered, None
    if half is None:
        sitting.keep_entry(entry)
        return
    remembered = sitting.book.winning_areas((int(half), int(a), int(b)), sitting.options)
    never_dropped = entry.lit("lit") == remembered
    kept = sitting.keep_entry(entry, provoked=never_dropped)
    if never_dropped:
        limit_s = (sitting.bench.rig.limits.entry_timeout_ms or 0.0) / 1000
        sitting.scenario.check(
            Verdict.DUT_FAIL,
            f"a half-made entry was still remembered after its {limit_s:g} s",
            part=("rule:entry-timeout",),
            fault="entry-timeout",
        )
    else:
        sitting.scenario.check(Verdict.PASS, kept.judgement.what)


@when(
    parsers.re(
        rf"(?P<a>{DIGIT}), (?P<b>{DIGIT}) and (?P<c>{DIGIT}) are entered "
        "while the interlock forbids it"
    )
)
@needs("keys", "lamps", "interlock", "cover")
def forbidden_entry(sitting: Sitting, a: str, b: str, c: str) -> None:
    """Enter under the cover, or before the call; uncover afterwards."""
    covered = sitting.bench.rig.interlock.while_covered
    assert sitting.bench.cover is not None
    if covered:
        sitting.bench.cover.put_on()
    try:
        entry = sitting.take_entry((int(a), int(b), int(c)), own_values=True)
    finally:
        if covered:
            sitting.bench.cover.take_off()
    sitting.keep_entry(entry, provoked=True, diagnosed=False)


@then("the terminal took none of it")
@needs("keys", "lamps", "interlock")
def none_taken(sitting: Sitting) -> None:
    """See that the entry lit nothing; a lamp that is lit anyway is another matter."""
    entry = sitting.scenario.entries[-1].entry
    taken = sitting.shows([staged.sample for staged in entry.lamps if staged.stage == "lit"], entry)
    sitting.scenario.check(
        Verdict.DUT_FAIL if taken else Verdict.PASS,
        "the entry was taken against the interlock" if taken else "the entry was refused",
        part=("rule:interlock",),
        fault="interlock",
    )
