"""Lamps sensed over links without checksum, with random faults on them, compared with the truth.

The peer knows which of its channels are on and spoils a share of its replies: flipped bits, cut
ones, silence, late ones, garbage before, and where the protocol has them another unit or function.
Lamps change between looks, as they do on a table.
"""

from __future__ import annotations

import random
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

from harness.rig.confirmed import Confirmation
from harness.rig.device import Device, Inputs, Levels, Surroundings
from harness.rig.drivers import driver_class
from harness.rig.errors import RigError
from harness.rig.senses import LampChannel, SensedLamps
from tests.rig.peers import PtyPeer, TcpPeer, lines_of

LAMPS = 16
LATE_S = 0.12
KINDS = ("flip", "flip", "flip", "cut", "silent", "late", "noise")


@dataclass
class Table:
    """Lamps, and how often a reply about them is spoilt."""

    rate: float
    seed: int
    lit: int = 0
    rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def spoilt(self, reply: bytes) -> tuple[bytes, float]:
        """Give what goes out for a reply, and how late."""
        rng = self.rng
        if rng.random() >= self.rate:
            return reply, 0.0
        kind = rng.choice(KINDS)
        if kind == "flip":
            at, bit = rng.randrange(len(reply)), rng.randrange(8)
            return reply[:at] + bytes([reply[at] ^ 1 << bit]) + reply[at + 1 :], 0.0
        if kind == "cut":
            return reply[: rng.randrange(1, len(reply))], 0.0
        if kind == "noise":
            return rng.randbytes(rng.randrange(1, 9)) + reply, 0.0
        return (b"", 0.0) if kind == "silent" else (reply, LATE_S)


@contextmanager
def modbus_tcp(table: Table) -> Iterator[Device]:
    """FC02 over TCP."""

    def serve(link: socket.socket) -> None:
        while len(asked := link.recv(12)) == 12:
            data = table.lit.to_bytes(2, "little")
            said, late_s = table.spoilt(asked[:4] + b"\x00\x05" + asked[6:8] + b"\x02" + data)
            if late_s:
                threading.Timer(late_s, _send, (link, said)).start()
            elif said:
                _send(link, said)

    with TcpPeer(serve) as peer:
        yield _opened("modbus-tcp", address=peer.address, reply_ms=60, channels=LAMPS)


@contextmanager
def scpi_daq(table: Table) -> Iterator[Device]:
    """Sixteen voltages over a raw socket."""

    def serve(link: socket.socket) -> None:
        for line in lines_of(link):
            if line == b"*IDN?":
                _send(link, b"MAKER,MODEL,0,1.0\n")
                continue
            wanted = [int(number) - 101 for number in re.findall(rb"\d+", line.partition(b"@")[2])]
            volts = [5.0 if table.lit >> n & 1 else 0.02 for n in wanted]
            noise = table.rng.gauss
            text = ",".join(f"{v + noise(0, 0.002):+.6E}" for v in volts)
            said, late_s = table.spoilt(text.encode() + b"\n")
            if late_s:
                threading.Timer(late_s, _send, (link, said)).start()
            elif said:
                _send(link, said)

    with TcpPeer(serve) as peer:
        yield _opened("scpi-daq", resource=peer.address, reply_ms=60, late_ms=100)


def _on_a_line(
    table: Table, driver: str, answer: Callable[[bytes], bytes], **settings: object
) -> Iterator[Device]:
    heard = b""

    def serve(data: bytes) -> bytes | None:
        nonlocal heard
        heard += data
        if not heard.endswith(b"\r"):
            return None
        asked, heard = heard, b""
        said, late_s = table.spoilt(answer(asked))
        time.sleep(late_s)
        return said

    with PtyPeer(serve) as peer:
        yield _opened(driver, port=peer.path, reply_ms=40, late_ms=100, **settings)


@contextmanager
def adam_4000(table: Table) -> Iterator[Device]:
    """An ASCII module that is set up without checksums."""

    def answer(asked: bytes) -> bytes:
        return b"!%04X00\r" % table.lit

    yield from _on_a_line(
        table, "adam-4000", answer, baud=115200, module=1, model="4051", checksum=False
    )


@contextmanager
def numato(table: Table) -> Iterator[Device]:
    """A module with a prompt, whose answers echo the command."""

    def answer(asked: bytes) -> bytes:
        command = asked.rstrip(b"\r")
        if command == b"gpio readall":
            return command + b"\n\r%04X\n\r>" % table.lit
        return command + (b"\n\r00000008" if command else b"") + b"\n\r>"

    yield from _on_a_line(table, "numato", answer, baud=115200, relays=0, gpios=LAMPS)


LINKS = {
    "modbus-tcp": (modbus_tcp, "{}"),
    "scpi-daq": (scpi_daq, "{}"),
    "adam-4000": (adam_4000, "{}"),
    "numato": (numato, "gpio-{}"),
}


def _opened(driver: str, **settings: object) -> Device:
    kind = driver_class(driver)
    own = kind.settings_type(driver=driver, read_repeats=4, **settings)
    assert not own.has_checksum
    for _ in range(20):  # opening reads once, over the same bad link
        try:
            return kind.open("lamps", own, Surroundings())
        except RigError:
            continue
    raise AssertionError(f"{driver}: never opened")


def _send(link: socket.socket, data: bytes) -> None:
    try:
        link.sendall(data)
    except OSError:
        return


def run(name: str, exchanges: int, rate: float = 0.3, seed: int = 1) -> Counter[str]:
    """Look at lamps until so many exchanges were made; give how many looks ended how.

    Raises AssertionError on a wrong one taken.
    """
    link, channel = LINKS[name]
    table = Table(rate, seed)
    first = 101 if name == "scpi-daq" else 0
    lamps = [
        LampChannel(str(n), "lamps", channel.format(n + first), invert=False) for n in range(LAMPS)
    ]
    ended: Counter[str] = Counter()
    changes = random.Random(seed)
    with link(table) as device:
        sensed = SensedLamps(
            "lamps",
            lamps,
            {"lamps": cast("Inputs | Levels", device)},
            buses={"lamps": "bus"},
            lit_volts=2.0,
            reference_volts=5.0,
            confirmations={"lamps": Confirmation("lamps", device.link, tolerance=0.1)},
        )
        while device.link.exchanges < exchanges:
            ended["looks"] += 1
            if changes.random() < 0.3:
                table.lit = changes.choice((0, changes.getrandbits(LAMPS)))
            try:
                sample = sensed.sense()
            except RigError as error:
                ended[error.fault] += 1
                continue
            told = sum(1 << int(area) for area in sample.lit)
            assert told == table.lit, f"took {told:016b} for {table.lit:016b}"
            for area, level in (sample.levels or {}).items():
                wanted = 1.0 if table.lit >> int(area) & 1 else 0.004
                assert abs(level - wanted) < 0.05, f"took {level} for {wanted}"
            ended["answered"] += 1
        device.close()
        ended.update({f"{fault} repeated": n for fault, n in device.link.failures.items()})
    return ended
