"""Every fault by its number, and the armoury that arms and disarms them on a bench."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.emulator.bench import Bench
from harness.emulator.faults import dice, entry, keys, lamps, link, logic
from harness.emulator.faults.parameters import Arm, Parameters, Undo, UnknownFaultError

__all__ = ["CATALOGUE", "Armoury", "Fault", "UnknownFaultError", "parse"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: what it is, its parameters with their defaults, and how it is armed."""

    what: str
    arm: Arm
    defaults: Mapping[str, object] = field(default_factory=dict)


CATALOGUE: dict[str, Fault] = {
    "F01": Fault("one key dead", keys.dead, {"key": "1"}),
    "F10": Fault("one lamp dead", lamps.dead, {"lamp": "total-9"}),
    "F11": Fault("one lamp stuck on", lamps.stuck_on, {"lamp": "total-9"}),
    "F12": Fault("two lamps swapped", lamps.swapped, {"a": "small", "b": "big"}),
    "F21": Fault(
        "small or big lights on a triple", logic.small_or_big, {"which": "both", "range": "open"}
    ),
    "F31": Fault("device silent", link.silent, {"device": "lamps"}),
    "F52": Fault("leaning die", dice.leaning),
    "F53": Fault("stacked die", dice.stacked),
    "F58": Fault(
        "entered values are not the dice", entry.slip, {"shown": "1-2-3", "entered": "1-2-4"}
    ),
}


def parse(text: str) -> tuple[str, dict[str, object]]:
    """Take `ID[:name=value,...]` apart. Raises `UnknownFaultError` where it is not of that form."""
    fault, colon, rest = text.partition(":")
    given: dict[str, object] = {}
    for part in rest.split(",") if colon else ():
        name, equals, value = part.partition("=")
        if not (name and equals and value):
            raise UnknownFaultError(f"{text}: expected ID:name=value,..., found {part!r}")
        if name in given:
            raise UnknownFaultError(f"{text}: {name} is given twice")
        given[name] = value
    return fault, given


class Armoury:
    """The faults armed on a bench, in order. Arming one again replaces it."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._armed: dict[str, tuple[Mapping[str, object], Undo]] = {}

    def arm(self, number: str, given: Mapping[str, object]) -> None:
        """Arm a fault; raises `UnknownFaultError` for one that is not there or will not do."""
        fault = CATALOGUE.get(number)
        if fault is None:
            raise UnknownFaultError(f"{number}: there is no such fault; known are {_known()}")
        for name in given:
            if name not in fault.defaults:
                allowed = ", ".join(f"{key}={value}" for key, value in fault.defaults.items())
                raise UnknownFaultError(
                    f"{number}:{name}: there is no such parameter; "
                    + (f"{number} takes {allowed}" if allowed else f"{number} takes none")
                )
        values = {**fault.defaults, **given}
        timeline = self._bench.timeline
        with timeline.lock:
            timeline.catch_up()
            parameters = Parameters(number, self._bench, values)
            if number in self._armed:
                self.disarm(number)
            self._armed[number] = (values, fault.arm(self._bench, parameters))

    def disarm(self, number: str | None = None) -> None:
        """Take one fault back, or all of them, the last first."""
        timeline = self._bench.timeline
        with timeline.lock:
            timeline.catch_up()
            for each in [number] if number is not None else list(reversed(self._armed)):
                if each not in self._armed:
                    raise UnknownFaultError(f"{each}: is not armed")
                self._armed.pop(each)[1]()

    def armed(self) -> dict[str, object]:
        """Give the armed faults with their parameters."""
        return {number: dict(values) for number, (values, _) in self._armed.items()}


def _known() -> str:
    numbers = sorted(CATALOGUE)
    return f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 60 else ", ".join(numbers)
