"""A rule book's procedure as data: constraints over events, irregularities, stops, inspections.

`procedure.toml` of a book is read here, whole or not at all. Nothing in it is code; the monitor
(`harness.rules.monitor`) interprets it. What a rule speaks of are *acts*:

- every event of the timeline format is an act under its own name;
- `digit` a number key, `announced` three values called, `entered` the third number key of an
  entry, `lit` lamps seen lit (or seen at all once an entry is complete), `cleared` the `clear`
  event or key (until the next complete entry), `at-rest` the dice seen at rest (until they are
  tossed, or tapped because they had no reading), `flat` the same with nothing wrong with them;
- `[acts]` names further ones, picked by `event`, `by` (people), `state` (of the dice) or `words`
  (one of the entries, each of whose words stands in `what` or `reason`).

`[states]` name what lasts: `on` and `off` are the acts that begin and end it, `lasts` is `table`
or `round`.

Constraints (`[[rule]]`, each with `id`, `clause`, `kind`, `says`), all within one round:

| kind | keys | is breached |
|---|---|---|
| `before` | `first`, `then` | by an act of `then` when one of `first` has not come |
| `not-behind` | `acts`, `behind` | by an act's first coming when one of `behind` has come |
| `never` | `acts` | by the act |
| `must` | `acts` | by the round's end, for an act that has not come |
| `at-least` | `acts`, `count`, `since`, `due` | by `due` or the round's end: fewer after `since` |
| `agrees` | `what`, `ascending`, `total` | by what is `announced` or `entered` and is not the
dice's, by `lamps` that are neither the dice's winning areas nor those of the entry |

Guards, on any of them: `when` (a list of equipment and options, one of which must be the table's),
`after` (all have come in this round), `until` (not yet all have come), `while` and `while_not`
(states), `unless` (rules or irregularities already found in this round: one breach is reported
once, under the most specific clause), `always` (holds between rounds too), `handled_by` (acts that
mend the breach if they come before the round is over). For `at-least`, `while` says which acts
count and the other guards say when `due` applies.

`[[irregularity]]`: `raised_by` (acts) or `breach` (rules) say what it is; `until` when it can no
longer arise; `outcome` what becomes of the round; `answer` the act that the book then demands;
`bars` the acts that may not come without the answer; `healed_by` the acts that end it (after the
answer, if one is demanded), `again` the outcome if it is raised once more after the answer.
`[[ruling]]`: an announcement (`act`) that gives the round its `outcome` and `bars` what may not
follow. `[[stop]]`: `raised_by` or `breach`; play stops until `told` and `mended` have come.
`[[inspection]]`: `record` by `people`, `times`, before `due` (`table-open`) or after it and before
the next round (`shift-start`); a record that did not pass bars play until it is made good.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from harness.rules.areas import OptionValue
from harness.rules.constraints import (
    DERIVED,
    Act,
    Compared,
    Condition,
    Inspection,
    InspectionDue,
    Irregularity,
    Kind,
    Lasting,
    Procedure,
    RoundOutcome,
    Rule,
    Ruling,
    State,
    Stop,
    in_force,
)
from harness.rules.strict_toml import Table, read_toml, suggestion
from harness.rules.timeline import EVENTS, CoverKind, DiceState, Person, ShakerKind
from harness.verdicts import InvalidFileError, Problem, as_toml

if TYPE_CHECKING:
    from harness.rules.books import RuleBook

__all__ = ["Inspection", "Procedure", "in_force", "load_procedure", "procedure_of"]


def load_procedure(
    source: Path | Mapping[str, object], clauses: Collection[str] | None = None
) -> Procedure:
    """Read a procedure from its file, or from a mapping of the same shape.

    `clauses` are the tags that may be cited (None: not checked). Raises InvalidFileError with
    every mistake.
    """
    problems: list[Problem] = []
    if isinstance(source, Path):
        named = str(source)
        top = read_toml(source, problems)
    else:
        named = "procedure"
        top = Table(dict(source), "", problems)
    procedure = None if top is None else _Reader(top, clauses).read()
    if problems or procedure is None:
        raise InvalidFileError(named, problems)
    return procedure


def procedure_of(book: RuleBook) -> Procedure:
    """Give a book's procedure, read once; raises InvalidFileError with every mistake."""
    return _read_file(book.folder / "procedure.toml", tuple(clause.tag for clause in book.clauses))


@lru_cache(maxsize=64)
def _read_file(file: Path, tags: tuple[str, ...]) -> Procedure:
    return load_procedure(file, tags)


_KEYS: Mapping[Kind, tuple[str, ...]] = {
    "before": ("first", "then"),
    "not-behind": ("acts", "behind"),
    "never": ("acts",),
    "must": ("acts",),
    "at-least": ("acts", "count", "due"),
    "agrees": ("what",),
}
_OPTIONAL: Mapping[Kind, tuple[str, ...]] = {
    "at-least": ("since",),
    "agrees": ("ascending", "total"),
    "never": ("always",),
}


class _Reader:
    """Reads one procedure; every name used is checked against what the file defines."""

    def __init__(self, top: Table, clauses: Collection[str] | None) -> None:
        self._top = top
        self._clauses = clauses
        self._acts: dict[str, Act] = {}
        self._state_names: set[str] = set()
        self._ids: set[str] = set()
        self._breachable: set[str] = set()

    def read(self) -> Procedure:
        top = self._top
        shakers = top.texts("shakers") or ()
        for shaker in shakers:
            self._known(top, "shakers", shaker, get_args(ShakerKind), "a kind of shaker")
        if top.has("acts"):
            self._read_acts(top)
        states = self._read_states(top) if top.has("states") else ()
        # Rules may name irregularities in `unless` and the other way about: ids come first.
        for key in ("rule", "irregularity"):
            listed = top.raw(key, "a list of tables") if top.has(key) else None
            if isinstance(listed, list):
                self._breachable |= {
                    item["id"]
                    for item in listed
                    if isinstance(item, dict) and isinstance(item.get("id"), str)
                }
        rules = tuple(rule for table in top.tables("rule") if (rule := self._rule(table)))
        procedure = Procedure(
            shakers=shakers,
            acts=self._acts,
            states=states,
            rules=rules,
            irregularities=tuple(self._irregular(table) for table in self._tables("irregularity")),
            rulings=tuple(
                ruling for table in self._tables("ruling") if (ruling := self._ruling(table))
            ),
            stops=tuple(self._stop(table) for table in self._tables("stop")),
            inspections=tuple(
                inspection
                for table in self._tables("inspection")
                if (inspection := self._inspection(table))
            ),
        )
        top.close()
        return procedure

    def _tables(self, key: str) -> list[Table]:
        return list(self._top.tables(key)) if self._top.has(key) else []

    def _known(
        self, table: Table, key: str, word: str, known: Collection[str], expected: str
    ) -> None:
        if word not in known:
            table.refuse(key, expected, repr(word), suggestion(word, sorted(known)))

    def _read_acts(self, top: Table) -> None:
        section = top.table("acts")
        names = top.raw("acts", "a table")
        if section is None or not isinstance(names, dict):
            return
        for name in names:
            table = section.table(name)
            if name in EVENTS or name in DERIVED:
                section.refuse(name, "a name of its own", "the name of an event", "rename it")
            if table is None:
                continue
            events = table.texts("event") or ()
            for event in events:
                self._known(table, "event", event, tuple(EVENTS), "an event of the format")
            by = self._words(table, "by", get_args(Person), "a person of the format")
            state = self._words(table, "state", get_args(DiceState), "a state of the dice")
            words = self._words(table, "words", None, "")
            table.close()
            self._acts[name] = Act(name, events, by, state, tuple(w.casefold() for w in words))

    def _words(
        self, table: Table, key: str, known: Collection[str] | None, expected: str
    ) -> tuple[str, ...]:
        if not table.has(key):
            return ()
        words = table.texts(key) or ()
        for word in words:
            if known is not None:
                self._known(table, key, word, known, expected)
        return words

    def _read_states(self, top: Table) -> tuple[State, ...]:
        section = top.table("states")
        names = top.raw("states", "a table")
        if section is None or not isinstance(names, dict):
            return ()
        states: list[State] = []
        for name in names:
            table = section.table(name)
            if table is None:
                continue
            on, off = self._act_list(table, "on"), self._act_list(table, "off")
            lasts: Lasting | None = table.choice("lasts", get_args(Lasting))
            table.close()
            self._state_names.add(name)
            if lasts:
                states.append(State(name, on, off, lasts))
        return tuple(states)

    def _act_list(self, table: Table, key: str, required: bool = True) -> tuple[str, ...]:
        if not required and not table.has(key):
            return ()
        names = table.texts(key) or ()
        for name in names:
            self._known(
                table, key, name, (*EVENTS, *DERIVED, *self._acts), "an act, derived or defined"
            )
        return names

    def _one_act(self, table: Table, key: str) -> str:
        name = table.text(key) or ""
        if name:
            self._known(
                table, key, name, (*EVENTS, *DERIVED, *self._acts), "an act, derived or defined"
            )
        return name

    def _id_list(self, table: Table, key: str) -> tuple[str, ...]:
        return self._words(table, key, self._breachable, "the id of a rule or an irregularity")

    def _head(self, table: Table) -> tuple[str, str]:
        id_ = table.text("id") or ""
        table.describe(id_)
        if id_ in self._ids:
            table.refuse("id", "each id once", f"{id_!r} again", "rename one")
        self._ids.add(id_)
        return id_, table.text("says") or ""

    def _clause(self, table: Table) -> str:
        tag = table.text("clause") or ""
        if tag and self._clauses is not None:
            self._known(table, "clause", tag, self._clauses, "a tag of clauses.toml")
        return tag

    def _when(self, table: Table) -> tuple[Condition, ...]:
        if not table.has("when"):
            return ()
        conditions: list[Condition] = []
        for item in table.tables("when"):
            options: dict[str, OptionValue] = {}
            if item.has("options"):
                given = item.raw("options", "a table of options")
                if isinstance(given, dict):
                    for name, value in given.items():
                        if isinstance(value, bool | str):
                            options[name] = value
                        else:
                            item.refuse("options", "texts, true or false", as_toml(value))
                else:
                    item.refuse("options", "a table of options", as_toml(given))
            conditions.append(
                Condition(
                    self._words(item, "shaker", get_args(ShakerKind), "a kind of shaker"),
                    self._words(item, "cover", get_args(CoverKind), "a kind of cover"),
                    options,
                )
            )
            item.close()
        return tuple(conditions)

    def _flag(self, table: Table, key: str) -> bool:
        return bool(table.flag(key)) if table.has(key) else False

    def _rule(self, table: Table) -> Rule | None:
        id_, says = self._head(table)
        clause = self._clause(table)
        kind: Kind | None = table.choice("kind", get_args(Kind))
        needed = _KEYS[kind] if kind else ()
        allowed = (*needed, *_OPTIONAL.get(kind, ())) if kind else tuple(_all_keys())
        what: Compared | None = (
            table.choice("what", get_args(Compared)) if "what" in needed else None
        )

        def acts(key: str) -> tuple[str, ...]:
            return self._act_list(table, key) if key in needed else ()

        def flag(key: str) -> bool:
            return self._flag(table, key) if key in allowed else False

        rule = Rule(
            id=id_,
            clause=clause,
            kind=kind or "never",
            says=says,
            acts=acts("acts"),
            first=acts("first"),
            then=acts("then"),
            behind=acts("behind"),
            due=acts("due"),
            since=self._one_act(table, "since")
            if "since" in allowed and table.has("since")
            else None,
            count=(table.whole("count", 1, 1000) or 1) if "count" in needed else 0,
            what=what,
            ascending=flag("ascending"),
            total=flag("total"),
            when=self._when(table),
            after=self._act_list(table, "after", required=False),
            until=self._act_list(table, "until", required=False),
            while_=self._words(table, "while", self._state_names, "a state"),
            while_not=self._words(table, "while_not", self._state_names, "a state"),
            unless=self._id_list(table, "unless"),
            handled_by=self._act_list(table, "handled_by", required=False),
            always=flag("always"),
        )
        if kind is None:
            for key in allowed:
                table.has(key)
        table.close()
        return rule if kind else None

    def _raisers(self, table: Table) -> tuple[tuple[str, ...], tuple[str, ...]]:
        raised_by = self._act_list(table, "raised_by", required=False)
        breach = self._id_list(table, "breach")
        if not raised_by and not breach:
            table.refuse("raised_by", "raised_by, breach or both", "neither", "say what raises it")
        return raised_by, breach

    def _irregular(self, table: Table) -> Irregularity:
        id_, says = self._head(table)
        clause = self._clause(table) if table.has("clause") else None
        raised_by, breach = self._raisers(table)
        outcome: RoundOutcome | None = (
            table.choice("outcome", get_args(RoundOutcome)) if table.has("outcome") else None
        )
        again: RoundOutcome | None = (
            table.choice("again", get_args(RoundOutcome)) if table.has("again") else None
        )
        answer = self._one_act(table, "answer") if table.has("answer") else None
        bars = self._act_list(table, "bars", required=False)
        if clause is None and (answer or bars):
            table.refuse("clause", "the clause that demands or bars", "nothing", "add it")
        item = Irregularity(
            id=id_,
            says=says,
            clause=clause,
            raised_by=raised_by,
            breach=breach,
            until=self._act_list(table, "until", required=False),
            outcome=outcome,
            answer=answer,
            bars=bars,
            healed_by=self._act_list(table, "healed_by", required=False),
            again=again,
            when=self._when(table),
        )
        table.close()
        return item

    def _ruling(self, table: Table) -> Ruling | None:
        id_, says = self._head(table)
        clause = self._clause(table)
        act = self._one_act(table, "act")
        outcome: RoundOutcome | None = table.choice("outcome", get_args(RoundOutcome))
        bars = self._act_list(table, "bars", required=False)
        table.close()
        return Ruling(id_, says, clause, act, outcome, bars) if outcome else None

    def _stop(self, table: Table) -> Stop:
        id_, says = self._head(table)
        clause = self._clause(table)
        raised_by, breach = self._raisers(table)
        told, mended = self._one_act(table, "told"), self._one_act(table, "mended")
        table.close()
        return Stop(id_, says, clause, raised_by, breach, told, mended)

    def _inspection(self, table: Table) -> Inspection | None:
        id_, says = self._head(table)
        clause = self._clause(table)
        record = table.choice("record", ("inspect-terminal", "inspect-shaker-run"))
        people = self._words(table, "people", get_args(Person), "a person of the format")
        times = table.whole("times", 1, 1000)
        due: InspectionDue | None = table.choice("due", get_args(InspectionDue))
        when = self._when(table)
        table.close()
        if not people:
            table.refuse("people", "who inspects", "nobody", "add it")
        if not (record and times and due):
            return None
        return Inspection(id_, says, clause, record, people, times, due, when)


def _all_keys() -> set[str]:
    return {key for keys in (*_KEYS.values(), *_OPTIONAL.values()) for key in keys}
