"""A Modbus/TCP slave.

Source: MODBUS Messaging on TCP/IP Implementation Guide V1.0b: the MBAP header is transaction,
protocol 0, length, unit. A module answers its own unit number, and 0 and 255, which on TCP mean
"you"; another unit gets no reply.
"""

from __future__ import annotations

import struct

from harness.emulator.clock import Timeline
from harness.emulator.devices.link import Link
from harness.emulator.devices.modbus_model import ModbusModel, answer
from harness.emulator.devices.tcp_server import Connection, TcpServer

_HEADER = struct.Struct(">HHHB")
_LONGEST = 260


def modbus_tcp_server(
    timeline: Timeline, model: ModbusModel, unit: int, link: Link, name: str
) -> TcpServer:
    """Serve one slave; its link's faults are applied to whole replies, header included."""

    def reply(frame: bytes) -> bytes:
        transaction, _, _, asked = _HEADER.unpack_from(frame)
        if asked not in (unit, 0, 255):
            return b""
        with timeline.lock:
            timeline.catch_up()
            request = frame[_HEADER.size :]
            if link.refusal is None:
                said = answer(model, request)
            else:
                said = bytes([request[0] | 0x80, link.refusal])
        return _HEADER.pack(transaction, 0, len(said) + 1, asked) + said

    def serve(client: Connection) -> None:
        pending = b""
        while chunk := client.receive():
            pending += chunk
            while len(pending) >= _HEADER.size:
                _, protocol, length, _ = _HEADER.unpack_from(pending)
                size = 6 + length
                if protocol != 0 or not 2 <= length <= _LONGEST - 6:
                    return
                if len(pending) < size:
                    break
                frame, pending = pending[:size], pending[size:]
                said = reply(frame)
                said = link.outgoing(frame, said) if said else b""
                if said:
                    client.send(said, link.late_s)

    return TcpServer(name, serve)


def disguise_unit(reply: bytes) -> bytes:
    """Give a reply as another unit would send it."""
    return reply[:6] + bytes([reply[6] ^ 0x01]) + reply[7:]


def disguise_function(reply: bytes) -> bytes:
    """Give a reply to another function than was asked for."""
    return reply[:7] + bytes([reply[7] ^ 0x06]) + reply[8:]


def disguise_short(reply: bytes) -> bytes:
    """Give a reply whose header promises more than comes."""
    return reply[:-2]
