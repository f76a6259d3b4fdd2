"""`sicbo-hil calibrate` from end to end: found over the wire, kept, and read by in the next run."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import cv2
import pytest

from harness.dealing.calibrations import Calibrations, layout_lamps_of, load_calibrations
from harness.dealing.layout_lamps import LampsNotReadError
from harness.emulator.scene import LayoutScene, set_out
from harness.rig.bench import open_bench
from harness.rig.drivers.emulator_control import EmulatorControl
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig
from harness.rules.books import load_book
from harness.vision.background import background_picture
from harness.vision.calibration import load_profile
from harness.vision.lamp_reference import load_reference
from tests.cli.running import write_short_book
from tests.evidence.rewriting import rewrite

PROGRAM = [sys.executable, "-c", "from harness.cli.main import main; main()"]
AREAS = sorted(load_book("ny-5324.51").areas)
LIMIT_S = 300
RIG = """
title = "Two eyes on the dice, one on the lamps"

[map_verified]
by = "factory"
at = 2026-11-01
how = "each relay exercised alone, each area's place compared with the layout"

[emulator]
program = ["{python}", "-m", "harness.emulator"]
seed = 5

[table]
shaker = "manual"
cover = "opaque"
lamp_drive = "multiplexed"
lamp_hz = 250

[devices.keys]
driver = "waveshare-relay"
port = "emulated"
baud = 115200
pulse = "coil"

[devices.hand]
driver = "emulator-control"
address = "emulated"

[devices.desk]
driver = "operator"
address = "emulated"

[keys]
press_ms = 10
gap_ms = 10

[keys.map]
1 = "keys:0"
2 = "keys:1"
3 = "keys:2"
4 = "keys:3"
5 = "keys:4"
6 = "keys:5"
clear = "keys:6"

[limits]
settle_ms = 100
lamp_level_min = 0.8
uncertainty_level = 0.05

[devices.layout]
driver = "layout-camera"
source = "emulated"
min_fps = 30
"""
EYES = """
[devices.above]
driver = "camera"
source = "emulated"
min_fps = 30

[devices.aside]
driver = "camera"
source = "emulated"
min_fps = 30

[roles]
presenter = "hand"
cover = "hand"
operator = "desk"
dice_camera = ["above", "aside"]
layout_camera = ["layout"]
"""
LAYOUT_ONLY = """
[roles]
operator = "desk"
layout_camera = ["layout"]
"""
MARKERS = [[20, 20], [620, 20], [620, 340], [20, 340]]


def places(markers: list[list[int]] = MARKERS, exposure_ms: float = 20) -> str:
    """Give the rest of the layout camera's section: where everything lies."""
    regions = [
        f"{area} = [{70 + 55 * (n % 10)}, {60 + 60 * (n // 10)}, 11]"
        for n, area in enumerate(AREAS)
        if area != "small"
    ]
    regions.append("small = [[200, 338, 9], [260, 338, 9]]")  # an area with two lamps
    return "\n".join(
        [
            f"exposure_ms = {exposure_ms:g}",
            "size = [640, 360]",
            f"markers = {markers}",
            "",
            "[devices.layout.regions]",
            *regions,
            "",
        ]
    )


def sicbo_hil(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    ended = subprocess.run(
        [*PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert "Traceback" not in ended.stderr
    return ended


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the rig and the short book."""
    folder = tmp_path_factory.mktemp("calibrate")
    (folder / "bench.toml").write_text(RIG + places() + EYES)
    write_short_book(folder / "books")
    return folder


@pytest.fixture(scope="module")
def calibrated(folder: Path) -> dict:
    """The bench calibrated: what `--json` says."""
    ended = sicbo_hil("calibrate", "bench.toml", "--die-mm", "16", "--json", cwd=folder)
    assert ended.returncode == 0, ended.stderr
    assert "result 1 of" in ended.stderr
    assert "picture 1 of" in ended.stderr
    return json.loads(ended.stdout)


def run(folder: Path, out: str, *options: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    short = ["--rules-path", "books", "--rules", "short", "--out", out]
    return sicbo_hil("run", "--rig", "bench.toml", *short, *options, cwd=folder), folder / out


def records(out: Path, kind: str) -> list[dict]:
    lines = (out / "journal.jsonl").read_text().splitlines()
    return [line["body"] for line in map(json.loads, lines) if line["kind"] == kind]


def test_what_was_found_is_kept_with_date_hash_and_pictures(calibrated, folder):
    """Fails if a camera is left out, a file is not what its hash says, or a picture lacks."""
    kept = folder / "bench.calibration"
    assert Path(calibrated["folder"]) == kept
    cameras = {camera["camera"]: camera for camera in calibrated["cameras"]}
    assert set(cameras) == {"above", "aside", "layout"}
    for name in ("above", "aside"):
        profile = load_profile(kept / f"{name}.json")
        assert profile.digest == cameras[name]["sha256"]
        assert profile.made == calibrated["made"]
        assert profile.camera == name
        assert tuple(profile.size_px) == (480, 360)
        assert 1.0 < profile.px_per_mm < 10.0
        assert profile.tilt_deg == pytest.approx(4.0, abs=4.0)
        assert background_picture(profile.background) is not None
        assert (kept / f"{name}-background.png").is_file()
    reference = load_reference(kept / "layout-lamps.json")
    assert reference.digest == cameras["layout"]["sha256"]
    assert sorted(reference.spots) == AREAS
    assert reference.areas_by == "rig file"
    for camera in cameras.values():
        assert len(camera["pictures"]) >= 3
        for picture in camera["pictures"]:
            assert cv2.imread(picture) is not None
    assert not kept.with_suffix(".fresh").exists()


def test_one_camera_may_serve_as_both(calibrated, folder):
    """Fails if a camera over dice and layout has but one of its two calibrations in the record."""
    kept = folder / "bench.calibration"
    dice, lamps = load_profile(kept / "above.json"), load_reference(kept / "layout-lamps.json")
    told = Calibrations({"eye": dice}, {"eye": lamps}).to_json()
    assert {name: one["sha256"] for name, one in told.items()} == {
        "eye": dice.digest,
        "eye (lamps)": lamps.digest,
    }
    assert set(Calibrations({"eye": dice}, {"other": lamps}).to_json()) == {"eye", "other"}


def test_the_next_run_reads_by_it_and_says_so(calibrated, folder):
    """Fails if a run does not use the calibration, hides which, or two cameras' words are lost."""
    ended, out = run(folder, "healthy", "--inspection", "minimum")
    assert ended.returncode == 0, ended.stderr
    manifest = json.loads((out / "manifest.json").read_text())
    told = manifest["calibrations"]["bench"]
    for camera in calibrated["cameras"]:
        assert told[camera["camera"]]["sha256"] == camera["sha256"]
        assert told[camera["camera"]]["made"] == calibrated["made"]
    for instrument in manifest["instruments"]:
        camera = told.get(instrument["device"].removeprefix("bench/"))
        assert instrument["calibrated"] == (camera and camera["made"])
        assert camera is None or camera["sha256"] in instrument["certificate"]
    facts = {f["part"]: f["what"] for f in records(out, "rig-fact") if f["topic"] == "calibration"}
    assert set(facts) == {"camera:above", "camera:aside", "camera:layout"}
    assert all("sha256" in what for what in facts.values())
    entry = records(out, "entry")[-1]
    assert {sample["path"] for sample in entry["lamps"]} == {"layout"}
    lit = next(sample for sample in entry["lamps"] if sample["stage"] == "lit")
    assert all(0.9 < lit["levels"][area] < 1.1 for area in lit["lit"])
    assert [said["camera"] for said in entry["seen"]["cameras"]] == ["above", "aside"]
    assert all(said["values"] == entry["seen"]["values"] for said in entry["seen"]["cameras"])
    assert [frame["camera"] for frame in entry["frames"]] == ["above"] * 3 + ["aside"] * 3
    again = json.loads(sicbo_hil("replay", out.name, "--json", cwd=folder).stdout)
    assert again["same"] is True, again["differences"][:3]


def test_pictures_of_lamps_are_kept_and_told_again(calibrated, folder, tmp_path):
    """Fails if a picture that told lamps is not kept, a dropped one is not missed, or another in
    its place, its hashes mended, replays the same."""
    out = tmp_path / "run"
    shutil.copytree(folder / "healthy", out)
    entry = records(out, "entry")[-1]
    samples = [*entry["lamps"], *entry["watched"]]
    assert [sample["pictures"]["watched"] for sample in samples].count(True) == 1
    named = [frame for sample in samples for frame in sample["pictures"]["frames"]]
    assert len(named) >= len(samples)
    assert all((out / "frames" / frame["name"]).is_file() for frame in named)
    shown = {sample["stage"]: sample["pictures"]["frames"][-1]["name"] for sample in entry["lamps"]}
    lit, dark = (out / "frames" / shown[stage] for stage in ("lit", "cleared"))
    lit.write_bytes(dark.read_bytes())
    digest = hashlib.sha256(dark.read_bytes()).hexdigest()

    def mend(record: dict) -> None:
        if record["kind"] == "entry":
            for sample in [*record["body"]["lamps"], *record["body"]["watched"]]:
                for frame in sample["pictures"]["frames"]:
                    if frame["name"] == lit.name:
                        frame["sha256"] = digest

    rewrite(out, mend)
    assert sicbo_hil("verify", "run", cwd=tmp_path).returncode == 0
    again = json.loads(sicbo_hil("replay", "run", "--json", cwd=tmp_path).stdout)
    assert not again["same"]
    told = {one["what"]: one for one in again["differences"]}
    assert told["lamps lit by layout: lit"]["derived"] == []
    assert told["verdict"]["derived"] != "PASS"
    lit.unlink()
    assert sicbo_hil("verify", "run", cwd=tmp_path).returncode == 1


def test_the_doctor_shows_it(calibrated, folder):
    """Fails if a calibration is not shown, or a picture is not held against it."""
    ended = sicbo_hil("doctor", "bench.toml", "--json", cwd=folder)
    checks = json.loads(ended.stdout)
    assert ended.returncode == 0, [check for check in checks if check["verdict"] != "PASS"]
    dated = {c["part"]: c["found"] for c in checks if c["what"] == "calibration"}
    assert set(dated) == {"camera:above", "camera:aside", "camera:layout"}
    assert all(found.startswith(calibrated["made"]) for found in dated.values())
    (lamps,) = [check for check in checks if check["what"] == "lamps can be read"]
    assert lamps["found"].endswith("lit: none")


def test_dim_flicker_and_one_of_two_are_told_apart_by_the_camera_alone(calibrated, folder):
    """Fails if half a lamp's light, a flicker or one lamp of two passes, or is told as another."""
    armed = ("F14:lamp=total-9,level=0.5", "F15:lamp=pair-5-6,hz=7", "F10:lamp=small.2")
    faults = [word for fault in armed for word in ("--fault", fault)]
    ended, out = run(folder, "faulty", "--inspection", "cover", *faults)
    assert ended.returncode == 1, ended.stderr
    findings = json.loads((out / "summary.json").read_text())["findings"]
    told = {(f["verdict"], f["part"], f["fault"]) for f in findings}
    assert told == {
        ("DUT_FAIL", "lamp:total-9", "dim"),
        ("DUT_FAIL", "lamp:pair-5-6", "flicker"),
        ("DUT_FAIL", "lamp:small", "split"),
    }


def test_another_light_in_the_room_is_tolerated_or_refused_never_misread(calibrated, folder):
    """Fails if a bright or dark room lights or darkens a lamp, or is read beyond all measure."""
    rig = load_rig(folder / "bench.toml")
    with open_bench(rig) as bench:
        (lamps,) = layout_lamps_of(bench, load_calibrations(rig), frozenset(AREAS))
        room, keys = bench.presenter, bench.keys
        assert isinstance(room, EmulatorControl)
        assert keys is not None
        winning = {1: load_book("ny-5324.51").winning_areas((1, 1, 2)), 0: frozenset()}
        for light in (0.6, 1.0, 1.8):
            room.do("room", light=light)
            for lit, pressed in ((1, "112"), (0, ["clear"])):
                for key in pressed:
                    keys.press(key)
                time.sleep(0.2)
                sample = lamps.sense()
                assert sample.lit == winning[lit]
                assert not sample.flicker
                assert not sample.split
        for light in (0.1, 4.0):
            room.do("room", light=light)
            with pytest.raises(LampsNotReadError, match=r"ambient|markers"):
                lamps.sense()


def test_places_learned_from_the_table_are_the_operators_word(tmp_path):
    """Fails if a table vouches for its own areas, or a place learned is not where its area is."""
    (tmp_path / "learn.toml").write_text(
        f'''
include = ["{find_rig("emulated").resolve()}"]

[devices.layout]
driver = "layout-camera"
source = "emulated"
min_fps = 30

[roles]
dice_camera = []
layout_camera = ["layout"]
'''
    )
    ended = sicbo_hil("calibrate", "learn.toml", "--json", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    (camera,) = json.loads(ended.stdout)["cameras"]
    assert "confirmed by the operator" in camera["areas_by"]
    told = tomllib.loads((tmp_path / "learn.calibration" / "layout-lamps.toml").read_text())
    section = told["devices"]["layout"]
    assert section["size"] == [640, 480]
    order = list(load_rig(tmp_path / "learn.toml").lamps.map)
    truth = LayoutScene(set_out(order)).spots_px()
    for area, (x, y, radius) in section["regions"].items():
        assert math.dist((x, y), truth[area]) < 3
        assert 5 < radius < 25


def test_a_camera_set_otherwise_is_not_read_by_its_old_calibration(calibrated, folder, tmp_path):
    """Fails if a calibration outlives the settings that it was made with."""
    shutil.copytree(folder / "bench.calibration", tmp_path / "bench.calibration")
    changed = RIG.replace("min_fps = 30", "min_fps = 30\nlatency_ms = 40") + places() + EYES
    (tmp_path / "bench.toml").write_text(changed)
    ended = sicbo_hil("run", "--rig", "bench.toml", "--rules", "ny-5324.51", cwd=tmp_path)
    assert ended.returncode == 2
    assert "calibrate" in ended.stderr
    assert "layout" in ended.stderr
    assert not (tmp_path / "runs").exists()


def test_lamps_that_nothing_senses_are_not_judged(folder, tmp_path):
    """Fails if a bench whose only eye on the lamps is not calibrated passes or blames a table."""
    shutil.copy(folder / "bench.toml", tmp_path)
    shutil.copytree(folder / "books", tmp_path / "books")
    ended, out = run(tmp_path, "blind", "--inspection", "minimum")
    assert ended.returncode == 3, ended.stderr
    assert "calibrate" in ended.stderr
    summary = json.loads((out / "summary.json").read_text())
    assert set(summary["counts"]) == {"RIG_FAULT"}


def test_an_edited_calibration_is_refused(calibrated, folder, tmp_path):
    """Fails if a calibration that is not its hash's is read by."""
    shutil.copytree(folder / "bench.calibration", tmp_path / "bench.calibration")
    shutil.copy(folder / "bench.toml", tmp_path)
    file = tmp_path / "bench.calibration" / "layout-lamps.json"
    body = json.loads(file.read_text())
    body["areas"]["small"], body["areas"]["big"] = body["areas"]["big"], body["areas"]["small"]
    file.write_text(json.dumps(body))
    ended = sicbo_hil("run", "--rig", "bench.toml", "--rules", "ny-5324.51", cwd=tmp_path)
    assert ended.returncode == 2
    assert "sha256" in ended.stderr


def test_a_dark_picture_is_refused_whole_and_the_old_calibration_stays(folder, tmp_path):
    """Fails if a camera in the dark is calibrated, or a refusal costs what was there before."""
    only = '\n[roles]\npresenter = "hand"\ndice_camera = ["above"]\n'
    eyes = EYES[: EYES.index("[devices.aside]")]
    (tmp_path / "bench.toml").write_text(RIG[: RIG.index("[devices.layout]")] + eyes + only)
    before = tmp_path / "bench.calibration"
    before.mkdir()
    (before / "above.json").write_text("{}")
    ended = sicbo_hil("calibrate", "bench.toml", "--fault", "F61:kind=dark", cwd=tmp_path)
    assert ended.returncode == 3
    assert "camera:above" in ended.stderr
    assert "dark" in ended.stderr
    assert [path.name for path in before.iterdir()] == ["above.json"]
    assert not (tmp_path / "bench.fresh").exists()


def test_a_layout_without_its_markers_is_refused_before_anything_is_entered(tmp_path):
    """Fails if a picture without markers is calibrated by, or results are entered in vain."""
    (tmp_path / "bench.toml").write_text(RIG + places(MARKERS[:3]) + LAYOUT_ONLY)
    ended = sicbo_hil("calibrate", "bench.toml", cwd=tmp_path)
    assert ended.returncode == 3
    assert "without marker 3" in ended.stderr
    assert "result 1" not in ended.stderr
    assert not (tmp_path / "bench.calibration").exists()


def test_a_dead_lamp_and_a_wrong_exposure_are_no_reference(tmp_path):
    """Fails if a faulty table becomes what it is judged by, or an exposure over 2.5 periods of the
    lamps' drive does, whose lamps vary; or if only one mistake is told."""
    (tmp_path / "bench.toml").write_text(RIG + places(exposure_ms=10) + LAYOUT_ONLY)
    ended = sicbo_hil("calibrate", "bench.toml", "--fault", "F10:lamp=total-9", cwd=tmp_path)
    assert ended.returncode == 3
    told = [line for line in ended.stderr.splitlines() if line.startswith("sicbo-hil:")]
    assert any("no light rises" in line and line.endswith("total-9") for line in told)
    assert any("vary from picture to picture" in line for line in told)
    assert not (tmp_path / "bench.calibration").exists()


def test_a_rig_without_a_camera_has_nothing_to_calibrate(tmp_path):
    """Fails if nothing is calibrated and that is called good."""
    (tmp_path / "bench.toml").write_text(RIG)
    ended = sicbo_hil("calibrate", "bench.toml", cwd=tmp_path)
    assert ended.returncode == 2
    assert "camera" in ended.stderr
