"""A Modbus RTU slave on a pty, a process of its own, that answers as slowly as the wire would.

usage: paced_slave.py BAUD|0   Prints its port. 0: answers as soon as a whole request is there.

8 coils with device-timed pulses and 64 discrete inputs at unit 1. Paced, a request of n bytes is
there n characters after it was written, a silence of t3.5 ends it, and its reply's last byte comes
as many characters later as it is long. Ends when its standard input does.
"""

from __future__ import annotations

import os
import pty
import select
import sys
import time
import tty

CRC_START, CRC_POLYNOMIAL = 0xFFFF, 0xA001


def _table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (CRC_POLYNOMIAL if byte & 1 else 0)  # noqa: PLW2901
        table.append(byte)
    return table


TABLE = _table()


def framed(body: bytes) -> bytes:
    """Give a frame with its CRC."""
    crc = CRC_START
    for byte in body:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return body + crc.to_bytes(2, "little")


def reply_to(frame: bytes, coils: bytearray) -> bytes:
    """Answer FC01, FC02 and FC05."""
    function, address = frame[1], int.from_bytes(frame[2:4], "big")
    if function == 5:
        if address < 8:
            coils[address] = frame[4] == 0xFF
        return frame
    if function == 1:
        return framed(bytes((1, 1, 1, sum(bit << n for n, bit in enumerate(coils)))))
    return framed(bytes((1, 2, 8)) + bytes(8))


def wait_until(moment: float) -> None:
    """Sleep to a moment; the last of it awake, since sleeping overshoots."""
    while (left := moment - time.perf_counter()) > 0:
        if left > 0.0003:
            time.sleep(left - 0.0002)


def serve(master: int, baud: int) -> None:
    """Answer whole requests until standard input ends."""
    char_s = 10 / baud if baud else 0.0
    gap_s = 0.0 if not baud else 0.00175 if baud > 19200 else 3.5 * char_s
    pending, coils = b"", bytearray(8)
    while True:
        ready, _, _ = select.select([master, 0], [], [])
        if 0 in ready:
            return
        arrived = time.perf_counter()
        pending += os.read(master, 256)
        while len(pending) >= 8:
            frame, pending = pending[:8], pending[8:]
            reply = reply_to(frame, coils)
            wait_until(arrived + 8 * char_s + gap_s + len(reply) * char_s)
            os.write(master, reply)


if __name__ == "__main__":
    far, near = pty.openpty()
    tty.setraw(near)
    print(os.ttyname(near), flush=True)
    serve(far, int(sys.argv[1]))
