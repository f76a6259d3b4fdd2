"""Data acquisition over SCPI: lamp voltages, photodiodes, digital words.

Source: Keysight 34970A/34972A and DAQ970A programming references: `MEAS:VOLT:DC? (@list)` scans
channels in ascending order, by default integrating each over one or two mains periods;
`SENS:DIG:DATA:WORD? (@ch)` reads the 16 bits of a digital module.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Self, cast

from harness.rig.device import Capability, DeviceSettings, Surroundings, repeat_read
from harness.rig.errors import CorruptReplyError
from harness.rig.visa_link import VisaLink, VisaSettings, parse_numbers

_WORD_BITS = 16
_CHANNEL_S = 0.05
"""One channel of a scan takes at most this long: relay, settling, two mains periods."""


class ScpiDaqSettings(VisaSettings):
    """Section of a `scpi-daq`.

    Channels: `SCC` (slot and channel, as `101`) for a voltage, `SCC.B` for bit B of a digital word.
    """

    dialect: Literal["34970A", "DAQ970A", "34980A"] = "34970A"
    invert: bool = False

    def channel_problem(self, channel: str, use: Capability) -> str | None:
        """A voltage channel, or a bit of a digital one."""
        slots = "1-8" if self.dialect == "34980A" else "1-3"
        digits = "{3}" if self.dialect == "34980A" else "{2}"
        place = rf"[{slots}][0-9]{digits}"
        if re.fullmatch(rf"{place}(\.([0-9]|1[0-5]))?", channel) is None:
            return "a channel as 101 (slot 1, channel 01), or 101.3 for a bit of a digital word"
        if use == "inputs" and "." not in channel:
            return "a bit of a digital word, as 101.3"
        return None


class ScpiDaq:
    """The instrument, opened. All its voltages are measured in one scan."""

    settings_type: ClassVar[type[DeviceSettings]] = ScpiDaqSettings
    provides: ClassVar[frozenset[Capability]] = frozenset({"levels", "inputs"})

    def __init__(self, name: str, settings: ScpiDaqSettings, visa: VisaLink) -> None:
        self.name = name
        self.link = visa.link
        self._settings = settings
        self._visa = visa

    @classmethod
    def open(cls, name: str, settings: DeviceSettings, around: Surroundings) -> Self:
        """Open the session and hear the identification."""
        own = cast("ScpiDaqSettings", settings)
        return cls(name, own, VisaLink(name, own, around.open_limit_s))

    def identify(self) -> str | None:
        """Give the instrument's identification."""
        return self._visa.identity

    def measures(self, channel: str) -> bool:
        """Tell a voltage channel from a bit of a digital word."""
        return "." not in channel

    def levels(self, channels: Sequence[str]) -> Mapping[str, float]:
        """Measure these voltages (V) in one scan."""
        volts = sorted(set(channels), key=int)
        command = f"MEAS:VOLT:DC? (@{','.join(volts)})"
        scan_s = len(volts) * _CHANNEL_S
        numbers = repeat_read(
            lambda: parse_numbers(self._visa.query(command, scan_s), len(volts), self.name),
            self.link,
            self._settings.read_repeats,
        )
        return dict(zip(volts, numbers, strict=True))

    def read(self, channels: Sequence[str]) -> Mapping[str, bool]:
        """Read bits of digital words, each word once."""
        by_word: dict[str, list[str]] = defaultdict(list)
        for channel in channels:
            by_word[channel.partition(".")[0]].append(channel)
        read: dict[str, bool] = {}
        for place, members in by_word.items():
            word = self._word(place)
            for channel in members:
                bit = int(channel.partition(".")[2])
                read[channel] = bool(word >> bit & 1) != self._settings.invert
        return read

    def _word(self, place: str) -> int:
        command = f"SENS:DIG:DATA:WORD? (@{place})"

        def once() -> int:
            number = parse_numbers(self._visa.query(command), 1, self.name)[0]
            if number != int(number) or not -(1 << 15) <= number < 1 << _WORD_BITS:
                raise CorruptReplyError(
                    self.name,
                    expected="a word of 16 bits",
                    found=f"{number:g}",
                    remedy="check the card in the slot",
                )
            return int(number) & 0xFFFF

        return repeat_read(once, self.link, self._settings.read_repeats)

    def close(self) -> None:
        """Close the session."""
        self._visa.close()
