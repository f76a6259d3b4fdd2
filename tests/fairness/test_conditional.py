"""Universal inference on pairs and on drift: no gain on average while faces are constant."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from harness.fairness.conditional import log_e_table
from harness.fairness.drift import BLOCK, Fading
from harness.fairness.evidence import TABLE_BLOCK, Table

FACES = [(1 / 6,) * 6, (0.5, 0.1, 0.1, 0.1, 0.1, 0.1), (0.9, 0.1, 0, 0, 0, 0)]


@pytest.mark.parametrize("shares", FACES)
def test_mean_under_the_null_is_at_most_one(shares):
    """Fails if the mean e-value over all 216 series of three values is above 1."""
    mean = 0.0
    for came in itertools.product(range(6), repeat=3):
        counts = np.zeros((6, 6), np.int64)
        for known, face in zip((0, 3, 0), came, strict=True):
            counts[known, face] += 1
        mean += np.prod([shares[face] for face in came]) * np.exp(float(log_e_table(counts)))
    assert mean <= 1 + 1e-12


def test_every_form_of_dependence_gains():
    """Fails if a table that is plainly dependent gives no evidence, or an independent one does."""
    independent = np.full((6, 6), 100)
    assert float(log_e_table(independent)) < 0
    for turn in range(6):
        dependent = independent + 60 * np.roll(np.eye(6, dtype=int), turn, axis=1)
        assert float(log_e_table(dependent)) > 10


@pytest.mark.parametrize("lag", [0, 1, 7])
def test_table_counts_each_pair_once(lag):
    """Fails if a pair is lost or doubled where portions meet."""
    rng = np.random.default_rng(3)
    known, came = rng.integers(1, 7, (2, 1000)).astype(np.uint8)
    table = Table(lag)
    for one, other in zip(np.array_split(known, 13), np.array_split(came, 13), strict=True):
        table.feed(one, other)
    pairs = (1000 - lag) // TABLE_BLOCK * TABLE_BLOCK
    counts = np.zeros((6, 6), int)
    np.add.at(counts, (known[:pairs] - 1, came[lag : lag + pairs] - 1), 1)
    assert (table.counts == counts).all()


def test_a_loaded_die_that_stays_so_does_not_drift():
    """Fails if constant faces, however uneven, are taken for change, or change is not seen."""
    rng = np.random.default_rng(4)
    loaded = rng.multinomial(BLOCK, (0.3, 0.2, 0.2, 0.1, 0.1, 0.1), size=40)
    steady = Fading().log_e_path(loaded)
    assert steady.max() < 3
    changed = np.concatenate((loaded[:20], loaded[20:, ::-1]))
    assert Fading().log_e_path(changed)[-1] > 20
