"""The permutation bet: exactly fair under its null, whatever the faces."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.fairness import matching

SMALL = 5


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(matching, "BLOCK", SMALL)
    matching._rectangles.cache_clear()
    yield
    matching._rectangles.cache_clear()


side = st.lists(st.integers(1, 6), min_size=SMALL, max_size=SMALL)


@settings(max_examples=40, deadline=None)
@given(side, side)
def test_mean_over_all_pairings_is_one(left, right):
    """Fails if the bet's mean under its null, by enumeration of all 120 pairings, is not 1."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "BLOCK", SMALL)
        matching._rectangles.cache_clear()
        pairings = np.array(list(itertools.permutations(right)), np.uint8)
        lefts = np.tile(np.array(left, np.uint8), (len(pairings), 1))
        means = np.exp(matching.log_e_blocks(lefts, pairings)).mean(axis=0)
        matching._rectangles.cache_clear()
    assert np.allclose(means, 1.0, rtol=1e-12)


def test_no_excess_on_blocks_of_one_face(small_blocks):
    """Fails if dice that show nothing but one face, which always match, are taken for copies."""
    ones = np.ones((3, SMALL), np.uint8)
    assert np.allclose(matching.log_e_blocks(ones, ones), 0.0)


def test_full_blocks_keep_their_mean():
    """Fails if the full-size block drifts: 4,000 blocks of loaded but independent dice."""
    rng = np.random.default_rng(5)
    shares = (0.3, 0.3, 0.1, 0.1, 0.1, 0.1)
    left, right = (
        (rng.choice(6, size=(4000, matching.BLOCK), p=shares) + 1).astype(np.uint8)
        for _ in range(2)
    )
    outcomes = np.exp(matching.log_e_blocks(left, right))
    error = outcomes.std(axis=0) / np.sqrt(4000)
    gentle = np.abs(np.array(matching.STRENGTHS)) <= 0.25
    assert (np.abs(outcomes.mean(axis=0) - 1)[gentle] < 4 * error[gentle]).all()


def test_full_blocks_of_hardly_any_face_stay_finite():
    """Fails if bets on fewer matches are worth anything, or are no number, where all must match."""
    left = np.full((2, matching.BLOCK), 6, np.uint8)
    right = left.copy()
    right[1, 7] = 1
    outcomes = matching.log_e_blocks(left, right)
    assert np.isfinite(outcomes).all()
    assert (outcomes < 1e-6).all()
