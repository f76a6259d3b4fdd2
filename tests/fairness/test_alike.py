"""Dice that cannot be told apart: right on what can be seen, silent on what cannot."""

from __future__ import annotations

import numpy as np
import pytest

from harness.fairness.alike import FOLLOWING, AlikeWatch, Following
from harness.fairness.evidence import TABLE_BLOCK


def fair(n, seed=3):
    return np.random.default_rng(seed).integers(1, 7, (n, 3)).astype(np.uint8)


def watched(tosses, parts=1, **how):
    watch = AlikeWatch(**how)
    for part in np.array_split(tosses, parts):
        watch.feed(np.sort(part, axis=1))
    return watch


def test_fair_dice_are_declared_fair_in_any_portions():
    """Fails if fair dice stay undecided, or portions or the order within a toss matter."""
    tosses = fair(9_000)
    one, many = watched(tosses), watched(tosses, 30)
    assert one.decision == "fair-within-tolerance"
    assert one.fair_at == many.fair_at
    assert np.allclose(one.intervals(), many.intervals())
    for (_, highest, now), (_, other, then) in zip(one.e_values(), many.e_values(), strict=True):
        assert (highest, now) == pytest.approx((other, then), abs=1e-9)


def test_a_loaded_die_shows_in_the_faces_of_all():
    """Fails if one die loaded by 0.1 is not found, or the face is wrong."""
    rng = np.random.default_rng(5)
    tosses = fair(4_000)
    loaded = rng.random(len(tosses)) < 0.12
    tosses[loaded, 1] = 2
    first = watched(tosses).rejected()[0]
    assert (first.hypothesis.name, first.die, first.face) == ("pooled-faces", None, 2)


def test_opposite_biases_cancel_out_and_are_not_claimed():
    """Fails if biases of two dice that leave every mean alone are called a loaded die."""
    rng = np.random.default_rng(6)
    tosses = fair(6_000)
    often = np.array([0.2, 1 / 6, 1 / 6, 1 / 6, 1 / 6, 0.8 / 6])
    tosses[:, 0] = rng.choice(6, len(tosses), p=often / often.sum()) + 1
    tosses[:, 1] = rng.choice(6, len(tosses), p=(2 / 6 - often) / (2 / 6 - often).sum()) + 1
    assert "pooled-faces" not in {r.hypothesis.name for r in watched(tosses).rejected()}


def test_dice_that_agree_and_dice_that_follow_are_named():
    """Fails if copying within a toss or following the toss before goes unseen."""
    rng = np.random.default_rng(7)
    copying = fair(6_000)
    copies = rng.random(len(copying)) < 0.15
    copying[copies, 1] = copying[copies, 0]
    assert "equal-dice" in {r.hypothesis.name for r in watched(copying).rejected()}
    sticky = fair(6_000)
    for i in np.flatnonzero(rng.random(len(sticky)) < 0.3)[1:]:
        sticky[i, 2] = sticky[i - 2, 2]
    names = [r.hypothesis.name for r in watched(sticky).rejected()]
    assert names[0] == "following-lag-2"
    assert set(names) <= {"following-lag-2", "following-lag-4", "following-lag-6"}


def test_following_has_mean_one_under_fair_dice():
    """Fails if the bet on following is expected to gain: 400 blocks of fair tosses."""
    assert sum(h.weight for h in FOLLOWING) == pytest.approx(0.25)
    rng = np.random.default_rng(8)
    gains = []
    for _ in range(400):
        bet = Following(1)
        bet.feed(rng.integers(1, 7, (TABLE_BLOCK + 1, 3)).astype(np.uint8))
        gains.append(np.exp(bet._log_products[:5]))
    error = np.std(gains, axis=0) / np.sqrt(len(gains))
    assert (np.abs(np.mean(gains, axis=0) - 1) < 4 * error).all()
