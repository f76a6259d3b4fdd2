"""One rule book on one open bench: what step definitions work with."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.bdd.scenario_run import KeptEntry, ScenarioRun
from harness.dealing.entry import EntryTaker, Terminal
from harness.evidence.records import KeptFrame
from harness.observations import Dice, DiceSeen, Entry, Mode
from harness.rules.judgement import Limits, judge_entry
from harness.verdicts import HarnessError, Verdict

if TYPE_CHECKING:
    from harness.dealing.look import Eyes, Look
    from harness.evidence.record import RunRecord
    from harness.rig.bench import Bench
    from harness.rig.roles import Answer, Frame, Pose
    from harness.rules.areas import OptionValue
    from harness.rules.books import RuleBook
    from harness.rules.timeline import Setup


@dataclass(slots=True)
class _Ahead:
    """Dice laid for the next scenario while this one is being cleared."""

    dice: Dice
    look: Future[Look]


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
        self._eyes = eyes
        self._next_index = first_index
        self._scenario: ScenarioRun | None = None
        self._hands = ThreadPoolExecutor(max_workers=1, thread_name_prefix="look-ahead")
        self._ahead: _Ahead | None = None
        self._taker: EntryTaker | None = None
        self.shown: Dice | None = None
        self.look: Look | None = None

    @property
    def scenario(self) -> ScenarioRun:
        """The scenario that runs."""
        assert self._scenario is not None
        return self._scenario

    def begin(self, scenario: ScenarioRun) -> None:
        """Start a scenario: nothing of the one before is carried over but the dice laid ahead."""
        self._scenario = scenario
        self.shown = None
        self.look = None

    def close(self) -> None:
        """Let go of what was begun ahead."""
        self._hands.shutdown(wait=True, cancel_futures=True)

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
            )
        return self._taker

    @property
    def eyes(self) -> Eyes:
        """Reads the dice; scenarios that use it need `dice-camera`."""
        assert self._eyes is not None
        return self._eyes

    def lay(self, dice: Dice, pose: Pose = "flat") -> None:
        """Have the dice laid, unless they lie there from the look ahead."""
        ahead, self._ahead = self._ahead, None
        self.shown = dice
        if ahead is not None and ahead.dice == dice and pose == "flat":
            self.look = ahead.look.result()
            return
        if ahead is not None:
            ahead.look.exception()
        assert self.bench.presenter is not None
        self.bench.presenter.present(dice, pose)
        self.look = self.eyes.look(time.monotonic(), moved=True)

    def seen(self) -> DiceSeen:
        """Give what the cameras read when the dice were last looked at."""
        assert self.look is not None
        return self.look.seen

    def enter(
        self,
        keys: Sequence[int],
        *,
        mode: Mode,
        shown: Dice | None,
        look: Look | None,
        clear: bool = True,
        provoked: bool = False,
    ) -> KeptEntry:
        """Enter values on the terminal, sense, clear, and record the entry with its judgement."""
        entry = self.taker.enter(
            self._take_index(),
            [str(key) for key in keys],
            mode=mode,
            shown=shown,
            seen=None if look is None else look.seen,
            once_lit=self._lay_ahead if clear else None,
            clear=clear,
        )
        judgement = judge_entry(entry, self.book, self.options, self.limits)
        line = self.record.entry(
            entry,
            judgement,
            scenario=self.scenario.record.id,
            frames=[_kept(frame) for frame in look.frames] if look is not None else (),
            options=self.options,
            limits=self.limits,
        )
        kept = KeptEntry(entry, judgement, line, self.scenario.record.id, provoked)
        self.scenario.entries.append(kept)
        if entry.faults:
            self._recover()
        return kept

    def _recover(self) -> None:
        """After an error in the middle of an entry: know again what state the table is in.

        Outputs are opened and read back, a half-made entry is cleared, the lamps are sensed. What
        fails here ends the run on this bench.
        """
        assert self.bench.keys is not None
        self.bench.keys.release_all()
        self.taker.clear()
        self.taker.sense_all()

    def enter_what_lies(self) -> KeptEntry:
        """Close the loop: enter what the camera read, in the order in which the dice were laid.

        Dice without a reading, or not read as they were laid, are not entered; the entry is kept
        with nothing keyed.
        """
        seen = self.seen()
        agree = seen.reason is None and (
            self.shown is None or tuple(sorted(self.shown)) == seen.values
        )
        keys = (self.shown or seen.values) if agree else ()
        mode: Mode = "tossed" if self.shown is None else "presented"
        return self.enter(keys, mode=mode, shown=self.shown, look=self.look)

    def enter_further(self, keyed: Dice, shown: Dice) -> Entry:
        """Enter values while other dice lie there: a test that splits a candidate set."""
        assert self.bench.presenter is not None
        self.bench.presenter.present(shown)
        entry = self.taker.enter(
            self._take_index(), [str(key) for key in keyed], mode="entered", shown=shown
        )
        self.record.entry(
            entry,
            judge_entry(entry, self.book, self.options, self.limits),
            scenario=f"{self.book.id}/{self.rig}/further-test",
            options=self.options,
            limits=self.limits,
        )
        return entry

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

    def confirm(self, statement: str, part: str, clauses: Sequence[str]) -> None:
        """Have the operator confirm a fact of the equipment: no is the table's failure."""
        for clause in clauses:
            answer = self.ask(f"Is this so: {statement}?", clause)
            verdict = {"yes": Verdict.PASS, "no": Verdict.DUT_FAIL}.get(answer, Verdict.PENDING)
            self.scenario.check(
                verdict,
                f"operator, asked whether {statement}: {answer}",
                part=(part,),
                fault="unconfirmed" if verdict is Verdict.PENDING else "not-as-required",
                clauses=(clause,),
            )

    def _take_index(self) -> int:
        index = self._next_index
        self._next_index += 1
        return index

    def _lay_ahead(self) -> None:
        dice = self.look_ahead()
        if dice is None or self.bench.presenter is None:
            return
        try:
            self.bench.presenter.present(dice)
        except HarnessError:
            return  # the next scenario lays its dice itself, and this error is its own
        laid_at = time.monotonic()
        self._ahead = _Ahead(dice, self._hands.submit(self.eyes.look, laid_at, moved=True))


def _kept(frame: Frame) -> KeptFrame:
    if frame.jpeg is not None:
        return KeptFrame(frame.jpeg, frame.at)
    import cv2

    coded, png = cv2.imencode(".png", frame.image)
    assert coded, f"a picture of shape {frame.image.shape} could not be written"
    return KeptFrame(png.tobytes(), frame.at, ".png")
