"""What the sources make of a round that goes wrong without a result, or with a fault."""

import pytest

from tests.rules.rounds import CCA, DEALINGS, DICE, act, acts, book_of, lamps, watched

CCA_ROUND, TS_ROUND = DEALINGS["cca"], DEALINGS["ts"]
ROUND_END = act("round-end")
SILENT = ["ny manual", "ny automated", "nj manual", "nj automated", "pa manual", "pa player"]
NOT_FLAT = ["leaning", "stacked"]
NOT_WHOLE = ["missing", "extra", "broken"]


def lying(state: str):
    return act("dice-at-rest", state=state)


def declared(by: str, reason: str = "no result"):
    return act("no-result", by=by, reason=reason)


def tapped(by: str = "game-supervisor"):
    return act("tap", by=by)


def fault(what: str):
    return act("fault", what=what)


# The 1992 rules, 7.1 to 7.5.


@pytest.mark.parametrize("state", NOT_FLAT + NOT_WHOLE)
@pytest.mark.parametrize("by", ["dealer", "game-supervisor"])
def test_no_result_announced_for_dice_without_a_reading_is_void_and_no_deviation(
    state: str, by: str
):
    """Fails if an irregularity handled as 7.1 or 7.4 says is held against anybody."""
    assert CCA_ROUND.watch([*CCA_ROUND.head, lying(state), declared(by), ROUND_END]) == ([], "void")


@pytest.mark.parametrize("state", NOT_FLAT + NOT_WHOLE)
def test_no_result_left_unannounced_breaches_its_rule_and_is_void_all_the_same(state: str):
    """Fails if going on, stopping short or the wrong person's word counts as the announcement."""
    clause = "cca.7.1" if state in NOT_FLAT else "cca.7.4"
    lies = [*CCA_ROUND.head, lying(state)]
    assert CCA_ROUND.watch([*lies, ROUND_END]) == ([clause], "void")
    assert CCA_ROUND.watch([*lies, *CCA_ROUND.tail()]) == ([clause], "void")
    for by in ("player", "inspector", "floorperson"):
        assert CCA_ROUND.watch([*lies, declared(by), ROUND_END]) == ([clause], "void")


def test_paying_after_no_result_breaches_the_rule_that_voids_the_wagers():
    """Fails if 7.5 is not watched once the announcement was made."""
    paid = [*CCA_ROUND.head, lying("leaning"), declared("dealer"), *CCA_ROUND.tail()]
    assert CCA_ROUND.watch(paid) == (["cca.7.5"], "void")


def test_a_tumbler_that_fails_demands_no_result_and_stops_play():
    """Fails if 7.2 or 7.7 is missed, or the round is not void once the fault is rectified."""
    begun = [*CCA_ROUND.head[:4], fault("tumbler jammed")]
    handled = [*begun, declared("dealer"), act("inspector-told")]
    assert CCA_ROUND.watch([*handled, ROUND_END]) == ([], "stopped")
    assert CCA_ROUND.watch([*handled, act("fault-rectified"), ROUND_END]) == ([], "void")
    went_on = [*begun, act("inspector-told"), *CCA_ROUND.head[4:], *CCA_ROUND.tail()]
    assert CCA_ROUND.watch(went_on) == (["cca.7.2"], "stopped")


@pytest.mark.parametrize("what", ["die broken", "dice cracked", "tumbler broken"])
def test_broken_dice_or_tumbler_go_by_their_own_rule(what: str):
    """Fails if 7.4, the more specific, is reported as 7.2."""
    begun = [*CCA_ROUND.head, fault(what), act("inspector-told")]
    assert CCA_ROUND.watch([*begun, ROUND_END])[0] == ["cca.7.4"]
    assert CCA_ROUND.watch([*begun, declared("dealer"), ROUND_END])[0] == []


def test_early_exposure_handled_is_void_and_leaves_the_dealers_slip():
    """Fails if uncovering before the call is forgiven, or 7.3 is charged although it was obeyed."""
    early = [one for one in CCA_ROUND.head if one[0] != "no-more-bets"]
    assert CCA_ROUND.watch([*early, declared("dealer"), ROUND_END]) == (["cca.5.2"], "void")


def test_two_tumbles_noticed_before_the_call_to_bet_are_no_breach():
    """Fails if the count is judged before the call to bet makes it certain."""
    begun = [*CCA_ROUND.head[:5], declared("dealer"), ROUND_END]
    assert CCA_ROUND.watch(begun) == ([], "void")


def test_a_casino_supervisor_invalidates_a_game():
    """Fails if 8.4 does not end the round without settlement."""
    rest = act("dice-at-rest", values=list(DICE))
    ended = [*CCA_ROUND.head, rest, declared("casino-supervisor", "fire")]
    assert CCA_ROUND.watch([*ended, ROUND_END]) == ([], "void")
    assert CCA_ROUND.watch([*ended, *CCA_ROUND.tail()]) == (["cca.8.4"], "void")


# The 1992 rules, 7.6 and 7.7.

WRONG = act("lamps", lit=["big"])


def with_wrong_lamps(*then: tuple[str, dict[str, object]], end: bool = True):
    whole = CCA_ROUND.round()
    place = whole.index(lamps(*DICE))
    rest = whole[place + 1 : -1]
    return [*whole[:place], WRONG, *rest, *then, *([ROUND_END] if end else [])]


def test_a_lamp_fault_is_settled_by_the_dice_and_stops_play_until_told_and_rectified():
    """Fails if a fault handled by 7.6 and 7.7 is a deviation, or play may go on at once."""
    told, mended = act("inspector-told"), act("fault-rectified")
    assert CCA_ROUND.watch(with_wrong_lamps(fault("lamps"), told)) == ([], "stopped")
    assert CCA_ROUND.watch(with_wrong_lamps(told)) == ([], "stopped")
    assert CCA_ROUND.watch(with_wrong_lamps(fault("lamps"), told, mended)) == ([], "settled")
    assert CCA_ROUND.watch(with_wrong_lamps(fault("lamps")), [told, mended]) == ([], "settled")
    assert CCA_ROUND.watch(with_wrong_lamps(fault("lamps"), told, end=False)) == ([], "stopped")


def test_a_lamp_fault_that_nobody_remarks_breaches_7_6_once():
    """Fails if unremarked wrong lamps pass, or one fault is two breaches."""
    assert CCA_ROUND.watch(with_wrong_lamps()) == (["cca.7.6"], "stopped")


def test_a_fault_that_no_inspector_hears_of_breaches_7_7():
    """Fails if telling the inspector late, or not at all, goes unseen."""
    assert CCA_ROUND.watch(with_wrong_lamps(fault("lamps"))) == (["cca.7.7"], "stopped")
    late = with_wrong_lamps(fault("lamps"), act("fault-rectified"), act("inspector-told"))
    assert CCA_ROUND.watch(late) == (["cca.7.7"], "settled")


def test_play_before_the_fault_is_rectified_breaches_7_7():
    """Fails if the next round may start while play is stopped, or may not once it is mended."""
    handled = with_wrong_lamps(fault("lamps"), act("inspector-told"))
    whole = CCA_ROUND.round()
    assert CCA_ROUND.watch(handled, whole) == (["cca.7.7"], "stopped")
    assert CCA_ROUND.watch(handled, [act("fault-rectified")], whole) == ([], "settled")
    assert CCA_ROUND.watch(with_wrong_lamps(), whole) == (["cca.7.6", "cca.7.7"], "stopped")


def test_a_lamp_fault_is_no_ground_for_no_result():
    """Fails if a dealer may void what 7.6 orders to be settled by the dice."""
    whole = CCA_ROUND.round()
    place = whole.index(lamps(*DICE))
    voided = [*whole[:place], WRONG, fault("lamps"), declared("dealer"), act("inspector-told")]
    assert CCA_ROUND.watch([*voided, ROUND_END])[0] == ["cca.7.6"]


def test_a_fault_between_rounds_stops_play_too():
    """Fails if only a fault within a round is heard."""
    whole = CCA_ROUND.round()
    told = [fault("entry terminal"), act("inspector-told")]
    assert CCA_ROUND.watch(whole, told) == ([], "stopped")
    assert CCA_ROUND.watch(whole, told, [act("fault-rectified")]) == ([], "settled")
    assert CCA_ROUND.watch(whole, [fault("entry terminal")], whole) == (["cca.7.7"], "stopped")


def test_a_stuck_lamp_is_no_tumbler_fault():
    """Fails if a word of the report that fits anything makes the round void."""
    whole = with_wrong_lamps(fault("lamp total-9 stuck, died"), act("inspector-told"))
    assert CCA_ROUND.watch([*whole[:-1], act("fault-rectified"), ROUND_END]) == ([], "settled")


# Tai Sai, 4 and 5.


def test_a_leaning_die_is_tapped_by_the_supervisor_and_read_again():
    """Fails if 4 is not the remedy, or who taps does not matter."""
    leans = [*TS_ROUND.head, lying("leaning")]
    again = [act("dice-at-rest", values=list(DICE)), *TS_ROUND.tail()]
    assert TS_ROUND.watch([*leans, tapped(), *again]) == ([], "settled")
    assert TS_ROUND.watch([*leans, tapped(), lying("leaning"), tapped(), *again]) == ([], "settled")
    assert TS_ROUND.watch([*leans, *again]) == (["ts.4"], "settled")
    assert TS_ROUND.watch([*leans, *TS_ROUND.tail()]) == (["ts.4"], "no-result")
    for by in ("dealer", "floorperson", "casino-supervisor", "player"):
        assert TS_ROUND.watch([*leans, tapped(by), *again]) == (["ts.4"], "settled")
    assert TS_ROUND.watch([*leans, ROUND_END]) == (["ts.4"], "no-result")


def test_the_dice_are_read_again_after_the_tap():
    """Fails if values may be entered that nobody read, or what was paid on them counts."""
    leans = [*TS_ROUND.head, lying("leaning"), tapped()]
    assert TS_ROUND.watch([*leans, *TS_ROUND.tail()]) == (["ts.3"], "no-result")


def test_a_die_that_still_leans_makes_the_game_void():
    """Fails if the reading of a die that will not lie flat is not built."""
    leans = [*TS_ROUND.head, lying("leaning"), tapped(), lying("leaning")]
    assert TS_ROUND.watch([*leans, ROUND_END]) == ([], "void")
    assert TS_ROUND.watch([*leans, *TS_ROUND.tail()]) == (["ts.4"], "void")


def test_a_stacked_die_makes_the_game_void_and_a_new_one_starts():
    """Fails if 5 is not void at once, or a void game may be keyed, tossed again or paid."""
    stacked = [*TS_ROUND.head, lying("stacked")]
    assert TS_ROUND.watch([*stacked, ROUND_END]) == ([], "void")
    assert TS_ROUND.watch([*stacked, ROUND_END], TS_ROUND.round()) == ([], "settled")
    assert TS_ROUND.watch([*stacked, *TS_ROUND.tail()]) == (["ts.5"], "void")
    tossed_again = [*stacked, act("activate", by="dealer")]
    whole = TS_ROUND.round()[len(TS_ROUND.head) :]
    assert TS_ROUND.watch([*tossed_again, *whole]) == (["ts.5"], "void")


# Silence.


@pytest.mark.parametrize("name", SILENT)
@pytest.mark.parametrize("state", NOT_FLAT + NOT_WHOLE)
def test_where_the_source_is_silent_there_is_no_result_and_no_breach(name: str, state: str):
    """Fails if a consequence is made up for dice that have no reading."""
    dealing = DEALINGS[name]
    lies = [*dealing.head, lying(state)]
    assert dealing.watch([*lies, ROUND_END]) == ([], "no-result")
    assert dealing.watch([*lies, *dealing.tail()]) == ([], "no-result")
    assert dealing.watch(lies) == ([], "incomplete")
    flat_again = [act("dice-at-rest", values=list(DICE)), *dealing.tail()]
    assert dealing.watch([*lies, *flat_again]) == ([], "settled")


@pytest.mark.parametrize("state", NOT_WHOLE)
def test_tai_sai_is_silent_on_a_die_that_is_gone_or_broken(state: str):
    """Fails if the rule of stacked dice is stretched to other troubles."""
    assert TS_ROUND.watch([*TS_ROUND.head, lying(state), ROUND_END]) == ([], "no-result")


@pytest.mark.parametrize("name", SILENT)
def test_dice_exposed_before_the_call_void_nothing_where_the_source_states_no_consequence(
    name: str,
):
    """Fails if the 1992 rules' consequence is copied into another book."""
    dealing = DEALINGS[name]
    uncalled = [one for one in dealing.round() if one[0] != "no-more-bets"]
    clauses, outcome = dealing.watch(uncalled)
    assert len(clauses) == 1
    assert outcome == "settled"


@pytest.mark.parametrize("name", SILENT)
def test_a_fault_before_the_result_leaves_none(name: str):
    """Fails if duties are demanded of a round that the equipment cut short."""
    dealing = DEALINGS[name]
    assert dealing.watch([*dealing.head, fault("shaker"), ROUND_END]) == ([], "no-result")
    carried_on = [*dealing.head, fault("lamp"), *dealing.round()[len(dealing.head) :]]
    assert dealing.watch(carried_on) == ([], "settled")


def test_three_activations_make_three_tumbles_only_by_that_option():
    """Fails if the option of what a tumble is does not reach the monitor."""
    activations = [act("activate", by="dealer")] * 3
    head = [one for one in CCA_ROUND.head if one[0] not in ("shake", "activate")]
    place = head.index(act("cover-on")) + 1
    whole = [*head[:place], *activations, *head[place:]]
    whole += CCA_ROUND.round()[len(CCA_ROUND.head) :]
    assert CCA_ROUND.watch(whole)[0] == ["cca.5.1", "cca.7.3"]
    by_option = watched(CCA_ROUND, whole, {"tumble-event": "activation"})
    assert (by_option.deviations, by_option.outcome) == ([], "settled")
    assert "tumble-event" in book_of(CCA).options


def test_the_cover_binds_an_automated_shaker_by_option():
    """Fails if the reading of New York's automated shakers is not an option of the monitor."""
    bare, covered = DEALINGS["ny automated"], DEALINGS["ny automated covered"]
    options: dict[str, object] = {"automated-without-cover": False}
    clauses = [one.clause for one in watched(bare, bare.round(), options).deviations]
    assert clauses == ["ny.e.3"]
    shaken = [*covered.head[:-1], *acts("shake", "shake", "shake"), covered.head[-1]]
    whole = shaken + covered.round()[len(covered.head) :]
    assert watched(covered, whole, options).deviations == []


@pytest.mark.parametrize("name", ["ny manual", "nj manual", "pa manual"])
def test_a_silent_source_does_not_forbid_to_cover_and_shake_again(name: str):
    """Fails if a second toss, after dice that had no reading, is held against the dealer."""
    dealing = DEALINGS[name]
    again = [*acts("cover-on", "shake", "shake", "shake", "cover-off")]
    rest = [act("dice-at-rest", values=list(DICE)), *dealing.tail()]
    assert dealing.watch([*dealing.head, lying("leaning"), *again, *rest]) == ([], "settled")


def test_what_happens_after_the_result_is_out_voids_nothing():
    """Fails if a tumbler or a die that fails after the announcement undoes the result."""
    for what in ("tumbler", "die broken"):
        whole = CCA_ROUND.round()
        place = whole.index(act("pay-winners"))
        handled = [fault(what), act("inspector-told"), act("fault-rectified")]
        assert CCA_ROUND.watch([*whole[:place], *handled, *whole[place:]]) == ([], "settled")


def test_an_entry_that_the_fault_prevented_is_not_demanded():
    """Fails if keys are demanded of a terminal that is reported out of order."""
    whole = CCA_ROUND.round()
    keyless = [one for one in whole if one[0] not in ("key", "lamps")]
    handled = [fault("entry terminal"), act("inspector-told"), act("fault-rectified")]
    place = keyless.index(act("collect-losers"))
    assert CCA_ROUND.watch([*keyless[:place], *handled, *keyless[place:]]) == ([], "settled")


def test_no_result_for_a_wrong_tumbling_stands_beside_a_lamp_fault():
    """Fails if a lamp fault takes away another ground for no result."""
    short = [one for one in CCA_ROUND.head if one != act("shake")]
    whole = [*short, *CCA_ROUND.round()[len(CCA_ROUND.head) :]]
    place = whole.index(act("collect-losers"))
    ended = [fault("lamps"), act("inspector-told"), act("fault-rectified"), declared("dealer")]
    assert CCA_ROUND.watch([*whole[:place], *ended, ROUND_END]) == (["cca.5.1"], "void")


@pytest.mark.parametrize(
    ("begun", "clause"),
    [
        ([*CCA_ROUND.head, lying("leaning")], "cca.7.1"),
        ([*CCA_ROUND.head, lying("broken")], "cca.7.4"),
        ([*CCA_ROUND.head[:4], fault("tumbler"), *CCA_ROUND.head[4:]], "cca.7.2"),
        ([one for one in CCA_ROUND.head if one != act("cover-on")], "cca.7.3"),
    ],
)
def test_settling_a_round_that_has_no_result_is_told_as_it_begins(begun, clause: str):
    """Fails if the breach is told only when the losers' wagers are gone."""
    whole = [*begun, *CCA_ROUND.tail()]
    told = {one.clause: one.at for one in watched(CCA_ROUND, whole).deviations}
    assert whole[int(told[clause])] == act("collect-losers")


def test_two_activations_are_too_few_by_the_option():
    """Fails if activations are not counted where the option says they are the tumbles."""
    head = [one for one in CCA_ROUND.head if one[0] not in ("shake", "activate")]
    place = head.index(act("cover-on")) + 1
    whole = [*head[:place], *[act("activate", by="dealer")] * 2, *head[place:]]
    whole += CCA_ROUND.round()[len(CCA_ROUND.head) :]
    found = watched(CCA_ROUND, whole, {"tumble-event": "activation"}).deviations
    assert [one.clause for one in found] == ["cca.5.1", "cca.7.3"]


def test_tai_sai_after_a_trouble_it_does_not_speak_of():
    """Fails if a second reading, or a fault that was overcome, leaves no result."""
    again = [act("dice-at-rest", values=list(DICE)), *TS_ROUND.tail()]
    assert TS_ROUND.watch([*TS_ROUND.head, lying("missing"), *again]) == ([], "settled")
    assert TS_ROUND.watch([*TS_ROUND.head, fault("puncher"), ROUND_END]) == ([], "no-result")
    assert TS_ROUND.watch([*TS_ROUND.head, fault("puncher"), *again]) == ([], "settled")
    whole = TS_ROUND.round()
    place = whole.index(lamps(*DICE))
    late = [*whole[:place], fault("monitor"), ROUND_END]
    assert TS_ROUND.watch(late)[0] == ["ts.3"]


def test_one_fault_is_one_breach_however_long_it_lasts():
    """Fails if every round that follows an unrectified fault is counted anew."""
    whole = CCA_ROUND.round()
    told = [fault("lamp"), act("inspector-told")]
    assert CCA_ROUND.watch(whole, told, whole, whole) == (["cca.7.7"], "stopped")
    assert CCA_ROUND.watch(whole, told[:1], whole, whole) == (["cca.7.7"], "stopped")


def test_wrong_lamps_are_told_apart_from_what_people_did():
    """Fails if a deviation does not say whether the lamps or a person is behind it."""
    for name, dealing in DEALINGS.items():
        whole = [WRONG if one[0] == "lamps" else one for one in dealing.round()]
        (found,) = watched(dealing, whole).deviations
        assert found.lamps, name
        keyless = [one for one in dealing.round() if one != act("key", value=4)]
        (found,) = watched(dealing, keyless).deviations
        assert not found.lamps, name


def test_a_second_fault_is_told_and_rectified_anew():
    """Fails if what was done about one fault serves the next."""
    whole = CCA_ROUND.round()
    told, mended = act("inspector-told"), act("fault-rectified")
    first = [fault("lamp"), told, mended]
    assert CCA_ROUND.watch(whole, first, whole, [fault("lamp"), told], whole)[0] == ["cca.7.7"]
    assert CCA_ROUND.watch(whole, first, [fault("lamp"), mended], whole)[0] == ["cca.7.7"]
    assert CCA_ROUND.watch(whole, first, first, whole) == ([], "settled")
