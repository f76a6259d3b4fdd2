"""Where rounds begin and end, what the end of a timeline leaves open, and feeding bit by bit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.rules.monitor import Monitor
from harness.rules.timeline import Event, Setup
from harness.verdicts import ConfigurationError
from tests.rules.rounds import DEALINGS, Act, act, acts, book_of, keys, lamps, watched

dealings = st.sampled_from(sorted(DEALINGS))
dice = st.tuples(*[st.integers(1, 6)] * 3)
ANYTHING = [
    *acts("round-start", "place-your-bets", "countdown-start", "countdown-end", "no-more-bets"),
    *acts("hand-motion", "cover-on", "cover-off", "shake", "collect-losers", "pay-winners"),
    *acts("clear", "inspector-told", "fault-rectified", "round-end", "table-open", "shift-start"),
    act("wager", area="big"),
    act("activate", by="dealer"),
    act("activate", by="player"),
    act("dice-at-rest"),
    act("dice-at-rest", values=[1, 2, 4]),
    act("dice-at-rest", state="leaning"),
    act("dice-at-rest", state="stacked"),
    act("announce", values=[1, 2, 4], total=7),
    act("announce", values=[4]),
    *keys(1, 2, 4, 6, "clear", "enter"),
    lamps(1, 2, 4),
    act("lamps", lit=[]),
    act("tap", by="game-supervisor"),
    act("no-result", by="dealer", reason="leaning"),
    act("no-result", by="casino-supervisor", reason="fire"),
    act("fault", what="lamps"),
    act("fault", what="tumbler"),
    act("inspect-terminal", by="floorperson", passed=True),
    act("inspect-shaker-run", by="casino-supervisor", passed=False),
]
anything = st.lists(st.sampled_from(ANYTHING), max_size=60)


@given(dealings, dice, st.integers(0, 40))
def test_a_healthy_timeline_cut_short_never_deviates(name: str, dice, cut: int):
    """Fails if a duty is demanded before it is due, or a round under way is called complete."""
    dealing = DEALINGS[name]
    whole = dealing.round(dice)
    begun = whole[: min(cut, len(whole))]
    outcome = "settled" if len(begun) == len(whole) else "incomplete"
    assert dealing.watch(begun) == ([], outcome)
    assert dealing.watch(whole, begun) == (
        [],
        "incomplete" if 0 < len(begun) < len(whole) else "settled",
    )


@given(dealings, dice, dice)
def test_healthy_rounds_in_a_row_are_as_one(name: str, first, second):
    """Fails if anything of one round is carried into the next."""
    dealing = DEALINGS[name]
    whole = dealing.round(first) + dealing.round(second)
    assert dealing.watch(whole) == ([], "settled")
    without_end = dealing.round(first)[:-1] + dealing.round(second)
    assert dealing.watch(without_end) == ([], "settled")


@given(dealings, anything)
@settings(max_examples=300)
def test_feeding_bit_by_bit_gives_what_feeding_whole_gives(name: str, happened: list[Act]):
    """Fails if what `feed` and `finish` return is not what is kept, or anything is taken back."""
    dealing = DEALINGS[name]
    events = [Event(float(t), *one) for t, one in enumerate(happened)]
    monitor = Monitor(book_of(dealing.book), dealing.setup)
    told = []
    for event in events:
        new = monitor.feed(event)
        assert all(deviation.at <= event.t for deviation in new)
        told += new
        assert monitor.outcome in ("settled", "void", "stopped", "no-result", "incomplete")
        assert monitor.deviations == told
    told += monitor.finish()
    whole = watched(dealing, happened)
    assert (told, monitor.outcome) == (whole.deviations, whole.outcome)
    assert monitor.finish() == ()


@given(dealings, anything, dice)
def test_every_breach_is_a_clause_of_the_book_once_in_a_round(name: str, happened, dice):
    """Fails if a clause is reported twice within one round, or is none of the book's."""
    dealing = DEALINGS[name]
    within = [one for one in happened if one[0] not in ("round-start", "round-end")]
    clauses, _ = dealing.watch([act("round-start"), *within, act("round-end")])
    tags = {clause.tag for clause in book_of(dealing.book).clauses}
    assert set(clauses) <= tags
    openings = sum(one[0] == "table-open" for one in within)
    inspections = {"ny.e.1", "nj.a.1", "nj.a.2", "pa.a.1", "pa.a.2", "cca.7.7"}
    for clause in set(clauses) - inspections:
        assert clauses.count(clause) == 1, (clause, openings)


@pytest.mark.parametrize("name", DEALINGS)
def test_a_duty_left_out_counts_once_whether_the_round_ends_or_the_next_one_starts(name: str):
    """Fails if the duty is counted twice, never, or against the wrong round."""
    dealing = DEALINGS[name]
    last = "clear" if dealing.clears else "lamps"
    short = [one for one in dealing.round() if one[0] != last]
    alone = dealing.watch(short)[0]
    assert len(alone) == 1
    assert dealing.watch(short[:-1]) == ([], "incomplete")
    followed = watched(dealing, short[:-1] + dealing.round())
    assert [one.clause for one in followed.deviations][:1] == alone
    ended = watched(dealing, short + dealing.round())
    assert [one.clause for one in ended.deviations] == [one.clause for one in followed.deviations]


@pytest.mark.parametrize("name", DEALINGS)
def test_the_start_of_a_round_may_go_unrecorded(name: str):
    """Fails if a missing or doubled marker is taken for a breach by somebody."""
    dealing = DEALINGS[name]
    whole = dealing.round()
    assert dealing.watch(whole[1:]) == ([], "settled")
    assert dealing.watch(whole, whole[1:]) == ([], "settled")
    assert dealing.watch([whole[0], *whole]) == ([], "settled")
    assert dealing.watch(whole, [whole[-1]]) == ([], "settled")


def test_inspecting_the_terminal_between_rounds_is_no_round():
    """Fails if keys and lamps of an inspection are taken for a round without a call."""
    for dealing in DEALINGS.values():
        trial = [*keys(1, 2, 4), lamps(1, 2, 4), act("clear")]
        inspected = [*trial, act("inspect-terminal", by="floorperson", passed=True)]
        assert dealing.watch(inspected) == ([], "incomplete")
        assert dealing.watch(inspected, dealing.round()) == ([], "settled")
        assert dealing.watch(dealing.round(), inspected) == ([], "settled")


def test_an_empty_timeline_is_incomplete():
    """Fails if nothing at all is called a settled round."""
    for dealing in DEALINGS.values():
        assert dealing.watch([]) == ([], "incomplete")


def test_the_outcome_is_the_last_rounds():
    """Fails if an earlier round's outcome stays."""
    dealing = DEALINGS["cca"]
    void = [
        *dealing.head,
        act("dice-at-rest", state="leaning"),
        act("no-result", by="dealer", reason="leaning"),
        act("round-end"),
    ]
    assert dealing.watch(void, dealing.round()) == ([], "settled")
    assert dealing.watch(dealing.round(), void) == ([], "void")


def test_a_kind_of_shaker_without_a_procedure_is_refused_by_name():
    """Fails if a book judges equipment that it has no word for."""
    with pytest.raises(ConfigurationError) as refused:
        Monitor(book_of("ny-5324.51"), Setup("puncher", "none"))
    assert str(refused.value) == (
        "rule book ny-5324.51: expected a shaker it has a procedure for: manual, automated, "
        "found puncher; known here: manual, automated"
    )


def test_the_deviation_comes_with_the_event_that_makes_it_certain():
    """Fails if a breach is told late, to a table that could still have been stopped."""
    dealing = DEALINGS["ny manual"]
    uncalled = [one for one in dealing.round() if one[0] != "no-more-bets"]
    (breach,) = watched(dealing, uncalled).deviations
    assert uncalled[int(breach.at)][0] == "shake"
    paid_first = [one for one in dealing.round() if one[0] != "collect-losers"]
    (breach,) = watched(dealing, paid_first).deviations
    assert paid_first[int(breach.at)][0] == "pay-winners"


def test_a_round_without_its_start_or_its_call_is_a_round_all_the_same():
    """Fails if nobody can be held to a call because its absence hides the whole round."""
    for name, clause in [("ny manual", "ny.e.2"), ("pa manual", "pa.c"), ("nj automated", "nj.c")]:
        dealing = DEALINGS[name]
        uncalled = [one for one in dealing.round()[1:] if one[0] != "no-more-bets"]
        assert dealing.watch(uncalled) == ([clause], "settled")


def test_what_is_called_before_a_round_starts_is_of_no_round():
    """Fails if a call between rounds opens a round that leaves out every duty."""
    for dealing in DEALINGS.values():
        whole = dealing.round()
        assert dealing.watch([act("no-more-bets")], whole) == ([], "settled")
        assert dealing.watch(whole, [act("wager", area="big")], whole) == ([], "settled")


def test_values_called_between_rounds_open_no_round():
    """Fails if an announcement without a toss leaves the last round unsettled, or is a breach."""
    for dealing in DEALINGS.values():
        whole = dealing.round()
        called = [act("announce", values=[1, 2, 4], total=7)]
        assert dealing.watch(whole, called) == ([], "settled")
        assert dealing.watch(called) == ([], "incomplete")


def test_a_countdown_left_running_ends_with_its_round():
    """Fails if a wager before the next countdown passes because the last one was never ended."""
    dealing = DEALINGS["ts"]
    whole = dealing.round()
    unended = [one for one in whole if one[0] != "countdown-end"]
    alone, _ = dealing.watch(unended)
    early = [whole[0], act("wager", area="big"), *whole[1:]]
    assert dealing.watch(early)[0] == ["ts.1"]
    assert dealing.watch(unended, early)[0] == sorted([*alone, "ts.1"])


def test_announcing_twice_alike_is_no_breach():
    """Fails if a second announcement is added to the first."""
    for dealing in DEALINGS.values():
        whole = dealing.round()
        twice = [one for one in whole for _ in range(2 if one[0] == "announce" else 1)]
        assert dealing.watch(twice) == ([], "settled")
