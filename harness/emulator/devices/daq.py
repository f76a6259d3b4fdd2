"""Keysight's data acquisition units: 34970A/34972A, DAQ970A, 34980A.

Source: the makers' programming references. A channel is slot and number (`101`, on the 34980A
`1001`); `SCC` at a digital module is a byte, read as a word with the next one. A voltage is
integrated over `NPLC` power line cycles; under one it catches the moment.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

from harness.emulator.clock import Timeline
from harness.emulator.devices.scpi import OUT_OF_RANGE, Scpi, ScpiError, channel_list, number
from harness.emulator.wiring import Wiring

IDENTITIES = {
    "34970A": "HEWLETT-PACKARD,34970A,0,13-2-2",
    "DAQ970A": "Keysight Technologies,DAQ970A,MY58000001,A.03.01-01.00-01.00-01",
    "34980A": "Agilent Technologies,34980A,MY44000001,2.51-2.43-2.07-0.05",
}
_CARDS = {
    "34970A": ("HEWLETT-PACKARD,34901A,0,2.3", "HEWLETT-PACKARD,34907A,0,1.0"),
    "DAQ970A": (
        "Keysight Technologies,DAQM901A,MY58000002,01.02",
        "Keysight Technologies,DAQM907A,MY58000003,01.02",
    ),
    "34980A": (
        "Agilent Technologies,34922A,MY44000002,1.11",
        "Agilent Technologies,34950A,MY44000003,1.04",
    ),
}
NOISE_V = 0.002


class Daq:
    """One unit. `used` are the channels of the rig file: numbers, or `NUMBER.BIT` for digital ones.

    `volts` is what a good lamp's photodiode gives; `channel_s` the time for one voltage.
    """

    def __init__(
        self,
        timeline: Timeline,
        wiring: Wiring,
        device: str,
        *,
        dialect: str,
        used: Sequence[str],
        volts: float,
        channel_s: float,
        rng: random.Random,
    ) -> None:
        self._timeline = timeline
        self._wiring = wiring
        self._device = device
        self._dialect = dialect
        self._digital = {channel.partition(".")[0] for channel in used if "." in channel}
        self._volts = volts
        self._channel_s = channel_s
        self._rng = rng
        self._scan: list[str] = []
        self._nplc = 1.0
        self._last: list[float] = []
        self._slots = range(1, 9) if dialect == "34980A" else range(1, 4)
        self.scpi = Scpi(
            IDENTITIES[dialect],
            {
                "ROUTe:SCAN": self._set_scan,
                "ROUTe:SCAN?": lambda given: self._scan_list(),
                "ROUTe:SCAN:SIZE?": lambda given: f"+{len(self._scan)}",
                "ROUTe:OPEN[:ALL]": lambda given: None,
                "ROUTe:CLOSe": lambda given: None,
                "CONFigure[:SCALar]:VOLTage[:DC]": self._set_scan,
                "MEASure[:SCALar]:VOLTage[:DC]?": self._measure,
                "[SENSe:]VOLTage[:DC]:NPLCycles": self._set_nplc,
                "[SENSe:]VOLTage[:DC]:NPLCycles?": self._tell_nplc,
                "READ?": lambda given: self._numbers(self._measured(self._scan)),
                "INITiate": lambda given: self._initiate(),
                "FETCh?": lambda given: self._numbers(self._last),
                "MEASure[:SCALar]:DIGital:BYTE?": lambda given: self._digital_read(given, 8),
                "[SENSe:]DIGital:DATA[:BYTE]?": lambda given: self._digital_read(given, 8),
                "[SENSe:]DIGital:DATA:WORD?": lambda given: self._digital_read(given, 16),
                "SYSTem:CTYPe?": self._card,
                "FORMat:READing:CHANnel": lambda given: None,
                "TRIGger:SOURce": lambda given: None,
                "TRIGger:COUNt": lambda given: None,
            },
            self._reset,
        )

    def _reset(self) -> None:
        self._scan, self._last, self._nplc = [], [], 1.0

    def _set_scan(self, given: str) -> None:
        self._scan = sorted(self._channels(given), key=int)

    def _scan_list(self) -> str:
        text = f"(@{','.join(self._scan)})"
        return f"#{len(str(len(text)))}{len(text)}{text}"

    def _set_nplc(self, given: str) -> None:
        self._nplc = number(given.partition(",")[0].partition("(")[0].strip())

    def _tell_nplc(self, given: str) -> str:
        count = len(channel_list(given)) if "@" in given else 1
        return ",".join([f"{self._nplc:+.8E}"] * count)

    def _measure(self, given: str) -> str:
        return self._numbers(self._measured(sorted(self._channels(given), key=int)))

    def _initiate(self) -> None:
        self._last = self._measured(self._scan)

    def _channels(self, given: str) -> list[str]:
        channels = channel_list(given)
        for channel in channels:
            if int(channel[0]) not in self._slots or not 3 <= len(channel) <= 4:
                raise ScpiError(*OUT_OF_RANGE)
        return channels

    def _measured(self, channels: Sequence[str]) -> list[float]:
        if not channels:
            raise ScpiError(-221, "Settings conflict")
        look: Callable[[tuple[str, str]], float] = (
            self._wiring.level if self._nplc >= 1 else self._wiring.momentary
        )
        measured = []
        for channel in channels:
            time.sleep(self._channel_s)
            with self._timeline.lock:
                self._timeline.catch_up()
                level = look((self._device, channel))
            measured.append(self._volts * level + self._rng.gauss(0, NOISE_V))
        return measured

    def _numbers(self, values: Sequence[float]) -> str:
        return ",".join(f"{value:+.8E}" for value in values)

    def _digital_read(self, given: str, bits: int) -> str:
        words = []
        for channel in channel_list(given):
            if channel not in self._digital:
                raise ScpiError(*OUT_OF_RANGE)
            with self._timeline.lock:
                self._timeline.catch_up()
                word = sum(
                    self._wiring.reads((self._device, f"{channel}.{bit}")) << bit
                    for bit in range(bits)
                )
            words.append(f"+{word}")
        return ",".join(words)

    def _card(self, given: str) -> str:
        slot = int(number(given))
        slot = slot // 100 if slot >= 100 else slot
        if slot not in self._slots:
            raise ScpiError(*OUT_OF_RANGE)
        digital = any(int(channel[0]) == slot for channel in self._digital)
        return _CARDS[self._dialect][int(digital)]
