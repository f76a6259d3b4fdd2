"""The dice scene's pictures: what is drawn is what lies there."""

from __future__ import annotations

import itertools
from dataclasses import replace

import cv2
import numpy as np
import pytest

from harness.emulator.scene import STYLES, Camera, CameraFault, Scene, SceneConfig, StreamDeadError
from harness.emulator.scene.hard import draw_hard
from harness.emulator.scene.tray import Tray

SMALL = Camera(width=320, height=240, focal_px=700.0)


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def scene(seed: int = 1, clock: Clock | None = None, **changes) -> Scene:
    config = SceneConfig(**{"camera": SMALL, **changes})
    return Scene(config, seed, clock or Clock())


def decoded(data: bytes) -> np.ndarray:
    return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)


def mean_at(image: np.ndarray, points, radius: int = 1) -> np.ndarray:
    patches = [
        image[round(y) - radius : round(y) + radius + 1, round(x) - radius : round(x) + radius + 1]
        for x, y in points
    ]
    return np.array([patch.reshape(-1, 3).mean(axis=0) for patch in patches])


@pytest.mark.parametrize("style", STYLES)
def test_pips_are_seen_where_the_truth_says(style):
    """Fails if drawing and truth part: each pip must differ from the body halfway to the edge."""
    one = scene(style=style, camera=Camera())
    rng = np.random.default_rng(5)
    for values in ((1, 4, 6), (2, 3, 5)):
        one.lay(values, "flat", rng)
        image = one.render().astype(float)
        for die in one.truth():
            pips = mean_at(image, die.pips_px)
            centre = np.array(die.centre_px)
            # Between an edge's middle and the face's border there is never a pip.
            edges = [
                (np.array(a) + np.array(b)) / 2
                for a, b in zip(
                    die.corners_px, die.corners_px[1:] + die.corners_px[:1], strict=True
                )
            ]
            body = mean_at(image, [centre + 0.76 * (e - centre) for e in edges]).mean(axis=0)
            assert np.abs(pips - body).max(axis=1).min() > 40, (style, die.value)


def test_faces_turned_to_the_camera_never_hold_two_that_sum_to_seven():
    """Fails if opposite faces do not make seven as projected (no camera sees two opposite ones)."""
    one = scene(camera=replace(SMALL, tilt_deg=22.0, focal_px=500.0))
    rng = np.random.default_rng(3)
    for _ in range(10):
        one.lay(tuple(rng.integers(1, 7, size=3)), "flat", rng)
        for die in one.truth():
            seen = [value for value, _ in die.faces_px]
            assert len(seen) in (2, 3)
            assert all(a + b != 7 and a != b for a, b in itertools.combinations(seen, 2))
            assert all(len(pips) == value for value, pips in die.faces_px)


def test_a_wrong_die_shows_its_second_one():
    """Fails if a spoiled die still shows a six."""
    one = scene()
    one.spoil(2)
    one.lay((6, 6, 6), "flat", np.random.default_rng(0))
    assert [die.value for die in one.truth()] == [6, 1, 6]


@pytest.mark.parametrize("seed", range(3))
def test_dice_of_hard_scenes_lie_wholly_in_the_picture(seed):
    """Fails if a die that counts as readable is cut off by the picture's border."""
    rng = np.random.default_rng(seed)
    one = Scene(draw_hard(rng), seed)
    one.lay((1, 2, 3), "flat", rng)
    image = one.render()
    assert image.shape == (480, 640, 3)
    for die in one.truth():
        for x, y in die.corners_px:
            assert 0 < x < 639
            assert 0 < y < 479


def test_one_seed_gives_one_scene():
    """Fails if pictures depend on anything but config, seed and what was done."""

    def pictures(seed: int) -> list[np.ndarray]:
        one = scene(seed)
        rng = np.random.default_rng(9)
        first = one.render()
        one.toss(rng, duration=0.5)
        return [first, one.render(100.2), one.render(101.0)]

    same = zip(pictures(4), pictures(4), strict=True)
    assert all((a == b).all() for a, b in same)
    assert any((a != b).any() for a, b in zip(pictures(4), pictures(5), strict=True))


def test_frames_of_dice_at_rest_differ_by_noise_only():
    """Fails if a frame repeats, or the picture drifts."""
    one = scene()
    frames = [one.render().astype(int) for _ in range(20)]
    for a, b in itertools.pairwise(frames):
        assert (a != b).any()
    assert abs(frames[0] - frames[-1]).mean() < 4


def test_jpegs_of_dice_at_rest_never_repeat_in_a_row():
    """Fails if a kept picture is shown twice running, which looks frozen."""
    one = scene()
    taken = [one.jpeg() for _ in range(40)]
    assert all(a != b for a, b in itertools.pairwise(taken))


@pytest.mark.parametrize("kind", ["lay", "toss", "cover"])
def test_the_first_frame_after_a_change_shows_it(kind):
    """Fails if a frame begun after the change still shows the old dice."""
    clock = Clock()
    one = scene(clock=clock)
    rng = np.random.default_rng(2)
    for _ in range(12):
        before = one.jpeg()
    if kind == "lay":
        one.lay((6, 6, 6), "flat", rng)
    elif kind == "toss":
        one.toss(rng, duration=1.0)
    else:
        one.cover(True)
    after = one.jpeg()
    change = cv2.absdiff(decoded(before), decoded(after))
    assert (change > 40).any(axis=2).sum() > 200


def test_moving_dice_move_from_frame_to_frame_and_then_rest():
    """Fails if a toss stands still, or dice do not come to rest when it ends."""
    clock = Clock()
    one = scene(clock=clock)
    values = one.toss(np.random.default_rng(1), duration=0.6)
    moving = [one.render(100.0 + k / 30).astype(int) for k in range(12)]
    for a, b in itertools.pairwise(moving):
        assert (abs(a - b) > 25).any(axis=2).sum() > 100
    assert {die.state for die in one.truth(100.1)} == {"moving"}
    assert {die.value for die in one.truth(100.1)} == {None}
    rest = [one.render(100.7 + k / 30).astype(int) for k in range(3)]
    assert (abs(rest[0] - rest[2]) > 25).sum() == 0
    assert tuple(die.value for die in one.truth(100.7)) == values


def test_no_die_shows_under_an_opaque_cover():
    """Fails if the lid's picture depends on the dice under it."""
    lids = []
    for values in ((1, 1, 1), (6, 6, 6)):
        one = scene(sensor=replace(SceneConfig().sensor, noise=0.0))
        one.lay(values, "flat", np.random.default_rng(0))
        one.cover(True)
        lids.append(one.render())
    assert (lids[0] == lids[1]).all()


def test_dice_show_through_a_dome():
    """Fails if the clear cover hides the dice, or adds no light of its own."""
    one = scene(
        cover="dome", tray=Tray(dome_gloss=0.08), sensor=replace(SceneConfig().sensor, noise=0)
    )
    one.lay((1, 1, 1), "flat", np.random.default_rng(0))
    bare = one.render()
    one.cover(True)
    under = one.render()
    assert (bare != under).any()
    one.lay((6, 6, 6), "flat", np.random.default_rng(0))
    assert (cv2.absdiff(under, one.render()) > 40).any(axis=2).sum() > 20


@pytest.mark.parametrize(("count", "seen"), [(2, 2), (3, 3), (4, 4)])
def test_dice_can_be_missing_or_too_many(count, seen):
    """Fails if another number of dice lies there than was asked for."""
    one = scene()
    one.lay((1, 2, 3), "flat", np.random.default_rng(0), count=count)
    truth = one.truth()
    assert len(truth) == seen
    assert [die.value for die in truth[:3]] == [1, 2, 3][:count]


@pytest.mark.parametrize(("pose", "states"), [
    ("leaning", ["flat", "flat", "leaning"]), ("stacked", ["flat", "stacked", "under"]),
])  # fmt: skip
def test_irregular_dice_have_no_value(pose, states):
    """Fails if a leaning or covered die still counts as showing a value."""
    one = scene()
    one.lay((4, 4, 4), pose, np.random.default_rng(0))
    truth = one.truth()
    assert sorted(die.state for die in truth) == states
    assert all((die.value is None) == (die.state in ("leaning", "under")) for die in truth)


def test_three_chambers_hold_a_die_each():
    """Fails if two dice share a chamber."""
    one = scene(tray=Tray(shape="chambers", radius=56), camera=replace(SMALL, focal_px=600))
    one.lay((1, 2, 3), "flat", np.random.default_rng(0))
    wells = Tray(shape="chambers", radius=56).wells
    taken = {
        min(
            range(3), key=lambda k: np.hypot(p.position[0] - wells[k].x, p.position[1] - wells[k].y)
        )
        for p in one.placed()
    }
    assert taken == {0, 1, 2}


class TestCameraFaults:
    """F59 to F62: each must look as the fault says, and heal."""

    def test_frozen_repeats_one_frame_though_the_dice_change(self):
        """Fails if a frozen camera still shows what happens."""
        one = scene()
        one.fail(CameraFault("frozen", after=3))
        first = [one.jpeg() for _ in range(4)]
        one.lay((6, 6, 6), "flat", np.random.default_rng(0))
        assert first[0] != first[1]
        assert {one.jpeg() for _ in range(5)} == {first[3]}
        one.fail(None)
        assert one.jpeg() != first[3]

    def test_stale_shows_the_dice_as_they_were(self):
        """Fails if a stale camera shows the present, or never catches up."""
        clock = Clock()
        one = scene(clock=clock, sensor=replace(SceneConfig().sensor, noise=0.0))
        old = one.render()
        one.fail(CameraFault("stale", ms=800))
        clock.now = 110.0
        one.lay((6, 6, 6), "flat", np.random.default_rng(0))
        clock.now = 110.7
        assert (one.render() == old).all()
        clock.now = 110.9
        late = one.render()
        assert (late != old).any()

    @pytest.mark.parametrize(("kind", "low", "high"), [("dark", 0, 12), ("saturated", 235, 255)])
    def test_dark_and_saturated(self, kind, low, high):
        """Fails if the picture keeps its brightness."""
        one = scene()
        one.fail(CameraFault(kind))
        assert low <= np.median(one.render()) <= high

    def test_blurred_loses_its_edges_and_moved_its_place(self):
        """Fails if the picture stays sharp, or in place."""
        one = scene(sensor=replace(SceneConfig().sensor, noise=0.0))
        clean = one.render()
        sharp = cv2.Laplacian(clean, cv2.CV_64F).var()
        one.fail(CameraFault("blurred"))
        assert cv2.Laplacian(one.render(), cv2.CV_64F).var() < sharp / 10
        one.fail(CameraFault("moved"))
        assert cv2.absdiff(clean, one.render()).mean() > 10

    def test_a_dead_stream_raises_after_its_frames(self):
        """Fails if frames still come after the stream's end."""
        one = scene()
        one.fail(CameraFault("dies", after=2))
        one.jpeg()
        one.jpeg()
        with pytest.raises(StreamDeadError):
            one.jpeg()

    def test_a_corrupt_jpeg_is_no_whole_picture(self):
        """Fails if the corrupt data still holds a whole JPEG."""
        one = scene()
        one.fail(CameraFault("corrupt"))
        assert not one.jpeg().endswith(b"\xff\xd9")


def test_a_stale_camera_shows_a_cover_late_too():
    """Fails if the cover's going on is dated back to the toss before it."""
    clock = Clock()
    one = scene(clock=clock, sensor=replace(SceneConfig().sensor, noise=0.0))
    one.lay((6, 6, 6), "flat", np.random.default_rng(0))
    clock.now = 110.0
    open_tray = one.render()
    one.cover(True)
    one.fail(CameraFault("stale", ms=500))
    clock.now = 110.4
    assert (one.render() == open_tray).all()
    clock.now = 110.6
    assert (one.render() != open_tray).any()


def test_a_fault_that_comes_later_spoils_dice_that_lie_already():
    """Fails if pictures kept from before the fault are shown after it."""
    one = scene()
    one.fail(CameraFault("dark", after=5))
    brightness = [float(decoded(one.jpeg()).mean()) for _ in range(8)]
    assert min(brightness[:5]) > 30
    assert max(brightness[5:]) < 15


@pytest.mark.parametrize("pose", ["flat", "leaning", "stacked"])
def test_an_empty_tray_can_be_seen(pose):
    """Fails if no dice at all cannot be drawn, which F54 may ask for."""
    one = scene()
    one.lay((1, 2, 3), pose, np.random.default_rng(0), count=0)
    assert one.truth() == ()
    assert one.render().shape == (240, 320, 3)
