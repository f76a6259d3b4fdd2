"""Which trials a campaign makes: each fault alone, healthy rigs in between, then random pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from harness.campaign.catalogue import CATALOGUE
from harness.campaign.fault import Armed, Fault, Inspection
from harness.campaign.needs import lacking
from harness.campaign.trial import Trial
from harness.diagnosis.plan import plan_cover
from harness.observations import Dice
from harness.rig.rigfile import Rig
from harness.rules.books import load_book
from harness.verdicts import ConfigurationError

HEALTHY_EVERY = 12
_SMALLEST_FIRST: tuple[Inspection, ...] = ("minimum", "cover", "full")


@dataclass(frozen=True, slots=True)
class NotObservable:
    """A fault that no rig of the campaign can show, and what each lacks."""

    fault: Fault
    lacks: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Plan:
    """The trials, in order, and the faults that none of these rigs can show."""

    trials: tuple[Trial, ...]
    not_observable: tuple[NotObservable, ...]


def wanted_faults(numbers: Collection[str]) -> tuple[Fault, ...]:
    """Give the faults of these numbers, or all. Raises ConfigurationError for an unknown one."""
    known = {fault.number: fault for fault in CATALOGUE}
    for number in numbers:
        if number not in known:
            raise ConfigurationError(
                "--faults",
                expected=f"numbers of {CATALOGUE[0].number} to {CATALOGUE[-1].number}",
                found=number,
                remedy="see the list of faults",
            )
    return tuple(known[number] for number in numbers) if numbers else CATALOGUE


def plan_trials(
    faults: Iterable[Fault],
    rigs: Mapping[str, Rig],
    books: Mapping[str, str],
    *,
    seeds: int,
    pairs: int,
) -> Plan:
    """Plan a campaign.

    rigs: by name; each fault goes to the first that can show it. books: for each rig the book it
    is run with. seeds: how many draws of each fault's parameters. pairs: how many random pairs.
    """
    trials: list[Trial] = []
    hidden: list[NotObservable] = []
    shown: list[tuple[Fault, str]] = []
    for fault in faults:
        rig = next((name for name, rig in rigs.items() if not lacking(fault, rig)), None)
        if rig is None:
            missing = {name: lacking(fault, each) for name, each in rigs.items()}
            hidden.append(NotObservable(fault, missing))
        else:
            shown.append((fault, rig))
    number = 0
    for fault, rig in shown:
        for seed in range(seeds):
            armed = Armed(fault, fault.draw(_random(fault.number, seed), rigs[rig]))
            inspection = _smallest(armed, books[rig])
            trials.append(Trial(number, rig, books[rig], inspection, (armed,), seed))
            number += 1
    for two, rig, seed in _pairs(shown, rigs, pairs):
        inspection = max((each.fault.inspection for each in two), key=_SMALLEST_FIRST.index)
        trials.append(Trial(number, rig, books[rig], inspection, two, seed))
        number += 1
    return Plan(tuple(_with_healthy(trials, books)), tuple(hidden))


def _smallest(armed: Armed, book_id: str) -> Inspection:
    """Give the smallest inspection that can show a fault: two lamps must differ in some result."""
    a, b = armed.values.get("a", ""), armed.values.get("b", "")
    book = load_book(book_id)
    if armed.fault.inspection != "cover" or not {a, b} <= set(book.areas):
        return armed.fault.inspection
    shown = [book.winning_areas(dice, book.in_force()) for dice in _covering(book_id)]
    return "cover" if any((a in lit) is not (b in lit) for lit in shown) else "full"


@cache
def _covering(book_id: str) -> tuple[Dice, ...]:
    return plan_cover(load_book(book_id)).results


def _random(*what: object) -> Random:
    return Random("/".join(map(str, what)))  # noqa: S311  a draw of faults, no secret


def _pairs(
    shown: Sequence[tuple[Fault, str]], rigs: Mapping[str, Rig], pairs: int
) -> Iterator[tuple[tuple[Armed, Armed], str, int]]:
    """Draw two different faults that one rig can show together."""
    paired = [fault for fault, _ in shown if fault.paired and fault.inspection != "full"]
    made = seed = 0
    while made < pairs and len(paired) > 1:
        random = _random("pair", seed)
        one, other = random.sample(paired, 2)
        rig = next(
            (n for n, r in rigs.items() if not lacking(one, r) and not lacking(other, r)), None
        )
        seed += 1
        if rig is None:
            continue
        made += 1
        armed = (
            Armed(one, one.draw(random, rigs[rig])),
            Armed(other, other.draw(random, rigs[rig])),
        )
        yield armed, rig, seed - 1


def _with_healthy(trials: Sequence[Trial], books: Mapping[str, str]) -> Iterator[Trial]:
    """Put a healthy run before, in between and after."""
    number = len(trials)
    for i, trial in enumerate(trials):
        if i % HEALTHY_EVERY == 0:
            yield Trial(number, trial.rig, books[trial.rig], "cover")
            number += 1
        yield trial
    if trials:
        yield Trial(number, trials[-1].rig, books[trials[-1].rig], "cover")
