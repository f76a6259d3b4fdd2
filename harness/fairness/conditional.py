"""An e-process for 'one value tells nothing about another', for dependence of any form.

Each value y is predicted from a value x known before it (the same die `lag` tosses earlier, or
another die of the same toss). The bet is the probability that predictions give to what came: a
mixture of tables with a row of face probabilities for each x (Dirichlet) and of tables with but one
thing off, more or fewer equal or opposite faces (Beta). It is held against the most that any
constant face probabilities, whatever they are, could have given the same values. Under the null
the quotient is below a martingale with start 1 (universal inference: Wasserman, Ramdas,
Balakrishnan 2020, PNAS 117), so it ever reaches 1/alpha with probability at most alpha (Ville).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, xlogy

from harness.fairness.log_sum import log_mean_exp

CONCENTRATIONS = (100.0, 1_000.0, 10_000.0)
"""Pseudo-tosses of the mixture's parts, as in `categorical`."""

_FACES = np.arange(6)
_EQUAL = _FACES[:, None] == _FACES
_OPPOSITE = _FACES[:, None] + _FACES == 5


def log_e_table(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Give the natural logarithm of the e-value of counted pairs.

    counts: shape (..., 6, 6), how often face y (column) came after face x (row). Returns (...).
    Null: every y is independent of its x and of what came before, with constant but unknown face
    probabilities.
    """
    by_row, by_face = counts.sum(axis=-1), counts.sum(axis=-2)
    n = by_row.sum(axis=-1)
    # the likeliest constant faces, relative to even ones
    most = xlogy(by_face, 6 * by_face / np.maximum(n, 1)[..., None]).sum(axis=-1)
    rows, equal, opposite = [], [], []
    for total in CONCENTRATIONS:
        each = total / 6
        by_each_row = (
            gammaln(each + counts).sum(axis=-1)
            - 6 * gammaln(each)
            + gammaln(total)
            - gammaln(total + by_row)
            + by_row * np.log(6)
        )
        rows.append(by_each_row.sum(axis=-1))
        equal.append(_one_thing_off(counts[..., _EQUAL].sum(axis=-1), n, total))
        opposite.append(_one_thing_off(counts[..., _OPPOSITE].sum(axis=-1), n, total))
    halves = np.stack(
        [
            log_mean_exp(np.stack(rows), 0),
            log_mean_exp(np.stack([*equal, *opposite]), 0),
        ]
    )
    return np.asarray(log_mean_exp(halves, 0) - most)


def _one_thing_off(
    hits: NDArray[np.int64], n: NDArray[np.int64], total: float
) -> NDArray[np.float64]:
    """Give the log ratio, to even faces, of hits alone being likelier or rarer than 1 in 6."""
    a, b = total / 6, total * 5 / 6
    return np.asarray(
        betaln(a + hits, b + n - hits) - betaln(a, b) + n * np.log(6) - (n - hits) * np.log(5)
    )
