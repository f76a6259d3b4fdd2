"""Events of a table's life in time order: what a run emits, a record holds and a monitor judges.

A recorded timeline is a file of JSON lines: first the setup, then one event a line. It is read
strictly: a file with a mistake is refused whole, with every mistake and its line.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from harness.rules.strict_toml import suggestion
from harness.verdicts import ConfigurationError, InvalidFileError, Problem

ShakerKind = Literal["manual", "automated", "player-activated", "tumbler", "puncher"]
CoverKind = Literal["opaque", "none"]
Person = Literal[
    "dealer", "player", "floorperson", "casino-supervisor", "game-supervisor", "inspector"
]
DiceState = Literal["leaning", "stacked", "missing", "extra", "broken"]


@dataclass(frozen=True, slots=True)
class Setup:
    """Which equipment variant the timeline is of; the cover is off at its start."""

    shaker: ShakerKind
    cover: CoverKind


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: `t` in seconds, its name and its fields (`by`, `values`, ...).

    Names and fields are those of the timeline format; `data` holds the fields as JSON values.
    """

    t: float
    name: str
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Timeline:
    """A recorded timeline: the equipment, and what happened in time order."""

    setup: Setup
    events: tuple[Event, ...]


def read_timeline(path: Path, areas: Collection[str] | None = None) -> Timeline:
    """Read a recorded timeline from a file, or from standard input if the path is `-`.

    `areas` are the areas that `wager` and `lamps` may name (None: any text). Raises
    InvalidFileError with every bad line, ConfigurationError if the file cannot be read.
    """
    named = "standard input" if str(path) == "-" else str(path)
    try:
        raw = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise ConfigurationError(
            named,
            expected="a timeline that can be read",
            found=error.strerror or type(error).__name__,
            remedy="name a file of JSON lines",
        ) from error
    return parse_timeline(raw, named, areas)


def parse_timeline(raw: bytes, named: str, areas: Collection[str] | None = None) -> Timeline:
    """Parse the bytes of a recorded timeline; `named` is what a refusal calls them."""
    lines = raw.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    problems: list[Problem] = []
    setup: Setup | None = None
    if not lines:
        problems.append(
            Problem("line 1", "the setup", "an empty file", 'begin with {"setup": {…}}')
        )
    events: list[Event] = []
    latest = 0.0
    for number, line in enumerate(lines, start=1):
        where = f"line {number}"
        record = _record(line, where, problems)
        if record is None:
            continue
        if number == 1:
            setup = _setup(record, where, problems)
            continue
        event = _event(record, where, areas, problems)
        if event is None:
            continue
        if event.t < latest:
            problems.append(
                Problem(f"{where}, t", f"{latest:g} or later", f"{event.t:g}", "order the events")
            )
        latest = max(latest, event.t)
        events.append(event)
    if problems or setup is None:
        raise InvalidFileError(named, problems)
    return Timeline(setup, tuple(events))


def _record(line: bytes, where: str, problems: list[Problem]) -> dict[str, object] | None:
    expected = "one JSON object"
    try:
        record = json.loads(
            line.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as error:
        found = str(error) if line.strip() else "an empty line"
        problems.append(Problem(where, expected, found))
        return None
    if not isinstance(record, dict):
        problems.append(Problem(where, expected, json.dumps(record)[:60]))
        return None
    return record


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a field given twice")
    return record


def _no_constant(word: str) -> object:
    raise ValueError(f"{word}, which is not JSON")


def _setup(record: Mapping[str, object], where: str, problems: list[Problem]) -> Setup | None:
    body = record.get("setup")
    if set(record) != {"setup"} or not isinstance(body, dict):
        problems.append(
            Problem(
                where,
                'the setup alone: {"setup": {"shaker": …, "cover": …}}',
                json.dumps(record)[:60],
                "begin the file with it",
            )
        )
        return None
    chosen: dict[str, str | None] = {}
    for key, words in (("shaker", get_args(ShakerKind)), ("cover", get_args(CoverKind))):
        chosen[key] = next((word for word in words if body.get(key) == word), None)
        if chosen[key] is None:
            found = json.dumps(body[key]) if key in body else "nothing"
            problems.append(
                Problem(f"{where}, setup.{key}", "one of " + ", ".join(words), found[:60])
            )
    problems.extend(_strangers(body, ("shaker", "cover"), where, "setup."))
    shaker = next((word for word in get_args(ShakerKind) if word == chosen["shaker"]), None)
    cover = next((word for word in get_args(CoverKind) if word == chosen["cover"]), None)
    return Setup(shaker, cover) if shaker and cover else None


def _strangers(
    given: Iterable[str], known: Collection[str], where: str, path: str = ""
) -> list[Problem]:
    return [
        Problem(
            f"{where}, {path}{name}", "no such field", repr(name), suggestion(name, sorted(known))
        )
        for name in given
        if name not in known
    ]


Check = Callable[[object], bool]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_face(value: object) -> bool:
    return type(value) is int and 1 <= value <= 6


def _is_faces(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_face(face) for face in value)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(_is_text(item) for item in value)


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of an event: what it must be, in words and as a check."""

    expected: str
    holds: Check
    required: bool = True


def _one_of(words: Collection[str]) -> _Field:
    return _Field("one of " + ", ".join(words), lambda value: value in tuple(words))


_BY = _one_of(get_args(Person))
_PASSED = _Field("true or false", lambda value: isinstance(value, bool))
_TEXT = _Field("a text", _is_text)

EVENTS: Mapping[str, Mapping[str, _Field]] = {
    "shift-start": {},
    "table-open": {},
    "inspect-terminal": {"by": _BY, "passed": _PASSED},
    "inspect-shaker-run": {"by": _BY, "passed": _PASSED},
    "round-start": {},
    "place-your-bets": {},
    "countdown-start": {},
    "countdown-end": {},
    "wager": {"area": _TEXT},
    "no-more-bets": {},
    "hand-motion": {},
    "cover-on": {},
    "cover-off": {},
    "shake": {},
    "activate": {"by": _BY},
    "dice-at-rest": {
        "values": _Field(
            "three faces from 1 to 6",
            lambda value: _is_faces(value) and isinstance(value, list) and len(value) == 3,
            required=False,
        ),
        "state": _Field(
            "one of " + ", ".join(get_args(DiceState)),
            lambda value: value in get_args(DiceState),
            required=False,
        ),
    },
    "announce": {
        "values": _Field("faces from 1 to 6, as they were called", _is_faces),
        "total": _Field("a whole number", lambda value: type(value) is int, required=False),
    },
    "key": {
        "value": _Field(
            "1 to 6, enter or clear", lambda value: _is_face(value) or value in ("enter", "clear")
        )
    },
    "lamps": {"lit": _Field("a list of areas", _is_texts)},
    "collect-losers": {},
    "pay-winners": {},
    "clear": {},
    "tap": {"by": _BY},
    "no-result": {"by": _BY, "reason": _TEXT},
    "fault": {"what": _TEXT},
    "inspector-told": {},
    "fault-rectified": {},
    "round-end": {},
}
"""Every event of the format with its fields."""


def _event(
    record: dict[str, object], where: str, areas: Collection[str] | None, problems: list[Problem]
) -> Event | None:
    before = len(problems)
    t = _time(record, where, problems)
    name = record.get("event")
    fields = EVENTS.get(name) if isinstance(name, str) else None
    if not isinstance(name, str) or fields is None:
        found = json.dumps(name) if "event" in record else "nothing"
        remedy = suggestion(name, list(EVENTS)) if isinstance(name, str) else "name the event"
        problems.append(Problem(f"{where}, event", "an event of the format", found[:60], remedy))
        return None
    for key, wanted in fields.items():
        if key not in record:
            if wanted.required:
                problems.append(Problem(f"{where}, {key}", wanted.expected, "nothing", "add it"))
        elif not wanted.holds(record[key]):
            found = json.dumps(record[key])[:60]
            problems.append(Problem(f"{where}, {key}", wanted.expected, found))
    problems.extend(_strangers(record, ("t", "event", *fields), where))
    if name == "dice-at-rest" and "values" in record and "state" in record:
        problems.append(
            Problem(where, "values or a state of the dice", "both", "leave out what was not read")
        )
    if areas is not None and len(problems) == before:
        problems.extend(_unknown_areas(record, where, areas))
    if t is None or len(problems) > before:
        return None
    return Event(t, name, {k: v for k, v in record.items() if k not in ("t", "event")})


def _time(record: Mapping[str, object], where: str, problems: list[Problem]) -> float | None:
    t = record.get("t")
    if isinstance(t, int | float) and not isinstance(t, bool):
        try:
            seconds = float(t)
        except OverflowError:
            seconds = math.inf
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    found = json.dumps(t)[:60] if "t" in record else "nothing"
    problems.append(Problem(f"{where}, t", "seconds, zero or more", found))
    return None


def _unknown_areas(
    record: Mapping[str, object], where: str, areas: Collection[str]
) -> list[Problem]:
    named = [record.get("area")]
    lit = record.get("lit")
    if isinstance(lit, list):
        named += lit
    key = "lit" if "lit" in record else "area"
    return [
        Problem(f"{where}, {key}", "an area of the rule book", repr(area), "see rules table")
        for area in named
        if isinstance(area, str) and area not in areas
    ]
