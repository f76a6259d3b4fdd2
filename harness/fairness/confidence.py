"""Confidence sequences: intervals that hold at every toss at once.

For a probability p, the Beta-mixture likelihood ratio against p is a martingale when p is true, so
the set of p for which it has stayed below 1/alpha covers the truth at all times with probability at
least 1 - alpha (Robbins 1970; Howard, Ramdas, McAuliffe, Sekhon 2021, Annals of Statistics 49).
The mixture's parts are centred on the value a fair die has and lie ever closer to it, which makes
the interval of a fair die narrow; far from the centre it stays valid and is merely wider.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, xlog1py, xlogy

from harness.fairness.log_sum import log_mean_exp

CONCENTRATIONS = (6.0, 60.0, 600.0, 6_000.0, 60_000.0)
_BISECTIONS = 60


def log_mixture(hits: ArrayLike, tosses: ArrayLike, centre: float) -> NDArray[np.float64]:
    """Give the log marginal likelihood of hits under the Beta mixture around `centre`.

    hits may be fractions: see `log_evidence_against`.
    """
    k, n = np.asarray(hits, np.float64), np.asarray(tosses, np.float64)
    parts = []
    for total in CONCENTRATIONS:
        a, b = total * centre, total * (1 - centre)
        parts.append(
            gammaln(a + k)
            + gammaln(b + n - k)
            - gammaln(total + n)
            - gammaln(a)
            - gammaln(b)
            + gammaln(total)
        )
    return log_mean_exp(np.stack(parts), 0)


def log_evidence_against(
    p: ArrayLike, hits: ArrayLike, tosses: ArrayLike, centre: float
) -> NDArray[np.float64]:
    """Give the natural logarithm of the e-value against probability p, from hits in tosses.

    Null: given what came before, each toss hits with probability p. A toss may also score a
    fraction between 0 and 1 with mean p (by convexity the bet is then worth no more on average:
    Hoeffding 1963, Journal of the American Statistical Association 58); hits are the sum of scores.
    """
    k, n = np.asarray(hits, np.float64), np.asarray(tosses, np.float64)
    p = np.asarray(p, np.float64)
    return np.asarray(log_mixture(k, n, centre) - xlogy(k, p) - xlog1py(n - k, -p))


def interval(
    hits: ArrayLike, tosses: ArrayLike, alpha: float, centre: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the ends of the confidence sequence at this toss, at level 1 - alpha: probabilities.

    Covers, at all tosses at once, a probability that stays what it is (`log_evidence_against`).
    hits, tosses: broadcastable counts; with no toss the interval is [0, 1]. The intersection over
    earlier tosses, also valid, is left to the caller.
    """
    k, n = np.broadcast_arrays(np.asarray(hits, np.float64), np.asarray(tosses, np.float64))
    best = np.divide(k, n, out=np.full(k.shape, 0.5), where=n > 0)
    threshold = np.log(1 / alpha)
    mixture = log_mixture(k, n, centre)

    def end(outer: float) -> NDArray[np.float64]:
        inside, outside = best.copy(), np.full(k.shape, outer)
        for _ in range(_BISECTIONS):
            middle = (inside + outside) / 2
            kept = mixture - xlogy(k, middle) - xlog1py(n - k, -middle) < threshold
            inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
        return np.where(n > 0, outside, outer)

    return end(0.0), end(1.0)
