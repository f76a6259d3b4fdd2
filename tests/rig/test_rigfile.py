"""A rig file cannot lie: what is wrong in it is said, all at once, with file and key path."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.rig.channels import Channel
from harness.rig.find import embedded_rigs, find_rig
from harness.rig.rigfile import load_rig
from harness.verdicts import ConfigurationError, InvalidFileError

ROOT = Path(__file__).parents[2]


def refusal(path: Path, areas=None) -> str:
    with pytest.raises(InvalidFileError) as caught:
        load_rig(path, areas)
    assert caught.value.exit_status == 2
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_the_small_bench_is_good(rig_file) -> None:
    """Guards every test below: they change one thing of a file that is good."""
    rig = load_rig(rig_file())
    assert rig.emulated
    assert rig.keys is not None
    assert rig.keys.map["clear"] == Channel(device="keys", channel="6")
    assert rig.lamps is not None
    assert len(rig.lamps.map["big"]) == 2


def test_a_rig_is_frozen(rig_file) -> None:
    rig = load_rig(rig_file())
    with pytest.raises(ValueError, match="frozen"):
        rig.title = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("gap_ms = 5", "gap_sm = 5", ("keys.gap_sm", "did you mean 'gap_ms'")),
        ("[lamps.map]", "[lamp.map]", ("lamp", "did you mean 'lamps'")),
        ('cover = "none"', 'cover = "opaqe"', ("table.cover", "did you mean 'opaque'")),
        ("channels = 64", "chanels = 64", ("devices.inputs.chanels", "'channels'")),
        ("channels = 64", "", ("devices.inputs.channels", "this key")),
        ('"waveshare-relay"', '"waveshare-rely"', ("devices.keys.driver", "'waveshare-relay'")),
        ("baud = 115200", 'baud = "fast"', ("devices.keys.baud", "'fast'")),
        ("baud = 115200", "baud = true", ("devices.keys.baud", "found true")),
        ("baud = 115200", "baud = [true, 1]", ("devices.keys.baud", "found [true, 1]")),
        ("baud = 115200", "baud = {at = 2026-11-30}", ("keys.baud", "found {at = 2026-11-30}")),
        ('small = "inputs:0"', 'small = "inputs:64"', ("lamps.map.small", "0 to 63")),
        ('small = "inputs:0"', 'small = "inputs:62"', ("used once", "inputs:62")),
        ('small = "inputs:0"', 'small = "keys:7"', ("lamps.map.small", "inputs or levels")),
        ('small = "inputs:0"', 'small = "input:0"', ("lamps.map.small", "did you mean 'inputs'")),
        ('small = "inputs:0"', "small = 3", ("lamps.map.small", "device:channel")),
        ('small = "inputs:0"', "small = []", ("lamps.map.small",)),
        (
            'small = "inputs:0"',
            'small = {channel = "inputs:0", invrt = true}',
            ("lamps.map.small", "did you mean 'invert'"),
        ),
        ('1 = "keys:0"', "", ("keys.map.1", "output for this key")),
        ('clear = "keys:6"', "", ("keys.map.clear",)),
        ('clear = "keys:6"', 'clar = "keys:6"', ("keys.map.clar", "'clear'")),
        ('presenter = "hand"', 'presenter = "hnd"', ("roles.presenter", "'hand'")),
        ('presenter = "hand"', 'presenter = "inputs"', ("roles.presenter", "serves as presenter")),
        ('"inputs:63" = true', '"inputs:63" = 1', ("references", "true or false")),
        ("press_ms = 5", "press_ms = -5", ("keys.press_ms", "greater than 0")),
        (
            "[emulator]\nprogram",
            "[emulater]\nprogram",
            ("emulater", "real address", "devices.keys"),
        ),
    ],
)
def test_one_mistake_is_named(rig_file, old, new, said) -> None:
    text = refusal(rig_file((old, new)))
    for part in said:
        assert part in text


def test_every_mistake_at_once(rig_file) -> None:
    """Fails if checking stops at the first mistake, in one section or across sections."""
    text = refusal(
        rig_file(
            ("gap_ms = 5", "gap_sm = 5"),
            ("channels = 64", 'channels = 64\narea = "discret"'),
            ('presenter = "hand"', 'presenter = "hnd"'),
            ('title = "small bench"', 'title = "small bench"\nextra = 1'),
            ('big = ["inputs:1", "inputs:2"]', 'big = ["inputs:1", "inputs:1"]'),
        )
    )
    for part in ("gap_sm", "discret", "hnd", "extra", "used once"):
        assert part in text
    assert len(text.splitlines()) == 5


def test_a_syntax_error_has_its_line(rig_file) -> None:
    text = refusal(rig_file(('cover = "none"', 'cover = "none')))
    assert "line 5" in text


def test_no_text_at_all(tmp_path: Path) -> None:
    path = tmp_path / "bytes.toml"
    path.write_bytes(b"title = 'a'\n\xff\xfe")
    assert "line 2" in refusal(path)


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_rig(tmp_path / "none.toml")
    assert caught.value.exit_status == 2


def test_areas_without_a_lamp_are_refused(rig_file) -> None:
    text = refusal(rig_file(), areas=["small", "big", "any-triple", "total-4"])
    assert "lamps.map.any-triple" in text
    assert "lamps.map.total-4" in text


def test_areas_the_rules_do_not_have_are_refused(rig_file) -> None:
    text = refusal(rig_file(('small = "inputs:0"', 'smal = "inputs:0"')), areas=["small", "big"])
    assert "did you mean 'small'" in text


def test_every_area_there(rig_file) -> None:
    assert load_rig(rig_file(), areas=["small", "big"]).lamps is not None


def test_press_time_below_the_relays_step(rig_file) -> None:
    timed = ("[devices.inputs]", 'pulse = "timed"\n[devices.inputs]')
    assert "steps of 100 ms" in refusal(rig_file(timed, ("press_ms = 5", "press_ms = 99")))
    assert "steps of 100 ms" in refusal(rig_file(timed, ("press_ms = 5", "press_ms = 150")))
    load_rig(rig_file(timed, ("press_ms = 5", "press_ms = 200")))


REAL = (
    ('port = "emulated"', 'port = "/dev/ttyNONE"'),
    ("[devices.inputs]\n", "[devices.inputs]\nunit = 2\n"),
    ("[emulator]\nprogram", "[emulator]\nprogram"),
)


def real(text: str) -> str:
    """Turn the small bench into a real one."""
    start, end = text.index("[emulator]"), text.index("[devices.keys]")
    text = text[:start] + text[end:]
    hand = text.index("[devices.hand]")
    text = text[:hand] + text[text.index("[keys]") :]
    return text.replace('presenter = "hand"\n', "")


def test_a_real_rig_holds_no_key_when_the_host_dies(rig_file) -> None:
    """Real outputs that the host times are refused unless the risk is accepted by name."""
    text = real(rig_file(*REAL).read_text())
    assert "hold_risk" in refusal(rig_file(text=text))
    accepted = text.replace("press_ms = 5", 'press_ms = 5\nhold_risk = "accepted"')
    rig = load_rig(rig_file(text=accepted))
    assert rig.hold_risk
    timed = text.replace("[devices.inputs]", 'pulse = "timed"\n[devices.inputs]').replace(
        "press_ms = 5", "press_ms = 100"
    )
    assert not load_rig(rig_file(text=timed)).hold_risk


def test_one_port_has_one_baud_rate_and_each_unit_once(rig_file) -> None:
    text = real(rig_file(*REAL).read_text()).replace(
        "press_ms = 5", 'press_ms = 5\nhold_risk = "accepted"'
    )
    assert "baud rate" in refusal(rig_file(text=text.replace("115200", "9600", 1)))
    assert "unit number" in refusal(rig_file(text=text.replace("unit = 2", "unit = 1")))


BUS = """
[table]
shaker = "manual"
cover = "none"
[devices.one]
driver = "adam-4000"
port = "/dev/ttyUSB0"
model = "4052"
module = 1
[devices.two]
driver = "adam-4000"
port = "/dev/ttyUSB0"
model = "4052"
module = 2
[devices.three]
driver = "adam-4000"
port = "/dev/ttyUSB0"
model = "4052"
module = 3
"""


def test_several_modules_hang_on_one_bus_each_with_its_own_number(rig_file) -> None:
    """Fails if modules that are numbered may not share a port, or ones that are not may."""
    assert len(load_rig(rig_file(text=BUS)).devices) == 3
    assert "unit number than device two" in refusal(
        rig_file(text=BUS.replace("module = 3", "module = 2"))
    )
    alone = (
        BUS + '[devices.usb]\ndriver = "numato"\nport = "/dev/ttyUSB0"\nbaud = 9600\ngpios = 8\n'
    )
    assert "shares with no other device" in refusal(rig_file(text=alone))


def test_signals_are_aliases_and_inverts_add_up(rig_file) -> None:
    signals = """
[signals]
dome = {channel = "inputs:50", invert = true}
left = "inputs:0"
"""
    text = rig_file().read_text() + signals
    text = text.replace('cover_sense = "inputs:50"', 'cover_sense = "dome"')
    text = text.replace('small = "inputs:0"', 'small = {channel = "left", invert = true}')
    rig = load_rig(rig_file(text=text))
    assert rig.roles.cover_sense == Channel(device="inputs", channel="50", invert=True)
    assert rig.lamps is not None
    assert rig.lamps.map["small"][0].invert
    twice = text.replace('cover_sense = "dome"', 'cover_sense = {channel = "dome", invert = true}')
    rig = load_rig(rig_file(text=twice))
    assert rig.roles.cover_sense is not None
    assert not rig.roles.cover_sense.invert


def test_an_unknown_signal_is_refused(rig_file) -> None:
    text = rig_file().read_text() + '\n[signals]\ndome = "inputs:50"\n'
    text = text.replace('cover_sense = "inputs:50"', 'cover_sense = "dom"')
    assert "did you mean 'dome'" in refusal(rig_file(text=text))


def test_includes_lie_under_the_file_that_includes(tmp_path: Path, rig_file) -> None:
    base = rig_file()
    above = tmp_path / "above.toml"
    above.write_text('title = "above"\ninclude = "bench.toml"\n[keys]\ngap_ms = 7\n')
    rig = load_rig(above)
    assert (rig.title, rig.keys.gap_ms, rig.keys.press_ms) == ("above", 7, 5)  # type: ignore[union-attr]
    assert rig.files == (above, base)


def test_a_mistake_in_an_included_file_names_that_file(tmp_path: Path, rig_file) -> None:
    base = rig_file(("gap_ms = 5", "gap_sm = 5"))
    above = tmp_path / "above.toml"
    above.write_text('include = ["bench.toml"]\n')
    assert str(base) in refusal(above)


def test_a_circle_of_includes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('include = "b.toml"\n')
    (tmp_path / "b.toml").write_text('include = "a.toml"\n')
    with pytest.raises(InvalidFileError, match="include each other"):
        load_rig(tmp_path / "a.toml")


@pytest.mark.parametrize("name", embedded_rigs())
def test_embedded_rigs_are_good(name: str) -> None:
    assert load_rig(find_rig(name)).emulated


def test_an_unknown_rig_name_is_a_usage_error() -> None:
    with pytest.raises(ConfigurationError, match="did you mean 'emulated-puncher'"):
        find_rig("emulated-punche")


AREAS = (
    ["small", "big", "any-triple"]
    + [f"{kind}-{n}" for kind in ("triple", "double", "single") for n in range(1, 7)]
    + [f"total-{n}" for n in range(4, 18)]
    + [f"pair-{a}-{b}" for a in range(1, 7) for b in range(a + 1, 7)]
)
EXAMPLES = sorted((ROOT / "rigs").glob("bench-*.toml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_for_real_parts_are_good(path: Path) -> None:
    """Each is a whole bench: every area has a lamp, no key is held when the host dies."""
    rig = load_rig(path)
    assert not rig.emulated
    if rig.lamps is not None:
        load_rig(path, AREAS)
    assert rig.roles.dice_camera


@pytest.mark.parametrize(("ms", "good"), [(10, True), (20, True), (33.3, False), (4, False)])
def test_a_layout_camera_exposes_over_whole_half_periods(tmp_path: Path, ms, good) -> None:
    """At 50 Hz a half period is 10 ms; other exposures see lamps flicker that do not."""
    path = tmp_path / "bench.toml"
    path.write_text(
        f"""
        [table]
        shaker = "manual"
        cover = "none"
        [devices.layout]
        driver = "layout-camera"
        source = 1
        exposure_ms = {ms}
        [roles]
        layout_camera = ["layout"]
        """
    )
    if good:
        load_rig(path)
    else:
        assert "half periods" in refusal(path)


def test_examples_show_every_driver_but_the_emulators() -> None:
    used = {d.driver for path in EXAMPLES for d in load_rig(path).devices.values()}
    from harness.rig.drivers import registered

    assert used >= set(registered()) - {"emulator-control", "modbus-rtu"}
    assert {load_rig(path).hold_risk for path in EXAMPLES} == {True, False}
