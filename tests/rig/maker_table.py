"""A maker's own simulation of its table, in the emulator's place: written from the parts' public
protocols and the rig file alone.

usage: maker_table.py RIGFILE [--fault swap:AREA,AREA | dead-key:KEY]...

Serves the relays, inputs and instruments that the rig file names, each on a wire of its own, and a
control channel that refuses everything. `[emulator.options]` holds what the protocols leave open:
`slow_ms` before a reply, replies in pieces (`piece`, bytes), bytes of an idling line before it
(`idle`, hexadecimal), `small_hex`, Numato's line end (`newline`) and slow echo (`echo_ms`), numbers
(`number`, a % format) and line ends (`scpi_end`) over SCPI, ICP DAS' dialect (`dcon`).
"""

from __future__ import annotations

import json
import os
import pty
import re
import socket
import sys
import threading
import time
import tomllib
import tty
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

RIG: dict[str, Any] = tomllib.loads(Path(sys.argv[1]).read_text())
OPEN: dict[str, Any] = RIG["emulator"].get("options", {})
FAULTS = dict(text.split(":", 1) for text in sys.argv[3::2])
SWAPPED = FAULTS.get("swap", "-,-").split(",")


class Table:
    """Three numbers light what wins; a clear key puts the lamps out."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.lit: set[str] = set()
        self.by_entry = RIG["table"].get("commit") == "entry-key"

    def press(self, key: str) -> None:
        if key == FAULTS.get("dead-key"):
            return
        if key == "clear":
            self.numbers, self.lit = [], set()
        elif key.isdigit() and len(self.numbers) < 3:
            self.numbers.append(int(key))
        if len(self.numbers) == 3 and (key == "enter" or not self.by_entry):
            self.lit = self.winning(sorted(self.numbers))

    @staticmethod
    def winning(dice: list[int]) -> set[str]:
        low, middle, high = dice
        total, doubled = sum(dice), middle if middle in (low, high) else 0
        lit = {f"single-{n}" for n in dice} | {f"pair-{a}-{b}" for a, b in combinations(dice, 2)}
        lit -= {f"pair-{n}-{n}" for n in dice}
        lit |= {f"total-{total}"} if 3 < total < 18 else set()
        if low == high:
            lit |= {"any-triple", f"triple-{low}"}
        else:
            lit |= {"small" if total < 11 else "big"}
        return lit | ({f"double-{doubled}"} if doubled else set())


TABLE = Table()
KEY_OF = {place: key for key, place in RIG["keys"]["map"].items()}
AREA_OF = {place: area for area, place in RIG["lamps"]["map"].items()}


def sensed(place: str) -> bool:
    area = AREA_OF.get(place, "")
    if area in SWAPPED:
        area = SWAPPED[1 - SWAPPED.index(area)]
    return area in TABLE.lit


class Contacts:
    """A device's outputs, by channel; one that closes presses its key."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.closed: set[str] = set()

    def put(self, channel: str, on: bool) -> None:
        if on and channel not in self.closed:
            TABLE.press(KEY_OF.get(f"{self.name}:{channel}", "none"))
        (self.closed.add if on else self.closed.discard)(channel)

    def flash(self, channel: str, seconds: float) -> None:
        self.put(channel, True)
        timer = threading.Timer(seconds, self.put, (channel, False))
        timer.daemon = True
        timer.start()


def say(write: Callable[[bytes], object], reply: bytes) -> None:
    time.sleep(OPEN.get("slow_ms", 0) / 1000)
    piece = OPEN.get("piece", len(reply)) or 1
    for at in range(0, len(reply), piece):
        write(reply[at : at + piece])
        time.sleep(0.002 if piece < len(reply) else 0)


def on_pty(serve: Callable[[int], None]) -> str:
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    threading.Thread(target=serve, args=(ours,), daemon=True).start()
    return os.ttyname(theirs)


def on_tcp(answer: Callable[[str], str | None], end: str = "\n") -> str:
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(link: socket.socket) -> None:
        for line in link.makefile():
            reply = answer(line.strip())
            if reply is not None:
                say(link.sendall, (reply + end).encode())

    def accept() -> None:
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return f"127.0.0.1:{listener.getsockname()[1]}"


def read(fd: int, size: int = 256) -> bytes:
    while True:
        try:
            return os.read(fd, size)
        except OSError:  # nobody has the far end open
            time.sleep(0.02)


# -- Modbus RTU: Waveshare relays and inputs, and plain inputs


def crc(data: bytes) -> bytes:
    value = 0xFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xA001 if value & 1 else 0)
    return value.to_bytes(2, "little")


def modbus(name: str, device: dict[str, Any]) -> str:
    outputs = Contacts(name)
    relays = device.get("channels", 8) if device["driver"] == "waveshare-relay" else 0
    inputs = 0 if relays else device.get("channels", 8)

    def pdu(asked: bytes) -> bytes:
        function, start, count = asked[0], *(int.from_bytes(asked[i : i + 2]) for i in (1, 3))
        if function == (1 if relays else 2):
            if not 0 < count <= (relays or inputs) - start:
                return bytes((function | 0x80, 2))
            on = [
                str(n) in outputs.closed if relays else sensed(f"{name}:{n}")
                for n in range(start, start + count)
            ]
            packed = sum(bit << n for n, bit in enumerate(on))
            size = (count + 7) // 8
            return bytes((function, size)) + packed.to_bytes(size, "little")
        if function == 5 and start < relays and count in (0, 0xFF00):
            outputs.put(str(start), bool(count))
            return asked
        if function == 5 and 0 <= start - 0x200 < relays:
            outputs.flash(str(start - 0x200), count / 10)
            return asked
        return bytes((function | 0x80, 1))

    def serve(fd: int) -> None:
        while True:
            frame = read(fd)
            if crc(frame[:-2]) == frame[-2:] and frame[0] == device.get("unit", 1):
                reply = frame[:1] + pdu(frame[1:-2])
                os.write(fd, bytes.fromhex(OPEN.get("idle", "")))
                say(lambda data: os.write(fd, data), reply + crc(reply))

    return on_pty(serve)


# -- ASCII: Advantech and ICP DAS modules; Numato modules


def adam(name: str, device: dict[str, Any]) -> str:
    outputs, address, dcon = Contacts(name), device.get("module", 1), OPEN.get("dcon")

    def answer(text: str) -> str | None:
        kind, called, rest = text[:1], text[1:3], text[3:]
        if called != f"{address:02X}":
            return None
        if (kind, rest) == ("$", "6"):
            return f"!{sum(1 << int(c[4:]) for c in outputs.closed):02X}0000"
        if (kind, rest) == ("$", "M"):
            return f"!{address:02X}{device['model']}"
        if kind == "#" and re.fullmatch("1[0-7]0[01]", rest):
            outputs.put(f"out-{rest[1]}", rest[3] == "1")
            return ">"
        if dcon and kind == "~" and re.fullmatch("1|3[01]..", rest) and rest[2:] != "00":
            return f"!{address:02X}"
        return "?" if dcon else f"?{address:02X}"

    def serve(fd: int) -> None:
        heard = b""
        while True:
            heard += read(fd)
            while b"\r" in heard:
                line, _, heard = heard.partition(b"\r")
                if device.get("checksum"):
                    line, given = line[:-2], line[-2:]
                    if b"%02X" % (sum(line) & 0xFF) != given:
                        continue
                reply = answer(line.decode())
                if reply is None:
                    continue
                reply = reply.lower() if OPEN.get("small_hex") else reply
                told = reply.encode()
                told += b"%02x" % (sum(told) & 0xFF) if device.get("checksum") else b""
                os.write(fd, bytes.fromhex(OPEN.get("idle", "")))
                say(lambda data: os.write(fd, data), told + b"\r")

    return on_pty(serve)


def numato(name: str, device: dict[str, Any]) -> str:
    outputs, newline = Contacts(name), OPEN.get("newline", "\n\r").encode()
    letters = "0123456789ABCDEFGHIJKLMNOPQRSTUV"

    def answer(line: str) -> str:
        words = line.split()
        if words[:1] == ["relay"]:
            channel = f"relay-{letters.index(words[2])}"
            if words[1] == "read":
                return "on" if channel in outputs.closed else "off"
            outputs.put(channel, words[1] == "on")
        return {"ver": "00000008", "id get": "00000000"}.get(line, "")

    def serve(fd: int) -> None:
        line = b""
        while True:
            byte = read(fd, 1)
            time.sleep(OPEN.get("echo_ms", 0) / 1000)
            if byte != b"\r":
                line += byte
                os.write(fd, byte)
                continue
            told, line = answer(line.decode()).encode(), b""
            say(lambda data: os.write(fd, data), newline + (told and told + newline) + b">")

    return on_pty(serve)


# -- SCPI: a data logger, a supply


def logger(name: str, device: dict[str, Any]) -> str:
    def answer(line: str) -> str | None:
        if line == "*IDN?":
            return f"HEWLETT-PACKARD, {device['dialect']} ,0, 13-2-2"
        channels = re.findall(r"\d+", line.partition("(@")[2])
        if line.upper().startswith("MEAS:VOLT:DC? (@"):
            volts = [4.98 if sensed(f"{name}:{c}") else 0.012 for c in sorted(channels, key=int)]
            return ",".join(OPEN.get("number", "%+.8E") % each for each in volts)
        if line.upper().startswith("SENS:DIG:DATA:WORD? (@"):
            bits = sum(sensed(f"{name}:{channels[0]}.{bit}") << bit for bit in range(16))
            return OPEN.get("number", "%+.8E") % bits
        return None

    return on_tcp(answer, OPEN.get("scpi_end", "\n"))


def supply(_name: str, device: dict[str, Any]) -> str:
    known = {
        r"\*IDN\?": "MAKER , SUPPLY,0,1.0",
        r"MEAS:VOLT\?.*": OPEN.get("number", "%.4f") % device["volts"],
        r"MEAS:CURR\?.*": OPEN.get("number", "%.4f") % 0.25,
        r"VOLT:PROT:TRIP\?.*": "0",
        r":MEAS:ALL\? CH\d": f"{device['volts']:.4f},0.2500,3.000",
        r":STAT:QUES:INST:ISUM\d:COND\?": "0",
        r"SYST:STAT\?": "0x34",
    }

    def answer(line: str) -> str | None:
        return next((told for form, told in known.items() if re.fullmatch(form, line)), None)

    return on_tcp(answer, OPEN.get("scpi_end", "\n"))


SERVERS = {
    "waveshare-relay": modbus,
    "waveshare-inputs": modbus,
    "modbus-rtu": modbus,
    "adam-4000": adam,
    "numato": numato,
    "scpi-daq": logger,
    "scpi-supply": supply,
}


def main() -> None:
    endpoints = {
        name: SERVERS[device["driver"]](name, device)
        for name, device in RIG["devices"].items()
        if device["driver"] in SERVERS
    }
    control = on_tcp(lambda line: json.dumps({"ok": False, "why": f"no {json.loads(line)['do']}"}))
    print(json.dumps({"endpoints": endpoints, "control": control}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
