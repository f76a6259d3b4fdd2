"""Fixed-sample tests against scipy.stats and brute force on the same data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from harness.fairness.fixed import FixedTests, FixedTestsAlike
from harness.fairness.fixed_test import holm
from harness.fairness.series import coupon_shares

RNG = np.random.default_rng(11)
TOSSES = RNG.integers(1, 7, (6000, 3)).astype(np.uint8)


@pytest.fixture(scope="module")
def tests():
    counted = FixedTests()
    for part in np.array_split(TOSSES, 17):
        counted.feed(part)
    return {t.name: t for t in counted.results()}


def agrees(test, reference):
    assert test.statistic == pytest.approx(reference.statistic, abs=1e-9, rel=1e-9)
    assert test.p_value == pytest.approx(reference.pvalue, abs=1e-9, rel=1e-9)


@pytest.mark.parametrize("die", [0, 1, 2])
def test_faces(tests, die):
    """Fails beyond 1e-9 from scipy.stats.chisquare."""
    counts = np.bincount(TOSSES[:, die], minlength=7)[1:]
    agrees(tests[f"die{die + 1}-faces-chi-square"], stats.chisquare(counts))


def test_totals(tests):
    """Fails beyond 1e-9 from scipy on the exact distribution of totals."""
    ways = np.bincount([sum(d) for d in itertools.product(range(1, 7), repeat=3)])[3:]
    counts = np.bincount(TOSSES.sum(1, dtype=int), minlength=19)[3:]
    agrees(tests["totals-chi-square"], stats.chisquare(counts, 6000 * ways / 216))


def test_56_and_216_results(tests):
    """Fails beyond 1e-9 from scipy over the 56 unordered and 216 ordered results."""
    ordered = list(itertools.product(range(1, 7), repeat=3))
    index = {d: i for i, d in enumerate(ordered)}
    counts = np.bincount([index[tuple(t)] for t in TOSSES.tolist()], minlength=216)
    agrees(tests["216-results-chi-square"], stats.chisquare(counts))
    groups = sorted({tuple(sorted(d)) for d in ordered})
    observed = [sum(counts[index[d]] for d in ordered if tuple(sorted(d)) == g) for g in groups]
    expected = [6000 * sum(tuple(sorted(d)) == g for d in ordered) / 216 for g in groups]
    agrees(tests["56-results-chi-square"], stats.chisquare(observed, expected))


@pytest.mark.parametrize("die", [0, 1, 2])
def test_runs_by_brute_force(tests, die):
    """Fails if the number of runs or its normal approximation differs from the definition."""
    high = [v > 3 for v in TOSSES[:, die].tolist()]
    runs = len(list(itertools.groupby(high)))
    n, a = len(high), sum(high)
    b = n - a
    mean = 2 * a * b / n + 1
    sd = (2 * a * b * (2 * a * b - n) / (n**2 * (n - 1))) ** 0.5
    test = tests[f"die{die + 1}-runs"]
    assert test.statistic == pytest.approx((runs - mean) / sd, abs=1e-9)
    assert test.p_value == pytest.approx(2 * stats.norm.sf(abs((runs - mean) / sd)), abs=1e-9)


@pytest.mark.parametrize("die", [0, 1, 2])
def test_serial_correlation_by_definition(tests, die):
    """Fails if the lag-1 coefficient differs from its definition."""
    x = TOSSES[:, die].astype(float)
    d = x - x.mean()
    r = (d[1:] @ d[:-1]) / (d @ d)
    test = tests[f"die{die + 1}-serial-correlation"]
    assert test.statistic == pytest.approx(r * np.sqrt(len(x)), abs=1e-9)


@pytest.mark.parametrize("die", [0, 1, 2])
def test_gaps_and_coupons_by_brute_force(tests, die):
    """Fails if a gap or a collection is lost or doubled where portions meet."""
    values = TOSSES[:, die].tolist()
    sixes = [i for i, v in enumerate(values) if v == 6]
    gaps = np.bincount([min(b - a - 1, 30) for a, b in itertools.pairwise(sixes)], minlength=31)
    shares = [(1 / 6) * (5 / 6) ** g for g in range(30)] + [(5 / 6) ** 30]
    expected = gaps.sum() * np.array(shares)
    small = expected < 5
    joined = [*gaps[~small], gaps[small].sum()] if small.any() else gaps
    wanted = [*expected[~small], expected[small].sum()] if small.any() else expected
    agrees(tests[f"die{die + 1}-gaps"], stats.chisquare(joined, wanted))

    lengths, missing, length = [], set(range(1, 7)), 0
    for v in values:
        missing.discard(v)
        length += 1
        if not missing:
            lengths.append(min(length, 40))
            missing, length = set(range(1, 7)), 0
    counts = np.bincount(lengths, minlength=41)[6:]
    expected = len(lengths) * coupon_shares()
    small = expected < 5
    agrees(
        tests[f"die{die + 1}-coupon-collector"],
        stats.chisquare(
            [*counts[~small], counts[small].sum()], [*expected[~small], expected[small].sum()]
        ),
    )


@pytest.mark.parametrize("die", [0, 1, 2])
def test_wear_against_scipy(tests, die):
    """Fails beyond 1e-9 from scipy's contingency test of the first against the last third."""
    counted = FixedTests()
    counted.feed(TOSSES)
    parts = counted.stretches[:, die]
    assert (parts.sum(axis=0) == np.bincount(TOSSES[:, die], minlength=7)[1:]).all()
    third = len(parts) // 3
    table = np.stack([parts[:third].sum(axis=0), parts[-third:].sum(axis=0)])
    reference = stats.chi2_contingency(table, correction=False)
    agrees(tests[f"die{die + 1}-wear"], reference)


def test_sorted_values_give_the_same_tests_of_sorted_results(tests):
    """Fails if tests that need no order differ when the order is lost."""
    alike = FixedTestsAlike()
    for part in np.array_split(np.sort(TOSSES, axis=1), 5):
        alike.feed(part)
    by_name = {t.name: t for t in alike.results()}
    for name in ("totals-chi-square", "56-results-chi-square"):
        assert by_name[name].statistic == pytest.approx(tests[name].statistic, abs=1e-9)
    pooled = stats.chisquare(np.bincount(TOSSES.ravel(), minlength=7)[1:])
    agrees(by_name["pooled-faces-chi-square"], pooled)
    totals = TOSSES.sum(axis=1, dtype=float)
    off = totals - totals.mean()
    correlation = (off[1:] @ off[:-1]) / (off @ off) * np.sqrt(len(off))
    assert by_name["totals-serial-correlation"].statistic == pytest.approx(correlation, abs=1e-9)


def test_coupon_shares_against_a_markov_chain():
    """Fails if the exact distribution differs from stepping through 'faces seen so far'."""
    state = np.zeros(7)
    state[0] = 1
    shares = []
    for _ in range(39):
        done = state[6]
        after = np.zeros(7)
        for seen in range(7):
            after[seen] += state[seen] * seen / 6
            if seen < 6:
                after[seen + 1] += state[seen] * (6 - seen) / 6
        state = after
        shares.append(state[6] - done)
    ours = coupon_shares()
    assert ours[:-1] == pytest.approx(shares[5:], abs=1e-12)
    assert ours.sum() == pytest.approx(1.0, abs=1e-12)


def test_few_tosses_are_left_out_not_judged():
    """Fails if a chi-square is given where expected counts do not carry it."""
    few = FixedTests()
    few.feed(TOSSES[:12])
    assert all(t.p_value is None and t.left_out for t in few.results() if "chi-square" in t.name)


def test_holm_by_hand(tests):
    """Fails if an adjusted p-value is below its own, above one, or out of order."""
    adjusted = holm(list(tests.values()))
    ranked = sorted((t for t in adjusted if t.p_value is not None), key=lambda t: t.p_value)
    steps = [min(1, t.p_value * (len(ranked) - i)) for i, t in enumerate(ranked)]
    for i, test in enumerate(ranked):
        assert test.p_adjusted == pytest.approx(max(steps[: i + 1]))
