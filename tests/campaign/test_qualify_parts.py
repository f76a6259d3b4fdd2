"""Parts of a qualification apart from a bench: identity, record, rates, decision, page."""

from __future__ import annotations

import json

import cv2
import numpy as np
import pytest

from harness.campaign.qualify import Settings, findings, rates
from harness.campaign.qualify_identity import Identity
from harness.campaign.qualify_page import page
from harness.campaign.qualify_record import INSPECTION, QualificationRecord, Recorded, csv_of
from harness.campaign.qualify_toss import Toss
from harness.dealing.look import Look
from harness.evidence.errors import UnreadableRecordError
from harness.evidence.manifest import Manifest
from harness.evidence.verify import verify_run
from harness.fairness.analysis import Study
from harness.observations import DiceSeen
from harness.rig.roles import Frame
from harness.verdicts import ConfigurationError
from harness.vision.readings import DieSeen

RED, WHITE, BLUE = (30, 30, 200), (235, 235, 235), (200, 60, 30)


def die(value, x, y=60):
    corners = ((x - 20, y - 20), (x + 20, y - 20), (x + 20, y + 20), (x - 20, y + 20))
    return DieSeen(value, "flat", (x, y), corners, 0.99)


def picture(*bodies):
    """Draw dice of these colours at x = 50, 120, 190, with pips of the other tone."""
    image = np.full((120, 240, 3), 40, np.uint8)
    for place, body in enumerate(bodies):
        x = 50 + 70 * place
        cv2.rectangle(image, (x - 20, 40), (x + 20, 80), body, -1)
        cv2.circle(image, (x, 60), 5, (10, 10, 10), -1)
    return image


def test_dice_are_known_by_colour_wherever_they_lie():
    """Fails if a die takes another's value when they lie in another order."""
    identity = Identity("colour", None)
    first = identity.values((die(1, 50), die(2, 120), die(3, 190)), picture(RED, WHITE, BLUE))
    again = identity.values((die(3, 50), die(1, 120), die(2, 190)), picture(BLUE, RED, WHITE))
    assert first == again
    assert sorted(first) == [1, 2, 3]
    known = Identity("colour", identity.marks)
    assert known.values((die(2, 50), die(3, 120), die(1, 190)), picture(WHITE, BLUE, RED)) == first


def test_dice_of_one_colour_are_not_told_apart_by_it():
    """Fails if dice that look alike are given identities."""
    with pytest.raises(ConfigurationError, match="colours"):
        Identity("colour", None).values(
            (die(1, 50), die(2, 120), die(3, 190)), picture(RED, RED, BLUE)
        )


def test_a_doubtful_die_is_not_identified():
    """Fails if a toss is used in which a die may be either of two."""
    identity = Identity("place", None)
    dice = (die(4, 50), die(5, 120), die(6, 190))
    assert identity.values(dice, picture()) == (4, 5, 6)
    assert identity.values((die(4, 50), die(5, 88), die(6, 190)), picture()) is None
    assert identity.values((die(6, 55), die(4, 115), die(5, 185)), picture()) == (6, 4, 5)


def tossed(values, outcome="read", *, unmoved=0, strokes=3):
    seen = DiceSeen(values or (), None if values else outcome, 0.9)
    frame = Frame(np.zeros((2, 2, 3), np.uint8), 1.0, 1, b"\xff\xd8picture\xff\xd9")
    return Toss(
        outcome, values, seen.reason, strokes, unmoved, 0.9, 0.5, Look(seen, (), (frame,), 1.0)
    )


def manifest():
    return Manifest(rigs=[], books=[], invocation={}, inspection=INSPECTION).to_json()


def test_a_record_that_broke_off_is_taken_up_without_loss(tmp_path):
    """Fails if a toss, a mark, a picture or a count is lost or doubled, or the chain breaks."""
    record = QualificationRecord.create(tmp_path / "q", manifest())
    record.marks("place", np.eye(3))
    record.toss(tossed((1, 5, 2)))
    record.toss(tossed(None, "leaning", unmoved=1))
    record.close()
    with (tmp_path / "q" / "journal.jsonl").open("ab") as stream:
        stream.write(b'{"body":{"number":3')  # what a kill leaves
    again = QualificationRecord.resume(tmp_path / "q")
    again.toss(tossed((6, 6, 6), strokes=0))
    recorded = again.recorded
    assert recorded.tosses.tolist() == [[1, 5, 2], [6, 6, 6]]
    assert recorded.outcomes == {"read": 2, "leaning": 1}
    assert (recorded.number, recorded.unmoved, recorded.unsensed) == (3, 1, 1)
    assert (recorded.marks == np.eye(3)).all()
    again.finish(complete=True, why="", files={"tosses.csv": csv_of(recorded.tosses)}, key=None)
    assert verify_run(tmp_path / "q").intact
    assert (tmp_path / "q" / "tosses.csv").read_text() == "die1,die2,die3\n1,5,2\n6,6,6\n"
    assert len(list((tmp_path / "q" / "frames").iterdir())) == 1


def test_a_record_with_a_missing_toss_is_refused(tmp_path):
    """Fails if a qualification goes on from a journal out of which a toss was taken."""
    record = QualificationRecord.create(tmp_path / "q", manifest())
    for _ in range(3):
        record.toss(tossed((1, 2, 3)))
    record.close()
    journal = tmp_path / "q" / "journal.jsonl"
    lines = journal.read_bytes().split(b"\n")
    journal.write_bytes(b"\n".join(lines[:2] + lines[3:]))
    with pytest.raises(UnreadableRecordError, match="toss 2"):
        QualificationRecord.resume(tmp_path / "q")


def test_another_kind_of_run_is_not_taken_up(tmp_path):
    """Fails if tosses would be added to a run's record."""
    other = Manifest(rigs=[], books=[], invocation={}).to_json()
    QualificationRecord.create(tmp_path / "q", other).close()
    with pytest.raises(UnreadableRecordError, match="qualification"):
        QualificationRecord.resume(tmp_path / "q")


def test_rates_are_per_thousand_with_the_truth_inside():
    """Fails if a rate is not per 1,000 tosses or its interval leaves it out."""
    recorded = Recorded(outcomes={"read": 1960, "leaning": 30, "stacked": 10}, number=2000)
    by_name = {rate.name: rate for rate in rates(recorded)}
    leaning = by_name["leaning"]
    assert (leaning.count, leaning.per_1000) == (30, 15.0)
    assert 5 < leaning.low < 15 < leaning.high < 30
    assert by_name["extra"].low == 0


@pytest.mark.parametrize("how", [{"alpha": 0.0}, {"tolerance": 0.5}, {"most": 0}])
def test_settings_that_mean_nothing_are_refused(how):
    """Fails if a bench would be opened for nothing."""
    with pytest.raises(ConfigurationError):
        Settings(**how).check()


def test_a_loaded_die_is_located_and_its_page_opens_offline():
    """Fails if finding or page do not name the die, or the page asks for anything from outside."""
    rng = np.random.default_rng(1)
    tosses = rng.integers(1, 7, (600, 3)).astype(np.uint8)
    tosses[rng.random(600) < 0.3, 1] = 4
    study = Study()
    study.feed(tosses)
    analysis = study.analysis()
    first = findings(analysis)[0]
    assert (first.part, first.fault) == (("die:2",), "loaded")
    shown = page("Dice <of> a test", analysis, [("Rig", "a & b")], rates=rates(Recorded(number=9)))
    assert "die 2: face 4 comes too often" in shown
    assert "Dice &lt;of&gt; a test" in shown
    assert "<script" not in shown
    assert json.loads(json.dumps(analysis.to_json()))["decision"] == "biased"
