"""Pictures that a verdict rests on, beside those of entries, are kept and read again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.evidence.html import html_page
from harness.evidence.messages import messages
from harness.evidence.record import RunRecord
from harness.evidence.records import KeptFrame
from harness.evidence.replay import replay_run
from harness.evidence.report_data import gather
from harness.evidence.verify import verify_run
from harness.observations import DiceSeen
from harness.verdicts import Verdict
from tests.evidence.rewriting import rewrite
from tests.evidence.synthetic import RIG, ToyBook, make_run, scenario

PICTURES = Path(__file__).parents[2] / "fixtures" / "dice"


@pytest.fixture
def run(tmp_path):
    """A run whose one scenario looked at dice thrice, and at single pictures; no entry was made."""
    told = [json.loads(line) for line in (PICTURES / "labels.jsonl").read_text().splitlines()]
    three = next(one for one in told if len(one["expected"].get("values", ())) == 3)
    data = (PICTURES / three["file"]).read_bytes()
    record = make_run(tmp_path / "run", 0, finish=False, asked=0)
    item = scenario((1, 1, 1))
    record.scenario_started(item)
    frames = [KeptFrame(data + bytes([n]), 1.0 + n / 10) for n in range(3)]
    seen = DiceSeen(tuple(sorted(three["expected"]["values"])), None, 0.9)
    record.look(item.id, RIG, "dice", frames=frames, seen=seen)
    record.look(item.id, RIG, "under-cover", frames=frames[:2], legible=2)
    record.scenario_finished(item, Verdict.PASS, "", started=1.0, ended=2.0)
    record.run_finished()
    record.close()
    return record.folder


def replayed(folder):
    return replay_run(folder.path, lambda _: ToyBook())


def test_they_are_read_again(run):
    """Fails if such pictures are not read, or are not counted."""
    again = replayed(run)
    assert again.same, again.differences
    assert again.pictures == 5


@pytest.mark.parametrize(
    ("member", "other"), [("seen", {"values": [1, 1, 1]}), ("legible", 0), ("seen", None)]
)
def test_what_they_do_not_show_is_a_difference(run, member, other):
    """Fails if a reading that the pictures do not bear passes as replayed."""

    def change(record):
        if record["kind"] == "look" and record["body"][member] is not None:
            body = record["body"]
            body[member] = body[member] | other if isinstance(other, dict) else other

    rewrite(run.path, change)
    assert [one.what.split(",")[0] for one in replayed(run).differences] == ["pictures"]


def test_one_that_is_gone_is_found_and_a_resume_keeps_them(run):
    """Fails if a picture of a look may vanish unseen, or is taken for one that nobody names."""
    names = {path.name for path in run.frames.iterdir()}
    RunRecord.resume(run.path).close()
    assert {path.name for path in run.frames.iterdir()} == names
    gone = next(run.frames.iterdir())
    gone.unlink()
    assert f"frames/{gone.name}" in {one.file for one in verify_run(run.path).problems}
    assert not replayed(run).same


def test_reports_lead_to_them(run):
    """Fails if page or messages do not name such a picture."""
    page, sent = html_page(gather(run), run), json.dumps(messages(run))
    for path in run.frames.iterdir():
        assert f"frames/{path.name}" in page
        assert f"frames/{path.name}" in sent
