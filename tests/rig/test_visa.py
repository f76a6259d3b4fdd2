"""SCPI over PyVISA: what was measured to go wrong in the library does not reach a verdict."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.rig.errors import (
    CorruptReplyError,
    DeviceRefusalError,
    LinkLostError,
    NoReplyError,
    NotThereError,
    ReplyError,
)
from harness.rig.visa_link import (
    OVERLOAD,
    VisaLink,
    VisaSettings,
    parse_numbers,
    resource_name,
)
from tests.rig.peers import PtyPeer, TcpPeer, lines_of


class Instrument:
    """Counts its questions; answers `A? n` with n, after `delay` seconds."""

    def __init__(self) -> None:
        self.delay = 0.0
        self.asked: list[str] = []
        self.hang_up = threading.Event()

    def answer(self, line: bytes) -> bytes | None:
        text = line.decode()
        self.asked.append(text)
        if text == "*IDN?":
            return b"MAKER,MODEL,42,1.0\n"
        if not text.endswith("?") and "? " not in text:
            return None
        delay, self.delay = self.delay, 0.0
        time.sleep(delay)
        return text.partition("? ")[2].encode() + b"\n"

    def __call__(self, link: socket.socket) -> None:
        for line in lines_of(link):
            if self.hang_up.is_set():
                return
            reply = self.answer(line)
            if reply is not None:
                with contextlib.suppress(OSError):
                    link.sendall(reply)


def settings(resource: str, **more) -> VisaSettings:
    return VisaSettings(driver="scpi-daq", resource=resource, reply_ms=200, late_ms=500, **more)


@pytest.fixture
def instrument():
    return Instrument()


@pytest.fixture
def peer(instrument):
    with TcpPeer(instrument) as peer:
        yield peer


@pytest.fixture
def link(peer):
    link = VisaLink("daq", settings(peer.address), 2.0)
    yield link
    link.close()


def test_resource_names() -> None:
    assert resource_name("10.0.0.5:5555") == "TCPIP::10.0.0.5::5555::SOCKET"
    assert resource_name("tcp://10.0.0.5:5555") == "TCPIP::10.0.0.5::5555::SOCKET"
    assert resource_name("daq.lab") == "TCPIP::daq.lab::5025::SOCKET"
    assert resource_name("/dev/ttyUSB0") == "ASRL/dev/ttyUSB0::INSTR"
    assert resource_name("TCPIP0::daq::INSTR") == "TCPIP0::daq::INSTR"


def test_identity_and_answers(link) -> None:
    assert link.identity == "MAKER,MODEL,42,1.0"
    assert link.query("A? 7") == "7"


def test_a_write_and_a_query_do_not_wait_for_nagle(link) -> None:
    """44 ms each with Nagle's algorithm left on; fails by far if TCP_NODELAY is not set."""
    began = time.monotonic()
    for n in range(10):
        link.write("VOLT 5")
        assert link.query(f"A? {n}") == str(n)
    assert time.monotonic() - began < 0.3


def test_after_a_time_out_the_next_answer_is_its_own(link, instrument) -> None:
    """pyvisa-py gives the late answer to the next question; fails if ours does."""
    instrument.delay = 0.35
    with pytest.raises(NoReplyError):
        link.query("A? 1")
    for n in range(2, 6):
        assert link.query(f"A? {n}") == str(n)


def test_a_peer_that_hangs_up_is_no_time_out(link, instrument, peer) -> None:
    instrument.hang_up.set()
    began = time.monotonic()
    with pytest.raises(LinkLostError):
        link.query("A? 1")
    assert time.monotonic() - began < 2
    instrument.hang_up.clear()
    assert link.query("A? 2") == "2"
    assert instrument.asked.count("A? 1") <= 1


def test_nobody_there() -> None:
    with socket.socket() as kept:
        kept.bind(("127.0.0.1", 0))  # nobody listens at it, and nobody else can
        address = f"127.0.0.1:{kept.getsockname()[1]}"
        for place in (address, "/dev/ttyNONE", "TCPIP::127.0.0.1::9::SOCKET"):
            with pytest.raises(NotThereError, match="daq") as caught:
                VisaLink("daq", settings(place), 1.0)
            assert caught.value.exit_status == 3


def test_a_silent_instrument_is_said_in_time() -> None:
    with TcpPeer(lambda link: time.sleep(2)) as peer:
        began = time.monotonic()
        with pytest.raises(NoReplyError):
            VisaLink("daq", settings(peer.address), 1.0)
        assert time.monotonic() - began < 2


def test_on_a_serial_port_the_late_answer_is_read_away(instrument) -> None:
    """A serial port cannot be opened anew to lose a late answer; fails if one is believed."""
    late = []

    def answer(heard: bytes) -> bytes | None:
        replies = [instrument.answer(line) for line in heard.splitlines()]
        return b"".join(reply for reply in replies if reply) or None

    with PtyPeer(answer) as peer:
        link = VisaLink("daq", settings(peer.path, baud=115200), 2.0)
        try:
            assert link.query("A? 1") == "1"
            for delay in (0.35, 0.9):
                instrument.delay = delay
                with pytest.raises(NoReplyError):
                    link.query("A? 2")
                with contextlib.suppress(NoReplyError):
                    late.append(link.query("A? 3"))
                late.append(link.query("A? 3"))
            assert set(late) == {"3"}
        finally:
            link.close()


def test_a_line_that_idles_before_an_answer_spoils_none(instrument) -> None:
    """Over RS-232 an instrument is told to listen first, and its line may idle at zero."""

    def answer(heard: bytes) -> bytes | None:
        replies = [instrument.answer(line) for line in heard.splitlines()]
        told = b"".join(reply for reply in replies if reply)
        return b"\x00\xff" + told.replace(b"\n", b"\r\n") if told else None

    with PtyPeer(answer) as peer:
        link = VisaLink("daq", settings(peer.path, baud=115200), 2.0)
        try:
            assert instrument.asked[:2] == ["SYST:REM", "*IDN?"]
            assert link.identity == "MAKER,MODEL,42,1.0"
            assert link.query("A? 7") == "7"
        finally:
            link.close()


def test_numbers() -> None:
    assert parse_numbers("+4.98E+00,-1,.5", 3, "daq") == [4.98, -1, 0.5]
    assert parse_numbers(" 4.98 VDC , +1.2E-02VDC", 2, "daq") == [4.98, 0.012]
    assert parse_numbers("12.000V,0.250A,3.000W", 3, "psu") == [12, 0.25, 3]
    with pytest.raises(CorruptReplyError):
        parse_numbers("4.98 OHM", 1, "daq")
    with pytest.raises(CorruptReplyError):
        parse_numbers("1,2", 3, "daq")
    with pytest.raises(CorruptReplyError):
        parse_numbers("nan", 1, "daq")
    with pytest.raises(DeviceRefusalError, match="overload"):
        parse_numbers("+9.90000000E+37", 1, "daq")


@given(st.text(max_size=60))
def test_any_text_is_numbers_or_a_documented_error(text) -> None:
    """Fails on any other error, and on a number that no instrument measures."""
    with contextlib.suppress(ReplyError):
        numbers = parse_numbers(text, None, "daq")
        assert len(numbers) == text.count(",") + 1
        assert all(abs(number) < OVERLOAD for number in numbers)
