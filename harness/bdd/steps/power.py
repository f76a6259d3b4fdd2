"""Dips and cuts of the table's supply."""

from __future__ import annotations

import time

from pytest_bdd import parsers, then, when

from harness.bdd.capabilities import needs
from harness.bdd.sitting import Dipped, Sitting
from harness.observations import Dice
from harness.verdicts import Verdict

DIPS = ((0.7, 0.02), (0.6, 0.08), (0.5, 0.2), (0.3, 0.5))
"""Dips tried, mildest first: share of the nominal voltage, and how long (s)."""
OFF_S = 1.0
SURELY_OFF_V = 1.0
LOOK_S = 0.05
ENTRY = (1, 2, 4)
FURTHER = 5
TRIED = (ENTRY, (3, 5, 6))
"""Entries before a cut: no one key is in both."""


@when(parsers.re("the supply dips while (?P<values>1, 2 and 4) are lit"))
@needs("supply", "keys", "lamps", "restart-limit")
def dips(sitting: Sitting, values: str) -> None:
    """Dip deeper and longer until something is left lit; note the first that leaves it."""
    del values
    supply = sitting.bench.supply
    assert supply is not None
    nominal = sitting.bench.rig.limits.supply_volts or supply.volts()
    sitting.dipped = []
    for share, lasts_s in DIPS:
        entry = sitting.take_entry(ENTRY, own_values=True, clear=False)
        sitting.keep_entry(entry, provoked=True, diagnosed=False)
        began = time.monotonic()
        try:
            supply.set_voltage(share * nominal)
            time.sleep(lasts_s)
        finally:
            supply.set_voltage(nominal)
        lasted = time.monotonic() - began
        _await_restart(sitting)
        samples = sitting.taker.sense_all()
        lit = frozenset.intersection(*(sample.lit for sample in samples))
        haunted = sitting.shows(samples, entry) and not _undisturbed(sitting, lit)
        left = lit if haunted else frozenset()
        sitting.taker.clear()
        sitting.dipped.append(Dipped(share * nominal, lasted, left))
        if left:
            break


def _await_restart(sitting: Sitting) -> None:
    limit_ms = sitting.bench.rig.limits.restart_ms or 0.0
    scale = sitting.bench.rig.emulator.time_scale if sitting.bench.rig.emulator else 1.0
    time.sleep(min(limit_ms / 1000, 1.5) / scale)


def _undisturbed(sitting: Sitting, lit: frozenset[str]) -> bool:
    """Tell whether the table did not notice the dip: it still holds the whole entry.

    Then a further key does what the rig file says; with half an entry left it would complete one.
    """
    areas = sitting.book.winning_areas
    _, b, c = ENTRY
    assert sitting.bench.keys is not None
    sitting.bench.keys.press(str(FURTHER))
    time.sleep(LOOK_S + sitting.terminal.settle_s)
    held = {
        "ignored": areas(ENTRY, sitting.options),
        "last-three": areas((b, c, FURTHER), sitting.options),
        "error": frozenset[str](),
    }
    now = frozenset.intersection(*(sample.lit for sample in sitting.taker.sense_all()))
    wanted = held[sitting.bench.rig.table.fourth_key]
    return len(now ^ wanted) <= len(lit ^ areas(ENTRY, sitting.options))


@then("no lamp is lit after the dip, and the next entry is taken whole")
@needs("supply", "keys", "lamps")
def nothing_left(sitting: Sitting) -> None:
    """Judge the dips, then enter once more."""
    last = sitting.dipped[-1]
    said = f"a dip to {last.volts:.1f} V for {last.lasted_s * 1e3:.0f} ms"
    sitting.scenario.check(
        Verdict.DUT_FAIL if last.lit else Verdict.PASS,
        f"{said} leaves {', '.join(sorted(last.lit))} lit"
        if last.lit
        else f"{said} leaves nothing",
        part=("table:power",),
        fault="ghosts-after-dip",
    )
    if not last.lit:
        sitting.keep_entry(sitting.take_entry(ENTRY, own_values=True))


@when("the supply is cut and given back")
@needs("supply", "restart-limit")
def cut(sitting: Sitting) -> None:
    """Switch the supply off and on again; while it is off it must say so.

    A supply that is not heard while it is off leaves the state of its output unknown: the error
    ends the run on this bench, and nothing is concluded of the table.
    """
    supply = sitting.bench.supply
    assert supply is not None
    sitting.taken_before_cut = next((keys for keys in TRIED if _surely_takes(sitting, keys)), None)
    supply.switch(on=False)
    try:
        time.sleep(OFF_S)
        volts = supply.volts()
    finally:
        supply.switch(on=True)
    if volts > SURELY_OFF_V:
        sitting.scenario.check(
            Verdict.RIG_FAULT,
            f"the supply was switched off and still gives {volts:.1f} V",
            part=(f"device:{sitting.bench.rig.roles.supply}",),
            fault="not-off",
        )
    sitting.power_back_at = time.monotonic()


def _surely_takes(sitting: Sitting, keys: Dice) -> bool:
    """Tell whether the same entry is taken twice: of a terminal that drops some, one is luck."""
    return _takes(sitting, keys) and _takes(sitting, keys)


def _takes(sitting: Sitting, keys: Dice) -> bool:
    entry = sitting.take_entry(keys, own_values=True)
    sitting.keep_entry(entry)
    return sitting.shows([s.sample for s in entry.lamps if s.stage == "lit"], entry)


@then("the table takes an entry within its time")
@needs("supply", "keys", "lamps", "restart-limit")
def comes_back(sitting: Sitting) -> None:
    """Try entries until one lights its areas, or the time is up."""
    keys = sitting.taken_before_cut
    if keys is None:
        sitting.scenario.check(
            Verdict.PENDING, "no entry was surely taken before the cut: the restart is not judged"
        )
        return
    limits = sitting.bench.rig.limits
    scale = sitting.bench.rig.emulator.time_scale if sitting.bench.rig.emulator else 1.0
    limit_s = ((limits.restart_ms or 0.0) + limits.uncertainty_ms) / 1000 / scale
    while True:
        began = time.monotonic()
        entry = sitting.take_entry(keys, own_values=True)
        back = sitting.shows([s.sample for s in entry.lamps if s.stage == "lit"], entry)
        if entry.faults or back or began - sitting.power_back_at > limit_s:
            break
    sitting.keep_entry(entry, provoked=not back, diagnosed=back)
    took_s = began - sitting.power_back_at
    sitting.scenario.check(
        Verdict.PASS if back else Verdict.DUT_FAIL,
        f"an entry was taken {took_s:.1f} s after power came back"
        if back
        else f"no entry was taken within {limit_s:g} s after power came back",
        part=("table:power",),
        fault="no-restart",
    )
