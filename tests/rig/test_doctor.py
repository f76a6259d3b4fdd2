"""`sicbo-hil doctor`: part by part, with what to do; its exit status."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

COMMAND = [str(Path(sys.executable).with_name("sicbo-hil")), "doctor"]


def doctor(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=60, check=False
    )


def test_a_good_rig(rig_file) -> None:
    done = doctor(str(rig_file()), "--json")
    assert done.returncode == 0, done.stderr
    checks = json.loads(done.stdout)
    assert {check["verdict"] for check in checks} == {"PASS"}
    assert {"device:keys", "device:inputs", "device:hand"} <= {check["part"] for check in checks}


def test_everything_that_is_missing_is_shown_at_once(rig_file) -> None:
    """Fails if the first device that does not open hides the others, or a traceback is shown."""
    text = rig_file().read_text()
    start, end = text.index("[emulator]"), text.index("[devices.keys]")
    text = text[:start] + text[end:]
    text = text.replace('"emulated"', '"/dev/ttyNONE"', 1).replace('"emulated"', '"/dev/ttyNIL"')
    text = text.replace(
        'driver = "emulator-control"', 'driver = "operator"\naddress = "localhost:9"'
    )
    text = text.replace("press_ms = 5", 'press_ms = 5\nhold_risk = "accepted"')
    done = doctor(str(rig_file(text=text)))
    assert done.returncode == 3
    for part in ("device:keys", "device:inputs", "device:hand"):
        assert part in done.stdout
    assert done.stdout.count("->") == 3
    assert "Traceback" not in done.stdout + done.stderr


def test_a_wrong_file_and_no_file(rig_file, tmp_path) -> None:
    done = doctor(str(rig_file(("gap_ms", "gap_sm"))))
    assert done.returncode == 2
    assert "did you mean 'gap_ms'" in done.stderr
    assert doctor(str(tmp_path / "none.toml")).returncode == 2
