"""Each driver's dialogue, byte for byte as the makers document it, spoken to its end.

Fails if a driver says anything else, says more, or does not say all of it.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from harness.rig.device import Surroundings
from harness.rig.drivers import driver_class
from harness.rig.errors import NotCapableError
from harness.rig.wired import ShakerStuckError
from tests.rig.peers import Dialogue, PtyPeer, TcpPeer, framed, lines_of


@contextmanager
def opened(driver: str, **settings: Any) -> Iterator[Any]:
    kind = driver_class(driver)
    around = Surroundings()
    try:
        device = kind.open("part", kind.settings_type(driver=driver, **settings), around)
        try:
            yield device
        finally:
            device.close()
    finally:
        around.close()


@contextmanager
def over_pty(driver: str, lines, **settings: Any) -> Iterator[Any]:
    dialogue = Dialogue(lines)
    with PtyPeer(dialogue) as peer:
        with opened(driver, port=peer.path, late_ms=200, **settings) as device:
            yield device
        dialogue.finish()


def scpi_server(dialogue: Dialogue) -> Callable[[socket.socket], None]:
    def serve(link: socket.socket) -> None:
        for line in lines_of(link):
            reply = dialogue(line)
            if reply is not None:
                link.sendall(reply)

    return serve


@contextmanager
def over_scpi(driver: str, lines, **settings: Any) -> Iterator[Any]:
    dialogue = Dialogue([(b"*IDN?", b"MAKER,MODEL,0,1.0\n"), *lines])
    with TcpPeer(scpi_server(dialogue)) as peer:
        with opened(driver, resource=peer.address, **settings) as device:
            yield device
            # what is written without an answer arrives in its own time
            from tests.rig.peers import eventually

            eventually(lambda: not dialogue.left, 1.0)
        dialogue.finish()


def test_waveshare_relay() -> None:
    """Relay 3 is coil 2; a 700 ms pulse on relay 1 is the manual's own example."""
    lines = [
        (bytes.fromhex("01 01 00 00 00 08 3d cc"), framed(1, 1, 1, 0)),
        (framed(1, 5, 0, 2, 0xFF, 0), framed(1, 5, 0, 2, 0xFF, 0)),
        (framed(1, 5, 0, 2, 0, 0), framed(1, 5, 0, 2, 0, 0)),
        (bytes.fromhex("01 05 02 00 00 07 8d b0"), bytes.fromhex("01 05 02 00 00 07 8d b0")),
        (framed(1, 1, 0, 0, 0, 8), framed(1, 1, 1, 0x81)),
        (framed(1, 5, 0, 0, 0, 0), framed(1, 5, 0, 0, 0, 0)),
        (framed(1, 5, 0, 7, 0, 0), framed(1, 5, 0, 7, 0, 0)),
        (framed(1, 3, 0x80, 0, 0, 1), framed(1, 3, 2, 0, 200)),
    ]
    with over_pty("waveshare-relay", lines, baud=9600) as relay:
        relay.switch("2", on=True)
        relay.switch("2", on=False)
        relay.pulse("0", 0.7)
        relay.all_open()
        assert relay.identify() == "Modbus RTU Relay V2.00"


def test_waveshare_inputs() -> None:
    lines = [
        (bytes.fromhex("01 02 00 00 00 08 79 cc"), framed(1, 2, 1, 0)),
        (bytes.fromhex("01 02 00 00 00 08 79 cc"), framed(1, 2, 1, 0b10000010)),
    ]
    with over_pty("waveshare-inputs", lines) as inputs:
        assert inputs.read(["1", "2", "7"]) == {"1": True, "2": False, "7": True}


def test_waveshare_inputs_inverted() -> None:
    lines = [(framed(1, 2, 0, 0, 0, 8), framed(1, 2, 1, 0xFF))] * 2
    with over_pty("waveshare-inputs", lines, invert=True) as inputs:
        assert inputs.read(["0"]) == {"0": False}


def test_modbus_rtu_inputs_in_the_coil_area() -> None:
    lines = [(framed(9, 1, 0, 16, 0, 12), framed(9, 1, 2, 0x01, 0x08))] * 2
    with over_pty("modbus-rtu", lines, unit=9, area="coil", base=16, channels=12) as inputs:
        read = inputs.read([str(n) for n in range(12)])
        assert [n for n, on in read.items() if on] == ["0", "11"]


def test_adam_4050() -> None:
    """The manual's example: `$336` is answered by `!112200`."""
    lines = [
        (b"$336\r", b"!112200\r"),
        (b"$336\r", b"!112200\r"),
        (b"$336\r", b"!112200\r"),
        (b"#331200\r", b">\r"),
        (b"#331201\r", b">\r"),
        (b"$33M\r", b"!334050\r"),
    ]
    with over_pty("adam-4000", lines, module=0x33, model="4050") as module:
        read = module.read([str(n) for n in range(7)])
        assert [n for n, on in read.items() if on] == ["1", "5"]
        assert [n for n, on in module.states().items() if on] == ["out-0", "out-4"]
        module.switch("out-2", on=False)
        module.switch("out-2", on=True)
        assert module.identify() == "4050"


def test_adam_4053_with_checksum() -> None:
    """The manual's example `!BEDE00`: inputs 8 to 15 come first."""

    def summed(text: bytes) -> bytes:
        return text + b"%02X\r" % (sum(text) & 0xFF)

    lines = [(summed(b"$036"), summed(b"!BEDE00"))] * 2
    with over_pty("adam-4000", lines, module=3, model="4053", checksum=True) as module:
        read = module.read([str(n) for n in range(16)])
        assert [n for n, on in read.items() if not on] == ["0", "5", "8", "14"]


def test_adam_modules_share_a_bus() -> None:
    """Each asks with its own number on the one line, and hears its own answer."""
    lines = [
        (b"$016\r", b"!010000\r"),
        (b"$026\r", b"!800000\r"),
        (b"$016\r", b"!010000\r"),
        (b"$026\r", b"!800000\r"),
    ]
    dialogue, around = Dialogue(lines), Surroundings()
    kind = driver_class("adam-4000")
    with PtyPeer(dialogue) as peer:
        modules = [
            kind.open(
                f"module-{n}",
                kind.settings_type(driver="adam-4000", port=peer.path, model="4052", module=n),
                around,
            )
            for n in (1, 2)
        ]
        read: list[Any] = [module.read(["0", "7"]) for module in modules]  # type: ignore[attr-defined]
        around.close()
    dialogue.finish()
    assert read == [{"0": True, "7": False}, {"0": False, "7": True}]


def test_icp_das_watchdog_is_armed_fed_and_disarmed() -> None:
    """The heartbeat comes on its own clock: it is taken out before the dialogue is compared."""
    heartbeats = []
    dialogue = Dialogue(
        [
            (b"$016\r", b"!000000\r"),
            (b"~011\r", b"!01\r"),
            (b"~013103\r", b"!01\r"),
            (b"#011101\r", b">\r"),
            (b"~013003\r", b"!01\r"),
        ]
    )

    def answer(heard: bytes) -> bytes | None:
        while heard.startswith(b"~**\r"):
            heartbeats.append(heard)
            heard = heard[4:]
        return dialogue(heard) if heard else None

    import time

    with PtyPeer(answer) as peer:
        settings = {"module": 1, "model": "4068", "watchdog_s": 0.3}
        with opened("adam-4000", port=peer.path, **settings) as module:
            module.switch("out-1", on=True)
            time.sleep(0.35)
        dialogue.finish()
        assert len(heartbeats) >= 2


@pytest.mark.parametrize("end", [b"\r", b"\n\r", b"\r\n"])
def test_numato(end: bytes) -> None:
    """Every firmware's line end; relay 10 is `A`; a notification comes in between."""

    def said(command: bytes, answer: bytes | None = None) -> tuple[bytes, bytes]:
        body = command + end + (answer + end if answer is not None else b"") + b">"
        return command + b"\r", body

    lines = [
        (b"\r", end + b">"),
        said(b"ver", b"00000008"),
        said(b"relay on A"),
        said(b"relay off A"),
        (b"gpio readall\r", b"gpio readall" + end + b"#intr 1" + end + b"0402" + end + b">"),
        said(b"ver", b"00000008"),
        said(b"id get", b"12345678"),
    ]
    lines += [said(b"relay read %c" % c, b"on" if c == 66 else b"off") for c in b"0123456789AB"]
    with over_pty("numato", lines, relays=12, gpios=16) as module:
        module.switch("relay-10", on=True)
        module.switch("relay-10", on=False)
        read = module.read(["gpio-1", "gpio-2", "gpio-10"])
        assert read == {"gpio-1": True, "gpio-2": False, "gpio-10": True}
        assert module.identify() == "ver 00000008 id 12345678"
        assert [n for n, on in module.states().items() if on] == ["relay-11"]


def test_line_shaker() -> None:
    """The lines of our own protocol, with sums worked out by hand here."""

    def line(sequence: int, body: str) -> bytes:
        text = f"#{sequence:02X} {body}".encode()
        return text + f"*{sum(text) % 256:02X}\n".encode()

    said = [
        ("STATE?", "OK IDLE 4"),
        ("STATE?", "OK IDLE 4"),
        ("START", "OK"),
        ("STATE?", "OK RUN 4"),
        ("STATE?", "OK IDLE 5"),
        ("STROKES?", "OK 15"),
        ("ID?", "OK SHAKER 1.0"),
        ("COVER ON", "OK"),
        ("STATE?", "OK IDLE 5"),
        ("START", "OK"),
        ("STATE?", "OK FAULT 7 5"),
    ]
    lines = [(line(n, ask), line(n, answer)) for n, (ask, answer) in enumerate(said)]
    with over_pty("line-shaker", lines) as shaker:
        shaker.activate("dealer")
        assert shaker.tumbles() == 15
        assert shaker.identify() == "SHAKER 1.0"
        shaker.put_on()
        with pytest.raises(ShakerStuckError) as caught:
            shaker.activate("dealer")
        assert caught.value.phase == "fault"
        with pytest.raises(NotCapableError):
            shaker.shake(3)


def test_line_terminal() -> None:
    def line(sequence: int, body: str) -> bytes:
        text = f"#{sequence:02X} {body}".encode()
        return text + f"*{sum(text) % 256:02X}\n".encode()

    said = [
        ("KEYS?", "OK 0"),
        ("PRESS 5 20", "OK"),
        ("KEYS?", "OK 3 1 1 5"),
        ("LIT?", "OK 9"),
        ("ID?", "OK TERMINAL 1.0"),
    ]
    lines = [(line(n, ask), line(n, answer)) for n, (ask, answer) in enumerate(said)]
    with over_pty("line-terminal", lines, press_ms=20) as terminal:
        press = terminal.press("5")
        assert press.opened_at - press.closed_at == pytest.approx(0.02)
        assert terminal.echoed() == ("1", "1", "5")
        assert terminal.lit() == 9
        assert terminal.identify() == "TERMINAL 1.0"


def test_scpi_daq() -> None:
    """Channels go out in ascending order, since the instrument scans them so."""
    lines = [
        (b"MEAS:VOLT:DC? (@101,102,301)", b"+4.98E+00,+1.2E-02,+5.01000000E+00\n"),
        (b"SENS:DIG:DATA:WORD? (@201)", b"+32769\n"),
    ]
    with over_scpi("scpi-daq", lines) as daq:
        levels = daq.levels(["301", "101", "102"])
        assert levels == {"101": 4.98, "102": 0.012, "301": 5.01}
        assert daq.read(["201.0", "201.1", "201.15"]) == {
            "201.0": True,
            "201.1": False,
            "201.15": True,
        }
        assert daq.identify() == "MAKER,MODEL,0,1.0"


def twice(question: bytes, answer: bytes) -> list[tuple[bytes, bytes]]:
    """Ask again, since SCPI has no checksum: a measurement counts once it repeats."""
    return [(question, answer)] * 2


SUPPLY = {"volts": 5.0, "amperes": 1.0}


def test_supply_e36() -> None:
    lines = [
        (b"CURR 1", None),
        (b"VOLT 4.5", None),
        (b"OUTP ON", None),
        *twice(b"MEAS:VOLT?", b"+4.49800E+00\n"),
        *twice(b"MEAS:CURR?", b"+1.2E-01\n"),
        *twice(b"VOLT:PROT:TRIP?", b"1\n"),
        *twice(b"VOLT:PROT:TRIP?", b"0\n"),
        *twice(b"MEAS:VOLT?", b"3.1\n"),
        *twice(b"MEAS:CURR?", b"0.999\n"),
    ]
    with over_scpi("scpi-supply", lines, dialect="e36", **SUPPLY) as supply:
        supply.set_voltage(4.5)
        supply.switch(on=True)
        assert supply.volts() == pytest.approx(4.498)
        assert supply.amperes() == pytest.approx(0.12)
        assert supply.state() == "over-voltage"
        assert supply.state() == "constant-current"


def test_supply_e36300_has_a_channel_list() -> None:
    lines = [
        (b"CURR 1,(@2)", None),
        (b"VOLT 5,(@2)", None),
        (b"OUTP OFF,(@2)", None),
        *twice(b"MEAS:VOLT? (@2)", b"0.0\n"),
    ]
    with over_scpi("scpi-supply", lines, dialect="e36", channel=2, **SUPPLY) as supply:
        supply.set_voltage(5)
        supply.switch(on=False)
        assert supply.volts() == 0


def test_supply_dp800() -> None:
    lines = [
        (b":APPL CH1,5,1", None),
        (b":OUTP CH1,ON", None),
        *twice(b":MEAS:ALL? CH1", b"5.0010,0.2500,1.250\n"),
        *twice(b":STAT:QUES:INST:ISUM1:COND?", b"8\n"),
        *twice(b":STAT:QUES:INST:ISUM1:COND?", b"2\n"),
        *twice(b":MEAS:ALL? CH1", b"5.0010,0.2500,1.250\n"),
    ]
    with over_scpi("scpi-supply", lines, dialect="dp800", **SUPPLY) as supply:
        supply.set_voltage(5)
        supply.switch(on=True)
        assert supply.volts() == pytest.approx(5.001)
        assert supply.state() == "over-current"
        assert supply.state() == "constant-voltage"


def test_supply_spd3303x() -> None:
    lines = [
        (b"CH2:CURR 1", None),
        (b"CH2:VOLT 5", None),
        (b"OUTP CH2,ON", None),
        *twice(b"MEAS:VOLT? CH2", b"5.000\n"),
        *twice(b"SYST:STAT?", b"0x12\n"),
        *twice(b"SYST:STAT?", b"0X30\r\n"),
        *twice(b"MEAS:VOLT? CH2", b"5.000\n"),
    ]
    with over_scpi("scpi-supply", lines, dialect="spd3303x", channel=2, **SUPPLY) as supply:
        supply.set_voltage(5)
        supply.switch(on=True)
        assert supply.volts() == 5
        assert supply.state() == "constant-current"
        assert supply.state() == "constant-voltage"


def test_channel_3_of_an_spd3303x_is_refused() -> None:
    """It has no measurement, and its bits of the status are other things."""
    kind = driver_class("scpi-supply").settings_type
    with pytest.raises(ValueError, match="channel 1 or 2"):
        kind(driver="scpi-supply", resource="h:1", dialect="spd3303x", channel=3, **SUPPLY)


def test_emulator_control_and_operator() -> None:
    """JSON lines; what is refused is not applicable, what is answered is the operator's."""
    hand = Dialogue(
        [
            (b'{"do": "present", "dice": [1, 1, 2], "pose": "flat"}', b'{"ok": true}\n'),
            (b'{"do": "shake"}', b'{"ok": true}\n'),
            (b'{"do": "shake"}', b'{"ok": true}\n'),
            (b'{"do": "cover", "on": true}', b'{"ok": true}\n'),
            (b'{"do": "cover", "on": false}', b'{"ok": false, "why": "no cover"}\n'),
        ]
    )
    with TcpPeer(scpi_server(hand)) as peer:
        with opened("emulator-control", address=peer.address) as control:
            control.present((1, 1, 2))
            control.shake(2)
            control.put_on()
            with pytest.raises(NotCapableError, match="no cover"):
                control.take_off()
        hand.finish()
    desk = Dialogue(
        [
            (b'{"ask": "All lit?", "clause": "ny.e.4"}', b'{"answer": "no"}\n'),
            (b'{"ask": "And now?", "clause": "ny.e.4"}', b'{"answer": "cannot tell"}\n'),
        ]
    )
    with TcpPeer(scpi_server(desk)) as peer:
        with opened("operator", address=peer.address) as operator:
            assert operator.confirm("All lit?", "ny.e.4") == "no"
            assert operator.confirm("And now?", "ny.e.4") == "cannot tell"
        desk.finish()
