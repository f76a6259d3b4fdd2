"""Devices on a serial port that speak lines of text."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.emulator.clock import Timeline
from harness.emulator.devices.link import Link
from harness.emulator.devices.paced_port import PacedPort
from harness.emulator.devices.tty import Tty

Answer = Callable[[bytes], bytes]
"""From a line without its end to the whole reply, empty for silence."""
MOST_IN_A_LINE = 1024


@dataclass(frozen=True, slots=True)
class Speaker:
    """One device on the port: what it answers, and its link."""

    answer: Answer
    link: Link


class TextPort:
    """Hands each line to every speaker on the port; replies are paced by the baud rate.

    `end` is the byte that ends a line. With `echo` every byte received is sent back at once.
    """

    def __init__(
        self, timeline: Timeline, tty: Tty, baud: int, *, end: bytes, echo: bool = False
    ) -> None:
        self.port = PacedPort(tty, baud)
        self.speakers: dict[str, Speaker] = {}
        self._timeline = timeline
        self._end = end
        self._echo = echo
        self._free_at = 0.0

    def start(self) -> None:
        """Serve in a thread until the port is closed."""
        name = f"text {self.port.tty.path.name}"
        threading.Thread(target=self._serve, name=name, daemon=True).start()

    def _serve(self) -> None:
        pending = b""
        while not self.port.tty.closed:
            chunk = self.port.read(None)
            arrived = time.monotonic()
            character_s = self.port.character_s
            for position, byte in enumerate(chunk, start=1):
                at = arrived + position * character_s
                pending += bytes([byte])
                if pending.endswith(self._end):
                    self._take(pending, at)
                    pending = b""
                elif len(pending) > MOST_IN_A_LINE:
                    pending = b""

    def _take(self, line: bytes, at: float) -> None:
        for speaker in self.speakers.values():
            link = speaker.link
            if (link.baud or self.port.baud) != self.port.tty.client_baud:
                continue
            with self._timeline.lock:
                self._timeline.catch_up()
                reply = speaker.answer(line.removesuffix(self._end))
            sent = link.outgoing(line, (line if self._echo else b"") + reply) if reply else b""
            if sent:
                self._free_at = max(self._free_at, at) + len(sent) * self.port.character_s
                self.port.send(self._free_at, sent, link.late_s)


def ways_to_disguise(replace: Callable[[bytes], bytes]) -> Mapping[str, Callable[[bytes], bytes]]:
    """Give the disguises of a text protocol: another address or number, or a line cut short."""
    return {"unit": replace, "short": lambda reply: reply[: max(1, len(reply) // 2)]}
