"""How many tosses it takes: fixed tests by calculation, sequential ones by simulation."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2

from harness.fairness.categorical import log_e
from harness.fairness.confidence import log_evidence_against
from harness.fairness.hypotheses import FAMILY

_SEED = 20_241_102
_RUNS = 200
_FACES_WEIGHT = next(h.weight for h in FAMILY if h.kind == "faces")


def shifted_face(shift: float) -> NDArray[np.float64]:
    """Give the face probabilities of a die with one face at 1/6 + shift, the rest even: (6,)."""
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

    Simulated on 200 seeded runs at the threshold the die has within the whole family, looked at
    whenever tosses have grown by a hundredth; None where a quantile lies beyond four times the
    fixed test's number. Null of the process: independent tosses, each face with probability 1/6.
    """
    most = 4 * fixed_throws(shift, alpha * _FACES_WEIGHT, 0.9)
    looks = _looks(most)
    rng = np.random.default_rng(_SEED)
    between = np.diff(looks, prepend=0)
    came = rng.multinomial(between, shifted_face(shift), size=(_RUNS, len(looks)))
    over = log_e(np.cumsum(came, axis=1)) >= -np.log(alpha * _FACES_WEIGHT)
    found = np.where(over.any(axis=1), looks[over.argmax(axis=1)], np.inf)
    ends = np.quantile(found, quantiles, method="higher")
    return [int(end) if np.isfinite(end) else None for end in ends]


def _looks(most: int) -> NDArray[np.int64]:
    """Give toss numbers up to `most`, each about a hundredth further on than the last."""
    steps = np.arange(int(np.log(most) / np.log(1.01)) + 2)
    return np.unique(np.minimum(np.ceil(1.01**steps), most).astype(np.int64))


def tosses_to_fair(tolerance: float, alpha: float, share: float, *, alike: bool = False) -> int:
    """Give the tosses after which that share of fair shakers is declared fair within tolerance.

    Simulated on 200 seeded draws of three dice, by bisection over the number of tosses. tolerance:
    of a probability; alike: the dice are not told apart (`alike.AlikeWatch`). The confidence
    sequences are those of `confidence.interval`.
    """

    def declared(n: int) -> bool:
        rng = np.random.default_rng(_SEED + n)
        counts = rng.multinomial(n, np.full(6, 1 / 6), size=(_RUNS, 3)).astype(np.float64)
        if alike:
            counts = counts.mean(axis=1, keepdims=True)
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
class Bias:
    """Tosses that it takes to find one face of one die off by `shift`.

    `fixed` is the chi-square test's number at the die's share of alpha within the family,
    `fixed_alone` at the whole alpha; `sequential_median` and `sequential_power` the tosses by which
    half, and the wanted power, of such dice are found (None: not within reach).
    """

    shift: float
    fixed_alone: int
    fixed: int
    sequential_median: int | None
    sequential_power: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """Tosses and hours: for several biases, the one asked for first, and for the all-clear.

    `fair_median` and `fair_95` are the tosses by which fair dice are declared fair in half and in
    95 of 100 qualifications. Hours are at `cycle_s` seconds a toss.
    """

    tolerance: float
    alpha: float
    power: float
    cycle_s: float
    biases: tuple[Bias, ...]
    fair_median: int
    fair_95: int

    def hours(self, tosses: int | None) -> float | None:
        """Give the hours that many tosses take."""
        return None if tosses is None else tosses * self.cycle_s / 3600

    def to_json(self) -> dict[str, object]:
        """Give the plan as `shaker plan --json` prints it: the bias asked for on the top level."""
        asked = self.biases[0]
        numbers = {
            "fixed_alone": asked.fixed_alone,
            "fixed": asked.fixed,
            "sequential_median": asked.sequential_median,
            "sequential_power": asked.sequential_power,
            "fair_median": self.fair_median,
            "fair_95": self.fair_95,
        }
        return {
            "shift": asked.shift,
            "tolerance": self.tolerance,
            "alpha": self.alpha,
            "power": self.power,
            "cycle_s": self.cycle_s,
            **numbers,
            "hours": {name: self.hours(tosses) for name, tosses in numbers.items()},
            "biases": [asdict(bias) for bias in self.biases],
        }


def plan(shift: float, tolerance: float, alpha: float, power: float, cycle_s: float) -> Plan:
    """Plan a qualification: how many tosses for which bias, how long at this cycle time (s).

    shift, tolerance: of a probability. Told for the bias asked for, and for twice and half of it.
    Null and source: those of `fixed_throws` and `sequential_throws`.
    """
    return Plan(
        tolerance,
        alpha,
        power,
        cycle_s,
        tuple(_bias(each, alpha, power) for each in (shift, 2 * shift, shift / 2) if each < 5 / 6),
        tosses_to_fair(tolerance, alpha, 0.5),
        tosses_to_fair(tolerance, alpha, 0.95),
    )


def _bias(shift: float, alpha: float, power: float) -> Bias:
    median, wanted = sequential_throws(shift, alpha, (0.5, power))
    return Bias(
        shift,
        fixed_throws(shift, alpha, power),
        fixed_throws(shift, alpha * _FACES_WEIGHT, power),
        median,
        wanted,
    )
