"""Fails when whole faces are taken for parts, or a part of one for whole, by their sizes."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harness.vision.faces import Frame
from harness.vision.plumb import Upright
from harness.vision.sizes import of_one_set, one_falls_short, one_higher
from tests.vision.test_plumb import DICE, see

PLACE = st.floats(-2.5, 2.5)
TURNED = st.tuples(PLACE, PLACE, st.floats(0, 1.5))


def smaller(upright: Upright, part: float) -> Upright:
    """Give a face found too small."""
    f = upright.frame
    return Upright(Frame(f.centre, f.across * part, f.along * part), upright.foot, upright.doubt)


@settings(deadline=None, max_examples=60)
@given(st.floats(0, 25), st.floats(500, 2100), st.lists(TURNED, min_size=2, max_size=5))
def test_dice_on_one_floor_are_whole_however_the_camera_is_tilted(tilt, focal, dice):
    """Fails if what lies farther from a tilted camera is taken for a part."""
    apart = [(a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 for n, a in enumerate(dice) for b in dice[:n]]
    assume(min(apart) > 1.0)
    seen, _ = see(tilt, focal, dice)
    assert of_one_set(seen)
    assert not one_falls_short(seen, [False] * len(seen))


@pytest.mark.parametrize("tilt", [0, 5, 10])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_ring_about_one_pip_is_a_part(tilt, which):
    seen, _ = see(tilt, 1400, DICE)
    seen[which] = smaller(seen[which], 0.82)
    assert one_falls_short(seen, [False] * 3)


def test_one_die_or_none_has_nothing_to_be_compared_with():
    seen, _ = see(0, 1400, DICE)
    assert not one_falls_short(seen[:1], [True])
    assert not one_falls_short([], [])
    assert not one_higher(seen[:1])


def test_a_die_upon_another_is_larger():
    seen, _ = see(0, 1400, DICE)
    assert not one_higher(seen)
    seen[1] = smaller(seen[1], 0.93)
    assert one_higher(seen)


@pytest.mark.parametrize("tilt", [0, 10, 20])
def test_what_may_be_hidden_is_allowed_nothing_for_tilt(tilt):
    """Fails if a tilted camera lets a part pass that light may have made."""
    seen, _ = see(tilt, 1400, DICE)
    smallest = min(range(3), key=lambda k: seen[k].scale)
    seen[smallest] = smaller(seen[smallest], 0.86)
    assert one_falls_short(seen, [k == smallest for k in range(3)])
