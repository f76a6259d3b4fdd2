"""Rig files that tests change one thing of."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

STANDIN = Path(__file__).with_name("standin.py")

SMALL = f"""
title = "small bench"
[table]
shaker = "manual"
cover = "none"
[emulator]
program = ["{sys.executable}", "{STANDIN}"]
[devices.keys]
driver = "waveshare-relay"
port = "emulated"
baud = 115200
[devices.inputs]
driver = "modbus-rtu"
port = "emulated"
baud = 115200
channels = 64
[devices.hand]
driver = "emulator-control"
[keys]
press_ms = 5
gap_ms = 5
[keys.map]
1 = "keys:0"
2 = "keys:1"
3 = "keys:2"
4 = "keys:3"
5 = "keys:4"
6 = "keys:5"
clear = "keys:6"
[lamps.map]
small = "inputs:0"
big = ["inputs:1", "inputs:2"]
[roles]
presenter = "hand"
cover_sense = "inputs:50"
[references]
"inputs:62" = false
"inputs:63" = true
"""


@pytest.fixture
def rig_file(tmp_path: Path) -> Callable[..., Path]:
    """Write the small bench with replacements (old, new) and give its path."""

    def write(*changes: tuple[str, str], text: str = SMALL) -> Path:
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        path = tmp_path / "bench.toml"
        path.write_text(text)
        return path

    return write
