"""Smallest test sets: they do what they claim, and nothing smaller does."""

from __future__ import annotations

import itertools

import pytest

from harness.diagnosis import plan as planning
from harness.diagnosis.plan import PlanError, plan_cover, plan_distinguish
from tests.diagnosis.broken_table import AREAS, Layout, winners


class Singles:
    """A layout so small that every set of results can be tried."""

    areas = dict.fromkeys(["single-1", "single-2", "any-triple", "total-4"])

    def winning_areas(self, dice, options=None):
        return frozenset(winners(tuple(dice)) & set(self.areas))


class Twins(Singles):
    """Two areas that always win together, and one that never does."""

    areas = dict.fromkeys(["a", "b", "never"])

    def winning_areas(self, dice, options=None):
        return frozenset({"a", "b"} if 1 in dice else set())


def test_cover_lights_all_fifty_with_seventeen():
    """Fails if an area stays dark, the proof is missing, or the size is not the known 17."""
    plan = plan_cover(Layout())
    assert set().union(*(winners(d) for d in plan.results)) == set(AREAS)
    assert (len(plan.results), plan.proved_minimal, plan.impossible) == (17, True, ())
    assert all(list(d) == sorted(d) for d in plan.results)


def test_distinguish_tells_every_two_areas_apart():
    """Fails if two areas share a signature over the set, or one is never dark."""
    plan = plan_distinguish(Layout())
    seen = {a: tuple(a in winners(d) for d in plan.results) for a in AREAS}
    assert len(set(seen.values())) == 50
    assert all(any(s) and not all(s) for s in seen.values())
    assert plan.proved_minimal


def test_minimal_against_trying_every_smaller_set():
    """Fails if a smaller set exists."""
    plan = plan_distinguish(Singles())
    results = [d for d in itertools.product(range(1, 7), repeat=3) if list(d) == sorted(d)]

    def does(chosen):
        seen = [tuple(a in winners(d) for d in chosen) for a in Singles.areas]
        return len(set(seen)) == len(seen) and all(any(s) and not all(s) for s in seen)

    assert does(plan.results)
    size = len(plan.results)
    assert not any(does(chosen) for chosen in itertools.combinations(results, size - 1))


def test_what_no_result_can_show_is_said():
    """Fails if areas that the rules make equal are silently passed over."""
    plan = plan_distinguish(Twins())
    assert set(plan.impossible) == {"light never", "tell a from b"}
    assert plan.proved_minimal


def test_a_plan_that_takes_too_long_is_given_up_with_the_solver_s_word(monkeypatch):
    """Fails if nothing is said of why there is no plan."""
    monkeypatch.setattr(planning, "_TIME_LIMIT_S", 0.0)
    with pytest.raises(PlanError, match="Time limit") as given_up:
        plan_distinguish(Layout())
    assert given_up.value.expected == "a set of results within 0 s"
    assert given_up.value.remedy == "try again on a faster machine"
