"""Smallest sets of results that test a layout, by integer programming, proved minimal.

A set of results is a set-cover problem: choose the fewest of the 56 results (order of dice does not
matter to a rule) so that every demand is met by at least one chosen result. Solved by branch and
bound (HiGHS through `scipy.optimize.milp`), which proves the optimum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from harness.diagnosis.layout import ASCENDING, Layout
from harness.observations import Dice
from harness.verdicts import HarnessError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_TIME_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Results to enter, ascending; whether no smaller set exists; what no result can show.

    `impossible` lists demands that the book itself rules out: an area that never wins or always
    does, or two areas that win on the same results.
    """

    results: tuple[Dice, ...]
    proved_minimal: bool
    impossible: tuple[str, ...]


class PlanError(HarnessError):
    """No plan was found in the time allowed."""


def plan_cover(book: Layout, options: Mapping[str, bool | str] | None = None) -> Plan:
    """Plan the fewest results that light every area at least once."""
    lit = _lit(book, options)
    return _smallest({f"light {area}": lit[area] for area in book.areas})


def plan_distinguish(book: Layout, options: Mapping[str, bool | str] | None = None) -> Plan:
    """Plan the fewest results that also leave every area dark once and tell every two apart."""
    lit = _lit(book, options)
    everything = frozenset(range(len(ASCENDING)))
    demands = {f"light {area}": lit[area] for area in book.areas}
    demands |= {f"leave {area} dark": everything - lit[area] for area in book.areas}
    demands |= {f"tell {a} from {b}": lit[a] ^ lit[b] for a, b in combinations(book.areas, 2)}
    return _smallest(demands)


def _lit(book: Layout, options: Mapping[str, bool | str] | None) -> dict[str, frozenset[int]]:
    winning = [book.winning_areas(dice, options) for dice in ASCENDING]
    return {a: frozenset(i for i, won in enumerate(winning) if a in won) for a in book.areas}


def _smallest(demands: Mapping[str, frozenset[int]]) -> Plan:
    import numpy as np  # heavy, and only plans need it
    from scipy.optimize import Bounds, LinearConstraint, milp

    impossible = tuple(sorted(name for name, by in demands.items() if not by))
    rows = _undominated([by for by in demands.values() if by])
    matrix: NDArray[np.float64] = np.zeros((len(rows), len(ASCENDING)))
    for row, by in enumerate(rows):
        matrix[row, list(by)] = 1.0
    solved = milp(
        np.ones(len(ASCENDING)),
        integrality=np.ones(len(ASCENDING), dtype=np.int_),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, lb=1.0),
        options={"time_limit": _TIME_LIMIT_S, "mip_rel_gap": 0.0},
    )
    if solved.x is None:
        raise PlanError(
            "plan",
            expected=f"a set of results within {_TIME_LIMIT_S:g} s",
            found=str(solved.message),
            remedy="try again on a faster machine",
        )
    chosen = tuple(dice for dice, x in zip(ASCENDING, solved.x, strict=True) if x > 0.5)
    # the objective is whole, so a bound above n - 1 proves n minimal
    proved = solved.status == 0 or solved.mip_dual_bound > len(chosen) - 1 + 1e-6
    return Plan(chosen, bool(proved), impossible)


def _undominated(demands: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """Drop each demand that is met whenever a narrower one is: the solver has less to do."""
    kept: list[frozenset[int]] = []
    for demand in sorted(set(demands), key=lambda by: (len(by), sorted(by))):
        if not any(narrower <= demand for narrower in kept):
            kept.append(demand)
    return kept


def in_varied_orders(results: Sequence[Dice]) -> list[Dice]:
    """Give the results with their values in such orders that each comes first as often as can be.

    Which areas win does not depend on the order; whether a key that counts twice shows does: it
    must not always be the last.
    """
    first: Counter[int] = Counter()
    varied: list[Dice] = []
    for a, b, c in results:
        turns: tuple[Dice, ...] = ((a, b, c), (b, c, a), (c, a, b))
        turn = min(turns, key=lambda dice: first[dice[0]])
        if len({a, b, c}) > 1:
            first[turn[0]] += 1
        varied.append(turn)
    return varied
