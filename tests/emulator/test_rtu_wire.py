"""The Modbus slaves as seen on the wire, by raw bytes."""

import os
import time

import pytest

from .conftest import crc, rtu


def test_published_request_for_a_700_ms_pulse(bench):
    """The makers' own example, CRC included; the contact closes and opens without us."""
    request = bytes.fromhex("0105020000078DB0")
    assert bench.line("keys").ask(request, 8) == request
    assert bench.do("state")["keys_closed"] == ["1"]
    time.sleep(0.6)
    assert bench.do("state")["keys_closed"] == ["1"]
    time.sleep(0.2)
    assert bench.do("state")["keys_closed"] == []


def test_a_pulse_is_cut_short_by_an_off(bench):
    bench.line("keys").ask(rtu(1, 5, 2, 1, 0, 50), 8)
    bench.relay(1, False)
    assert bench.do("state")["keys_closed"] == []


def test_all_relays_toggle_and_read_back(bench):
    line = bench.line("keys")
    line.ask(rtu(1, 5, 0, 0xFF, 0xFF, 0), 8)
    assert line.ask(rtu(1, 1, 0, 0, 0, 8), 6)[3] == 0xFF
    line.ask(rtu(1, 5, 0, 2, 0x55, 0), 8)
    assert line.ask(rtu(1, 1, 0, 0, 0, 8), 6)[3] == 0b11111011
    line.ask(rtu(1, 15, 0, 0, 0, 8, 1, 0b00000101), 8)
    assert line.ask(rtu(1, 1, 0, 0, 0, 8), 6)[3] == 0b00000101
    line.ask(rtu(1, 5, 0, 0xFF, 0, 0), 8)
    assert line.ask(rtu(1, 1, 0, 0, 0, 8), 6)[3] == 0


def test_broadcast_acts_and_is_not_answered(bench):
    line = bench.line("keys")
    assert line.ask(rtu(0, 5, 0, 3, 0xFF, 0), 8, timeout_s=0.1) == b""
    assert bench.do("state")["keys_closed"] == ["4"]
    line.ask(rtu(0, 5, 0, 0xFF, 0, 0), 8, timeout_s=0.1)
    assert bench.do("state")["keys_closed"] == []


def test_address_and_version_registers(bench):
    line = bench.line("keys")
    assert line.ask(rtu(0, 3, 0x40, 0, 0, 1), 7) == rtu(1, 3, 2, 0, 1)
    assert line.ask(rtu(1, 3, 0x80, 0, 0, 1), 7) == rtu(1, 3, 2, 0, 200)


@pytest.mark.parametrize(
    ("device", "body", "code"),
    [
        ("keys", (1, 2, 0, 0, 0, 8), 1),
        ("keys", (1, 5, 0, 8, 0xFF, 0), 2),
        ("keys", (1, 5, 0, 0, 0x12, 0x34), 3),
        ("keys", (1, 1, 0, 4, 0, 8), 2),
        ("keys", (1, 0x2B, 14, 1, 0), 1),
        ("inputs", (1, 5, 0, 0, 0xFF, 0), 1),
        ("inputs", (1, 1, 0, 0, 0, 8), 1),
        ("inputs", (1, 2, 0, 60, 0, 8), 2),
        ("inputs", (1, 2, 0, 0, 0, 0), 3),
        ("inputs", (1, 2, 0, 0, 0xFF, 0), 3),
    ],
)
def test_exceptions_as_specified(bench, device, body, code):
    assert bench.line(device).ask(rtu(*body), 5) == rtu(1, body[1] | 0x80, code)


@pytest.mark.parametrize(
    "frame",
    [
        rtu(2, 2, 0, 0, 0, 8),
        rtu(1, 2, 0, 0, 0, 8)[:-1] + b"\x00",
        rtu(1, 2, 0, 0, 0, 8)[:-3],
        b"\x00",
        b"\xff" * 300,
    ],
    ids=["absent unit", "bad CRC", "cut short", "one byte", "noise"],
)
def test_silence_where_a_slave_is_silent(bench, frame):
    line = bench.line("inputs")
    assert line.ask(frame, 13, timeout_s=0.08) == b""
    assert len(line.ask(rtu(1, 2, 0, 0, 0, 64), 13)) == 13, "it must be back after the silence"


def test_noise_before_a_frame_spoils_it_and_silence_resynchronises(bench):
    line = bench.line("inputs")
    assert line.ask(b"\x55" + rtu(1, 2, 0, 0, 0, 8), 6, timeout_s=0.08) == b""
    os.write(line.fd, b"\x55")
    time.sleep(0.02)
    assert len(line.ask(rtu(1, 2, 0, 0, 0, 8), 6)) == 6


def test_a_frame_in_two_pieces_without_silence_is_one_frame(start, rig_file):
    emulated = start(rig_file("[devices.inputs]\nbaud = 2400\n"))
    line = emulated.line("inputs", 2400)
    frame = rtu(1, 2, 0, 0, 0, 8)
    os.write(line.fd, frame[:3])
    time.sleep(0.004)
    assert len(line.ask(frame[3:], 6)) == 6


def test_replies_are_paced_by_the_baud_rate(start, rig_file):
    """At 1200 baud 8 + 13 characters and two silences of 3.5 take 233 ms at least."""
    emulated = start(rig_file("[devices.inputs]\nbaud = 1200\n"))
    line = emulated.line("inputs", 1200)
    began = time.monotonic()
    reply = line.ask(rtu(1, 2, 0, 0, 0, 64), 13)
    assert len(reply) == 13
    assert time.monotonic() - began >= (8 + 3.5 + 13) * 10 / 1200


def test_a_wrong_baud_rate_is_met_with_silence(bench):
    from .conftest import Line

    line = Line(bench.endpoints["inputs"], 9600)
    try:
        assert line.ask(rtu(1, 2, 0, 0, 0, 64), 13, timeout_s=0.1) == b""
    finally:
        line.close()
    line = Line(bench.endpoints["inputs"], 115200)
    try:
        assert len(line.ask(rtu(1, 2, 0, 0, 0, 64), 13)) == 13
    finally:
        line.close()


def test_a_port_survives_many_openings(bench):
    from .conftest import Line

    for _ in range(20):
        line = Line(bench.endpoints["inputs"])
        assert len(line.ask(rtu(1, 2, 0, 0, 0, 64), 13)) == 13
        line.close()


def test_two_units_on_one_bus(start, rig_file):
    emulated = start(
        rig_file(
            """
            [emulator.options.buses]
            rs485 = ["keys", "inputs"]
            [devices.inputs]
            unit = 7
            """
        )
    )
    assert emulated.endpoints["keys"] == emulated.endpoints["inputs"]
    line = emulated.line("keys")
    assert len(line.ask(rtu(7, 2, 0, 0, 0, 64), 13)) == 13
    assert line.ask(rtu(1, 1, 0, 0, 0, 8), 6) == rtu(1, 1, 1, 0)
    assert line.ask(rtu(3, 1, 0, 0, 0, 8), 6, timeout_s=0.1) == b""


def test_inputs_in_the_coil_area(start, rig_file):
    emulated = start(rig_file('[devices.inputs]\narea = "coil"\nbase = 16\n'))
    line = emulated.line("inputs")
    reply = line.ask(rtu(1, 1, 0, 16, 0, 64), 13)
    assert reply[3 + 63 // 8] & 0x80, "the reference on the last input is high"
    assert line.ask(rtu(1, 2, 0, 16, 0, 64), 5) == rtu(1, 0x82, 1)
    assert line.ask(rtu(1, 1, 0, 0, 0, 64), 5) == rtu(1, 0x81, 2)


def test_crc_of_the_specification():
    assert crc(bytes.fromhex("010200000008")).hex() == "79cc"
