"""Drivers are found by name in installed packages, a user's own among them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.rig.drivers import driver_class, registered
from harness.verdicts import ConfigurationError

DRIVER = """
from harness.rig.device import DeviceSettings, LinkRecord

class Settings(DeviceSettings):
    level: bool
    def channel_problem(self, channel, use):
        return None

class Mine:
    settings_type, provides = Settings, frozenset({"inputs"})
    def __init__(self, name, level):
        self.name, self.level, self.link = name, level, LinkRecord(name)
    @classmethod
    def open(cls, name, settings, around):
        return cls(name, settings.level)
    def read(self, channels):
        return {channel: self.level for channel in channels}
    def identify(self):
        return "mine"
    def close(self):
        pass
"""

USE = """
import sys
from pathlib import Path
from harness.rig.bench import open_bench
from harness.rig.rigfile import load_rig
from harness.verdicts import HarnessError
try:
    with open_bench(load_rig(Path(sys.argv[1]))) as bench:
        print(bench.devices["part"].identify(), bench.lamps[0].sense().lit)
except HarnessError as error:
    print(error)
    sys.exit(error.exit_status)
"""

RIG = """
[table]
shaker = "manual"
cover = "none"
[devices.part]
driver = "mine"
level = true
[lamps.map]
small = "part:anything"
"""


def package(folder: Path, name: str, target: str) -> None:
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[sicbo_hil.drivers]\nmine = {target}\n")


def used(tmp_path: Path) -> subprocess.CompletedProcess[str]:
    rig = tmp_path / "bench.toml"
    rig.write_text(RIG)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    return subprocess.run(
        [sys.executable, "-c", USE, str(rig)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
    )


def test_a_users_driver_in_a_package_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "my_driver.py").write_text(DRIVER)
    package(tmp_path, "mine", "my_driver:Mine")
    done = used(tmp_path)
    assert done.stdout.strip() == "mine frozenset({'small'})", done.stderr


def test_two_drivers_of_one_name_are_an_error(tmp_path: Path) -> None:
    package(tmp_path, "mine", "my_driver:Mine")
    package(tmp_path, "yours", "your_driver:Yours")
    done = used(tmp_path)
    assert done.returncode == 2
    assert "one driver of this name" in done.stdout
    assert "my_driver:Mine" in done.stdout
    assert "your_driver:Yours" in done.stdout


@pytest.mark.parametrize("text", ["import nothing_of_this_name", "Mine = 3"])
def test_a_driver_that_cannot_be_loaded_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "my_driver.py").write_text(text)
    package(tmp_path, "mine", "my_driver:Mine")
    done = used(tmp_path)
    assert done.returncode == 2, done.stderr
    assert "driver mine" in done.stdout


def test_every_built_in_driver_loads() -> None:
    assert len(registered()) >= 13
    for name in registered():
        assert driver_class(name).provides


def test_an_unknown_driver_lists_the_known() -> None:
    with pytest.raises(ConfigurationError, match="waveshare-relay"):
        driver_class("nothing")
