"""Exchanges over a pty with random faults on the line, each answer compared with the truth.

The slave's inputs show the number of the request they answer, so that an answer to any other
question, or a spoilt one, is wrong and seen to be.
"""

from __future__ import annotations

import os
import pty
import random
import select
import threading
import time
import tty
from collections import Counter

from harness.rig.errors import ReplyError
from harness.rig.modbus_rtu import RtuMaster, read_bits
from harness.rig.serial_line import Framing, SerialLine
from tests.rig.peers import framed, modbus_crc

FAULTS = ("flip", "cut", "silent", "late", "unit", "function", "length", "noise", "exception")


class NoisySlave:
    """Answers FC02 for 64 inputs with the number of the request; spoils a share of the replies."""

    def __init__(self, rate: float, seed: int) -> None:
        self.master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        self.path = os.ttyname(self._slave)
        self.count = 0
        self._rate = rate
        self._random = random.Random(seed)
        self._late: list[tuple[float, bytes]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        pending = b""
        while not self._stop.is_set():
            while self._late and self._late[0][0] <= time.monotonic():
                os.write(self.master, self._late.pop(0)[1])
            wait = 0.002 if pending or self._late else 0.05
            if select.select([self.master], [], [], wait)[0]:
                pending += os.read(self.master, 256)
            elif pending:
                pending = b""  # silence: whatever came is no frame
            while len(pending) >= 8:
                frame, pending = pending[:8], pending[8:]
                if modbus_crc(frame[:6]) == frame[6:] and frame[0] == 1:
                    self._answer(frame)

    def _answer(self, frame: bytes) -> None:
        self.count += 1
        data = self.count.to_bytes(8, "big")
        reply = framed(1, 2, 8, *data)
        rng = self._random
        if rng.random() < self._rate:
            fault = rng.choices(FAULTS, (20, 20, 1, 1, 20, 20, 20, 20, 20))[0]
            if fault == "flip":
                spoilt = bytearray(reply)
                for _ in range(rng.randrange(1, 4)):
                    spoilt[rng.randrange(len(spoilt))] ^= 1 << rng.randrange(8)
                reply = bytes(spoilt)
            elif fault == "cut":
                reply = reply[: rng.randrange(1, len(reply))]
            elif fault == "silent":
                return
            elif fault == "late":
                self._late.append((time.monotonic() + rng.uniform(0.06, 0.3), reply))
                return
            elif fault == "unit":
                reply = framed(rng.randrange(2, 248), 2, 8, *data)
            elif fault == "function":
                reply = framed(1, rng.choice((1, 3, 4)), 8, *data)
            elif fault == "length":
                reply = framed(1, 2, 7, *data[1:])
            elif fault == "noise":
                reply = rng.randbytes(rng.randrange(1, 30)) + reply
            else:
                reply = framed(1, 0x82, rng.randrange(1, 5))
        os.write(self.master, reply)

    def close(self) -> None:
        self._stop.set()
        self._thread.join(2)
        os.close(self.master)
        os.close(self._slave)


def run(exchanges: int, rate: float = 0.3, seed: int = 1) -> Counter[str]:
    """Make exchanges; give how many ended how. Raises AssertionError on a wrong answer taken."""
    slave = NoisySlave(rate, seed)
    line = SerialLine(slave.path, Framing(115200), "inputs")
    line.open()
    master = RtuMaster(line, reply_s=0.05, late_s=0.4)
    ended: Counter[str] = Counter()
    request = read_bits(1, 2, 0, 64)
    try:
        for _ in range(exchanges):
            before = slave.count
            try:
                data = master.exchange(request, "inputs")
            except ReplyError as error:
                ended[error.fault] += 1
                continue
            ended["answered"] += 1
            told = int.from_bytes(data, "big")
            assert before < told == slave.count, f"took answer {told} for question {slave.count}"
    finally:
        line.close()
        slave.close()
    return ended
