"""Faults of the link: what is on the wire, and that the bench behind it is not touched."""

import os
import socket
import time
from pathlib import Path

import pytest
import serial

from .conftest import Line, crc, rtu

READ = rtu(1, 2, 0, 0, 0, 64)


def test_silent_device_is_silent_alone(bench):
    bench.arm("F31")
    assert bench.line("inputs").ask(READ, 13, timeout_s=0.1) == b""
    bench.press("1")
    assert bench.do("state")["entered"] == ["1"]


def test_module_by_number(bench):
    bench.arm("F18", module=1)
    assert bench.line("inputs").ask(READ, 13, timeout_s=0.1) == b""
    assert not bench.ask({"do": "arm", "fault": "F18", "with": {"module": 2}})["ok"]


def test_corrupt_replies_have_their_length_and_a_bad_crc(bench):
    bench.arm("F32", device="inputs", rate=0.5)
    replies = [bench.line("inputs").ask(READ, 13) for _ in range(40)]
    assert {len(reply) for reply in replies} == {13}
    good = [crc(reply[:-2]) == reply[-2:] for reply in replies]
    assert 5 < sum(good) < 35


def test_reply_to_the_nth_press_is_lost_after_it_took_effect(bench):
    bench.arm("F33", device="keys", nth=2)
    bench.press("1")
    assert bench.line("keys").ask(rtu(1, 5, 0, 1, 0xFF, 0), 8, timeout_s=0.1) == b""
    bench.relay(1, False)
    bench.press("3")
    assert bench.do("state")["entered"] == ["1", "2", "3"]


def test_late_reply_comes_after_the_next_question(bench):
    bench.arm("F34", device="inputs", ms=300)
    line = bench.line("inputs")
    began = time.monotonic()
    assert line.ask(READ, 13, timeout_s=0.15) == b""
    os.write(line.fd, rtu(1, 2, 0, 0, 0, 8))
    first = line.read(13, 1.0)
    assert time.monotonic() - began >= 0.3
    assert first[:3] == bytes([1, 2, 8]), "the first question's answer comes first"
    assert line.read(6, 1.0)[:3] == bytes([1, 2, 1])


@pytest.mark.parametrize(("kind", "place"), [("unit", 0), ("function", 1)])
def test_well_formed_reply_to_something_else(bench, kind, place):
    bench.arm("F35", device="inputs", kind=kind)
    reply = bench.line("inputs").ask(READ, 13)
    assert crc(reply[:-2]) == reply[-2:]
    assert reply[place] != READ[place]


def test_short_frame(bench):
    bench.arm("F35", device="inputs", kind="short")
    assert len(bench.line("inputs").ask(READ, 13, timeout_s=0.1)) == 10


def test_exception_reply(bench):
    bench.arm("F36", device="keys", code=4)
    assert bench.line("keys").ask(rtu(1, 5, 0, 0, 0xFF, 0), 8, timeout_s=0.1) == rtu(1, 0x85, 4)
    assert bench.do("state")["keys_closed"] == []


def test_device_at_another_baud_rate(bench):
    bench.arm("F37", device="inputs", baud=19200)
    assert bench.line("inputs").ask(READ, 13, timeout_s=0.1) == b""
    line = Line(bench.endpoints["inputs"], 19200)
    try:
        assert len(line.ask(READ, 13)) == 13
    finally:
        line.close()


def test_unplugged_and_plugged_in_again(start):
    emulated = start()
    port = Path(emulated.endpoints["inputs"])
    line = Line(str(port))
    emulated.arm("F38", device="inputs", after=3, back_ms=400)
    for _ in range(2):
        assert len(line.ask(READ, 13)) == 13
    assert line_is_dead(line)
    assert not port.exists()
    line.close()
    deadline = time.monotonic() + 5
    while not port.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    line = Line(str(port))
    assert len(line.ask(READ, 13)) == 13
    line.close()


def line_is_dead(line: Line) -> bool:
    try:
        for _ in range(20):
            line.ask(READ, 13, timeout_s=0.05)
    except OSError:
        return True
    return False


def test_unplug_by_hand(start):
    emulated = start()
    port = Path(emulated.endpoints["keys"])
    emulated.do("unplug", device="keys")
    deadline = time.monotonic() + 5
    while port.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not port.exists()
    emulated.do("plug", device="keys")
    while not port.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert emulated.line("keys").ask(rtu(1, 1, 0, 0, 0, 8), 6) == rtu(1, 1, 1, 0)


def test_an_unplugged_tcp_device_keeps_its_port(start):
    """Fails if another program can take the port meanwhile, so that plugging in again finds none;
    or if an unplugged device still lets clients in."""
    emulated = start()
    host, port = emulated.endpoints["desk"].split(":")
    emulated.do("unplug", device="desk")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), 2).close()
    with socket.socket() as another, pytest.raises(OSError, match="in use"):
        another.bind((host, int(port)))
    emulated.do("plug", device="desk")
    with socket.create_connection((host, int(port)), 2) as desk:
        desk.sendall(b'{"ask": "Is it so?", "clause": "ny.e.1"}\n')
        assert b"yes" in desk.recv(100)


def test_port_in_use_by_another(bench):
    bench.arm("F39", device="keys")
    with pytest.raises(serial.SerialException):
        serial.Serial(bench.endpoints["keys"], 115200, exclusive=True)
    bench.do("disarm")
    serial.Serial(bench.endpoints["keys"], 115200, exclusive=True).close()
