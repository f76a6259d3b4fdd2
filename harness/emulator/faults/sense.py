"""Faults of the bench's own senses: inputs, input modules, photodiodes."""

from __future__ import annotations

from harness.emulator.bench import Bench
from harness.emulator.faults.parameters import Parameters, Undo, UnknownFaultError
from harness.emulator.wiring import Place

_ANALOGUE = frozenset({"scpi-daq"})


def input_stuck(bench: Bench, given: Parameters) -> Undo:
    """Give an input that reads one value whatever its lamp does."""
    value = given.word("value", ("0", "1")) == "1"
    places = _places(bench, given.area("lamp"), "")
    bench.wiring.forced.update(dict.fromkeys(places, value))

    def undo() -> None:
        for place in places:
            bench.wiring.forced.pop(place, None)

    return undo


def module_offline(bench: Bench, given: Parameters) -> Undo:
    """Silence the input module with this number, counted in the order of the lamp map."""
    modules = list(
        dict.fromkeys(
            channel.device for channels in bench.rig.lamps[""].values() for channel in channels
        )
    )
    number = given.whole("module", 1)
    if number > len(modules):
        raise given.wrong("module", f"a module from 1 to {len(modules)}")
    link = bench.links[modules[number - 1]]
    link.silent = True

    def undo() -> None:
        link.silent = False

    return undo


def ambient_light(bench: Bench, given: Parameters) -> Undo:
    """Let light fall on a lamp's photodiode that is not its lamp's."""
    area, level = given.area("lamp"), given.number("level", 0, 10)
    places = [
        place
        for path in bench.rig.lamps
        for place in _places(bench, area, path)
        if bench.rig.devices[place[0]].driver in _ANALOGUE
    ]
    if not places:
        raise UnknownFaultError("F19: no photodiode looks at that lamp on this bench")
    bench.wiring.ambient.update(dict.fromkeys(places, level))

    def undo() -> None:
        for place in places:
            bench.wiring.ambient.pop(place, None)

    return undo


def _places(bench: Bench, area: str, path: str) -> list[Place]:
    name, _, number = area.partition(".")
    places = [channel.place for channel in bench.rig.lamps[path].get(name, ())]
    return places[int(number) - 1 : int(number)] if number else places
