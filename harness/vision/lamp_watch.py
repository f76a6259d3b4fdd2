"""What several pictures of lamps say together: settled or not, and which lamps flicker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.vision.lamps import OFF, STEADY, LampsSeen

CLEAR = 0.9
"""Level (of a good lamp's light) from which one picture tells a lamp lit for good."""
ALIKE = 0.1
"""Difference of levels up to which two pictures show a lamp alike."""
_TWICE = 2


@dataclass(frozen=True, slots=True)
class LampsTold:
    """The lamps as pictures taken one after the other tell them; area ids, levels to 0.001."""

    lit: frozenset[str]
    split: frozenset[str]
    flicker: frozenset[str]
    levels: Mapping[str, float]


def settled(seen: Sequence[LampsSeen]) -> bool:
    """Tell whether no further picture is needed.

    A lamp that is neither dark nor fully lit may be on its way: then two in a row must be alike.
    """
    if len(seen) == 1:
        return all(level <= OFF or level >= CLEAR for level in seen[0].levels.values())
    return max(_changes(*seen[-2:]).values(), default=0.0) <= ALIKE


def told(seen: Sequence[LampsSeen], *, watched: bool, dim_is_lit: bool) -> LampsTold:
    """Tell the lamps by the last picture, and by all of them which flicker.

    watched: a lamp flickers that crossed the middle of its range twice; else one that moved by more
    than it may and did not settle. dim_is_lit: a dim lamp counts as lit; else it counts as dark.
    """
    last = seen[-1]
    lit = {area for area, s in last.states.items() if s == "on" or (s == "dim" and dim_is_lit)}
    return LampsTold(
        lit=frozenset(lit) - last.split,
        split=last.split,
        flicker=frozenset(_crossing(seen) if watched else _restless(seen)),
        levels={area: round(level, 3) for area, level in last.levels.items()},
    )


def _restless(seen: Sequence[LampsSeen]) -> Iterator[str]:
    if settled(seen):
        return
    changes = [_changes(before, after) for before, after in pairwise(seen)]
    yield from (area for area in seen[-1].levels if max(c[area] for c in changes) > STEADY)


def _changes(before: LampsSeen, after: LampsSeen) -> dict[str, float]:
    return {area: abs(level - before.levels[area]) for area, level in after.levels.items()}


def _crossing(seen: Sequence[LampsSeen]) -> Iterator[str]:
    for area in seen[-1].levels:
        levels = [each.levels[area] for each in seen]
        low, high = min(levels), max(levels)
        above = [level > (low + high) / 2 for level in levels]
        if high - low > STEADY and sum(a != b for a, b in pairwise(above)) >= _TWICE:
            yield area
