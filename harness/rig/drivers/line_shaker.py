"""A shaker on our own serial adapter (see `harness.rig.adapter_lines` for the lines).

ID?            OK NAME VERSION
START          OK                      activates the machine once; ERR 3 while it runs
STATE?         OK IDLE N | RUN N | FAULT CODE N
                                       N: activations completed since power-up
STROKES?       OK N                    tumbles since power-up
COVER?         OK ON | OFF             only where the machine moves its cover
COVER ON|OFF   OK                      once it has moved
"""

from __future__ import annotations

import time
from typing import ClassVar, Self, cast

from pydantic import Field

from harness.rig.adapter_lines import Adapter, AdapterSettings
from harness.rig.device import Capability, DeviceSettings, Surroundings
from harness.rig.errors import NotCapableError
from harness.rig.wired import ShakerStuckError

_POLL_S = 0.01


class LineShakerSettings(AdapterSettings):
    """Section of a `line-shaker`: time to start and to be done, s."""

    start_s: float = Field(default=2.0, gt=0)
    done_s: float = Field(default=30.0, gt=0)


class LineShaker:
    """The shaker, opened."""

    settings_type: ClassVar[type[DeviceSettings]] = LineShakerSettings
    provides: ClassVar[frozenset[Capability]] = frozenset({"shaker", "cover"})

    def __init__(self, adapter: Adapter, settings: LineShakerSettings) -> None:
        self.name = adapter.name
        self.link = adapter.link
        self._adapter = adapter
        self._settings = settings

    @classmethod
    def open(cls, name: str, settings: DeviceSettings, around: Surroundings) -> Self:
        """Open the port and ask for the state once."""
        own = cast("LineShakerSettings", settings)
        shaker = cls(Adapter.on_line(name, own, around), own)
        shaker._state()
        return shaker

    def identify(self) -> str | None:
        """Give the adapter's name and version."""
        return " ".join(self._adapter.read("ID?"))

    def shake(self, strokes: int) -> None:
        """Refuse: a machine is activated, not shaken."""
        raise NotCapableError(
            self.name,
            expected=f"{strokes} strokes by hand",
            found="a machine",
            remedy="scenarios that shake by hand are not applicable on this rig",
        )

    def activate(self, by: str) -> None:
        """Start the machine once and wait until it is done. Raises ShakerStuckError."""
        _, before = self._state()
        self._adapter.order("START")
        started = time.monotonic()
        running = False
        while True:
            state, completed = self._state()
            if state.startswith("FAULT"):
                raise ShakerStuckError(
                    phase="fault", expected="a shaker without fault", found=state.lower()
                )
            if state == "IDLE" and completed == before + 1:
                return
            running = running or state == "RUN"
            waited = time.monotonic() - started
            if not running and waited > self._settings.start_s:
                raise self._stuck("start", "to run", self._settings.start_s)
            if waited > self._settings.done_s:
                raise self._stuck("done", "to be done", self._settings.done_s)
            time.sleep(_POLL_S)

    def _stuck(self, phase: str, wanted: str, limit_s: float) -> ShakerStuckError:
        return ShakerStuckError(
            phase=phase, expected=f"the shaker {wanted} within {limit_s:g} s", found="it did not"
        )

    def tumbles(self) -> int:
        """Give the tumbles since power-up, as the machine counts them."""
        return self._adapter.read_number("STROKES?")

    def put_on(self) -> None:
        """Have the machine put its cover on."""
        self._adapter.order("COVER ON")

    def take_off(self) -> None:
        """Have the machine take its cover off."""
        self._adapter.order("COVER OFF")

    def _state(self) -> tuple[str, int]:
        adapter = self._adapter
        words = adapter.read("STATE?")
        if words[:1] in (["IDLE"], ["RUN"]) and len(words) == 2:
            return words[0], adapter.number(words[1:])
        if words[:1] == ["FAULT"] and len(words) == 3:
            return f"FAULT {words[1]}", adapter.number(words[2:])
        raise adapter.odd(words)

    def close(self) -> None:
        """Nothing to give back: the line belongs to the bench."""
