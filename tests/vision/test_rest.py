"""Fails when dice count as still before they are, or a toss as proper that was none."""

import numpy as np
import pytest

from harness.vision.readings import DiceReading, DieSeen
from harness.vision.rest import RestWatch, agree

EDGE = 40.0


def die(x: float, y: float, value: int | None = 3, turn: float = 0.0) -> DieSeen:
    half = EDGE / 2 * 2**0.5
    angles = np.arange(4) * np.pi / 2 + np.pi / 4 + turn
    corners = tuple((float(x + half * np.cos(a)), float(y + half * np.sin(a))) for a in angles)
    return DieSeen(value, "flat", (x, y), corners, 0.99)


def reading(*dice: DieSeen, reason: str | None = None) -> DiceReading:
    values = tuple(sorted(d.value for d in dice if d.value is not None))
    if reason:
        return DiceReading("unreadable", (), reason, 0.5, dice, 1.0)
    return DiceReading("values", values, None, 0.99, dice, 1.0)


def picture(*dice: DieSeen, noise: int = 0) -> np.ndarray:
    rng = np.random.default_rng(noise)
    image = np.full((240, 320, 3), 40, np.int16)
    for d in dice:
        x, y = (round(v) for v in d.centre_px)
        image[y - 20 : y + 20, x - 20 : x + 20] = 200
    return np.clip(image + rng.normal(0, 2, image.shape), 0, 255).astype(np.uint8)


STILL = (die(60, 60), die(150, 100), die(250, 180))


def feed(watch: RestWatch, frames: list[tuple[DieSeen, ...]], start: float = 1.0) -> list[bool]:
    return [
        watch.feed(picture(*dice, noise=n), start + n / 30, reading(*dice))
        for n, dice in enumerate(frames)
    ]


def test_three_still_frames_are_rest_and_two_are_not():
    watch = RestWatch(stimulus_at=0.5)
    assert feed(watch, [STILL] * 3) == [False, False, True]
    assert watch.reading is not None
    assert watch.reading.values == (3, 3, 3)


def test_frames_no_newer_than_the_stimulus_do_not_count():
    watch = RestWatch(stimulus_at=1.0 + 1 / 30)
    assert feed(watch, [STILL] * 4) == [False, False, False, False]
    assert not watch.at_rest


def test_a_wandering_die_is_not_at_rest():
    watch = RestWatch(stimulus_at=0.0)
    frames = [(die(60 + 4 * n, 60), *STILL[1:]) for n in range(5)]
    assert not any(feed(watch, frames))


def test_a_die_that_vanishes_is_not_at_rest():
    watch = RestWatch(stimulus_at=0.0)
    assert not any(feed(watch, [STILL, STILL, STILL[:2], STILL, STILL[:2]]))


@pytest.mark.parametrize("reason", ["moving", "blurred"])
def test_a_frame_seen_moving_is_no_rest(reason):
    watch = RestWatch(stimulus_at=0.0)
    for n in range(4):
        watch.feed(picture(*STILL), n + 1.0, reading(*STILL, reason=reason))
    assert not watch.at_rest
    assert watch.reading is None


def test_values_that_change_at_rest_are_a_disagreement():
    joint = agree([reading(*STILL), reading(die(60, 60, 4), *STILL[1:])])
    assert (joint.verdict, joint.reason, joint.values) == ("unreadable", "disagreement", ())


def test_one_refusal_among_agreeing_frames_refuses():
    joint = agree([reading(*STILL), reading(*STILL, reason="glare"), reading(*STILL)])
    assert joint.reason == "glare"


def test_a_toss_in_which_every_die_moved_is_proper():
    watch = RestWatch(stimulus_at=0.0)
    after = (die(90, 150), die(180, 40), die(270, 90))
    feed(watch, [STILL, after, after, after])
    toss = watch.judge_toss(reading(*STILL))
    assert toss.proper
    assert min(toss.moved) > 0.5


def test_a_toss_in_which_a_die_stayed_is_not_proper_and_names_it():
    watch = RestWatch(stimulus_at=0.0)
    after = (die(60, 60), die(180, 40), die(270, 90))
    feed(watch, [STILL, after, after, after])
    toss = watch.judge_toss(reading(*STILL))
    assert not toss.proper
    assert toss.why_not == ("die 1 did not visibly move",)


def test_a_toss_that_ends_unread_is_not_proper():
    watch = RestWatch(stimulus_at=0.0)
    after = (die(90, 150, None), die(180, 40), die(270, 90))
    for n in range(4):
        watch.feed(picture(*after, noise=n), n + 1.0, reading(*after, reason="leaning"))
    assert watch.judge_toss(reading(*STILL)).why_not == ("not read: leaning",)


def test_smeared_pictures_in_which_nothing_moves_are_blurred_not_moving():
    """Fails if a camera out of focus is told as dice that never rest, or moving dice as blur."""
    smeared = DiceReading("unreadable", (), "moving", 0.0, (), 0.0)
    still = np.full((240, 320, 3), 90, np.uint8)
    watch = RestWatch(0.0)
    assert not any(watch.feed(still, at, smeared) for at in (1.0, 2.0, 3.0))
    assert watch.at_last.reason == "blurred"
    moving = RestWatch(0.0)
    for at in (1.0, 2.0, 3.0):
        picture = still.copy()
        picture[80:110, 40 * int(at) : 40 * int(at) + 30] = 220
        moving.feed(picture, at, smeared)
    assert moving.at_last.reason == "moving"
