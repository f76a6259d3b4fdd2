"""`sicbo-hil emulate` as a person or a script starts it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import RIGS, ROOT

COMMAND = [sys.executable, "-c", "from harness.cli.main import main; main()", "emulate"]


def launched(*arguments: str, **how) -> subprocess.Popen:
    return subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT, **how
    )


@pytest.mark.parametrize("rig", ["emulated", str(RIGS / "emulated-tumbler.toml")])
def test_first_line_then_on_until_stopped(rig):
    process = launched(rig, stdin=subprocess.DEVNULL)
    with process.stdout:
        said = json.loads(process.stdout.readline())
        assert Path(said["endpoints"]["keys"]).exists()
        time.sleep(0.6)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        assert not Path(said["endpoints"]["keys"]).exists()


def test_a_closed_pipe_as_stdin_does_not_stop_it():
    process = launched("emulated", stdin=subprocess.PIPE)
    process.stdin.close()
    with process.stdout:
        process.stdout.readline()
        time.sleep(0.6)
        assert process.poll() is None
        process.terminate()
        process.wait(10)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["no-such-rig"], "no-such-rig"),
        (["emulated", "--fault", "F99"], "F99"),
        ([str(RIGS / "common")], "common"),
    ],
)
def test_refusals_are_one_line_and_status_2(arguments, named):
    done = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, cwd=ROOT, timeout=30, check=False
    )
    assert done.returncode == 2
    assert named in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_what_a_killed_emulator_left_is_swept_up_by_the_next(start):
    first = start()
    folder = Path(first.endpoints["keys"]).parent
    first.process.kill()
    first.process.wait(10)
    assert folder.exists()
    second = start()
    assert not folder.exists()
    assert Path(second.endpoints["keys"]).exists()
