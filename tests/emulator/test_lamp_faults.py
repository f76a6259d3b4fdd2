"""Faults of lamps, of the inputs that sense them, and of the lamp logic."""

import time
from itertools import permutations, product

import pytest

from harness.emulator.lamp_rom import LAMPS


def sound(keys: str) -> set[str]:
    return set(LAMPS["".join(sorted(keys))])


def test_dead_lamp_and_no_other(bench):
    bench.arm("F10", lamp="total-9")
    assert bench.enter("126") == sound("126") - {"total-9"}
    assert bench.enter("136") == sound("136")


def test_stuck_lamp_is_lit_after_clear_and_for_losing_results(bench):
    bench.arm("F11", lamp="total-9")
    assert bench.lit() == {"total-9"}
    assert bench.enter("111") == sound("111") | {"total-9"}


def test_swapped_lamps(bench):
    bench.arm("F12", a="small", b="big")
    assert bench.enter("112") == sound("112") - {"small"} | {"big"}
    assert bench.enter("566") == sound("566") - {"big"} | {"small"}
    assert bench.enter("111") == sound("111")


def test_bridged_lamps_are_equal(bench):
    bench.arm("F13", a="single-2", b="single-3")
    assert bench.enter("112") == sound("112") | {"single-3"}
    assert bench.enter("113") == sound("113") | {"single-2"}
    assert bench.enter("114") == sound("114")


def test_flickering_lamp(bench):
    bench.arm("F15", lamp="total-9", hz=7)
    bench.press(*"126")
    time.sleep(0.03)
    seen = [bench.lit(0.01) for _ in range(25)]
    assert {"total-9" in lit for lit in seen} == {True, False}
    assert all(lit | {"total-9"} == sound("126") for lit in seen)


@pytest.mark.parametrize(
    ("group", "prefix"),
    [("totals", "total-"), ("singles", "single-"), ("pairs", "pair-"), ("doubles", "double-")],
)
def test_open_common_takes_the_whole_group(bench, group, prefix):
    bench.arm("F16", group=group)
    assert bench.enter("112") == {area for area in sound("112") if not area.startswith(prefix)}


def test_open_common_of_the_sides(bench):
    bench.arm("F16", group="sides")
    assert bench.enter("112") == sound("112") - {"small"}


@pytest.mark.parametrize("value", [0, 1])
def test_stuck_input_is_not_the_lamp(bench, value):
    bench.arm("F17", lamp="total-9", value=value)
    assert ("total-9" in bench.enter("126")) is bool(value)
    assert ("total-9" in bench.lit()) is bool(value)
    bench.press(*"126")
    time.sleep(0.03)
    assert "total-9" in bench.do("state")["lit"]


def test_settling_late(bench):
    bench.arm("F20", lamp="total-9", ms=400)
    bench.press(*"126")
    assert bench.lit() == sound("126") - {"total-9"}
    assert bench.lit(0.5) == sound("126")


@pytest.mark.parametrize(
    ("which", "span", "expected"),
    [
        ("both", "open", {"111": "small", "222": "small", "333": "small"}),
        ("both", "closed", {"222": "small", "333": "small", "444": "big", "555": "big"}),
        ("small", "open", {"111": "small", "222": "small", "333": "small"}),
        ("big", "closed", {"444": "big", "555": "big"}),
    ],
)
def test_small_or_big_on_triples(bench, which, span, expected):
    bench.arm("F21", which=which, range=span)
    if (which, span) == ("both", "open"):
        expected = expected | {"444": "big", "555": "big", "666": "big"}
    for face in "123456":
        extra = {expected[face * 3]} if face * 3 in expected else set()
        assert bench.enter(face * 3) == sound(face * 3) | extra
    assert bench.enter("112") == sound("112")


def test_double_dark_on_its_triple_only(bench):
    bench.arm("F22")
    assert bench.enter("444") == sound("444") - {"double-4"}
    assert bench.enter("445") == sound("445")


def test_totals_off_by_one(bench):
    bench.arm("F23", by=1)
    assert bench.enter("112") == sound("112") - {"total-4"} | {"total-5"}
    assert bench.enter("666") == sound("666")
    assert bench.enter("566") == sound("566") - {"total-17"}


def test_any_triple_dark(bench):
    bench.arm("F24")
    assert bench.enter("555") == sound("555") - {"any-triple"}


def test_order_dependent(bench):
    bench.arm("F25", result="1-2-3")
    wrong = {"".join(keys) for keys in permutations("123") if bench.enter(keys) != sound("123")}
    assert wrong == {"123"}


def test_residue_stays_after_a_result_that_had_it(bench):
    bench.arm("F28", lamp="total-9")
    assert bench.enter("112") == sound("112")
    assert bench.lit() == set()
    assert bench.enter("126") == sound("126")
    assert bench.lit() == {"total-9"}


def test_late_timeout_and_early_timeout(bench):
    bench.arm("F29", ms=200)
    bench.press("1", "2")
    time.sleep(0.3)
    assert bench.do("state")["entered"] == []


def test_lit_before_the_third_key(bench):
    bench.arm("F27", after=2)
    bench.press("1", "2")
    assert bench.lit() == {"single-1", "single-2"}


def test_fourth_key_taken(bench):
    bench.arm("F26", takes="last-three")
    bench.press(*"123")
    bench.press("4")
    assert bench.lit() == sound("234")


def test_slip_only_where_those_dice_lie_and_are_keyed(bench):
    """Fails if the dealer's slip also changes an entry for other dice."""
    bench.arm("F58", shown="1-2-3", entered="1-2-4")
    bench.do("present", dice=[3, 1, 2])
    assert bench.enter("213") == sound("124")
    bench.do("present", dice=[1, 2, 4])
    assert bench.enter("123") == sound("123")


def test_every_result_in_every_order_lights_its_line(shared):
    """The table without its wires: all 216 through terminal and logic."""
    from harness.emulator.firmware import LampLogic

    logic = LampLogic()
    for keys in product("123456", repeat=3):
        assert logic.areas(keys) == sound("".join(keys))


def test_faults_add_up_and_are_taken_back_alone(bench):
    bench.arm("F10", lamp="total-9")
    bench.arm("F10", lamp="single-6")
    bench.arm("F11", lamp="big")
    assert bench.enter("126") == sound("126") - {"total-9", "single-6"} | {"big"}
    bench.do("disarm", fault="F10")
    assert bench.enter("126") == sound("126") | {"big"}
    assert [each["fault"] for each in bench.do("state")["armed"]] == ["F11"]
