"""The dealing of one scenario: a round's acts with the operator's word and the record."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.dealing.round import Departure, Round
from harness.rules.monitor import Monitor
from harness.rules.procedure import Inspection, in_force, procedure_of
from harness.verdicts import HarnessError, Verdict

if TYPE_CHECKING:
    from harness.bdd.scenario_run import KeptEntry
    from harness.bdd.sitting import Sitting
    from harness.observations import Entry
    from harness.rules.timeline import Event


STAY_S = 1.5
"""How long a result must at least stay lit before the table is cleared; seen once in a sitting."""
STAY_LOOKS, STAY_LOOK_S = 8, 0.06
"""How often, and how far apart, lamps that are dark then are looked at."""


class DealtRound:
    """A round under the book's monitor. Departures count unless a step provoked them."""

    def __init__(self, sitting: Sitting) -> None:
        self._sitting = sitting
        monitor = Monitor(sitting.book, sitting.setup, sitting.options)
        self.dealing = Round(sitting.bench, monitor, sitting.eyes_or_none, self._hear)
        self.irregularity = "an irregularity"
        self.improper_tosses: list[str] = []
        self._lit: Entry | None = None
        self._lit_provoked = False

    @property
    def outcome(self) -> str:
        """What the book makes of the round so far."""
        return self.dealing.monitor.outcome

    def _hear(self, event: Event, departures: Sequence[Departure]) -> None:
        sitting = self._sitting
        scenario = sitting.scenario.record.id
        sitting.record.events(scenario, sitting.rig, [event])
        for departure in departures:
            told = departure.deviation
            sitting.record.deviation(scenario, sitting.rig, told.clause, told.what, told.at)

    def note(self, name: str, **data: object) -> None:
        """Put an event on the timeline."""
        self.dealing.note(name, data)

    def open_inspected(self) -> None:
        """Put the inspections that the book demands, and the opening, on the timeline.

        That they were passed is what the inspections of this run show by themselves.
        """
        sitting = self._sitting
        demanded = [
            one
            for one in procedure_of(sitting.book).inspections
            if in_force(one.when, sitting.setup, sitting.options)
        ]
        self._note_inspections([one for one in demanded if one.due == "table-open"])
        self.note("table-open")
        at_shift = [one for one in demanded if one.due == "shift-start"]
        if at_shift:
            self.note("shift-start")
            self._note_inspections(at_shift)

    def _note_inspections(self, inspections: Sequence[Inspection]) -> None:
        for inspection in inspections:
            for _ in range(inspection.times):
                self.note(inspection.record, by=inspection.people[0], passed=True)

    @property
    def inspection_failed(self) -> bool:
        """Tell whether an inspection on this timeline did not pass."""
        return any(event.data.get("passed") is False for event in self.dealing.events)

    def clause_of(self, act: str) -> str:
        """Give the clause that asks for an act, else the first that the scenario carries."""
        sitting = self._sitting
        rules = [
            rule
            for rule in procedure_of(sitting.book).rules
            if in_force(rule.when, sitting.setup, sitting.options)
        ]
        for kind in ("must", "before", "not-behind"):
            for rule in rules:
                if rule.kind == kind and act in (*rule.acts, *rule.first):
                    return rule.clause
        return next(iter(sitting.scenario.facts.clauses), "")

    def told(self, act: str, question: str, **data: object) -> None:
        """Have the operator tell whether something was done or said; only then it has happened.

        `no` leaves it off the timeline, where the monitor misses it; `cannot tell` leaves its
        clause PENDING.
        """
        clause = self.clause_of({"announce": "announced"}.get(act, act))
        answer = self._sitting.ask(question, clause)
        if answer == "cannot tell":
            self._sitting.scenario.check(
                Verdict.PENDING, f"the operator cannot tell: {question}", clauses=(clause,)
            )
        if answer != "no":
            self.note(act, **data)

    @property
    def last_entry(self) -> Entry:
        """The entry that is lit now, or else the last one recorded in this scenario."""
        return self._lit or self._sitting.scenario.entries[-1].entry

    def inspect_toss(self) -> bool:
        """Run the machine once, outside any round; tell whether the toss was proper (A9)."""
        sitting = self._sitting
        dealing = self.dealing
        dealing.before_toss = sitting.eyes.look_at_leisure()
        covered = sitting.setup.cover == "opaque"
        if covered:
            dealing.cover()
        dealing.activate("dealer")
        if covered:
            dealing.uncover()
        sitting.look = dealing.rest()
        toss = sitting.look.toss
        proper = toss is not None and toss.proper
        if toss is not None and not proper:
            self.improper_tosses.append("; ".join(toss.why_not))
        return proper

    def enter(self, values: Sequence[int], *, provoked: bool = False) -> None:
        """Enter values; the lamps stay lit until the table is cleared.

        provoked: not what the dice show, on purpose.
        """
        sitting = self._sitting
        entry = sitting.take_entry(values, own_values=provoked, clear=False)
        self.dealing.entered(entry, sitting.taker.presses)
        self._lit, self._lit_provoked = entry, provoked
        if not sitting.terminal.has_clear:
            self.keep()

    def clear(self) -> None:
        """See the result still lit, press the clear key and see the lamps dark."""
        assert self._lit is not None
        self._see_still_lit(self._lit)
        self._clear()

    def _see_still_lit(self, entry: Entry) -> None:
        """Look whether a lamp of the result went out before it was cleared.

        Losing wagers are taken and winning ones paid by what is lit.
        """
        sitting = self._sitting
        emulator = sitting.bench.rig.emulator
        if not sitting.stay_seen and not entry.faults:
            sitting.stay_seen = True
            time.sleep(STAY_S / (emulator.time_scale if emulator else 1.0))
        unsteady = {area for staged in entry.lamps for area in staged.sample.flicker}
        was = gone = (entry.lit("lit") or frozenset()) - unsteady
        for look in range(STAY_LOOKS):  # one that flickers is dark now and then, and another matter
            time.sleep(STAY_LOOK_S if look else 0.0)
            samples = sitting.taker.sense_all()
            gone -= frozenset[str]().union(*(s.lit | s.unknown | s.flicker for s in samples))
            if not gone:
                return
        self.note("lamps", lit=sorted(was - gone))
        whole = gone == was and len(was) > 1
        paths = len(samples) > 1
        sides = ("lamp",) if paths else ("lamp", "input")
        sitting.scenario.check(
            Verdict.DUT_FAIL if whole or paths else Verdict.AMBIGUOUS,
            f"{', '.join(sorted(gone))} went out by themselves before the table was cleared",
            part=("lamps",)
            if whole
            else tuple(f"{side}:{area}" for area in sorted(gone) for side in sides),
            fault="went-out",
        )

    def _clear(self) -> None:
        lit = self._lit
        assert lit is not None
        cleared = self._sitting.taker.clear()
        self.dealing.cleared(cleared)
        self._lit = replace(
            lit, lamps=(*lit.lamps, *cleared), cleared_by_key=True, ended=time.monotonic()
        )
        self.keep()

    def keep(self) -> KeptEntry | None:
        """Record the entry as far as it went, if there is one not yet recorded."""
        lit, self._lit = self._lit, None
        if lit is None:
            return None
        return self._sitting.keep_entry(lit, provoked=self._lit_provoked)

    def end(self, *, broke_off: bool) -> None:
        """End the dealing: an entry left lit is cleared, the cover taken off.

        Departures that no step took up count, unless the scenario broke off: then nobody had the
        time to mend or to take up anything.
        """
        if self._lit is not None and self._sitting.terminal.has_clear:
            self._clear()
        self.keep()
        with contextlib.suppress(HarnessError):  # a cover that stays on shows in the next scenario
            self.dealing.leave_uncovered()
        self.dealing.monitor.finish()
        if not broke_off:
            self.judge()

    def judge(self) -> None:
        """Take the departures so far into the scenario's verdict.

        A person's act is a PROCEDURE_FAIL, a machine's is the table's; what the lamps did is judged
        by the entry. What a failed sensor of ours makes look like a breach is none.
        """
        departures = self.take_departures()
        if self.dealing.sensor_failed:
            return
        self._judge_cover()
        for departure in departures:
            if departure.of_lamps:
                continue
            deviation = departure.deviation
            self._sitting.scenario.check(
                Verdict.DUT_FAIL if departure.of_machine else Verdict.PROCEDURE_FAIL,
                deviation.what,
                part=("shaker" if departure.of_machine else "dealer",),
                fault="procedure-not-kept",
                clauses=(deviation.clause,),
            )

    def _judge_cover(self) -> None:
        moved, self.dealing.cover_moved_unbidden = self.dealing.cover_moved_unbidden, []
        for t in moved:
            self._sitting.scenario.check(
                Verdict.DUT_FAIL if self.dealing.by_machine else Verdict.PROCEDURE_FAIL,
                f"the cover was opened while the dice were shaken, {t:.2f} s into the round",
                part=("cover",),
                fault="opened-while-shaking",
                clauses=(self.clause_of("cover-on"),),
            )

    def take_departures(self) -> list[Departure]:
        """Give the departures not yet taken, and take them."""
        taken, self.dealing.departures = self.dealing.departures, []
        return taken
