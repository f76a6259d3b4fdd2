"""How many tosses it takes: fixed tests by calculation, sequential ones by simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2

from harness.fairness.categorical import log_e_path
from harness.fairness.confidence import log_evidence_against
from harness.fairness.hypotheses import FAMILY

_SEED = 20_241_102
_RUNS = 200
_FACES_WEIGHT = next(h.weight for h in FAMILY if h.kind == "faces")


def shifted_face(shift: float) -> NDArray[np.float64]:
    """Give a die with one face at 1/6 + shift and the rest even: shape (6,)."""
    shares = np.full(6, 1 / 6 - shift / 5)
    shares[5] = 1 / 6 + shift
    return shares


def fixed_throws(shift: float, alpha: float, power: float) -> int:
    """Give the throws of one die that a chi-square test with 5 degrees of freedom needs.

    shift: how far one face is off 1/6, the rest sharing the difference; power: chance to find it.
    Null: each face has probability 1/6. Source: noncentral chi-square, Cohen 1988, Statistical
    Power Analysis, chapter 7.
    """
    effect = float((6 * (shifted_face(shift) - 1 / 6) ** 2).sum())
    critical = chi2.isf(alpha, 5)
    noncentrality = brentq(lambda nc: ncx2.sf(critical, 5, nc) - power, 1e-6, 1e4)
    return int(np.ceil(noncentrality / effect))


def sequential_throws(shift: float, alpha: float, quantiles: tuple[float, ...]) -> list[int | None]:
    """Give quantiles of the toss at which the faces' e-process of one die finds a shift.

    Simulated on 200 seeded runs at the threshold the die has within the whole family; None where a
    quantile lies beyond four times the fixed test's number.
    """
    most = 4 * fixed_throws(shift, alpha * _FACES_WEIGHT, 0.9)
    rng = np.random.default_rng(_SEED)
    threshold = -np.log(alpha * _FACES_WEIGHT)
    found = np.full(_RUNS, np.inf)
    for run in range(_RUNS):
        faces = rng.choice(6, size=most, p=shifted_face(shift))
        over = np.flatnonzero(log_e_path(faces, 6) >= threshold)
        if len(over):
            found[run] = over[0] + 1
    ends = np.quantile(found, quantiles, method="higher")
    return [int(end) if np.isfinite(end) else None for end in ends]


def tosses_to_fair(tolerance: float, alpha: float, share: float) -> int:
    """Give the tosses after which that share of fair shakers is declared fair within tolerance.

    Simulated on 200 seeded draws of three dice, by bisection over the number of tosses.
    """

    def declared(n: int) -> bool:
        rng = np.random.default_rng(_SEED + n)
        counts = rng.multinomial(n, np.full(6, 1 / 6), size=(_RUNS, 3))
        inside = np.abs(counts / n - 1 / 6) < tolerance
        for edge in (1 / 6 - tolerance, 1 / 6 + tolerance):
            inside &= log_evidence_against(edge, counts, n, 1 / 6) >= -np.log(alpha)
        return bool(inside.all(axis=(1, 2)).mean() >= share)

    low, high = 1, 16
    while not declared(high):
        low, high = high, high * 2
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if declared(middle) else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class Plan:
    """Tosses and hours for one shift of one face of one die, and for the all-clear.

    `fixed` is the chi-square test's number at the die's share of alpha within the family,
    `fixed_alone` at the whole alpha; `sequential_median` and `sequential_power` the tosses by which
    half, and the wanted power, of such dice are found; `fair` those by which fair dice are declared
    fair in half and in 95 of 100 qualifications. Hours are at `cycle_s` seconds a toss.
    """

    shift: float
    tolerance: float
    alpha: float
    power: float
    cycle_s: float
    fixed_alone: int
    fixed: int
    sequential_median: int | None
    sequential_power: int | None
    fair_median: int
    fair_95: int

    def hours(self, tosses: int | None) -> float | None:
        """Give the hours that many tosses take."""
        return None if tosses is None else tosses * self.cycle_s / 3600


def plan(shift: float, tolerance: float, alpha: float, power: float, cycle_s: float) -> Plan:
    """Plan a qualification: how many tosses for which bias, how long at this cycle time (s)."""
    median, wanted = sequential_throws(shift, alpha, (0.5, power))
    return Plan(
        shift,
        tolerance,
        alpha,
        power,
        cycle_s,
        fixed_throws(shift, alpha, power),
        fixed_throws(shift, alpha * _FACES_WEIGHT, power),
        median,
        wanted,
        tosses_to_fair(tolerance, alpha, 0.5),
        tosses_to_fair(tolerance, alpha, 0.95),
    )
