"""The table's firmware on a clock that the test moves: entries, debounce, time-outs, interlock."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.emulator.bench import Bench
from harness.emulator.clock import ManualClock, Timeline
from harness.emulator.devices.ports import install
from harness.emulator.faults.catalogue import CATALOGUE, Armoury, UnknownFaultError, parse
from harness.emulator.lamp_rom import LAMPS
from harness.emulator.rigfile import read_rig_file


class Hands:
    """A bench and fingers on its keys."""

    def __init__(self, path: Path) -> None:
        self.clock = ManualClock()
        self.bench = Bench(read_rig_file(path), self.clock)

    def wait(self, ms: float) -> None:
        self.clock.time += ms / 1000
        self.bench.timeline.catch_up()

    def press(self, *keys: str, ms: float = 10, gap_ms: float = 10) -> None:
        for key in keys:
            self.bench.table.keypad.drive(key, True)
            self.wait(ms)
            self.bench.table.keypad.drive(key, False)
            self.wait(gap_ms)

    def lit(self) -> set[str]:
        self.wait(20)
        return {area for area, level in self.bench.table.lamps.levels().items() if level}

    @property
    def display(self) -> str:
        return self.bench.table.display


@pytest.fixture
def hands(rig_file, request):
    made = []

    def make(text: str = "", base: str = "emulated.toml") -> Hands:
        made.append(Hands(rig_file(text, base)))
        return made[-1]

    yield make
    for each in made:
        each.bench.close()


def test_third_key_commits(hands):
    table = hands()
    table.press("3", "1")
    assert table.lit() == set()
    table.press("2")
    assert table.lit() == LAMPS["123"]
    table.press("clear")
    assert table.lit() == set()


def test_entry_key_commits_and_the_display_shows_what_will_be(hands):
    table = hands('[table]\ncommit = "entry-key"\n[keys.map]\nenter = "keys:7"\n')
    table.press(*"123")
    assert table.display == "123"
    assert table.lit() == set()
    table.press("enter")
    assert table.lit() == LAMPS["123"]


def test_entry_key_after_two_numbers_does_nothing(hands):
    table = hands('[table]\ncommit = "entry-key"\n[keys.map]\nenter = "keys:7"\n')
    table.press(*"12", "enter")
    assert table.lit() == set()
    table.press("3", "enter")
    assert table.lit() == LAMPS["123"]


@pytest.mark.parametrize(
    ("behaviour", "lit", "display"),
    [("ignored", "123", "123"), ("last-three", "234", "234"), ("error", None, "Err")],
)
def test_fourth_key(hands, behaviour, lit, display):
    table = hands(f'[table]\nfourth_key = "{behaviour}"\n')
    table.press(*"1234")
    assert table.lit() == (LAMPS[lit] if lit else set())
    assert table.display == display
    table.press("clear", *"111")
    assert table.lit() == LAMPS["111"]


def test_fourth_key_before_the_entry_key(hands):
    table = hands(
        '[table]\ncommit = "entry-key"\nfourth_key = "last-three"\n[keys.map]\nenter = "keys:7"\n'
    )
    table.press(*"1234", "enter")
    assert table.lit() == LAMPS["234"]


def test_without_a_clear_key_the_next_entry_takes_the_last_result_away(hands):
    table = hands("", "emulated-tumbler.toml")
    table.press(*"123")
    assert table.lit() == LAMPS["123"]
    table.press("4")
    assert table.lit() == set()
    table.press(*"56")
    assert table.lit() == LAMPS["456"]


def test_shortest_press(hands):
    table = hands("[table]\npress_min_ms = 30\n")
    table.press("1", ms=29)
    table.press("2", ms=31)
    assert table.display == "2"


def test_longest_press(hands):
    table = hands("[table]\npress_min_ms = 30\npress_max_ms = 2000\n")
    table.press("1", ms=2001)
    table.press("2", ms=1999)
    table.press("3", ms=29)
    assert table.display == "2"


def test_a_contact_that_breaks_in_between_is_no_press(hands):
    table = hands("[table]\npress_min_ms = 30\n")
    table.press("1", "1", "1", ms=20, gap_ms=1)
    assert table.display == ""


def test_half_made_entry_times_out_from_its_last_key(hands):
    table = hands("[limits]\nentry_timeout_ms = 3000\n")
    table.press("1")
    table.wait(2500)
    table.press("2")
    table.wait(2900)
    assert table.display == "12"
    table.wait(200)
    assert table.display == ""


def test_a_committed_result_does_not_time_out(hands):
    table = hands("[limits]\nentry_timeout_ms = 3000\n")
    table.press(*"123")
    table.wait(60_000)
    assert table.lit() == LAMPS["123"]


def test_a_result_may_be_held_for_a_time_only(hands):
    table = hands("[emulator.options]\nhold_ms = 2000\n")
    table.press(*"123")
    assert table.lit() == LAMPS["123"]
    table.wait(2000)
    assert table.lit() == set()


def test_interlock_refuses_while_covered_and_before_the_call(hands):
    table = hands(
        '[interlock]\nwhile_covered = true\nbefore_call = true\n[keys.map]\ncall = "keys:7"\n'
    )
    table.press("1")
    assert table.display == ""
    table.press("call")
    table.press("1")
    assert table.display == "1"
    table.bench.shaker.cover(True)
    table.press("2")
    assert table.display == "1"
    table.bench.shaker.cover(False)
    table.press("2", "clear", "3")
    assert table.display == "", "the clear ends the round, and with it the call"


def test_interlock_open(hands):
    table = hands("[interlock]\nwhile_covered = true\n")
    Armoury(table.bench).arm("F30", {})
    table.bench.shaker.cover(True)
    table.press("2")
    assert table.display == "2"


def test_early_or_no_timeout(hands):
    table = hands()
    armoury = Armoury(table.bench)
    armoury.arm("F29", {"ms": "never"})
    table.press("1")
    table.wait(1_000_000)
    assert table.display == "1"
    armoury.disarm()
    armoury.arm("F29", {"ms": "200"})
    table.press("2", gap_ms=150)
    assert table.display == "12"
    table.wait(100)
    assert table.display == ""


def test_before_the_entry_key(hands):
    table = hands('[table]\ncommit = "entry-key"\n[keys.map]\nenter = "keys:7"\n')
    Armoury(table.bench).arm("F27", {"after": "3"})
    table.press(*"123")
    assert table.lit() == LAMPS["123"]


def test_lamps_follow_after_the_settling_time(hands):
    table = hands("[emulator.options]\nsettle_ms = 50\n")
    table.press(*"123", gap_ms=0)
    table.wait(20)
    assert not any(table.bench.table.lamps.levels().values())
    table.wait(40)
    assert table.bench.table.lamps.levels()["small"] == 1


def test_several_lamps_of_an_area_and_one_of_them_dead(hands):
    table = hands('[lamps.map]\nsmall = ["inputs:0", "inputs:55"]\n')
    Armoury(table.bench).arm("F10", {"lamp": "small.2"})
    table.press(*"112")
    table.wait(20)
    assert table.bench.wiring.reads(("inputs", "0"))
    assert not table.bench.wiring.reads(("inputs", "55"))


@pytest.mark.parametrize("drive", ["pwm", "multiplexed"])
def test_driven_lamps_pause_and_are_as_bright_on_the_whole(hands, drive):
    table = hands(f'[table]\nlamp_drive = "{drive}"\nlamp_hz = 400\n')
    table.press(*"112")
    table.wait(20)
    wiring, seen = table.bench.wiring, []
    for _ in range(400):
        table.wait(0.13)
        seen.append(wiring.reads(("inputs", "0")))
        assert wiring.level(("inputs", "0")) == 1
    share = sum(seen) / len(seen)
    assert share == pytest.approx(0.6 if drive == "pwm" else 1 / 8, abs=0.05)


def test_dim_lamp_by_level(hands):
    table = hands()
    Armoury(table.bench).arm("F14", {"level": "0.5"})
    table.press(*"126")
    table.wait(20)
    assert table.bench.wiring.level(("inputs", "20")) == 0.5
    assert table.bench.wiring.level(("inputs", "29")) == 1


def test_real_wires_may_differ_from_the_map(hands):
    """A swapped wire of ours: the lamps are right and the inputs are exchanged."""
    table = hands('[emulator.options.wiring.lamps]\nsmall = "inputs:1"\nbig = "inputs:0"\n')
    table.press(*"112")
    table.wait(20)
    assert table.bench.table.lamps.levels()["small"] == 1
    assert not table.bench.wiring.reads(("inputs", "0"))
    assert table.bench.wiring.reads(("inputs", "1"))


def test_inverted_channel_alias_and_device(hands):
    table = hands(
        """
        [signals]
        small-lamp = "inputs:0"
        [devices.inputs]
        invert = true
        [lamps.map]
        small = "small-lamp"
        big = {channel = "inputs:1", invert = true}
        """
    )
    wiring = table.bench.wiring
    assert wiring.reads(("inputs", "0"))
    assert not wiring.reads(("inputs", "1"))
    assert not wiring.reads(("inputs", "63")), "the high reference reads high after inverting"
    table.press(*"112")
    table.wait(20)
    assert not wiring.reads(("inputs", "0"))


def test_test_relays_put_the_lamp_inputs_to_a_level_but_for_a_stuck_one(hands):
    table = hands(
        """
        [devices.usb]
        driver = "numato"
        port = "emulated"
        relays = 2
        [input_test]
        high = "usb:relay-0"
        low = "usb:relay-1"
        devices = ["inputs"]
        """
    )
    wiring = table.bench.wiring
    Armoury(table.bench).arm("F17", {"lamp": "total-9", "value": "0"})
    table.press(*"112")
    table.wait(20)
    wiring.drive(("usb", "relay-1"), True)
    assert not any(wiring.reads(("inputs", str(channel))) for channel in range(50))
    wiring.drive(("usb", "relay-1"), False)
    wiring.drive(("usb", "relay-0"), True)
    assert [c for c in range(50) if not wiring.reads(("inputs", str(c)))] == [20]
    assert not wiring.reads(("inputs", "62")), "a reference is not touched"
    wiring.drive(("usb", "relay-0"), False)
    assert wiring.reads(("inputs", "0"))
    assert not wiring.reads(("inputs", "1"))


def test_an_act_happens_at_its_own_moment():
    """Fails if what fell due is done with the time of whoever looked."""
    clock, moments = ManualClock(), []
    timeline = Timeline(clock)
    timeline.after(1, lambda: moments.append(timeline.now()))
    timeline.after(2, lambda: timeline.after(1, lambda: moments.append(timeline.now())))
    timeline.after(0.5, lambda: moments.append(-1)).cancel()
    clock.time = 10
    timeline.catch_up()
    assert moments == [1, 3]


@pytest.mark.parametrize("fault", sorted(CATALOGUE))
def test_every_fault_is_taken_back_without_trace(hands, fault):
    """Arms on a bench that has what the fault needs, disarms, and the table is sound again."""
    base = "emulated-puncher.toml" if fault in ("F63", "F64") else "emulated-automated-covered.toml"
    text = '[table]\ncountdown_s = 2\n[keys.map]\nclear = "keys:5"\n6 = "keys:4"\n5 = "keys:3"\n'
    text = "" if fault in ("F63", "F64") else text.partition("[keys.map]")[0]
    text += "[interlock]\nwhile_covered = true\n" if fault == "F30" else ""
    table = hands(text, base)
    install(table.bench)
    before = table.bench.state()
    armoury = Armoury(table.bench)
    try:
        armoury.arm(fault, {})
    except UnknownFaultError:
        assert fault in {
            "F19", "F40", "F41", "F42", "F43", "F44", "F56", "F59", "F60", "F61", "F62"
        }  # fmt: skip
        return
    armoury.disarm()
    table.wait(600)
    if "clear" in table.bench.rig.keys:
        table.press("clear")
    assert table.lit() == set()
    table.press(*"123")
    assert table.lit() == LAMPS["123"]
    assert armoury.armed() == []
    assert {k: table.bench.state()[k] for k in ("dice", "pose", "count", "moving", "cover")} == {
        k: before[k] for k in ("dice", "pose", "count", "moving", "cover")
    }


@pytest.mark.parametrize("text", ["F10:", "F10:lamp", "F10:lamp=", "F10:lamp=a,lamp=b", "F10:=x"])
def test_malformed_fault_texts(text):
    with pytest.raises(UnknownFaultError):
        parse(text)


@pytest.mark.parametrize(
    ("fault", "given"),
    [
        ("F01", {"key": "7"}),
        ("F03", {"ms": "soon"}),
        ("F06", {"ms": "-1"}),
        ("F12", {"a": "small", "b": "small"}),
        ("F16", {"group": "chips"}),
        ("F17", {"value": "2"}),
        ("F21", {"range": "wide"}),
        ("F23", {"by": "0"}),
        ("F25", {"result": "1-2"}),
        ("F26", {"takes": "ignored"}),
        ("F31", {"device": "kettle"}),
        ("F32", {"rate": "2"}),
        ("F33", {"nth": "0"}),
        ("F36", {"device": "desk"}),
        ("F54", {"dice": "3"}),
        ("F58", {"shown": "1-2-7"}),
        ("F61", {"kind": "pink"}),
        ("F66", {}),
        ("F67", {}),
        ("f10", {}),
    ],
)
def test_refused_parameters_change_nothing(hands, fault, given):
    table = hands()
    armoury = Armoury(table.bench)
    with pytest.raises(UnknownFaultError, match=fault):
        armoury.arm(fault, given)
    assert armoury.armed() == []
