"""A table simulated by somebody else, from the public protocols, driven with a rig file.

Each bench has what its protocol leaves open another way: slow and broken-up replies, an idling
line, small hexadecimal, other line ends and formats of numbers. Fails if a driver wants more than
the protocol says.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.rig.bench import open_bench
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig
from harness.rig.selfcheck import self_check
from harness.rules.books import load_book
from harness.verdicts import Verdict

PROGRAM = Path(__file__).with_name("maker_table.py")
BOOK = load_book("ny-5324.51")
AREAS = sorted(BOOK.areas)

RELAY = '[devices.keys]\ndriver = "waveshare-relay"\nport = "emulated"\nbaud = 115200\n'
INPUTS = "".join(
    f'[devices.in-{n}]\ndriver = "waveshare-inputs"\nport = "emulated"\nbaud = 115200\n'
    f"unit = {n + 2}\n"
    for n in range(7)
)
PLAIN = '[devices.in]\ndriver = "modbus-rtu"\nport = "emulated"\nbaud = 115200\nchannels = 50\n'
ADAM = '[devices.keys]\ndriver = "adam-4000"\nport = "emulated"\nmodel = "4068"\nbaud = 115200\n'
NUMATO = '[devices.keys]\ndriver = "numato"\nport = "emulated"\nrelays = 8\n'
DAQ = '[devices.daq]\ndriver = "scpi-daq"\nresource = "emulated"\ndialect = "{}"\n'
SUPPLY = (
    '[devices.psu]\ndriver = "scpi-supply"\nresource = "emulated"\ndialect = "{}"\n'
    "volts = 12.0\namperes = 2.0\n"
)
POWERED = '[roles]\nsupply = "psu"\n[limits]\nsupply_tolerance_volts = 0.1\n'


def volt(n: int) -> str:
    return f"daq:{n // 20 + 1}{n % 20 + 1:02}"


BENCHES: dict[str, tuple[str, str, Callable[[int], str], str, str]] = {
    "waveshare, timed": (
        RELAY + 'pulse = "timed"\n' + INPUTS,
        "{}",
        lambda n: f"in-{n // 8}:{n % 8}",
        "press_ms = 100",
        "",
    ),
    "waveshare, slow and in pieces": (
        RELAY + PLAIN,
        "{}",
        lambda n: f"in:{n}",
        "press_ms = 20",
        "slow_ms = 15\npiece = 1",
    ),
    "waveshare, an idling line": (
        RELAY + PLAIN,
        "{}",
        lambda n: f"in:{n}",
        "press_ms = 20",
        'idle = "00ff"\nslow_ms = 8',
    ),
    "waveshare, an entry key": (
        RELAY + PLAIN,
        "{}",
        lambda n: f"in:{n}",
        "press_ms = 20",
        "",
    ),
    "adam with checksum, small hexadecimal": (
        ADAM + "checksum = true\n" + PLAIN,
        "out-{}",
        lambda n: f"in:{n}",
        "press_ms = 20",
        'small_hex = true\npiece = 3\nidle = "ff"',
    ),
    "icp das with its watchdog": (
        ADAM + "watchdog_s = 1.0\n" + PLAIN,
        "out-{}",
        lambda n: f"in:{n}",
        "press_ms = 20",
        "dcon = true",
    ),
    "numato, 34970A, E36xxx": (
        NUMATO + DAQ.format("34970A") + SUPPLY.format("e36"),
        "relay-{}",
        volt,
        "press_ms = 20",
        'newline = "\\r"\npiece = 5',
    ),
    "numato with a slow echo, DAQ970A, DP800": (
        NUMATO
        + "reply_ms = 100\n"
        + DAQ.format("DAQ970A")
        + SUPPLY.format("dp800")
        + "channel = 1\n",
        "relay-{}",
        volt,
        "press_ms = 20",
        'echo_ms = 13\nnewline = "\\r\\n"\nnumber = "%.3f VDC"\nscpi_end = "\\r\\n"',
    ),
    "numato, digital words, SPD3303X": (
        NUMATO + DAQ.format("DAQ970A") + SUPPLY.format("spd3303x") + "channel = 2\n",
        "relay-{}",
        lambda n: f"daq:{n // 16 % 3 + 1}0{n // 48 + 1}.{n % 16}",
        "press_ms = 20",
        'number = "%.1f"\nscpi_end = "\\r\\n"',
    ),
}


def written(path: Path, name: str) -> Path:
    """Write one bench's rig file, and beside it a link to the program that it names."""
    path.with_name(PROGRAM.name).symlink_to(PROGRAM)
    devices, key, lamp, press, options = BENCHES[name]
    entry_key = "entry key" in name
    keys = ["1", "2", "3", "4", "5", "6", "clear", *(["enter"] if entry_key else [])]
    lines = [
        '[table]\nshaker = "manual"\ncover = "opaque"',
        f'commit = "{"entry-key" if entry_key else "third-key"}"',
        '[map_verified]\nby = "the maker"\nat = 2026-11-20\nhow = "each exercised alone"',
        f'[emulator]\nprogram = ["{{python}}", "{PROGRAM.name}"]\n[emulator.options]\n{options}',
        devices,
        f"[keys]\n{press}\ngap_ms = 20\n[keys.map]",
        *(f'{name} = "keys:{key.format(n)}"' for n, name in enumerate(keys)),
        "[lamps.map]",
        *(f'{area} = "{lamp(n)}"' for n, area in enumerate(AREAS)),
        POWERED if "psu" in devices else "",
    ]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize("name", BENCHES)
def test_a_bench_of_somebody_elses_works(name, tmp_path) -> None:
    rig = load_rig(written(tmp_path / "maker.toml", name), BOOK.areas)
    slow_s = 0.1
    with open_bench(rig) as bench:
        assert not [c for c in self_check(bench) if c.verdict is not Verdict.PASS]
        assert bench.keys is not None
        for dice in ((1, 1, 2), (6, 6, 6)):
            for key in ("clear", *map(str, dice)):
                bench.keys.press(key)
            if rig.table.commit == "entry-key":
                assert bench.lamps[0].sense().lit == frozenset()
                bench.keys.press("enter")
            time.sleep(slow_s)
            sample = bench.lamps[0].sense()
            assert sample.lit == BOOK.winning_areas(dice)
            assert not sample.unknown
        assert not any(link.failures for link in bench.links)


def ran(rig: Path, out: Path, *more: str, inspection: str = "cover") -> dict[str, Any]:
    """Run a rig file by the command line; give the summary."""
    command = [sys.executable, "-c", "import sys; from harness.cli.main import main; main()"]
    command += ["run", "--rig", str(rig), "--rules", BOOK.id, "--inspection", inspection]
    done = subprocess.run(
        [*command, "--out", str(out), *more],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "Traceback" not in done.stderr
    summary: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return {"status": done.returncode, **summary}


def test_a_whole_run_on_a_makers_table(tmp_path) -> None:
    """It lays no dice: results are entered, keys and lamps only, and every one of them passes."""
    rig = written(tmp_path / "maker.toml", "waveshare, an idling line")
    summary = ran(rig, tmp_path / "run")
    assert summary["status"] == 0
    assert summary["verdict"] == "PASS"
    result = summary["results"][BOOK.id]
    assert result["checked"] == result["passed"] == 17
    assert result["mode"] == "entered"


def test_a_fault_of_a_makers_table_is_located(tmp_path) -> None:
    """The text of `--fault` goes to the maker's program unread."""
    rig = written(tmp_path / "maker.toml", "icp das with its watchdog")
    summary = ran(rig, tmp_path / "run", "--fault", "swap:small,big")
    assert summary["status"] == 1
    assert summary["verdict"] == "DUT_FAIL"
    (finding,) = summary["findings"]
    assert set(finding["part"]) == {"lamp:small", "lamp:big"}
    assert finding["fault"] == "swapped"


def test_a_program_without_hands_lays_no_dice(tmp_path) -> None:
    """What needs hands is not applicable; results are entered without dice, and it is said so."""
    path = tmp_path / "handless.toml"
    path.write_text(
        f'include = ["{find_rig("emulated")}"]\n'
        f'[emulator]\nprogram = ["{{python}}", "{PROGRAM.with_name("handless.py")}"]\n'
        f'[table]\npaytable = "{find_rig("emulated").parent}/paytables/new-york.json"\n'
    )
    summary = ran(path, tmp_path / "run", inspection="minimum")
    assert summary["status"] == 0, summary["findings"]
    assert summary["counts"].keys() == {"PASS", "NOT_APPLICABLE"}
    assert summary["counts"]["NOT_APPLICABLE"] > 5
    assert summary["results"][BOOK.id]["mode"] == "entered"
    assert summary["results"][BOOK.id]["passed"] == 1
