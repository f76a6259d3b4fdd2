"""Whatever comes over a wire, a device answers or is silent: it never falls over or hangs."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.emulator.bench import Bench
from harness.emulator.clock import ManualClock
from harness.emulator.control import Control
from harness.emulator.devices.adam4000 import Adam4000
from harness.emulator.devices.adapter_lines import checksum, shaker_adapter, terminal_adapter
from harness.emulator.devices.daq import Daq
from harness.emulator.devices.modbus_model import answer
from harness.emulator.devices.modbus_points import ModbusPoints
from harness.emulator.devices.numato import Numato
from harness.emulator.devices.supply import supply_reply
from harness.emulator.devices.waveshare import WaveshareInputs, WaveshareRelay
from harness.emulator.faults.catalogue import Armoury, UnknownFaultError, parse
from harness.emulator.rigfile import read_rig_file

from .conftest import RIGS

bench = Bench(read_rig_file(RIGS / "emulated-instruments.toml"), ManualClock())
many = settings(max_examples=200, deadline=None)


@pytest.fixture(scope="module", autouse=True)
def close_bench():
    yield
    bench.close()


def lines(*words: str) -> st.SearchStrategy[bytes]:
    """Random bytes, and sentences made of a protocol's own words."""
    word = st.sampled_from(words) | st.text(
        st.characters(min_codepoint=32, max_codepoint=126), max_size=6
    )
    return st.binary(max_size=40) | st.lists(word, max_size=6).map(
        lambda parts: " ".join(parts).encode()
    )


SCPI_WORDS = (
    "MEAS:VOLT:DC?", "(@101:103)", "(@)", "(@9:1)", "(@101,999)", "ROUT:SCAN", "ROUT:SCAN?",
    "READ?", ";", ":", "SYST:CTYP?", "100", "1e999", "nan", "VOLT", "VOLT?", "OUTP", "ON",
    "CH1,5,1", "APPL", ":APPL", "*RST", "CH1:VOLT", "SENS:DIG:DATA:WORD?", "VOLT:PROT", "INIT",
    "FETC?", "-1", "inf", "MEAS:ALL?", "CH1", "VOLT:DC:NPLC", "SYST:ERR?", "OUTP:OVP:VAL", "CURR",
)  # fmt: skip


@pytest.mark.parametrize("dialect", ["34970A", "DAQ970A", "34980A"])
def test_data_acquisition(dialect):
    daq = Daq(
        bench.timeline, bench.wiring, "photodiodes", dialect=dialect, used=["101", "201.3"],
        volts=5, channel_s=0, rng=bench.rng,
    )  # fmt: skip

    @many
    @given(lines(*SCPI_WORDS))
    def replies(line):
        reply = daq.scpi.reply(line)
        assert reply == b"" or reply.endswith(b"\n")

    replies()


@pytest.mark.parametrize(
    "line",
    [b"SYST:CTYP? 1e999", b"SYST:CTYP? nan", b"MEAS:VOLT:DC? (@1:99999999)", b"MEAS:VOLT:DC? (@)"],
)
def test_data_acquisition_at_its_limits(line):
    daq = Daq(
        bench.timeline, bench.wiring, "photodiodes", dialect="34970A", used=["101"],
        volts=5, channel_s=0, rng=bench.rng,
    )  # fmt: skip
    assert daq.scpi.reply(line) == b""
    assert daq.scpi.reply(b"SYST:ERR?").startswith(b"-")


@pytest.mark.parametrize("dialect", ["e36", "dp800", "spd3303x"])
def test_supplies(dialect):
    reply_to = supply_reply(bench.timeline, bench.power, dialect)

    @many
    @given(lines(*SCPI_WORDS))
    def replies(line):
        reply = reply_to(line)
        assert reply == b"" or reply.endswith(b"\n")

    replies()


@pytest.mark.parametrize("model", ["4050", "4051", "4055", "4060", "4068"])
@pytest.mark.parametrize("summed", [False, True])
def test_ascii_modules(model, summed):
    module = Adam4000(
        bench.timeline, bench.wiring, "readback", model=model, address=1, checksum=summed, baud=9600
    )

    @many
    @given(
        lines("$016", "#0100FF", "#011701", "#01", "~013101", "~**", "#**", "$014", "~010", "~012")
    )
    def replies(line):
        if summed:
            line += b"%02X" % (sum(line) & 0xFF)
        reply = module.answer(line)
        assert reply == b"" or reply.endswith(b"\r")

    replies()


@many
@given(
    lines("relay", "gpio", "on", "off", "read", "readall", "writeall", "0", "A", "V", "ff", "id")
)
def test_numato(line):
    module = Numato(bench.wiring, "usb", relays=12, gpios=20)
    assert module.answer(line).endswith(b">")


@many
@given(
    st.integers(0, 255),
    lines("ID?", "START", "STATE?", "COVER", "ON", "KEYS?", "LIT?", "PRESS", "1", "50", "99999"),
)
def test_adapters(number, body):
    text = b"#%02X " % number + body
    for adapter in (shaker_adapter(bench), terminal_adapter(bench)):
        for line in (body, text + b"*" + checksum(text)):
            reply = adapter.answer(line)
            assert reply == b"" or reply.startswith(b"#")


@many
@given(st.binary(min_size=1, max_size=260))
def test_modbus_requests(request_):
    models = (
        WaveshareRelay(bench.timeline, bench.wiring, "keys", unit=1, baud=9600, channels=8),
        WaveshareInputs(bench.wiring, "switches", 1, 9600, 8),
        ModbusPoints(
            bench.wiring, "inputs", area="coil", base=16, channels=64, outputs=frozenset({0, 1})
        ),
    )
    for model in models:
        reply = answer(model, request_)
        assert reply[0] & 0x7F == request_[0] & 0x7F
        assert len(reply) <= 253


control = Control(bench, Armoury(bench), lambda: None)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@many
@given(
    st.binary(max_size=60)
    | st.fixed_dictionaries(
        {"do": st.sampled_from(["present", "cover", "arm", "disarm", "press", "call", "state"])},
        optional={
            name: values | st.sampled_from(["F10", "F31", "1", 1, [1, 2, 3]])
            for name in ("dice", "pose", "on", "fault", "with", "key", "made")
        },
    ).map(lambda request: json.dumps(request).encode())
)  # fmt: skip
def test_control(line):
    reply = json.loads(control.reply(line))
    assert isinstance(reply["ok"], bool)
    assert reply["ok"] or reply["why"]


@many
@given(lines('{"ask": "x"}', '{"ask": 1}', "[1]", '"ask"', "{}", "null"))
def test_desk(line):
    assert isinstance(json.loads(bench.desk.reply(line) or b"{}"), dict)


@many
@given(
    st.text(max_size=30) | st.sampled_from(["F10:lamp=total-9,lamp=small", "F12:a=,b=", ":", ","])
)
def test_fault_texts(text):
    try:
        fault, given_ = parse(text)
    except UnknownFaultError:
        return
    assert isinstance(fault, str)
    assert all(given_.values())
