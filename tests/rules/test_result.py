"""What is said of a call or an entry that does not agree with the dice, with its values."""

from harness.rules.books import load_book
from harness.rules.procedure import procedure_of
from harness.rules.result import Result, derived_acts, wrong_announcement, wrong_entry
from harness.rules.timeline import Event

AGREES = next(r for r in procedure_of(load_book("ny-5324.51")).rules if r.kind == "agrees")


def test_other_values_than_the_dice_are_told_with_both():
    """Fails if one of them is left out: it is what a dealer is shown."""
    result = Result(rest=(1, 2, 4), announced=[1, 2, 3], digits=[1, 2, 3])
    said = wrong_announcement(AGREES, ("announced",), result)
    assert said == "announced 1,2,3 on dice 1,2,4"
    assert wrong_entry(result) == "entered 1,2,3 on dice 1,2,4"


def test_an_order_or_a_total_that_was_called_wrong_is_told():
    """Fails if a total that nobody called is told as one, or in other words."""
    whole = next(r for r in procedure_of(load_book("cca-1992")).rules if r.kind == "agrees")
    told = [
        wrong_announcement(whole, ("announced",), Result(announced=values, total=total))
        for values, total in (([1, 2, 4], None), ([1, 2, 4], 8), ([2, 1, 4], 7), ([1, 2, 4], 7))
    ]
    assert told == ["total announced as nothing", "total announced as 8", "announced 2,1,4", None]


def test_values_too_many_are_counted():
    result = Result(rest=(1, 2, 4), announced=[1, 2, 4, 4], digits=[1, 2, 4, 4])
    assert wrong_announcement(AGREES, ("announced",), result) == "4 values announced"
    assert wrong_entry(result) == "4 values entered"


def test_the_values_of_the_dice_in_any_order_are_right():
    result = Result(rest=(1, 2, 4), announced=[4, 1, 2], digits=[2, 4, 1])
    assert wrong_announcement(AGREES, ("announced",), result) is None
    assert wrong_entry(result) is None


def test_lamps_answer_an_entry_that_is_whole_though_none_is_lit():
    """Fails if a table that stays dark is taken for one that was not looked at yet."""
    dark, lit = Event(0.0, "lamps", {"lit": []}), Event(0.0, "lamps", {"lit": ["small"]})
    assert derived_acts(dark, Result(digits=[1, 2])) == []
    assert derived_acts(dark, Result(digits=[1, 2, 4])) == ["lit"]
    assert derived_acts(lit, Result(digits=[1, 2])) == ["lit"]
