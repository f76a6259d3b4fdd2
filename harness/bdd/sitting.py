"""One rule book on one open bench: what step definitions work with."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.bdd.dealt_round import DealtRound
from harness.bdd.kept_pictures import kept_picture, lamp_frames
from harness.bdd.scenario_run import KeptEntry, ScenarioRun
from harness.dealing.aim import MovedPictureError
from harness.dealing.entry import EntryTaker, Terminal
from harness.dealing.errors import UnknownStateError
from harness.dealing.hostlag import HostLag
from harness.dealing.key_limits import forgotten_after, shortest_press
from harness.dealing.refused import standing
from harness.evidence.records import LookedAt, outside
from harness.observations import Dice, DiceSeen, Entry, LampSample, Mode
from harness.rig.contacts import RelayKeys
from harness.rules.judgement import Limits, judge_entry
from harness.verdicts import HarnessError, Verdict

if TYPE_CHECKING:
    from harness.dealing.look import Eyes, Look
    from harness.diagnosis.next_test import NextTest
    from harness.evidence.record import RunRecord
    from harness.rig.bench import Bench
    from harness.rig.roles import Answer, Frame, Pose
    from harness.rules.areas import OptionValue
    from harness.rules.books import RuleBook
    from harness.rules.timeline import Setup


MOST_RETAKES = 2
VAIN_RETAKES = 3
LAG_COUNTS = 2
LAG_SHARE = 0.1
"""A host that lagged by more than this part of a limit cannot judge by it."""


@dataclass(slots=True)
class _Ahead:
    """Dice laid for the next scenario while this one is being cleared."""

    dice: Dice
    look: Future[Look]


@dataclass(frozen=True, slots=True)
class Dipped:
    """What a dip of the supply left: the areas lit once the table was back."""

    volts: float
    lasted_s: float
    lit: frozenset[str]


@dataclass(slots=True)
class CountdownWatch:
    """What was seen of the countdown in this scenario; monotonic s, s.

    It started between `asked_at` and `started_at`.
    """

    asked_at: float = 0.0
    started_at: float = 0.0
    took_s: float | None = None
    uncertainty_s: float = 0.0
    early_tosses: int = 0
    early_by_s: float = 0.0


class Sitting:
    """A book on a bench. Steps act through it and add their checks to the running scenario.

    `look_ahead` gives the dice that the next scenario will ask for, if any: they are laid and read
    while the lamps of this one are being cleared.
    """

    def __init__(
        self,
        book: RuleBook,
        bench: Bench,
        record: RunRecord,
        *,
        rig: str,
        setup: Setup,
        terminal: Terminal,
        limits: Limits,
        eyes: Eyes | None,
        first_index: int,
    ) -> None:
        self.book = book
        self.bench = bench
        self.record = record
        self.rig = rig
        self.setup = setup
        self.terminal = terminal
        self.limits = limits
        self.options: dict[str, OptionValue] = book.in_force()
        self.look_ahead: Callable[[], Dice | None] = lambda: None
        self.shown: Dice | None = None
        self.lays = bench.presenter is not None
        self.meant: Dice | None = None
        """The values of a result that is entered without dice."""
        self._pose: Pose = "flat"
        self.look: Look | None = None
        self._kept_look: Look | None = None
        self.countdown = CountdownWatch()
        self.half_entered: str | None = None
        self.dipped: list[Dipped] = []
        self.power_back_at = 0.0
        self.taken_before_cut: Dice | None = None
        """What the table took as an entry just before its supply was cut."""
        self.stay_seen = False
        """Whether a result was seen to stay lit for a while, in this sitting."""
        self.eyes_or_none = eyes
        self.timed = 0
        self.untimed = 0
        """Entries with a settling time, and those whose time is no measurement."""
        self.slow_paths: Counter[str] = Counter()
        """In how many entries a path alone, not this host, was too slow to time the lamps."""
        self._next_index = first_index
        self._scenario: ScenarioRun | None = None
        self._round: DealtRound | None = None
        self.lag = HostLag()
        self._hands = ThreadPoolExecutor(max_workers=1, thread_name_prefix="look-ahead")
        self._ahead: _Ahead | None = None
        self._vain_retakes = 0
        self._vain_reason: str | None = None
        self._taker: EntryTaker | None = None

    @property
    def scenario(self) -> ScenarioRun:
        """The scenario that runs."""
        assert self._scenario is not None
        return self._scenario

    @property
    def round(self) -> DealtRound:
        """The dealing of this scenario, watched by the book's monitor from its first event on."""
        if self._round is None:
            self._round = DealtRound(self)
        return self._round

    @property
    def taker(self) -> EntryTaker:
        """Makes entries; scenarios that use it need `keys` and `lamps`."""
        if self._taker is None:
            assert self.bench.keys is not None
            table = self.book.table(self.options)
            self._taker = EntryTaker(
                self.bench.keys,
                self.bench.lamps,
                self.terminal,
                book=self.book.id,
                rig=self.rig,
                winning=lambda dice: frozenset(table[dice]),
                travel=self.bench.key_travel,
            )
        return self._taker

    @property
    def eyes(self) -> Eyes:
        """Reads the dice; scenarios that use it need `dice-camera`."""
        assert self.eyes_or_none is not None
        return self.eyes_or_none

    def begin(self, scenario: ScenarioRun) -> None:
        """Start a scenario: nothing of the one before is carried over but the dice laid ahead."""
        self._scenario = scenario
        self._round = None
        self.countdown = CountdownWatch()
        self.half_entered = None
        self.dipped = []
        self.shown = None
        self.meant = None
        self.look = None

    def end(self, *, broke_off: bool) -> None:
        """End a scenario; after one that did not pass, put the table right for the next."""
        if self._round is not None:
            self._round.end(broke_off=broke_off)
        self._keep_looks()
        if self._pose != "flat" and self.shown is not None:
            with contextlib.suppress(HarnessError):  # dice not laid flat show in the next scenario
                self._present(self.shown)
        if self.scenario.verdict() is not Verdict.PASS:
            self.tidy()

    def _keep_looks(self) -> None:
        """Record the dice as last looked at, where no entry holds that, and before a toss."""
        tossed = self._round.dealing.before_toss if self._round is not None else None
        looks: tuple[tuple[LookedAt, Look | None], ...] = (
            ("before-toss", tossed),
            ("dice", self.look),
        )
        for what, look in looks:
            if look is not None and look is not self._kept_look:
                self.record.look(
                    self.scenario.record.id,
                    self.rig,
                    what,
                    frames=[kept_picture(frame) for frame in look.frames],
                    seen=look.seen,
                )

    def keep_glimpses(self, frames: Sequence[Frame], legible: int) -> None:
        """Record single pictures taken with the cover on; in `legible` of them dice were seen."""
        self.record.look(
            self.scenario.record.id,
            self.rig,
            "under-cover",
            frames=[kept_picture(frame) for frame in frames],
            legible=legible,
        )

    def tidy(self) -> None:
        """Uncover and clear what a scenario, or a run that was killed, left on the table."""
        # What cannot be put right shows in the next scenario, which senses the table for itself.
        with contextlib.suppress(HarnessError):
            if self.bench.cover is not None and self.setup.cover == "opaque":
                self.bench.cover.take_off()
            if self.bench.keys is not None and self.bench.lamps:
                self.taker.clear()

    def close(self) -> None:
        """Let go of what was begun ahead."""
        self._hands.shutdown(wait=True, cancel_futures=True)
        self.lag.close()

    # Dice.

    @property
    def closed_loop(self) -> bool:
        """Tell whether dice can be laid and read here."""
        return self.lays and self.eyes_or_none is not None

    def lay(self, dice: Dice, pose: Pose = "flat") -> None:
        """Have the dice laid and read them, unless that was done ahead."""
        ahead, self._ahead = self._ahead, None
        self.shown = dice
        if ahead is not None and ahead.dice == dice and pose == "flat":
            self.look = ahead.look.result()
        else:
            if ahead is not None:
                ahead.look.exception()
            self.look = self.eyes.look(self._present(dice, pose), moved=True)
        if pose == "flat":
            self._retake(dice)

    def _retake(self, dice: Dice) -> None:
        """Lay dice again that were laid flat and could not be read; each time is recorded.

        A refusal costs a retake, never a guess. What is refused every time stands as refused, for
        the reason given most often. Where retakes were in vain several times in a row, no more are
        made while the reason is the same, until dice are read again. Raises MovedPictureError where
        a camera does not show the whole place where dice lie.
        """
        self._refuse_misaimed()
        looks: list[Look] = []
        for _ in range(MOST_RETAKES):
            reason = self.seen().reason
            hopeless = self._vain_retakes >= VAIN_RETAKES and reason == self._vain_reason
            if reason is None or hopeless:
                break
            self.record.rig_fact(
                self.rig,
                "retakes",
                "camera:dice",
                f"dice laid flat were not read: {reason}",
                data={"dice": list(dice), "reason": reason},
            )
            assert self.look is not None
            looks.append(self.look)
            self.look = self.eyes.look(self._present(dice), moved=False)
            self._refuse_misaimed()
        if self.seen().reason is None:
            self._vain_retakes, self._vain_reason = 0, None
            return
        assert self.look is not None
        looks.append(self.look)
        self.look = standing(looks)
        self._vain_retakes, self._vain_reason = self._vain_retakes + 1, self.look.seen.reason

    def _refuse_misaimed(self) -> None:
        assert self.look is not None
        if self.seen().reason is None:
            return
        misaimed = self.eyes.misaimed(self.look)
        if misaimed is not None:
            raise MovedPictureError(*misaimed)

    def _present(self, dice: Dice, pose: Pose = "flat") -> float:
        assert self.bench.presenter is not None
        self._pose = pose
        self.bench.presenter.present(dice, pose)
        return time.monotonic()

    def _lay_ahead(self) -> None:
        dice = self.look_ahead()
        if dice is None or self.bench.presenter is None:
            return
        try:
            laid_at = self._present(dice)
        except HarnessError:
            return  # the next scenario lays its dice itself, and this error is its own
        self._ahead = _Ahead(dice, self._hands.submit(self.eyes.look, laid_at, moved=True))

    def seen(self) -> DiceSeen:
        """Give what the cameras read when the dice were last looked at."""
        assert self.look is not None
        return self.look.seen

    @property
    def agreed(self) -> tuple[int, ...]:
        """Give the values to enter: what was read, in the order laid; none where these differ."""
        seen = self.seen()
        if seen.reason is not None:
            return ()
        if self.shown is None:
            return seen.values
        return self.shown if tuple(sorted(self.shown)) == seen.values else ()

    # Entries.

    def take_entry(
        self,
        keys: Sequence[int],
        *,
        own_values: bool,
        clear: bool = True,
        pause_after_first_s: float = 0.0,
    ) -> Entry:
        """Enter values on the terminal and sense the lamps; nothing is recorded yet.

        own_values: the values are the scenario's own, whatever lies there. pause_after_first_s:
        how long the hand rests after the first key.
        """
        mode: Mode = "tossed" if self.shown is None else "presented"
        return self.taker.enter(
            self.take_index(),
            [str(key) for key in keys],
            mode="entered" if own_values else mode,
            shown=None if own_values else self.shown,
            seen=None if own_values else self.seen(),
            once_lit=self._lay_ahead if clear else None,
            clear=clear,
            pause_after_first_s=pause_after_first_s,
        )

    def keep_entry(
        self, entry: Entry, *, provoked: bool = False, diagnosed: bool = True
    ) -> KeptEntry:
        """Judge and record an entry.

        provoked: wrong on purpose, judged by its scenario alone. diagnosed: takes part in the
        diagnosis of the whole run.
        """
        entry = self._fairly_timed(entry)
        judgement = judge_entry(entry, self.book, self.options, self.limits)
        looked = self.look if entry.seen is not None else None
        line = self.record.entry(
            entry,
            judgement,
            scenario=self.scenario.record.id,
            frames=[kept_picture(frame) for frame in looked.frames] if looked is not None else (),
            lamp_frames=lamp_frames(entry),
            options=self.options,
            limits=self.limits,
            provoked=provoked,
            diagnosed=diagnosed,
        )
        self._kept_look = looked or self._kept_look
        kept = KeptEntry(entry, judgement, line, self.scenario.record.id, provoked, diagnosed)
        self.scenario.entries.append(kept)
        if entry.faults:
            self._recover(entry)
        return kept

    def _fairly_timed(self, entry: Entry) -> Entry:
        """Take back a settling time that is no measurement.

        One beyond its limit may be this host's own lag; one found by looks further apart than the
        limit says nothing of it.
        """
        limit = self.limits.settle_s
        if limit is None or entry.settle_s is None:
            return entry
        self.timed += 1
        lag = self.lag.worst_since(entry.started)
        if self.taker.too_slow:
            self.untimed += 1
            if lag <= limit * LAG_SHARE:
                self.slow_paths.update(self.taker.too_slow)
            return replace(entry, settle_s=None)
        surely_late = entry.settle_s - LAG_COUNTS * lag > limit
        if entry.settle_s <= limit or lag <= limit * LAG_SHARE or surely_late:
            return entry
        self.untimed += 1
        return replace(entry, settle_s=None, late=frozenset())

    def shows(self, samples: Sequence[LampSample], entry: Entry) -> bool:
        """Tell whether the lamps show an entry, as all paths agree: most of its areas are lit."""
        first, second, third = (int(key) for key in entry.keyed[:3])
        winning = self.book.winning_areas((first, second, third), self.options)
        lit = frozenset.intersection(*(s.lit for s in samples)) if samples else frozenset()
        return 2 * len(lit & winning) > len(winning)

    def enter_what_lies(self) -> KeptEntry:
        """Close the loop: enter what the camera read, sense, clear, record.

        Dice without a reading, or not read as they were laid, are not entered; the entry is kept
        with nothing keyed. Where no dice can be laid, the values meant are entered: mode `entered`.
        """
        if self.meant is not None:
            return self.keep_entry(self.take_entry(self.meant, own_values=True))
        return self.keep_entry(self.take_entry(self.agreed, own_values=False))

    def enter_further(self, test: NextTest) -> Entry:
        """Enter values while these dice lie there: a test that splits a candidate set."""
        if self.closed_loop:
            self._present(test.shown)
        entry = self._fairly_timed(
            self.taker.enter(
                self.take_index(),
                [str(key) for key in test.keyed],
                mode="entered",
                shown=test.shown if self.closed_loop else None,
                look_between=not test.hurried,
            )
        )
        self.record.entry(
            entry,
            judge_entry(entry, self.book, self.options, self.limits),
            scenario=outside(self.book.id, self.rig, "further-test"),
            lamp_frames=lamp_frames(entry),
            options=self.options,
            limits=self.limits,
        )
        if entry.faults:
            self._recover(entry)
        return entry

    def shortest_press(self) -> tuple[float, float] | None:
        """Give between which lengths (s) a press begins to be taken; None if none is taken."""
        keys = self.bench.keys
        if not isinstance(keys, RelayKeys):
            return None
        enter = self.terminal.commit == "entry-key"
        found = shortest_press(keys, self.taker.sense_all, self.terminal.settle_s * 2, enter=enter)
        return None if found is None else (found.low, found.high)

    def forgotten_after(self) -> tuple[float, float | None] | None:
        """Give between which times from key to key (s) half an entry is dropped.

        The second is None if it never is; None for both if that cannot be told.
        """
        keys = self.bench.keys
        if not isinstance(keys, RelayKeys):
            return None
        enter = self.terminal.commit == "entry-key"
        return forgotten_after(keys, self.taker.sense_all, self.terminal.settle_s, enter=enter)

    def _recover(self, entry: Entry) -> None:
        """After an error in the middle of an entry: know again what state the table is in.

        Outputs are opened and read back, a half-made entry is cleared, the lamps must be dark, but
        for those that were lit before the entry began. What fails here ends the run on this bench:
        the next entry would begin from a state that an error of ours left behind, and the table
        would be blamed for it.
        """
        assert self.bench.keys is not None
        self.bench.keys.release_all()
        left = self.taker.clear()
        lit = frozenset[str]().union(*(staged.sample.lit for staged in left))
        lit -= frozenset[str]().union(*(s.sample.lit for s in entry.lamps if s.stage == "before"))
        if lit:
            raise UnknownStateError(
                "the table",
                expected="dark lamps once cleared, after an entry that an error broke off",
                found=f"lit: {', '.join(sorted(lit))}",
                remedy="clear the table by hand, mend what broke the entry off, and run again",
            )

    def take_index(self) -> int:
        """Give the number of the next entry."""
        index = self._next_index
        self._next_index += 1
        return index

    # The operator.

    def ask(self, prompt: str, clause: str) -> Answer:
        """Ask the operator and record the answer."""
        assert self.bench.operator is not None
        answer: Answer | None = None
        try:
            answer = self.bench.operator.confirm(prompt, clause)
        finally:
            self.record.operator(
                self.scenario.record.id, self.rig, prompt=prompt, clause=clause, answer=answer
            )
        return answer

    def confirm(self, statement: str, part: str) -> None:
        """Have the operator confirm something for each clause that the scenario carries.

        `no` is the table's failing, or a person's where the part is the dealer; `cannot tell`
        leaves it PENDING.
        """
        failed = Verdict.PROCEDURE_FAIL if part == "dealer" else Verdict.DUT_FAIL
        for clause in self.scenario.facts.clauses:
            answer = self.ask(f"Is it so: {statement}?", clause)
            self.scenario.check(
                {"yes": Verdict.PASS, "no": failed}.get(answer, Verdict.PENDING),
                f"the operator was asked whether {statement}: {answer}",
                part=(part,),
                fault="not-determined" if answer == "cannot tell" else "not-as-required",
                clauses=(clause,),
            )
