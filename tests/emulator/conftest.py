"""An emulator of its own process for each test, and the plain means to talk to it."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import termios
import textwrap
import time
import tomllib
import tty
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RIGS = ROOT / "rigs"
LAMPS = tomllib.loads((RIGS / "emulated.toml").read_text())["lamps"]["map"]
CHANNELS = {area: int(wire.partition(":")[2]) for area, wire in LAMPS.items()}


class Line:
    """A serial port opened raw, without any library that could help."""

    def __init__(self, path: str, baud: int = 115200) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.fd)
        attributes = termios.tcgetattr(self.fd)
        attributes[4] = attributes[5] = getattr(termios, f"B{baud}")
        termios.tcsetattr(self.fd, termios.TCSANOW, attributes)

    def ask(self, request: bytes, length: int, timeout_s: float = 1.0) -> bytes:
        """Send and read up to `length` bytes, fewer after the time-out."""
        os.write(self.fd, request)
        return self.read(length, timeout_s)

    def read(self, length: int, timeout_s: float) -> bytes:
        data = b""
        deadline = time.monotonic() + timeout_s
        while len(data) < length and (left := deadline - time.monotonic()) > 0:
            if select.select([self.fd], [], [], left)[0]:
                data += os.read(self.fd, length - len(data))
        return data

    def close(self) -> None:
        os.close(self.fd)


def crc(data: bytes) -> bytes:
    """The Modbus CRC, bit by bit as the specification's appendix has it."""
    value = 0xFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ 0xA001 if value & 1 else value >> 1
    return value.to_bytes(2, "little")


def rtu(*body: int) -> bytes:
    return bytes(body) + crc(bytes(body))


class Emulated:
    """A running emulator."""

    def __init__(self, rig: Path, *faults: str, environment: dict[str, str] | None = None) -> None:
        arguments = [sys.executable, "-m", "harness.emulator", str(rig)]
        for fault in faults:
            arguments += ["--fault", fault]
        self.process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, **(environment or {})},
        )
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.stderr.read())
        said = json.loads(line)
        self.endpoints, self.control = said["endpoints"], said["control"]
        host, port = self.control.split(":")
        self._socket = socket.create_connection((host, int(port)), timeout=20)
        self._file = self._socket.makefile("rw")
        self._lines: dict[str, Line] = {}

    def do(self, what: str, **fields: object) -> dict[str, object]:
        """Ask the control channel for something that it must do."""
        answer = self.ask({"do": what, **fields})
        assert answer["ok"], answer
        return answer

    def ask(self, request: object) -> dict[str, object]:
        self._file.write((request if isinstance(request, str) else json.dumps(request)) + "\n")
        self._file.flush()
        return json.loads(self._file.readline())

    def arm(self, fault: str, **given: object) -> None:
        self.do("arm", fault=fault, **{"with": given})

    def line(self, device: str, baud: int = 115200) -> Line:
        if device not in self._lines:
            self._lines[device] = Line(self.endpoints[device], baud)
        return self._lines[device]

    def relay(self, channel: int, on: bool) -> None:
        request = rtu(1, 5, 0, channel, 0xFF if on else 0, 0)
        assert self.line("keys").ask(request, 8) == request

    def press(self, *keys: str, ms: float = 12, gap_ms: float = 8) -> None:
        """Press keys by their relays as emulated.toml wires them."""
        for key in keys:
            channel = 6 if key == "clear" else int(key) - 1
            self.relay(channel, True)
            time.sleep(ms / 1000)
            self.relay(channel, False)
            time.sleep(gap_ms / 1000)

    def bits(self) -> list[bool]:
        reply = self.line("inputs").ask(rtu(1, 2, 0, 0, 0, 64), 13)
        assert reply[:3] == bytes([1, 2, 8]), reply
        assert crc(reply[:-2]) == reply[-2:]
        return [bool(reply[3 + bit // 8] >> bit % 8 & 1) for bit in range(64)]

    def lit(self, settle_s: float = 0.03) -> set[str]:
        """Read the lamps by their inputs."""
        time.sleep(settle_s)
        bits = self.bits()
        return {area for area, channel in CHANNELS.items() if bits[channel]}

    def enter(self, keys: str) -> set[str]:
        """Enter a result, read the lamps, clear."""
        self.press(*keys)
        lit = self.lit()
        self.press("clear")
        return lit

    def jpeg(self) -> bytes:
        url = self.endpoints["dice-camera"] + "/snapshot"
        with urllib.request.urlopen(url, timeout=5) as reply:
            return reply.read()

    def stop(self) -> None:
        for line in self._lines.values():
            line.close()
        self._file.close()
        self._socket.close()
        self.process.terminate()
        self.process.wait(10)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


Start = Callable[..., Emulated]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start emulators that are gone after the test."""
    running: list[Emulated] = []

    def begin(rig: Path = RIGS / "emulated.toml", *faults: str, **more: object) -> Emulated:
        running.append(Emulated(rig, *faults, **more))
        return running[-1]

    yield begin
    for each in running:
        each.stop()


@pytest.fixture(scope="module")
def shared() -> Iterator[Emulated]:
    """One emulator for a whole module; `bench` gives it out healthy."""
    emulated = Emulated(RIGS / "emulated.toml")
    yield emulated
    emulated.stop()


@pytest.fixture
def bench(shared: Emulated) -> Iterator[Emulated]:
    yield shared
    shared.do("disarm")
    shared.do("cover", on=False)
    shared.press("clear")
    time.sleep(0.02)


def written(path: Path, text: str, base: str = "emulated.toml") -> Path:
    """Write a rig file that changes an embedded one by a piece of TOML."""
    path.write_text(f'include = ["{RIGS / base}"]\n' + textwrap.dedent(text))
    return path


@pytest.fixture
def rig_file(tmp_path: Path) -> Callable[..., Path]:
    """Write a rig file that changes emulated.toml by a piece of TOML."""

    def write(text: str, base: str = "emulated.toml") -> Path:
        return written(tmp_path / "rig.toml", text, base)

    return write
