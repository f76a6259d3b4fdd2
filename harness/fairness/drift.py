"""An e-process for 'this die's faces stay what they are': wear, or a die that was changed.

After each block of tosses the faces of the next one are predicted from the last ones, older tosses
fading away over several spans. What the predictions gave to the faces that came is held against the
most that any constant face probabilities could have given them (universal inference: Wasserman,
Ramdas, Balakrishnan 2020, PNAS 117): a loaded die that stays as it is gives no evidence here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from harness.fairness.log_sum import log_mean_exp

BLOCK = 500
"""Tosses between two predictions; the e-process is looked at after each block."""

SPANS = (2_000.0, 10_000.0, 50_000.0)
"""Tosses over which what was seen fades to 1/e."""

_PSEUDO_TOSSES = 300.0
"""Weight of even faces in each prediction."""


class Fading:
    """The predictions of one die, fed with the counts of its blocks in time order."""

    def __init__(self) -> None:
        self._faded = np.zeros((len(SPANS), 6))
        self._kept = np.exp(-BLOCK / np.array(SPANS))[:, None]
        self._log_won = np.zeros(len(SPANS))
        self._counts = np.zeros(6)

    def log_e_path(self, blocks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Give the natural logarithm of the e-value after each block.

        blocks: shape (m, 6), how often each face came in each of m blocks of BLOCK tosses. Returns
        shape (m,). Null: tosses of the die are independent with constant but unknown face
        probabilities.
        """
        won = np.empty((len(blocks), len(SPANS)))
        for number, counts in enumerate(blocks):
            known = self._faded + _PSEUDO_TOSSES / 6
            shares = known / known.sum(axis=1, keepdims=True)
            self._log_won = self._log_won + np.log(6 * shares) @ counts
            won[number] = self._log_won
            self._faded = self._kept * self._faded + counts
        counts = self._counts + np.cumsum(blocks, axis=0)
        self._counts = counts[-1] if len(blocks) else self._counts
        most = xlogy(counts, 6 * counts / counts.sum(axis=1, keepdims=True)).sum(axis=1)
        return np.asarray(log_mean_exp(won, 1) - most)
