"""Faults of the dice and the dice camera: what lies there, what the picture shows, no more."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import cv2
import numpy as np
import pytest

from harness.emulator.bench import Bench
from harness.emulator.camera_ports import install_cameras
from harness.emulator.faults.catalogue import Armoury
from harness.emulator.rigfile import read_rig_file

from .conftest import RIGS


class Laid:
    """A bench in this process, whose scene can be asked what truly lies there."""

    def __init__(self) -> None:
        self.bench = Bench(read_rig_file(RIGS / "emulated.toml"))
        self.shown = install_cameras(self.bench)
        self.armoury = Armoury(self.bench)

    def lay(self, *dice: int) -> None:
        self.bench.dice.lay(dice, "flat")
        self.shown()

    def truth(self) -> list:
        self.shown()
        return list(self.bench.eyes["dice-camera"].scene.truth())

    def values(self) -> list:
        return [die.value for die in self.truth()]

    def states(self) -> set[str]:
        return {die.state for die in self.truth()}


@pytest.fixture(scope="module")
def one_bench() -> Iterator[Laid]:
    made = Laid()
    yield made
    made.bench.close()


@pytest.fixture
def laid(one_bench) -> Iterator[Laid]:
    yield one_bench
    one_bench.armoury.disarm()
    one_bench.bench.shaker.cover(False)


def picture(bench) -> np.ndarray:
    return cv2.imdecode(np.frombuffer(bench.jpeg(), np.uint8), cv2.IMREAD_COLOR)


def changed(one, two) -> bool:
    return bool((cv2.absdiff(cv2.blur(one, (5, 5)), cv2.blur(two, (5, 5))) > 40).sum() > 150)


def test_dice_lie_as_presented(laid):
    for dice in ([1, 1, 2], [6, 5, 4], [3, 3, 3]):
        laid.lay(*dice)
        assert laid.values() == dice
        assert laid.states() == {"flat"}


def test_the_next_picture_shows_what_was_presented(bench):
    """Fails if `present` returns before the stream has left the earlier dice behind."""
    bench.do("present", dice=[1, 1, 1])
    first = picture(bench)
    bench.do("present", dice=[6, 6, 6])
    assert changed(first, picture(bench))


def test_a_cover_hides_the_dice(bench):
    bench.do("present", dice=[1, 1, 1])
    open_ = picture(bench)
    bench.do("cover", on=True)
    covered = picture(bench)
    assert changed(open_, covered)
    bench.do("present", dice=[6, 6, 6])
    assert not changed(covered, picture(bench))


@pytest.mark.parametrize(("fault", "state"), [("F52", "leaning"), ("F53", "stacked")])
def test_leaning_and_stacked_dice(laid, fault, state):
    laid.armoury.arm(fault, {})
    laid.lay(4, 5, 6)
    assert state in laid.states()
    laid.armoury.disarm()
    assert laid.states() == {"flat"}
    assert laid.values() == [4, 5, 6]


@pytest.mark.parametrize("count", ["2", "4"])
def test_missing_and_extra_dice(laid, count):
    laid.armoury.arm("F54", {"dice": count})
    laid.lay(1, 2, 3)
    assert len(laid.truth()) == int(count)


def test_restless_dice(laid):
    laid.armoury.arm("F55", {})
    laid.lay(1, 2, 3)
    assert "moving" in laid.states()
    laid.armoury.disarm()
    assert laid.states() == {"flat"}


def test_wrong_die_shows_a_one_for_its_six(laid):
    laid.armoury.arm("F56", {"die": "1"})
    laid.lay(6, 2, 3)
    assert laid.values() == [1, 2, 3]
    laid.armoury.disarm()
    laid.lay(6, 2, 3)
    assert laid.values() == [6, 2, 3]


def test_a_toss_moves_and_comes_to_rest_as_it_fell(laid):
    laid.lay(1, 1, 1)
    laid.bench.dice.throw(0.3)
    assert "moving" in laid.states()
    time.sleep(0.5)
    assert laid.values() == list(laid.bench.dice.lying.values)


def test_loaded_die_falls_likelier():
    """3,000 tosses of a die whose six is likelier by 0.2 (mean 1100, sigma 26)."""
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


def test_stale_picture(bench):
    bench.do("present", dice=[1, 1, 1])
    before = picture(bench)
    time.sleep(1.7)
    bench.arm("F60", ms=1500)
    bench.do("present", dice=[6, 6, 6])
    assert not changed(before, picture(bench))
    time.sleep(1.7)
    assert changed(before, picture(bench))


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


def test_stale_from_the_start(start):
    """The camera looks back to before there was anything to look at; it must not fall over."""
    emulated = start(RIGS / "emulated.toml", "F60:ms=5000")
    assert picture(emulated) is not None


def stamp(bench) -> float:
    with urllib.request.urlopen(bench.endpoints["dice-camera"], timeout=5) as stream:
        while True:
            line = stream.readline()
            if line.lower().startswith(b"x-timestamp:"):
                return float(line.split(b":")[1])


def test_frames_carry_the_time_of_their_exposure_also_when_stale(bench):
    before = time.time()
    assert before <= stamp(bench) <= time.time()
    bench.arm("F60", ms=900)
    assert stamp(bench) <= time.time() - 0.9
    assert stamp(bench) >= before - 0.9


@pytest.mark.parametrize("scene", ["hard = true", 'style = "asian"\nhand = "left"\ntilt_deg = 15'])
def test_other_scenes(start, rig_file, scene):
    emulated = start(rig_file(f"[emulator.options.scene]\n{scene}\n"))
    emulated.do("present", dice=[1, 1, 1])
    one = picture(emulated)
    emulated.do("present", dice=[6, 6, 6])
    assert changed(one, picture(emulated))
