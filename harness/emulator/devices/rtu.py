"""A Modbus RTU bus on a serial port: silence makes frames, frames reach the slaves.

Source: MODBUS over Serial Line V1.02, section 2.5.1 (a frame ends with 3.5 characters of silence,
1.75 ms above 19200 baud). A character takes 10 bit times at 8N1. What arrives within a frame's time
or its silence belongs to it; a frame with a bad CRC or for another unit is met with silence.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from harness.emulator.clock import Timeline
from harness.emulator.devices.link import Link
from harness.emulator.devices.modbus_model import ModbusModel, answer
from harness.emulator.devices.paced_port import PacedPort
from harness.emulator.devices.tty import Tty

BROADCAST = 0


@dataclass(frozen=True, slots=True)
class Slave:
    """A device on the bus. `answers_broadcast` are functions that it answers even at unit 0."""

    model: ModbusModel
    link: Link
    answers_broadcast: frozenset[int] = frozenset()


def crc(data: bytes) -> bytes:
    """Give the CRC-16 of a frame as sent, low byte first."""
    value = 0xFFFF
    for byte in data:
        value = value >> 8 ^ _CRC_TABLE[(value ^ byte) & 0xFF]
    return value.to_bytes(2, "little")


def _crc_of(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (0xA001 if byte & 1 else 0)
    return byte


_CRC_TABLE = tuple(_crc_of(byte) for byte in range(256))


def disguise_unit(reply: bytes) -> bytes:
    """Give a reply as another unit would send it."""
    body = bytes([reply[0] % 247 + 1]) + reply[1:-2]
    return body + crc(body)


def disguise_function(reply: bytes) -> bytes:
    """Give a reply to another function than was asked for."""
    body = reply[:1] + bytes([reply[1] ^ 0x06]) + reply[2:-2]
    return body + crc(body)


class RtuBus:
    """Serves slaves, by unit, on one port; replies are paced by its baud rate."""

    def __init__(self, timeline: Timeline, tty: Tty, baud: int) -> None:
        self.port = PacedPort(tty, baud, half_duplex=True)
        self.slaves: dict[int, Slave] = {}
        self._timeline = timeline

    def start(self) -> None:
        """Serve in a thread until the port is closed."""
        name = f"rtu {self.port.tty.path.name}"
        threading.Thread(target=self._serve, name=name, daemon=True).start()

    def move(self, unit: int, new_unit: int) -> None:
        """Give a slave another address."""
        self.slaves[new_unit] = self.slaves.pop(unit)

    @property
    def silence_s(self) -> float:
        """Give the silence that ends a frame in s."""
        return 0.00175 if self.port.baud > 19200 else 3.5 * self.port.character_s

    def _serve(self) -> None:
        while not self.port.tty.closed:
            chunk = self.port.read(None)
            if chunk:
                frame, ended = self._frame(chunk)
                self._take(frame, ended)

    def _frame(self, chunk: bytes) -> tuple[bytes, float]:
        """Collect a frame; give it and the time at which its last bit was on the wire."""
        frame, character_s = bytearray(chunk), self.port.character_s
        ended = time.monotonic() + len(chunk) * character_s
        while (left := ended + self.silence_s - time.monotonic()) > 0:
            more = self.port.read(left)
            frame += more
            ended = max(ended, time.monotonic() if more else 0.0) + len(more) * character_s
        return bytes(frame), ended

    def _take(self, frame: bytes, ended: float) -> None:
        if not 4 <= len(frame) <= 256 or crc(frame[:-2]) != frame[-2:]:
            return
        unit, request = frame[0], frame[1:-2]
        for number, slave in self._addressed(unit).items():
            if (slave.link.baud or self.port.baud) != self.port.tty.client_baud:
                continue
            with self._timeline.lock:
                self._timeline.catch_up()
                if slave.link.refusal is None:
                    reply = answer(slave.model, request)
                else:
                    reply = bytes([request[0] | 0x80, slave.link.refusal])
            if unit == BROADCAST and request[0] not in slave.answers_broadcast:
                continue
            body = bytes([number]) + reply
            sent = slave.link.outgoing(frame, body + crc(body))
            if sent:
                at = ended + self.silence_s + len(sent) * self.port.character_s
                self.port.send(at, sent, slave.link.late_s)

    def _addressed(self, unit: int) -> Mapping[int, Slave]:
        if unit == BROADCAST:
            return dict(self.slaves)
        return {unit: self.slaves[unit]} if unit in self.slaves else {}
