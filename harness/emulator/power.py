"""The table's power: what the supply gives, and how the table takes a dip or a cut."""

from __future__ import annotations

from dataclasses import dataclass

from harness.emulator.clock import Due, Timeline
from harness.emulator.lamps import LampBoard
from harness.emulator.table import Table

RUNS_FROM = 0.8
"""Share of the nominal voltage from which on the table runs."""
CUT_BELOW = 0.1
"""Share of the nominal voltage below which a dip is a power cycle."""
BOOT_S = 0.4
IDLE_A = 0.15
LAMP_A = 0.02


@dataclass(slots=True)
class Ghost:
    """A table that takes dips badly: to `share` of nominal or less, for `seconds` or more."""

    share: float
    seconds: float


class Power:
    """The supply's output and the table behind it. Public flags are the defects.

    volts: what is set; `on`: the output. A sound table resets cleanly when the voltage falls under
    `RUNS_FROM` of nominal and is up again `BOOT_S` after it came back.
    """

    def __init__(self, timeline: Timeline, table: Table, nominal_volts: float) -> None:
        self.nominal_volts = nominal_volts
        self.set_volts = nominal_volts
        self.limit_amperes = 3.0
        self.trip_volts = 1.2 * nominal_volts
        self.on = True
        self.constant_current = False
        self.tripped = False
        self.offset_volts = 0.0
        self.never_restarts = False
        self.ghost: Ghost | None = None
        self._timeline = timeline
        self._table = table
        self._down_since: float | None = None
        self._lowest = nominal_volts
        self._boot: Due | None = None
        self._before: tuple[tuple[str, ...], frozenset[str]] = ((), frozenset())

    @property
    def volts(self) -> float:
        """Give the voltage at the output."""
        if not self.on or self.tripped:
            return 0.0
        return self.set_volts * 0.7 if self.constant_current else self.set_volts

    @property
    def measured_volts(self) -> float:
        """Give the voltage as the supply reads it back."""
        volts = self.volts
        return max(0.0, volts - self.offset_volts) if volts else 0.0

    @property
    def measured_amperes(self) -> float:
        """Give the current as the supply reads it back."""
        if not self.volts:
            return 0.0
        if self.constant_current:
            return self.limit_amperes
        return self._amperes() if self._table.powered else 0.01

    def _amperes(self) -> float:
        lamps: LampBoard = self._table.lamps
        return IDLE_A + LAMP_A * sum(lamps.mean(lamp) for lamp in lamps.lamps)

    def switch(self, on: bool) -> None:
        """Switch the output."""
        self.on = on
        self.changed()

    def set(self, volts: float) -> None:
        """Set the voltage; above the protection's level it trips."""
        self.set_volts = volts
        if volts > self.trip_volts:
            self.tripped = True
        self.changed()

    def limit(self, *, amperes: float | None = None, trip_volts: float | None = None) -> None:
        """Set the current limit, or the level of the over-voltage protection."""
        if amperes is not None:
            self.limit_amperes = amperes
        if trip_volts is not None:
            self.trip_volts = trip_volts
            self.set(self.set_volts)

    def clear_trip(self) -> None:
        """Clear the over-voltage protection."""
        self.tripped = False
        self.changed()

    def changed(self) -> None:
        """Let the table feel the voltage."""
        up = self.volts >= RUNS_FROM * self.nominal_volts
        if self._down_since is None and not up:
            self._go_down()
        elif self._down_since is not None:
            self._lowest = min(self._lowest, self.volts)
            if up:
                self._come_up(self._timeline.now() - self._down_since)

    def _go_down(self) -> None:
        if self._boot is not None:
            self._boot.cancel()
        terminal, lamps = self._table.terminal, self._table.lamps
        lit = frozenset(area for area, level in lamps.levels().items() if level > 0)
        self._before = terminal.entered, lit
        self._down_since, self._lowest = self._timeline.now(), self.volts
        self._table.powered = lamps.powered = False
        terminal.power_lost()
        lamps.put_out()

    def _come_up(self, down_s: float) -> None:
        self._down_since = None
        ghost, lowest = self.ghost, self._lowest
        cut = lowest < CUT_BELOW * self.nominal_volts
        if self.never_restarts and cut:
            return
        haunted = (
            ghost is not None
            and not cut
            and lowest <= ghost.share * self.nominal_volts
            and down_s >= ghost.seconds
        )
        self._boot = self._timeline.after(BOOT_S, lambda: self._booted(haunted))

    def _booted(self, haunted: bool) -> None:
        self._table.powered = self._table.lamps.powered = True
        if haunted:
            entered, lit = self._before
            self._table.terminal.entered = entered[:2]
            self._table.lamps.command(lit)
