"""What a table with given causes would have shown, sample by sample, for the entries of a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from harness.diagnosis.areamask import AreaMask
from harness.diagnosis.cause import Cause
from harness.diagnosis.facts import RigFacts
from harness.diagnosis.layout import ASCENDING
from harness.diagnosis.terminal import DIGITS, KeyFault, Terminal, sound
from harness.observations import Dice, Entry, LampSample, Stage


@dataclass(frozen=True, slots=True)
class Seen:
    """One lamp sample as masks: what was lit, and which bits could be sensed at all."""

    entry: int
    stage: Stage
    path: str
    lit: int
    known: int


@dataclass(frozen=True, slots=True)
class Shining:
    """The terminal's state at a stage: the dice entered now, and those of the result before."""

    entered: Dice | None
    last: Dice | None


_EARLY_STAGES: tuple[Stage, ...] = ("after-1", "after-2", "after-3")
_STAGE_BEFORE: dict[Stage, Stage] = {
    "after-1": "before",
    "after-2": "after-1",
    "after-3": "after-2",
}
_PRESSES: dict[Stage, int] = {
    "before": 0,
    "after-1": 1,
    "after-2": 2,
    "after-3": 3,
    "lit": 3,
    "cleared": 4,
}
"""Presses of an entry made before each stage; that of an entry key counts with the last key's."""
LAST_KEY, CLEAR_KEY = _PRESSES["after-2"], _PRESSES["lit"]
LIT, CLEARED = _PRESSES["lit"], _PRESSES["cleared"]
Trace = dict[tuple[int, Stage], Shining]


def observed(entries: Sequence[Entry], areas: AreaMask, facts: RigFacts) -> list[Seen]:
    """Flatten the entries' lamp samples, in time order.

    Of an area that was seen to flicker no sample says anything.
    """
    dim = None
    if facts.lamp_level_min is not None and facts.dark_level_max is not None:
        dim = (facts.dark_level_max, facts.lamp_level_min)
    flickering = frozenset[str]().union(
        *(staged.sample.flicker for entry in entries for staged in entry.lamps)
    )
    return [
        Seen(
            i,
            staged.stage,
            staged.sample.path,
            areas.mask(staged.sample.lit),
            areas.all
            & ~areas.mask(flickering | staged.sample.unknown | _undecided(staged.sample, dim)),
        )
        for i, entry in enumerate(entries)
        for staged in entry.lamps
    ]


def _undecided(sample: LampSample, dim: tuple[float, float] | None) -> frozenset[str]:
    """Give the areas whose one reading says nothing: those have a finding of their own.

    dim: the levels between which a lamp is neither dark nor good.
    """
    levels = sample.levels or {}
    low, high = dim or (0.0, 0.0)
    return sample.split | {area for area, level in levels.items() if low < level < high}


def _chain(faults: Sequence[KeyFault]) -> KeyFault:
    def through(key: str) -> tuple[str, ...]:
        keys: tuple[str, ...] = (key,)
        for fault in faults:
            keys = tuple(out for arriving in keys for out in fault(arriving))
        return keys

    return through if faults else sound


def _driven(entry: Entry, causes: Sequence[Cause]) -> tuple[str, ...]:
    """Give the keys as a hand pressed them: a slip replaces the digits while its dice lie there."""
    for cause in causes:
        if (
            cause.slip is not None
            and entry.shown is not None
            and tuple(sorted(entry.shown)) == cause.slip.shown
            and tuple(sorted(k for k in entry.keyed if k.isdigit()))
            == tuple(str(v) for v in cause.slip.shown)
        ):
            return (*map(str, cause.slip.entered), *(k for k in entry.keyed if not k.isdigit()))
    return entry.keyed


def committing(entry: Entry, facts: RigFacts) -> tuple[str, ...]:
    """Give the key that is driven after those of an entry, where the terminal has an entry key."""
    return ("enter",) if facts.commit == "entry-key" and entry.keyed else ()


def terminal_with(
    facts: RigFacts, causes: Sequence[Cause], left_over: Dice | None = None
) -> Terminal:
    """Give a terminal with the causes that sit at its keys.

    left_over: a result that it still holds from before the first entry.
    """
    fourth = next((c.fourth_key for c in causes if c.fourth_key), facts.fourth_key)
    slow = next((c for c in causes if c.slow), None)
    return Terminal(
        replace(facts, fourth_key=fourth),
        _chain([c.key for c in causes if c.key]),
        next((c.held for c in causes if c.held), None),
        [] if left_over is None else [str(value) for value in left_over],
        left_over,
        fresh=left_over is None,
        slow=frozenset() if slow is None else slow.slow,
        deaf_to=1 if slow is None else slow.deaf_to,
    )


def trace(
    entries: Sequence[Entry],
    facts: RigFacts,
    causes: Sequence[Cause] = (),
    left_over: Dice | None = None,
    before: Dice | None = None,
) -> Trace:
    """Run the entries' presses through the terminal model with the causes that sit at its keys.

    left_over: a result that the terminal still holds from before the first entry. before: one that
    was entered, and cleared, before it.
    """
    terminal = terminal_with(facts, [c for c in causes if c.since is None], left_over)
    later = {c.since for c in causes if c.since is not None}
    forgets_after_s = next((c.forgets_after_s for c in causes if c.forgets_after_s), math.inf)
    out: Trace = {}
    held, last = None, before

    def press(i: int, presses: int, key: str) -> None:
        nonlocal terminal
        if (i, presses) in later:
            later.remove((i, presses))
            terminal = terminal.turned(terminal_with(facts, causes))
        terminal.press(key)

    def note(i: int, stage: Stage) -> None:
        nonlocal held, last
        if held is not None and held != terminal.entered:
            last = held
        held = terminal.entered
        out[i, stage] = Shining(held, last)

    pressed_last = math.inf
    for i, entry in enumerate(entries):
        keys = _driven(entry, causes)
        if entry.pressed_at and entry.pressed_at[0] - pressed_last > forgets_after_s:
            terminal.forget()
        pressed_last = entry.pressed_at[-1] if entry.pressed_at else math.inf
        note(i, "before")
        late = _late_keys(entry, forgets_after_s)
        for n, key in enumerate((*keys, *committing(entry, facts))):
            if n in late:
                terminal.forget()
            press(i, min(n, LAST_KEY), key)
            if n < min(len(keys), len(_EARLY_STAGES)):
                note(i, _EARLY_STAGES[n])
        note(i, "lit")
        if entry.cleared_by_key:
            press(i, CLEAR_KEY, "clear")
        note(i, "cleared")
    return out


def _late_keys(entry: Entry, after_s: float) -> set[int]:
    """Give which presses of an entry (from 0) came later than this after the one before."""
    if after_s == math.inf:
        return set()
    at = entry.pressed_at
    return {n for n in range(1, len(at)) if at[n] - at[n - 1] > after_s}


@dataclass(frozen=True, slots=True)
class Way:
    """One way an erratic key may have gone so far: where the terminal stands. No lamp fault is
    weighed together with such a key, so the result before does not matter.

    `before`: the result it held before the last key was driven.
    """

    terminal: Terminal
    before: Dice | None = None

    def __hash__(self) -> int:
        return hash((tuple(self.terminal.typed), self.terminal.entered, self.before))

    @property
    def earlier(self) -> Shining:
        """Give the terminal's state before the last key."""
        return Shining(self.before, None)

    @property
    def shining(self) -> Shining:
        """Give the terminal's state."""
        return Shining(self.terminal.entered, None)

    def pressed(self, key: str | None, erratic: Cause) -> set[Way]:
        """Give the ways it may go on when a key is driven (None: nothing is)."""
        if key is None:
            ways = {self}
        elif key == erratic.unreliable:
            ways = {self._taking([key] * times) for times in range(3)}
        elif key == erratic.misreads:
            ways = {self._taking([digit]) for digit in DIGITS}
        elif key == erratic.loose:  # closed already, perhaps: then there is no edge
            ways = {self, self._taking([key])}
        else:
            ways = {self._taking([key])}
        if erratic.loose is not None:
            more = range(4)
            ways = {way._taking([erratic.loose] * times) for way in ways for times in more}
        held = self.terminal.entered
        return {Way(way.terminal, held) for way in ways}

    def _taking(self, keys: Sequence[str]) -> Way:
        terminal = self.terminal.copy()
        for key in keys:
            terminal.press(key)
        return Way(terminal)


def steps(entry: Entry, facts: RigFacts) -> Iterator[tuple[Stage | None, str | None]]:
    """Give what was driven in an entry, each with the stage at which the lamps were sensed next."""
    yield "before", None
    keys = entry.keyed
    for n, key in enumerate(keys):
        yield _EARLY_STAGES[n] if n < len(_EARLY_STAGES) else None, key
    for key in committing(entry, facts):
        yield None, key
    yield "lit", None
    yield "cleared", "clear" if entry.cleared_by_key else None


class Prediction:
    """Predicts samples under sets of causes; most share one run of the sound terminal."""

    def __init__(
        self,
        entries: Sequence[Entry],
        facts: RigFacts,
        areas: AreaMask,
        winning: Callable[[Dice], int],
    ) -> None:
        self.entries = entries
        self.facts = facts
        self.areas = areas
        self.winning = winning
        self.samples = observed(entries, areas, facts)
        self._numbers: dict[tuple[int, Stage], list[int]] = {}
        for n, seen in enumerate(self.samples):
            self._numbers.setdefault((seen.entry, seen.stage), []).append(n)
        self.left_over = self._left_over()
        self.before = self.left_over or self._before()
        # Without a clear key a sound terminal, too, holds what was entered last before the run.
        stands = self.left_over if facts.clear == "unspecified" else None
        self._sound = trace(entries, facts, left_over=stands, before=self.before)

    def of_entries(self, first: int, end: int) -> Prediction:
        """Give the prediction of some entries alone, as if the run had begun with them."""
        return Prediction(self.entries[first:end], self.facts, self.areas, self.winning)

    def trace(self, causes: Sequence[Cause]) -> Trace:
        """Give the terminal's states under the causes."""
        at_keys = [c for c in causes if c.at_keys]
        if not at_keys:
            return self._sound
        return trace(self.entries, self.facts, at_keys, self.left_over, self.before)

    def _left_over(self) -> Dice | None:
        """Give the result that was lit before the first entry began, if the lamps show just one.

        That is what was entered before the run. Where there is a clear key, only a fault at the
        keys lets it stand there.
        """
        lit = self._lit_before()
        return next((dice for dice in ASCENDING if lit and self.winning(dice) == lit), None)

    def _before(self) -> Dice | None:
        """Give a result that may have been entered before the run and left what was lit then.

        Nobody knows which it was; any that lights those lamps does for what stays lit of a result.
        """
        lit = self._lit_before()
        return next((dice for dice in ASCENDING if lit and not lit & ~self.winning(dice)), None)

    def _lit_before(self) -> int:
        first = next((seen for seen in self.samples if seen.stage == "before"), None)
        return 0 if first is None or first.entry != 0 else first.lit

    def commanded(self, dice: Dice | None, causes: Sequence[Cause]) -> int:
        """Give the mask that the table's logic would light, with the causes at its rules."""
        if dice is None:
            return 0
        mask = self.winning(dice)
        for cause in causes:
            if cause.rule is not None:
                mask = cause.rule(dice, mask)
        return mask

    def lit(self, shining: Shining, causes: Sequence[Cause], path: str) -> int:
        """Give the mask that would be sensed over a path in a terminal state."""
        mask = self.commanded(shining.entered, causes)
        for cause in causes:
            if cause.lamp is not None and cause.path in (None, path):
                last = self.commanded(shining.last, causes)
                mask = cause.lamp(mask, last, shining.entered is not None)
        return mask

    def borne_out(self, cause: Cause, causes: Sequence[Cause]) -> set[tuple[str, ...]]:
        """Give what was entered (keys, in any order) where one of several causes changes a sample.

        For a cause at the keys that is what was driven, for others what the terminal then held.
        """
        others = [each for each in causes if each is not cause]
        with_it, without = self.trace(causes), self.trace(others)
        found: set[tuple[str, ...]] = set()
        for seen in self.samples:
            at = (seen.entry, seen.stage)
            differ = self.lit(with_it[at], causes, seen.path) ^ self.lit(
                without[at], others, seen.path
            )
            if not differ & seen.known:
                continue
            held = with_it[at].entered or with_it[at].last
            if cause.at_keys or held is None:
                found.add(tuple(sorted(self.entries[seen.entry].keyed)))
            else:
                found.add(tuple(sorted(map(str, held))))
        return found

    def mismatches(self, causes: Sequence[Cause], limit: int | None = None) -> list[int]:
        """Give the numbers of the samples that the causes do not explain (at most `limit`)."""
        wrong: list[int] = []
        for n, _ in self._wrong_bits(causes):
            wrong.append(n)
            if limit is not None and len(wrong) >= limit:
                break
        return wrong

    def error(self, causes: Sequence[Cause], limit: int) -> int:
        """Count the lamps, over all samples, that the causes do not explain (at most `limit`)."""
        total = 0
        for _, bits in self._wrong_bits(causes):
            total += bits.bit_count()
            if total >= limit:
                break
        return total

    def _wrong_bits(self, causes: Sequence[Cause]) -> Iterator[tuple[int, int]]:
        erratic = next((c for c in causes if c.erratic), None)
        if erratic is not None:
            yield from self._erratic_bits(erratic, causes)
            return
        states = self.trace(causes)
        wild = frozenset[Stage]().union(*(c.wild for c in causes))
        for n, seen in enumerate(self.samples):
            if seen.stage in wild:
                continue
            bits = self._off(n, states[seen.entry, seen.stage], causes)
            before = _STAGE_BEFORE.get(seen.stage)
            if bits and before is not None:
                # looked right after a press: the lamps may not have followed yet
                earlier = states.get((seen.entry, before))
                if earlier is not None and not self._off(n, earlier, causes):
                    continue
            if bits:
                yield n, bits

    def _off(self, number: int, state: Shining, causes: Sequence[Cause]) -> int:
        seen = self.samples[number]
        known = seen.known
        if any(cause.since is not None for cause in causes):
            now = (seen.entry, _PRESSES[seen.stage])
            causes = [cause for cause in causes if cause.since is None or cause.since <= now]
        for cause in causes:
            if cause.ignored and cause.path in (None, seen.path):
                known &= ~cause.ignored
        return (self.lit(state, causes, seen.path) ^ seen.lit) & known

    def _off_way(self, number: int, way: Way, causes: Sequence[Cause], *, hurried: bool) -> int:
        """Give what one way leaves unexplained; a hurried look may still show the state before."""
        bits = self._off(number, way.shining, causes)
        if bits and hurried and not self._off(number, way.earlier, causes):
            return 0
        return bits

    def _erratic_bits(self, erratic: Cause, causes: Sequence[Cause]) -> Iterator[tuple[int, int]]:
        """Follow every way the presses may have gone; keep those that fit what was seen."""
        ways = {Way(terminal_with(self.facts, causes, self.left_over))}
        for i, entry in enumerate(self.entries):
            for stage, key in steps(entry, self.facts):
                ways = {after for way in ways for after in way.pressed(key, erratic)}
                numbers = self._numbers.get((i, stage), ()) if stage is not None else ()
                if not numbers:
                    continue
                hurried = stage in _STAGE_BEFORE
                scored = [
                    ([(n, self._off_way(n, way, causes, hurried=hurried)) for n in numbers], way)
                    for way in ways
                ]
                least = min(sum(b.bit_count() for _, b in bits) for bits, _ in scored)
                fitting = [s for s in scored if sum(b.bit_count() for _, b in s[0]) == least]
                yield from ((n, bits) for n, bits in fitting[0][0] if bits)
                ways = {way for _, way in fitting}
