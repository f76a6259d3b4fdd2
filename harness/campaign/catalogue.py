"""The catalogue of faults as the campaign arms it, and what each must be called.

Numbers, parameters and verdict classes follow the fault catalogue that the harness is held to. The
verdict of many faults of the table depends on the bench: with one sense path and no proof of the
map, a wire of ours would look the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from random import Random

from harness.campaign.fault import Drawing, Fault, Truth, Values
from harness.campaign.links import (
    asked_throughout,
    linked,
    naming,
    on_serial_line,
    refusing,
    reply_ms,
    the_keys,
    the_lamps,
)
from harness.campaign.own import moment
from harness.rig.sections import Rig
from harness.verdicts import Verdict

DIGITS = ("1", "2", "3", "4", "5", "6")
GROUPS = ("totals", "singles", "doubles", "triples", "pairs", "sides")
_FAIL, _UNSURE, _OURS = Verdict.DUT_FAIL, Verdict.AMBIGUOUS, Verdict.RIG_FAULT


def _areas(rig: Rig) -> list[str]:
    return sorted(rig.lamps.map) if rig.lamps is not None else []


def _verified(rig: Rig) -> bool:
    return rig.map_verified is not None


def _two_paths(rig: Rig) -> bool:
    paths = len(rig.lamps.paths) if rig.lamps is not None else 0
    return paths + len(rig.roles.layout_camera) > 0


def _sure(rig: Rig) -> frozenset[Verdict]:
    """Give the verdict of a fault that a wrong wire of ours would look like."""
    return frozenset({_FAIL if _verified(rig) or _two_paths(rig) else _UNSURE})


def _travel(rig: Rig) -> bool:
    return rig.keys is not None and bool(rig.keys.travel)


def _none(_random: Random, _rig: Rig) -> dict[str, str]:
    return {}


def _key(random: Random, _rig: Rig) -> dict[str, str]:
    return {"key": random.choice(DIGITS)}


def _two_keys(random: Random, _rig: Rig) -> dict[str, str]:
    a, b = random.sample(DIGITS, 2)
    return {"a": a, "b": b}


def _lamp(random: Random, rig: Rig) -> dict[str, str]:
    return {"lamp": random.choice(_areas(rig))}


def _two_lamps(random: Random, rig: Rig) -> dict[str, str]:
    a, b = random.sample(_areas(rig), 2)
    return {"a": a, "b": b}


def _with(draw: Drawing, **choices: Iterable[object]) -> Drawing:
    """Draw further parameters, each one of its choices."""

    def drawn(random: Random, rig: Rig) -> dict[str, str]:
        more = {name: str(random.choice(list(values))) for name, values in choices.items()}
        return {**draw(random, rig), **more}

    return drawn


def _is(verdict: Verdict, *parts: str) -> Callable[[Values, Rig], Truth]:
    return lambda _values, _rig: Truth(frozenset({verdict}), frozenset(parts))


def _of_key(verdict: Verdict) -> Callable[[Values, Rig], Truth]:
    return lambda v, _rig: Truth(frozenset({verdict}), frozenset({f"key:{v['key']}"}))


def _dead_key(v: Values, rig: Rig) -> Truth:
    parts = frozenset({f"key:{v['key']}", f"relay:{v['key']}"})
    return Truth(frozenset({_FAIL if _travel(rig) else _UNSURE}), parts)


def _jammed(v: Values, rig: Rig) -> Truth:
    parts = frozenset({f"key:{v['key']}", f"relay:{v['key']}"})
    return Truth(frozenset({_OURS if _travel(rig) else _UNSURE}), parts)


def _of_two_keys(v: Values, rig: Rig) -> Truth:
    keys = frozenset({f"key:{v['a']}", f"key:{v['b']}"})
    relays = frozenset({f"relay:{v['a']}", f"relay:{v['b']}"})
    return Truth(_sure(rig), keys | relays, keys)


def _of_lamp(v: Values, rig: Rig) -> Truth:
    return Truth(_sure(rig), _sides(v["lamp"]))


def _sides(*areas: str) -> frozenset[str]:
    return frozenset(f"{side}:{area}" for side, area in product(("lamp", "input"), areas))


def _dead_lamp(v: Values, rig: Rig) -> Truth:
    return Truth(frozenset({_FAIL if _two_paths(rig) else _UNSURE}), _sides(v["lamp"]))


def _measured_lamp(v: Values, _rig: Rig) -> Truth:
    return Truth(frozenset({_FAIL}), _sides(v["lamp"]))


def _of_two_lamps(v: Values, rig: Rig) -> Truth:
    both = frozenset({f"lamp:{v['a']}", f"lamp:{v['b']}"})
    return Truth(_sure(rig), _sides(v["a"], v["b"]), both)


def _of_group(v: Values, rig: Rig) -> Truth:
    name = v["group"]
    kind = name.removesuffix("s") + "-"
    members = [
        area
        for area in _areas(rig)
        if (area in ("small", "big") if name == "sides" else area.startswith(kind))
    ]
    return Truth(_sure(rig), _sides(*members) | {f"group:{name}"})


def _input(v: Values, _rig: Rig) -> Truth:
    return Truth(frozenset({_OURS}), frozenset({f"input:{v['lamp']}"}))


def _on_triples(v: Values, _rig: Rig) -> Truth:
    names = ("small", "big") if v["which"] == "both" else (v["which"],)
    rules = frozenset(f"rule:{name}-on-triple" for name in names)
    return Truth(frozenset({_FAIL}), rules, rules)


def _any_triple(_v: Values, rig: Rig) -> Truth:
    parts = _sides("any-triple") | {"rule:any-triple"}
    return Truth(frozenset({_FAIL if _two_paths(rig) else _UNSURE}), parts)


def _device(v: Values, rig: Rig) -> str:
    """Give the device meant: by its own name, or the first that serves the keys or the lamps."""
    name = v["device"]
    if name == "lamps" and rig.lamps is not None and rig.lamps.map:
        return next(iter(rig.lamps.map.values()))[0].device
    if name == "keys" and rig.keys is not None and rig.keys.map:
        return next(iter(rig.keys.map.values())).device
    return name


def _link(v: Values, rig: Rig) -> Truth:
    return Truth(frozenset({_OURS}), frozenset({f"device:{_device(v, rig)}"}))


def _module(_v: Values, rig: Rig) -> Truth:
    return Truth(frozenset({_OURS}), frozenset({f"device:{_device({'device': 'lamps'}, rig)}"}))


def _camera(_v: Values, rig: Rig) -> Truth:
    cameras = rig.roles.dice_camera
    names = {f"{kind}:{name}" for kind in ("camera", "device") for name in cameras}
    return Truth(frozenset({_OURS}), frozenset(names | {"camera:dice"}))


def _supply(_v: Values, rig: Rig) -> Truth:
    return Truth(frozenset({_OURS}), frozenset({f"device:{rig.roles.supply}"}))


def _machine(rig: Rig) -> bool:
    return rig.table.shaker != "manual"


def _shaken(_v: Values, rig: Rig) -> Truth:
    if _machine(rig):
        return Truth(frozenset({_FAIL}), frozenset({"shaker"}))
    return Truth(frozenset({Verdict.PROCEDURE_FAIL}), frozenset({"dealer"}))


def _uncovered(_v: Values, rig: Rig) -> Truth:
    if _machine(rig):
        return Truth(frozenset({_FAIL}), frozenset({"cover", "shaker"}))
    return Truth(frozenset({Verdict.PROCEDURE_FAIL}), frozenset({"dealer", "cover"}))


def _slip(random: Random, _rig: Rig) -> dict[str, str]:
    lying = random.choice(("1-2-4", "3-5-5", "2-2-2"))
    other = [d for d in ("1-2-3", "1-3-6", "4-4-5", "2-5-6") if d != lying]
    return {"shown": lying, "entered": random.choice(other)}


def _result(random: Random, _rig: Rig) -> dict[str, str]:
    return {"result": "-".join(random.choices(DIGITS, k=3))}


def _of_die(v: Values, _rig: Rig) -> Truth:
    return Truth(frozenset({_FAIL}), frozenset({f"die:{v['die']}"}))


_NO_RESULT = _is(Verdict.NO_RESULT, "dice")


def _later(random: Random, rig: Rig) -> dict[str, str]:
    """Draw how late replies come: after the limit of any device of the bench."""
    limits = [limit for name in linked(rig) if (limit := reply_ms(rig.devices[name])) is not None]
    return {"ms": str(max(limits) + random.choice((300, 600)))}


def _other_baud(random: Random, rig: Rig) -> dict[str, str]:
    """Draw a rate that no device of the bench has."""
    own = {getattr(rig.devices[name], "baud", None) for name in on_serial_line(rig)}
    rates = [baud for baud in (4800, 9600, 19200, 38400, 57600, 115200) if baud not in own]
    return {"baud": str(random.choice(rates))}


CATALOGUE: tuple[Fault, ...] = (
    Fault("F01", "one key dead", _key, _dead_key, inspection="minimum"),
    Fault("F02", "one key stuck closed", _key, _of_key(_FAIL), inspection="minimum"),
    Fault("F03", "a key's bounce counts twice", _with(_key, ms=(8, 12)), _of_key(_FAIL)),
    Fault("F04", "two keys swapped", _two_keys, _of_two_keys, inspection="minimum"),
    Fault("F05", "two keys shorted", _two_keys, _of_two_keys, inspection="minimum"),
    Fault(
        "F06",
        "keys need a longer press",
        _with(_none, ms=(120, 150)),
        _is(_FAIL, "keys"),
        inspection="minimum",
    ),
    Fault(
        "F07",
        "clear or entry key dead",
        _none,
        _is(_FAIL, "key:clear", "key:enter"),
        inspection="minimum",
    ),
    Fault(
        "F08",
        "relay welded closed",
        _key,
        lambda v, _rig: Truth(frozenset({_OURS}), frozenset({f"relay:{v['key']}"})),
        needs=("readback",),
        inspection="minimum",
    ),
    Fault("F09", "actuator jammed", _key, _jammed, inspection="minimum"),
    Fault("F10", "one lamp dead", _lamp, _dead_lamp),
    Fault("F11", "one lamp stuck on", _lamp, _of_lamp),
    Fault("F12", "two lamps swapped", _two_lamps, _of_two_lamps),
    Fault("F13", "two lamps bridged", _two_lamps, _of_two_lamps),
    Fault(
        "F14",
        "one lamp dim",
        _with(_lamp, level=(0.5, 0.6)),
        _measured_lamp,
        needs=("lamp-levels",),
    ),
    Fault("F15", "one lamp flickers", _with(_lamp, hz=(5, 7, 9)), _measured_lamp),
    Fault("F16", "common of a group open", _with(_none, group=GROUPS), _of_group),
    Fault("F17", "digital input stuck", _with(_lamp, value=(0, 1)), _input, needs=("known-level",)),
    Fault("F18", "input module offline", _none, _module, inspection="minimum"),
    Fault(
        "F19",
        "ambient light on a photodiode",
        _with(_lamp, level=(0.3, 0.4)),
        _input,
        needs=("photodiodes",),
        inspection="minimum",
    ),
    Fault(
        "F20",
        "lamp settles late",
        _with(_lamp, ms=(400, 500)),
        _measured_lamp,
        needs=("settle-limit",),
    ),
    Fault(
        "F21",
        "small or big on a triple",
        _with(_none, which=("both", "small", "big"), range=("open", "closed")),
        _on_triples,
    ),
    Fault("F22", "double dark on a triple", _none, _is(_FAIL, "rule:double-on-triple")),
    Fault("F23", "totals off by one", _with(_none, by=(-1, 1)), _is(_FAIL, "rule:totals")),
    Fault("F24", "any-triple never lights", _none, _any_triple),
    Fault(
        "F25",
        "lamps depend on the order",
        _result,
        _is(_FAIL, "rule:order-of-entry"),
        inspection="full",
    ),
    Fault(
        "F26", "a fourth key is taken", _none, _is(_FAIL, "rule:fourth-key"), inspection="minimum"
    ),
    Fault(
        "F27",
        "lamps light early",
        _with(_none, after=(1, 2)),
        _is(_FAIL, "rule:commit"),
        inspection="minimum",
    ),
    Fault("F28", "residue after clear", _lamp, _of_lamp),
    Fault(
        "F29",
        "half-made entry times out wrongly",
        _with(_none, ms=(200, 500)),
        _is(_FAIL, "rule:entry-timeout"),
        needs=("entry-timeout-limit",),
        inspection="minimum",
    ),
    Fault(
        "F30",
        "entry taken against the interlock",
        _none,
        _is(_FAIL, "rule:interlock"),
        needs=("interlock",),
        inspection="minimum",
    ),
    Fault(
        "F31",
        "device silent",
        _none,
        _link,
        needs=("link",),
        inspection="minimum",
        befalls=linked,
    ),
    Fault(
        "F32",
        "corrupt replies",
        _with(_none, rate=(0.05,)),
        _link,
        inspection="minimum",
        befalls=the_lamps,
    ),
    Fault(
        "F33",
        "reply to a press lost",
        _with(_none, nth=range(3, 8)),
        _link,
        inspection="minimum",
        befalls=the_keys,
    ),
    Fault(
        "F34",
        "late reply",
        _later,
        _link,
        needs=("link",),
        inspection="minimum",
        befalls=linked,
    ),
    Fault(
        "F35",
        "wrong reply",
        _none,
        _link,
        needs=("naming-link",),
        inspection="minimum",
        befalls=naming,
    ),
    Fault(
        "F36",
        "exception reply",
        _with(_none, code=(2, 4, 6)),
        _link,
        needs=("refusing-link",),
        inspection="minimum",
        befalls=refusing,
    ),
    Fault(
        "F37",
        "baud rate mismatch",
        _other_baud,
        _link,
        needs=("serial-line",),
        inspection="minimum",
        befalls=on_serial_line,
    ),
    Fault(
        "F38",
        "unplugged and plugged in again",
        _with(_none, after=(8, 20)),
        _link,
        needs=("link",),
        inspection="minimum",
        befalls=asked_throughout,
    ),
    Fault(
        "F39",
        "port already in use",
        _none,
        _link,
        needs=("serial-line",),
        inspection="minimum",
        befalls=on_serial_line,
    ),
    Fault(
        "F40",
        "supply limits or tripped",
        _with(_none, state=("cc", "ovp")),
        _supply,
        needs=("supply",),
        inspection="minimum",
    ),
    Fault(
        "F41",
        "supply voltage is not the set one",
        _with(_none, volts=(0.7, 1.0)),
        _supply,
        needs=("supply",),
        inspection="minimum",
    ),
    Fault(
        "F42",
        "brown-out leaves ghosts",
        _none,
        _is(_FAIL, "table:power"),
        needs=("supply",),
        inspection="minimum",
    ),
    Fault(
        "F43",
        "table does not restart",
        _none,
        _is(_FAIL, "table:power"),
        needs=("supply",),
        inspection="minimum",
    ),
    Fault(
        "F44",
        "supply link lost while off",
        _none,
        _supply,
        needs=("supply",),
        inspection="minimum",
    ),
    Fault(
        "F45",
        "start ignored, or done never comes",
        _with(_none, phase=("start", "done")),
        _is(_FAIL, "shaker"),
        needs=("machine",),
        inspection="minimum",
    ),
    Fault(
        "F46",
        "done without motion",
        _none,
        _is(_FAIL, "shaker"),
        needs=("machine", "shake-sense", "dice-camera"),
        inspection="minimum",
    ),
    Fault(
        "F47",
        "fault line raised",
        _none,
        _is(_FAIL, "shaker"),
        needs=("machine", "fault-line"),
        inspection="minimum",
    ),
    Fault(
        "F48",
        "cover switch stuck",
        _none,
        _is(_OURS, "cover", "input:cover", "cover-switch"),
        needs=("cover-sense", "dice-camera"),
        inspection="minimum",
    ),
    Fault(
        "F49",
        "cover opened while shaking",
        _with(_none, after=(1, 2)),
        _uncovered,
        needs=("cover-sense",),
        inspection="minimum",
    ),
    Fault(
        "F50",
        "shake sensor dead or always on",
        _with(_none, value=(0, 1)),
        _is(_OURS, "shaker-sensor", "input:shaker"),
        needs=("shake-sense",),
        inspection="minimum",
    ),
    Fault(
        "F51",
        "fewer than three shakes",
        _with(_none, count=(1, 2)),
        _shaken,
        needs=("shake-sense",),
        inspection="minimum",
    ),
    Fault("F52", "leaning die", _none, _NO_RESULT, needs=("dice-camera",), inspection="minimum"),
    Fault("F53", "stacked die", _none, _NO_RESULT, needs=("dice-camera",), inspection="minimum"),
    Fault(
        "F54",
        "a die missing, or a fourth",
        _with(_none, dice=(2, 4)),
        _NO_RESULT,
        needs=("dice-camera",),
        inspection="minimum",
    ),
    Fault(
        "F55", "dice still moving", _none, _NO_RESULT, needs=("dice-camera",), inspection="minimum"
    ),
    Fault(
        "F56",
        "wrong die",
        _with(_none, die=(1, 2, 3)),
        _of_die,
        inspection="minimum",
        paired=False,
    ),
    Fault(
        "F57",
        "loaded die",
        _with(_none, die=(1, 2, 3), face=range(1, 7), by=(0.02, 0.03)),
        _of_die,
        inspection="minimum",
        paired=False,
    ),
    Fault(
        "F58",
        "entered values are not the dice",
        _slip,
        _is(Verdict.PROCEDURE_FAIL, "dealer"),
        needs=("dice-camera",),
        inspection="minimum",
    ),
    Fault(
        "F59",
        "frozen picture",
        _with(_none, after=(10,)),
        _camera,
        needs=("dice-camera",),
        inspection="minimum",
    ),
    Fault(
        "F60",
        "stale frame",
        _with(_none, ms=(800,)),
        _camera,
        needs=("dice-camera",),
        inspection="minimum",
    ),
    Fault(
        "F61",
        "spoilt picture",
        _with(_none, kind=("dark", "saturated", "blurred", "moved")),
        _camera,
        needs=("dice-camera",),
        inspection="minimum",
    ),
    Fault(
        "F62",
        "stream dies or is corrupt",
        _with(_none, after=(10,), kind=("dies", "corrupt")),
        _camera,
        needs=("dice-camera",),
        inspection="minimum",
    ),
    Fault(
        "F63",
        "countdown drifts",
        _with(_none, percent=(-20, 20)),
        _is(_FAIL, "countdown"),
        needs=("countdown", "puncher"),
        inspection="minimum",
        paired=False,
    ),
    Fault(
        "F64",
        "toss taken in the countdown",
        _none,
        _is(_FAIL, "countdown", "shaker"),
        needs=("countdown", "puncher"),
        inspection="minimum",
        paired=False,
    ),
    Fault(
        "F65",
        "operator does not answer",
        _none,
        _is(_OURS, "operator", "device:desk"),
        needs=("operator",),
        inspection="minimum",
        paired=False,
    ),
    Fault(
        "F66",
        "disk full while recording",
        _none,
        _is(_OURS, "host"),
        inspection="minimum",
        paired=False,
    ),
    Fault(
        "F67",
        "harness killed at any moment",
        lambda random, _rig: {"after": moment(random)},
        _is(_OURS, "host"),
        inspection="minimum",
        paired=False,
    ),
)
"""In the catalogue's order. Those in `own.SCENARIOS` are not armed on the bench."""
