"""The instruments and adapters as raw bytes on their wires, written from their makers' manuals."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator

import cv2
import numpy as np
import pytest
import serial
from pymodbus.client import ModbusTcpClient

from harness.vision.lamps import find_markers

from .conftest import Emulated, Line, written


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[Emulated]:
    path = tmp_path_factory.mktemp("rig") / "rig.toml"
    quick = "[emulator.options]\nstroke_ms = 120\nthrown_ms = 60\nrest_ms = 50\n"
    emulated = Emulated(written(path, quick, "emulated-instruments.toml"))
    yield emulated
    emulated.stop()


@pytest.fixture
def bench(shared) -> Iterator[Emulated]:
    yield shared
    shared.do("disarm")
    scpi(shared, "supply", ":VOLT 12;:OUTP ON;*CLS")
    time.sleep(0.5)
    shared.do("press", key="clear", ms=30)
    time.sleep(0.05)


def scpi(bench: Emulated, device: str, *lines: str) -> list[str]:
    host, port = bench.endpoints[device].split(":")
    answers = []
    with socket.create_connection((host, int(port)), timeout=3) as link, link.makefile("rwb") as f:
        for line in lines:
            f.write(line.encode() + b"\n")
            f.flush()
            if "?" in line:
                answers.append(f.readline().decode().rstrip("\n"))
        with contextlib.suppress(TimeoutError):
            if not lines[-1].endswith("?"):
                f.write(b"*OPC?\n")
                f.flush()
                f.readline()
    return answers


def adam(line: Line, text: str, checksum: bool = True, timeout_s: float = 0.5) -> bytes:
    data = text.encode()
    if checksum:
        data += b"%02X" % (sum(data) & 0xFF)
    os.write(line.fd, data + b"\r")
    reply = b""
    deadline = time.monotonic() + timeout_s
    while not reply.endswith(b"\r") and time.monotonic() < deadline:
        reply += line.read(1, 0.02)
    return reply


# -- ADAM-4000


def test_adam_reads_its_inputs_with_checksum(bench):
    line = bench.line("readback", 9600)
    assert adam(line, "$016") == b"!80000049\r", "only the high reference, channel 15"
    assert adam(line, "$01M") == b"!014051" + b"%02X\r" % (sum(b"!014051") & 0xFF)


def test_adam_is_silent_on_what_is_wrong_on_the_wire(bench):
    line = bench.line("readback", 9600)
    assert adam(line, "$016", checksum=False, timeout_s=0.15) == b""
    assert adam(line, "$026", timeout_s=0.15) == b"", "another module's address"
    assert adam(line, "nonsense", timeout_s=0.15) == b""
    assert adam(line, "$016") != b""


def test_adam_says_that_a_command_is_invalid(bench):
    assert adam(bench.line("readback", 9600), "$01Z")[:3] == b"?01"
    assert adam(bench.line("readback", 9600), "#011001")[:3] == b"?01", "it has no outputs"


def test_adam_outputs_and_the_host_watchdog(start, rig_file):
    """An armed watchdog lets the keys go when the host falls silent, and then ignores outputs."""
    emulated = start(
        rig_file(
            """
            [devices.keys2]
            driver = "adam-4000"
            port = "emulated"
            module = 10
            model = "4068"
            [keys.map]
            1 = "keys2:out-0"
            2 = "keys2:out-1"
            """
        )
    )
    line = emulated.line("keys2", 9600)
    assert adam(line, "#0A1001", checksum=False) == b">\r"
    assert adam(line, "$0A6", checksum=False) == b"!010000\r"
    assert emulated.do("state")["keys_closed"] == ["1"]
    assert adam(line, "#0A0002", checksum=False) == b">\r"
    assert emulated.do("state")["keys_closed"] == ["2"]
    assert adam(line, "~0A3103", checksum=False) == b"!0A\r"
    for _ in range(5):
        time.sleep(0.1)
        os.write(line.fd, b"~**\r")
    assert emulated.do("state")["keys_closed"] == ["2"]
    time.sleep(0.5)
    assert emulated.do("state")["keys_closed"] == []
    assert adam(line, "#0A1001", checksum=False) == b"!\r"
    assert adam(line, "~0A1", checksum=False) == b"!0A\r"
    assert adam(line, "#0A1001", checksum=False) == b">\r"


# -- Numato


def test_numato_echoes_answers_and_prompts(bench):
    line = bench.line("usb", 19200)
    assert line.ask(b"relay read 0\r", 60, 0.1) == b"relay read 0\r\n\roff\n\r>"
    assert line.ask(b"relay on 1\r", 60, 0.1) == b"relay on 1\r\n\r>"
    assert line.ask(b"relay readall\r", 60, 0.1) == b"relay readall\r\n\r2\n\r>"
    assert line.ask(b"relay off 1\r", 60, 0.1) == b"relay off 1\r\n\r>"
    assert line.ask(b"gpio readall\r", 60, 0.1) == b"gpio readall\r\n\r00\n\r>"
    assert line.ask(b"gpio read 9\r", 60, 0.1) == b"gpio read 9\r\n\r>", "it has eight"


def test_numato_of_more_than_sixteen_channels_and_another_firmware(start, rig_file):
    emulated = start(
        rig_file(
            """
            [emulator.options]
            numato_newline = "cr"
            numato_notifications = 1.0
            [devices.usb]
            driver = "numato"
            port = "emulated"
            relays = 32
            [keys.map]
            3 = "usb:relay-31"
            """
        )
    )
    line = emulated.line("usb", 19200)
    assert line.ask(b"relay on V\r", 60, 0.1) == b"relay on V\r\r#gpio changed\r>"
    assert emulated.do("state")["keys_closed"] == ["3"]
    assert b"80000000" in line.ask(b"relay readall\r", 60, 0.1)


# -- our own adapters


def ask(line: Line, number: int, body: str) -> bytes:
    text = b"#%02X %b" % (number, body.encode())
    os.write(line.fd, text + b"*%02X\n" % (sum(text) & 0xFF))
    reply = b""
    while not reply.endswith(b"\n"):
        got = line.read(1, 0.3)
        if not got:
            break
        reply += got
    assert not reply or reply[reply.rindex(b"*") + 1 : -1] == b"%02X" % (
        sum(reply[: reply.rindex(b"*")]) & 0xFF
    )
    return reply.partition(b"*")[0]


def test_terminal_adapter_tells_what_was_taken(bench):
    line = bench.line("terminal")
    before = int(ask(line, 1, "KEYS?").split()[2])
    for number, key in enumerate("112", start=2):
        assert ask(line, number, f"PRESS {key} 20") == b"#%02X OK" % number
        time.sleep(0.06)
    assert ask(line, 7, "KEYS?") == b"#07 OK %d 1 1 2" % (before + 3)
    assert ask(line, 8, "LIT?") == b"#08 OK 6"


def test_a_repeated_request_is_not_carried_out_again(bench):
    line = bench.line("terminal")
    ask(line, 0x21, "PRESS 4 20")
    time.sleep(0.06)
    assert ask(line, 0x21, "PRESS 4 20") == b"#21 OK"
    time.sleep(0.06)
    assert ask(line, 0x22, "KEYS?").split()[3:] == [b"4"]


def test_adapter_errors(bench):
    line = bench.line("terminal")
    assert ask(line, 0x31, "DANCE") == b"#31 ERR 1"
    assert ask(line, 0x32, "PRESS 9 20") == b"#32 ERR 2"
    assert ask(line, 0x33, "PRESS 1 0") == b"#33 ERR 2"
    assert line.ask(b"#34 ID?*00\n", 10, 0.1) == b"", "a wrong sum is met with silence"


def test_shaker_adapter_runs_and_counts(bench):
    line = bench.line("shaker")
    state = ask(line, 1, "STATE?").split()
    strokes = int(ask(line, 2, "STROKES?").split()[2])
    assert state[2] == b"IDLE"
    assert ask(line, 3, "START") == b"#03 OK"
    assert ask(line, 4, "START") == b"#04 ERR 3"
    assert ask(line, 5, "STATE?").split()[2] == b"RUN"
    time.sleep(1)
    assert ask(line, 6, "STATE?").split()[2:] == [b"IDLE", b"%d" % (int(state[3]) + 1)]
    assert ask(line, 7, "STROKES?") == b"#07 OK %d" % (strokes + 3)
    assert ask(line, 8, "COVER ON") == b"#08 OK"
    assert bench.do("state")["cover"]
    assert ask(line, 9, "COVER OFF") == b"#09 OK"


def test_shaker_fault_line_over_the_adapter(bench):
    bench.arm("F47")
    line = bench.line("shaker")
    ask(line, 1, "START")
    time.sleep(0.1)
    assert ask(line, 2, "STATE?").split()[2] == b"FAULT"


# -- Modbus/TCP


@pytest.fixture
def tcp(bench):
    host, port = bench.endpoints["inputs"].split(":")
    client = ModbusTcpClient(host, port=int(port), timeout=1, retries=0)
    assert client.connect()
    yield client
    client.close()


def test_pymodbus_client_reads_the_references(tcp):
    bits = tcp.read_discrete_inputs(0, count=64, device_id=1).bits
    assert not bits[62]
    assert bits[63]
    assert tcp.read_coils(0, count=8, device_id=1).exception_code == 1
    assert tcp.read_discrete_inputs(60, count=8, device_id=1).exception_code == 2


def test_another_unit_is_not_answered(bench):
    host, port = bench.endpoints["inputs"].split(":")
    request = bytes.fromhex("000100000006 07 02 0000 0040".replace(" ", ""))
    with socket.create_connection((host, int(port)), timeout=0.2) as link:
        link.sendall(request)
        with pytest.raises(TimeoutError):
            link.recv(100)
        link.sendall(request[:6] + b"\x01" + request[7:9])
        link.sendall(request[9:])
        reply = link.recv(100)
    assert reply[:9] == bytes.fromhex("00010000000b010208")


@pytest.mark.parametrize(("kind", "place"), [("unit", 6), ("function", 7)])
def test_wrong_replies_over_tcp(bench, kind, place):
    bench.arm("F35", device="inputs", kind=kind)
    host, port = bench.endpoints["inputs"].split(":")
    request = bytes.fromhex("0001000000060102 0000 0040".replace(" ", ""))
    with socket.create_connection((host, int(port)), timeout=1) as link:
        link.sendall(request)
        assert link.recv(100)[place] != request[place]


def test_outputs_in_the_coil_area(start, rig_file):
    emulated = start(
        rig_file(
            """
            [devices.relays]
            driver = "modbus-tcp"
            address = "emulated"
            area = "coil"
            direction = "out"
            base = 16
            channels = 8
            [keys.map]
            1 = "relays:0"
            """
        )
    )
    host, port = emulated.endpoints["relays"].split(":")
    client = ModbusTcpClient(host, port=int(port), timeout=1, retries=0)
    assert client.connect()
    client.write_coil(16, True, device_id=1)
    assert emulated.do("state")["keys_closed"] == ["1"]
    assert client.read_coils(16, count=8, device_id=1).bits[0]
    assert client.write_coil(0, True, device_id=1).exception_code == 2
    client.close()


# -- SCPI


def test_daq_dialogue(bench):
    answers = scpi(
        bench, "photodiodes", "*IDN?", "ROUT:SCAN (@101:103)", "ROUTe:SCAN?", "READ?",
        "SYST:CTYP? 100", "ROUT:SCAN (@)", "ROUT:SCAN?", "PLAY:TUNE 1", "SYST:ERR?", "SYST:ERR?",
    )  # fmt: skip
    assert answers[0].split(",")[1] == "34970A"
    assert answers[1] == "#214(@101,102,103)"
    assert len(answers[2].split(",")) == 3
    assert "34901A" in answers[3]
    assert answers[4] == "#13(@)"
    assert answers[5].startswith("-113,")
    assert answers[6].startswith("+0,")


def test_photodiodes_give_five_volts_for_a_good_lamp_and_half_for_a_dim_one(bench):
    bench.arm("F14", lamp="total-4", level=0.5)
    for key in "112":
        bench.do("press", key=key, ms=30)
        time.sleep(0.02)
    time.sleep(0.05)
    ((small, big, total),) = (
        [float(value) for value in answer.split(",")]
        for answer in scpi(bench, "photodiodes", "MEAS:VOLT:DC? (@116,102,101)")
    )
    assert (small, big, total) == (pytest.approx(5, abs=0.1), pytest.approx(0, abs=0.1),
                                   pytest.approx(2.5, abs=0.1))  # fmt: skip


def test_pwm_shows_only_when_it_is_not_integrated_over(bench):
    for key in "112":
        bench.do("press", key=key, ms=30)
        time.sleep(0.02)
    time.sleep(0.05)
    short = scpi(bench, "photodiodes", "VOLT:DC:NPLC 0.02,(@101)", "ROUT:SCAN (@101)",
                 *["READ?"] * 60)  # fmt: skip
    assert {float(value) > 2.5 for value in short} == {True, False}


def test_ambient_light_falls_on_the_photodiode_alone(bench):
    bench.arm("F19", lamp="total-9", level=0.4)
    (answer,) = scpi(bench, "photodiodes", "MEAS:VOLT:DC? (@201,202)")
    assert [round(float(value)) for value in answer.split(",")] == [2, 0]
    assert bench.do("state")["lit"] == []


def test_e36_supply(bench):
    answers = scpi(
        bench, "supply", "*IDN?", "VOLT 11.5;CURR 2", "VOLT?", "MEAS:VOLT?", "MEAS:CURR?",
        "OUTP?", "VOLT 99", "SYST:ERR?", "VOLT:PROT:TRIP?",
    )  # fmt: skip
    assert "E36" in answers[0]
    assert [float(answer) for answer in answers[1:3]] == [11.5, 11.5]
    assert 0.1 < float(answers[3]) < 2
    assert answers[4] == "1"
    assert answers[5].startswith("-222,")
    assert answers[6] == "0"


def test_power_cycle_drops_the_entry_and_comes_back(bench):
    bench.do("press", key="1", ms=30)
    scpi(bench, "supply", "OUTP OFF")
    assert not bench.do("state")["powered"]
    scpi(bench, "supply", "OUTP ON")
    time.sleep(0.7)
    state = bench.do("state")
    assert state["powered"]
    assert state["entered"] == []


@pytest.mark.parametrize(("state", "tripped"), [("cc", 0), ("ovp", 1)])
def test_supply_states(bench, state, tripped):
    bench.arm("F40", state=state)
    trip, amperes = scpi(bench, "supply", "VOLT:PROT:TRIP?", "MEAS:CURR?")
    assert int(trip) == tripped
    assert (float(amperes) > 1.9) is (state == "cc")


def test_wrong_voltage_reads_back_wrong(bench):
    bench.arm("F41", volts=0.7)
    set_to, measured = scpi(bench, "supply", "VOLT?", "MEAS:VOLT?")
    assert float(set_to) - float(measured) == pytest.approx(0.7)


@pytest.mark.parametrize("haunted", [False, True])
def test_brown_out(bench, haunted):
    if haunted:
        bench.arm("F42", volts=0.6, ms=80)
    for key in "112":
        bench.do("press", key=key, ms=30)
        time.sleep(0.03)
    scpi(bench, "supply", "VOLT 6")
    time.sleep(0.12)
    scpi(bench, "supply", "VOLT 12")
    time.sleep(0.7)
    state = bench.do("state")
    assert state["powered"]
    assert bool(state["lit"]) is haunted
    assert state["entered"] == (["1", "1"] if haunted else [])


def test_table_that_stays_dead(bench):
    bench.arm("F43")
    scpi(bench, "supply", "OUTP OFF", "*OPC?", "OUTP ON")
    time.sleep(0.7)
    assert not bench.do("state")["powered"]
    bench.do("disarm")
    scpi(bench, "supply", "OUTP OFF", "*OPC?", "OUTP ON")
    time.sleep(0.7)
    assert bench.do("state")["powered"]


def test_supply_link_lost_while_power_is_off(bench):
    bench.arm("F44")
    assert scpi(bench, "supply", "OUTP?") == ["1"]
    host, port = bench.endpoints["supply"].split(":")
    with socket.create_connection((host, int(port)), timeout=0.3) as link:
        link.sendall(b"OUTP OFF\nOUTP?\n")
        with pytest.raises(TimeoutError):
            link.recv(10)


@pytest.mark.parametrize(
    ("dialect", "dialogue"),
    [
        ("dp800", [("*IDN?", "RIGOL"), (":APPL CH1,11,1", None), (":APPL? CH1", "11.000,1.000"),
                   (":MEAS:ALL? CH1", "11.0000,"), (":OUTP? CH1", "ON"), (":OUTP CH1,OFF", None),
                   (":OUTP:MODE? CH1", "UR"), (":STAT:QUES:INST:ISUM1:COND?", "0")]),
        ("spd3303x", [("*IDN?", "SPD3303X"), ("CH1:VOLT 11", None), ("CH1:VOLT?", "11.000"),
                      ("MEAS:VOLT? CH1", "11.000"), ("SYST:STAT?", "0x10"),
                      ("OUTP CH1,OFF", None), ("SYST:STAT?", "0x0")]),
    ],
)  # fmt: skip
def test_other_supplies(start, rig_file, dialect, dialogue):
    emulated = start(
        rig_file(
            f"""
            [devices.supply]
            driver = "scpi-supply"
            resource = "emulated"
            dialect = "{dialect}"
            volts = 12.0
            amperes = 2.0
            """
        )
    )
    host, port = emulated.endpoints["supply"].split(":")
    with socket.create_connection((host, int(port)), timeout=2) as link, link.makefile("rwb") as f:
        for command, expected in dialogue:
            f.write(command.encode() + b"\n")
            f.flush()
            if expected is not None:
                assert expected in f.readline().decode()
            time.sleep(0.03)


# -- the layout camera, and a port over the network


def layout(bench: Emulated) -> np.ndarray:
    import urllib.request

    with urllib.request.urlopen(bench.endpoints["layout"] + "/snapshot", timeout=5) as reply:
        return cv2.imdecode(np.frombuffer(reply.read(), np.uint8), cv2.IMREAD_COLOR)


def test_layout_camera_shows_markers_and_the_lamps_that_are_lit(bench):
    dark = layout(bench)
    markers = find_markers(dark)
    assert markers is not None
    for found, there in zip(markers, [(16, 16), (624, 16), (624, 344), (16, 344)], strict=True):
        assert np.hypot(found[0] - there[0], found[1] - there[1]) < 1.5
    for key in "112":
        bench.do("press", key=key, ms=30)
        time.sleep(0.03)
    time.sleep(0.05)
    rise = layout(bench).astype(int) - dark
    assert rise[50, 32].min() > 60, "small is lit"
    assert abs(rise[50, 96]).max() < 25, "big is not"


def test_lamp_test_lights_every_lamp(bench):
    bench.do("lamp-test", on=True)
    time.sleep(0.05)
    assert len(bench.do("state")["lit"]) == 50


@pytest.mark.filterwarnings("ignore:set(Daemon|Name):DeprecationWarning")
def test_a_port_over_rfc2217(start, rig_file):
    emulated = start(rig_file('[emulator.options]\nrfc2217 = ["inputs"]\n'))
    url = emulated.endpoints["inputs"]
    assert url.startswith("rfc2217://")
    with serial.serial_for_url(url, baudrate=115200, timeout=2) as port:
        port.write(bytes.fromhex("010200000008 79cc".replace(" ", "")))
        assert port.read(6)[:3] == bytes([1, 2, 1])
        port.baudrate = 9600
        port.timeout = 0.3
        port.write(bytes.fromhex("01020000000879cc"))
        assert port.read(6) == b"", "the device runs at 115200"
