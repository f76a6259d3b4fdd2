"""Every fault by its number, and the armoury that arms and disarms them on a bench."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.emulator.bench import Bench
from harness.emulator.faults import dice, entry, keys, lamps, link, logic, power, sense, shaker
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
    "F02": Fault("one key stuck closed", keys.stuck, {"key": "1"}),
    "F03": Fault("contact bounce counts a press twice", keys.bounce, {"key": "1", "ms": 8}),
    "F04": Fault("two keys swapped", keys.swapped, {"a": "2", "b": "5"}),
    "F05": Fault("two keys shorted together", keys.shorted, {"a": "2", "b": "5"}),
    "F06": Fault("keys need a longer press than configured", keys.slow, {"ms": 120}),
    "F07": Fault("clear (or entry) key dead", keys.dead_function, {"key": "clear"}),
    "F08": Fault("relay welded closed", keys.welded, {"key": "1"}),
    "F09": Fault("solenoid jammed", keys.jammed, {"key": "1"}),
    "F10": Fault("one lamp dead", lamps.dead, {"lamp": "total-9"}),
    "F11": Fault("one lamp stuck on", lamps.stuck_on, {"lamp": "total-9"}),
    "F12": Fault("two lamps swapped", lamps.swapped, {"a": "small", "b": "big"}),
    "F13": Fault("two lamps bridged", lamps.bridged, {"a": "single-2", "b": "single-3"}),
    "F14": Fault("one lamp dim", lamps.dim, {"lamp": "total-9", "level": 0.5}),
    "F15": Fault("one lamp flickers", lamps.flicker, {"lamp": "total-9", "hz": 7}),
    "F16": Fault("common of a group open", lamps.common_open, {"group": "totals"}),
    "F17": Fault("digital input stuck", sense.input_stuck, {"lamp": "total-9", "value": 0}),
    "F18": Fault("input module offline", sense.module_offline, {"module": 1}),
    "F19": Fault(
        "ambient light on a photodiode", sense.ambient_light, {"lamp": "total-9", "level": 0.4}
    ),
    "F20": Fault("lamps settle late", lamps.late, {"lamp": "total-9", "ms": 400}),
    "F21": Fault(
        "small or big lights on a triple", logic.small_or_big, {"which": "both", "range": "open"}
    ),
    "F22": Fault("double stays dark on a triple", logic.double_dark_on_triple),
    "F23": Fault("totals off by one", logic.totals_off, {"by": 1}),
    "F24": Fault("any-triple never lights", logic.any_triple_dark),
    "F25": Fault("lamps depend on the order of entry", logic.order_dependent, {"result": "1-2-3"}),
    "F26": Fault(
        "a fourth key is taken against the rule", logic.fourth_key, {"takes": "last-three"}
    ),
    "F27": Fault("lamps light too early", logic.early, {"after": 2}),
    "F28": Fault("residue after clear", logic.residue, {"lamp": "total-9"}),
    "F29": Fault("half-made entry times out wrongly", logic.entry_timeout, {"ms": 200}),
    "F30": Fault("entry accepted against the interlock", logic.interlock_open),
    "F31": Fault("device silent", link.silent, {"device": "lamps"}),
    "F32": Fault("bad CRC or checksum", link.corrupt, {"device": "lamps", "rate": 0.05}),
    "F33": Fault("reply to a press lost", link.lost_after_press, {"device": "keys", "nth": 5}),
    "F34": Fault("late reply", link.late, {"device": "lamps", "ms": 900}),
    "F35": Fault(
        "wrong unit, wrong function or short frame",
        link.wrong_reply,
        {"device": "lamps", "kind": "unit"},
    ),
    "F36": Fault("exception reply", link.refusal, {"device": "lamps", "code": 4}),
    "F37": Fault("baud rate mismatch", link.wrong_baud, {"device": "lamps", "baud": 19200}),
    "F38": Fault(
        "unplugged and plugged in again",
        link.replugged,
        {"device": "lamps", "after": 20, "back_ms": 1000},
    ),
    "F39": Fault("port already in use", link.occupied, {"device": "keys"}),
    "F40": Fault("supply in constant current or tripped", power.state, {"state": "cc"}),
    "F41": Fault("measured voltage is not the set one", power.wrong_volts, {"volts": 0.7}),
    "F42": Fault("brown-out leaves ghosts", power.brown_out, {"volts": 0.6, "ms": 80}),
    "F43": Fault("table does not restart", power.no_restart),
    "F44": Fault("supply link lost while power is off", power.link_lost),
    "F45": Fault("start ignored, or done never comes", shaker.hangs, {"phase": "start"}),
    "F46": Fault("done without vibration", shaker.done_without_motion),
    "F47": Fault("fault line raised", shaker.fault_line),
    "F48": Fault("cover switch stuck", shaker.cover_switch),
    "F49": Fault("cover opened while shaking", shaker.cover_opened, {"after": 1}),
    "F50": Fault("shake sensor dead or always on", shaker.shake_sensor, {"value": 0}),
    "F51": Fault("fewer than three shakes", shaker.too_few, {"count": 2}),
    "F52": Fault("leaning die", dice.leaning),
    "F53": Fault("stacked die", dice.stacked),
    "F54": Fault("a die missing, or a fourth", dice.count, {"dice": 2}),
    "F55": Fault("dice still moving when read", dice.restless),
    "F56": Fault("wrong die", dice.wrong_die, {"die": 1}),
    "F57": Fault("loaded die", dice.loaded, {"die": 1, "face": 6, "by": 0.02}),
    "F58": Fault(
        "entered values are not the dice", entry.slip, {"shown": "1-2-3", "entered": "1-2-4"}
    ),
    "F59": Fault("frozen picture", dice.camera_frozen, {"after": 10}),
    "F60": Fault("stale frame", dice.camera_stale, {"ms": 800}),
    "F61": Fault("spoilt picture", dice.camera_picture, {"kind": "dark"}),
    "F62": Fault("stream dies or is corrupt", dice.camera_stream, {"after": 10, "kind": "dies"}),
    "F63": Fault("countdown drifts", shaker.countdown_drift, {"percent": 5}),
    "F64": Fault("toss accepted in the countdown", shaker.toss_during_countdown, {"ms": 500}),
    "F65": Fault("operator does not answer", entry.absent),
    "answer": Fault("operator answers otherwise", entry.answer, {"clause": "", "answer": "no"}),
}
"""By number. F66 and F67 are faults of the harness's own host: no bench can have them."""


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
    """The faults armed on a bench, in order. One may be armed several times with other values."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._armed: list[tuple[str, Mapping[str, object], Undo]] = []

    def arm(self, number: str, given: Mapping[str, object]) -> None:
        """Arm a fault; raises `UnknownFaultError` for one that is not there or will not do."""
        fault = CATALOGUE.get(number)
        if fault is None:
            raise UnknownFaultError(
                f"{number}: there is no such fault of a bench; known are F01 to F65"
            )
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
            for each in [each for each in self._armed if each[:2] == (number, values)]:
                self._take_back(each)
            undo = fault.arm(self._bench, Parameters(number, self._bench, values))
            self._armed.append((number, values, undo))

    def disarm(self, number: str | None = None) -> None:
        """Take one fault back, or all of them, the last first."""
        timeline = self._bench.timeline
        with timeline.lock:
            timeline.catch_up()
            wanted = [each for each in self._armed if number in (None, each[0])]
            if not wanted and number is not None:
                raise UnknownFaultError(f"{number}: is not armed")
            for each in reversed(wanted):
                self._take_back(each)

    def armed(self) -> list[dict[str, object]]:
        """Give the armed faults with their parameters, in order."""
        return [{"fault": number, "with": dict(values)} for number, values, _ in self._armed]

    def _take_back(self, armed: tuple[str, Mapping[str, object], Undo]) -> None:
        self._armed.remove(armed)
        armed[2]()
