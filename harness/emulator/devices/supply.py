"""The table's power supply in three dialects: Keysight E36xxx, Rigol DP800, Siglent SPD3303X.

Source: the makers' programming guides. The E36 takes a channel list after a comma or not at all;
the Rigol names a channel in each command; the Siglent puts it before the command and loses a
command that comes too soon after another.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping

from harness.emulator.clock import Timeline
from harness.emulator.devices.scpi import OUT_OF_RANGE, Act, Scpi, ScpiError, number, switch
from harness.emulator.power import Power

SPD_GAP_S = 0.01
"""A Siglent loses what comes sooner than this after a command."""
_OVER_VOLTAGE = 4
Reply = Callable[[bytes], bytes]


def supply_reply(timeline: Timeline, power: Power, dialect: str) -> Reply:
    """Give what answers lines in a dialect: `e36`, `dp800` or `spd3303x`."""
    scpi = {"e36": _e36, "dp800": _dp800, "spd3303x": _spd}[dialect](power)
    last = 0.0

    def reply(line: bytes) -> bytes:
        nonlocal last
        now = time.monotonic()
        too_soon, last = now - last < SPD_GAP_S, now
        if dialect == "spd3303x" and too_soon:
            return b""
        with timeline.lock:
            timeline.catch_up()
            return scpi.reply(line)

    return reply


def _guarded(power: Power) -> Mapping[str, Callable[[float], None]]:
    def volts(value: float) -> None:
        if not 0 <= value <= 32:
            raise ScpiError(*OUT_OF_RANGE)
        power.set(value)

    def amperes(value: float) -> None:
        if not 0 <= value <= 5:
            raise ScpiError(*OUT_OF_RANGE)
        power.limit(amperes=value)

    return {"volts": volts, "amperes": amperes}


def _e36(power: Power) -> Scpi:
    put = _guarded(power)

    def first(given: str) -> str:
        return given.partition(",")[0].strip()

    def with_channel(given: str) -> None:
        if given and not re.fullmatch(r"\(@[1-3](,[1-3])*\)|CH[1-3]", given, re.IGNORECASE):
            raise ScpiError(*OUT_OF_RANGE)

    def asked(value: Callable[[], str]) -> Act:
        def act(given: str) -> str:
            with_channel(given)
            return value()

        return act

    def ordered(act: Callable[[str], None]) -> Act:
        def order(given: str) -> None:
            with_channel(given.partition(",")[2].strip())
            act(first(given))

        return order

    def apply(given: str) -> None:
        _, volts, amperes = [*given.split(","), "", ""][:3]
        put["volts"](number(volts))
        if amperes:
            put["amperes"](number(amperes))

    source = "[SOURce:]"
    return Scpi(
        "Keysight Technologies,E36312A,MY57000001,2.1.0-1.0.4-1.12",
        {
            f"{source}VOLTage[:LEVel][:IMMediate][:AMPLitude]": ordered(
                lambda text: put["volts"](number(text))
            ),
            f"{source}VOLTage[:LEVel][:IMMediate][:AMPLitude]?": asked(
                lambda: f"{power.set_volts:+.8E}"
            ),
            f"{source}CURRent[:LEVel][:IMMediate][:AMPLitude]": ordered(
                lambda text: put["amperes"](number(text))
            ),
            f"{source}CURRent[:LEVel][:IMMediate][:AMPLitude]?": asked(
                lambda: f"{power.limit_amperes:+.8E}"
            ),
            f"{source}VOLTage:PROTection[:LEVel]": ordered(
                lambda text: power.limit(trip_volts=number(text))
            ),
            f"{source}VOLTage:PROTection[:LEVel]?": asked(lambda: f"{power.trip_volts:+.8E}"),
            f"{source}VOLTage:PROTection:TRIPped?": asked(lambda: str(int(power.tripped))),
            f"{source}VOLTage:PROTection:CLEar": lambda given: power.clear_trip(),
            "OUTPut[:STATe]": ordered(lambda text: power.switch(switch(text))),
            "OUTPut[:STATe]?": asked(lambda: str(int(power.on))),
            "MEASure[:SCALar][:VOLTage][:DC]?": asked(lambda: f"{power.measured_volts:+.8E}"),
            "MEASure[:SCALar]:CURRent[:DC]?": asked(lambda: f"{power.measured_amperes:+.8E}"),
            "APPLy": apply,
            "APPLy?": lambda given: f'"{power.set_volts:.4f},{power.limit_amperes:.4f}"',
            "INSTrument[:SELect]": lambda given: None,
            "INSTrument:NSELect": lambda given: None,
            "STATus:QUEStionable:CONDition?": lambda given: str(_regulation(power)),
        },
        lambda: power.switch(False),
    )


def _dp800(power: Power) -> Scpi:
    put = _guarded(power)

    def channel(given: str) -> str:
        name, _, rest = given.partition(",")
        if name and not re.fullmatch("CH[1-3]", name.strip(), re.IGNORECASE):
            raise ScpiError(*OUT_OF_RANGE)
        return rest.strip()

    def apply(given: str) -> None:
        volts, _, amperes = channel(given).partition(",")
        put["volts"](number(volts))
        if amperes:
            put["amperes"](number(amperes))

    def asked(value: Callable[[], str]) -> Act:
        def act(given: str) -> str:
            channel(given)
            return value()

        return act

    def mode() -> str:
        return "UR" if not power.volts else "CC" if power.constant_current else "CV"

    return Scpi(
        "RIGOL TECHNOLOGIES,DP832,DP8C000000001,00.01.16",
        {
            "APPLy": apply,
            "APPLy?": asked(lambda: f"CH1:30V/3A,{power.set_volts:.3f},{power.limit_amperes:.3f}"),
            "OUTPut[:STATe]": lambda given: power.switch(switch(channel(given))),
            "OUTPut[:STATe]?": asked(lambda: "ON" if power.on else "OFF"),
            "OUTPut:MODE?": asked(mode),
            "OUTPut:OVP:VALue": lambda given: power.limit(trip_volts=number(channel(given))),
            "OUTPut:OVP:ALAR?": asked(lambda: "YES" if power.tripped else "NO"),
            "OUTPut:OVP:QUES?": asked(lambda: "YES" if power.tripped else "NO"),
            "OUTPut:OVP:CLEAR": lambda given: power.clear_trip(),
            "MEASure:ALL[:DC]?": asked(
                lambda: (
                    f"{power.measured_volts:.4f},{power.measured_amperes:.4f},"
                    f"{power.measured_volts * power.measured_amperes:.3f}"
                )
            ),
            "MEASure[:VOLTage][:DC]?": asked(lambda: f"{power.measured_volts:.4f}"),
            "MEASure:CURRent[:DC]?": asked(lambda: f"{power.measured_amperes:.4f}"),
            "STATus:QUEStionable:INSTrument:ISUMmary<n>:CONDition?": lambda given: str(
                _regulation(power)
            ),
            "INSTrument[:SELect]": lambda given: None,
        },
        lambda: power.switch(False),
    )


def _spd(power: Power) -> Scpi:
    put = _guarded(power)

    def output(given: str) -> None:
        name, _, state = given.partition(",")
        if name.upper() not in ("CH1", "CH2", "CH3"):
            raise ScpiError(*OUT_OF_RANGE)
        if name.upper() == "CH1":
            power.switch(switch(state.strip()))

    def status() -> str:
        bits = int(power.constant_current and bool(power.volts)) | (0x10 if power.on else 0)
        return f"{bits:#x}"

    return Scpi(
        "Siglent Technologies,SPD3303X,SPD3XHBQ000001,1.01.01.02.07R2,V3.0",
        {
            "CH1:VOLTage": lambda given: put["volts"](number(given)),
            "CH1:VOLTage?": lambda given: f"{power.set_volts:.3f}",
            "CH1:CURRent": lambda given: put["amperes"](number(given)),
            "CH1:CURRent?": lambda given: f"{power.limit_amperes:.3f}",
            "OUTPut": output,
            "MEASure:VOLTage?": lambda given: f"{power.measured_volts:.3f}",
            "MEASure:CURRent?": lambda given: f"{power.measured_amperes:.3f}",
            "MEASure:POWEr?": lambda given: f"{power.measured_volts * power.measured_amperes:.3f}",
            "SYSTem:STATus?": lambda given: status(),
            "INSTrument": lambda given: None,
            "INSTrument?": lambda given: "CH1",
        },
        lambda: power.switch(False),
    )


def _regulation(power: Power) -> int:
    """Give the questionable status of a channel: 1 constant current, 2 constant voltage, 4 OVP."""
    if power.tripped:
        return _OVER_VOLTAGE
    if not power.volts:
        return 0
    return 1 if power.constant_current else 2
