"""The Dirichlet e-process: a martingale under its null, the same by path and by counts."""

from __future__ import annotations

from fractions import Fraction
from math import exp, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.fairness.categorical import CONCENTRATIONS, log_e, log_e_path


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=300), st.integers(0, 250))
def test_path_and_counts_agree_however_it_is_cut(faces, cut):
    """Fails if the value after a toss depends on how the tosses were handed in."""
    whole = log_e_path(np.array(faces), 6)
    cut = min(cut, len(faces) - 1)
    before = np.bincount(faces[:cut], minlength=6) if cut else None
    rest = log_e_path(np.array(faces[cut:]), 6, before)
    assert np.allclose(whole[cut:], rest, atol=1e-9)
    assert np.isclose(whole[-1], log_e(np.bincount(faces, minlength=6)), atol=1e-9)


@pytest.mark.parametrize("counts", [(0, 0, 0, 0, 0, 0), (3, 1, 0, 2, 5, 1), (50, 9, 9, 9, 9, 9)])
def test_next_toss_has_mean_one(counts):
    """Fails if the e-value is expected to grow under the null."""
    now = np.array(counts)
    following = now + np.eye(6, dtype=int)
    assert np.isclose(np.exp(log_e(following) - log_e(now)).mean(), 1.0, rtol=1e-12)


def test_against_exact_arithmetic():
    """Fails if the mixture differs from the same integrals in exact fractions."""
    counts = [4, 0, 2, 1, 0, 3]
    n = sum(counts)

    def rising(start: Fraction, steps: int) -> Fraction:
        return prod((start + i for i in range(steps)), start=Fraction(1))

    every, single = Fraction(0), Fraction(0)
    for total in (Fraction(int(c)) for c in CONCENTRATIONS):
        every += prod(rising(total / 6, c) for c in counts) * 6**n / rising(total, n)
        for c in counts:
            beta = rising(total / 6, c) * rising(total * 5 / 6, n - c) / rising(total, n)
            single += beta * Fraction(6**n, 5 ** (n - c)) / 6
    exact = (every + single) / (2 * len(CONCENTRATIONS))
    assert exp(float(log_e(np.array(counts)))) == pytest.approx(float(exact), rel=1e-10)
