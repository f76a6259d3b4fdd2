"""How the terminal takes keys, measured: the shortest press, and how long half an entry lasts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.observations import LampSample
from harness.rig.contacts import RelayKeys

_PRESSES_S = (0.02, 0.04, 0.08, 0.12, 0.16, 0.24, 0.32, 0.5, 0.8)
_PAUSES_S = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
_REFINED = 4
_FORGET_S = 1.2
_TRIED = 3
KEY = "2"


@dataclass(frozen=True, slots=True)
class Bracket:
    """A limit that lies between two measured times (s); `low` 0 if nothing shorter was tried."""

    low: float
    high: float


def shortest_press(
    keys: RelayKeys, sense: Callable[[], Sequence[LampSample]], settle_s: float, *, enter: bool
) -> Bracket | None:
    """Press three times, longer and longer, until lamps light; None if no press is long enough.

    enter: the terminal lights only after its entry key.
    """

    def works(press_s: float) -> bool:
        for key in (*([KEY] * 3), *(["enter"] if enter else [])):
            keys.press(key, press_s)
        lit = _lit_within(sense, settle_s)
        if "clear" in keys.keys:
            keys.press("clear", max(press_s, _PRESSES_S[-1]))
        return lit

    low = 0.0
    for press_s in _PRESSES_S:
        if works(press_s):
            return _refine(works, low, press_s)
        low = press_s
    return None


def forgotten_after(
    keys: RelayKeys, sense: Callable[[], Sequence[LampSample]], settle_s: float, *, enter: bool
) -> tuple[float, float | None] | None:
    """Rest after the first of three keys, longer and longer, until the entry is no longer taken.

    Gives the times from one key's contact to the next: one that is taken still, and a longer one
    that is not, or None if all tried are. None for both if it is not the pause that decides: a key
    that fails now and then drops entries too.
    """
    gaps: dict[float, float] = {}

    def dropped(pause_s: float) -> bool:
        first = keys.press(KEY)
        time.sleep(pause_s)
        second = keys.press(KEY)
        gaps[pause_s] = second.closed_at - first.closed_at
        for key in (KEY, *(["enter"] if enter else [])):
            keys.press(key)
        lit = _lit_within(sense, settle_s)
        if "clear" in keys.keys:
            keys.press("clear")
        else:
            time.sleep(_FORGET_S)
        return not lit

    low = 0.0
    if any(dropped(low) for _ in range(_TRIED)):
        return None
    for pause_s in _PAUSES_S:
        if dropped(pause_s):
            break
        low = pause_s
    else:
        return gaps[low], None
    found = _refine(dropped, low, pause_s)
    longer = found.high + (_PAUSES_S[-1] if found.high > _PAUSES_S[2] else _PAUSES_S[2])
    if not all(dropped(longer) for _ in range(_TRIED)) or any(dropped(0.0) for _ in range(_TRIED)):
        return None
    return gaps[found.low], gaps[found.high]


def _refine(holds: Callable[[float], bool], low: float, high: float) -> Bracket:
    """Halve the bracket a few times: `holds` at high, not at low."""
    for _ in range(_REFINED):
        middle = (low + high) / 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return Bracket(low, high)


def _lit_within(sense: Callable[[], Sequence[LampSample]], settle_s: float) -> bool:
    deadline = time.monotonic() + settle_s
    while True:
        began = time.monotonic()
        if any(sample.lit for sample in sense()):
            return True
        if began > deadline:
            return False
