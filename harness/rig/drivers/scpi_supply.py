"""The table's power supply over SCPI, in three dialects.

Source: programming guides. `e36`: Keysight E36xxx, one channel without, several with a channel list
(`VOLT 5,(@1)`). `dp800`: Rigol DP800 (`:APPL CH1,5,1`, `:MEAS:ALL? CH1`, questionable status of
the channel: 4 over-voltage, 8 over-current). `spd3303x`: Siglent SPD3303X (`CH1:VOLT 5`,
`SYST:STAT?`, bits 0 and 1: channel 1 and 2 in constant current; 20 ms between writes).
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from typing import ClassVar, Literal, Self, cast

from pydantic import Field, ValidationInfo, field_validator

from harness.rig.confirmed import until_alike
from harness.rig.device import Capability, DeviceSettings, Surroundings, repeat_read
from harness.rig.errors import CorruptReplyError
from harness.rig.visa_link import VisaLink, VisaSettings, parse_numbers

Dialect = Literal["e36", "dp800", "spd3303x"]
SupplyState = Literal["constant-voltage", "constant-current", "over-voltage", "over-current", "off"]
_SPD_WRITE_GAP_S = 0.02
_OVER_VOLTAGE, _OVER_CURRENT = 4, 8
_AT_LIMIT = 0.97
_DEAD_VOLTS, _DEAD_AMPERES = 0.05, 0.005
_ALIKE = 0.02
"""Two measurements no further apart than this part of them, or V or A, are alike."""


class ScpiSupplySettings(VisaSettings):
    """Section of a `scpi-supply`: dialect, channel, and what the table is fed with.

    volts: the table's voltage. amperes: current limit, set together with every voltage.
    """

    dialect: Dialect
    channel: int | None = Field(default=None, ge=1, le=3)
    volts: float = Field(gt=0)
    amperes: float = Field(gt=0)

    @field_validator("channel")
    @classmethod
    def _measurable(cls, channel: int | None, info: ValidationInfo) -> int | None:
        if channel == 3 and info.data.get("dialect") == "spd3303x":
            raise ValueError("channel 1 or 2 (3 of an SPD3303X has no measurement), found 3")
        return channel


class ScpiSupply:
    """The supply, opened; a `Supply`. Opening it changes nothing."""

    settings_type: ClassVar[type[DeviceSettings]] = ScpiSupplySettings
    provides: ClassVar[frozenset[Capability]] = frozenset({"supply"})

    def __init__(self, name: str, settings: ScpiSupplySettings, visa: VisaLink) -> None:
        self.name = name
        self.link = visa.link
        self.settings = settings
        self._visa = visa
        self._free_at = 0.0

    @classmethod
    def open(cls, name: str, settings: DeviceSettings, around: Surroundings) -> Self:
        """Open the session and hear the identification."""
        own = cast("ScpiSupplySettings", settings)
        return cls(name, own, VisaLink(name, own, around.open_limit_s))

    def identify(self) -> str | None:
        """Give the supply's identification."""
        return self._visa.identity

    @property
    def _channel(self) -> str:
        return f"CH{self.settings.channel or 1}"

    @property
    def _list(self) -> str:
        return "" if self.settings.channel is None else f"(@{self.settings.channel})"

    def set_voltage(self, volts: float) -> None:
        """Set the output voltage (V) and the current limit of the rig file; sent once."""
        amperes = self.settings.amperes
        if self.settings.dialect == "e36":
            comma = f",{self._list}" if self._list else ""
            self._write(f"CURR {amperes:g}{comma}")
            self._write(f"VOLT {volts:g}{comma}")
        elif self.settings.dialect == "dp800":
            self._write(f":APPL {self._channel},{volts:g},{amperes:g}")
        else:
            self._write(f"{self._channel}:CURR {amperes:g}")
            self._write(f"{self._channel}:VOLT {volts:g}")

    def switch(self, on: bool) -> None:
        """Switch the output; sent once."""
        word = "ON" if on else "OFF"
        if self.settings.dialect == "e36":
            comma = f",{self._list}" if self._list else ""
            self._write(f"OUTP {word}{comma}")
        elif self.settings.dialect == "dp800":
            self._write(f":OUTP {self._channel},{word}")
        else:
            self._write(f"OUTP {self._channel},{word}")

    def volts(self) -> float:
        """Measure the output voltage (V)."""
        if self.settings.dialect == "dp800":
            return self._measured()[0]
        return self._number(f"MEAS:VOLT? {self._which}".rstrip())

    def amperes(self) -> float:
        """Measure the output current (A)."""
        if self.settings.dialect == "dp800":
            return self._measured()[1]
        return self._number(f"MEAS:CURR? {self._which}".rstrip())

    def state(self) -> SupplyState:
        """Tell how the output is: regulating voltage, at its current limit, tripped, or off."""
        dialect = self.settings.dialect
        if dialect == "dp800":
            number = self.settings.channel or 1
            status = int(self._number(f":STAT:QUES:INST:ISUM{number}:COND?"))
            if status & _OVER_VOLTAGE:
                return "over-voltage"
            if status & _OVER_CURRENT:
                return "over-current"
            volts, amperes, _ = self._measured()
            return self._by_measure(volts, amperes)
        if dialect == "spd3303x":
            status = until_alike(lambda: self._hexadecimal(self._query("SYST:STAT?")), int.__eq__)
            bit = (self.settings.channel or 1) - 1
            if status >> bit & 1:
                return "constant-current"
            return "off" if self.volts() < _DEAD_VOLTS else "constant-voltage"
        if self._number(f"VOLT:PROT:TRIP? {self._list}".rstrip()):
            return "over-voltage"
        return self._by_measure(self.volts(), self.amperes())

    def _by_measure(self, volts: float, amperes: float) -> SupplyState:
        """Judge by what is measured: below its voltage and at its current limit is CC."""
        if amperes >= _AT_LIMIT * self.settings.amperes:
            return "constant-current"
        if volts < _DEAD_VOLTS and amperes < _DEAD_AMPERES:
            return "off"
        return "constant-voltage"

    @property
    def _which(self) -> str:
        return self._channel if self.settings.dialect == "spd3303x" else self._list

    def _measured(self) -> tuple[float, float, float]:
        volts, amperes, watts = self._numbers(f":MEAS:ALL? {self._channel}", 3)
        return volts, amperes, watts

    def _number(self, command: str) -> float:
        return self._numbers(command, 1)[0]

    def _numbers(self, command: str, count: int) -> list[float]:
        def once() -> list[float]:
            return repeat_read(
                lambda: parse_numbers(self._query(command), count, self.name),
                self.link,
                self.settings.read_repeats,
            )

        return until_alike(once, _alike)  # a digit spoilt on the way does not show

    def _hexadecimal(self, text: str) -> int:
        if re.fullmatch("(0[xX])?[0-9A-Fa-f]{1,8}", text.strip()) is None:
            raise CorruptReplyError(
                self.name,
                expected="a hexadecimal status",
                found=repr(text[:40]),
                remedy="check the dialect in the rig file",
                received=text.encode("ascii", "replace"),
            )
        return int(text.strip(), 16)

    def _query(self, command: str) -> str:
        self._keep_gap()
        return self._visa.query(command)

    def _write(self, command: str) -> None:
        self._keep_gap()
        self._visa.write(command)
        if self.settings.dialect == "spd3303x":
            self._free_at = time.monotonic() + _SPD_WRITE_GAP_S

    def _keep_gap(self) -> None:
        time.sleep(max(0.0, self._free_at - time.monotonic()))

    def close(self) -> None:
        """Close the session; the output stays as it is."""
        self._visa.close()


def _alike(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(
        math.isclose(a, b, rel_tol=_ALIKE, abs_tol=_ALIKE) for a, b in zip(one, other, strict=True)
    )
