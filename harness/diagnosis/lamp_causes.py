"""Single faults between the table's logic and the sensed lamp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from harness.diagnosis.areamask import AreaMask
from harness.diagnosis.cause import Cause, LampFault

_MOST_PAIRED = 14  # beyond so many differing areas no single pair of lamps can be the cause


def lamp_causes(
    areas: AreaMask,
    differing: Sequence[str],
    never_lit: Sequence[str],
    groups: Mapping[str, Sequence[str]],
) -> Iterator[Cause]:
    """Give the lamp faults that could touch the areas that differ.

    `never_lit`: differing areas that no sample saw lit. `groups`: areas by group name, as a common
    line would feed them.
    """
    for area in differing:
        yield from _single(areas, area)
    if len(differing) <= _MOST_PAIRED:
        for a, b in combinations(differing, 2):
            yield _swapped(areas, a, b)
            yield from _bridged(areas, a, b)
    dark = set(never_lit)
    for name, members in groups.items():
        if len(members) > 1 and dark and dark <= set(members):
            yield _group(areas, f"group:{name}", members)
    if len(dark) > 1:
        yield _group(areas, None, sorted(dark))
    yield Cause(
        ("lamps",),
        "all-dark",
        "no lamp lights at all: lamp supply, its common, or our whole sense path",
        rig_part=("inputs",),
        excluded_by=("paths",),
        lamp=lambda _mask, _last, _now: 0,
    )


def _staying(bit: int, only_dark: bool) -> LampFault:
    return lambda mask, last, now: mask if only_dark and now else mask | (last & bit)


def _following(lead: int, follow: int) -> LampFault:
    return lambda mask, _last, _now: mask | follow if mask & lead else mask & ~follow


def _sides(*areas: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(f"lamp:{a}" for a in areas), tuple(f"input:{a}" for a in areas)


def _single(areas: AreaMask, area: str) -> Iterator[Cause]:
    bit = areas.bit(area)
    part, rig_part = _sides(area)
    yield Cause(
        part,
        "dead",
        f"{area} never lights: its lamp, its driver or our input",
        rig_part=rig_part,
        excluded_by=("paths",),
        lamp=lambda mask, _last, _now: mask & ~bit,
    )
    yield Cause(
        part,
        "stuck-on",
        f"{area} is lit always, for losing results and after clear",
        rig_part=rig_part,
        excluded_by=("map", "paths"),
        lamp=lambda mask, _last, _now: mask | bit,
    )
    for fault, only_dark in (("residue", True), ("residue", False)):
        yield Cause(
            part,
            fault,
            f"{area} stays lit after the clear of a result that lit it",
            rig_part=rig_part,
            excluded_by=("map", "paths"),
            lamp=_staying(bit, only_dark),
        )


def _swapped(areas: AreaMask, a: str, b: str) -> Cause:
    bit_a, bit_b = areas.bit(a), areas.bit(b)
    part, rig_part = _sides(a, b)

    def exchange(mask: int, _last: int, _now: bool) -> int:
        if bool(mask & bit_a) is bool(mask & bit_b):
            return mask
        return mask ^ bit_a ^ bit_b

    return Cause(
        part,
        "swapped",
        f"{a} and {b} are exchanged: each lights when the other should",
        rig_part=rig_part,
        excluded_by=("map", "paths"),
        lamp=exchange,
    )


def _bridged(areas: AreaMask, a: str, b: str) -> Iterator[Cause]:
    both = areas.bit(a) | areas.bit(b)
    part, rig_part = _sides(a, b)
    ways: tuple[tuple[LampFault, str], ...] = (
        (lambda mask, _last, _now: mask | both if mask & both else mask, "either should"),
        (lambda mask, _last, _now: mask if mask & both == both else mask & ~both, "both should"),
    )
    for together, lit_when in ways:
        yield Cause(
            part,
            "bridged",
            f"{a} and {b} are always equal: both light when {lit_when}",
            rig_part=rig_part,
            excluded_by=("map", "paths"),
            lamp=together,
        )
    for leader, follower in ((a, b), (b, a)):
        lead, follow = areas.bit(leader), areas.bit(follower)
        yield Cause(
            part,
            "bridged",
            f"{follower} follows {leader}",
            rig_part=rig_part,
            excluded_by=("map", "paths"),
            lamp=_following(lead, follow),
        )


def _group(areas: AreaMask, name: str | None, members: Sequence[str]) -> Cause:
    mask_off = ~areas.mask(members)
    lamps, inputs = _sides(*members)
    return Cause(
        (name,) if name else lamps,
        "common-open",
        f"none of {', '.join(members)} lights: one common line is open",
        rig_part=inputs,
        excluded_by=("map", "paths"),
        lamp=lambda mask, _last, _now: mask & mask_off,
    )
