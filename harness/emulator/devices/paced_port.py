"""A serial port whose bytes take the time that they would take on the wire."""

from __future__ import annotations

import heapq
import time

from harness.emulator.devices.tty import Tty

BITS_PER_CHARACTER = 10
"""At 8N1: start bit, eight data bits, stop bit."""


class PacedPort:
    """One thread reads and sends. `baud` in bits a second.

    On a half-duplex bus, what is received while a reply is on the wire is lost.
    """

    def __init__(self, tty: Tty, baud: int, *, half_duplex: bool = False) -> None:
        self.tty = tty
        self.baud = baud
        self._half_duplex = half_duplex
        self._late: list[tuple[float, bytes]] = []

    @property
    def character_s(self) -> float:
        """Give the time of one character on the wire in s."""
        return BITS_PER_CHARACTER / self.baud

    def read(self, timeout_s: float | None) -> bytes:
        """Wait for bytes; empty on time-out or close. Late replies go out meanwhile."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self.tty.closed:
            self._send_late()
            ends = [at for at in (deadline, self._late[0][0] if self._late else None) if at]
            chunk = self.tty.read(max(0.0, min(ends) - time.monotonic()) if ends else None)
            if chunk or (deadline is not None and time.monotonic() >= deadline):
                return chunk
        return b""

    def send(self, at: float, data: bytes, late_s: float = 0.0) -> None:
        """Send bytes so that the last is out at `at` (monotonic s), or that much later.

        Returns once they are out, unless they are late.
        """
        if late_s:
            heapq.heappush(self._late, (at + late_s, data))
        else:
            time.sleep(max(0.0, at - time.monotonic()))
            if self._half_duplex:
                self.tty.drain()
            self.tty.write(data)

    def _send_late(self) -> None:
        while self._late and self._late[0][0] <= time.monotonic():
            self.tty.write(heapq.heappop(self._late)[1])
