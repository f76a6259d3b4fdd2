"""A lamp that depends on what else should be lit: on one other lamp, or on how many.

Where one area is wrong on few results, many such dependences fit beside "this result is wrong";
each is a candidate until a further result tells it apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.diagnosis.areamask import AreaMask
from harness.diagnosis.cause import Cause, LampFault

LEAST_LOAD, MOST_LOAD = 4, 10


def interplay(areas: AreaMask, area: str) -> Iterator[Cause]:
    """Give every way in which one lamp may depend on another, or on the number of areas lit."""
    own = areas.bit(area)
    for other in areas.areas:
        if other == area:
            continue
        lead = areas.bit(other)
        yield _bridged(area, other, _either(own | lead), "either should")
        yield _bridged(area, other, _both(own | lead), "both should")
        yield _depending(area, _besides(own, lead), f"also with {other}")
        yield _darkening(area, _only_with(own, lead), f"only together with {other}")
        yield _darkening(area, _never_with(own, lead), f"except with {other}")
        yield _depending(area, _instead(own, lead), f"with {other}")
    for load in range(LEAST_LOAD, MOST_LOAD + 1):
        yield _darkening(area, _under_load(own, load), f"but not where {load} areas or more should")


def sagging() -> Iterator[Cause]:
    """Give the cause 'all lamps go dark where many should be lit'."""
    for load in range(LEAST_LOAD, MOST_LOAD + 1):
        yield Cause(
            ("lamps",),
            "sags",
            f"no lamp lights where {load} areas or more should: their supply gives way",
            rig_part=("inputs",),
            excluded_by=("paths",),
            lamp=_under_load(-1, load),
        )


def _depending(area: str, lamp: LampFault, said: str) -> Cause:
    return Cause(
        (f"lamp:{area}",),
        "miswired",
        f"{area} lights {said}",
        rig_part=(f"input:{area}",),
        excluded_by=("map", "paths"),
        lamp=lamp,
    )


def _darkening(area: str, lamp: LampFault, said: str) -> Cause:
    """Give a lamp that is dark at times; an input of ours that fails at times looks the same."""
    return replace(_depending(area, lamp, said), excluded_by=("paths",))


def _bridged(a: str, b: str, lamp: LampFault, said: str) -> Cause:
    return Cause(
        (f"lamp:{a}", f"lamp:{b}"),
        "bridged",
        f"{a} and {b} are always equal: both light when {said}",
        rig_part=(f"input:{a}", f"input:{b}"),
        excluded_by=("map", "paths"),
        lamp=lamp,
    )


def _either(both: int) -> LampFault:
    return lambda mask, _last, _now: mask | both if mask & both else mask


def _both(both: int) -> LampFault:
    return lambda mask, _last, _now: mask if mask & both == both else mask & ~both


def _besides(own: int, lead: int) -> LampFault:
    return lambda mask, _last, _now: mask | own if mask & lead else mask


def _only_with(own: int, lead: int) -> LampFault:
    return lambda mask, _last, _now: mask if mask & lead else mask & ~own


def _never_with(own: int, lead: int) -> LampFault:
    return lambda mask, _last, _now: mask & ~own if mask & lead else mask


def _instead(own: int, lead: int) -> LampFault:
    return lambda mask, _last, _now: mask | own if mask & lead else mask & ~own


def _under_load(off: int, load: int) -> LampFault:
    return lambda mask, _last, _now: mask & ~off if mask.bit_count() >= load else mask
