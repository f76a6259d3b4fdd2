"""A round, as its people deal it."""

from __future__ import annotations

from pytest_bdd import given, parsers, then, when

from harness.bdd.capabilities import needs
from harness.bdd.sitting import Sitting
from harness.rules.judgement import NO_READING
from harness.verdicts import Verdict

WHO = r"(?P<by>dealer|floorperson|casino supervisor|game supervisor|inspector|selected player)"
_PEOPLE = {"selected player": "player"}


def person(by: str) -> str:
    """Give a person's name on the timeline."""
    return _PEOPLE.get(by, by.replace(" ", "-"))


@given("a table that was inspected and opened")
def table_open(sitting: Sitting) -> None:
    """Begin where the opening inspection ended."""
    sitting.round.open_inspected()


@when("a round begins")
def round_begins(sitting: Sitting) -> None:
    """Begin a round, the dice as they lie."""
    sitting.round.note("round-start")
    if sitting.eyes_or_none is not None:
        sitting.round.dealing.before_toss = sitting.eyes.look_at_leisure()


@when(parsers.re(r"players place wagers on (?P<areas>[a-z0-9\-, ]+)"))
def wagers(sitting: Sitting, areas: str) -> None:
    """Put each wager on the timeline."""
    for area in areas.split(", "):
        sitting.round.note("wager", area=area)


@when('the dealer calls "no more bets"')
@needs("operator")
def no_more_bets(sitting: Sitting) -> None:
    """Have the operator hear the call."""
    sitting.round.told("no-more-bets", "Was 'no more bets' called?")


@when("the dealer shows by hand that no more bets are taken")
@needs("operator")
def hand_motion(sitting: Sitting) -> None:
    """Have the operator see the motion."""
    sitting.round.told("hand-motion", "Did the dealer's hand show that no more bets are taken?")


@when('the dealer calls "place your bets"')
@needs("operator")
def place_your_bets(sitting: Sitting) -> None:
    """Have the operator hear the call."""
    sitting.round.told("place-your-bets", "Were the players called to place their bets?")


@when("the cover is put on the shaker")
@needs("cover", "opaque-cover")
def cover_on(sitting: Sitting) -> None:
    """Put the cover on; it is on when its switch says so."""
    sitting.round.dealing.cover()


@when("the cover is taken off the shaker")
@needs("cover", "opaque-cover")
def cover_off(sitting: Sitting) -> None:
    """Take the cover off; it is off when its switch says so."""
    sitting.round.dealing.uncover()


@when(parsers.re(r"the dealer shakes it (?P<strokes>[0-9]+) times"))
@needs("shaker", "shake-sense", "manual-shaker")
def shake(sitting: Sitting, strokes: str) -> None:
    """Shake by hand; what counts is what the shake sensor counted."""
    sitting.round.dealing.shake(int(strokes))


@when(parsers.re(rf"the {WHO} activates the shaker"))
@needs("shaker", "shake-sense")
def activate(sitting: Sitting, by: str) -> None:
    """Activate the machine once."""
    sitting.round.dealing.activate(person(by))


@when("the dice have come to rest")
@needs("dice-camera")
def dice_rest(sitting: Sitting) -> None:
    """Wait for rest and read the dice."""
    sitting.look = sitting.round.dealing.rest()


@when("the value of each die is announced")
@needs("operator", "dice-camera")
def announce(sitting: Sitting) -> None:
    """Have the operator hear the values as the camera read them."""
    values = sitting.seen().values
    said = ", ".join(str(value) for value in values)
    sitting.round.told("announce", f"Were the values {said} announced?", values=list(values))


@when("the values are announced from the lowest to the highest, and their total")
@needs("operator", "dice-camera")
def announce_in_order(sitting: Sitting) -> None:
    """Have the operator hear the values in ascending order, then the total."""
    values = sitting.seen().values
    said = ", ".join(str(value) for value in values)
    sitting.round.told(
        "announce",
        f"Were {said} announced in this order, and then the total {sum(values)}?",
        values=list(values),
        total=sum(values),
    )


@when("the values are entered on the terminal")
@needs("keys", "lamps", "dice-camera")
def enter(sitting: Sitting) -> None:
    """Enter what the camera read."""
    sitting.round.enter(sitting.agreed)


@when("the losing wagers are collected")
@needs("operator")
def collect(sitting: Sitting) -> None:
    """Have the operator see the losing wagers taken."""
    sitting.round.told("collect-losers", "Were all losing wagers collected?")


@when("the winning wagers are paid")
@needs("operator")
def pay(sitting: Sitting) -> None:
    """Have the operator see the winners paid."""
    sitting.round.told("pay-winners", "Were all winning wagers paid?")


@when("the table is cleared")
@needs("clear-key")
def clear(sitting: Sitting) -> None:
    """Press the clear key and see the lamps dark."""
    sitting.round.clear()


@when("the round ends")
def round_ends(sitting: Sitting) -> None:
    """End the round: what was left out counts now."""
    sitting.round.note("round-end")


@then("nothing departed from the rules of dealing")
def nothing_departed(sitting: Sitting) -> None:
    """Take what the monitor found into the verdict."""
    before = len(sitting.scenario.checks)
    sitting.round.judge()
    if len(sitting.scenario.checks) == before:
        sitting.scenario.check(Verdict.PASS, "dealt as the rules demand")


@then(parsers.re(r"the round is (?P<outcome>settled|void|stopped|no-result)"))
def round_is(sitting: Sitting, outcome: str) -> None:
    """Compare what the book makes of the round."""
    found = sitting.round.outcome
    verdict, part = Verdict.PROCEDURE_FAIL, "dealer"
    if found == outcome:
        verdict = Verdict.PASS
    elif sitting.look is not None and sitting.seen().reason in NO_READING:
        verdict, part = Verdict.NO_RESULT, "dice"
    sitting.scenario.check(verdict, f"the round is {found}", part=(part,), fault="outcome")
