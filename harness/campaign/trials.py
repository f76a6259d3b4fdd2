"""Which trials a campaign makes: each fault alone, healthy rigs in between, then random pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from harness.campaign.catalogue import CATALOGUE
from harness.campaign.fault import Armed, Fault, Inspection
from harness.campaign.links import drivers
from harness.campaign.needs import lacking
from harness.campaign.trial import Trial
from harness.diagnosis.plan import plan_cover
from harness.observations import Dice
from harness.rig.sections import Rig
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

    rigs: by name; each fault goes to the first that can show it, its draws one after the other to
    several where that shows more. books: for each rig the book it is run with. seeds: how many
    draws of each fault's parameters. pairs: how many random pairs.
    """
    trials: list[Trial] = []
    hidden: list[NotObservable] = []
    shown: list[Fault] = []
    number = 0
    for fault in faults:
        benches = _benches(fault, rigs)
        if not benches:
            missing = {name: lacking(fault, each) for name, each in rigs.items()}
            hidden.append(NotObservable(fault, missing))
            continue
        shown.append(fault)
        for seed in range(seeds):
            rig = benches[seed % len(benches)]
            values = fault.draw(_random(fault.number, seed), rigs[rig])
            if fault.befalls is not None:
                devices = _shuffled(fault.befalls(rigs[rig]), fault.number)
                device = devices[seed // len(benches) % len(devices)]
                values = {"device": device, **values}
            armed = Armed(fault, values)
            inspection = _smallest(armed, books[rig])
            trials.append(Trial(number, rig, books[rig], inspection, (armed,), seed))
            number += 1
    for two, rig, seed in _pairs(shown, rigs, pairs):
        inspection = max((each.fault.inspection for each in two), key=_SMALLEST_FIRST.index)
        trials.append(Trial(number, rig, books[rig], inspection, two, seed))
        number += 1
    # Slow benches, which mostly wait, and quick ones, which mostly compute, take turns.
    mixed = _random("order").sample(trials, len(trials))
    return Plan(tuple(_with_healthy(mixed, books)), tuple(hidden))


def _benches(fault: Fault, rigs: Mapping[str, Rig]) -> list[str]:
    """Give the rigs that a fault is tried on: the first that can show it.

    A fault of the link goes also to those that can and have devices of other kinds.
    """
    able = [name for name, rig in rigs.items() if not lacking(fault, rig)]
    if fault.befalls is None:
        return able[:1]
    chosen: list[str] = []
    known: set[str] = set()
    for name in able:
        if not drivers(rigs[name]) <= known:
            chosen.append(name)
            known |= drivers(rigs[name])
    return chosen


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


def _shuffled(devices: Sequence[str], number: str) -> list[str]:
    """Give the devices that a fault befalls in the order in which its seeds take them."""
    return _random(number).sample(devices, len(devices))


def _pairs(
    shown: Sequence[Fault], rigs: Mapping[str, Rig], pairs: int
) -> Iterator[tuple[tuple[Armed, Armed], str, int]]:
    """Draw two different faults that one rig can show together."""
    paired = [fault for fault in shown if fault.paired and fault.inspection != "full"]
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
        yield (_armed(one, random, rigs[rig]), _armed(other, random, rigs[rig])), rig, seed - 1


def _armed(fault: Fault, random: Random, rig: Rig) -> Armed:
    values = fault.draw(random, rig)
    if fault.befalls is not None:
        values = {"device": random.choice(fault.befalls(rig)), **values}
    return Armed(fault, values)


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
