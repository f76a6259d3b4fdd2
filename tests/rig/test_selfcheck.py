"""The self-check finds our own faults before a table is judged, and names part and remedy."""

from __future__ import annotations

from datetime import date

import pytest

from harness.rig.bench import open_bench
from harness.rig.errors import OutputsNotOpenError
from harness.rig.rigfile import load_rig
from harness.rig.selfcheck import Check, inputs_follow, self_check
from tests.rig.peers import PtyPeer, TcpPeer, lines_of
from tests.rig.test_bench import TwoUnits, real_rig

TODAY = date(2026, 6, 1)


def checks(rig_file, units: TwoUnits, *changes: tuple[str, str], more: str = "") -> list[Check]:
    with PtyPeer(units) as peer:
        path = real_rig(rig_file, peer.path)
        text = path.read_text() + more
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        with open_bench(load_rig(rig_file(text=text))) as bench:
            return list(self_check(bench, TODAY))


def bad(found: list[Check]) -> dict[str, str]:
    return {check.part: check.fault for check in found if check.finding() is not None}


@pytest.fixture
def units() -> TwoUnits:
    units = TwoUnits()
    units.inputs.inputs[63] = True
    return units


def test_a_good_bench_is_good(rig_file, units) -> None:
    found = checks(rig_file, units)
    assert bad(found) == {}
    assert {check.part for check in found} >= {"device:keys", "input:inputs:62", "keys"}


def test_a_stuck_reference(rig_file, units) -> None:
    units.inputs.inputs[63] = False
    found = checks(rig_file, units)
    assert bad(found) == {"input:inputs:63": "stuck"}
    assert all(check.remedy for check in found if check.finding())


def test_another_device_than_the_file_says(rig_file, units) -> None:
    change = ('driver = "waveshare-relay"', 'driver = "waveshare-relay"\nidentity = "V9.99"')
    found = checks(rig_file, units, change)
    assert bad(found) == {"device:keys": "wrong-device"}


@pytest.mark.parametrize(
    ("due", "faults"),
    [("2026-05-31", {"device:inputs": "calibration-expired"}), ("2026-06-01", {})],
)
def test_calibration_dates(rig_file, units, due, faults) -> None:
    change = ("channels = 64", f"channels = 64\ncalibration_due = {due}")
    assert bad(checks(rig_file, units, change)) == faults


def test_a_welded_relay_is_seen_on_its_second_contact(rig_file, units) -> None:
    units.inputs.inputs[40] = True
    more = '\n[keys.readback]\n1 = "inputs:40"\n2 = "inputs:41"\n'
    with PtyPeer(units) as peer:
        text = real_rig(rig_file, peer.path).read_text() + more
        rig = load_rig(rig_file(text=text))
        with pytest.raises(OutputsNotOpenError, match="relay:1"), open_bench(rig):
            pass


class StuckInputs(TwoUnits):
    """The lamp of big is lit; relay 7 puts the inputs to a level; input 0 is stuck at the other."""

    def __init__(self, level: bool) -> None:
        super().__init__()
        self.level = level

    def __call__(self, frame: bytes) -> bytes | None:
        reply = self.relays(frame)
        lamps = [channel in (1, 2) for channel in range(64)]
        self.inputs.inputs = [self.level] * 64 if self.relays.coils[7] else lamps
        self.inputs.inputs[0] = not self.level
        self.inputs.inputs[62], self.inputs.inputs[63] = False, True
        return (reply or b"") + (self.inputs(frame) or b"") or None


@pytest.mark.parametrize("word", ["high", "low"])
def test_a_stuck_lamp_input_is_told_from_its_lamp(rig_file, word) -> None:
    """F17: the input is found, and the lamp of big, which is lit, is not blamed."""
    more = f'\n[input_test]\n{word} = "keys:7"\ndevices = ["inputs"]\nsettle_ms = 5\n'
    found = checks(rig_file, StuckInputs(word == "high"), more=more)
    assert bad(found) == {"input:small": "stuck"}


def test_a_broken_link_is_one_check_not_a_crash(rig_file, units) -> None:
    """The inputs fall silent once the bench is open: each check that needs them says so."""
    with PtyPeer(units) as peer:
        path = real_rig(rig_file, peer.path)
        text = path.read_text().replace(
            "channels = 64", "channels = 64\nreply_ms = 50\nlate_ms = 0"
        )
        with open_bench(load_rig(rig_file(text=text))) as bench:
            units.inputs.unit = 9
            found = list(self_check(bench, TODAY))
    assert bad(found) == {"device:inputs": "no-reply"}


def test_a_test_relay_that_does_not_answer_is_named_and_not_the_inputs(rig_file, units) -> None:
    """F31, F38: fails if the inputs that it puts to a level are blamed."""
    more = '\n[input_test]\nhigh = "keys:7"\ndevices = ["inputs"]\nsettle_ms = 5\n'
    with PtyPeer(units) as peer:
        text = (
            real_rig(rig_file, peer.path)
            .read_text()
            .replace("channels = 8", "channels = 8\nreply_ms = 50\nlate_ms = 0")
        )
        with open_bench(load_rig(rig_file(text=text + more))) as bench:
            units.relays.unit = 9
            found = list(inputs_follow(bench))
            units.relays.unit = 1
    assert bad(found) == {"device:keys": "no-reply"}


def test_spoilt_and_repeated_reads_are_in_the_record(rig_file, units) -> None:
    """F32: a corrupt reply is read again, and counted."""
    with PtyPeer(units) as peer, open_bench(load_rig(real_rig(rig_file, peer.path))) as bench:
        (inputs,) = (link for link in bench.links if link.device == "inputs")
        assert not inputs.failures

        def corrupt(_frame: bytes, reply: bytes) -> bytes:
            units.inputs.spoil = None
            return reply[:-1] + bytes((reply[-1] ^ 1,))

        units.inputs.spoil = corrupt
        assert bench.lamps[0].sense().lit == frozenset()
        assert inputs.failures == {"corrupt-reply": 1}
        assert inputs.repeats == 1


@pytest.mark.parametrize(
    ("said", "good"),
    [
        ("MAKER,S100,7,1.0", True),
        ("MAKER , S100 , 7 , 1.0 ", True),
        ("MAKER,  S100,7", True),
        ("MAKER,S10 0,7,1.0", False),
    ],
)
def test_an_identification_is_compared_without_its_spacing(rig_file, said, good) -> None:
    def serve(link) -> None:
        for _ in lines_of(link):
            link.sendall(said.encode() + b"\r\n")

    with TcpPeer(serve) as peer:
        text = f"""
            [table]
            shaker = "manual"
            cover = "none"
            [devices.daq]
            driver = "scpi-daq"
            resource = "{peer.address}"
            identity = "MAKER, S100"
            """
        with open_bench(load_rig(rig_file(text=text))) as bench:
            found = bad(list(self_check(bench, TODAY)))
    assert found == ({} if good else {"device:daq": "wrong-device"})


def found_amiss(rig_file, limits: str, **measured: str) -> dict[str, str]:
    """Give what the self-check finds amiss on a bench that is a supply of 12 V and nothing else."""
    said = {"*IDN?": "M,S,0,1", "MEAS:VOLT?": "12", "MEAS:CURR?": "0.2", "VOLT:PROT:TRIP?": "0"}
    said |= {f"MEAS:{name}?": value for name, value in measured.items()}

    def serve(link) -> None:
        for line in lines_of(link):
            link.sendall(said[line.decode()].encode() + b"\n")

    with TcpPeer(serve) as peer:
        text = f"""
            [table]
            shaker = "manual"
            cover = "none"
            [devices.psu]
            driver = "scpi-supply"
            resource = "{peer.address}"
            dialect = "e36"
            volts = 12.0
            amperes = 3.0
            [roles]
            supply = "psu"
            [limits]
            {limits}
            """
        with open_bench(load_rig(rig_file(text=text))) as bench:
            return bad(list(self_check(bench, TODAY)))


@pytest.mark.parametrize(
    ("volts", "uncertainty", "good"),
    [("12.25", 0.0, True), ("12.25", 0.1, False), ("12.15", 0.1, True), ("11.65", 0.0, False)],
)
def test_a_voltage_is_held_to_its_limits_with_its_uncertainty(
    rig_file, volts, uncertainty, good
) -> None:
    """12 V with 0.3 V tolerance: fails if a value within its uncertainty of a limit passes."""
    limits = f"supply_tolerance_volts = 0.3\nuncertainty_volts = {uncertainty}"
    found = found_amiss(rig_file, limits, VOLT=volts)
    assert found == ({} if good else {"device:psu": "wrong-voltage"})


@pytest.mark.parametrize(("amperes", "good"), [("1.85", True), ("1.95", False)])
def test_a_current_above_its_limit_is_no_bench_to_judge_by(rig_file, amperes, good) -> None:
    """Fails if the rig file's limit is read and not held to."""
    found = found_amiss(rig_file, "supply_amperes_max = 1.9", CURR=amperes)
    assert found == ({} if good else {"device:psu": "over-current"})
