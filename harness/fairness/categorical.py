"""An e-process for 'every category is equally likely, independently at each toss'.

The likelihood ratio of a mixture of alternatives against the simple null: a non-negative martingale
with start 1 under the null, so by Ville's inequality it ever reaches 1/alpha with probability at
most alpha, however often it is looked at. (Robbins 1970, Annals of Mathematical Statistics 41;
Ramdas, Grunwald, Vovk, Shafer 2023, Statistical Science 38.)

The mixture has two halves: all categories off (symmetric Dirichlet) and one category off while the
rest share the difference evenly (Beta), as a loaded die does. Each is spread over several
concentrations around the even point, since nobody knows how large a bias will be.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, logsumexp

CONCENTRATIONS = (100.0, 1_000.0, 10_000.0)
"""Pseudo-tosses of the mixture's parts: large ones look for small biases."""

SINGLE_UP_TO = 6
"""Beyond so many categories the mixture has its first half only: one of 216 is too thin a guess."""


def log_e(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Give the natural logarithm of the e-value at given counts.

    counts: shape (..., k), how often each of k categories came. Returns shape (...).
    Null: independent tosses, each category with probability 1/k.
    """
    k = counts.shape[-1]
    n = counts.sum(axis=-1)
    every = [_every(counts, n, total) for total in CONCENTRATIONS]
    single = [
        _single(counts, n[..., None], total, k) for total in CONCENTRATIONS if k <= SINGLE_UP_TO
    ]
    return _mixed(every, single)


def log_e_path(
    categories: NDArray[np.integer], k: int, before: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Give the logarithm of the e-value after every toss.

    categories: shape (n,), values 0 to k-1. before: shape (k,), counts of earlier tosses. Returns
    shape (n,): entry i is the e-process after toss i. Memory grows with n times k.
    """
    start = np.zeros(k, np.int64) if before is None else before
    at = np.arange(len(categories)) + int(start.sum())
    own = _earlier(categories, k) + start[categories]
    every = [
        _every(start, start.sum(), total)
        + np.cumsum(np.log(k * (total / k + own)) - np.log(total + at))
        for total in CONCENTRATIONS
    ]
    if k > SINGLE_UP_TO:
        return _mixed(every, [])
    came = categories[:, None] == np.arange(k)
    counts = start + np.cumsum(came, axis=0) - came  # before each toss
    single = []
    for total in CONCENTRATIONS:
        a, b = total / k, total * (1 - 1 / k)
        ratio = np.where(came, k * (a + counts), k / (k - 1) * (b + at[:, None] - counts))
        steps = np.log(ratio) - np.log(total + at)[:, None]
        single.append(_single(start, start.sum(), total, k) + np.cumsum(steps, axis=0))
    return _mixed(every, single)


def _earlier(categories: NDArray[np.integer], k: int) -> NDArray[np.int64]:
    """Give, for each toss, how often its category came before within the array."""
    order = np.argsort(categories, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(categories, minlength=k))[:-1]))
    out = np.empty(len(categories), np.int64)
    out[order] = np.arange(len(categories)) - starts[categories[order]]
    return out


def _every(counts: NDArray[np.int64], n: NDArray[np.int64], total: float) -> NDArray[np.float64]:
    """Give the log likelihood ratio of one symmetric Dirichlet(total / k, ...) to the null."""
    k = counts.shape[-1]
    each = total / k
    return np.asarray(
        gammaln(each + counts).sum(axis=-1)
        - k * gammaln(each)
        + gammaln(total)
        - gammaln(total + n)
        + n * np.log(k)
    )


def _single(
    counts: NDArray[np.int64], n: NDArray[np.int64], total: float, k: int
) -> NDArray[np.float64]:
    """Give, for each category, the log ratio when it alone is off: shape of counts."""
    a, b = total / k, total * (1 - 1 / k)
    return np.asarray(
        betaln(a + counts, b + n - counts)
        - betaln(a, b)
        + n * np.log(k)
        - (n - counts) * np.log(k - 1)
    )


def _mixed(
    every: Sequence[NDArray[np.float64]], single: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Average each half over its parts, then the halves; `single` may be empty."""
    whole = logsumexp(np.stack(every), axis=0) - np.log(len(every))
    if not single:
        return np.asarray(whole)
    parts = np.concatenate(single, axis=-1)
    half = logsumexp(parts, axis=-1) - np.log(parts.shape[-1])
    return np.asarray(np.logaddexp(whole, half) - np.log(2))
