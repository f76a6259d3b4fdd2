"""Inspections: who, how often, before the table opens and at the start of a shift."""

import pytest

from tests.rules.rounds import DEALINGS, act


def terminal(by: str = "floorperson", passed: bool = True):
    return act("inspect-terminal", by=by, passed=passed)


def runs(*passed: bool, by: str = "floorperson"):
    return [act("inspect-shaker-run", by=by, passed=one) for one in passed]


def shift(*passed: bool, by: str = "casino-supervisor"):
    return [act("shift-start"), *runs(*passed, by=by)]


THREE = runs(True, True, True)
OPEN = act("table-open")

TERMINAL = {
    "ny manual": "ny.e.1",
    "ny automated": "ny.e.1",
    "nj manual": "nj.a.1",
    "pa manual": "pa.a.1",
}
SHAKER = {
    "nj automated": ("nj.a.1", "nj.a.2"),
    "pa automated": ("pa.a.1", "pa.a.2"),
    "pa automated covered": ("pa.a.1", "pa.a.2"),
    "pa player": ("pa.a.1", "pa.a.2"),
}


@pytest.mark.parametrize("name", TERMINAL)
def test_the_floorperson_inspects_the_terminal_before_opening(name: str):
    """Fails if it is not demanded of the floorperson before the table opens, or counted twice."""
    dealing, clause = DEALINGS[name], TERMINAL[name]
    whole = dealing.round()
    assert dealing.watch([terminal(), OPEN], whole, whole) == ([], "settled")
    assert dealing.watch([OPEN], whole, whole) == ([clause], "settled")
    assert dealing.watch([OPEN, terminal()], whole)[0] == [clause]
    assert dealing.watch(whole)[0] == []
    for by in ("dealer", "casino-supervisor", "game-supervisor", "inspector", "player"):
        assert dealing.watch([terminal(by), OPEN], whole)[0] == [clause]


@pytest.mark.parametrize("name", TERMINAL)
def test_play_after_a_failed_inspection(name: str):
    """Fails if play may follow a failure, or may not follow once it was made good."""
    dealing, clause = DEALINGS[name], TERMINAL[name]
    whole = dealing.round()
    failed = terminal(passed=False)
    assert dealing.watch([failed, OPEN], whole, whole)[0] == [clause]
    assert dealing.watch([failed, OPEN]) == ([], "incomplete")
    assert dealing.watch([failed, terminal(), OPEN], whole)[0] == []
    assert dealing.watch([terminal(), OPEN], whole, [failed], whole)[0] == [clause]
    assert dealing.watch([terminal("dealer", passed=False), terminal(), OPEN], whole)[0] == []


@pytest.mark.parametrize("name", SHAKER)
def test_the_floorperson_runs_an_automated_shaker_three_times(name: str):
    """Fails if two runs do, other people's runs count, or a run that failed is forgotten."""
    dealing, (first, second) = DEALINGS[name], SHAKER[name]
    whole = dealing.round()
    assert dealing.watch([terminal(), *THREE, OPEN], whole)[0] == []
    assert dealing.watch([*THREE, terminal(), OPEN], whole)[0] == []
    assert dealing.watch([*THREE, OPEN], whole)[0] == [first]
    assert dealing.watch([terminal(), OPEN], whole)[0] == [second]
    assert dealing.watch([OPEN], whole)[0] == [first, second]
    assert dealing.watch([terminal(), *THREE[:2], OPEN], whole)[0] == [second]
    mixed = [*THREE[:2], *runs(True, by="casino-supervisor")]
    assert dealing.watch([terminal(), *mixed, OPEN], whole)[0] == [second]
    assert dealing.watch([terminal(), *runs(True, False, True), OPEN], whole)[0] == [second]
    made_good = runs(False, True, True, True)
    assert dealing.watch([terminal(), *made_good, OPEN], whole)[0] == []


@pytest.mark.parametrize("name", ["nj manual", "pa manual", "ny automated"])
def test_no_shaker_inspection_is_demanded_where_the_source_demands_none(name: str):
    """Fails if an inspection is carried over to equipment or a book that has none."""
    dealing = DEALINGS[name]
    opening = [act("shift-start"), terminal(), *runs(False, by="casino-supervisor"), OPEN]
    assert dealing.watch(opening, dealing.round())[0] == []


@pytest.mark.parametrize("name", ["cca", "ts"])
def test_books_without_inspections_open_without(name: str):
    """Fails if an opening inspection is made up."""
    dealing = DEALINGS[name]
    assert dealing.watch([act("shift-start"), OPEN], dealing.round()) == ([], "settled")


def test_the_casino_supervisor_runs_the_shaker_at_the_start_of_each_shift():
    """Fails if New Jersey's (b) is not its own record, by its own person, before the next round."""
    dealing = DEALINGS["nj automated"]
    whole = dealing.round()
    opening = [terminal(), *THREE, OPEN]
    assert dealing.watch(opening, shift(True, True, True), whole, whole)[0] == []
    assert dealing.watch(shift(True, True, True), opening, whole)[0] == []
    assert dealing.watch(opening, shift(True, True), whole, whole)[0] == ["nj.b"]
    assert dealing.watch(opening, shift(), whole)[0] == ["nj.b"]
    for by in ("floorperson", "game-supervisor", "dealer", "inspector"):
        assert dealing.watch(opening, shift(True, True, True, by=by), whole)[0] == ["nj.b"]
    assert dealing.watch(shift(True, False, True), opening, whole)[0] == ["nj.b"]
    before = runs(True, True, True, by="casino-supervisor")
    assert dealing.watch(opening, before, [act("shift-start")], whole)[0] == ["nj.b"]


def test_each_shift_has_its_own_inspection_and_none_is_due_before_the_next_round():
    """Fails if one shift's record serves the next, or the round under way is held up."""
    dealing = DEALINGS["nj automated"]
    whole = dealing.round()
    good = shift(True, True, True)
    assert dealing.watch(good, whole, good, whole)[0] == []
    assert dealing.watch(good, whole, [act("shift-start")], whole)[0] == ["nj.b"]
    changed = [*whole[:4], act("shift-start"), *whole[4:]]
    assert dealing.watch(changed)[0] == []
    assert dealing.watch(changed, good[1:], whole)[0] == []
    assert dealing.watch(changed, whole)[0] == ["nj.b"]


def test_opening_runs_by_the_floorperson_do_not_serve_the_shift_nor_the_other_way():
    """Fails if one set of runs answers two duties of two people."""
    dealing = DEALINGS["nj automated"]
    whole = dealing.round()
    assert dealing.watch([act("shift-start"), terminal(), *THREE, OPEN], whole)[0] == ["nj.b"]
    by_supervisor = runs(True, True, True, by="casino-supervisor")
    opening = [act("shift-start"), terminal(), *by_supervisor, OPEN]
    assert dealing.watch(opening, whole)[0] == ["nj.a.2"]


def test_each_opening_has_its_own_inspection():
    """Fails if yesterday's record opens the table today, or one opening written twice is two."""
    dealing = DEALINGS["ny manual"]
    whole = dealing.round()
    assert dealing.watch([terminal(), OPEN], whole, [OPEN], whole)[0] == ["ny.e.1"]
    assert dealing.watch([terminal(), OPEN, OPEN], whole)[0] == []
    assert dealing.watch([OPEN, OPEN], whole)[0] == ["ny.e.1"]


def test_a_failed_run_is_made_good_by_a_whole_inspection_after_it():
    """Fails if runs passed before a failure count towards making it good."""
    dealing = DEALINGS["nj automated"]
    opening = [terminal(), *runs(True, True, False, True), OPEN]
    assert dealing.watch(opening, dealing.round())[0] == ["nj.a.2"]
