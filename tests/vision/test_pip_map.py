"""Fails when marks under light are not read, or spell a value that the face has not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.vision.faces import Frame, Pyramid
from harness.vision.lattice import PATTERNS
from harness.vision.pip_map import PipMap
from harness.vision.pips import read_pips
from tests.vision.drawn_faces import COLOURS, draw, lit, spots_at_random

MAP = PipMap()


def value(image, frame):
    reading = MAP.read(Pyramid(image), [frame])[0]
    return reading.value if reading else None


def swept(image, frame, level, slope):
    """Lay a sheet of light over a face that takes `level` of its contrasts, more to one side."""
    ys, xs = np.mgrid[: image.shape[0], : image.shape[1]]
    across = ((xs - frame.centre.real) + (ys - frame.centre.imag)) / frame.edge
    share = np.clip(level + slope * across, 0, 0.85)[..., None]
    return np.clip(image + share * (252 - image.astype(float)), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("style", COLOURS)
@pytest.mark.parametrize("pattern", range(9))
@pytest.mark.parametrize("edge", [36, 60, 150])
def test_every_pattern_of_every_style_and_size_is_read(style, pattern, edge):
    image, frame = draw(pattern, edge, 0.3, style)
    assert value(image, frame) == PATTERNS[pattern][0]


@pytest.mark.parametrize("pattern", range(9))
def test_a_red_face_under_a_sheet_of_light_is_read(pattern):
    """Spots alone tell no value of some of these: the body is nearly as bright as its pips."""
    image, frame = draw(pattern, 60, 0.3, "red", noise=1.5)
    assert value(swept(image, frame, 0.55, 0.4), frame) == PATTERNS[pattern][0]


def test_it_reads_faces_that_spots_alone_do_not_tell():
    """What it is for. Fails when it is as helpless, or spots alone tell as much."""
    alone = marked = 0
    for pattern in range(9):
        for turn in (0.1, 0.5):
            image, frame = draw(pattern, 60, turn, "red", noise=1.5)
            image = swept(image, frame, 0.6, 0.5)
            marked += value(image, frame) == PATTERNS[pattern][0]
            alone += read_pips(Pyramid(image), [frame])[0].value == PATTERNS[pattern][0]
    assert marked >= 16
    assert alone < marked - 3


@settings(max_examples=200, deadline=None)
@given(
    pattern=st.integers(0, 8), turn=st.floats(0, 6.28), edge=st.floats(30, 160),
    shift=st.tuples(st.floats(-0.1, 0.1), st.floats(-0.1, 0.1)), swell=st.floats(0.92, 1.08),
    style=st.sampled_from(list(COLOURS)), noise=st.floats(0, 10),
    level=st.floats(0, 0.7), slope=st.floats(0, 0.6),
)  # fmt: skip
def test_no_light_and_no_frame_that_is_off_makes_another_value(
    pattern, turn, edge, shift, swell, style, noise, level, slope
):
    image, frame = draw(pattern, edge, turn, style, noise=noise)
    off = Frame(
        frame.centre + shift[0] * frame.across + shift[1] * frame.along,
        frame.across * swell,
        frame.along * swell,
    )
    assert value(swept(image, frame, level, slope), off) in (None, PATTERNS[pattern][0])


@settings(max_examples=200, deadline=None)
@given(
    pattern=st.integers(0, 8), style=st.sampled_from(list(COLOURS)), turn=st.floats(0, 6.28),
    a=st.floats(-1, 1), b=st.floats(-1, 1), radius=st.floats(0.15, 0.7),
)  # fmt: skip
def test_light_that_hides_pips_leaves_no_other_value(pattern, style, turn, a, b, radius):
    """One lamp's image. Two that lie just so the judge must not be deceived by as well."""
    image, frame = draw(pattern, 80, turn, style)
    lit(image, frame, a, b, radius)
    assert value(image, frame) in (None, PATTERNS[pattern][0])


@pytest.mark.parametrize("style", COLOURS)
def test_a_blank_face_has_no_value(style):
    image = np.full((160, 160, 3), COLOURS[style][0], np.uint8)
    assert value(image, Frame(complex(80, 80), 40, 40j)) is None


@pytest.mark.parametrize("seed", range(40))
def test_spots_at_random_are_hardly_ever_a_face(seed):
    """None of these forty is."""
    image, frame = spots_at_random(seed)
    assert value(image, frame) is None
