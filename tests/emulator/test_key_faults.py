"""Faults of keys and relays: seen at the terminal and the lamps, and nowhere else."""

import time

from .conftest import LAMPS, rtu

R123 = {"small", "total-6", "pair-1-2", "pair-1-3", "pair-2-3", "single-1", "single-2", "single-3"}


def presses(bench, *keys, **how):
    before = len(bench.do("state")["presses"])
    bench.press(*keys, **how)
    time.sleep(0.05)
    return bench.do("state")["presses"][before:]


def test_sound_table_lights_and_clears(bench):
    assert bench.enter("321") == R123
    assert bench.lit() == set()


def test_dead_key_enters_nothing_and_its_relay_is_good(bench):
    bench.arm("F01", key="3")
    assert presses(bench, "1", "3", "2") == ["1", "2"]
    bench.do("disarm")
    assert presses(bench, "3") == ["3"]


def test_stuck_key_enters_with_every_relay_open_and_again_after_clear(bench):
    bench.arm("F02", key="4")
    time.sleep(0.03)
    assert bench.line("keys").ask(rtu(1, 1, 0, 0, 0, 8), 6)[3] == 0
    assert bench.do("state")["entered"] == ["4"]
    bench.press("1", "2")
    assert bench.lit() == {"small", "total-7", "pair-1-2", "pair-1-4", "pair-2-4",
                           "single-1", "single-2", "single-4"}  # fmt: skip
    bench.press("clear")
    time.sleep(0.03)
    assert bench.do("state")["entered"] == ["4"]
    bench.do("disarm")
    bench.press("clear")
    time.sleep(0.03)
    assert bench.do("state")["entered"] == []


def test_bouncing_key_counts_twice_and_the_others_once(bench):
    bench.arm("F03", key="2", ms=8)
    assert presses(bench, "2", "5") == ["2", "2", "5"]


def test_swapped_keys(bench):
    bench.arm("F04", a="2", b="5")
    assert presses(bench, "2", "5", "1") == ["5", "2", "1"]


def test_shorted_keys_enter_both(bench):
    bench.arm("F05", a="2", b="5")
    assert sorted(presses(bench, "2")) == ["2", "5"]
    assert presses(bench, "1") == ["1"]


def test_keys_that_need_a_longer_press(bench):
    bench.arm("F06", ms=120)
    assert presses(bench, "1", ms=60) == []
    assert presses(bench, "1", ms=180) == ["1"]


def test_dead_clear_key_keeps_the_result(bench):
    bench.arm("F07")
    lit = bench.enter("123")
    assert bench.lit() == lit == R123


def test_welded_relay_keeps_the_key_closed_while_its_coil_is_off(bench):
    bench.arm("F08", key="1")
    time.sleep(0.02)
    assert bench.do("state")["keys_closed"] == ["1"]
    assert bench.line("keys").ask(rtu(1, 1, 0, 0, 0, 8), 6)[3] == 0


def test_welded_relay_shows_at_the_read_back_input(start, rig_file):
    emulated = start(rig_file('[keys.readback]\n1 = "inputs:56"\n2 = "inputs:57"\n'), "F08:key=2")
    bits = emulated.bits()
    assert not bits[56]
    assert bits[57]


def test_jammed_solenoid_does_not_travel_though_the_contact_is_good(start, rig_file):
    emulated = start(rig_file('[keys.travel]\n1 = "inputs:56"\n2 = "inputs:57"\n'), "F09:key=1")
    emulated.relay(0, True)
    emulated.relay(1, True)
    bits = emulated.bits()
    assert not bits[56]
    assert bits[57]
    assert emulated.do("state")["keys_closed"] == ["2"]


def test_a_rig_without_the_key_refuses_the_fault(bench):
    answer = bench.ask({"do": "arm", "fault": "F01", "with": {"key": "9"}})
    assert not answer["ok"]
    assert "key" in answer["why"]


def test_lamp_map_of_the_rig_is_what_is_wired(bench):
    """Every area's input follows its lamp: fails if the wiring does not follow the file's map."""
    seen = set()
    for keys in ("111", "222", "333", "444", "555", "666", "124", "356", "146", "256", "135"):
        seen |= bench.enter(keys)
    assert seen <= set(LAMPS)
    assert len(seen) > 35
