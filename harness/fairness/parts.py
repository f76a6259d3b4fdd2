"""Counts over the parts of a recording whose length nobody knows beforehand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MOST = 96


class Parts:
    """Counts of categories in consecutive stretches of equal length, at most 96 of them.

    Whenever there are more, neighbours are joined and stretches are twice as long from then on.
    """

    def __init__(self, k: int) -> None:
        self._k = k
        self._length = 1
        self._parts: list[NDArray[np.int64]] = []
        self._filled = 0

    def feed(self, categories: NDArray[np.integer]) -> None:
        """Take categories 0 to k-1 in time order."""
        start, n = 0, len(categories)
        while start < n:
            if not self._parts or self._filled == self._length:
                self._open()
            take = min(n - start, self._length - self._filled)
            self._parts[-1] += np.bincount(categories[start : start + take], minlength=self._k)
            self._filled += take
            start += take

    def _open(self) -> None:
        if len(self._parts) == _MOST:
            self._parts = [a + b for a, b in zip(self._parts[::2], self._parts[1::2], strict=True)]
            self._length *= 2
        self._parts.append(np.zeros(self._k, np.int64))
        self._filled = 0

    def stretches(self) -> NDArray[np.int64]:
        """Give the counts in all stretches, the last perhaps unfinished: shape (parts, k)."""
        return np.array(self._parts, np.int64).reshape(-1, self._k)


def outer_thirds(stretches: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add up the first and the last third of counts in stretches: (parts, ...) to (2, ...)."""
    third = len(stretches) // 3
    return np.stack(
        [stretches[:third].sum(axis=0), stretches[len(stretches) - third :].sum(axis=0)]
    )
