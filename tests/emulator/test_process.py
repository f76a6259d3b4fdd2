"""The process: what it prints, when it ends, what it leaves behind, how it refuses."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import RIGS, ROOT, Emulated

COMMAND = [sys.executable, "-m", "harness.emulator"]
DEFAULT = str(RIGS / "emulated.toml")


def gone(pid: int, within_s: float = 10.0) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        status = Path(f"/proc/{pid}/status")
        if status.exists() and "\nState:\tZ" in status.read_text():
            return True
        time.sleep(0.05)
    return False


def test_first_line_names_every_emulated_device(start):
    emulated = start()
    served = {"keys", "inputs", "test-relays", "dice-camera", "hand", "desk"}
    assert set(emulated.endpoints) == served
    assert emulated.endpoints["hand"] == emulated.control
    assert emulated.endpoints["dice-camera"].startswith("http://127.0.0.1:")


@pytest.mark.parametrize(("how", "status"), [("eof", 0), (signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_ends_cleanly_and_removes_its_ports(start, how, status):
    emulated = start()
    port = Path(emulated.endpoints["keys"])
    assert port.exists()
    if how == "eof":
        emulated.process.stdin.close()
    else:
        emulated.process.send_signal(how)
    assert emulated.process.wait(10) == status
    assert not port.exists()
    assert not port.parent.exists()


def test_dies_with_a_parent_that_was_killed():
    """The parent is killed with SIGKILL and had given it no pipe that would close."""
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import subprocess, sys, time\n"
            f"child = subprocess.Popen({[*COMMAND, DEFAULT]!r}, stdin=subprocess.DEVNULL,"
            " stdout=subprocess.PIPE)\n"
            "print(child.pid, child.stdout.readline(), flush=True)\n"
            "time.sleep(60)",
        ],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    with parent.stdout:
        child = int(parent.stdout.readline().split()[0])
    parent.kill()
    parent.wait(5)
    assert gone(child)


def test_outlives_the_thread_that_started_it(start):
    """A launcher's thread may end while its process goes on; the bench must stay."""
    import threading

    made: list[Emulated] = []
    thread = threading.Thread(target=lambda: made.append(start()))
    thread.start()
    thread.join()
    time.sleep(0.7)
    assert made[0].process.poll() is None
    assert made[0].do("state")["ok"]


def test_standing_alone_it_does_not_mind_the_end_of_stdin():
    process = subprocess.Popen(
        [*COMMAND, DEFAULT],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "SICBO_HIL_STANDALONE": "1"},
    )
    with process.stdout:
        json.loads(process.stdout.readline())
        time.sleep(0.6)
        assert process.poll() is None
        process.terminate()
        assert process.wait(10) == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([DEFAULT, "--fault", "F99"], "F99"),
        ([DEFAULT, "--fault", "F10:lump=total-9"], "lamp=total-9"),
        ([DEFAULT, "--fault", "F10:lamp=total-3"], "total-3"),
        ([DEFAULT, "--fault", "F10:lamp"], "F10:lamp"),
        (["no-such-file.toml"], "no-such-file.toml"),
    ],
)
def test_refuses_in_one_line_with_status_2(arguments, named):
    done = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, cwd=ROOT, timeout=20, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert named in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[devices.odd]\ndriver = "teapot"\nport = "emulated"\n', "teapot"),
        ('[lamps.map]\nsmall = "nowhere:0"\n', "nowhere"),
        ('[lamps.map]\nsmall = "inputs"\n', "lamps.map.small"),
        ("[emulator]\ntime_scale = 0\n", "time_scale"),
        ('[table]\nshaker = "robot"\n', "robot"),
    ],
)
def test_refuses_a_file_that_cannot_be_emulated(rig_file, text, named):
    done = subprocess.run(
        [*COMMAND, str(rig_file(text))],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=20,
        check=False,
    )
    assert done.returncode == 2
    assert named in done.stderr
    assert len(done.stderr.splitlines()) == 1
