# mypy: disable-error-code="import-not-found"
# Training only: torch is not in the project's environment.

"""Averages the weights of two runs: `python -m harness.vision.training.average A.pt B.pt OUT.pt`.

Two runs of one network, the second continued from the first, are steadier averaged than either is.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch


def average(one: Path, two: Path, out: Path) -> None:
    """Write the mean of two sets of weights; counters are taken from the first."""
    a, b = torch.load(one), torch.load(two)
    mean = {k: (a[k] + b[k]) / 2 if a[k].is_floating_point() else a[k] for k in a}
    torch.save(mean, out)


if __name__ == "__main__":
    average(*(Path(name) for name in sys.argv[1:4]))
