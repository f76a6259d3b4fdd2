"""Faults of the terminal's keys and of what presses them."""

from __future__ import annotations

from harness.emulator.bench import Bench
from harness.emulator.faults.parameters import Parameters, Undo, UnknownFaultError
from harness.emulator.keypad import Keypad


def dead(bench: Bench, given: Parameters) -> Undo:
    """Give a key whose contact never closes."""
    return _member(bench.table.keypad, bench.table.keypad.dead, given.key("key"))


def jammed(bench: Bench, given: Parameters) -> Undo:
    """Give a key whose actuator does not move though its relay is good."""
    return _member(bench.table.keypad, bench.table.keypad.jammed, given.key("key"))


def stuck(bench: Bench, given: Parameters) -> Undo:
    """Give a key whose contact stays closed: it enters at once, and again after each clear."""
    keypad, key = bench.table.keypad, given.key("key")
    keypad.stick(key, True)
    return lambda: keypad.stick(key, False)


def bounce(bench: Bench, given: Parameters) -> Undo:
    """Give a key that counts twice, `ms` apart."""
    keypad, key = bench.table.keypad, given.key("key")
    keypad.bounce_s[key] = given.seconds("ms")

    def undo() -> None:
        del keypad.bounce_s[key]

    return undo


def swapped(bench: Bench, given: Parameters) -> Undo:
    """Exchange the wires of two keys inside the terminal."""
    a, b = _two(given)
    return _mapped(bench.table.keypad, bench.table.keypad.swapped, {a: b, b: a})


def shorted(bench: Bench, given: Parameters) -> Undo:
    """Short two keys: either closes both."""
    a, b = _two(given)
    return _mapped(bench.table.keypad, bench.table.keypad.shorted, {a: b, b: a})


def slow(bench: Bench, given: Parameters) -> Undo:
    """Give a terminal that takes no press shorter than `ms`."""
    keypad, sound = bench.table.keypad, bench.table.keypad.min_press_s
    keypad.min_press_s = given.seconds("ms")

    def undo() -> None:
        keypad.min_press_s = sound

    return undo


def dead_function(bench: Bench, given: Parameters) -> Undo:
    """Give a terminal whose clear key (or entry key, on one without clear) does nothing."""
    key = given.word("key", ("clear", "enter"))
    if key not in bench.rig.keys:
        key = "enter"
    if key not in bench.rig.keys:
        raise UnknownFaultError("F07: this table has neither a clear nor an entry key")
    functions = bench.table.terminal.dead_functions
    functions.add(key)
    return lambda: functions.discard(key)


def welded(bench: Bench, given: Parameters) -> Undo:
    """Weld the contact of the relay that presses a key."""
    key = given.key("key")
    places = [channel.place for channel in bench.rig.keys.get(key, ())]
    if not places:
        raise given.wrong("key", "a key that a relay presses")
    for place in places:
        bench.wiring.weld(place, True)

    def undo() -> None:
        for place in places:
            bench.wiring.weld(place, False)

    return undo


def _two(given: Parameters) -> tuple[str, str]:
    a, b = given.key("a"), given.key("b")
    if a == b:
        raise given.wrong("b", f"another key than {a}")
    return a, b


def _member(keypad: Keypad, keys: set[str], key: str) -> Undo:
    keys.add(key)
    keypad.refresh()

    def undo() -> None:
        keys.discard(key)
        keypad.refresh()

    return undo


def _mapped(keypad: Keypad, keys: dict[str, str], pairs: dict[str, str]) -> Undo:
    keys |= pairs
    keypad.refresh()

    def undo() -> None:
        for key in pairs:
            keys.pop(key, None)
        keypad.refresh()

    return undo
