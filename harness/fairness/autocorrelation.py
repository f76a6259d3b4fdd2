"""Correlation of a series with itself, some tosses later: for the picture, not for the decision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LAGS = 20
OVER_FIRST = 1_000_000
"""Tosses that are taken in; more would not change the picture."""


class Autocorrelation:
    """Sums of products at lags 1 to LAGS of several series, fed in any portions."""

    def __init__(self, rows: int) -> None:
        self.tosses = 0
        self._sums = np.zeros(rows)
        self._squares = np.zeros(rows)
        self._products = np.zeros((rows, LAGS))
        self._tail = np.empty((rows, 0))

    def feed(self, series: NDArray[np.integer]) -> None:
        """Take values in time order, shape (rows, n)."""
        new = series[:, : OVER_FIRST - self.tosses].astype(np.float64)
        if not new.shape[1]:
            return
        self.tosses += new.shape[1]
        self._sums += new.sum(axis=1)
        self._squares += (new**2).sum(axis=1)
        joined = np.concatenate((self._tail, new), axis=1)
        known = self._tail.shape[1]
        for lag in range(1, LAGS + 1):
            start = max(known, lag)  # products whose later toss is new
            later, earlier = joined[:, start:], joined[:, start - lag : joined.shape[1] - lag]
            if later.shape[1]:
                self._products[:, lag - 1] += np.einsum("ij,ij->i", later, earlier)
        self._tail = joined[:, -LAGS:]

    def coefficients(self) -> NDArray[np.float64]:
        """Give the correlation at each lag, shape (rows, LAGS), NaN where there is none.

        For independent tosses each is about normal with standard deviation 1 / sqrt(tosses)
        (Bartlett 1946, Supplement to the Journal of the Royal Statistical Society 8).
        """
        n = self.tosses
        if n <= LAGS:
            return np.full(self._products.shape, np.nan)
        mean = (self._sums / n)[:, None]
        spread = (self._squares / n)[:, None] - mean**2
        pairs = n - np.arange(1, LAGS + 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((self._products / pairs - mean**2) / spread)
