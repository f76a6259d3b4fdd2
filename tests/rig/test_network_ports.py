"""Serial ports on the network, `socket://` and `rfc2217://`; pyserial's own code serves them."""

from __future__ import annotations

import contextlib
import select
import socket

import pytest
import serial
import serial.rfc2217

from harness.rig.errors import LinkLostError, NoReplyError
from harness.rig.modbus_rtu import RtuMaster, bits_of, read_bits
from harness.rig.serial_line import Framing, SerialLine
from tests.rig.peers import PtyPeer, RelaysAndInputs, TcpPeer

READ = read_bits(1, 2, 0, 64)


def slave_on(link: socket.socket, slave: RelaysAndInputs) -> None:
    """A Modbus RTU slave at the end of a plain TCP connection."""
    while True:
        frame = link.recv(256)
        if not frame:
            return
        reply = slave(frame)
        if reply:
            link.sendall(reply)


class Pty(serial.Serial):
    """A tty without modem lines, of which a pty has none."""

    cts = dsr = ri = cd = property(lambda self: False)
    dtr = rts = property(lambda self: False, lambda self, value: None)

    def _update_dtr_state(self) -> None: ...

    def _update_rts_state(self) -> None: ...


class Rfc2217Server:
    """pyserial's port manager between a TCP connection and a tty."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.bauds: list[int] = []

    def __call__(self, link: socket.socket) -> None:
        class Connection:
            def write(self, data: bytes) -> None:
                link.sendall(data)

        with Pty(self.path, timeout=0) as port:
            manager = serial.rfc2217.PortManager(port, Connection())
            while True:
                ready, _, _ = select.select([link, port.fileno()], [], [], 0.1)
                if link in ready:
                    data = link.recv(1024)
                    if not data:
                        return
                    port.write(b"".join(manager.filter(data)))
                    self.bauds.append(port.baudrate)
                if port.fileno() in ready:
                    link.sendall(b"".join(manager.escape(port.read(1024))))


def exchange_both_ways(url: str, slave: RelaysAndInputs) -> None:
    line = SerialLine(url, Framing(19200), "inputs")
    line.open()
    try:
        master = RtuMaster(line, reply_s=0.5, late_s=0.1)
        for lit in (3, 42):
            slave.inputs[lit] = True
            assert bits_of(master.exchange(READ, "inputs"), 64)[lit]
        slave.unit = 9
        with pytest.raises(NoReplyError):
            master.exchange(READ, "inputs")
    finally:
        line.close()


def test_socket() -> None:
    slave = RelaysAndInputs()
    with TcpPeer(lambda link: slave_on(link, slave)) as peer:
        exchange_both_ways(f"socket://{peer.address}", slave)


def test_rfc2217() -> None:
    """The far port takes the baud rate that the rig file says."""
    slave = RelaysAndInputs()
    with PtyPeer(slave) as far:
        server = Rfc2217Server(far.path)
        with TcpPeer(server) as peer:
            exchange_both_ways(f"rfc2217://{peer.address}", slave)
            assert server.bauds[-1] == 19200


def test_a_dropped_connection_is_noticed() -> None:
    """The first write after a drop succeeds: fails if that is taken for a sent request."""

    def drop(link: socket.socket) -> None:
        with contextlib.suppress(OSError):
            link.recv(256)

    with TcpPeer(drop) as peer:
        line = SerialLine(f"socket://{peer.address}", Framing(19200), "inputs")
        line.open()
        try:
            with pytest.raises((LinkLostError, NoReplyError)):
                RtuMaster(line, reply_s=0.3, late_s=0.1).exchange(READ, "inputs")
        finally:
            line.close()
