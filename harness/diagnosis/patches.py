"""What is wrong with each lamp by itself, for any number of lamps at once.

Where no single fault explains a run, every area that differs gets the simplest account of its own:
what it would have to follow, over all samples, to have been seen as it was. The accounts together,
with the causes at keys and rules that are taken as given, explain the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.diagnosis.areamask import AreaMask
from harness.diagnosis.cause import Cause
from harness.diagnosis.lamp_causes import (
    Wiring,
    circles_of,
    group_open,
    groups,
    many_lamps,
    misrouted,
    rewired,
    single_lamp,
    unsteady,
)
from harness.diagnosis.next_test import seen_enough
from harness.diagnosis.rule_causes import order_dependent, wrong_rows
from harness.diagnosis.simulate import Prediction
from harness.observations import Dice

_MOST_UNSTEADY = 3
_LEAST_GROUP = 3
_OFTEN = 6
_MOST_BY_ROWS = 3
_MANY = 6
_COST_A_LAMP = 0.1
_ROWS_COST, _COST_A_RESULT, _UNSTEADY_COST, _REWIRED_COST = 2.5, 0.15, 3.0, 1.4
_SINGLE_COST = {
    "dead": 1.0,
    "stuck-on": 1.0,
    "inverted": 1.2,
    "lit-when-cleared": 1.2,
    "residue": 1.2,
}


@dataclass(frozen=True, slots=True)
class Patchwork:
    """Causes that, with those given, explain every sample; `cost` grows with what they assume."""

    causes: tuple[Cause, ...]
    cost: float


@dataclass(slots=True)
class _Columns:
    """For each area its history as one integer, a bit a sample."""

    samples: list[int]
    commanded: list[int]
    last: list[int]
    seen: list[int]
    known: list[int]
    now: int
    everywhere: int


def patchwork(prediction: Prediction, given: Sequence[Cause]) -> Patchwork | None:
    """Account for every lamp that the given causes do not explain; None if that cannot be done."""
    found = _Patcher(prediction, given).patch()
    if found is None:
        return None
    whole = (*given, *found.causes)
    return None if prediction.mismatches(whole, limit=1) else Patchwork(whole, found.cost)


class _Patcher:
    def __init__(self, prediction: Prediction, given: Sequence[Cause]) -> None:
        self.prediction = prediction
        self.given = tuple(given)
        self.areas: AreaMask = prediction.areas
        self.states = prediction.trace(given)
        wild = frozenset(stage for cause in given for stage in cause.wild)
        self.numbers = [n for n, s in enumerate(prediction.samples) if s.stage not in wild]
        self.paths = sorted({prediction.samples[n].path for n in self.numbers})
        self.columns = self._columns()
        self.rewired: dict[str, Wiring] = {}
        self.differing: set[str] = set()
        self.cost = 0.0

    def _columns(self) -> _Columns:
        size = len(self.areas.areas)
        out = _Columns([], [0] * size, [0] * size, [0] * size, [0] * size, 0, 0)
        for place, n in enumerate(self.numbers):
            sample = self.prediction.samples[n]
            state = self.states[sample.entry, sample.stage]
            mask = self.prediction.commanded(state.entered, self.given)
            last = self.prediction.commanded(state.last, self.given)
            at = 1 << place
            out.everywhere |= at
            if state.entered is not None:
                out.now |= at
            for i in range(size):
                bit = 1 << i
                out.commanded[i] |= at if mask & bit else 0
                out.last[i] |= at if last & bit else 0
                out.seen[i] |= at if sample.lit & bit else 0
                out.known[i] |= at if sample.known & bit else 0
        return out

    def _of_path(self, path: str) -> int:
        samples = self.prediction.samples
        return sum(1 << p for p, n in enumerate(self.numbers) if samples[n].path == path)

    def patch(self) -> Patchwork | None:
        columns = self.columns
        differing = [
            i
            for i in range(len(self.areas.areas))
            if (columns.commanded[i] ^ columns.seen[i]) & columns.known[i]
        ]
        self.differing = {self.areas.areas[i] for i in differing}
        causes: list[Cause] = []
        by_rows: list[int] = []
        restless: list[Cause] = []
        for i in differing:
            for path, where in self._deviating(i):
                found = self._own(i, where)
                if found is not None:
                    causes.append(found if path is None else found.over(path))
                elif path is None and self._rewire(i, where):
                    continue
                elif path is None and self._by_rows(i):
                    by_rows.append(i)
                else:
                    loose = unsteady(self.areas, self.areas.areas[i])
                    restless.append(loose if path is None else loose.over(path))
                    self.cost += _UNSTEADY_COST
        if len(restless) > _MOST_UNSTEADY:
            return None
        causes = self._misrouted(causes)
        by_rows += self._rewired_by_rows(known=bool(by_rows))
        if self._wild(by_rows):
            return None
        joined = [*self._rewirings(), *self._grouped(causes), *restless]
        rows = self._rows(by_rows)
        return Patchwork((*([rows] if rows else []), *joined), self.cost)

    def _deviating(self, i: int) -> list[tuple[str | None, int]]:
        """Give the paths over which an area differs; None for all of them alike."""
        columns = self.columns
        wrong = (columns.commanded[i] ^ columns.seen[i]) & columns.known[i]
        paths = [(path, self._of_path(path)) for path in self.paths]
        off = [(path, where & columns.known[i]) for path, where in paths if wrong & where]
        if len(off) == len(paths):
            return [(None, columns.known[i])]
        return [(path, where) for path, where in off]

    def _own(self, i: int, where: int) -> Cause | None:
        """Find a fault of the lamp alone."""
        columns = self.columns
        lit, last, now = columns.commanded[i], columns.last[i], columns.now
        would = {
            "dead": [0],
            "stuck-on": [columns.everywhere],
            "inverted": [columns.everywhere & ~lit],
            "lit-when-cleared": [lit | ~now & columns.everywhere],
            "residue": [lit | (last & ~now), lit | last],
        }
        for fault, ways in would.items():
            for number, way in enumerate(ways):
                if not (way ^ columns.seen[i]) & where:
                    self.cost += _SINGLE_COST[fault]
                    return single_lamp(self.areas, self.areas.areas[i], fault, number)
        return None

    def _rewire(self, i: int, where: int) -> bool:
        """Find other areas that the lamp follows, alone or beside its own."""
        columns = self.columns
        own = columns.commanded[i]
        for how in ("instead", "besides", "only-with"):
            leaders = []
            for j, other in enumerate(columns.commanded):
                way = {"instead": other, "besides": own | other, "only-with": own & other}[how]
                if j != i and not (way ^ columns.seen[i]) & where:
                    leaders.append(self.areas.areas[j])
            if leaders:
                own_kind = [area for area in leaders if area in self.differing]
                likely = own_kind or leaders
                alike = len(likely) == 1 and self._equal(i, self.areas.areas.index(likely[0]))
                self.rewired[self.areas.areas[i]] = Wiring(how, tuple(likely), alike)
                return True
        return False

    def _misrouted(self, causes: Sequence[Cause]) -> list[Cause]:
        """Take a lamp that never lights, and one that lights where it should, for one cause."""
        dead = {c.part[0].removeprefix("lamp:"): c for c in causes if c.fault == "dead"}
        out = list(causes)
        for area, wiring in list(self.rewired.items()):
            lost = [leader for leader in wiring.leaders if dead.get(leader) in out]
            if wiring.how != "besides" or not lost:
                continue
            del self.rewired[area]
            out.remove(dead[lost[0]])
            out.append(misrouted(self.areas, lost[0], area))
            self.cost += _REWIRED_COST - _SINGLE_COST["dead"]
        return out

    def _rewired_by_rows(self, *, known: bool) -> list[int]:
        """Take lamps that follow another for wrong rows, where rows are wrong anyhow."""
        circles = {area for circle in circles_of(self.rewired) for area in circle}
        moved = [
            self.areas.areas.index(area)
            for area in self.rewired
            if known and area not in circles and self._by_rows(self.areas.areas.index(area))
        ]
        for i in moved:
            del self.rewired[self.areas.areas[i]]
        return moved

    def _equal(self, i: int, j: int) -> bool:
        """Tell whether two lamps were seen alike often enough, lit and dark, to be bridged."""
        columns = self.columns
        both = columns.known[i] & columns.known[j] & columns.now
        if (columns.seen[i] ^ columns.seen[j]) & columns.known[i] & columns.known[j]:
            return False
        lit = (columns.seen[i] & both).bit_count()
        return min(lit, (both & ~columns.seen[i]).bit_count()) >= _OFTEN

    def _rewirings(self) -> list[Cause]:
        causes = list(rewired(self.areas, self.rewired))
        self.cost += sum(_REWIRED_COST + _COST_A_LAMP * len(cause.part) for cause in causes)
        return causes

    def _grouped(self, causes: Sequence[Cause]) -> list[Cause]:
        """Join dead lamps that make up a whole group, and many lamps with one fault: one cause."""
        dead = {c.part[0].removeprefix("lamp:"): c for c in causes if c.fault == "dead"}
        out = [c for c in causes if c.fault != "dead"]
        for name, members in groups(self.areas).items():
            if len(members) >= _LEAST_GROUP and set(members) <= dead.keys():
                out.append(group_open(self.areas, f"group:{name}", members))
                self.cost -= len(members) - 1.0
                for member in members:
                    del dead[member]
        return self._many([*out, *dead.values()])

    def _many(self, causes: Sequence[Cause]) -> list[Cause]:
        out = list(causes)
        for fault, cost in _SINGLE_COST.items():
            alike = [c for c in out if c.fault == fault and c.lamp is not None and c.path is None]
            if len(alike) < _MANY:
                continue
            out = [c for c in out if c not in alike]
            out.append(many_lamps(alike))
            self.cost -= cost * (len(alike) - 1) - _COST_A_LAMP * len(alike)
        return out

    def _by_rows(self, i: int) -> bool:
        """Tell whether an area is wrong by the result alone, the same each time it is entered."""
        columns = self.columns
        wrong = (columns.commanded[i] ^ columns.seen[i]) & columns.known[i]
        if wrong & ~columns.now:
            return False
        flips: dict[Dice, bool] = {}
        for place, n in enumerate(self.numbers):
            sample = self.prediction.samples[n]
            entered = self.states[sample.entry, sample.stage].entered
            at = 1 << place
            if entered is None or not columns.known[i] & at:
                continue
            if flips.setdefault(entered, bool(wrong & at)) is not bool(wrong & at):
                return False
        return True

    def _wild(self, by_rows: Sequence[int]) -> bool:
        """Tell whether areas of several kinds are wrong on several results: that is no rule."""
        kinds = {self.areas.areas[i].partition("-")[0] for i in by_rows}
        if len(by_rows) <= _MOST_BY_ROWS or len(kinds) <= 1:
            return False
        mine = sum(1 << i for i in by_rows)
        wrong: set[tuple[int, ...]] = set()
        for n in self.numbers:
            sample = self.prediction.samples[n]
            entered = self.states[sample.entry, sample.stage].entered
            should = self.prediction.commanded(entered, self.given)
            if entered is not None and (should ^ sample.lit) & mine & sample.known:
                wrong.add(tuple(sorted(entered)))
        return len(wrong) > 1

    def _rows(self, by_rows: Sequence[int]) -> Cause | None:
        if not by_rows:
            return None
        mine = sum(1 << i for i in by_rows)
        rows: dict[Dice, int] = {}
        right: dict[Dice, int] = {}
        healthy: dict[Dice, int] = {}
        for n in self.numbers:
            sample = self.prediction.samples[n]
            entered = self.states[sample.entry, sample.stage].entered
            if entered is None:
                continue
            should = self.prediction.commanded(entered, self.given)
            seen = (should & ~(mine & sample.known)) | (sample.lit & mine & sample.known)
            healthy[entered] = should
            (right if seen == should else rows)[entered] = seen
        for dice in rows:
            right.pop(dice, None)
        self.cost += _ROWS_COST + _COST_A_RESULT * len({tuple(sorted(d)) for d in rows})
        sure = seen_enough(self.prediction, rows)
        order = order_dependent(rows, right, self.areas, sure=sure)
        return order or wrong_rows(rows, healthy, self.areas, sure=sure)
