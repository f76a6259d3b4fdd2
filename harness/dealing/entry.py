"""One result entered on the terminal and cleared again, with the lamps sensed at every stage.

Nothing that acts on the table is ever repeated: a press whose outcome is not known ends the entry.
Whether a spoilt read is repeated is the driver's business, which counts it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from harness.dealing.steadiness import FIRST_STEADY_S, STEADY_S, Steadiness
from harness.observations import Dice, DiceSeen, Entry, LampSample, Mode, Stage, StagedSample
from harness.rig.errors import HostLagError
from harness.rig.roles import KeyPresser, LampSense, Press
from harness.verdicts import HarnessError

_PATIENT_WAITS = 3
_TRAVEL_POLL_S = 0.005


@dataclass(frozen=True, slots=True)
class Terminal:
    """What the rig file says of the entry terminal.

    `commit`: which key lights the lamps. `has_clear`: a clear key takes the result away; without
    one the next entry's first key does. `settle_s`: longest time from the committing key's contact
    to steady lamps. `patience_s`: how long lamps are watched that are not right by then, to tell
    late from dark. `entry_timeout_s`: after how long a half-made entry may be forgotten (None: not
    known). `fourth_key`: what the maker says of a further key after the three of a result (None:
    not known).
    """

    commit: Literal["third-key", "entry-key"] = "third-key"
    has_clear: bool = True
    settle_s: float = 0.1
    patience_s: float = 1.0
    entry_timeout_s: float | None = None
    fourth_key: Literal["ignored", "last-three", "error"] | None = None


@dataclass(slots=True)
class EnteredKeys:
    """What is known of an entry while it is made."""

    keyed: list[str] = field(default_factory=list)
    lamps: list[StagedSample] = field(default_factory=list)
    faults: list[dict[str, object]] = field(default_factory=list)
    presses: list[Press] = field(default_factory=list)
    settle_s: float | None = None
    too_slow: frozenset[str] = frozenset()
    travelled: list[str] = field(default_factory=list)
    late: frozenset[str] = frozenset()
    watched: list[LampSample] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Look:
    """The lamps sensed once over the path of this number; when that began (monotonic s)."""

    path: int
    began: float
    sample: LampSample


@runtime_checkable
class WatchedLamps(Protocol):
    """Lamps seen by a camera: it takes its time, and shares no wire with other paths."""

    def sense(self) -> LampSample:
        """Sense every mapped area once."""
        ...

    def watch(self, seconds: float) -> LampSample:
        """Watch at least this long; what changes twice or more is in `flicker`."""
        ...


class Switch(Protocol):
    """A contact that can be read."""

    def read(self) -> bool:
        """Read it once."""
        ...


def _pressed_at(presses: Sequence[Press]) -> tuple[float, ...]:
    """Give when the keys of an entry closed; nobody knows it of keys pressed by hand."""
    if any(press.by_hand for press in presses):
        return ()
    return tuple(press.closed_at for press in presses if press.key != "clear")


class EntryTaker:
    """Makes entries on one bench for one book.

    `winning` gives the areas that must light for a result. It decides only how soon the lamps need
    no more watching; what was sensed is recorded as it was. `travel`: the switches that are closed
    while a key itself is down, by key.
    """

    def __init__(
        self,
        keys: KeyPresser,
        lamps: Sequence[LampSense],
        terminal: Terminal,
        *,
        book: str,
        rig: str,
        winning: Callable[[Dice], frozenset[str]],
        travel: Mapping[str, Switch] | None = None,
    ) -> None:
        self._keys = keys
        self._lamps = tuple(lamps)
        self._terminal = terminal
        self._book = book
        self._rig = rig
        self._winning = winning
        self._travel = dict(travel or {})
        self._finger = ThreadPoolExecutor(1, "finger") if travel else None
        self._watched = [n for n, path in enumerate(lamps) if isinstance(path, WatchedLamps)]
        self._quick = [n for n in range(len(lamps)) if n not in self._watched]
        # While cameras take their time the other paths go on.
        self._eyes = ThreadPoolExecutor(len(self._watched), "lamps") if self._watched else None
        self._patient_waits_left = _PATIENT_WAITS
        self._seen_steady: set[str] = set()
        self.presses: tuple[Press, ...] = ()
        """The presses of the last entry, as driven."""
        self.too_slow: frozenset[str] = frozenset()
        """The paths of the last entry, if all their looks lay too far apart to time its lamps."""

    def enter(
        self,
        index: int,
        keys: Sequence[str],
        *,
        mode: Mode,
        shown: Dice | None = None,
        seen: DiceSeen | None = None,
        once_lit: Callable[[], None] | None = None,
        clear: bool = True,
        pause_after_first_s: float = 0.0,
        look_between: bool = True,
    ) -> Entry:
        """Press the keys, wait for the lamps, sense them, clear, sense the dark.

        keys: `"1"` … `"6"`, in the order to press; none for dice that have no reading, which are
        not entered. once_lit is called when the lamps have been sensed and before they are
        cleared. pause_after_first_s: how long the hand rests after the first key. look_between:
        sense the lamps between the keys too; without, they follow each other as fast as they can.
        An error of a device ends the entry and stands in its `faults`; the caller decides whether
        the bench can go on.
        """
        started = time.monotonic()
        made = EnteredKeys()
        try:
            if keys:
                self._sense(made, "before")
                committed_at = self._press_all(made, keys, pause_after_first_s, look_between)
                self._light(made, keys, once_lit, committed_at)
                if clear and self._terminal.has_clear:
                    self._clear(made)
        except HarnessError as error:
            made.faults.append(error.to_json())
        self.presses = tuple(made.presses)
        self.too_slow = made.too_slow
        return Entry(
            book=self._book,
            rig=self._rig,
            index=index,
            mode=mode,
            shown=shown,
            seen=seen,
            keyed=tuple(made.keyed),
            lamps=tuple(made.lamps),
            started=started,
            ended=time.monotonic(),
            settle_s=made.settle_s,
            cleared_by_key=bool(keys) and clear and self._terminal.has_clear,
            pressed_at=_pressed_at(made.presses),
            travelled=tuple(made.travelled) if self._travel else None,
            late=made.late,
            watched=tuple(made.watched),
            faults=tuple(made.faults),
        )

    def sense_all(self) -> tuple[LampSample, ...]:
        """Sense the lamps once over every path."""
        return tuple(look.sample for look in self._look_in_order())

    def _look_in_order(self) -> list[_Look]:
        return sorted(self._look_round(again=False), key=lambda look: look.path)

    def _look_round(self, *, again: bool) -> Iterator[_Look]:
        """Look over every path once; with `again` the quick ones for as long as slow ones take."""
        pending: list[Future[_Look]] = []
        if self._eyes is not None:
            pending = [self._eyes.submit(self._look, number) for number in self._watched]
        while True:
            yield from map(self._look, self._quick)
            if not (again and self._quick) or all(future.done() for future in pending):
                break
        for future in pending:
            yield future.result()

    def _look(self, number: int) -> _Look:
        began = time.monotonic()
        return _Look(number, began, self._lamps[number].sense())

    def clear(self) -> tuple[StagedSample, ...]:
        """Press the clear key, if the terminal has one, and sense until the lamps are dark."""
        made = EnteredKeys()
        if self._terminal.has_clear:
            self._clear(made)
        return tuple(made.lamps)

    def _light(
        self,
        made: EnteredKeys,
        keys: Sequence[str],
        once_lit: Callable[[], None] | None,
        committed_at: float,
    ) -> None:
        self._await_lamps(made, keys, committed_at)
        settled = {staged.sample.path: staged.sample for staged in made.lamps[-len(self._lamps) :]}
        expected = self._expected(keys)
        stays = Steadiness(settled, expected or frozenset(), committed_at + self._terminal.settle_s)
        if once_lit is not None:
            once_lit()
            for look in self._look_in_order():
                made.lamps.append(StagedSample("lit", look.sample))
                stays.saw(look.began, look.sample)
        if not self._lamps or expected is None:
            return
        if not expected <= self._seen_steady:
            self._watch_steady(made, stays, committed_at + self._terminal.settle_s)
            self._seen_steady |= expected
        made.lamps.extend(StagedSample("lit", sample) for sample in stays.unsteady())

    def _press_all(
        self, made: EnteredKeys, keys: Sequence[str], pause_s: float, look_between: bool
    ) -> float:
        closed_at = 0.0
        stages: tuple[Stage, ...] = ("after-1", "after-2")
        if self._terminal.commit == "entry-key":
            stages += ("after-3",)
        rested_s = 0.0
        for number, key in enumerate(keys):
            made.keyed.append(key)
            closed_at = self._press_in_time(made, key, rested_s)
            rested_s = 0.0
            if look_between and number < len(stages):
                self._sense(made, stages[number])
            if number == 0 and pause_s:
                time.sleep(pause_s)
                rested_s = pause_s
        if self._terminal.commit == "entry-key":
            closed_at = self._press_in_time(made, "enter", 0.0)
        return closed_at

    def _press_in_time(self, made: EnteredKeys, key: str, rested_s: float) -> float:
        """Press; where the terminal may have forgotten the keys before, the entry is no evidence.

        rested_s: how long the hand rested on purpose since the key before.
        """
        before = made.presses[-1].closed_at if made.presses else None
        closed_at = self._press(made, key)
        limit_s = self._terminal.entry_timeout_s
        if before is not None and limit_s is not None:
            apart_s = closed_at - before
            if rested_s <= limit_s < apart_s:
                raise HostLagError(
                    "host:entry",
                    expected=f"the next key within {limit_s:g} s, while the entry is remembered",
                    found=f"{apart_s:.1f} s between two",
                    remedy="ease the host, or find the device whose replies take so long",
                )
        return closed_at

    def _press(self, made: EnteredKeys, key: str) -> float:
        switch = self._travel.get(key)
        if switch is None or self._finger is None:
            press = self._keys.press(key)
        else:
            pressing = self._finger.submit(self._keys.press, key)
            moved = False
            while not pressing.done():
                moved = moved or switch.read()
                time.sleep(_TRAVEL_POLL_S)
            press = pressing.result()
            if moved:
                made.travelled.append(key)
        made.presses.append(press)
        return press.closed_at

    def _watch_steady(self, made: EnteredKeys, stays: Steadiness, settled_by: float) -> None:
        """Watch lamps of which one is lit for the first time: do they stay as they are?"""
        seconds = STEADY_S if self._seen_steady else FIRST_STEADY_S
        begin = max(time.monotonic(), settled_by)
        watching: list[Future[_Look]] = []
        if self._eyes is not None:
            watching = [
                self._eyes.submit(self._watch_path, number, begin, seconds)
                for number in self._watched
            ]
        while self._quick and time.monotonic() < begin + seconds:
            for look in map(self._look, self._quick):
                stays.saw(look.began, look.sample)
        for look in (future.result() for future in watching):
            if look.sample.flicker:
                made.lamps.append(StagedSample("lit", look.sample))
            else:
                made.watched.append(look.sample)
            stays.saw(look.began, look.sample)

    def _watch_path(self, number: int, begin: float, seconds: float) -> _Look:
        path = self._lamps[number]
        assert isinstance(path, WatchedLamps)
        time.sleep(max(0.0, begin - time.monotonic()))
        sample = path.watch(seconds)
        return _Look(number, time.monotonic(), sample)

    def _await_lamps(self, made: EnteredKeys, keys: Sequence[str], committed_at: float) -> None:
        expected, further = self._expected(keys), self._expected_further(keys)
        settled_by = committed_at + self._terminal.settle_s

        def done(looks: Sequence[_Look]) -> bool:
            if further is None:
                return all(look.sample.lit == expected for look in looks)
            # Lamps that are lit before the last key may be right at once, and change yet.
            return all(look.sample.lit == further and look.began > settled_by for look in looks)

        made.settle_s = self._watch(
            made,
            "lit",
            committed_at,
            done=done,
            patient=expected is not None or further is not None,
            wrong=lambda sample: frozenset() if expected is None else sample.lit ^ expected,
        )

    def _clear(self, made: EnteredKeys) -> None:
        cleared_at = self._press(made, "clear")
        self._watch(
            made,
            "cleared",
            cleared_at,
            done=lambda looks: not any(look.sample.lit for look in looks),
            patient=True,
            wrong=lambda sample: sample.lit,
        )

    def _expected(self, keys: Sequence[str]) -> frozenset[str] | None:
        """Give the areas that must light; None where that is not for the rule book to say."""
        if len(keys) != 3:
            return None
        first, second, third = (int(key) for key in keys)
        return self._winning((first, second, third))

    def _expected_further(self, keys: Sequence[str]) -> frozenset[str] | None:
        """Give what must be lit after a further key; None for other entries, or if not known."""
        rule = self._terminal.fourth_key
        if len(keys) != 4 or rule is None:
            return None
        if rule == "error":
            return frozenset()
        return self._expected(keys[:3] if rule == "ignored" else keys[1:])

    def _watch(
        self,
        made: EnteredKeys,
        stage: Stage,
        since: float,
        *,
        done: Callable[[Sequence[_Look]], bool],
        patient: bool,
        wrong: Callable[[LampSample], frozenset[str]],
    ) -> float:
        """Sense until the lamps are as they should be, or no longer worth waiting for.

        The last samples are kept. Gives the time from `since` (s) to the begin of the last look at
        one path which found the lamps otherwise than they then stayed: so long they surely took,
        however slow this host is. Areas that a look begun after the limit of settling found wrong,
        and that came right, are late. Nothing is left as not right by a limit unless a look begun
        after it found it so.
        """
        settled_by = since + self._terminal.settle_s
        deadline = settled_by
        unsettled_at = since
        late = frozenset[str]()
        latest: dict[int, _Look] = {}
        last_wrong_at: dict[int, float] = {}
        first_right_at: dict[int, float] = {}
        while True:
            for look in self._look_round(again=True):
                before = latest.get(look.path, look)
                if before.sample.lit != look.sample.lit:
                    unsettled_at = max(unsettled_at, before.began)
                if look.began > settled_by:
                    late |= wrong(look.sample)
                if wrong(look.sample):
                    last_wrong_at[look.path] = look.began
                    first_right_at.pop(look.path, None)
                else:
                    first_right_at.setdefault(look.path, look.sample.at)
                latest[look.path] = look
            looks = [look for _, look in sorted(latest.items())]
            if right := done(looks):
                break
            if all(look.began >= deadline for look in looks):
                # Late or never? Watch longer, but not for every result of a faulty table.
                longer = since + self._terminal.patience_s
                if not patient or deadline >= longer or not self._patient_waits_left:
                    break
                deadline = longer
        if not right and deadline > settled_by:
            self._patient_waits_left -= 1
        if right and stage == "lit":
            made.late |= late
            slow = [
                at > settled_by and at - last_wrong_at.get(path, since) > self._terminal.settle_s
                for path, at in first_right_at.items()
            ]
            if all(slow) and not late:
                made.too_slow = frozenset(look.sample.path for look in looks)
        made.lamps.extend(StagedSample(stage, look.sample) for look in looks)
        return max(0.0, unsettled_at - since)

    def _sense(self, made: EnteredKeys, stage: Stage) -> None:
        made.lamps.extend(StagedSample(stage, sample) for sample in self.sense_all())
