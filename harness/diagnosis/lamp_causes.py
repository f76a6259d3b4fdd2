"""Single faults between the table's logic and the sensed lamp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from harness.diagnosis.areamask import AreaMask
from harness.diagnosis.cause import Cause, LampFault

_NAMED_TOGETHER = 3
_PAIR = 2
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
            yield from _bridged(areas, a, b, dark={a, b} <= set(never_lit))
        for a, b in permutations(differing, 2):
            yield misrouted(areas, a, b)
    dark = set(never_lit)
    for name, members in groups.items():
        if len(members) > 1 and dark and dark <= set(members):
            yield group_open(areas, f"group:{name}", members)
    for name, members in groups.items():
        if len(members) > 1 and set(differing) <= set(members):
            yield _group_lit(areas, f"group:{name}", members)
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
    for fault in ("dead", "stuck-on", "inverted", "lit-when-cleared"):
        yield single_lamp(areas, area, fault)
    for way in (0, 1):
        yield single_lamp(areas, area, "residue", way)


def single_lamp(areas: AreaMask, area: str, fault: str, way: int = 0) -> Cause:
    """Give a fault of one lamp: dead, stuck-on, inverted, lit when cleared, or residue.

    way: of residue, whether it shows only after the clear (0) or with the next result too (1).
    """
    bit = areas.bit(area)
    part, rig_part = _sides(area)
    said, lamp = {
        "dead": (
            f"{area} never lights: its lamp, its driver or our input",
            lambda mask, _last, _now: mask & ~bit,
        ),
        "stuck-on": (
            f"{area} is lit always, for losing results and after clear",
            lambda mask, _last, _now: mask | bit,
        ),
        "inverted": (
            f"{area} is dark where it should be lit and lit where it should be dark",
            lambda mask, _last, _now: mask ^ bit,
        ),
        "lit-when-cleared": (
            f"{area} is lit whenever no result is, after each clear",
            lambda mask, _last, now: mask if now else mask | bit,
        ),
        "residue": (
            f"{area} stays lit after the clear of a result that lit it",
            _staying(bit, only_dark=way == 0),
        ),
    }[fault]
    return Cause(
        part,
        fault,
        said,
        rig_part=rig_part,
        excluded_by=("paths",) if fault == "dead" else ("map", "paths"),
        lamp=lamp,
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


def _bridged(areas: AreaMask, a: str, b: str, *, dark: bool) -> Iterator[Cause]:
    """Give two lamps tied together. dark: neither was ever lit, which a tie does not explain."""
    both = areas.bit(a) | areas.bit(b)
    part, rig_part = _sides(a, b)
    ways: tuple[tuple[LampFault, str], ...] = (
        (lambda mask, _last, _now: mask | both if mask & both else mask, "either should"),
        (lambda mask, _last, _now: mask if mask & both == both else mask & ~both, "both should"),
    )
    for together, lit_when in ways[:1] if dark else ways:
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


def group_open(areas: AreaMask, name: str, members: Sequence[str]) -> Cause:
    """Give the cause 'the common line of a whole group is open'."""
    mask_off = ~areas.mask(members)
    return Cause(
        (name,),
        "common-open",
        f"none of {', '.join(members)} lights: one common line is open",
        rig_part=_sides(*members)[1],
        excluded_by=("map", "paths"),
        lamp=lambda mask, _last, _now: mask & mask_off,
    )


def _group_lit(areas: AreaMask, name: str, members: Sequence[str]) -> Cause:
    mask_on = areas.mask(members)
    return Cause(
        (name,),
        "stuck-on",
        f"all of {', '.join(members)} are lit always: one common line is live",
        rig_part=_sides(*members)[1],
        excluded_by=("map", "paths"),
        lamp=lambda mask, _last, _now: mask | mask_on,
    )


def groups(areas: AreaMask) -> dict[str, list[str]]:
    """Give the areas by kind of wager, as lamps' common lines usually follow."""
    out: dict[str, list[str]] = {}
    for area in areas.areas:
        kind = area.partition("-")[0]
        if area[-1].isdigit():
            out.setdefault(f"{kind}s", []).append(area)
    sides = {"small", "big"}
    if sides <= set(areas.areas):
        out["sides"] = sorted(sides)
    return out


def unsteady(areas: AreaMask, area: str) -> Cause:
    """Give the cause 'this lamp is lit at times and dark at times, whatever is entered'."""
    part, rig_part = _sides(area)
    return Cause(
        part,
        "intermittent",
        f"{area} is lit or dark now and then, as neither results nor a known fault explains",
        rig_part=rig_part,
        excluded_by=("paths",),
        ignored=areas.bit(area),
    )


@dataclass(frozen=True, slots=True)
class Wiring:
    """What a lamp follows: another area `instead` of its own, `besides` it, or `only-with` it.

    `leaders`: every area that would explain it; more than one where the results cannot tell.
    `alike`: the leaders were always seen as the lamp was, as if they were bridged.
    """

    how: str
    leaders: tuple[str, ...]
    alike: bool = False


def many_lamps(causes: Sequence[Cause]) -> Cause:
    """Give one fault of many lamps as one cause: a driver, a line or a module that they share."""
    faults = [cause.lamp for cause in causes if cause.lamp is not None]

    def together(mask: int, last: int, now: bool) -> int:
        out = mask
        for fault in faults:  # each touches its own lamp alone
            out = fault(out, last, now)
        return out

    names = [part.removeprefix("lamp:") for cause in causes for part in cause.part]
    return Cause(
        tuple(part for cause in causes for part in cause.part),
        causes[0].fault,
        f"{causes[0].fault}: {', '.join(names)}, perhaps by one cause",
        rig_part=tuple(part for cause in causes for part in cause.rig_part),
        excluded_by=causes[0].excluded_by,
        lamp=together,
    )


def rewired(areas: AreaMask, wirings: Mapping[str, Wiring]) -> Iterator[Cause]:
    """Give the causes of lamps that follow other areas: exchanges and circles each as one."""
    left = dict(wirings)
    for circle in circles_of(wirings):
        yield _follow(areas, {area: left.pop(area) for area in circle}, closed=True)
    for area, wiring in left.items():
        yield _follow(areas, {area: wiring}, closed=False)


def circles_of(wirings: Mapping[str, Wiring]) -> list[list[str]]:
    """Give the circles in which lamps follow each other, each lamp followed by the next.

    Where the results leave several leaders open, one assignment is chosen that gives each lamp a
    leader of its own (augmenting paths, Kuhn 1955); lamps without one are in no circle.
    """
    leads: dict[str, str] = {}

    def assign(area: str, tried: set[str]) -> bool:
        for leader in wirings[area].leaders:
            if leader in tried or leader not in wirings or wirings[area].how != "instead":
                continue
            tried.add(leader)
            if leader not in leads or assign(leads[leader], tried):
                leads[leader] = area
                return True
        return False

    for area in wirings:
        assign(area, set())
    follows = {area: leader for leader, area in leads.items()}
    circles: list[list[str]] = []
    seen: set[str] = set()
    for start in follows:
        way: list[str] = []
        area = start
        while area in follows and area not in seen:
            seen.add(area)
            way.append(area)
            area = follows[area]
        if way and area == start:
            circles.append(way)
    return circles


def _follow(areas: AreaMask, wirings: Mapping[str, Wiring], *, closed: bool) -> Cause:
    order = list(wirings)
    ways = []
    for place, (area, wiring) in enumerate(wirings.items()):
        leader = order[(place + 1) % len(order)] if closed else wiring.leaders[0]
        ways.append((areas.bit(area), areas.bit(leader), wiring.how))

    def follow(mask: int, _last: int, _now: bool) -> int:
        out = mask
        for own, lead, how in ways:
            lit = bool(mask & lead)
            if how == "besides":
                lit = lit or bool(mask & own)
            elif how == "only-with":
                lit = lit and bool(mask & own)
            out = out | own if lit else out & ~own
        return out

    bridged = not closed and len(order) == 1 and wirings[order[0]].alike
    named = (*order, *wirings[order[0]].leaders[:_NAMED_TOGETHER]) if bridged else order
    part, rig_part = _sides(*named)
    word = {"instead": "with", "besides": "also with", "only-with": "only together with"}
    said = [
        f"{area} lights {word[wiring.how]} "
        + (order[(n + 1) % len(order)] if closed else " or ".join(wiring.leaders[:_NAMED_TOGETHER]))
        for n, (area, wiring) in enumerate(wirings.items())
    ]
    fault = "bridged" if bridged else "miswired"
    if closed:
        fault = "swapped" if len(order) == _PAIR else "permuted"
    return Cause(
        part,
        fault,
        "; ".join(said),
        rig_part=rig_part,
        excluded_by=("map", "paths"),
        lamp=follow,
    )


def misrouted(areas: AreaMask, area: str, to: str) -> Cause:
    """Give the cause 'the logic lights another area where this one should be lit'."""
    own, other = areas.bit(area), areas.bit(to)
    _, inputs = _sides(area)
    return Cause(
        (f"rule:{area}",),
        "misrouted",
        f"{to} lights where {area} should",
        rig_part=inputs,
        excluded_by=("map", "paths"),
        lamp=lambda mask, _last, _now: (mask & ~own) | other if mask & own else mask,
    )
