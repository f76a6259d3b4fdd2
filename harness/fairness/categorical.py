"""An e-process for 'these categories have these probabilities, independently at each toss'.

The likelihood ratio of a mixture of alternatives against the simple null: a non-negative martingale
with start 1 under the null, so by Ville's inequality it ever reaches 1/alpha with probability at
most alpha, however often it is looked at. (Robbins 1970, Annals of Mathematical Statistics 41;
Ramdas, Grunwald, Vovk, Shafer 2023, Statistical Science 38.)

The mixture has two halves: all categories off (Dirichlet) and one category off while the rest share
the difference in proportion (Beta), as a loaded die does. Each is spread over several
concentrations around the null's point, since nobody knows how large a bias will be.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from harness.fairness.log_sum import log_mean_exp

CONCENTRATIONS = (100.0, 1_000.0, 10_000.0)
"""Pseudo-tosses of the mixture's parts: large ones look for small biases."""

SINGLE_UP_TO = 6
"""Beyond so many categories the mixture has its first half only: one of 216 is too thin a guess."""


def log_e(
    counts: NDArray[np.int64], shares: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Give the natural logarithm of the e-value at given counts.

    counts: shape (..., k), how often each of k categories came. Returns shape (...). shares: shape
    (k,), the probabilities under the null; without them 1/k each. Null: independent tosses with
    these probabilities.
    """
    p = _shares(counts.shape[-1], shares)
    n = counts.sum(axis=-1)
    every = [_every(counts, n, total, p) for total in CONCENTRATIONS]
    single = [
        _single(counts, n[..., None], total, p)
        for total in CONCENTRATIONS
        if len(p) <= SINGLE_UP_TO
    ]
    return _mixed(every, single)


def log_e_path(
    categories: NDArray[np.integer],
    k: int,
    before: NDArray[np.int64] | None = None,
    shares: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Give the natural logarithm of the e-value after every toss.

    categories: shape (n,), values 0 to k-1. before: shape (k,), counts of earlier tosses. shares:
    as in `log_e`, whose null this is. Returns shape (n,): entry i is the e-process after toss i.
    Memory grows with n times k.
    """
    start = np.zeros(k, np.int64) if before is None else before
    p = _shares(k, shares)
    at = np.arange(len(categories)) + int(start.sum())
    own = _earlier(categories, k) + start[categories]
    share = p[categories]
    every = [
        _every(start, start.sum(), total, p)
        + np.cumsum(np.log((total * share + own) / share) - np.log(total + at))
        for total in CONCENTRATIONS
    ]
    if k > SINGLE_UP_TO:
        return _mixed(every, [])
    came = categories[:, None] == np.arange(k)
    counts = start + np.cumsum(came, axis=0) - came  # before each toss
    single = []
    for total in CONCENTRATIONS:
        a, b = total * p, total * (1 - p)
        ratio = np.where(came, (a + counts) / p, (b + at[:, None] - counts) / (1 - p))
        steps = np.log(ratio) - np.log(total + at)[:, None]
        single.append(_single(start, start.sum(), total, p) + np.cumsum(steps, axis=0))
    return _mixed(every, single)


def _shares(k: int, shares: NDArray[np.float64] | None) -> NDArray[np.float64]:
    return np.full(k, 1 / k) if shares is None else shares


def _earlier(categories: NDArray[np.integer], k: int) -> NDArray[np.int64]:
    """Give, for each toss, how often its category came before within the array."""
    order = np.argsort(categories, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(categories, minlength=k))[:-1]))
    out = np.empty(len(categories), np.int64)
    out[order] = np.arange(len(categories)) - starts[categories[order]]
    return out


def _every(
    counts: NDArray[np.int64], n: NDArray[np.int64], total: float, p: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give the log likelihood ratio of one Dirichlet(total x p) to the null."""
    each = total * p
    return np.asarray(
        (gammaln(each + counts) - gammaln(each) - counts * np.log(p)).sum(axis=-1)
        + gammaln(total)
        - gammaln(total + n)
    )


def _single(
    counts: NDArray[np.int64], n: NDArray[np.int64], total: float, p: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give, for each category, the log ratio when it alone is off: shape of counts."""
    a, b = total * p, total * (1 - p)
    return np.asarray(
        betaln(a + counts, b + n - counts)
        - betaln(a, b)
        - counts * np.log(p)
        - (n - counts) * np.log1p(-p)
    )


def _mixed(
    every: Sequence[NDArray[np.float64]], single: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Average each half over its parts, then the halves; `single` may be empty."""
    whole = log_mean_exp(np.stack(every), 0)
    if not single:
        return whole
    half = log_mean_exp(np.concatenate(single, axis=-1))
    return np.asarray(np.logaddexp(whole, half) - np.log(2))
