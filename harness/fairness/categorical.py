"""An e-process for 'every category is equally likely, independently at each toss'.

The likelihood ratio of a Dirichlet mixture against the simple null: a non-negative martingale with
start 1 under the null, so by Ville's inequality it ever reaches 1/alpha with probability at most
alpha, however often it is looked at. (Robbins 1970, Annals of Mathematical Statistics 41; Ramdas,
Grunwald, Vovk, Shafer 2023, Statistical Science 38.) The mixture is over several concentrations
around the uniform point, since nobody knows how large a bias will be; a mean of e-processes is one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

CONCENTRATIONS = (30.0, 300.0, 3_000.0, 30_000.0)
"""Pseudo-tosses of the mixture's parts: large ones look for small biases."""


def log_e(
    counts: NDArray[np.int64], concentrations: Sequence[float] = CONCENTRATIONS
) -> NDArray[np.float64]:
    """Give the natural logarithm of the e-value at given counts.

    counts: shape (..., k), how often each of k categories came. Returns shape (...).
    Null: independent tosses, each category with probability 1/k.
    """
    n = counts.sum(axis=-1)
    stacked = np.stack([_log_part(counts, n, total) for total in concentrations])
    return np.asarray(logsumexp(stacked, axis=0) - np.log(len(concentrations)))


def _log_part(counts: NDArray[np.int64], n: NDArray[np.int64], total: float) -> NDArray[np.float64]:
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


def log_e_path(
    categories: NDArray[np.integer],
    k: int,
    before: NDArray[np.int64] | None = None,
    concentrations: Sequence[float] = CONCENTRATIONS,
) -> NDArray[np.float64]:
    """Give the logarithm of the e-value after every toss.

    categories: shape (n,), values 0 to k-1. before: shape (k,), counts of earlier tosses. Returns
    shape (n,): entry i is the e-process after toss i.
    """
    start = np.zeros(k, np.int64) if before is None else before
    seen = _earlier(categories, k) + start[categories]
    at = np.arange(len(categories)) + int(start.sum())
    parts = [
        _log_part(start, start.sum(), total)
        + np.cumsum(np.log(k * (total / k + seen)) - np.log(total + at))
        for total in concentrations
    ]
    return np.asarray(logsumexp(np.stack(parts), axis=0) - np.log(len(parts)))


def _earlier(categories: NDArray[np.integer], k: int) -> NDArray[np.int64]:
    """Give, for each toss, how often its category came before within the array."""
    order = np.argsort(categories, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(categories, minlength=k))[:-1]))
    out = np.empty(len(categories), np.int64)
    out[order] = np.arange(len(categories)) - starts[categories[order]]
    return out
