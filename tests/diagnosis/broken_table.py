"""A table for the tests of diagnosis: its own lamp logic and terminal, with any one thing broken.

Written apart from `harness.diagnosis.terminal` and `harness.rules` on purpose: it turns presses
into lamps the way a table does, so that diagnosis is not compared with itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from harness.observations import DiceSeen, Entry, LampSample, StagedSample

PAIRS = list(itertools.combinations(range(1, 7), 2))
AREAS = (
    ["small", "big", "any-triple"]
    + [f"{kind}-{n}" for kind in ("single", "double", "triple") for n in range(1, 7)]
    + [f"total-{n}" for n in range(4, 18)]
    + [f"pair-{a}-{b}" for a, b in PAIRS]
)


def winners(dice: tuple[int, ...]) -> set[str]:
    """Work the lamps out from counts of faces."""
    count = {n: dice.count(n) for n in range(1, 7)}
    lit = {f"single-{n}" for n, c in count.items() if c}
    lit |= {f"double-{n}" for n, c in count.items() if c >= 2}
    lit |= {f"triple-{n}" for n, c in count.items() if c == 3}
    lit |= {f"pair-{a}-{b}" for a, b in PAIRS if count[a] and count[b]}
    total = sum(dice)
    if 4 <= total <= 17:
        lit.add(f"total-{total}")
    if 3 in count.values():
        lit.add("any-triple")
    else:
        lit.add("small" if total <= 10 else "big")
    return lit


class Layout:
    """The book that diagnosis is given in these tests."""

    areas = dict.fromkeys(AREAS)

    def winning_areas(self, dice, options=None):
        return frozenset(winners(tuple(dice)))


class Table:
    """Presses in, lamps out. Each hook may be replaced to break one thing."""

    entry_key = False
    """Whether an entry waits for a key of its own, driven after the others."""

    def __init__(
        self,
        wire: Callable[[str], Iterable[str]] = lambda key: [key],
        logic: Callable[[tuple[int, ...]], set[str]] = winners,
        glow: Callable[[set[str], set[str]], set[str]] = lambda lit, _before: lit,
        slip: Callable[[tuple[int, ...] | None, tuple[str, ...]], tuple[str, ...]] = (
            lambda _dice, keys: keys
        ),
        stuck: str | None = None,
        forgets_s: float = 10.0,
    ) -> None:
        self.wire, self.logic, self.glow, self.slip, self.stuck = wire, logic, glow, slip, stuck
        self.forgets_s = forgets_s
        self.digits: list[str] = [stuck] if stuck else []
        self.last: set[str] = set()

    def lamps(self) -> set[str]:
        lit = self.logic(tuple(map(int, self.digits))) if len(self.digits) == 3 else set()
        shining = set(self.glow(lit, self.last))
        if lit:
            self.last = lit
        return shining

    def press(self, key: str) -> None:
        for contact in self.wire(key):
            if contact == "clear":
                self.digits = [self.stuck] if self.stuck else []
            elif contact != self.stuck and len(self.digits) < 3:
                self.digits.append(contact)

    def half_made(self) -> bool:
        """Tell whether an entry was begun and not taken yet."""
        return len(self.digits) < 3

    def enter(
        self,
        index: int,
        keyed: tuple[int, ...],
        shown: tuple[int, int, int] | None = None,
        paths: tuple[str, ...] = ("inputs",),
        blind: Callable[[str, set[str]], set[str]] = lambda _path, lit: lit,
        mode: str = "presented",
        gap_s: float | tuple[float, ...] = 0.0,
        look_between: bool = True,
    ) -> Entry:
        keys = tuple(map(str, keyed))
        presses = len(keys) + self.entry_key
        gaps = gap_s if isinstance(gap_s, tuple) else (gap_s,) * (presses - 1)
        samples = []

        def look(stage: str) -> None:
            lit = self.lamps()
            samples.extend(
                StagedSample(stage, LampSample(0.0, path, frozenset(blind(path, lit))))
                for path in paths
            )

        look("before")
        driven = (*self.slip(shown, keys), *(["enter"] if self.entry_key else []))
        for number, key in enumerate(driven, 1):
            if number > 1 and gaps[number - 2] > self.forgets_s and self.half_made():
                self.digits.clear()
            self.press(key)
            if number <= 2 + self.entry_key and look_between:
                look(f"after-{number}")
        look("lit")
        self.press("clear")
        look("cleared")
        seen = DiceSeen(tuple(sorted(shown)), None, 1.0) if shown else None
        return Entry(
            "ny-5324.51",
            "test",
            index,
            mode if shown else "entered",
            shown,
            seen,
            keys,
            tuple(samples),
            0.0,
            0.0,
            pressed_at=tuple(itertools.accumulate((0.0, *gaps))),
        )


def sweep(table: Table, results=None, **how) -> list[Entry]:
    """Present and enter every result in turn."""
    chosen = results or list(itertools.product(range(1, 7), repeat=3))
    return [table.enter(i, dice, dice, **how) for i, dice in enumerate(chosen)]
