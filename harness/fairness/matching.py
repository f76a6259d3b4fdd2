"""An e-process for 'these two sequences have nothing to do with each other', whatever their faces.

Tosses are taken in blocks. Given which values each side shows in a block, independence makes every
pairing of them equally likely (a permutation null: no assumption on how fair either die is). The
bet is on the number of matches m: (1 + s)^m divided by its exact mean over all pairings, which is a
fair bet block after block (Ramdas, Grunwald, Vovk, Shafer 2023). The mean is found from rook
numbers: pairings with k chosen matches number r_k (B - k)!, where the generating function of r_k is
the product over faces of those of full rectangles (Riordan 1958, An Introduction to Combinatorial
Analysis, chapter 7).

Serves two dice (does one copy another) and one die at a lag (does it repeat): a match is equality,
or, with one side's values turned over (7 - v), facing opposite sides.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from harness.fairness.log_sum import log_mean_exp

BLOCK = 48
"""Pairs in a block; of the information in m, about (B - 1) / B is kept."""

STRENGTHS = (-0.5, -0.25, -0.1, -0.05, 0.05, 0.1, 0.25, 0.5, 1.5)
"""Bets: relative excess of matches over what chance gives; their mean is again a fair bet."""

_RESOLVED = 1e-8


def log_e_blocks(left: NDArray[np.uint8], right: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Give each block's log bet outcomes.

    left, right: shape (blocks, BLOCK), values 1 to 6, paired by position. Returns shape
    (blocks, len(STRENGTHS)), natural logarithms; summed over blocks and averaged over strengths
    they are the e-process. Null: within a block, given what came before it, all pairings of the
    values shown are equally likely. That follows if the sides are independent of each other and at
    least one of them is exchangeable in time.
    """
    matches = (left == right).sum(axis=1)
    rooks = _rook_numbers(_face_counts(left), _face_counts(right))
    k = np.arange(BLOCK + 1)
    # chance that k given places match, times their number: the k-th binomial moment of m
    moments = rooks * np.exp(gammaln(BLOCK - k + 1) - gammaln(BLOCK + 1))
    powers = np.power(np.array(STRENGTHS)[:, None], k)
    means = moments @ powers.T
    # Bets on fewer matches sum terms of both signs. Where these cancel beyond what floating point
    # resolves (dice that show little else than one face), 1 stands for the mean, which is less.
    means = np.where(means > _RESOLVED * (moments @ np.abs(powers).T), means, 1.0)
    return np.asarray(matches[:, None] * np.log1p(STRENGTHS) - np.log(means))


def log_mean(log_products: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average e-processes over the bets, as logarithms: shape (..., len(STRENGTHS)) to (...)."""
    return log_mean_exp(log_products)


def _face_counts(values: NDArray[np.uint8]) -> NDArray[np.int64]:
    return np.stack([(values == face).sum(axis=1) for face in range(1, 7)], axis=1)


@cache
def _rectangles() -> NDArray[np.float64]:
    """Rook numbers of an r by s rectangle, for all r, s up to BLOCK: r! s! / (k! (r-k)! (s-k)!)."""
    r = np.arange(BLOCK + 1)[:, None, None]
    s = np.arange(BLOCK + 1)[None, :, None]
    k = np.arange(BLOCK + 1)[None, None, :]
    fits = k <= np.minimum(r, s)
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = (
            gammaln(r + 1)
            + gammaln(s + 1)
            - gammaln(k + 1)
            - gammaln(np.where(fits, r - k, 0) + 1)
            - gammaln(np.where(fits, s - k, 0) + 1)
        )
    return np.where(fits, np.exp(np.where(fits, logs, 0.0)), 0.0)


def _rook_numbers(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
    """Multiply the six faces' polynomials: two (blocks, 6) to (blocks, BLOCK + 1)."""
    table = _rectangles()
    product = table[left[:, 0], right[:, 0]]
    degree = int(np.minimum(left[:, 0], right[:, 0]).max(initial=0))
    for face in range(1, 6):
        factor = table[left[:, face], right[:, face]]
        own = int(np.minimum(left[:, face], right[:, face]).max(initial=0))
        out = product.copy()  # the k = 0 term of every rectangle is 1
        for k in range(1, own + 1):
            upto = min(degree, BLOCK - k) + 1
            out[:, k : k + upto] += product[:, :upto] * factor[:, k : k + 1]
        product, degree = out, min(degree + own, BLOCK)
    return product
