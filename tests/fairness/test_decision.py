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
    """Fails if 18,000 fair tosses stay undecided, or 1,000 are enough for +/-0.02."""
    assert watched(fair(1000)).decision == "undecided"
    watch = watched(fair(18_000))
    assert watch.decision == "fair-within-tolerance"
    assert watch.fair_at > 3_000
    low, high = watch.intervals()[..., 0], watch.intervals()[..., 1]
    assert (low > 1 / 6 - 0.02).all()
    assert (high < 1 / 6 + 0.02).all()


def test_a_loaded_face_is_named():
    """Fails if the die is not named, or another hypothesis is."""
    rng = np.random.default_rng(8)
    tosses = fair(15_000)
    shares = np.full(6, 1 / 6 - 0.004)
    shares[2] += 0.024
    tosses[:, 1] = rng.choice(6, size=len(tosses), p=shares) + 1
    watch = watched(tosses)
    assert watch.decision == "biased"
    first = watch.rejected()[0]
    assert (first.hypothesis.name, first.die, first.face) == ("die2-faces", 2, 3)
    assert "too often" in first.found
    assert watch.log10_e >= 2


def test_a_copying_die_is_named_though_every_die_alone_is_fair():
    """Fails if dependence within a toss goes unseen or is called a loaded die."""
    rng = np.random.default_rng(9)
    tosses = fair(25_000)
    copies = rng.random(len(tosses)) < 0.05
    tosses[copies, 2] = tosses[copies, 0]
    watch = watched(tosses)
    kinds = {r.hypothesis.kind for r in watch.rejected()}
    assert "die1-die3-copies" in {r.hypothesis.name for r in watch.rejected()}
    named = [r.hypothesis.dice for r in watch.rejected() if r.hypothesis.kind != "joint"]
    assert set(named) == {(0, 2)}
    assert not kinds & {"faces", "repeats", "transitions", "drift"}


def test_a_sticky_die_is_named():
    """Fails if dependence in time goes unseen, or is called a loaded or a copying die."""
    rng = np.random.default_rng(10)
    tosses = fair(25_000)
    for i in np.flatnonzero(rng.random(len(tosses)) < 0.05):
        if i:
            tosses[i, 0] = tosses[i - 1, 0]
    names = [r.hypothesis.name for r in watched(tosses).rejected()]
    assert any(name.startswith("die1-lag-1") for name in names)
    assert all(name.startswith("die1-lag") for name in names)


def test_dependence_of_another_form_than_copying_is_named():
    """Fails if a die that shows the face after another die's goes unseen."""
    rng = np.random.default_rng(14)
    tosses = fair(12_000)
    following = rng.random(len(tosses)) < 0.08
    tosses[following, 1] = tosses[following, 0] % 6 + 1
    names = [r.hypothesis.name for r in watched(tosses).rejected()]
    assert names[0] == "die1-die2-dependence"
    assert set(names) <= {"die1-die2-dependence", "joint-216"}


def test_dependence_at_a_long_lag_is_named():
    """Fails if a die that comes round after seven tosses goes unseen, or another lag is named."""
    rng = np.random.default_rng(15)
    tosses = fair(12_000)
    for i in np.flatnonzero(rng.random(len(tosses)) < 0.1):
        if i >= 7:
            tosses[i, 1] = tosses[i - 7, 1]
    names = [r.hypothesis.name for r in watched(tosses).rejected()]
    assert names == ["die2-lag-7-transitions"]


def test_wear_is_named():
    """Fails if a die that becomes loaded on the way is not told to change."""
    rng = np.random.default_rng(16)
    tosses = fair(16_000)
    worn = np.zeros(len(tosses), bool)
    worn[8_000:] = rng.random(8_000) < 0.12
    tosses[worn, 2] = 5
    found = {r.hypothesis.name for r in watched(tosses).rejected()}
    assert {"die3-drift", "die3-faces"} <= found


def test_a_heavily_loaded_die_is_not_called_sticky_or_copying():
    """Fails if dependence is claimed where only the faces are wrong: the bets know no faces."""
    rng = np.random.default_rng(12)
    tosses = np.stack(
        [rng.choice(6, size=12_000, p=(0.05, 0.05, 0.1, 0.2, 0.25, 0.35)) + 1 for _ in range(3)],
        axis=1,
    ).astype(np.uint8)
    assert {r.hypothesis.kind for r in watched(tosses).rejected()} == {"faces", "joint"}


@pytest.mark.parametrize("parts", [7, 61])
def test_portions_do_not_matter(parts):
    """Fails if the same tosses in other portions give another e-value, interval or decision."""
    tosses = fair(13_000, seed=21)
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
