"""How long the wire takes: entry sweeps against the wire's own time, and against two libraries.

usage: python -m tests.benchmarks.wire [RESULTS]   (216 by default; dwell is left out everywhere)

A sweep enters each result with three key presses, reads 64 inputs and clears. Floor: all bytes at
10 bits a character, and the silence t3.5 before each request and before each reply. All figures
are of one run on one machine; only their ratios say something about another.
"""

from __future__ import annotations

import contextlib
import logging
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import minimalmodbus
from pymodbus.client import ModbusSerialClient

from harness.rig.contacts import Contact
from harness.rig.device import Surroundings
from harness.rig.drivers import driver_class

SLAVE = Path(__file__).with_name("paced_slave.py")
INPUTS = [str(n) for n in range(64)]
CLEAR = 6
Sweep = Callable[[int], None]
logging.getLogger("pymodbus").addHandler(logging.NullHandler())


def floor_s(results: int, baud: int, exchanges: int) -> float:
    """Give the wire's own time of a sweep in s."""
    char_s = 10 / baud
    gap_s = 0.00175 if baud > 19200 else 3.5 * char_s
    writes = exchanges - 1
    return results * (char_s * (writes * 16 + 8 + 13) + exchanges * 2 * gap_s)


@contextmanager
def slave(baud: int) -> Iterator[str]:
    """Run the slave; give its port. baud 0: unpaced."""
    process = subprocess.Popen(
        [sys.executable, str(SLAVE), str(baud)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        yield process.stdout.readline().decode().strip()
    finally:
        process.stdin.close()
        process.wait(5)
        process.stdout.close()


def entries(results: int) -> Iterator[tuple[int, ...]]:
    """Give the keys of each result."""
    for n, dice in enumerate(product(range(6), repeat=3)):
        if n == results:
            return
        yield (*dice, CLEAR)


@contextmanager
def ours(port: str, baud: int, pulse: str) -> Iterator[Sweep]:
    """The project's drivers."""
    around = Surroundings()
    relay, inputs = driver_class("waveshare-relay"), driver_class("modbus-rtu")
    keys = relay.open(
        "keys",
        relay.settings_type(driver="waveshare-relay", port=port, baud=baud, pulse=pulse),
        around,
    )
    lamps = inputs.open(
        "lamps",
        inputs.settings_type(driver="modbus-rtu", port=port, baud=baud, channels=64),
        around,
    )
    # a timed pulse's 100 ms are the key's dwell, not the wire's time: they are left out
    timed = pulse == "timed"
    contacts = [Contact(str(n), keys, str(n), 0.0, step_s=None) for n in range(8)]

    def press(key: int) -> None:
        if timed:
            keys.pulse(str(key), 0.1)
        else:
            contacts[key].press()

    def sweep(results: int) -> None:
        for a, b, c, clear in entries(results):
            press(a)
            press(b)
            press(c)
            lamps.read(INPUTS)
            press(clear)

    try:
        yield sweep
    finally:
        around.close()


@contextmanager
def by_minimalmodbus(port: str, baud: int) -> Iterator[Sweep]:
    """minimalmodbus on on/off coils."""
    unit = minimalmodbus.Instrument(port, 1)
    unit.serial.baudrate = baud
    unit.serial.timeout = 0.5

    def sweep(results: int) -> None:
        for *dice, clear in entries(results):
            for key in dice:
                unit.write_bit(key, 1)
                unit.write_bit(key, 0)
            unit.read_bits(0, 64, functioncode=2)
            unit.write_bit(clear, 1)
            unit.write_bit(clear, 0)

    try:
        yield sweep
    finally:
        unit.serial.close()


@contextmanager
def by_pymodbus(port: str, baud: int) -> Iterator[Sweep]:
    """pymodbus on on/off coils, with no retries."""
    client = ModbusSerialClient(port, baudrate=baud, timeout=0.5, retries=0)
    client.connect()

    def sweep(results: int) -> None:
        for *dice, clear in entries(results):
            for key in dice:
                client.write_coil(key, True, device_id=1)
                client.write_coil(key, False, device_id=1)
            client.read_discrete_inputs(0, count=64, device_id=1)
            client.write_coil(clear, True, device_id=1)
            client.write_coil(clear, False, device_id=1)

    try:
        yield sweep
    finally:
        client.close()


def timed_s(sweep: Sweep, results: int) -> float:
    """Give the time of a sweep in s."""
    began = time.perf_counter()
    sweep(results)
    return time.perf_counter() - began


def main(results: int) -> None:
    """Print paced sweeps against the floor, and unpaced ones against the libraries."""
    print(f"{results} results: 3 keys, one read of 64 inputs, clear; times in s, without dwell")
    print(f"{'paced':28}{'floor':>8}{'took':>8}{'ratio':>8}   goal 1.10")
    for baud in (9600, 115200):
        for pulse, exchanges, words in (
            ("coil", 9, "on/off coils, 9 exchanges"),
            ("timed", 5, "timed pulses, 5 exchanges"),
        ):
            with slave(baud) as port, ours(port, baud, pulse) as sweep:
                took, floor = timed_s(sweep, results), floor_s(results, baud, exchanges)
            name = f"{baud} {words}"
            print(f"{name:34.34}{floor:8.2f}{took:8.2f}{took / floor:8.3f}", flush=True)
    print("\nunpaced, on/off coils           ours  minimalmodbus  pymodbus   ratios (goal: < 1)")
    for baud in (9600, 115200):
        took = []
        # each in turn, twice, the better counts: a busy machine then slows all of them alike
        for make in (lambda p, b: ours(p, b, "coil"), by_minimalmodbus, by_pymodbus):
            best = float("inf")
            with slave(0) as port, contextlib.ExitStack() as stack:
                sweep = stack.enter_context(make(port, baud))
                for _ in range(2):
                    best = min(best, timed_s(sweep, results))
            took.append(best)
        print(
            f"{baud:<26}{took[0]:10.2f}{took[1]:15.2f}{took[2]:10.2f}"
            f"   {took[0] / took[1]:.2f}  {took[0] / took[2]:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 216)
