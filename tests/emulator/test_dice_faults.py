"""Faults of the dice and the dice camera: seen in the picture, and the table is not touched."""

from __future__ import annotations

import time
import urllib.error
import urllib.request

import cv2
import numpy as np
import pytest

from harness.vision.reader import DiceReader


@pytest.fixture(scope="module")
def reader() -> DiceReader:
    return DiceReader()


def picture(bench) -> np.ndarray:
    return cv2.imdecode(np.frombuffer(bench.jpeg(), np.uint8), cv2.IMREAD_COLOR)


def read(bench, reader, dice=3):
    return reader.read(picture(bench), dice)


def test_presented_dice_are_in_the_next_picture(bench, reader):
    for dice in ([1, 1, 2], [6, 5, 4], [3, 3, 3]):
        bench.do("present", dice=dice)
        reading = read(bench, reader)
        assert reading.verdict == "values"
        assert list(reading.values) == sorted(dice)


def test_a_cover_hides_the_dice(bench, reader):
    bench.do("cover", on=True)
    assert read(bench, reader).verdict != "values"


@pytest.mark.parametrize("fault", ["F52", "F53"])
def test_leaning_and_stacked_dice_are_not_read(bench, reader, fault):
    bench.do("present", dice=[1, 2, 3])
    bench.arm(fault)
    assert read(bench, reader).verdict != "values"
    bench.do("present", dice=[4, 5, 6])
    assert read(bench, reader).verdict != "values"
    bench.do("disarm")
    assert list(read(bench, reader).values) == [4, 5, 6]


@pytest.mark.parametrize("count", [2, 4])
def test_missing_and_extra_dice(bench, reader, count):
    bench.arm("F54", dice=count)
    bench.do("present", dice=[1, 2, 3])
    assert read(bench, reader).reason in ("missing", "extra")


def test_restless_dice_differ_from_picture_to_picture(bench):
    bench.arm("F55")
    first = picture(bench)
    time.sleep(0.3)
    assert changed(first, picture(bench))
    bench.do("disarm")
    first = picture(bench)
    time.sleep(0.1)
    assert not changed(first, picture(bench))


def changed(one, two) -> bool:
    return bool((cv2.absdiff(cv2.blur(one, (5, 5)), cv2.blur(two, (5, 5))) > 40).sum() > 200)


def test_wrong_die_shows_a_one_for_its_six(bench, reader):
    bench.arm("F56", die=1)
    bench.do("present", dice=[6, 2, 3])
    assert list(read(bench, reader).values) == [1, 2, 3]
    bench.do("disarm")
    bench.do("present", dice=[6, 2, 3])
    assert list(read(bench, reader).values) == [2, 3, 6]


def test_loaded_die_falls_likelier():
    """In process: 3,000 tosses of a die whose six is likelier by 0.2 (mean 1100, sigma 26)."""
    import random

    from harness.emulator.dice_box import DiceBox

    box = DiceBox(random.Random(5))
    box.loaded[2] = (6, 0.2)
    sixes = [0, 0, 0]
    for _ in range(3000):
        box.throw(0.1)
        for die, value in enumerate(box.lying.values):
            sixes[die] += value == 6
    assert sixes[1] > 950
    assert max(sixes[0], sixes[2]) < 620


def test_frozen_picture(bench):
    bench.arm("F59", after=0)
    frozen = bench.jpeg()
    bench.do("present", dice=[6, 6, 6])
    assert bench.jpeg() == frozen


def test_stale_picture(bench, reader):
    bench.do("present", dice=[1, 1, 1])
    time.sleep(1.7)
    bench.arm("F60", ms=1500)
    bench.do("present", dice=[6, 6, 6])
    assert list(read(bench, reader).values) == [1, 1, 1]


@pytest.mark.parametrize("kind", ["dark", "saturated", "blurred", "moved"])
def test_spoilt_pictures_change_and_come_back(bench, kind):
    bench.do("present", dice=[1, 2, 3])
    sound = picture(bench)
    bench.arm("F61", kind=kind)
    spoilt = picture(bench)
    assert changed(sound, spoilt) or sharpness(spoilt) < sharpness(sound) / 2
    bench.do("disarm")
    assert not changed(sound, picture(bench))


def sharpness(image) -> float:
    return float(cv2.Laplacian(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.CV_64F).var())


def test_stream_dies(bench):
    bench.arm("F62", after=0)
    with pytest.raises(urllib.error.HTTPError):
        bench.jpeg()
    bench.do("disarm")
    assert picture(bench) is not None


def test_corrupt_frames(bench):
    bench.do("present", dice=[1, 2, 3])
    sound = picture(bench)
    bench.arm("F62", after=0, kind="corrupt")
    spoilt = picture(bench)
    assert spoilt is None or changed(sound, spoilt)


def test_dice_faults_leave_the_table_alone(bench):
    bench.arm("F53")
    bench.do("present", dice=[1, 2, 3])
    assert "small" in bench.enter("123")
