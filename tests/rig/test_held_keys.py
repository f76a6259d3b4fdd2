"""A host killed in the middle of a press holds no key down, where the part can see to it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.rig.peers import PtyPeer, RelaysAndInputs, eventually, framed

CHILD = """
import sys
from pathlib import Path
from harness.rig.bench import open_bench
from harness.rig.rigfile import load_rig
with open_bench(load_rig(Path(sys.argv[1]))) as bench:
    print("open", flush=True)
    bench.keys.press("3", 2.0)
"""

RIG = """
[table]
shaker = "manual"
cover = "none"
[devices.keys]
port = "{port}"
{device}
[keys]
press_ms = 100
[keys.map]
"""


def killed_while_pressing(path: Path, pressed) -> None:
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"open\n"
    assert eventually(pressed, 5.0)
    child.kill()
    child.wait()
    child.stdout.close()


def written(path: Path, port: str, device: str, channel: str) -> Path:
    keys = ("1", "2", "3", "4", "5", "6", "clear")
    lines = "".join(f'{key} = "keys:{channel}{n}"\n' for n, key in enumerate(keys))
    path.write_text(RIG.format(port=port, device=device) + lines)
    return path


class TimingRelays(RelaysAndInputs):
    """Relays that time a pulse themselves: FC05 at 0x0200 + channel, in steps of 100 ms."""

    def __call__(self, frame: bytes) -> bytes | None:
        reply = super().__call__(frame)
        if reply == frame and frame[2] == 0x02:
            channel, steps = frame[3], int.from_bytes(frame[4:6], "big")
            self.coils[channel] = True
            opening = threading.Timer(steps / 10, self.coils.__setitem__, (channel, False))
            opening.daemon = True
            opening.start()
        return reply


def test_a_timed_pulse_ends_without_its_host(tmp_path) -> None:
    """Fails if the press is a coil that is switched on, and would have to be switched off."""
    relays = TimingRelays()
    with PtyPeer(relays) as peer:
        device = 'driver = "waveshare-relay"\nbaud = 115200\npulse = "timed"'
        path = written(tmp_path / "timed.toml", peer.path, device, "")
        killed_while_pressing(path, lambda: relays.coils[2])
        heard = len(peer.heard)
        assert relays.coils[2]
        assert eventually(lambda: not any(relays.coils), 4.0)
        assert len(peer.heard) == heard
        assert framed(1, 5, 2, 2, 0, 20) in peer.heard


class GuardedModule:
    """Eight outputs with a host watchdog, as ICP DAS describes them; fed by `~**`."""

    def __init__(self) -> None:
        self.closed: set[int] = set()
        self.tripped = False
        self._limit_s: float | None = None
        self._watchdog: threading.Timer | None = None

    def __call__(self, heard: bytes) -> bytes | None:
        replies = [self._answer(line.decode()) for line in heard.split(b"\r")[:-1]]
        return "".join(reply + "\r" for reply in replies if reply).encode() or None

    def _answer(self, line: str) -> str | None:
        if line == "~**":
            self._feed()
            return None
        if line == "$016":
            return f"!{sum(1 << n for n in self.closed):02X}0000"
        if line == "~011":
            self.tripped = False
            return "!01"
        if line.startswith("~013"):
            self._limit_s = int(line[5:], 16) / 10 if line[4] == "1" else None
            self._feed()
            return "!01"
        if line.startswith("#011") and not self.tripped:
            (self.closed.add if line[-1] == "1" else self.closed.discard)(int(line[4]))
            return ">"
        return "!" if line.startswith("#01") else "?01"

    def _feed(self) -> None:
        if self._watchdog is not None:
            self._watchdog.cancel()
        self._watchdog = None
        if self._limit_s is not None:
            self._watchdog = threading.Timer(self._limit_s, self._trip)
            self._watchdog.daemon = True
            self._watchdog.start()

    def _trip(self) -> None:
        self.tripped, self._limit_s = True, None
        self.closed.clear()


GUARDED = 'driver = "adam-4000"\nmodel = "4068"\nwatchdog_s = 0.6'


def test_an_armed_watchdog_lets_go_without_its_host(tmp_path) -> None:
    """Fails if the watchdog is not armed, or fed by what outlives the harness."""
    module = GuardedModule()
    with PtyPeer(module) as peer:
        path = written(tmp_path / "guarded.toml", peer.path, GUARDED, "out-")
        killed_while_pressing(path, lambda: module.closed == {2})
        assert eventually(lambda: module.tripped, 3.0)
        assert not module.closed


def test_a_press_that_a_tripped_watchdog_ignores_is_no_press(tmp_path) -> None:
    """`!` to an order says that it was ignored; fails if it is taken for done."""
    from harness.rig.bench import open_bench
    from harness.rig.errors import DeviceRefusalError
    from harness.rig.rigfile import load_rig

    module = GuardedModule()
    with PtyPeer(module) as peer:
        path = written(tmp_path / "guarded.toml", peer.path, GUARDED, "out-")
        with open_bench(load_rig(path)) as bench:
            assert bench.keys is not None
            bench.keys.press("1")
            time.sleep(1.0)
            assert not module.tripped, "the watchdog was not fed"
            module._trip()
            with pytest.raises(DeviceRefusalError, match="watchdog has tripped"):
                bench.keys.press("2")
            assert not module.closed
            assert bench.links[0].failures == {"refused": 1}
