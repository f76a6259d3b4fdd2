"""Reading recorded timelines: what is right is kept as it is, what is wrong is refused by line."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.rules.timeline import (
    EVENTS,
    Event,
    Setup,
    Timeline,
    parse_timeline,
    read_timeline,
)
from harness.verdicts import ConfigurationError, InvalidFileError

SETUP: dict[str, object] = {"setup": {"shaker": "manual", "cover": "opaque"}}
ONE_OF_EACH: list[dict[str, object]] = [
    {"event": "shift-start"},
    {"event": "table-open"},
    {"event": "inspect-terminal", "by": "floorperson", "passed": True},
    {"event": "inspect-shaker-run", "by": "casino-supervisor", "passed": False},
    {"event": "round-start"},
    {"event": "place-your-bets"},
    {"event": "countdown-start"},
    {"event": "countdown-end"},
    {"event": "wager", "area": "total-9"},
    {"event": "no-more-bets"},
    {"event": "hand-motion"},
    {"event": "cover-on"},
    {"event": "cover-off"},
    {"event": "shake"},
    {"event": "activate", "by": "player"},
    {"event": "dice-at-rest"},
    {"event": "dice-at-rest", "values": [6, 1, 1]},
    {"event": "dice-at-rest", "state": "broken"},
    {"event": "announce", "values": [1, 1, 6], "total": 8},
    {"event": "announce", "values": [1, 1, 6]},
    {"event": "key", "value": 6},
    {"event": "key", "value": "enter"},
    {"event": "key", "value": "clear"},
    {"event": "lamps", "lit": []},
    {"event": "lamps", "lit": ["small", "single-1"]},
    {"event": "collect-losers"},
    {"event": "pay-winners"},
    {"event": "clear"},
    {"event": "tap", "by": "game-supervisor"},
    {"event": "no-result", "by": "dealer", "reason": "leaning"},
    {"event": "fault", "what": "lamp total-9"},
    {"event": "inspector-told"},
    {"event": "fault-rectified"},
    {"event": "round-end"},
]


def written(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def refused(raw: bytes, areas: list[str] | None = None) -> list[str]:
    with pytest.raises(InvalidFileError) as caught:
        parse_timeline(raw, "round.jsonl", areas)
    assert all(line.startswith("round.jsonl: line ") for line in str(caught.value).splitlines())
    return [problem.where for problem in caught.value.problems]


def test_every_event_of_the_format_is_read_as_it_stands():
    """Fails if an event or a field of the format is unknown, lost or changed."""
    assert {record["event"] for record in ONE_OF_EACH} == set(EVENTS)
    timed = [{"t": index / 4, **record} for index, record in enumerate(ONE_OF_EACH)]
    timeline = parse_timeline(written(SETUP, *timed), "round.jsonl")
    assert timeline == Timeline(
        Setup("manual", "opaque"),
        tuple(
            Event(
                index / 4, str(record["event"]), {k: v for k, v in record.items() if k != "event"}
            )
            for index, record in enumerate(ONE_OF_EACH)
        ),
    )


def test_a_setup_alone_and_a_missing_last_line_end_are_read():
    """Fails if a timeline without events, or without its last newline, is refused."""
    assert parse_timeline(written(SETUP), "round.jsonl").events == ()
    cut = written(SETUP, {"t": 0, "event": "shake"})[:-1]
    assert parse_timeline(cut, "round.jsonl").events == (Event(0.0, "shake"),)
    windows = written(SETUP, {"t": 0, "event": "shake"}).replace(b"\n", b"\r\n")
    assert parse_timeline(windows, "round.jsonl").events == (Event(0.0, "shake"),)


@pytest.mark.parametrize(
    "first",
    [
        {"t": 0, "event": "shake"},
        {"setup": {"shaker": "manual"}},
        {"setup": {"shaker": "manual", "cover": "glass"}},
        {"setup": {"shaker": "cup", "cover": "opaque"}},
        {"setup": {"shaker": "manual", "cover": "opaque", "dice": 3}},
        {"setup": {"shaker": ["manual"], "cover": "opaque"}},
        {"setup": {"shaker": "manual", "cover": "opaque"}, "t": 0},
        {"setup": "manual"},
        [],
        "setup",
        None,
    ],
)
def test_the_first_line_is_the_setup_and_nothing_else(first: object):
    """Fails if a timeline of unknown equipment is judged."""
    assert {where.split(",")[0] for where in refused(written(first))} == {"line 1"}


def test_an_empty_file_is_refused():
    """Fails if nothing is read as a timeline of nothing."""
    assert refused(b"") == ["line 1"]
    assert refused(b"\n") == ["line 1"]


@pytest.mark.parametrize(
    ("record", "where"),
    [
        ({"t": 0, "event": "shaken"}, "event"),
        ({"t": 0, "event": 3}, "event"),
        ({"t": 0}, "event"),
        ({"event": "shake"}, "t"),
        ({"t": "0", "event": "shake"}, "t"),
        ({"t": True, "event": "shake"}, "t"),
        ({"t": None, "event": "shake"}, "t"),
        ({"t": -0.1, "event": "shake"}, "t"),
        ({"t": 10**400, "event": "shake"}, "t"),
        ({"t": 0, "event": "shake", "by": "dealer"}, "by"),
        ({"t": 0, "event": "activate"}, "by"),
        ({"t": 0, "event": "activate", "by": "croupier"}, "by"),
        ({"t": 0, "event": "activate", "by": ["dealer"]}, "by"),
        ({"t": 0, "event": "inspect-terminal", "by": "floorperson"}, "passed"),
        ({"t": 0, "event": "inspect-terminal", "by": "floorperson", "passed": 1}, "passed"),
        ({"t": 0, "event": "inspect-terminal", "passed": True}, "by"),
        ({"t": 0, "event": "wager"}, "area"),
        ({"t": 0, "event": "wager", "area": ""}, "area"),
        ({"t": 0, "event": "dice-at-rest", "values": [1, 2]}, "values"),
        ({"t": 0, "event": "dice-at-rest", "values": [1, 2, 7]}, "values"),
        ({"t": 0, "event": "dice-at-rest", "values": [1, 2, True]}, "values"),
        ({"t": 0, "event": "dice-at-rest", "values": "124"}, "values"),
        ({"t": 0, "event": "dice-at-rest", "state": "cocked"}, "state"),
        ({"t": 0, "event": "dice-at-rest", "state": None}, "state"),
        ({"t": 0, "event": "announce"}, "values"),
        ({"t": 0, "event": "announce", "values": []}, "values"),
        ({"t": 0, "event": "announce", "values": [1, 2, 4], "total": "7"}, "total"),
        ({"t": 0, "event": "key", "value": 0}, "value"),
        ({"t": 0, "event": "key", "value": 7}, "value"),
        ({"t": 0, "event": "key", "value": 1.0}, "value"),
        ({"t": 0, "event": "key", "value": True}, "value"),
        ({"t": 0, "event": "key", "value": "1"}, "value"),
        ({"t": 0, "event": "key", "value": "erase"}, "value"),
        ({"t": 0, "event": "lamps"}, "lit"),
        ({"t": 0, "event": "lamps", "lit": "small"}, "lit"),
        ({"t": 0, "event": "lamps", "lit": [4]}, "lit"),
        ({"t": 0, "event": "tap"}, "by"),
        ({"t": 0, "event": "no-result", "by": "dealer"}, "reason"),
        ({"t": 0, "event": "no-result", "by": "dealer", "reason": 7.1}, "reason"),
        ({"t": 0, "event": "fault"}, "what"),
    ],
)
def test_a_wrong_line_is_refused_at_its_field(record: dict[str, object], where: str):
    """Fails if a mistaken field, name, time or person is read as if it were right."""
    good = {"t": 0, "event": "round-start"}
    assert refused(written(SETUP, good, record)) == [f"line 3, {where}"]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"   ",
        b"{",
        b"shake",
        b"[]",
        b"3",
        b"null",
        b'{"t": NaN, "event": "shake"}',
        b'{"t": Infinity, "event": "shake"}',
        b'{"t": 0, "t": 0, "event": "shake"}',
        b'{"t": 0, "event": "shake"} {}',
        b'{"t": 0, "event": "fault", "what": "\xff"}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_single_json_object_is_refused(line: bytes):
    """Fails if a torn, doubled or foreign line is skipped or guessed at."""
    raw = written(SETUP) + line + b"\n" + written({"t": 1, "event": "shake"})
    assert refused(raw) == ["line 2"]


def test_values_and_state_of_the_dice_exclude_each_other():
    """Fails if dice that have no reading are given values too."""
    both = {"t": 0, "event": "dice-at-rest", "values": [1, 2, 4], "state": "leaning"}
    assert refused(written(SETUP, both)) == ["line 2"]


def test_times_may_stand_still_but_not_go_back():
    """Fails if events out of order are judged in the order of the file."""
    at = [{"t": t, "event": "shake"} for t in (1, 1, 1.5, 1.4, 2, 0)]
    assert refused(written(SETUP, *at)) == ["line 5, t", "line 7, t"]
    assert len(parse_timeline(written(SETUP, *at[:3]), "round.jsonl").events) == 3


def test_every_mistake_of_a_file_is_told_at_once():
    """Fails if the reader stops at the first mistake."""
    raw = written(SETUP, {"t": 0, "event": "shaek"}, {"t": -1, "event": "key", "value": 9}) + b"x\n"
    assert refused(raw) == ["line 2, event", "line 3, t", "line 3, value", "line 4"]


def test_areas_are_those_of_the_book():
    """Fails if a wager or a lamp of another layout is read."""
    wager, lit = {"t": 0, "event": "wager", "area": "odd"}, ["small", "even"]
    raw = written(SETUP, wager, {"t": 0, "event": "lamps", "lit": lit})
    assert refused(raw, ["small", "big"]) == ["line 2, area", "line 3, lit"]
    assert len(parse_timeline(raw, "round.jsonl").events) == 2


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    """Fails if a missing file or a folder ends in anything but a plain refusal."""
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(ConfigurationError) as caught:
            read_timeline(path)
        assert caught.value.subject == str(path)
        assert caught.value.expected == "a timeline that can be read"
        assert caught.value.remedy == "name a file of JSON lines"


def test_what_was_found_is_told_as_far_as_sixty_letters():
    """Fails if a refusal repeats a whole line of a file, or cuts what it says short."""
    for key, record in (
        ("lit", {"t": 0, "event": "lamps", "lit": "x" * 80}),
        ("event", {"t": 0, "event": "x" * 80}),
        ("t", {"t": "x" * 80, "event": "shake"}),
    ):
        with pytest.raises(InvalidFileError) as caught:
            parse_timeline(written(SETUP, record), "round.jsonl")
        (problem,) = caught.value.problems
        assert (problem.where, problem.found) == (f"line 2, {key}", '"' + "x" * 59)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # drawing is slow on a busy machine
@given(st.lists(st.dictionaries(st.sampled_from(["t", "event", "by", "value"]), json_values)))
def test_any_json_is_read_or_refused(records: list[dict[str, object]]):
    """Fails if any content of a field ends in an error of another kind."""
    try:
        parse_timeline(written(SETUP, *records), "round.jsonl")
    except InvalidFileError as error:
        assert error.problems


@given(st.binary())
def test_any_bytes_are_read_or_refused(raw: bytes):
    """Fails if bytes that are no text end in an error of another kind."""
    with pytest.raises(InvalidFileError):
        parse_timeline(raw, "round.jsonl")
