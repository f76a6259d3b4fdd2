"""Error rates and power of the shaker's sequential decision, by seeded simulation.

    python -m tests.benchmarks.fairness [--runs 2000] [--fair-runs 500] [--power-runs 200]

Prints: how often fair dice are rejected when watched at every toss (at most alpha plus three
standard errors is wanted), how often they are declared fair, and the median tosses to find loaded,
copying, following and sticky dice against the fixed tests' numbers for the same family and alpha.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from scipy.stats import chi2, ncx2

from harness.fairness.decision import Watch
from harness.fairness.hypotheses import FAMILY
from harness.fairness.sample_size import fixed_throws, shifted_face

ALPHA = 0.01
Maker = Callable[[np.random.Generator, int], np.ndarray]


def fair(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(1, 7, (n, 3)).astype(np.uint8)


def loaded(shift: float, rng: np.random.Generator, n: int) -> np.ndarray:
    tosses = fair(rng, n)
    tosses[:, 0] = rng.choice(6, size=n, p=shifted_face(shift)) + 1
    return tosses


def copying(share: float, rng: np.random.Generator, n: int) -> np.ndarray:
    tosses = fair(rng, n)
    copies = rng.random(n) < share
    tosses[copies, 1] = tosses[copies, 0]
    return tosses


def sticky(share: float, lag: int, rng: np.random.Generator, n: int) -> np.ndarray:
    tosses = fair(rng, n)
    for i in np.flatnonzero(rng.random(n) < share):
        if i >= lag:
            tosses[i, 2] = tosses[i - lag, 2]
    return tosses


def following(share: float, rng: np.random.Generator, n: int) -> np.ndarray:
    tosses = fair(rng, n)
    turned = rng.random(n) < share
    tosses[turned, 1] = tosses[turned, 0] % 6 + 1
    return tosses


def one(make: Maker, n: int, seed: int) -> tuple[bool, int | None, int | None]:
    """Give whether anything was rejected, when first, and when fairness was declared."""
    watch = Watch(ALPHA)
    rng = np.random.default_rng([2024, seed])
    first = None
    tosses = make(rng, n)
    step = 500
    for start in range(0, n, step):
        watch.feed(tosses[start : start + step])
        if watch.rejected():
            first = start + step
            break
    return first is not None, first, watch.fair_at


def whole(make: Maker, n: int, seed: int) -> tuple[bool, int | None]:
    """Give whether anything was ever rejected over n tosses, and when fairness was declared."""
    watch = Watch(ALPHA)
    watch.feed(make(np.random.default_rng([2023, seed]), n))
    return bool(watch.rejected()), watch.fair_at


def dependence_throws(excess: float, weight: float, degrees: int, power: float) -> int:
    """Give the tosses a chi-square test of a 6 x 6 table needs for an excess of matches."""
    diagonal, other = excess * 5, -excess
    effect = (6 * diagonal**2 + 30 * other**2) / 36
    critical = chi2.isf(ALPHA * weight, degrees)
    low, high = 1.0, 1e4
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if ncx2.sf(critical, degrees, middle) < power else (low, middle)
    return int(high / effect)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--fair-runs", type=int, default=500)
    parser.add_argument("--power-runs", type=int, default=100)
    options = parser.parse_args()
    started = time.monotonic()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(partial(whole, fair, 20_000), range(options.runs), chunksize=8))
        rejected = sum(r for r, _ in outcomes)
        rate = rejected / options.runs
        allowed = ALPHA + 3 * (ALPHA * (1 - ALPHA) / options.runs) ** 0.5
        print(
            f"fair dice, {options.runs} runs of 20,000 tosses watched at every toss: rejected "
            f"{rejected} ({rate:.4f}; at most {allowed:.4f} wanted)"
        )
        declared = sum(f is not None for _, f in outcomes[: options.fair_runs])
        print(
            f"declared fair within 0.02: {declared} of {min(options.fair_runs, options.runs)} "
            f"(at least 95% wanted)"
        )
        weight = {h.kind: h.weight for h in reversed(FAMILY)}  # transitions: of lag 1
        seventh = next(h.weight for h in FAMILY if h.kind == "transitions" and h.lag == 7)
        cases: list[tuple[str, Maker, int, int]] = [
            (
                "one face +0.02",
                partial(loaded, 0.02),
                40_000,
                fixed_throws(0.02, ALPHA * weight["faces"], 0.9),
            ),
            (
                "one face +0.01",
                partial(loaded, 0.01),
                120_000,
                fixed_throws(0.01, ALPHA * weight["faces"], 0.9),
            ),
            (
                "a die copies another 3%",
                partial(copying, 0.03),
                60_000,
                dependence_throws(0.03, weight["copies"], 25, 0.9),
            ),
            (
                "a die repeats 3%",
                partial(sticky, 0.03, 1),
                80_000,
                dependence_throws(0.03, weight["transitions"], 25, 0.9),
            ),
            (
                "a die repeats 3%, lag 7",
                partial(sticky, 0.03, 7),
                80_000,
                dependence_throws(0.03, seventh, 25, 0.9),
            ),
            (
                "a die one on 3%",
                partial(following, 0.03),
                60_000,
                dependence_throws(0.03, weight["dependence"], 25, 0.9),
            ),
        ]
        print(f"{'fault':26}{'fixed, 90%':>12}{'median':>9}{'90%':>9}{'found':>7}")
        for name, make, most, fixed in cases:
            found = list(pool.map(partial(one, make, most), range(options.power_runs), chunksize=4))
            at = np.array([first if first else np.inf for _, first, _ in found])
            median, ninety = np.quantile(at, (0.5, 0.9), method="higher")
            print(f"{name:26}{fixed:12,}{median:9,.0f}{ninety:9,.0f}{np.isfinite(at).mean():7.0%}")
            curve = "  ".join(
                f"{share:.0%} of fixed: {np.mean(at <= share * fixed):.0%}"
                for share in (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
            )
            print(f"  power at {curve}")
    print(f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
