"""Replay of a shaker's qualification: the decision is made again from the recorded tosses."""

from __future__ import annotations

import json
import random
import shutil

import pytest
from click.testing import CliRunner

from harness.campaign.qualify import Qualification, Settings
from harness.campaign.qualify_outcome import outcome_of
from harness.campaign.qualify_record import INSPECTION, QualificationRecord
from harness.campaign.qualify_toss import Toss
from harness.cli.replay import command
from harness.evidence.journal_lines import read_records
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig
from harness.verdicts import Verdict
from tests.evidence.rewriting import rewrite
from tests.evidence.synthetic import manifest

SETTINGS = Settings(most=400)


def qualified(path, faces):
    """A qualification of which every toss was read, with faces as likely as `faces` says."""
    rig, chance = load_rig(find_rig("emulated")), random.Random(5)
    facts = manifest(
        inspection=INSPECTION,
        books=[],
        invocation={"settings": {"most": SETTINGS.most}},
        dut={rig.name: {}},
    )
    record = QualificationRecord.create(path, facts.to_json())
    for _ in range(SETTINGS.most):
        values = tuple(sorted(chance.choices(range(1, 7), faces, k=3)))
        record.toss(Toss("read", values, None, 3, 0, 0.999, 1.0, None))
    outcome = outcome_of(rig.name, SETTINGS, record, Qualification(rig, SETTINGS, record))
    files = outcome.files(record)
    for finding in outcome.findings:
        record.finding(finding.to_json(), rig.name)
    record.verdict(rig.name, outcome.verdict, outcome.what)
    record.finish(complete=True, why="", files=files, key=None)
    return path


@pytest.fixture(scope="module")
def biased(tmp_path_factory):
    return qualified(tmp_path_factory.mktemp("biased") / "q", [1, 1, 1, 1, 1, 4])


@pytest.fixture
def copy(biased, tmp_path):
    return shutil.copytree(biased, tmp_path / "copy")


def replayed(path):
    done = CliRunner().invoke(command, [str(path), "--json"], standalone_mode=False)
    assert done.exception is None, done.exception
    return json.loads(done.stdout)["differences"]


def test_the_decision_is_made_again_and_agrees(biased, tmp_path):
    kinds = [record.kind for record in read_records(biased / "journal.jsonl")]
    told = json.loads((biased / "summary.json").read_text())["findings"]
    assert kinds.count("finding") == len(told) > 1
    assert replayed(biased) == []
    assert replayed(qualified(tmp_path / "fair", [1] * 6)) == []


def test_changed_tosses_are_told(copy):
    """Fails if the decision of the record is believed: without its sixes the die is not loaded."""
    chance = random.Random(6)

    def change(record):
        if record["kind"] == "toss":
            record["body"]["values"] = [chance.randint(1, 6) for _ in range(3)]

    rewrite(copy, change)
    told = {(one["file"], one["what"]) for one in replayed(copy)}
    assert {("journal.jsonl", "verdict"), ("journal.jsonl", "finding")} <= told
    assert {("qualification.json", "decision"), ("tosses.csv", "tosses")} <= told


def test_a_die_acquitted_by_hand_is_told(copy):
    def change(record):
        if record["kind"] == "finding":
            return False
        if record["kind"] == "scenario-finished":
            record["body"]["verdict"] = Verdict.PASS.value
            record["body"]["what"] = "fair-within-tolerance after 400 tosses"
        return None

    rewrite(copy, change)
    assert {one["what"] for one in replayed(copy)} >= {"verdict", "decision", "finding"}


def test_a_changed_figure_is_told(copy):
    figures = json.loads((copy / "qualification.json").read_text())
    figures["read"] -= 1
    (copy / "qualification.json").write_text(json.dumps(figures))
    (told,) = replayed(copy)
    assert (told["file"], told["what"]) == ("qualification.json", "read")
