"""The table under test: keypad, terminal, lamp logic and lamps, put together as a maker would."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.emulator.clock import Timeline
from harness.emulator.firmware import LampLogic
from harness.emulator.keypad import Keypad
from harness.emulator.lamps import Lamp, LampBoard, LampDrive
from harness.emulator.terminal import DIGITS, Terminal, TerminalSettings


class Table:
    """The device under test; its parts are public so that each can be given its faults."""

    def __init__(
        self,
        timeline: Timeline,
        *,
        keys: Iterable[str],
        lamps: Sequence[Lamp],
        terminal: TerminalSettings,
        press_s: tuple[float, float | None],
        settle_s: float,
        drive: LampDrive,
    ) -> None:
        self.logic = LampLogic(dict.fromkeys(lamp.area for lamp in lamps))
        self.lamps = LampBoard(timeline, lamps, settle_s, drive)
        self.terminal = Terminal(timeline, terminal, self._light)
        names = tuple(dict.fromkeys((*DIGITS, *keys)))
        self.keypad = Keypad(timeline, names, press_s, self._pressed)
        self.terminal.cleared.append(self.keypad.rescan)
        self.residue: frozenset[str] = frozenset()
        self.powered = True
        self.intended: frozenset[str] = frozenset()
        self._last: frozenset[str] = frozenset()

    @property
    def display(self) -> str:
        """Give what the terminal's display shows: the last three numbers, `Err`, or nothing."""
        if not self.powered:
            return ""
        return "Err" if self.terminal.error else "".join(self.terminal.entered)

    def test_lamps(self, on: bool) -> None:
        """Light every lamp, or put all out."""
        self.lamps.command(frozenset(lamp.area for lamp in self.lamps.lamps if on))

    def _pressed(self, key: str) -> None:
        if self.powered:
            self.terminal.press(key)

    def _light(self, entered: tuple[str, ...]) -> None:
        areas = self.logic.areas(entered)
        if entered:
            self._last = areas
        else:
            areas = self.residue & self._last
        self.intended = areas
        self.lamps.command(areas)
