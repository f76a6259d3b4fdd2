"""Emulators that outlive the runs made on them, over the wire."""

from __future__ import annotations

import time

import pytest

from harness.campaign.bench import ControlError, EmulatedBench
from harness.rig.bench import open_bench
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    rig = load_rig(find_rig("emulated"))
    with EmulatedBench(rig, tmp_path_factory.mktemp("campaign")) as running:
        yield running


def lit_after(rig_file, keys: str) -> frozenset[str]:
    """Open the bench as a run does, enter, and sense."""
    with open_bench(load_rig(rig_file)) as opened:
        for key in keys:
            opened.keys.press(key)
        settled = opened.lamps[0].sense()
        for _ in range(200):
            settled = opened.lamps[0].sense()
            if settled.lit:
                break
        settled = opened.lamps[0].sense()
        opened.keys.press("clear")
        return settled.lit


def test_one_emulator_serves_several_runs(bench):
    """Fails if the second run finds no bench, or a fault of the first one."""
    bench.make_good()
    bench.arm("F11", {"lamp": "pair-1-2"})
    assert "pair-1-2" in lit_after(bench.rig_file, "333")
    bench.make_good()
    assert "pair-1-2" not in lit_after(bench.rig_file, "333")


def test_what_the_emulator_refuses_is_told(bench):
    """Fails if a fault that was not armed counts as armed."""
    with pytest.raises(ControlError):
        bench.arm("F10", {"lamp": "no-such-area"})


def test_a_table_left_without_power_is_no_bench_for_the_next_run(tmp_path):
    """Fails if a fault that outlasts its disarming is carried into the next run."""
    with EmulatedBench(load_rig(find_rig("emulated-instruments")), tmp_path) as running:
        running.make_good()
        running.arm("F43", {})
        with open_bench(load_rig(running.rig_file)) as opened:
            opened.supply.switch(on=False)
            time.sleep(0.3)
            opened.supply.switch(on=True)
        with pytest.raises(ControlError, match="power"):
            running.make_good()
