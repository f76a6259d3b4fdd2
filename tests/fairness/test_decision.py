"""Decisions: right on loaded, dependent and fair dice, however the tosses are handed in."""

from __future__ import annotations

import numpy as np
import pytest

from harness.fairness.confidence import interval
from harness.fairness.decision import Watch
from harness.fairness.evidence import Lagged
from harness.fairness.hypotheses import FAMILY
from harness.verdicts import ConfigurationError


def fair(n, seed=3):
    return np.random.default_rng(seed).integers(1, 7, (n, 3)).astype(np.uint8)


def watched(tosses, parts=1, **how):
    watch = Watch(**how)
    for part in np.array_split(tosses, parts):
        watch.feed(part)
    return watch


def test_weights_sum_to_one():
    """Fails if the family spends more or less than alpha."""
    assert sum(h.weight for h in FAMILY) == pytest.approx(1.0)
    assert len({h.name for h in FAMILY}) == len(FAMILY)


def test_fair_dice_are_declared_fair_and_not_before_they_can_be():
    """Fails if 25,000 fair tosses stay undecided, or 1,000 are enough for +/-0.02."""
    assert watched(fair(1000)).decision == "undecided"
    watch = watched(fair(25_000))
    assert watch.decision == "fair-within-tolerance"
    assert watch.fair_at > 3_000
    low, high = watch.intervals()[..., 0], watch.intervals()[..., 1]
    assert (low > 1 / 6 - 0.02).all()
    assert (high < 1 / 6 + 0.02).all()


def test_a_loaded_face_is_named():
    """Fails if the die is not named, or another hypothesis is."""
    rng = np.random.default_rng(8)
    tosses = fair(25_000)
    shares = np.full(6, 1 / 6 - 0.004)
    shares[2] += 0.024
    tosses[:, 1] = rng.choice(6, size=len(tosses), p=shares) + 1
    watch = watched(tosses)
    assert watch.decision == "biased"
    assert watch.rejected()[0].hypothesis.name == "die2-faces"


def test_a_copying_die_is_named_though_every_die_alone_is_fair():
    """Fails if dependence within a toss goes unseen or is called a loaded die."""
    rng = np.random.default_rng(9)
    tosses = fair(40_000)
    copies = rng.random(len(tosses)) < 0.04
    tosses[copies, 2] = tosses[copies, 0]
    watch = watched(tosses)
    assert [r.hypothesis.name for r in watch.rejected()][:1] == ["die1-die3-copies"]
    assert not any(r.hypothesis.kind == "faces" for r in watch.rejected())


def test_a_sticky_die_is_named():
    """Fails if dependence in time goes unseen."""
    rng = np.random.default_rng(10)
    tosses = fair(40_000)
    for i in np.flatnonzero(rng.random(len(tosses)) < 0.05):
        if i:
            tosses[i, 0] = tosses[i - 1, 0]
    names = [r.hypothesis.name for r in watched(tosses).rejected()]
    assert any(name.startswith("die1-lag-1") for name in names)
    assert all(name.startswith("die1-lag") for name in names)


def test_a_heavily_loaded_die_is_not_called_sticky_or_copying():
    """Fails if dependence is claimed where only the faces are wrong: the bets know no faces."""
    rng = np.random.default_rng(12)
    tosses = np.stack(
        [rng.choice(6, size=30_000, p=(0.05, 0.05, 0.1, 0.2, 0.25, 0.35)) + 1 for _ in range(3)],
        axis=1,
    ).astype(np.uint8)
    assert {r.hypothesis.kind for r in watched(tosses).rejected()} == {"faces", "joint"}


@pytest.mark.parametrize("parts", [7, 300])
def test_portions_do_not_matter(parts):
    """Fails if the same tosses in other portions give another e-value, interval or decision."""
    tosses = fair(14_000, seed=21)
    one, many = watched(tosses), watched(tosses, parts)
    assert one.decision == many.decision
    assert one.fair_at == many.fair_at
    assert np.allclose(one.intervals(), many.intervals())
    for h, process in one.evidence.processes.items():
        assert process.highest == pytest.approx(many.evidence.processes[h].highest, abs=1e-9)


@pytest.mark.parametrize("lag", [1, 2, 3])
@pytest.mark.parametrize("phase", [0, 1])
def test_lagged_pairs_share_no_toss(lag, phase):
    """Fails if a toss is in two pairs (the permutation null would not hold) or a lag is wrong."""
    values = np.arange(200, dtype=np.uint8)
    lagged = Lagged(lag, phase)
    pairs = [lagged.pairs(part) for part in np.array_split(values, 23)]
    left = np.concatenate([p[0] for p in pairs])
    right = np.concatenate([p[1] for p in pairs])
    assert (right - left == lag).all()
    assert len(set(left) | set(right)) == 2 * len(left)
    assert 2 * len(left) > 200 - 4 * lag


def test_intervals_cover_at_all_times():
    """Fails if, of 400 fair dice watched for 2,000 tosses, clearly more than alpha ever escape."""
    rng = np.random.default_rng(31)
    alpha, runs = 0.05, 400
    hits = np.cumsum(rng.random((runs, 2000)) < 1 / 6, axis=1)[:, 9::10]
    tosses = np.arange(10, 2001, 10)
    low, high = interval(hits, tosses, alpha, 1 / 6)
    escaped = ((low > 1 / 6) | (high < 1 / 6)).any(axis=1).mean()
    assert escaped <= alpha + 3 * (alpha * (1 - alpha) / runs) ** 0.5


@pytest.mark.parametrize("how", [{"alpha": 0.0}, {"alpha": 1.0}, {"tolerance": 0.2}])
def test_settings_that_mean_nothing_are_refused(how):
    """Fails if a decision is made at an impossible level."""
    with pytest.raises(ConfigurationError):
        Watch(**how)
