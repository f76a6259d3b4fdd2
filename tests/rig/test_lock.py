"""The rig lock: one holder, known by name, nothing left behind, not even after a crash."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.rig.errors import RigBusyError
from harness.rig.lock import hold, lock_folder

HOLDER = """
import sys, time
from harness.rig.lock import hold
with hold("other", [sys.argv[1]]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return lock_folder()


def test_the_folder_is_this_users_alone(folder) -> None:
    assert folder.stat().st_mode & 0o077 == 0


def test_nothing_is_left_behind(folder) -> None:
    with hold("rig", ["/dev/ttyA", "socket://a:1"]):
        assert len(list(folder.iterdir())) == 2
    assert not list(folder.iterdir())


def test_all_places_or_none(folder) -> None:
    """Fails if the first of two places stays locked when the second is busy."""
    with hold("one", ["/dev/ttyB"]):
        with pytest.raises(RigBusyError), hold("two", ["/dev/ttyA", "/dev/ttyB"]):
            pass
        with hold("three", ["/dev/ttyA"]):
            pass


def test_another_process_is_named_and_its_crash_frees_the_rig() -> None:
    child = subprocess.Popen([sys.executable, "-c", HOLDER, "/dev/ttyA"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    try:
        named = pytest.raises(RigBusyError, match=f"process {child.pid} ")
        with named as caught, hold("mine", ["/dev/ttyA"]):
            pass
        assert caught.value.exit_status == 3
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    with hold("mine", ["/dev/ttyA"]):
        pass


def test_never_two_holders(tmp_path) -> None:
    """Many take and drop one lock at once; fails if removing the file lets two in."""
    inside = tmp_path / "inside"

    def work(_: int) -> int:
        held = 0
        for _ in range(60):
            try:
                with hold("rig", ["/dev/ttyA"]):
                    inside.touch(exist_ok=False)
                    held += 1
                    inside.unlink()
            except RigBusyError:
                continue
        return held

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(8))) > 0
