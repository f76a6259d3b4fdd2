"""What a table with given causes would have shown, sample by sample, for the entries of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from harness.diagnosis.areamask import AreaMask
from harness.diagnosis.cause import Cause
from harness.diagnosis.facts import RigFacts
from harness.diagnosis.terminal import KeyFault, Terminal, sound
from harness.observations import Dice, Entry, Stage


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
    """The terminal's state at a stage: dice taken as entered now, and those of the last result."""

    entered: Dice | None
    last: Dice | None


Trace = dict[tuple[int, Stage], Shining]


def observed(entries: Sequence[Entry], areas: AreaMask) -> list[Seen]:
    """Flatten the entries' lamp samples, in time order."""
    return [
        Seen(
            i,
            staged.stage,
            staged.sample.path,
            areas.mask(staged.sample.lit),
            areas.all & ~areas.mask(staged.sample.unknown),
        )
        for i, entry in enumerate(entries)
        for staged in entry.lamps
    ]


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


def trace(entries: Sequence[Entry], facts: RigFacts, causes: Sequence[Cause] = ()) -> Trace:
    """Run the entries' presses through the terminal model with the causes that sit at its keys."""
    fourth = next((c.fourth_key for c in causes if c.fourth_key), facts.fourth_key)
    terminal = Terminal(
        replace(facts, fourth_key=fourth),
        _chain([c.key for c in causes if c.key]),
        next((c.held for c in causes if c.held), None),
    )
    out: Trace = {}
    last: Dice | None = None

    def note(i: int, stage: Stage) -> None:
        nonlocal last
        out[i, stage] = Shining(terminal.entered, last)
        if terminal.entered is not None:
            last = terminal.entered

    for i, entry in enumerate(entries):
        keys = _driven(entry, causes)
        note(i, "before")
        for n, key in enumerate(keys):
            terminal.press(key)
            if n == 0:
                note(i, "after-1")
            elif n == 1:
                note(i, "after-2")
        note(i, "lit")
        if entry.cleared_by_key:
            terminal.press("clear")
        note(i, "cleared")
    return out


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
        self.samples = observed(entries, areas)
        self._sound = trace(entries, facts)

    def trace(self, causes: Sequence[Cause]) -> Trace:
        """Give the terminal's states under the causes."""
        at_keys = [c for c in causes if c.at_keys]
        return trace(self.entries, self.facts, at_keys) if at_keys else self._sound

    def lit(self, shining: Shining, causes: Sequence[Cause], path: str) -> int:
        """Give the mask that would be sensed over a path in a terminal state."""

        def commanded(dice: Dice | None) -> int:
            if dice is None:
                return 0
            mask = self.winning(dice)
            for cause in causes:
                if cause.rule is not None:
                    mask = cause.rule(dice, mask)
            return mask

        mask = commanded(shining.entered)
        for cause in causes:
            if cause.lamp is not None and cause.path in (None, path):
                mask = cause.lamp(mask, commanded(shining.last), shining.entered is not None)
        return mask

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
        states = self.trace(causes)
        wild = frozenset[Stage]().union(*(c.wild for c in causes))
        for n, seen in enumerate(self.samples):
            if seen.stage in wild:
                continue
            expected = self.lit(states[seen.entry, seen.stage], causes, seen.path)
            bits = (expected ^ seen.lit) & seen.known
            if bits:
                yield n, bits
