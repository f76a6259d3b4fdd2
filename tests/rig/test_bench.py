"""Opening a bench, and every way out of it. The far end is a stand-in that is not our emulator."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from harness.rig import launch
from harness.rig.bench import open_bench
from harness.rig.errors import (
    NoReplyError,
    NotCapableError,
    NotThereError,
    PressUnknownError,
    RigBusyError,
)
from harness.rig.lock import hold
from harness.rig.rigfile import load_rig
from harness.verdicts import ConfigurationError, Verdict
from tests.rig.peers import PtyPeer, RelaysAndInputs, eventually, gone


def standin_pid(rig_path: Path) -> int:
    return int(rig_path.with_suffix(".pid").read_text())


def test_keys_and_lamps_by_a_standin(rig_file) -> None:
    path = rig_file()
    with open_bench(load_rig(path)) as bench:
        assert bench.keys is not None
        press = bench.keys.press("1")
        assert press.opened_at - press.closed_at >= 0.005
        sample = bench.lamps[0].sense()
        assert sample.path == "inputs"
        assert sample.lit == frozenset()
        pid = standin_pid(path)
        assert not gone(pid)
    assert eventually(lambda: gone(pid))


def test_missing_roles_are_none_and_named(rig_file) -> None:
    with open_bench(load_rig(rig_file())) as bench:
        assert bench.supply is None
        assert bench.dice_cameras == ()
        assert bench.lacks("keys", "supply", "dice_cameras") == ("supply", "dice_cameras")
        with pytest.raises(NotCapableError, match="supply") as caught:
            bench.need("keys", "supply")
        assert caught.value.verdict is Verdict.NOT_APPLICABLE


def test_what_the_standin_refuses_is_not_applicable(rig_file) -> None:
    with open_bench(load_rig(rig_file())) as bench:
        assert bench.presenter is not None
        with pytest.raises(NotCapableError, match="no present here"):
            bench.presenter.present((1, 2, 3))


def test_a_refused_fault_is_a_usage_error(rig_file) -> None:
    with (
        pytest.raises(ConfigurationError, match="no such fault"),
        open_bench(load_rig(rig_file()), ["refuse"]),
    ):
        pass


def test_a_standin_that_dies_is_told_with_its_last_words(rig_file) -> None:
    with (
        pytest.raises(NotThereError, match=r"^emulator: .*status 7: out of order"),
        open_bench(load_rig(rig_file()), ["die"]),
    ):
        pass


def test_a_standin_that_never_says_a_thing(rig_file, monkeypatch) -> None:
    monkeypatch.setattr(launch, "START_LIMIT_S", 0.5)
    with (
        pytest.raises(NotThereError, match=r"no line within 0\.5 s"),
        open_bench(load_rig(rig_file()), ["silent-start"]),
    ):
        pass


def test_a_standin_that_does_not_end_by_itself_is_killed(rig_file) -> None:
    path = rig_file()
    with open_bench(load_rig(path), ["deaf"]):
        pid = standin_pid(path)
    assert eventually(lambda: gone(pid))


def test_an_error_inside_leaves_nothing_behind(rig_file) -> None:
    path = rig_file()
    with pytest.raises(RuntimeError, match="inside"), open_bench(load_rig(path)):
        pid = standin_pid(path)
        raise RuntimeError("inside")
    assert eventually(lambda: gone(pid))


CHILD = """
import signal, sys, time
from pathlib import Path
from harness.rig.bench import open_bench
from harness.rig.rigfile import load_rig
# as from a shell, also where the tests were started with these ignored
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
with open_bench(load_rig(Path(sys.argv[1]))) as bench:
    bench.devices["keys"].switch("3", True)
    print("open", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_leaves_no_standin_behind(rig_file, number) -> None:
    path = rig_file()
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"open\n"
        pid = standin_pid(path)
        child.send_signal(number)
        try:
            child.wait(10)
        finally:
            child.kill()
    assert eventually(lambda: gone(pid))


def real_rig(rig_file, port: str) -> Path:
    """The small bench on a port of the test's own, without a stand-in."""
    text = rig_file().read_text()
    start, end = text.index("[emulator]"), text.index("[devices.keys]")
    text = text[:start] + text[end:]
    text = text[: text.index("[devices.hand]")] + text[text.index("[keys]") :]
    text = text.replace('presenter = "hand"\n', "").replace('"emulated"', f'"{port}"')
    text = text.replace("press_ms = 5", 'press_ms = 5\nhold_risk = "accepted"')
    text = text.replace("[devices.inputs]", "[devices.inputs]\nunit = 1").replace(
        "[devices.inputs]\nunit = 1", "[devices.inputs]"
    )
    text = text.replace("channels = 64", "channels = 64\nunit = 2")
    return rig_file(text=text)


class TwoUnits:
    """Relays at unit 1, inputs at unit 2, on one bus."""

    def __init__(self) -> None:
        self.relays, self.inputs = RelaysAndInputs(1), RelaysAndInputs(2)

    def __call__(self, frame: bytes) -> bytes | None:
        return (self.relays(frame) or b"") + (self.inputs(frame) or b"") or None


def test_a_killed_run_leaves_outputs_that_the_next_start_opens(rig_file) -> None:
    """kill -9 with a key held: the lock is free again, and the key is let go at the next start."""
    units = TwoUnits()
    with PtyPeer(units) as peer:
        path = real_rig(rig_file, peer.path)
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        child.kill()
        child.wait()
        child.stdout.close()
        assert units.relays.coils[3]
        with open_bench(load_rig(path)):
            assert not any(units.relays.coils)


def test_sigterm_opens_the_outputs(rig_file) -> None:
    units = TwoUnits()
    with PtyPeer(units) as peer:
        path = real_rig(rig_file, peer.path)
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        assert units.relays.coils[3]
        child.terminate()
        assert child.wait(10) == 128 + signal.SIGTERM
        child.stdout.close()
        assert not any(units.relays.coils)


def test_two_harnesses_never_drive_one_rig(rig_file) -> None:
    units = TwoUnits()
    with PtyPeer(units) as peer:
        rig = load_rig(real_rig(rig_file, peer.path))
        with open_bench(rig):
            heard = len(peer.heard)
            with pytest.raises(RigBusyError, match=str(os.getpid())) as caught, open_bench(rig):
                pass
            assert len(peer.heard) == heard, "the second harness spoke to the rig"
        assert caught.value.exit_status == 3
        with open_bench(rig):
            pass


def test_a_link_to_a_port_is_the_same_rig(tmp_path) -> None:
    place = tmp_path / "tty"
    place.write_text("")
    (tmp_path / "by-id").symlink_to(place)
    with hold("a", [str(place)]), pytest.raises(RigBusyError), hold("b", [str(tmp_path / "by-id")]):
        pass


def test_a_lost_press_is_not_sent_again(rig_file) -> None:
    """The reply to a press is lost after it took effect: one press at the table, outcome unknown,
    the relay is read again and let go."""
    units = TwoUnits()
    with PtyPeer(units) as peer:
        rig = load_rig(real_rig(rig_file, peer.path))
        with open_bench(rig) as bench:
            assert bench.keys is not None

            def lost(frame: bytes, reply: bytes) -> bytes | None:
                on = frame[1] == 5 and frame[4] == 0xFF
                units.relays.spoil = None if on else units.relays.spoil
                return None if on else reply

            units.relays.spoil = lost
            with pytest.raises(PressUnknownError) as caught:
                bench.keys.press("2")
            assert caught.value.state is True
            assert units.relays.presses == [1]
            assert not any(units.relays.coils)
            assert caught.value.to_json()["cause"] == "no-reply"


def test_a_port_that_does_not_exist_ends_within_its_time(rig_file) -> None:
    began = time.monotonic()
    with (
        pytest.raises(NotThereError, match="keys") as caught,
        open_bench(load_rig(real_rig(rig_file, "/dev/ttyNONE"))),
    ):
        pass
    assert caught.value.exit_status == 3
    assert time.monotonic() - began < 5


def test_a_wrong_baud_rate_is_told_at_open(rig_file) -> None:
    """The slave answers only at 19200: the file says 115200, and the error says so."""
    import termios

    relays = RelaysAndInputs(1)

    def at_19200(frame: bytes) -> bytes | None:
        speed = termios.tcgetattr(peer.master)[4]
        return relays(frame) if speed == termios.B19200 else None

    with PtyPeer(at_19200) as peer:
        rig = load_rig(real_rig(rig_file, peer.path))
        with pytest.raises(NoReplyError, match="baud = 19200"), open_bench(rig):
            pass


def test_unplugged_and_plugged_in_again(rig_file, tmp_path) -> None:
    """F38: a press on a vanished port is an error and is not sent later; reads find the port again,
    and what the relay held is let go before the next press."""
    link = tmp_path / "by-id"
    units = TwoUnits()
    with PtyPeer(units) as second, PtyPeer(units) as first:
        link.symlink_to(first.path)
        with open_bench(load_rig(real_rig(rig_file, str(link)))) as bench:
            assert bench.keys is not None
            bench.keys.press("1")
            first.close()
            link.unlink()
            units.relays.coils[4] = True
            threading.Timer(0.5, lambda: link.symlink_to(second.path)).start()
            with pytest.raises(PressUnknownError):
                bench.keys.press("2")
            assert units.relays.presses == [0]
            assert bench.lamps[0].sense().unknown == frozenset()
            bench.release_all()
            assert not any(units.relays.coils)
            bench.keys.press("3")
            assert units.relays.presses == [0, 2]
