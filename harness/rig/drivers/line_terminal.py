"""The entry terminal's test port on our own serial adapter (lines: `harness.rig.adapter_lines`).

    ID?            OK NAME VERSION
    KEYS?          OK N [KEY]...           N: keys taken since power-up; then the keys of the entry
                                           that stands now, oldest first: 1 to 6
    LIT?           OK N                    areas that the terminal means to light now, a number
    PRESS KEY MS   OK                      presses a key electronically for MS ms and releases it by
                                           itself; replies at once. KEY: 1 to 6, clear, enter

`KEYS?` is what the terminal itself reports as entered; it tells a key that was not taken from a
lamp that does not light.
"""

from __future__ import annotations

import time
from typing import ClassVar, Self, cast

from pydantic import Field

from harness.rig.adapter_lines import Adapter, AdapterSettings
from harness.rig.device import Capability, DeviceSettings, Surroundings
from harness.rig.errors import DeviceRefusalError, PressUnknownError, RigError
from harness.rig.roles import Press


class LineTerminalSettings(AdapterSettings):
    """Section of a `line-terminal`: press time and gap if it presses the keys itself."""

    press_ms: int = Field(default=50, ge=1, le=10_000)
    gap_ms: int = Field(default=30, ge=0, le=10_000)


class LineTerminal:
    """The test port, opened."""

    settings_type: ClassVar[type[DeviceSettings]] = LineTerminalSettings
    provides: ClassVar[frozenset[Capability]] = frozenset({"terminal", "keys"})

    def __init__(self, adapter: Adapter, settings: LineTerminalSettings) -> None:
        self.name = adapter.name
        self.link = adapter.link
        self._adapter = adapter
        self._settings = settings
        self._free_at = 0.0

    @classmethod
    def open(cls, name: str, settings: DeviceSettings, around: Surroundings) -> Self:
        """Open the port and ask for the entry once."""
        own = cast("LineTerminalSettings", settings)
        terminal = cls(Adapter.on_line(name, own, around), own)
        terminal.echoed()
        return terminal

    def identify(self) -> str | None:
        """Give the adapter's name and version."""
        return " ".join(self._adapter.read("ID?"))

    def echoed(self) -> tuple[str, ...]:
        """Give the keys of the entry that stands now, as the terminal took them."""
        return self._keys()[1]

    def taken(self) -> int:
        """Give the number of keys taken since power-up."""
        return self._keys()[0]

    def lit(self) -> int:
        """Give how many areas the terminal means to light now."""
        return self._adapter.read_number("LIT?")

    def _keys(self) -> tuple[int, tuple[str, ...]]:
        words = self._adapter.read("KEYS?")
        good = bool(words) and words[0].isdigit() and all(w in "123456" for w in words[1:])
        if not good or any(len(word) != 1 for word in words[1:]):
            raise self._adapter.odd(words)
        return int(words[0]), tuple(words[1:])

    def press(self, key: str) -> Press:
        """Have the terminal press one of its keys; sent once."""
        time.sleep(max(0.0, self._free_at - time.monotonic()))
        try:
            self._adapter.order(f"PRESS {key} {self._settings.press_ms}")
        except DeviceRefusalError:
            raise
        except RigError as error:
            raise PressUnknownError(self.name, key=key, state=None, cause=error) from error
        closed_at = time.monotonic()
        opened_at = closed_at + self._settings.press_ms / 1000
        time.sleep(self._settings.press_ms / 1000)
        self._free_at = opened_at + self._settings.gap_ms / 1000
        return Press(key, closed_at, opened_at)

    def release_all(self) -> None:
        """The terminal releases its keys by itself."""

    def close(self) -> None:
        """Nothing to give back: the line belongs to the bench."""
