"""Healthy rounds deviate in nothing; each single mistake breaches the clause the source names.

The expected clauses below are worked out from the text of the sources, not from the books' data.
"""

import pytest

from tests.rules.rounds import BY_DEALER, BY_PLAYER, DEALINGS, DICE, Act, act, keys, lamps

Expected = list[str]


@pytest.mark.parametrize("name", DEALINGS)
@pytest.mark.parametrize("dice", [(1, 2, 4), (5, 5, 2), (3, 3, 3), (6, 6, 6), (1, 1, 1)])
def test_a_healthy_round_has_no_deviation_and_is_settled(name: str, dice: tuple[int, int, int]):
    """Fails if a rule binds equipment it does not speak of, or doubts a right result."""
    dealing = DEALINGS[name]
    assert dealing.watch(dealing.round(dice)) == ([], "settled")


# What a round lacks when one act is left out. `key` stands for each of the three keys, `shake` for
# each of the three shakes; markers and the camera's reading are nobody's duty but tai-sai's (3).
LEFT_OUT: dict[str, dict[str, Expected]] = {
    "ny manual": {
        "round-start": [],
        "wager": [],
        "no-more-bets": ["ny.e.2"],  # (e)(2): announced before shaking
        "hand-motion": ["ny.e.2"],  # (e)(2): and a visible hand motion
        "cover-on": ["ny.e.3"],  # (e)(3): cover, then shake
        "shake": ["ny.e.3"],  # (e)(3): at least three times
        "cover-off": ["ny.e.4"],  # (e)(4): remove the cover
        "dice-at-rest": [],
        "announce": ["ny.e.4"],  # (e)(4): announce each value
        "key": ["ny.e.4"],  # (e)(4): enter each value
        "lamps": ["ny.e.4"],  # (e)(4): which lights the winners
        "collect-losers": ["ny.e.5"],  # (e)(5): collect, then pay
        "pay-winners": ["ny.e.5"],
        "clear": ["ny.e.6"],  # (e)(6)
        "round-end": [],
    },
    "ny automated": {
        "no-more-bets": ["ny.e.2"],
        "hand-motion": ["ny.e.2"],
        "activate": ["ny.e.3"],  # without it nothing was shaken
        "announce": ["ny.e.4"],
        "key": ["ny.e.4"],
        "lamps": ["ny.e.4"],
        "collect-losers": ["ny.e.5"],
        "pay-winners": ["ny.e.5"],
        "clear": ["ny.e.6"],
    },
    "ny automated covered": {
        "no-more-bets": ["ny.e.2"],
        "cover-on": [],  # the cover binds the manual shaker only
        "activate": ["ny.e.3"],
        "cover-off": ["ny.e.4"],
    },
    "nj manual": {
        "wager": [],
        "no-more-bets": ["nj.c"],
        "cover-on": ["nj.d.1"],
        "shake": ["nj.d.1"],
        "cover-off": ["nj.e"],
        "dice-at-rest": [],
        "announce": ["nj.e"],
        "key": ["nj.e"],
        "lamps": ["nj.e"],
        "collect-losers": ["nj.f"],
        "pay-winners": ["nj.f"],
        "clear": ["nj.g"],
        "round-end": [],
    },
    "nj automated": {
        "no-more-bets": ["nj.c"],
        "activate": ["nj.d.2"],
        "announce": ["nj.e"],
        "key": ["nj.e"],
        "lamps": ["nj.e"],
        "collect-losers": ["nj.f"],
        "pay-winners": ["nj.f"],
        "clear": ["nj.g"],
    },
    "pa manual": {
        "round-start": [],
        "cover-on": ["pa.b.1"],
        "shake": ["pa.b.1"],
        "wager": [],
        "no-more-bets": ["pa.c"],
        "cover-off": ["pa.d"],
        "dice-at-rest": [],
        "announce": ["pa.d"],
        "key": ["pa.d"],
        "lamps": ["pa.d"],
        "collect-losers": ["pa.e"],
        "pay-winners": ["pa.e"],
        "clear": ["pa.f"],
        "round-end": [],
    },
    "pa automated covered": {
        "cover-on": ["pa.c"],  # tossed in sight: revealed before the call
        "activate": ["pa.b.2"],
        "no-more-bets": ["pa.c"],
        "cover-off": ["pa.d"],
        "clear": ["pa.f"],
    },
    "pa automated": {
        "no-more-bets": ["pa.g"],
        "activate": ["pa.g"],
        "announce": ["pa.d"],
        "key": ["pa.d"],
        "lamps": ["pa.d"],
        "collect-losers": ["pa.e"],
        "pay-winners": ["pa.e"],
        "clear": ["pa.f"],
    },
    "pa player": {"no-more-bets": ["pa.g"], "activate": ["pa.g"]},
    "pa player covered": {
        "no-more-bets": ["pa.g"],
        "cover-on": [],
        "activate": ["pa.g"],
        "cover-off": ["pa.d"],
    },
    "cca": {
        "round-start": [],
        # Uncovered, or fewer than three tumbles: 5.1; and 7.3 demands no result, yet it was paid.
        "cover-on": ["cca.5.1", "cca.7.3"],
        "shake": ["cca.5.1", "cca.7.3"],
        "activate": [],  # the tumbles show that it was
        "place-your-bets": ["cca.5.1"],
        "wager": [],
        "no-more-bets": ["cca.5.2", "cca.7.3"],  # dice exposed before the call
        "cover-off": ["cca.5.2"],
        "dice-at-rest": [],
        "announce": ["cca.5.3"],
        "key": ["cca.5.4"],
        "lamps": ["cca.7.6"],
        "collect-losers": ["cca.5.5"],
        "pay-winners": ["cca.5.5"],
        "round-end": [],
    },
    "ts": {
        "round-start": [],
        "countdown-start": ["ts.1"],
        "wager": [],
        "countdown-end": ["ts.2"],
        "activate": ["ts.2"],
        "dice-at-rest": ["ts.3"],
        "key": ["ts.3"],
        "lamps": ["ts.3"],
        "collect-losers": [],  # the source says nothing of settling
        "pay-winners": [],
        "round-end": [],
    },
}


@pytest.mark.parametrize(
    ("name", "left_out"), [(name, left_out) for name in LEFT_OUT for left_out in LEFT_OUT[name]]
)
def test_an_act_left_out_breaches_its_own_clause(name: str, left_out: str):
    """Fails if a missing act goes unseen, is blamed on another clause, or is counted twice."""
    dealing = DEALINGS[name]
    whole = dealing.round()
    places = [place for place, (act_name, _) in enumerate(whole) if act_name == left_out]
    assert places
    for place in places:
        clauses, outcome = dealing.watch(whole[:place] + whole[place + 1 :])
        assert clauses == LEFT_OUT[name][left_out]
        if left_out == "round-end":
            assert outcome == "incomplete"
        elif clauses[-1:] == ["cca.7.3"]:
            assert outcome == "void"
        elif clauses == ["cca.7.6"]:
            assert outcome == "stopped"
        else:
            assert outcome == "settled"


# Two neighbours exchanged: (the first, the second) as they stand in a healthy round.
EXCHANGED: dict[str, dict[tuple[str, str], Expected]] = {
    "ny manual": {
        ("wager", "no-more-bets"): ["ny.e.2"],
        ("no-more-bets", "hand-motion"): [],
        ("hand-motion", "cover-on"): ["ny.e.3"],  # cover once called and signalled
        ("cover-on", "shake"): ["ny.e.3"],
        ("shake", "cover-off"): ["ny.e.3"],
        ("announce", "key"): ["ny.e.4"],
        ("key", "lamps"): ["ny.e.4"],
        ("lamps", "collect-losers"): ["ny.e.5"],  # after the lamps are lit
        ("collect-losers", "pay-winners"): ["ny.e.5"],
        ("pay-winners", "clear"): ["ny.e.6"],
        ("clear", "round-end"): ["ny.e.6"],
    },
    "ny automated": {("hand-motion", "activate"): ["ny.e.2"]},
    "nj manual": {
        ("wager", "no-more-bets"): ["nj.c"],
        ("no-more-bets", "cover-on"): ["nj.d.1"],
        ("cover-on", "shake"): ["nj.d.1"],
        ("shake", "cover-off"): ["nj.d.1"],
        ("announce", "key"): ["nj.e"],
        ("key", "lamps"): ["nj.e"],
        ("lamps", "collect-losers"): ["nj.f"],
        ("collect-losers", "pay-winners"): ["nj.f"],
        ("pay-winners", "clear"): ["nj.g"],
    },
    "nj automated": {("no-more-bets", "activate"): ["nj.c"]},
    "pa manual": {
        ("round-start", "cover-on"): [],
        ("cover-on", "shake"): ["pa.b.1"],
        ("shake", "wager"): [],  # bets come before or after the shaking
        ("wager", "no-more-bets"): ["pa.c"],
        ("no-more-bets", "cover-off"): ["pa.c"],
        ("announce", "key"): ["pa.d"],
        ("lamps", "collect-losers"): ["pa.e"],
        ("collect-losers", "pay-winners"): ["pa.e"],
        ("pay-winners", "clear"): ["pa.f"],
    },
    "pa automated covered": {
        ("activate", "wager"): [],
        ("no-more-bets", "cover-off"): ["pa.c"],
    },
    "pa automated": {
        ("wager", "no-more-bets"): ["pa.g"],
        ("no-more-bets", "activate"): ["pa.g"],
    },
    "pa player": {("no-more-bets", "activate"): ["pa.g"]},
    "cca": {
        ("cover-on", "activate"): ["cca.5.1", "cca.7.3"],
        ("shake", "place-your-bets"): ["cca.5.1", "cca.7.3"],
        ("wager", "no-more-bets"): ["cca.3.9"],
        ("no-more-bets", "cover-off"): ["cca.5.2", "cca.7.3"],
        ("dice-at-rest", "announce"): ["cca.5.3"],
        ("announce", "key"): ["cca.5.3"],
        ("key", "lamps"): ["cca.5.4"],
        ("lamps", "collect-losers"): ["cca.5.5"],
        ("collect-losers", "pay-winners"): ["cca.5.5"],
    },
    "ts": {
        ("countdown-start", "wager"): ["ts.1"],
        ("wager", "countdown-end"): ["ts.2"],
        ("countdown-end", "activate"): ["ts.2"],
        ("dice-at-rest", "key"): ["ts.3"],
        ("key", "lamps"): ["ts.3"],
        ("collect-losers", "pay-winners"): [],
    },
}


@pytest.mark.parametrize(
    ("name", "pair"), [(name, pair) for name in EXCHANGED for pair in EXCHANGED[name]]
)
def test_neighbours_exchanged_breach_the_clause_that_orders_them(name: str, pair: tuple[str, str]):
    """Fails if an order goes unwatched, or is demanded where the source gives none."""
    dealing = DEALINGS[name]
    whole = dealing.round()
    places = [
        place for place in range(len(whole) - 1) if (whole[place][0], whole[place + 1][0]) == pair
    ]
    assert places
    for place in places:
        swapped = [
            *whole[:place],
            whole[place + 1],
            whole[place],
            *whole[place + 2 :],
        ]
        assert dealing.watch(swapped)[0] == EXCHANGED[name][pair]


def altered(whole: list[Act], name: str, *instead: Act) -> list[Act]:
    """Put other acts in the place of every act of this name."""
    altered: list[Act] = []
    for one in whole:
        if one[0] == name:
            altered += instead
        else:
            altered.append(one)
    return altered


def before(whole: list[Act], name: str, *more: Act) -> list[Act]:
    place = next(place for place, one in enumerate(whole) if one[0] == name)
    return [*whole[:place], *more, *whole[place:]]


def after(whole: list[Act], name: str, *more: Act) -> list[Act]:
    place = max(place for place, one in enumerate(whole) if one[0] == name)
    return [*whole[: place + 1], *more, *whole[place + 1 :]]


ENTRY = {
    "ny manual": "ny.e.4",
    "ny automated": "ny.e.4",
    "nj manual": "nj.e",
    "nj automated": "nj.e",
    "pa manual": "pa.d",
    "pa automated": "pa.d",
    "pa player": "pa.d",
    "cca": "cca.5.4",
    "ts": "ts.3",
}
LAMPS = {**ENTRY, "cca": "cca.7.6"}
CALLING = {**ENTRY, "cca": "cca.5.3"}


@pytest.mark.parametrize("name", LAMPS)
@pytest.mark.parametrize("lit", [[], ["big"], ["small", "total-7"]], ids=["none", "wrong", "few"])
def test_wrong_lamps_are_the_tables(name: str, lit: list[str]):
    """Fails if lamps are not compared with the dice area by area."""
    dealing = DEALINGS[name]
    wrong = altered(dealing.round(), "lamps", act("lamps", lit=lit))
    assert dealing.watch(wrong) == ([LAMPS[name]], "stopped" if name == "cca" else "settled")


@pytest.mark.parametrize("name", LAMPS)
def test_one_lamp_too_many_is_wrong(name: str):
    """Fails if only missing lamps are looked for."""
    dealing = DEALINGS[name]
    lit = lamps(*DICE)[1]["lit"]
    assert isinstance(lit, list)
    wrong = altered(dealing.round(), "lamps", act("lamps", lit=[*lit, "total-9"]))
    assert dealing.watch(wrong)[0] == [LAMPS[name]]


@pytest.mark.parametrize("name", ENTRY)
@pytest.mark.parametrize("shown", [(1, 2, 4), (1, 2, 5)], ids=["lamps by dice", "lamps by entry"])
def test_a_wrong_key_is_the_dealers_and_leaves_the_lamps_unblamed(
    name: str, shown: tuple[int, int, int]
):
    """Fails if lamps that follow a wrong entry are called a fault of the table."""
    dealing = DEALINGS[name]
    wrong = [act("key", value=5) if one == act("key", value=4) else one for one in dealing.round()]
    wrong = altered(wrong, "lamps", lamps(*shown))
    assert dealing.watch(wrong) == ([ENTRY[name]], "settled")


def test_a_wrong_key_and_wrong_lamps_are_two_breaches_where_two_clauses_speak():
    """Fails if a wrong entry hides a table that lights neither the dice nor the entry."""
    dealing = DEALINGS["cca"]
    wrong = [act("key", value=5) if one == act("key", value=4) else one for one in dealing.round()]
    wrong = altered(wrong, "lamps", lamps(6, 6, 6))
    assert dealing.watch(wrong) == (["cca.5.4", "cca.7.6"], "stopped")


@pytest.mark.parametrize("name", ENTRY)
def test_a_fourth_key_is_a_wrong_entry(name: str):
    """Fails if more values are entered than there are dice and nobody says so."""
    dealing = DEALINGS[name]
    assert dealing.watch(after(dealing.round(), "key", *keys(6)))[0] == [ENTRY[name]]


@pytest.mark.parametrize("name", ["ny manual", "nj automated", "pa manual"])
def test_a_wrong_key_stays_a_breach_when_it_is_corrected(name: str):
    """Fails if the corrected entry is not taken for the result, or the slip is forgotten."""
    dealing = DEALINGS[name]
    corrected = before(dealing.round(), "key", *keys(6, "clear"))
    assert dealing.watch(corrected) == ([ENTRY[name]], "settled")


@pytest.mark.parametrize("name", ["ny manual", "nj automated", "pa manual"])
def test_clear_and_enter_keys_do_no_harm(name: str):
    """Fails if clearing the terminal before an entry, or a key that commits it, is a breach."""
    dealing = DEALINGS[name]
    whole = after(before(dealing.round(), "key", *keys("clear")), "key", *keys("enter"))
    assert dealing.watch(whole) == ([], "settled")
    by_key = altered(dealing.round(), "clear", *keys("clear"))
    assert dealing.watch(by_key) == ([], "settled")


@pytest.mark.parametrize("name", [name for name in CALLING if name != "ts"])
@pytest.mark.parametrize("values", [[1, 2, 5], [1, 2], [1, 1, 2, 4]])
def test_a_wrong_announcement(name: str, values: list[int]):
    """Fails if what is called is not compared with the dice, die by die."""
    dealing = DEALINGS[name]
    wrong = altered(dealing.round(), "announce", act("announce", values=values, total=7))
    assert dealing.watch(wrong)[0] == [CALLING[name]]


@pytest.mark.parametrize("name", [name for name in CALLING if name != "ts"])
def test_values_may_be_announced_one_by_one(name: str):
    """Fails if three announcements of one die each are not one announcement of three."""
    dealing = DEALINGS[name]
    one_by_one = altered(
        dealing.round(),
        "announce",
        act("announce", values=[1]),
        act("announce", values=[2]),
        act("announce", values=[4], total=7),
    )
    assert dealing.watch(one_by_one) == ([], "settled")


@pytest.mark.parametrize(
    "announced",
    [
        act("announce", values=[2, 1, 4], total=7),
        act("announce", values=[1, 2, 4], total=8),
        act("announce", values=[1, 2, 4]),
    ],
    ids=["order", "wrong total", "no total"],
)
def test_only_the_1992_rules_order_the_announcement_and_want_its_total(announced: Act):
    """Fails if 5.3 is not demanded there, or is demanded elsewhere."""
    for name, expected in [
        ("cca", ["cca.5.3"]),
        ("ny manual", []),
        ("nj automated", []),
        ("pa manual", []),
    ]:
        dealing = DEALINGS[name]
        assert dealing.watch(altered(dealing.round(), "announce", announced))[0] == expected


def test_keys_are_compared_with_the_announcement_where_the_dice_were_not_read():
    """Fails if an entry goes unchecked as soon as there is no reading of the dice."""
    for name in ("ny manual", "nj manual", "pa manual", "cca"):
        dealing = DEALINGS[name]
        unread = altered(dealing.round(), "dice-at-rest", act("dice-at-rest"))
        assert dealing.watch(unread) == ([], "settled")
        wrong = altered(unread, "lamps", lamps(1, 2, 5))
        wrong = [act("key", value=5) if one == act("key", value=4) else one for one in wrong]
        assert dealing.watch(wrong)[0] == [ENTRY[name]]


@pytest.mark.parametrize(
    ("name", "by", "expected"),
    [
        ("ny automated", "player", ["ny.e.3"]),
        ("nj automated", "player", ["nj.d.2"]),
        ("nj automated", "floorperson", ["nj.d.2"]),
        ("pa automated covered", "player", ["pa.b.2"]),
        ("pa automated", "player", ["pa.g"]),
        ("pa player", "dealer", []),
        ("pa player", "player", []),
        ("pa player", "floorperson", ["pa.g"]),
        ("pa player covered", "dealer", []),
        ("cca", "game-supervisor", []),
        ("cca", "player", ["cca.5.6", "cca.7.3"]),
        ("cca", "inspector", ["cca.5.6", "cca.7.3"]),
        ("cca", "casino-supervisor", ["cca.5.1", "cca.7.3"]),
        ("ts", "player", ["ts.2"]),
        ("ts", "game-supervisor", ["ts.2"]),
    ],
)
def test_who_may_activate(name: str, by: str, expected: Expected):
    """Fails if a person who may not activates unseen, or one who may is refused."""
    dealing = DEALINGS[name]
    assert (
        dealing.watch(altered(dealing.round(), "activate", act("activate", by=by)))[0] == expected
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [("ny manual", ["ny.e.5"]), ("nj manual", ["nj.f"]), ("pa manual", ["pa.e"])],
)
def test_a_manual_shaker_stays_uncovered_until_winners_are_paid(name: str, expected: Expected):
    """Fails if covering early goes unseen, or covering once all are paid is a breach."""
    dealing = DEALINGS[name]
    for place in ("announce", "key", "lamps", "collect-losers", "pay-winners"):
        assert dealing.watch(before(dealing.round(), place, act("cover-on")))[0] == expected
    assert dealing.watch(before(dealing.round(), "clear", act("cover-on"))) == ([], "settled")
    assert dealing.watch(dealing.round(), [act("cover-on")]) == ([], "settled")


def test_an_automated_shaker_of_new_jersey_is_never_covered():
    """Fails if (f) is watched within rounds only, or for the manual shaker."""
    dealing = DEALINGS["nj automated"]
    on_off = [act("cover-on"), act("cover-off")]
    assert dealing.watch(on_off, dealing.round())[0] == ["nj.f"]
    assert dealing.watch(on_off, on_off, dealing.round())[0] == ["nj.f"]
    assert dealing.watch(on_off, dealing.round()[1:])[0] == ["nj.f"]
    assert dealing.watch(dealing.round(), on_off)[0] == ["nj.f"]
    assert dealing.watch(before(dealing.round(), "no-more-bets", *on_off))[0] == ["nj.f"]
    assert dealing.watch(before(dealing.round(), "clear", *on_off))[0] == ["nj.f"]


def test_the_call_of_pennsylvania_comes_between_shaking_and_revealing():
    """Fails if the call may come before the shaking, where (b) puts the shaking first."""
    dealing = DEALINGS["pa manual"]
    called_first = before(altered(dealing.round(), "no-more-bets"), "cover-on", act("no-more-bets"))
    clauses = dealing.watch(altered(called_first, "wager"))[0]
    assert clauses == ["pa.b.1"]
    covered = DEALINGS["pa automated covered"]
    called_first = before(altered(covered.round(), "no-more-bets"), "cover-on", act("no-more-bets"))
    assert covered.watch(altered(called_first, "wager"))[0] == ["pa.b.2"]


def test_more_shakes_than_three_are_no_breach_and_two_times_two_are_not_three():
    """Fails if the count is an exact one, or runs on over a second covering."""
    for name, clauses in [
        ("ny manual", ["ny.e.3"]),
        ("nj manual", ["nj.d.1"]),
        ("pa manual", ["pa.b.1"]),
        ("cca", ["cca.5.1", "cca.7.3"]),
    ]:
        dealing = DEALINGS[name]
        more = after(dealing.round(), "shake", act("shake"), act("shake"))
        assert dealing.watch(more) == ([], "settled")
        twice = altered(dealing.round(), "shake")
        again = [act("shake"), act("shake"), act("cover-off"), act("cover-on")]
        twice = after(twice, "cover-on", *again, act("shake"), act("shake"))
        assert set(clauses) <= set(dealing.watch(twice)[0])


def test_a_shake_after_uncovering():
    """Fails if dice are shaken in sight once three shakes under the cover are done."""
    for name, clauses in [("ny manual", ["ny.e.4"]), ("nj manual", ["nj.e"])]:
        dealing = DEALINGS[name]
        assert dealing.watch(after(dealing.round(), "cover-off", act("shake")))[0] == clauses


def test_lamps_that_stay_lit_after_clearing():
    """Fails if clearing is believed although areas stay lit."""
    for name, clause in [("ny manual", "ny.e.6"), ("nj manual", "nj.g"), ("pa manual", "pa.f")]:
        dealing = DEALINGS[name]
        dark = after(dealing.round(), "clear", act("lamps", lit=[]))
        assert dealing.watch(dark) == ([], "settled")
        lit = after(dealing.round(), "clear", act("lamps", lit=["small"]))
        assert dealing.watch(lit)[0] == [clause]


def test_dark_lamps_before_the_entry_are_no_breach():
    """Fails if a sample taken before the third key is compared with the winning areas."""
    for dealing in DEALINGS.values():
        sampled = before(dealing.round(), "key", act("lamps", lit=[]))
        assert dealing.watch(sampled) == ([], "settled")


def test_new_york_enters_the_values_of_dice_at_rest():
    """Fails if dice that come to rest after the third key are settled unremarked."""
    dealing = DEALINGS["ny manual"]
    late = altered(dealing.round(), "dice-at-rest")
    late = after(late, "lamps", act("dice-at-rest", values=list(DICE)))
    assert dealing.watch(late)[0] == ["ny.c.3"]


RESTING_LATE = [name for name in DEALINGS if name.startswith(("nj", "pa"))]


@pytest.mark.parametrize("name", RESTING_LATE)
@pytest.mark.parametrize("last", ["announce", "key", "lamps"])
def test_dice_read_late_are_compared_with_what_was_called_and_entered(name: str, last: str):
    """Fails if other values pass because the camera read the dice after them."""
    dealing = DEALINGS[name]
    unread = altered(dealing.round(), "dice-at-rest")
    assert dealing.watch(after(unread, last, act("dice-at-rest", values=list(DICE))))[0] == []
    others = after(unread, last, act("dice-at-rest", values=[1, 2, 5]))
    assert dealing.watch(others)[0] == ["nj.e" if name.startswith("nj") else "pa.d"]


@pytest.mark.parametrize(
    "name", ["ny automated", "nj automated", "pa automated", "pa player", "pa player covered"]
)
def test_a_shaker_activated_again_tosses_anew(name: str):
    """Fails if what is called is held to the dice as they lay before the last toss."""
    dealing = DEALINGS[name]
    (again,) = [one for one in dealing.head if one[0] == "activate"]
    before_it = act("dice-at-rest", values=[1, 2, 5])
    unread = altered(dealing.round(), "dice-at-rest", before_it, again)
    assert dealing.watch(unread) == ([], "settled")
    read = altered(
        dealing.round(), "dice-at-rest", before_it, again, act("dice-at-rest", values=list(DICE))
    )
    assert dealing.watch(read) == ([], "settled")


def test_two_breaches_of_two_clauses_are_two_deviations_in_order():
    """Fails if a breach hides a later one of another clause."""
    dealing = DEALINGS["ny manual"]
    whole = altered(altered(dealing.round(), "hand-motion"), "clear")
    assert dealing.watch(whole)[0] == ["ny.e.2", "ny.e.6"]
    assert dealing.watch(whole, whole)[0] == ["ny.e.2", "ny.e.2", "ny.e.6", "ny.e.6"]


def test_activation_by_player_counts_only_on_a_players_shaker():
    """Fails if the same act is judged alike on both kinds of shaker."""
    player, plain = DEALINGS["pa player"], DEALINGS["pa automated"]
    assert player.watch(altered(player.round(), "activate", BY_PLAYER))[0] == []
    assert plain.watch(altered(plain.round(), "activate", BY_DEALER))[0] == []
    assert plain.watch(altered(plain.round(), "activate", BY_PLAYER))[0] == ["pa.g"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ny manual", ["ny.e.2", "ny.e.3", "ny.e.4", "ny.e.5", "ny.e.6"]),
        ("nj manual", ["nj.c", "nj.d.1", "nj.e", "nj.f", "nj.g"]),
        ("nj automated", ["nj.c", "nj.d.2", "nj.e", "nj.f", "nj.g"]),
        ("pa manual", ["pa.b.1", "pa.c", "pa.d", "pa.e", "pa.f"]),
        ("pa automated covered", ["pa.b.2", "pa.c", "pa.d", "pa.e", "pa.f"]),
        ("pa player", ["pa.d", "pa.e", "pa.f", "pa.g"]),
        ("cca", ["cca.5.1", "cca.7.3"]),  # nothing tumbled: no result is demanded, nothing else
        ("ts", ["ts.1", "ts.2", "ts.3"]),
    ],
)
def test_a_round_in_which_nothing_is_done_leaves_out_every_duty(name: str, expected: Expected):
    """Fails if a duty is only watched once some other act has come."""
    assert DEALINGS[name].watch([act("round-start"), act("round-end")])[0] == expected


def test_a_tumbled_game_left_there_leaves_out_the_rest():
    """Fails if 5.2 to 5.5 are watched only once the tumbler is uncovered, or 7.6 is charged too."""
    dealing = DEALINGS["cca"]
    place = dealing.head.index(act("place-your-bets")) + 1
    left = [*dealing.head[:place], act("round-end")]
    assert dealing.watch(left) == (["cca.5.2", "cca.5.3", "cca.5.4", "cca.5.5"], "settled")


@pytest.mark.parametrize(
    ("name", "place", "more", "expected"),
    [
        # A shake in sight before the cover goes on.
        ("ny manual", "cover-on", act("shake"), ["ny.e.3"]),
        ("nj manual", "cover-on", act("shake"), ["nj.d.1"]),
        ("pa manual", "cover-on", act("shake"), ["pa.b.1"]),
        # A shake after the cover came off.
        ("pa manual", "announce", act("shake"), ["pa.d"]),
        # Tossed after the call where the round begins with the toss.
        ("pa manual", "cover-off", act("shake"), ["pa.b.1"]),
        ("pa automated covered", "cover-off", BY_DEALER, ["pa.b.2"]),
        # A covered automated shaker may be covered again; only (e) of a manual one forbids it.
        ("pa automated covered", "pay-winners", act("cover-on"), []),
        ("pa automated covered", "clear", act("cover-on"), []),
        ("ny automated", "collect-losers", act("cover-on"), ["ny.e.5"]),
        # A fourth tumble after the call to bet; none that anybody minds once the result is out.
        ("cca", "wager", act("shake"), ["cca.5.1", "cca.7.3"]),
        ("cca", "no-more-bets", BY_DEALER, ["cca.5.1", "cca.7.3"]),
        ("cca", "key", act("shake"), []),
        # An outsider at the tumbler.
        ("cca", "place-your-bets", BY_PLAYER, ["cca.5.6", "cca.7.3"]),
        ("cca", "no-more-bets", BY_PLAYER, ["cca.5.6", "cca.7.3"]),
        ("cca", "collect-losers", BY_PLAYER, ["cca.5.6"]),
        # Covered again before the result is called.
        ("cca", "announce", act("cover-on"), ["cca.5.2"]),
        ("cca", "wager", act("wager", area="big"), []),
        # Calls and covers made twice.
        ("ny manual", "shake", act("no-more-bets"), []),
        ("ny manual", "shake", act("cover-on"), []),
        ("pa manual", "wager", act("cover-on"), []),
        ("ts", "wager", act("wager", area="big"), []),
        ("ts", "activate", act("wager", area="big"), ["ts.2"]),
        ("pa automated", "dice-at-rest", act("wager", area="big"), ["pa.g"]),
        # A key pressed once all is cleared.
        ("ny manual", "round-end", act("key", value=6), ["ny.e.4"]),
    ],
)
def test_one_act_too_many(name: str, place: str, more: Act, expected: Expected):
    """Fails if an act out of its place goes unseen, or one that does no harm is a breach."""
    dealing = DEALINGS[name]
    assert dealing.watch(before(dealing.round(), place, more))[0] == expected


def moved(whole: list[Act], name: str, place: str) -> list[Act]:
    (one,) = [one for one in whole if one[0] == name]
    return before(altered(whole, name), place, one)


@pytest.mark.parametrize(
    ("name", "what", "place", "expected"),
    [
        # The call after the shaking, under a cover put on in time: one breach, of the call.
        ("ny manual", "no-more-bets", "cover-off", ["ny.e.2"]),
        ("ny manual", "hand-motion", "cover-off", ["ny.e.2"]),
        ("nj manual", "no-more-bets", "cover-off", ["nj.c"]),
        ("ny automated covered", "no-more-bets", "activate", []),
        ("nj automated", "activate", "key", ["nj.d.2"]),
        ("pa automated", "activate", "key", ["pa.g"]),
        ("pa automated covered", "activate", "key", ["pa.b.2"]),
        ("cca", "place-your-bets", "cover-off", ["cca.5.2"]),
        ("cca", "place-your-bets", "cover-on", ["cca.5.1", "cca.7.3"]),
        ("ts", "countdown-end", "countdown-start", ["ts.1"]),
        ("pa manual", "lamps", "key", ["pa.d"]),
        ("nj automated", "lamps", "key", ["nj.e"]),
        ("ny manual", "clear", "collect-losers", ["ny.e.6"]),
        ("ny manual", "announce", "cover-off", ["ny.e.4"]),
    ],
)
def test_one_act_in_another_place(name: str, what: str, place: str, expected: Expected):
    """Fails if one act out of order is two breaches, or one of a clause that does not order it."""
    dealing = DEALINGS[name]
    whole = dealing.round()
    assert dealing.watch(moved(whole, what, place))[0] == expected


def test_a_cover_left_on_from_before():
    """Fails if a cover taken off as the round begins is taken for the reveal of its dice.

    New York and New Jersey have the cover put on after the call, the others have it on as the dice
    are tossed.
    """
    on, off = act("cover-on"), act("cover-off")
    for name in ("ny manual", "nj manual", "pa manual", "cca"):
        dealing = DEALINGS[name]
        taken_off = [dealing.head[0], off, *dealing.round()[1:]]
        assert dealing.watch([on], taken_off) == ([], "settled")
    for name, expected in [
        ("ny manual", ["ny.e.3"]),
        ("nj manual", ["nj.d.1"]),
        ("pa manual", []),
        ("cca", []),
    ]:
        dealing = DEALINGS[name]
        left_on = altered(dealing.round(), "cover-on")
        assert dealing.watch([on], left_on)[0] == expected


def test_an_automated_shaker_that_stays_covered_in_new_jersey_breaches_f_alone():
    """Fails if the duty to uncover the manual shaker is demanded of the automated one."""
    dealing = DEALINGS["nj automated"]
    assert dealing.watch(before(dealing.round(), "activate", act("cover-on")))[0] == ["nj.f"]
