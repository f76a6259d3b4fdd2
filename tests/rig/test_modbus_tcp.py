"""Modbus/TCP against pymodbus' own server and against raw sockets."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymodbus.client import ModbusTcpClient
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

from harness.rig.device import Surroundings
from harness.rig.drivers.modbus_tcp import ModbusTcp, ModbusTcpSettings, classify
from harness.rig.errors import (
    DeviceRefusalError,
    LinkLostError,
    NoReplyError,
    NotThereError,
    ReplyError,
    ShortReplyError,
    WrongEchoError,
    WrongFunctionError,
    WrongUnitError,
)
from tests.rig.peers import TcpPeer


class PymodbusServer:
    """The library's server in a thread: 16 discrete inputs and 32 coils at unit 1."""

    def __init__(self, inputs=(), coils=()) -> None:
        device = SimDevice(
            1,
            simdata=(
                [SimData(0, values=[n in coils for n in range(32)], datatype=DataType.BITS)],
                [SimData(0, values=[n in inputs for n in range(16)], datatype=DataType.BITS)],
                [SimData(0, values=[0], datatype=DataType.REGISTERS)],
                [SimData(0, values=[0], datatype=DataType.REGISTERS)],
            ),
        )
        self.devices = [device]
        self.ready = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.main()), daemon=True)

    async def main(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.server = ModbusTcpServer(self.devices, address=("127.0.0.1", 0))
        await self.server.listen()
        self.port = self.server.transport.sockets[0].getsockname()[1]
        self.stop = asyncio.Event()
        self.ready.set()
        await self.stop.wait()
        await self.server.shutdown()

    def __enter__(self) -> PymodbusServer:
        self.thread.start()
        assert self.ready.wait(5)
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.stop.set)
        self.thread.join(5)

    def coils(self, start: int, count: int) -> list[bool]:
        """Read the server's coils by the library's own client."""
        client = ModbusTcpClient("127.0.0.1", port=self.port)
        try:
            return client.read_coils(start, count=count, device_id=1).bits[:count]
        finally:
            client.close()


def opened(port: int, **settings) -> ModbusTcp:
    own = ModbusTcpSettings(
        driver="modbus-tcp", address=f"127.0.0.1:{port}", reply_ms=200, **settings
    )
    return ModbusTcp.open("module", own, Surroundings())


def test_discrete_inputs_of_an_independent_server() -> None:
    with PymodbusServer(inputs=(3, 15)) as server:
        module = opened(server.port, channels=16)
        try:
            read = module.read([str(n) for n in range(16)])
            assert [n for n, on in read.items() if on] == ["3", "15"]
        finally:
            module.close()


def test_inputs_in_the_coil_area_inverted() -> None:
    """ADAM-6000: inputs are coils, not discrete inputs."""
    with PymodbusServer(coils=(1,)) as server:
        module = opened(server.port, area="coil", channels=4, invert=True)
        try:
            assert module.read(["0", "1"]) == {"0": True, "1": False}
        finally:
            module.close()


def test_outputs_from_a_base_address() -> None:
    """ADAM-6000: outputs from coil 16 on."""
    with PymodbusServer() as server:
        module = opened(server.port, area="coil", base=16, channels=8, direction="out")
        try:
            module.switch("2", on=True)
            assert server.coils(16, 8) == [n == 2 for n in range(8)]
            assert module.states()["2"] is True
            module.all_open()
            assert not any(server.coils(16, 8))
        finally:
            module.close()


def test_addresses_the_module_has_not() -> None:
    with PymodbusServer() as server, pytest.raises(DeviceRefusalError, match="address") as caught:
        opened(server.port, channels=17)
    assert caught.value.code == 2


class RawServer:
    """A Modbus/TCP slave on a raw socket: answers FC02 and FC05, spoiled by the test."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.spoil: Callable[[bytes], bytes] = lambda reply: reply

    def __call__(self, link: socket.socket) -> None:
        while True:
            head = self._exactly(link, 6)
            frame = head + self._exactly(link, int.from_bytes(head[4:6], "big"))
            self.heard.append(frame)
            body = frame[6:8] + (b"\x01\x05" if frame[7] == 2 else frame[8:])
            reply = frame[:4] + len(body).to_bytes(2, "big") + body
            link.sendall(self.spoil(reply))

    @staticmethod
    def _exactly(link: socket.socket, size: int) -> bytes:
        data = b""
        while len(data) < size:
            chunk = link.recv(size - len(data))
            if not chunk:
                raise ConnectionError
            data += chunk
        return data


SPOILT = [
    (lambda r: b"", NoReplyError),
    (lambda r: r[:8], ShortReplyError),
    (lambda r: r[:6] + b"\x07" + r[7:], WrongUnitError),
    (lambda r: r[:7] + b"\x01" + r[8:], WrongFunctionError),
    (lambda r: b"\x00\x63" + r[2:], WrongEchoError),
    (lambda r: r[:4] + b"\x00\x03" + r[6:7] + b"\x82\x04", DeviceRefusalError),
    (lambda r: r[:4] + b"\x00\x05" + r[6:8] + b"\x02\x05\x00", ShortReplyError),
]


@pytest.mark.parametrize(("spoil", "error"), SPOILT)
def test_spoilt_replies_are_told_apart_and_do_not_spoil_the_next(spoil, error) -> None:
    server = RawServer()
    with TcpPeer(server) as peer:
        module = opened(peer.port, channels=8, read_repeats=0)
        try:
            server.spoil = spoil
            began = time.monotonic()
            with pytest.raises(error) as caught:
                module.read(["0"])
            assert type(caught.value) is error
            assert time.monotonic() - began < 2
            server.spoil = lambda reply: reply
            assert module.read(["0", "1", "2"]) == {"0": True, "1": False, "2": True}
        finally:
            module.close()


def test_a_lost_reply_to_a_write_is_one_write() -> None:
    """pymodbus' default of three retries makes it four; fails if ours is not one."""
    server = RawServer()
    with TcpPeer(server) as peer:
        module = opened(peer.port, channels=8)
        try:
            module._settings = module._settings.model_copy(
                update={"direction": "out", "area": "coil"}
            )
            server.spoil = lambda reply: b""
            with pytest.raises(NoReplyError):
                module.switch("3", on=True)
            assert sum(frame[7] == 5 for frame in server.heard) == 1
        finally:
            module.close()


def test_a_late_reply_dies_with_its_connection() -> None:
    server = RawServer()

    def late(reply: bytes) -> bytes:
        server.spoil = lambda reply: reply
        time.sleep(0.3)
        return reply[:-1] + b"\xff"

    with TcpPeer(server) as peer:
        module = opened(peer.port, channels=8, read_repeats=0)
        try:
            server.spoil = late
            with pytest.raises(NoReplyError):
                module.read(["0"])
            for _ in range(3):
                assert module.read(["1"]) == {"1": False}
        finally:
            module.close()


def test_a_module_that_hangs_up_on_a_resting_master_is_called_again() -> None:
    """Modules close a connection that idles; fails if the next read or press ends in an error, or
    if the press is sent twice."""
    server = RawServer()

    def serve(link: socket.socket) -> None:
        link.settimeout(0.1)
        server(link)

    with TcpPeer(serve) as peer:
        module = opened(peer.port, channels=8)
        try:
            module._settings = module._settings.model_copy(update={"direction": "out"})
            for _ in range(2):
                time.sleep(0.3)
                assert module.read(["0"]) == {"0": True}
            time.sleep(0.3)
            module.switch("3", on=True)
            assert sum(frame[7] == 5 for frame in server.heard) == 1
            assert module.link.failures == {}
        finally:
            module.close()


def test_nobody_there_and_somebody_gone() -> None:
    with TcpPeer(RawServer()) as peer:
        module = opened(peer.port, channels=8)
    with pytest.raises((LinkLostError, NotThereError)):
        module.read(["0"])
    with pytest.raises(NotThereError):
        opened(peer.port, channels=8)


@given(st.binary(max_size=40), st.integers(0, 255), st.integers(1, 127))
def test_any_bytes_are_classified(received, unit, function) -> None:
    assert isinstance(classify(received, unit, function, "module"), ReplyError)
    with contextlib.suppress(ReplyError):
        raise classify(received, unit, function, "module")
