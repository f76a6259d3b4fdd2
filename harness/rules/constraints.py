"""What a procedure is made of: acts, states, constraints, irregularities, stops, inspections.

The file's format and what each kind of constraint means stand in `harness.rules.procedure`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from harness.rules.areas import OptionValue
from harness.rules.timeline import Setup

Kind = Literal["before", "not-behind", "never", "must", "at-least", "agrees"]
Compared = Literal["announced", "entered", "lamps"]
Outcome = Literal["settled", "void", "stopped", "no-result", "incomplete"]
RoundOutcome = Literal["void", "no-result"]
Lasting = Literal["table", "round"]
InspectionDue = Literal["table-open", "shift-start"]

_WORD = re.compile(r"[^\W_]+")

DERIVED = ("digit", "announced", "entered", "lit", "cleared", "at-rest", "flat")
"""Acts that the monitor works out from the events themselves."""


@dataclass(frozen=True, slots=True)
class Act:
    """An event picked by its fields; an empty tuple does not restrict."""

    name: str
    events: tuple[str, ...]
    by: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def matches(self, event: str, data: Mapping[str, object]) -> bool:
        """Tell whether an event is this act."""
        if event not in self.events:
            return False
        if self.by and data.get("by") not in self.by:
            return False
        if self.state and data.get("state") not in self.state:
            return False
        if self.words:
            said = set(_WORD.findall(str(data.get("what", data.get("reason", ""))).casefold()))
            return any(said.issuperset(words.split()) for words in self.words)
        return True


@dataclass(frozen=True, slots=True)
class State:
    """Something that lasts from one act to another, over the table's life or one round."""

    name: str
    on: tuple[str, ...]
    off: tuple[str, ...]
    lasts: Lasting


@dataclass(frozen=True, slots=True)
class Condition:
    """Equipment and options; an empty field does not restrict."""

    shaker: tuple[str, ...] = ()
    cover: tuple[str, ...] = ()
    options: Mapping[str, OptionValue] | None = None

    def holds(self, setup: Setup, options: Mapping[str, OptionValue]) -> bool:
        """Tell whether the table and the options in force are of this condition."""
        return (
            (not self.shaker or setup.shaker in self.shaker)
            and (not self.cover or setup.cover in self.cover)
            and all(options.get(name) == value for name, value in (self.options or {}).items())
        )


def in_force(when: tuple[Condition, ...], setup: Setup, options: Mapping[str, OptionValue]) -> bool:
    """Tell whether one of the conditions holds; no condition always holds."""
    return not when or any(condition.holds(setup, options) for condition in when)


@dataclass(frozen=True, slots=True)
class Rule:
    """One constraint with its guards; the fields are those of the table in this module's text."""

    id: str
    clause: str
    kind: Kind
    says: str
    acts: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    due: tuple[str, ...] = ()
    since: str | None = None
    count: int = 0
    what: Compared | None = None
    ascending: bool = False
    total: bool = False
    when: tuple[Condition, ...] = ()
    after: tuple[str, ...] = ()
    until: tuple[str, ...] = ()
    while_: tuple[str, ...] = ()
    while_not: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    handled_by: tuple[str, ...] = ()
    always: bool = False


@dataclass(frozen=True, slots=True)
class Irregularity:
    """What may go wrong without anybody's breach, and what the book makes of it.

    `clause` is None where the source is silent; then nothing is demanded and nothing barred.
    """

    id: str
    says: str
    clause: str | None
    raised_by: tuple[str, ...]
    breach: tuple[str, ...]
    until: tuple[str, ...]
    outcome: RoundOutcome | None
    answer: str | None
    bars: tuple[str, ...]
    healed_by: tuple[str, ...]
    again: RoundOutcome | None
    when: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Ruling:
    """An announcement that decides a round; afterwards the `bars` breach its clause."""

    id: str
    says: str
    clause: str
    act: str
    outcome: RoundOutcome
    bars: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stop:
    """What stops play until `told` and `mended` have come."""

    id: str
    says: str
    clause: str
    raised_by: tuple[str, ...]
    breach: tuple[str, ...]
    told: str
    mended: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """A record demanded of `people`, `times` over, before the table opens or at a shift's start."""

    id: str
    says: str
    clause: str
    record: str
    people: tuple[str, ...]
    times: int
    due: InspectionDue
    when: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Procedure:
    """A book's procedure. `shakers` are the kinds it has a procedure for."""

    shakers: tuple[str, ...]
    acts: Mapping[str, Act]
    states: tuple[State, ...]
    rules: tuple[Rule, ...]
    irregularities: tuple[Irregularity, ...]
    rulings: tuple[Ruling, ...]
    stops: tuple[Stop, ...]
    inspections: tuple[Inspection, ...]
