"""Dice at rest: geometry that must hold for any seed, value and pose."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.emulator.scene import STYLES, Die, Tray, Unplaceable
from harness.emulator.scene.dice import LEFT_HANDED, RIGHT_HANDED, face_pips
from harness.emulator.scene.motion import Motion
from harness.emulator.scene.poses import Chamber, Placed, Rest, inside, penetration, turned

seeds = st.integers(0, 2**32 - 1)
values = st.tuples(*[st.integers(1, 6)] * 3)
trays = st.sampled_from([Tray(), Tray(radius=60.0), Tray(shape="chambers", radius=60.0)])
GOOD = Die(STYLES["white-black"])


def rest_in(tray: Tray, touching: float = 0.0, gap_mm: float = 1.0) -> Rest:
    return Rest(tray.wells, tray.wall, gap_mm=gap_mm, touching=touching)


def slots_of(dice_values: tuple[int, ...]) -> list[int]:
    return [GOOD.nominal.index(v) for v in dice_values]


def well_of(placed: Placed, tray: Tray) -> Chamber:
    return min(
        tray.wells,
        key=lambda w: (w.x - placed.position[0]) ** 2 + (w.y - placed.position[1]) ** 2,
    )


@settings(max_examples=120, deadline=None)
@given(seeds, values, trays, st.sampled_from([0.0, 1.0]))
def test_flat_dice_share_no_volume_stand_on_the_floor_and_show_their_values(
    seed, dice_values, tray, touching
):
    """Fails if two dice overlap, one sinks, leaves its well, or has another face up."""
    placed = rest_in(tray, touching, gap_mm=0.0).lay(
        [GOOD] * 3, slots_of(dice_values), "flat", np.random.default_rng(seed)
    )
    for one, two in itertools.combinations(placed, 2):
        assert penetration(one, two) <= 1e-6
    for one, value in zip(placed, dice_values, strict=True):
        assert inside(one, well_of(one, tray))
        assert one.position[2] == pytest.approx(GOOD.edge_mm / 2)
        assert one.tilt_deg == pytest.approx(0, abs=1e-6)
        assert GOOD.faces[one.up_slot] == value
        assert np.linalg.det(one.rotation) == pytest.approx(1)


@settings(max_examples=120, deadline=None)
@given(seeds, values, trays)
def test_a_leaning_die_leans_by_more_than_ten_degrees_and_touches_what_holds_it(
    seed, dice_values, tray
):
    """Fails if it hangs in the air, leans on nothing, or leans too little to be told."""
    placed = rest_in(tray).lay(
        [GOOD] * 3, slots_of(dice_values), "leaning", np.random.default_rng(seed)
    )
    leaning = [p for p in placed if p.state == "leaning"]
    assert len(leaning) == 1
    one = leaning[0]
    assert 10 < one.tilt_deg < 45
    corners = one.vertices()
    assert np.sort(corners[:, 2])[:2] == pytest.approx(0, abs=1e-6)
    for other in placed:
        assert other is one or penetration(one, other) <= 1e-5
    well = well_of(one, tray)
    reach = np.hypot(corners[:, 0] - well.x, corners[:, 1] - well.y).max()
    on_wall = abs(reach - well.radius) < 0.01
    on_die = any(other is not one and penetration(one, other) > -0.01 for other in placed)
    assert on_wall or on_die


@settings(max_examples=80, deadline=None)
@given(seeds, values)
def test_a_stacked_die_lies_on_another_with_its_weight_over_it(seed, dice_values):
    """Fails if the upper die would fall off, floats or sinks."""
    placed = rest_in(Tray()).lay(
        [GOOD] * 3, slots_of(dice_values), "stacked", np.random.default_rng(seed)
    )
    top = next(p for p in placed if p.state == "stacked")
    under = next(p for p in placed if p.state == "under")
    assert top.position[2] == pytest.approx(1.5 * GOOD.edge_mm)
    weight = under.rotation.T @ (top.position - under.position)
    across = np.sort(np.abs(weight))[:2]
    assert across.max() < GOOD.edge_mm / 2
    assert penetration(top, under) == pytest.approx(0, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(seeds, st.floats(0.05, 2.0))
def test_moving_dice_stay_above_the_floor_and_end_where_they_rest(seed, duration):
    """Fails if a tumbling die sinks into the floor or jumps when it comes to rest."""
    rng = np.random.default_rng(seed)
    tray = Tray()
    rest = rest_in(tray).lay([GOOD] * 3, [0, 1, 2], "flat", rng)
    motion = Motion.toss(rest, tray.wells, duration, rng)
    for elapsed in np.linspace(0, duration, 9)[:-1]:
        for one in motion.at(float(elapsed)):
            assert one.vertices()[:, 2].min() >= -1e-6
            assert one.state == "moving"
    just_before = motion.at(duration - 1e-4)
    for one, two in zip(just_before, motion.at(duration), strict=True):
        assert np.linalg.norm(one.vertices() - two.vertices(), axis=1).max() < 0.1


def test_dice_that_do_not_fit_are_refused():
    """Fails if dice are forced into a tray too small for them."""
    small = Tray(radius=14.0)
    with pytest.raises(Unplaceable):
        rest_in(small).lay([GOOD] * 3, [0, 0, 0], "flat", np.random.default_rng(0))


@pytest.mark.parametrize("faces", [RIGHT_HANDED, LEFT_HANDED])
def test_opposite_faces_sum_to_seven(faces):
    """Fails if a good die's opposite faces do not make seven."""
    assert all(faces[2 * k] + faces[2 * k + 1] == 7 for k in range(3))


def test_hands_are_mirror_images():
    """Fails if 1, 2, 3 do not turn counter-clockwise on a right-handed die only."""
    for hand, sense in (("right", 1), ("left", -1)):
        die = Die(STYLES["asian"], hand)
        one, two, three = (die.faces.index(v) for v in (1, 2, 3))
        normals = [np.eye(3)[f // 2] * (1 if f % 2 == 0 else -1) for f in (one, two, three)]
        assert np.linalg.det(np.stack(normals)) == pytest.approx(sense)


def test_a_wrong_die_has_a_face_twice_and_opposite_faces_that_do_not_sum_to_seven():
    """Fails if the wrong die of F56 could pass for a good one."""
    wrong = GOOD.wrong()
    assert sorted(wrong.faces) == [1, 1, 2, 3, 4, 5]
    assert any(wrong.faces[2 * k] + wrong.faces[2 * k + 1] != 7 for k in range(3))


@pytest.mark.parametrize("style", STYLES)
def test_pips_lie_wholly_on_their_face_and_apart(style):
    """Fails if a pip runs over an edge or into its neighbour."""
    die = Die(STYLES[style])
    for face, value in enumerate(die.faces):
        pips = face_pips(die, face)
        assert len(pips) == value
        radius = die.style.pip_radius * die.edge_mm
        across = np.delete(pips, face // 2, axis=1)
        assert np.abs(across).max() + radius < die.edge_mm / 2
        for one, two in itertools.combinations(across, 2):
            assert np.linalg.norm(one - two) > 2.2 * radius


@settings(max_examples=60, deadline=None)
@given(seeds)
def test_penetration_tells_overlap_from_a_gap(seed):
    """Fails if the overlap test misses a shared point, against sampling."""
    rng = np.random.default_rng(seed)
    one = Placed(GOOD, np.zeros(3), turned(4, rng.uniform(0, 6)))
    turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    two = Placed(GOOD, rng.uniform(-20, 20, size=3), turn * np.sign(np.linalg.det(turn)))
    grid = rng.uniform(-0.5, 0.5, size=(4000, 3)) * GOOD.edge_mm
    inside_two = np.abs((grid @ one.rotation.T - two.position) @ two.rotation) < GOOD.edge_mm / 2
    if inside_two.all(axis=1).any():
        assert penetration(one, two) > 0
