"""Lamps sensed by pictures: on their way, dim, flickering, hidden for a while."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from harness.dealing import layout_lamps
from harness.dealing.layout_lamps import LampsNotReadError, LayoutLamps
from harness.emulator.scene import LayoutScene, set_out
from harness.rig.roles import Frame
from harness.vision.lamp_calibration import Lighting, Shots, calibrate_lamps, corners_in, find_spots

AREAS = [f"area-{n}" for n in range(12)]
RESULTS = [frozenset(a for n, a in enumerate(AREAS, 1) if n >> k & 1) for k in range(4)]


@pytest.fixture(scope="module")
def scene() -> LayoutScene:
    return LayoutScene(set_out(AREAS), seed=4, clock=lambda: 0.0)


@pytest.fixture(scope="module")
def reference(scene):
    lightings = tuple(
        Lighting(f"result {n}", areas, (scene.render(dict.fromkeys(areas, 1.0)),))
        for n, areas in enumerate(RESULTS)
    )
    shots = Shots((scene.render({}),), lightings)
    corners = corners_in(shots)
    return calibrate_lamps(find_spots(shots, corners), shots, corners)[0]


class Film:
    """A camera that shows one picture after the other, the last of them for ever."""

    name = "layout"

    def __init__(self, pictures) -> None:
        self._pictures = iter(pictures)
        self._count = itertools.count(1)
        self.shown = 0
        self._last = None

    def newer_than(self, at: float, timeout_s: float) -> Frame:
        self._last = next(self._pictures, self._last)
        self.shown += 1
        return Frame(self._last, time.monotonic(), next(self._count))


def sensed(scene, reference, levels, dim_is_lit=False):
    """Sense a lamp through its levels, picture by picture; gives the sample and pictures taken."""
    film = Film([scene.render({"area-3": level}) for level in levels])
    sample = LayoutLamps("layout", film, reference, dim_is_lit=dim_is_lit).sense()
    return sample, film.shown


@pytest.mark.parametrize(("level", "lit"), [(0.0, False), (1.0, True)])
def test_a_clear_picture_is_enough(scene, reference, level, lit):
    """Fails if lamps that are dark or lit for good cost further pictures, or are mistaken."""
    sample, pictures = sensed(scene, reference, [level])
    assert pictures == 1
    assert sample.path == "layout"
    assert ("area-3" in sample.lit) is lit
    assert sample.lit <= {"area-3"}
    assert not sample.flicker | sample.unknown | sample.split
    assert sample.levels["area-3"] == pytest.approx(level, abs=0.05)


def test_a_lamp_on_its_way_is_waited_for(scene, reference):
    """Fails if half a lamp's light, seen while it comes on, is taken for a dim lamp."""
    sample, _ = sensed(scene, reference, [0.3, 0.8, 1.0])
    assert sample.lit == {"area-3"}
    assert not sample.flicker
    assert sample.levels["area-3"] == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("dim_is_lit", [False, True])
def test_a_dim_lamp_is_lit_only_where_its_level_is_judged(scene, reference, dim_is_lit):
    """Fails if a dim lamp passes for lit where nobody judges its level, or its level is lost."""
    sample, pictures = sensed(scene, reference, [0.4], dim_is_lit)
    assert pictures == 2
    assert sample.lit == ({"area-3"} if dim_is_lit else frozenset())
    assert not sample.flicker
    assert sample.levels["area-3"] == pytest.approx(0.4, abs=0.05)


def test_what_never_settles_flickers(scene, reference):
    """Fails if a lamp that changes from picture to picture is told as anything but unsteady."""
    sample, pictures = sensed(scene, reference, [0.3, 0.7] * 8)
    assert pictures == layout_lamps.MOST_FRAMES
    assert sample.flicker == {"area-3"}


@pytest.mark.parametrize(
    ("levels", "flickers"),
    [
        ([1.0, 1.0, 0.0, 0.0] * 4, True),
        ([1.0, 0.6, 0.6] * 4, True),
        ([1.0] * 6 + [0.0], False),
        ([1.0] * 5 + [0.0] + [1.0], True),
        ([0.95, 1.0, 0.9], False),
    ],
)
def test_what_changes_twice_while_watched_flickers(scene, reference, levels, flickers):
    """Fails if a flicker is missed, or a lamp that goes out once, or hardly changes, is one."""
    film = Film([scene.render({"area-3": level}) for level in levels])
    sample = LayoutLamps("layout", film, reference, dim_is_lit=False).watch(0.0)
    assert film.shown == layout_lamps.WATCH_FRAMES
    assert sample.flicker == ({"area-3"} if flickers else frozenset())


def test_an_arm_over_the_layout_is_waited_for(scene, reference):
    """Fails if a hidden marker ends the run at once, or the lamps are read past it."""
    free = scene.render({"area-3": 1.0})
    hidden = free.copy()
    hidden[:, :200] = 70
    film = Film([hidden, hidden, free])
    assert LayoutLamps("layout", film, reference, dim_is_lit=False).sense().lit == {"area-3"}
    assert film.shown == 3


def test_an_arm_that_stays_is_our_fault(scene, reference, monkeypatch):
    """Fails if lamps that are not seen are told as dark."""
    monkeypatch.setattr(layout_lamps, "PATIENCE_S", 0.1)
    hidden = np.full_like(scene.render({}), 70)
    lamps = LayoutLamps("layout", Film([hidden]), reference, dim_is_lit=False)
    with pytest.raises(LampsNotReadError, match="markers") as caught:
        lamps.sense()
    assert caught.value.to_json()["fault"] == "unreadable"
