"""Fails when pips are read that are not there, or a face is read whose pips are hidden."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.vision.faces import Frame, Pyramid
from harness.vision.lattice import PATTERNS
from harness.vision.pips import read_pips
from tests.vision.drawn_faces import COLOURS, draw, lit, spots_at_random


@pytest.mark.parametrize("style", COLOURS)
@pytest.mark.parametrize("pattern", range(9))
@pytest.mark.parametrize("edge", [32, 60, 150])
def test_every_pattern_of_every_style_and_size_is_read(style, pattern, edge):
    image, frame = draw(pattern, edge, 0.3, style)
    assert read_pips(Pyramid(image), [frame])[0].value == PATTERNS[pattern][0]


@settings(max_examples=150, deadline=None)
@given(
    pattern=st.integers(0, 8), turn=st.floats(0, 6.28), edge=st.floats(30, 160),
    shift=st.tuples(st.floats(-0.12, 0.12), st.floats(-0.12, 0.12)), swell=st.floats(0.9, 1.1),
    skew=st.floats(-0.12, 0.12), reach=st.floats(0.2, 0.27), style=st.sampled_from(list(COLOURS)),
    noise=st.floats(0, 12), radius=st.floats(0.07, 0.105),
)  # fmt: skip
def test_a_frame_that_is_off_never_makes_another_value(
    pattern, turn, edge, shift, swell, skew, reach, style, noise, radius
):
    image, frame = draw(pattern, edge, turn, style, reach, radius, noise)
    off = Frame(
        frame.centre + shift[0] * frame.across + shift[1] * frame.along,
        frame.across * swell * complex(np.cos(skew), np.sin(skew)),
        frame.along * swell * complex(np.cos(skew), np.sin(skew)),
    )
    assert read_pips(Pyramid(image), [off])[0].value in (None, PATTERNS[pattern][0])


@pytest.mark.parametrize("pattern", [6, 7, 8])
def test_glare_over_a_pip_of_five_or_six_refuses(pattern):
    """A five whose middle pip is hidden by white light must not be read as a four."""
    image, frame = draw(pattern, 80, 0.2, "white")
    a, b = PATTERNS[pattern][1][-1]
    x, y = frame.at(a * 0.46, b * 0.46)
    cv2.circle(image, (round(x), round(y)), 17, (255, 255, 255), -1)
    assert read_pips(Pyramid(image), [frame])[0].value is None


@pytest.mark.parametrize("pattern", [5, 7, 8])
@pytest.mark.parametrize("body", [(231, 243, 246), (240, 240, 240), (234, 250, 250)])
def test_white_sheets_of_light_over_a_bright_body_leave_no_two(pattern, body, monkeypatch):
    """Fails when a body that is hardly darker than the light hides where the light begins."""
    monkeypatch.setitem(COLOURS, "bright", (body, (60, 60, 60)))
    image, frame = draw(pattern, 60, 0.0, "bright")
    for a, b in PATTERNS[pattern][1]:
        if a * b >= 0 and (a, b) != (0, 0):
            x, y = frame.at(a * 0.46, b * 0.46)
            cv2.rectangle(image, (round(x) - 12, round(y) - 12), (round(x) + 12, round(y) + 12),
                          (255, 255, 255), -1)  # fmt: skip
    assert read_pips(Pyramid(image), [frame])[0].value in (None, PATTERNS[pattern][0])


@pytest.mark.parametrize("pattern", [3, 4, 6])
@pytest.mark.parametrize("veil", [0.0, 0.52])
def test_white_light_over_a_body_as_white_leaves_no_fewer_pips(pattern, veil, monkeypatch):
    """A three whose middle pip is burnt out on a white body is no two, however evenly it shines.

    Light is whiter than the body; where the body is as white, it lies over another pip in part.
    """
    body = (249, 250, 252) if veil == 0 else (254, 254, 255)
    monkeypatch.setitem(COLOURS, "bright", (body, (60, 60, 60)))
    image, frame = draw(pattern, 100, 0.2, "bright", noise=0.5)
    light = np.zeros(image.shape, np.float32)
    for (a, b), share in (((0, 0), 1.0), (PATTERNS[pattern][1][0], veil)):
        x, y = frame.at(a * 0.46, b * 0.46)
        cv2.circle(light, (round(x), round(y)), 16, (share,) * 3, -1)
    image = np.rint(image + (255.0 - image) * light).astype(np.uint8)
    reading = read_pips(Pyramid(image), [frame])[0]
    assert (reading.value, reading.why_not) == (None, "white")


@pytest.mark.parametrize("pattern", [1, 2, 3, 5])
def test_a_white_body_without_light_is_read(pattern, monkeypatch):
    monkeypatch.setitem(COLOURS, "bright", ((249, 250, 252), (60, 60, 60)))
    image, frame = draw(pattern, 100, 0.2, "bright")
    assert read_pips(Pyramid(image), [frame])[0].value == PATTERNS[pattern][0]


@pytest.mark.parametrize("style", COLOURS)
def test_a_blank_face_has_no_value(style):
    body, _ = COLOURS[style]
    image = np.full((160, 160, 3), body, np.uint8)
    frame = Frame(complex(80, 80), 40, 40j)
    reading = read_pips(Pyramid(image), [frame])[0]
    assert (reading.value, reading.why_not) == (None, "blank")


def test_a_sticker_over_the_pips_is_not_a_one_of_usual_size():
    image, frame = draw(4, 80, 0.1)
    cv2.circle(image, (round(frame.centre.real), round(frame.centre.imag)), 34, (60, 170, 200), -1)
    assert read_pips(Pyramid(image), [frame])[0].value is None


@pytest.mark.parametrize("seed", range(40))
def test_spots_at_random_are_hardly_ever_a_face(seed):
    """None of these forty is."""
    image, frame = spots_at_random(seed)
    assert read_pips(Pyramid(image), [frame])[0].value is None


@pytest.mark.parametrize("style", COLOURS)
@pytest.mark.parametrize("pattern", [3, 6, 7, 8])
def test_light_over_a_corner_of_a_three_five_or_six_leaves_that_value_only(style, pattern):
    image, frame = draw(pattern, 80, 0.2, style)
    a, b = PATTERNS[pattern][1][0]
    reading = read_pips(Pyramid(lit(image, frame, a * 0.46, b * 0.46, 0.27)), [frame])[0]
    assert (reading.value or reading.only) == PATTERNS[pattern][0]


@pytest.mark.parametrize("style", ["white", "asian", "ivory"])
@pytest.mark.parametrize("pattern", [5, 6])
def test_light_over_the_middle_of_a_four_or_five_leaves_both(style, pattern):
    """Fails when a four is read although the light may hide a fifth pip, or a five."""
    image, frame = draw(pattern, 80, 0.2, style)
    reading = read_pips(Pyramid(lit(image, frame, 0, 0, 0.34)), [frame])[0]
    assert (reading.value, reading.only) == (None, None)


@pytest.mark.parametrize("light", [(246, 246, 246), (255, 255, 255)])
def test_light_over_a_bright_body_hides_the_middle_of_a_five(light):
    """Fails when what is hardly brighter than an ivory body is taken for the bare body."""
    image, frame = draw(6, 50, 0.2, "ivory", noise=1.0)
    reading = read_pips(Pyramid(lit(image, frame, 0, 0, 0.34, light)), [frame])[0]
    assert reading.value in (None, 5)


def test_light_brighter_than_the_pips_at_a_place_of_none_leaves_a_three():
    """As a lamp at the corner of a three: a five it is not, its fourth corner is seen bare."""
    image, frame = draw(3, 80, 0.2, "black")
    reading = read_pips(Pyramid(lit(image, frame, 0.5, -0.5, 0.28)), [frame])[0]
    assert (reading.value, reading.only) == (None, 3)


@settings(max_examples=200, deadline=None)
@given(
    pattern=st.integers(0, 8), style=st.sampled_from(list(COLOURS)), turn=st.floats(0, 6.28),
    where=st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(0.15, 0.7)),
                   min_size=1, max_size=2),
)  # fmt: skip
def test_what_light_leaves_is_never_another_value(pattern, style, turn, where):
    image, frame = draw(pattern, 80, turn, style)
    for a, b, radius in where:
        lit(image, frame, a, b, radius)
    assert read_pips(Pyramid(image), [frame])[0].only in (None, PATTERNS[pattern][0])
