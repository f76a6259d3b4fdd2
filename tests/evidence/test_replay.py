"""Replay: the same observations give the same verdicts; a changed oracle or picture shows up."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from harness.evidence.canonical import canonical, sha256_hex
from harness.evidence.finish import finish_run
from harness.evidence.record import RunRecord
from harness.evidence.records import KeptFrame, Scenario, read_entry
from harness.evidence.replay import replay_run
from harness.evidence.run_folder import RunFolder
from harness.evidence.verify import verify_run
from harness.observations import DiceSeen
from harness.rules.books import load_book
from harness.rules.judgement import judge_entry
from harness.rules.monitor import Monitor
from harness.rules.timeline import Event, Setup
from harness.verdicts import Verdict
from harness.vision.calibration import Profile, profile_body
from harness.vision.pictures import read_file
from harness.vision.reader import DiceReader
from tests.evidence.rewriting import rewrite
from tests.evidence.synthetic import BOOK, LIMITS, RIG, ToyBook, entry, manifest, scenario

PICTURES = Path(__file__).parents[2] / "fixtures" / "dice"


def load(book):
    assert book == BOOK
    return ToyBook()


@pytest.fixture(scope="module")
def pictures():
    """Pictures that the reader reads, and what they show by the fixtures' own labels."""
    rows = [json.loads(row) for row in (PICTURES / "labels.jsonl").read_text().splitlines()]
    labelled = [
        (PICTURES / row["file"], tuple(row["expected"]["values"]))
        for row in rows
        if row["expected"]["outcome"] == "values"
    ]
    reader = DiceReader()
    legible = [(p, v) for p, v in labelled if reader.read(read_file(p)[0]).values == v]
    assert len({values for _, values in legible}) >= 3
    return legible


@pytest.fixture(scope="module")
def made(tmp_path_factory, pictures):
    """A run over the pictures: entered are the values that the labels give."""
    path = tmp_path_factory.mktemp("replay") / "run"
    asked = {BOOK: {"checked": len({values for _, values in pictures}), "mode": "presented"}}
    with RunRecord.create(path, manifest().to_json(), asked) as record:
        for index, (picture, values) in enumerate(pictures):
            data = picture.read_bytes()
            reading = DiceReader().read(read_file(picture)[0])
            seen = DiceSeen(reading.values, None, reading.confidence)
            item = replace(scenario(values), id=f"s{index}")
            one = replace(entry(values, index), seen=seen)
            judged = judge_entry(one, ToyBook(), None, LIMITS)
            record.scenario_started(item)
            record.entry(
                one,
                judged,
                scenario=item.id,
                frames=[KeptFrame(data + bytes([n]), 100.0 + n) for n in range(3)],
                limits=LIMITS,
            )
            record.scenario_finished(
                item,
                judged.verdict,
                judged.what,
                started=0,
                ended=1,
                results={",".join(map(str, values)): judged.verdict},
                mode="presented",
            )
        record.run_finished()
    finish_run(RunFolder(path))
    return path


@pytest.fixture
def copy(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "run"))


def test_what_was_recorded_comes_out_again(made, pictures):
    answer = replay_run(made, load)
    assert answer.differences == ()
    assert answer.to_json()["same"] is True
    assert (answer.entries, answer.pictures) == (len(pictures), 3 * len(pictures))


def test_a_changed_oracle_is_told_for_each_result_it_changes(made, pictures):
    class OtherBook(ToyBook):
        def winning_areas(self, dice, options=None):
            return super().winning_areas(dice, options) - {f"total-{sum(dice)}"}

    answer = replay_run(made, lambda book: OtherBook())
    told = {difference.scenario for difference in answer.differences}
    assert told == {f"s{n}" for n in range(len(pictures))}
    verdicts = [d for d in answer.differences if d.what == "verdict"]
    assert {(d.recorded, d.derived) for d in verdicts} == {("PASS", "DUT_FAIL")}


def test_a_changed_picture_with_every_hash_mended_is_told(copy, pictures):
    """Fails if replay believes the recorded values, or only compares hashes."""
    other = next(p for p, values in pictures if values != pictures[0][1]).read_bytes()
    name = sha256_hex(other)[:40] + ".jpg"

    def change(record):
        body = record["body"]
        if record["kind"] == "entry" and body["scenario"] == "s0":
            for frame in body["frames"]:
                frame.update(name=name, sha256=sha256_hex(other))
            body["seen"]["frames"] = [name] * 3

    (copy / "frames" / name).write_bytes(other)
    rewrite(copy, change)
    assert verify_run(copy).intact
    differences = replay_run(copy, load).differences
    assert {d.scenario for d in differences} == {"s0"}
    assert {"dice", "verdict"} <= {d.what for d in differences}


def test_a_changed_or_missing_picture_is_told_by_name(copy):
    body = next(
        json.loads(line)["body"]
        for line in (copy / "journal.jsonl").read_bytes().splitlines()
        if b'"kind":"entry"' in line
    )
    first, second, _ = (copy / "frames" / frame["name"] for frame in body["frames"])
    first.write_bytes(first.read_bytes()[:-1])
    second.unlink()
    told = {(d.file, d.what) for d in replay_run(copy, load).differences}
    assert {(f"frames/{p.name}", "picture") for p in (first, second)} <= told


def test_changed_lamps_with_every_hash_mended_are_told(copy):
    def change(record):
        if record["kind"] == "entry" and record["body"]["scenario"] == "s1":
            lit = next(s for s in record["body"]["lamps"] if s["stage"] == "lit")
            lit["lit"] = lit["lit"][1:]

    rewrite(copy, change)
    differences = replay_run(copy, load).differences
    assert {d.scenario for d in differences} == {"s1"}
    assert [(d.recorded, d.derived) for d in differences if d.what == "verdict"] == [
        ("PASS", "AMBIGUOUS")
    ]


def test_a_verdict_that_the_observations_do_not_bear_is_told(copy):
    def change(record):
        if record["kind"] == "entry" and record["body"]["scenario"] == "s1":
            record["body"]["judgement"]["verdict"] = Verdict.DUT_FAIL.value

    rewrite(copy, change)
    (difference,) = replay_run(copy, load).differences
    assert (difference.what, difference.derived) == ("verdict", "PASS")


def test_a_scenario_passed_against_its_entry_is_told(copy):
    """Fails if a forged PASS of a scenario, or of a result, is believed."""

    def spoil(record):
        body = record["body"]
        if record["kind"] == "entry" and body["scenario"] == "s1":
            lit = next(s for s in body["lamps"] if s["stage"] == "lit")
            lit["lit"] = [*lit["lit"], "total-17"]
            body["judgement"].update(
                verdict="DUT_FAIL", extra=["total-17"], what="lit that must be dark: total-17"
            )

    rewrite(copy, spoil)
    differences = replay_run(copy, load).differences
    told = {(d.what, d.recorded, d.derived) for d in differences}
    assert told == {("scenario verdict", "PASS", "DUT_FAIL")}
    assert len(differences) == 2


def test_a_table_blamed_without_anything_that_failed_is_told(copy):
    def change(record):
        if record["kind"] == "scenario-finished" and record["body"]["scenario"] == "s1":
            record["body"]["verdict"] = "DUT_FAIL"

    rewrite(copy, change)
    (copy / "summary.json").unlink()
    (difference,) = replay_run(copy, load).differences
    assert (difference.what, difference.recorded, difference.derived) == (
        "scenario verdict",
        "DUT_FAIL",
        "PASS",
    )


def test_an_entry_that_was_wrong_on_purpose_leaves_its_scenario_alone(copy):
    def change(record):
        body = record["body"]
        if record["kind"] == "entry" and body["scenario"] == "s1":
            body["provoked"] = True
            body["keyed"] = ["6", "6", "6"]
            body["lamps"] = []
            body["judgement"] = replay_free_judgement(body)

    rewrite(copy, change)
    assert replay_run(copy, load).same


def replay_free_judgement(body):
    return judge_entry(read_entry(body), ToyBook(), None, LIMITS).to_json()


def test_a_summary_that_the_journal_does_not_bear_is_told(copy):
    summary = json.loads((copy / "summary.json").read_bytes())
    summary["verdict"] = "DUT_FAIL"
    (copy / "summary.json").write_bytes(canonical(summary) + b"\n")
    assert [(d.file, d.what) for d in replay_run(copy, load).differences] == [
        ("summary.json", "verdict")
    ]


NY = "ny-5324.51"
SETUP = Setup("manual", "opaque")
ROUND = [
    ("round-start", {}),
    ("hand-motion", {}),
    ("no-more-bets", {}),
    ("cover-on", {}),
    ("shake", {}),
    ("shake", {}),
    ("cover-off", {}),
]


@pytest.fixture
def dealt(tmp_path):
    """A round with two shakes only, its deviations recorded as the monitor found them."""
    path = tmp_path / "dealt"
    facts = manifest(dut={RIG: {"shaker": "manual", "cover": "opaque"}}).to_json()
    item = Scenario("deal", "features/ny/deal.feature", "A round", NY, RIG)
    monitor = Monitor(load_book(NY), SETUP)
    with RunRecord.create(path, facts, {}) as record:
        record.scenario_started(item)
        for t, (name, data) in enumerate(ROUND):
            event = Event(float(t), name, data)
            record.events(item.id, RIG, [event])
            for found in monitor.feed(event):
                record.deviation(item.id, RIG, found.clause, found.what, found.at)
        record.scenario_finished(item, Verdict.PROCEDURE_FAIL, "", started=0, ended=9)
        record.run_finished()
    return path


def test_the_procedure_is_judged_again(dealt):
    kinds = [
        json.loads(line)["kind"] for line in (dealt / "journal.jsonl").read_bytes().splitlines()
    ]
    assert kinds.count("deviation") >= 1
    assert replay_run(dealt, load_book).same


def test_an_event_changed_with_every_hash_mended_is_told(dealt):
    """Fails if recorded deviations are believed: with a third shake there is none."""

    def change(record):
        if record["kind"] == "event" and record["body"]["event"] == "hand-motion":
            record["body"]["event"] = "shake"
        if record["kind"] == "event" and record["body"]["event"] == "round-start":
            record["body"]["event"] = "round-end"

    rewrite(dealt, change)
    (difference,) = replay_run(dealt, load_book).differences
    assert difference.what == "deviations"
    assert difference.recorded != difference.derived


def test_each_camera_is_read_by_the_calibration_of_the_record(copy):
    """Fails if replay reads without a camera's profile: by this one no picture is sharp enough."""
    profile = Profile("overhead", "2026-11-01", sharpness_min=1e9)
    told = {"made": profile.made, "sha256": profile.digest, "contents": profile_body(profile)}
    facts = json.loads((copy / "manifest.json").read_text())
    facts["calibrations"] = {RIG: {"overhead": told}}
    (copy / "manifest.json").write_bytes(canonical(facts) + b"\n")

    def change(record):
        for frame in record["body"].get("frames", ()):
            frame["camera"] = "overhead"

    assert replay_run(copy, load).same
    rewrite(copy, change)
    told = replay_run(copy, load).differences
    assert sum(one.what == "dice" for one in told) == replay_run(copy, load).entries
    facts["calibrations"][RIG]["overhead"]["contents"]["sharpness_min"] = 0.5
    (copy / "manifest.json").write_bytes(canonical(facts) + b"\n")
    changed = {(one.file, one.what) for one in replay_run(copy, load).differences}
    assert ("manifest.json", f"calibration of overhead on {RIG}") in changed
