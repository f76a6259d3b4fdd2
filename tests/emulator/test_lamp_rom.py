"""The lamp memory, counted against published win counts and never against the harness's rules."""

from itertools import product

from harness.emulator.lamp_rom import AREAS, LAMPS
from harness.emulator.lamp_sets import results_of

TOTALS = dict(zip(range(4, 18), (3, 6, 10, 15, 21, 25, 27, 27, 25, 21, 15, 10, 6, 3), strict=True))


def wins(area: str) -> int:
    return sum(area in LAMPS["".join(sorted(roll))] for roll in product("123456", repeat=3))


def test_fifty_areas_and_fifty_six_results():
    assert len(LAMPS) == 56
    assert len(AREAS) == 50


def test_each_area_wins_as_often_as_published():
    """Fails when one line of the memory has a wrong, missing or extra code."""
    assert wins("small") == wins("big") == 105
    assert wins("any-triple") == 6
    for number in range(1, 7):
        assert wins(f"triple-{number}") == 1
        assert wins(f"double-{number}") == 16
        assert wins(f"single-{number}") == 91
        for other in range(number + 1, 7):
            assert wins(f"pair-{number}-{other}") == 30
    assert {total: wins(f"total-{total}") for total in TOTALS} == TOTALS


def test_totals_stand_in_the_line_of_their_sum():
    for result, areas in LAMPS.items():
        total = sum(map(int, result))
        assert {area for area in areas if area.startswith("total-")} == (
            {f"total-{total}"} if 4 <= total <= 17 else set()
        )


def rolls(area: str) -> int:
    results = results_of(area)
    return sum("".join(sorted(roll)) in results for roll in product("123456", repeat=3))


def test_areas_of_wider_layouts():
    """Odd and even lose on the six triples; a set of two numbers has three orders, of three six."""
    assert rolls("odd") == rolls("even") == 105
    assert rolls("set-1-1-2") == 3
    assert rolls("set-1-2-3") == 6
    assert rolls("four-1-2-3-4") == 24
    assert results_of("set-1-2") is None
    assert results_of("chips") is None
    assert rolls("small") == 105
