"""Fails when flat dice seem to lean, or leaning dice to lie flat, by their upright edges."""

import cmath
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.vision.faces import Frame
from harness.vision.finder import _frame
from harness.vision.plumb import Upright, fit_nadir, lean_chances, with_looks
from harness.vision.training.frames import describe

WIDTH, HEIGHT = SIZE = 640, 480


def see(tilt_deg: float, focal: float, dice, lean_deg: float = 0.0):
    """Look at dice (x, y in edges, yaw); the first leans. Gives them as seen, and the nadir."""
    tilt = math.radians(tilt_deg)
    distance = focal / 60
    forward = np.array([math.sin(tilt), 0, -math.cos(tilt)])
    right = np.array([0.0, 1, 0])
    down = np.cross(forward, right)
    eye = -forward * distance

    def pixel(point) -> complex:
        ray = np.asarray(point, float) - eye
        z = ray @ forward
        return complex(WIDTH / 2 + focal * (ray @ right) / z, HEIGHT / 2 + focal * (ray @ down) / z)

    frames, feet = [], []
    for n, (x, y, yaw) in enumerate(dice):
        lean = math.radians(lean_deg) if n == 0 else 0.0
        turn = np.array(
            [[math.cos(yaw), -math.sin(yaw), 0], [math.sin(yaw), math.cos(yaw), 0], [0, 0, 1]]
        )
        tip = np.array(
            [[1, 0, 0], [0, math.cos(lean), -math.sin(lean)], [0, math.sin(lean), math.cos(lean)]]
        )
        body = tip @ turn
        middle = np.array([x, y, 0.5])
        c = [
            pixel(middle + body @ np.array([a, b, 1]) / 2)
            for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))
        ]
        frame = Frame(sum(c) / 4, (c[1] - c[0] + c[2] - c[3]) / 4, (c[3] - c[0] + c[2] - c[1]) / 4)
        frames.append(frame)
        feet.append(pixel(middle - body[:, 2] / 2) - frame.centre)
    below = pixel(eye + np.array([1e-9, 0, -1])) if tilt < 0.01 else pixel(eye * [1, 1, 0])
    return [Upright(f, foot) for f, foot in zip(frames, feet, strict=True)], below


DICE = [(-1.5, 0.5, 0.2), (1.0, 1.2, 1.0), (0.6, -1.4, 0.5)]


def doubted(seen: list[Upright], doubt: float) -> list[Upright]:
    """Give uprights whose feet are doubted by that many edges."""
    return [Upright(u.frame, u.foot, doubt * u.scale) for u in seen]


@pytest.mark.parametrize("tilt", [0, 5, 12, 25])
@pytest.mark.parametrize("focal", [900, 1400, 2100])
def test_flat_dice_hardly_lean(tilt, focal):
    seen, _ = see(tilt, focal, DICE)
    assert max(lean_chances(doubted(seen, 0.025), SIZE)) < 0.05


@pytest.mark.parametrize("tilt", [0, 5, 12, 25])
@pytest.mark.parametrize("lean", [15, 20, 35, -15])
def test_a_die_that_leans_is_likely_to(tilt, lean):
    seen, _ = see(tilt, 1400, DICE, lean)
    assert lean_chances(doubted(seen, 0.025), SIZE)[0] > 0.3


def test_feet_that_are_hardly_seen_tell_nothing():
    """Fails when a guess counts as a measurement, towards a lean or away from one."""
    seen, _ = see(5, 1400, DICE, 15)
    sure, unsure = (lean_chances(doubted(seen, d), SIZE)[0] for d in (0.025, 0.4))
    assert unsure < 0.2 < sure
    flat, _ = see(5, 1400, DICE)
    assert lean_chances(doubted(flat, 0.4), SIZE)[0] > lean_chances(flat, SIZE)[0]


def test_two_dice_side_by_side_tell_less_of_a_far_third_than_of_one_between():
    near = [(0.0, 0.0, 0.2), (0.0, -1.2, 0.1), (0.0, 1.2, 0.3)]
    far = [(0.0, 4.0, 0.2), (0.0, -1.2, 0.1), (0.0, -0.1, 0.3)]
    chances = []
    for dice in (near, far):
        seen, _ = see(0, 1400, dice, 14)
        chances.append(lean_chances(doubted(seen, 0.03), SIZE)[0])
    assert chances[0] > chances[1]


def test_a_die_alone_leans_only_for_a_calibrated_camera():
    seen, nadir = see(10, 1400, DICE[:1], 15)
    assert lean_chances(doubted(seen, 0.025), SIZE) == [0.0]
    g = math.cos(math.radians(10)) / 1400
    assert lean_chances(doubted(seen, 0.025), SIZE, (nadir, g))[0] > 0.9
    seen, nadir = see(10, 1400, DICE[:1], 0)
    assert lean_chances(doubted(seen, 0.025), SIZE, (nadir, g))[0] < 0.03


@pytest.mark.parametrize("lean", [12, 20, -15])
def test_a_calibrated_camera_tells_a_lean_that_two_far_dice_do_not(lean):
    dice = [(0.0, 5.0, 0.2), (0.0, -1.2, 0.1), (0.2, -0.1, 0.3)]
    seen, nadir = see(8, 1400, dice, lean)
    known = (nadir, math.cos(math.radians(8)) / 1400)
    guessed, told = (lean_chances(doubted(seen, 0.025), SIZE, k)[0] for k in (None, known))
    assert told > max(0.8, guessed)


def test_looks_count_for_a_lean_and_against_one():
    plain = with_looks([0.1, 0.05, 0.0], [0.16, 0.16, 0.16])
    assert plain == pytest.approx([0.1, 0.05, 0.0])
    like, unlike = with_looks([0.1, 0.05, 0.0], [0.4, 0.16, 0.16]), with_looks([0.1], [0.05])
    assert like[0] > 0.25 > 0.05 > unlike[0]
    assert like[1] < plain[1]


def test_at_most_one_die_is_said_to_lean():
    seen, _ = see(5, 1400, DICE, 30)
    assert 0.9 < sum(lean_chances(doubted(seen, 0.025), SIZE)) <= 1


@pytest.mark.parametrize("tilt", [3, 10, 20])
def test_calibration_finds_nadir_and_focal_length(tilt):
    grid = [(x, y, 0.3 * x + y) for x in (-2.5, -1, 1, 2.5) for y in (-2.0, 0.2, 2.0)]
    seen, nadir = see(tilt, 1200, grid)
    found, g = fit_nadir(seen, WIDTH)
    assert abs(found - nadir) < 40
    assert math.cos(math.radians(tilt)) / g == pytest.approx(1200, rel=0.12)


@settings(max_examples=200, deadline=None)
@given(st.floats(20, 200), st.floats(0, 6.28), st.floats(0.45, 1.0), st.floats(0.9, 2.2))
def test_a_parallelogram_is_found_again_from_its_numbers(size, turn, short, between):
    u = cmath.rect(size, turn)
    v = cmath.rect(size * short, turn + between)
    centre = complex(100, 90)
    corners = [
        (z.real, z.imag) for z in (centre - u - v, centre + u - v, centre + u + v, centre - u + v)
    ]
    middle, half, numbers = describe(corners)
    found = _frame(middle, half, np.asarray(numbers, np.float32))
    got = np.array([complex(*c) for c in found.corners])
    want = np.array([complex(*c) for c in corners])
    for corner in want:
        assert np.abs(got - corner).min() < 0.02 * size
