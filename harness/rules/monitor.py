"""The procedure monitor: events in, deviations out, one event at a time.

It serves a run, a recorded timeline and a live table alike, and interprets a book's procedure
(`harness.rules.procedure`); it knows no jurisdiction. A deviation is given at the event that makes
it certain; one clause is reported once in a round. What was left out counts when the round ends,
or when the next one starts. A timeline that ends within a round leaves nothing out.

A round begins with `round-start`; written twice in a row it is one start. Where that line is
missing, a result that is announced or entered after a call or a toss shows that a round was dealt:
it began with what was done since the last round or inspection.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from harness.rules.areas import OptionValue
from harness.rules.books import RuleBook
from harness.rules.constraints import (
    Irregularity,
    Outcome,
    Rule,
    Ruling,
    in_force,
)
from harness.rules.inspections import InspectionWatch
from harness.rules.procedure import procedure_of
from harness.rules.result import (
    Result,
    derived_acts,
    wrong_announcement,
    wrong_entry,
    wrong_lamps,
)
from harness.rules.stops import StopWatch
from harness.rules.strict_toml import suggestion
from harness.rules.timeline import Event, Setup
from harness.verdicts import ConfigurationError

_CALLS = frozenset({"place-your-bets", "countdown-start", "no-more-bets"})
_TOSSES = frozenset({"shake", "activate"})
_RESULTS = frozenset({"announce", "key", "lamps"})
_OUTSIDE_ROUND = frozenset(
    {
        "shift-start",
        "table-open",
        "inspect-terminal",
        "inspect-shaker-run",
        "fault",
        "inspector-told",
        "fault-rectified",
        "no-result",
    }
)
_PRELUDE_LIMIT = 1000
"""Acts kept between rounds, in case the next round's start was not recorded."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """A breach of the procedure: the clause's tag, what is wrong, and when it became certain.

    `rule` is the id of the constraint in the book's procedure, `lamps` tells that the lamps are
    wrong on a right entry: the table's fault, not a person's.
    """

    clause: str
    what: str
    at: float
    rule: str
    lamps: bool = False

    def to_json(self) -> dict[str, object]:
        """Give the deviation as `rules check` prints it."""
        return {"clause": self.clause, "what": self.what, "at": self.at}


@dataclass(slots=True)
class _Raised:
    """An irregularity of this round."""

    kind: Irregularity
    answered: bool = False
    healed: bool = False
    again: bool = False

    @property
    def open(self) -> bool:
        return not self.healed or self.again


@dataclass(slots=True)
class _Round:
    """One round under way."""

    seen: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    anew: set[str] = field(default_factory=set)
    """Ids of counting rules that start again with the next act they count."""
    found: set[str] = field(default_factory=set)
    """Ids of rules breached and irregularities raised."""
    clauses: set[str] = field(default_factory=set)
    raised: dict[str, _Raised] = field(default_factory=dict)
    pending: list[tuple[Rule, str]] = field(default_factory=list)
    """Breaches that an act may still mend: the rule, and what is wrong."""
    ruling: Ruling | None = None
    result: Result = field(default_factory=Result)

    @property
    def irregular(self) -> bool:
        return any(item.open for item in self.raised.values())


@dataclass(frozen=True, slots=True)
class _Late:
    """A breach that one act may still mend, if that comes right after the round's end."""

    mended_by: tuple[str, ...]
    deviation: Deviation
    stop: StopWatch | None = None


class Monitor:
    """Watches one table under one rule book.

    Raises ConfigurationError if the book has no procedure for the table's kind of shaker.
    """

    def __init__(
        self, book: RuleBook, setup: Setup, options: Mapping[str, object] | None = None
    ) -> None:
        procedure = procedure_of(book)
        if setup.shaker not in procedure.shakers:
            raise ConfigurationError(
                f"rule book {book.id}",
                expected="a shaker it has a procedure for: " + ", ".join(procedure.shakers),
                found=setup.shaker,
                remedy=suggestion(setup.shaker, procedure.shakers),
            )
        self.deviations: list[Deviation] = []
        self._book = book
        self._options: dict[str, OptionValue] = book.in_force(options)
        self._procedure = procedure
        self._by_act = _index(
            rule for rule in procedure.rules if in_force(rule.when, setup, self._options)
        )
        self._musts = [
            rule
            for rule in procedure.rules
            if rule.kind in ("must", "at-least") and in_force(rule.when, setup, self._options)
        ]
        self._irregularities = [
            item for item in procedure.irregularities if in_force(item.when, setup, self._options)
        ]
        self._inspections = [
            InspectionWatch(item)
            for item in procedure.inspections
            if in_force(item.when, setup, self._options)
        ]
        self._stops = [StopWatch(item) for item in procedure.stops]
        self._states = {state.name: False for state in procedure.states}
        self._round: _Round | None = None
        self._ended: Outcome = "incomplete"
        self._late: list[_Late] = []
        self._prelude: deque[Event] = deque(maxlen=_PRELUDE_LIMIT)
        self._states_before_prelude = dict(self._states)
        self._told_between: set[str] = set()
        self._new: list[Deviation] = []

    @property
    def outcome(self) -> Outcome:
        """Tell what the book makes of the last round so far."""
        if any(stop.on for stop in self._stops):
            return "stopped"
        dealing = self._round is not None or any(past.name in _CALLS for past in self._prelude)
        return "incomplete" if dealing else self._ended

    def feed(self, event: Event) -> tuple[Deviation, ...]:
        """Take the next event and give the deviations that it makes certain."""
        self._new = []
        self._settle_late(event)
        if event.name == "round-start":
            if self._round is not None and self._round.seen:
                self._close_round(event.t)
                self._settle_late(event)
            self._begin_round(event.t)
        elif event.name == "round-end":
            if self._round is not None:
                self._close_round(event.t)
            self._forget_prelude()
        elif self._round is not None:
            self._take(event, self._round)
        else:
            self._take_between(event)
        self.deviations += self._new
        return tuple(self._new)

    def finish(self) -> tuple[Deviation, ...]:
        """Take the end of the timeline; gives what only the round after could have mended."""
        self._new = []
        self._settle_late(None)
        self.deviations += self._new
        return tuple(self._new)

    # Rounds

    def _begin_round(self, t: float) -> _Round:
        self._forget_prelude()
        self._round = begun = _Round()
        for state in self._procedure.states:
            if state.lasts == "round":
                self._states[state.name] = False
        watches: list[InspectionWatch | StopWatch] = [*self._inspections, *self._stops]
        for watch in watches:
            wrong = watch.play_begins()
            if wrong:
                kind = watch.kind
                self._breach(begun, Deviation(kind.clause, wrong, t, kind.id))
        return begun

    def _close_round(self, t: float) -> None:
        ending = self._round
        if ending is None:
            return
        # Counts first: too few may be what demands an answer.
        for left_out in ("at-least", "must"):
            if ending.ruling is None and not ending.irregular:
                for rule in self._musts:
                    if rule.kind == left_out:
                        self._check_left_out(ending, rule, t)
        for item in ending.raised.values():
            if item.open and item.kind.answer is not None and not item.answered:
                self._breach_irregular(ending, item, f"left out; the rule: {item.kind.says}", t)
        for rule, what in ending.pending:
            if rule.clause not in ending.clauses:
                ending.clauses.add(rule.clause)
                self._late.append(_Late(rule.handled_by, _against(rule, what, t)))
        for stop in self._stops:
            wrong = stop.round_ends()
            if wrong:
                kind = stop.kind
                deviation = Deviation(kind.clause, wrong, t, kind.id)
                self._late.append(_Late((kind.told,), deviation, stop))
        self._ended = _outcome_of(ending)
        self._round = None
        self._forget_prelude()

    def _check_left_out(self, ending: _Round, rule: Rule, t: float) -> None:
        if not self._applies(rule, ending):
            return
        if rule.kind == "must":
            missing = [act for act in rule.acts if not ending.seen[act]]
            if missing:
                self._breach_rule(
                    ending, rule, f"left out ({', '.join(missing)}); the rule: {rule.says}", t
                )
        elif ending.counts[rule.id] < rule.count:
            self._breach_rule(ending, rule, _too_few(rule, ending.counts[rule.id]), t)

    def _settle_late(self, event: Event | None) -> None:
        if not self._late:
            return
        acts = () if event is None else self._acts_outside(event)
        for late in self._late:
            if not any(act in late.mended_by for act in acts):
                self._new.append(late.deviation)
                if late.stop is not None:
                    late.stop.blamed = True
        self._late = []

    # Between rounds

    def _take_between(self, event: Event) -> None:
        if event.name in _OUTSIDE_ROUND:
            if event.name not in ("fault", "inspector-told", "fault-rectified", "no-result"):
                self._forget_prelude()
            self._inspect(event)
            self._update_stops(None, self._acts_outside(event), event.t)
            return
        if event.name in _RESULTS and self._dealt_unrecorded(event.name):
            earlier, told = list(self._prelude), set(self._told_between)
            self._states.update(self._states_before_prelude)
            begun = self._begin_round(event.t)
            begun.clauses |= told
            for past in (*earlier, event):
                self._take(past, begun)
            return
        acts = self._acts_outside(event)
        for rule in self._listening(acts):
            if rule.always and self._states_hold(rule) and rule.clause not in self._told_between:
                self._told_between.add(rule.clause)
                self._new.append(_against(rule, f"{event.name}; the rule: {rule.says}", event.t))
        self._update_states(acts)
        self._prelude.append(event)

    def _dealt_unrecorded(self, name: str) -> bool:
        """Tell whether a result belongs to a round whose start was not recorded."""
        done = {earlier.name for earlier in self._prelude}
        return bool(done & _CALLS) or (name == "announce" and bool(done & _TOSSES))

    def _forget_prelude(self) -> None:
        self._prelude.clear()
        self._told_between.clear()
        self._states_before_prelude = {
            state.name: self._states[state.name]
            for state in self._procedure.states
            if state.lasts == "table"
        }

    def _inspect(self, event: Event) -> None:
        for watch in self._inspections:
            wrong = watch.take(event)
            if wrong:
                kind = watch.kind
                self._breach(self._round, Deviation(kind.clause, wrong, event.t, kind.id))

    # One event within a round

    def _take(self, event: Event, current: _Round) -> None:
        if event.name in _OUTSIDE_ROUND:
            self._inspect(event)
        acts = self._acts(event, current)
        for rule in self._listening(acts):
            if current.ruling is None or rule.always:
                self._evaluate(rule, acts, current, event)
        if current.ruling is None:
            self._raise(acts, current, event.t)
        self._rule(acts, current, event.t)
        self._update_stops(current, acts, event.t)
        current.pending = [
            (rule, what)
            for rule, what in current.pending
            if not any(act in rule.handled_by for act in acts)
        ]
        self._update_states(acts)
        for act in acts:
            current.seen[act] += 1

    def _listening(self, acts: Sequence[str]) -> list[Rule]:
        heard = {place: rule for act in acts for place, rule in self._by_act.get(act, ())}
        return [heard[place] for place in sorted(heard)]

    def _applies(self, rule: Rule, current: _Round) -> bool:
        seen = current.seen
        return (
            all(seen[act] for act in rule.after)
            and not (rule.until and all(seen[act] for act in rule.until))
            and not any(id_ in current.found for id_ in rule.unless)
        )

    def _states_hold(self, rule: Rule) -> bool:
        return all(self._states[name] for name in rule.while_) and not any(
            self._states[name] for name in rule.while_not
        )

    def _evaluate(self, rule: Rule, acts: Sequence[str], current: _Round, event: Event) -> None:
        t, seen = event.t, current.seen
        if rule.kind == "at-least":
            if rule.since in acts and not (rule.while_ and self._states_hold(rule)):
                current.anew.add(rule.id)
            count = current.counts[rule.id]
            if any(act in rule.due for act in acts) and count < rule.count:
                if self._applies(rule, current):
                    self._breach_rule(current, rule, _too_few(rule, count), t)
            elif any(act in rule.acts for act in acts) and self._states_hold(rule):
                current.counts[rule.id] = 1 if rule.id in current.anew else count + 1
                current.anew.discard(rule.id)
            return
        if not (self._applies(rule, current) and self._states_hold(rule)):
            return
        if rule.kind == "before":
            missing = [act for act in rule.first if not seen[act]]
            if missing:
                self._breach_rule(
                    current,
                    rule,
                    f"{event.name} before {', '.join(missing)}; the rule: {rule.says}",
                    t,
                )
        elif rule.kind == "not-behind":
            if any(not seen[act] for act in acts if act in rule.acts):
                passed = [act for act in rule.behind if seen[act]]
                if passed:
                    self._breach_rule(
                        current,
                        rule,
                        f"{event.name} after {', '.join(passed)}; the rule: {rule.says}",
                        t,
                    )
        elif rule.kind == "never":
            self._breach_rule(current, rule, f"{event.name}; the rule: {rule.says}", t)
        elif rule.kind == "agrees":
            wrong = self._disagreement(rule, acts, current.result, event)
            if wrong:
                self._breach_rule(current, rule, f"{wrong}; the rule: {rule.says}", t)

    def _disagreement(
        self, rule: Rule, acts: Sequence[str], result: Result, event: Event
    ) -> str | None:
        book, options = self._book, self._options
        if rule.what == "announced":
            return wrong_announcement(rule, acts, result)
        if rule.what == "entered":
            return wrong_entry(result)
        if "lit" not in acts:
            return None
        return wrong_lamps(result, event, lambda dice: book.winning_areas(dice, options))

    # Irregularities, rulings, stops

    def _raise(self, acts: Sequence[str], current: _Round, t: float) -> None:
        for kind in self._irregularities:
            item = current.raised.get(kind.id)
            raising = any(act in kind.raised_by for act in acts)
            if item is None:
                over = kind.until and all(current.seen[act] for act in kind.until)
                if raising and not over:
                    current.raised[kind.id] = _Raised(kind)
                    current.found.add(kind.id)
                continue
            if raising and item.answered:
                item.again = True
            elif raising:
                item.healed = False
            if kind.answer in acts:
                item.answered = True
            if any(act in kind.healed_by for act in acts) and (
                kind.answer is None or item.answered
            ):
                item.healed, item.again = True, False
            barred = [act for act in acts if act in kind.bars]
            if barred and item.open and (not item.answered or item.again):
                self._breach_irregular(current, item, f"{barred[0]} came; the rule: {kind.says}", t)

    def _breach_irregular(self, current: _Round, item: _Raised, what: str, t: float) -> None:
        # One omitted answer is one breach, whatever else would have demanded it too.
        clause = item.kind.clause
        others = {other.kind.clause for other in current.raised.values()}
        if clause is not None and not (item.kind.answer and others & current.clauses):
            self._breach(current, Deviation(clause, what, t, item.kind.id))

    def _rule(self, acts: Sequence[str], current: _Round, t: float) -> None:
        if current.ruling is not None:
            ruling = current.ruling
            barred = [act for act in acts if act in ruling.bars]
            if barred:
                what = f"{barred[0]} came; the rule: {ruling.says}"
                self._breach(current, Deviation(ruling.clause, what, t, ruling.id))
            return
        current.ruling = next(
            (ruling for ruling in self._procedure.rulings if ruling.act in acts), None
        )

    def _update_stops(self, current: _Round | None, acts: Sequence[str], t: float) -> None:
        for stop in self._stops:
            wrong = stop.take(acts)
            if wrong:
                self._breach(current, Deviation(stop.kind.clause, wrong, t, stop.kind.id))

    # Breaches

    def _breach_rule(self, current: _Round, rule: Rule, what: str, t: float) -> None:
        current.found.add(rule.id)
        for kind in self._irregularities:
            over = kind.until and all(current.seen[act] for act in kind.until)
            if rule.id in kind.breach and kind.id not in current.raised and not over:
                current.raised[kind.id] = _Raised(kind)
                current.found.add(kind.id)
        known = False
        for stop in self._stops:
            if rule.id in stop.kind.breach:
                known = known or stop.known
                stop.raise_by_breach()
        if not rule.handled_by:
            self._breach(current, _against(rule, what, t))
        elif not known and not any(current.seen[act] for act in rule.handled_by):
            current.pending.append((rule, what))

    def _breach(self, current: _Round | None, deviation: Deviation) -> None:
        if current is not None:
            if deviation.clause in current.clauses:
                return
            current.clauses.add(deviation.clause)
        self._new.append(deviation)

    # Acts

    def _acts_outside(self, event: Event) -> tuple[str, ...]:
        return (
            event.name,
            *(
                act.name
                for act in self._procedure.acts.values()
                if act.matches(event.name, event.data)
            ),
        )

    def _acts(self, event: Event, current: _Round) -> tuple[str, ...]:
        acts = [*self._acts_outside(event), *derived_acts(event, current.result)]
        if "entered" in acts:
            current.seen["cleared"] = 0
        if event.name in ("shake", "activate") or (
            event.name == "tap" and current.result.unreadable
        ):
            current.seen["at-rest"] = 0
            current.result.rest = None
            current.result.unreadable = False
        return tuple(acts)

    def _update_states(self, acts: Iterable[str]) -> None:
        for state in self._procedure.states:
            for act in acts:
                if act in state.on:
                    self._states[state.name] = True
                elif act in state.off:
                    self._states[state.name] = False


def _index(rules: Iterable[Rule]) -> dict[str, list[tuple[int, Rule]]]:
    """Give the rules to ask at each act, with their places: the book's order is kept."""
    listening: dict[str, list[tuple[int, Rule]]] = {}
    for place, rule in enumerate(rules):
        heard: set[str] = set()
        if rule.kind == "before":
            heard = set(rule.then)
        elif rule.kind in ("not-behind", "never"):
            heard = set(rule.acts)
        elif rule.kind == "at-least":
            heard = {*rule.acts, *rule.due, *((rule.since,) if rule.since else ())}
        elif rule.kind == "agrees":
            heard = {"announced", "digit", "at-rest"} if rule.what != "lamps" else {"lit"}
        for act in heard:
            listening.setdefault(act, []).append((place, rule))
    return listening


def _outcome_of(ended: _Round) -> Outcome:
    if ended.ruling is not None:
        return ended.ruling.outcome
    outcomes = [
        item.kind.again if item.again else item.kind.outcome
        for item in ended.raised.values()
        if item.open
    ]
    if "void" in outcomes:
        return "void"
    # Values that nobody read may be keyed and paid all the same: the dice have no reading.
    unread = None in outcomes and (ended.result.rest is None or not ended.seen["entered"])
    return "no-result" if unread or "no-result" in outcomes else "settled"


def _against(rule: Rule, what: str, t: float) -> Deviation:
    return Deviation(rule.clause, what, t, rule.id, lamps=rule.what == "lamps")


def _too_few(rule: Rule, count: int) -> str:
    return f"{count} times instead of {rule.count} or more; the rule: {rule.says}"
