"""What a report is worth: detected, right, located, and nobody innocent blamed."""

from __future__ import annotations

import pytest

from harness.campaign.catalogue import CATALOGUE
from harness.campaign.fault import Armed
from harness.campaign.picture import draw
from harness.campaign.tally import tally
from harness.campaign.trial import Outcome, Trial, score
from harness.campaign.trials import plan_trials, wanted_faults
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig
from harness.verdicts import ConfigurationError, Finding, Verdict

RIGS = {
    name: load_rig(find_rig(name))
    for name in (
        "emulated",
        "emulated-automated-covered",
        "emulated-instruments",
        "emulated-puncher",
    )
}
BOOKS = dict.fromkeys(RIGS, "ny-5324.51")
FAULTS = {fault.number: fault for fault in CATALOGUE}
DEAD = Armed(FAULTS["F10"], {"lamp": "total-9"})
SWAPPED = Armed(FAULTS["F12"], {"a": "small", "b": "big"})


def outcome(verdict: Verdict | None, *findings: Finding, armed=(DEAD,), rig="emulated") -> Outcome:
    trial = Trial(0, rig, "ny-5324.51", "cover", armed)
    return Outcome(trial, verdict, findings, 1.0)


def found(verdict: Verdict, *parts: str) -> Finding:
    return Finding(verdict, parts, "dead", "said")


def test_a_true_report_scores_in_full():
    """Fails if the right candidate set is held against the harness."""
    told = outcome(Verdict.AMBIGUOUS, found(Verdict.AMBIGUOUS, "lamp:total-9", "input:total-9"))
    assert score(told, RIGS["emulated"]).good


@pytest.mark.parametrize(
    ("told", "wrong"),
    [
        (outcome(Verdict.PASS), "detected"),
        (outcome(None), "detected"),
        (outcome(Verdict.DUT_FAIL, found(Verdict.DUT_FAIL, "lamp:total-9")), "verdict_right"),
        (outcome(Verdict.AMBIGUOUS, found(Verdict.AMBIGUOUS, "lamp:big")), "located"),
    ],
)
def test_each_untruth_is_held_against_it(told, wrong):
    """Fails if a wrong pass, a wrong class or a wrong place goes unnoticed."""
    assert getattr(score(told, RIGS["emulated"]), wrong) is False


def test_an_innocent_is_named_whoever_blames_it():
    """Fails if blame beside the truth goes unnoticed."""
    told = outcome(
        Verdict.DUT_FAIL,
        found(Verdict.AMBIGUOUS, "lamp:total-9", "input:total-9"),
        found(Verdict.DUT_FAIL, "key:1"),
        found(Verdict.RIG_FAULT, "device:keys"),
    )
    assert score(told, RIGS["emulated"]).innocents == ("key:1", "device:keys")


def test_two_exchanged_lamps_are_located_by_both():
    """Fails if half of an exchange counts as found."""
    half = outcome(Verdict.DUT_FAIL, found(Verdict.DUT_FAIL, "lamp:small"), armed=(SWAPPED,))
    whole = outcome(
        Verdict.DUT_FAIL, found(Verdict.DUT_FAIL, "lamp:big", "lamp:small"), armed=(SWAPPED,)
    )
    assert not score(half, RIGS["emulated"]).located
    assert score(whole, RIGS["emulated"]).good


def test_a_set_of_more_than_three_candidates_locates_nothing():
    """Fails if a long list of suspects counts as a diagnosis."""
    names = ("lamp:total-9", "lamp:small", "lamp:big", "lamp:any-triple", "key:1")
    told = outcome(Verdict.AMBIGUOUS, found(Verdict.AMBIGUOUS, *names))
    assert not score(told, RIGS["emulated"]).located


def test_every_fault_has_a_rig_that_shows_it():
    """Fails if a fault of the catalogue is planned on no rig, or one number is left out."""
    plan = plan_trials(CATALOGUE, RIGS, BOOKS, seeds=2, pairs=0)
    assert plan.not_observable == ()
    numbers = {trial.armed[0].fault.number for trial in plan.trials if trial.armed}
    assert numbers == {f"F{n:02d}" for n in range(1, 68)}
    healthy = [trial for trial in plan.trials if not trial.armed]
    assert len(healthy) >= 10


def test_what_a_rig_lacks_is_not_observable_and_never_passed():
    """Fails if a fault that the rig cannot show is run there or counted."""
    rigs = {"emulated": RIGS["emulated"]}
    plan = plan_trials(wanted_faults(["F10", "F41"]), rigs, BOOKS, seeds=1, pairs=0)
    assert [each.fault.number for each in plan.not_observable] == ["F41"]
    figures = tally([outcome(Verdict.PASS, armed=())], rigs, plan.not_observable)
    assert figures.to_json()["faults"] == []
    assert "not observable" in draw(figures)


def test_draws_are_the_same_for_the_same_seed():
    """Fails if a campaign cannot be repeated."""
    one, other = (plan_trials(CATALOGUE, RIGS, BOOKS, seeds=3, pairs=20) for _ in range(2))
    assert [trial.name for trial in one.trials] == [trial.name for trial in other.trials]
    pairs = [trial for trial in one.trials if len(trial.armed) > 1]
    assert len(pairs) == 20
    own = {"F56", "F57", "F63", "F64", "F65", "F66", "F67"}
    assert not own & {armed.fault.number for trial in pairs for armed in trial.armed}


def link_trials(seeds: int) -> list[Trial]:
    numbers = [f"F{n}" for n in range(31, 40)]
    plan = plan_trials(wanted_faults(numbers), RIGS, BOOKS, seeds=seeds, pairs=0)
    armed = [trial for trial in plan.trials if trial.armed]
    return sorted(armed, key=lambda trial: trial.number)


def test_faults_of_the_link_are_tried_on_every_kind_of_wire():
    """Fails if only one bench's links are put to the test, or a bench with the same ones again."""
    trials = link_trials(seeds=4)
    for number in (f"F{n}" for n in range(31, 40)):
        rigs = [trial.rig for trial in trials if trial.armed[0].fault.number == number]
        assert rigs == ["emulated", "emulated-instruments"] * 2
    silenced = {
        trial.armed[0].values["device"]
        for trial in link_trials(seeds=18)
        if trial.armed[0].fault.number == "F31" and trial.rig == "emulated-instruments"
    }
    assert silenced >= {"inputs", "readback", "photodiodes", "supply", "usb", "keys"}


def test_a_late_reply_comes_after_the_limit_of_its_device():
    """Fails if a reply that is in time counts as late: no report could tell it."""
    late = [trial for trial in link_trials(seeds=18) if trial.armed[0].fault.number == "F34"]
    limits = {(t.rig, t.armed[0].values["device"]): t.armed[0].values["ms"] for t in late}
    assert ("emulated-instruments", "photodiodes") in limits
    for (rig, device), ms in limits.items():
        assert int(ms) > RIGS[rig].devices[device].reply_ms


def test_a_wrong_baud_rate_is_no_device_s_own():
    """Fails if a rate is drawn at which the device answers as ever."""
    for trial in link_trials(seeds=18):
        armed = trial.armed[0]
        if armed.fault.number == "F37":
            own = RIGS[trial.rig].devices[armed.values["device"]].baud
            assert int(armed.values["baud"]) != own


def test_figures_say_on_which_rigs_a_fault_was_tried():
    """Fails if trials on one rig pass for trials on another."""
    trials = [trial for trial in link_trials(seeds=3) if trial.armed[0].fault.number == "F31"]
    figures = tally([Outcome(trial, Verdict.PASS, (), 1.0) for trial in trials], RIGS)
    (told,) = figures.to_json()["faults"]
    assert told["rigs"] == {"emulated": 2, "emulated-instruments": 1}
    assert "emulated 2, emulated-instruments 1" in draw(figures)


def test_an_unknown_number_is_refused():
    """Fails if a slip in --faults is passed over."""
    with pytest.raises(ConfigurationError):
        wanted_faults(["F99"])


def test_a_campaign_with_one_false_alarm_is_not_passed():
    """Fails if a healthy bench that was blamed does not count."""
    good = outcome(Verdict.AMBIGUOUS, found(Verdict.AMBIGUOUS, "lamp:total-9", "input:total-9"))
    assert tally([good, outcome(Verdict.PASS, armed=())], RIGS).good
    assert not tally([good, outcome(Verdict.RIG_FAULT, armed=())], RIGS).good
