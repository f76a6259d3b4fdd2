"""The RTU master against an independent slave on a pty: what may go wrong is told apart."""

from __future__ import annotations

import contextlib
import threading
import time

import minimalmodbus
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.rig.device import Surroundings
from harness.rig.drivers.waveshare_relay import WaveshareRelay, WaveshareRelaySettings
from harness.rig.errors import (
    CorruptReplyError,
    DeviceRefusalError,
    LateReplyError,
    LinkLostError,
    NoReplyError,
    NotThereError,
    PortBusyError,
    ReplyError,
    ShortReplyError,
    WrongEchoError,
    WrongFunctionError,
    WrongUnitError,
)
from harness.rig.modbus_rtu import (
    Request,
    RtuMaster,
    bits_of,
    crc16,
    gap_s,
    parse_reply,
    read_bits,
    read_registers,
    write_coil,
)
from harness.rig.serial_line import Framing, SerialLine
from tests.rig.peers import PtyPeer, RelaysAndInputs, framed, modbus_crc

READ = read_bits(1, 2, 0, 64)


@pytest.fixture
def slave():
    return RelaysAndInputs()


@pytest.fixture
def peer(slave):
    with PtyPeer(slave) as peer:
        yield peer


@pytest.fixture
def master(peer):
    line = SerialLine(peer.path, Framing(115200), "inputs")
    line.open()
    yield RtuMaster(line, reply_s=0.1, late_s=0.4)
    line.close()


def test_public_examples() -> None:
    """The frames printed in the makers' manuals."""
    assert write_coil(1, 0x0200, 7).frame.hex(" ") == "01 05 02 00 00 07 8d b0"
    assert read_bits(1, 2, 0, 8).frame.hex(" ") == "01 02 00 00 00 08 79 cc"


@given(st.binary(max_size=300))
def test_crc_agrees_with_two_other_implementations(data: bytes) -> None:
    assert crc16(data) == modbus_crc(data)
    assert crc16(data) == minimalmodbus._calculate_crc(data)


def test_silence_between_frames() -> None:
    """3.5 characters, fixed at 1.75 ms above 19200 baud (serial line specification, 2.5.1.1)."""
    assert gap_s(9600, 10 / 9600) == pytest.approx(0.003646, abs=1e-6)
    assert gap_s(115200, 10 / 115200) == 0.00175


def test_reads_every_bit_in_its_place(master, slave) -> None:
    slave.inputs[3] = slave.inputs[17] = slave.inputs[63] = True
    bits = bits_of(master.exchange(READ, "inputs"), 64)
    assert [i for i, bit in enumerate(bits) if bit] == [3, 17, 63]


def test_a_write_is_sent_once(master, slave, peer) -> None:
    master.exchange(write_coil(1, 3, 0xFF00), "keys")
    assert slave.presses == [3]
    assert len(peer.heard) == 1


SPOILT = [
    (lambda reply: reply[:-1] + bytes((reply[-1] ^ 1,)), CorruptReplyError),
    (lambda reply: reply[:5], ShortReplyError),
    (lambda reply: reply[:2], ShortReplyError),
    (lambda reply: framed(2, *reply[1:-2]), WrongUnitError),
    (lambda reply: framed(1, 1, *reply[2:-2]), WrongFunctionError),
    (lambda reply: framed(1, 2, 7, *reply[3:-3]), ShortReplyError),
    (lambda reply: framed(1, 0x82, 4), DeviceRefusalError),
    (lambda reply: b"\x00" * 40, CorruptReplyError),
    (lambda reply: b"", NoReplyError),
]


@pytest.mark.parametrize(("spoil", "error"), SPOILT)
def test_spoilt_replies_are_told_apart_and_carried(master, slave, spoil, error) -> None:
    """Fails if an error is of another kind, lacks what had arrived, or spoils what follows."""
    said = []

    def once(_frame: bytes, reply: bytes) -> bytes:
        slave.spoil = None
        said.append(spoil(reply))
        return said[0]

    slave.spoil = once
    began = time.monotonic()
    with pytest.raises(error) as caught:
        master.exchange(READ, "inputs")
    assert type(caught.value) is error
    assert time.monotonic() - began < 2
    assert caught.value.received == said[0]
    assert caught.value.subject == "inputs"
    slave.inputs[5] = True
    assert bits_of(master.exchange(READ, "inputs"), 64)[5]


@pytest.mark.parametrize("idle", [b"\x00", b"\xff\xff\xff", b"\x00\xff"])
@pytest.mark.parametrize("rest_s", [0.0, 0.02])
def test_a_line_that_idles_before_a_reply_spoils_none(master, slave, peer, idle, rest_s) -> None:
    """Drivers that switch over show zeros or ones; no unit has such a number."""

    def after_idling(_frame: bytes, reply: bytes) -> bytes:
        peer.say(idle)
        time.sleep(rest_s)
        return reply

    slave.spoil = after_idling
    slave.inputs[5] = True
    assert bits_of(master.exchange(READ, "inputs"), 64)[5]
    master.exchange(write_coil(1, 3, 0xFF00), "keys")
    assert slave.presses == [3]


@pytest.mark.parametrize("glitch", [b"\x00", b"\x7e"])
def test_a_glitch_before_a_late_reply_makes_it_no_answer_to_the_next_question(
    master, slave, peer, glitch
) -> None:
    """The reply shows the inputs as they were; fails if it is taken for a later question's."""

    def late(_frame: bytes, reply: bytes) -> bytes:
        slave.spoil = None
        peer.say(glitch)
        time.sleep(0.25)
        return reply

    slave.spoil = late
    with pytest.raises(ReplyError):
        master.exchange(READ, "inputs")
    slave.inputs[5] = True
    answered = 0
    for _ in range(4):
        with contextlib.suppress(ReplyError):
            assert bits_of(master.exchange(READ, "inputs"), 64)[5]
            answered += 1
    assert answered >= 2


def test_an_adapter_that_echoes_is_told(master, slave, peer) -> None:
    slave.spoil = lambda frame, reply: frame + reply
    with pytest.raises(CorruptReplyError, match="the request itself, come back"):
        master.exchange(READ, "inputs")


def test_a_busy_unit_is_asked_again_and_pressed_once(peer, slave) -> None:
    """Exception 6 asks for the question again later; a press stays sent once."""
    around = Surroundings()
    settings = WaveshareRelaySettings(driver="waveshare-relay", port=peer.path, baud=115200)
    relay = WaveshareRelay.open("keys", settings, around)
    try:

        def busy(frame: bytes, _reply: bytes) -> bytes:
            slave.spoil = None
            return framed(1, frame[1] | 0x80, 6)

        slave.spoil = busy
        assert not any(relay.states().values())
        assert relay.link.repeats == 1
        slave.spoil = busy
        heard = len(peer.heard)
        with pytest.raises(DeviceRefusalError, match="busy"):
            relay.switch("3", on=True)
        assert len(peer.heard) == heard + 1
    finally:
        around.close()


def test_an_exception_says_its_code_and_meaning(master) -> None:
    with pytest.raises(DeviceRefusalError, match="exception 2, illegal data address") as caught:
        master.exchange(read_bits(1, 2, 60, 8), "inputs")
    assert caught.value.code == 2
    with pytest.raises(DeviceRefusalError, match="illegal function"):
        master.exchange(Request(1, 7, b"", 5), "inputs")


def test_an_echo_of_another_coil_is_refused(master, slave) -> None:
    slave.spoil = lambda _frame, reply: framed(1, 5, 0, 4, *reply[4:6])
    with pytest.raises(WrongEchoError):
        master.exchange(write_coil(1, 3, 0xFF00), "keys")
    assert slave.presses == [3]


def test_a_late_reply_is_never_the_next_answer(master, slave, peer) -> None:
    """Fails if the reply that came after its time is taken for the answer to the next read."""

    def late(_frame: bytes, reply: bytes) -> None:
        slave.spoil = None
        time.sleep(0.25)
        peer.say(reply)

    slave.spoil = late
    with pytest.raises(LateReplyError):
        master.exchange(READ, "inputs")
    slave.inputs[9] = True
    assert bits_of(master.exchange(READ, "inputs"), 64)[9]


def test_a_reply_later_than_we_wait_is_not_the_next_answer_either(master, slave, peer) -> None:
    """The reply comes while the next question is already put; it must not be believed."""

    def very_late(_frame: bytes, reply: bytes) -> None:
        slave.spoil = None
        time.sleep(0.56)
        peer.say(reply)

    slave.spoil = very_late
    with pytest.raises(NoReplyError):
        master.exchange(READ, "inputs")
    slave.inputs[9] = True
    for _ in range(3):
        assert bits_of(master.exchange(READ, "inputs"), 64)[9]


def test_stale_bytes_are_thrown_away(master, slave, peer) -> None:
    peer.say(framed(1, 2, 8, *[255] * 8))
    time.sleep(0.05)
    assert not any(bits_of(master.exchange(READ, "inputs"), 64))


def test_a_babbling_line_neither_hangs_nor_deceives(master, peer) -> None:
    """Fails if waiting for silence has no end, or noise is taken for lit lamps."""
    stop = threading.Event()

    def babble() -> None:
        while not stop.is_set():
            peer.say(b"\x55" * 8)
            time.sleep(0.0005)

    thread = threading.Thread(target=babble)
    thread.start()
    began = time.monotonic()
    try:
        for _ in range(3):
            with contextlib.suppress(ReplyError):
                assert not any(bits_of(master.exchange(READ, "inputs"), 64))
    finally:
        stop.set()
        thread.join()
    assert time.monotonic() - began < 10


def test_an_absent_unit_is_silent(master) -> None:
    with pytest.raises(NoReplyError, match="silence"):
        master.exchange(read_bits(2, 2, 0, 64), "inputs")


def test_a_port_that_goes_away(master, peer) -> None:
    """Every way pyserial says it (SerialException, OSError, termios.error) is one error."""
    peer.close()
    with pytest.raises(LinkLostError):
        master.exchange(READ, "inputs")
    assert not master.line.is_open
    with pytest.raises(LinkLostError):
        master.exchange(write_coil(1, 3, 0xFF00), "keys")
    with pytest.raises(NotThereError):
        master.exchange(READ, "inputs")


def test_a_port_that_is_not_there(tmp_path) -> None:
    with pytest.raises(NotThereError, match="no such file") as caught:
        SerialLine(str(tmp_path / "ttyNONE"), Framing(), "keys").open()
    assert caught.value.exit_status == 3


def test_a_url_nobody_listens_at() -> None:
    with pytest.raises(NotThereError):
        SerialLine("socket://127.0.0.1:9", Framing(), "keys").open()


def test_a_port_in_use_names_the_holder(peer) -> None:
    import subprocess
    import sys

    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import serial,sys;s=serial.Serial({peer.path!r},exclusive=True);"
            "print('held',flush=True);sys.stdin.read()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    holder.stdout.readline()
    try:
        with pytest.raises(PortBusyError, match=str(holder.pid)):
            SerialLine(peer.path, Framing(), "keys").open()
    finally:
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()


REQUESTS = st.one_of(
    st.builds(
        read_bits, st.integers(1, 247), st.sampled_from((1, 2)), st.just(0), st.integers(1, 2000)
    ),
    st.builds(read_registers, st.integers(1, 247), st.just(0), st.integers(1, 125)),
    st.builds(write_coil, st.integers(1, 247), st.integers(0, 9), st.just(0xFF00)),
)


@settings(max_examples=500)
@given(REQUESTS, st.binary(max_size=80), st.booleans())
def test_any_bytes_are_data_or_a_documented_error(request_, noise, sound) -> None:
    frame = noise + modbus_crc(noise) if sound else noise
    try:
        data = parse_reply(request_, frame, "x")
    except ReplyError as error:
        assert error.received == frame
    else:
        assert frame[:2] == bytes((request_.unit, request_.function))
        assert len(frame) == request_.reply_size
        assert modbus_crc(frame[:-2]) == frame[-2:]
        assert data in frame
