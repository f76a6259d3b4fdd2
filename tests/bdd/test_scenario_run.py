"""What the whole run says of a scenario afterwards."""

from __future__ import annotations

from pathlib import Path

from harness.bdd.collecting import ScenarioFacts
from harness.bdd.scenario_run import ScenarioRun
from harness.evidence.records import Scenario
from harness.verdicts import Verdict


def a_run() -> ScenarioRun:
    facts = ScenarioFacts("dice", "a die", Path("a.feature"), 1, (), frozenset(), True, {}, None)
    return ScenarioRun(facts, Scenario("id", "dice", "a die", "book", "rig"))


def test_a_value_read_from_dice_laid_otherwise_is_no_fault_of_the_camera():
    """Fails if the camera is blamed for dice that lay otherwise than was asked for."""
    run = a_run()
    camera = ("camera:dice",)
    run.check(Verdict.RIG_FAULT, "read as (2, 4, 5)", part=camera, fault="misread")
    run.check(Verdict.RIG_FAULT, "found disagreement", part=camera, fault="disagreement")
    run.check(Verdict.RIG_FAULT, "dark", part=camera, fault="dark")
    run.distrust_laying()
    assert [(check.verdict, check.part) for check in run.checks] == [
        (Verdict.NO_RESULT, ()),
        (Verdict.NO_RESULT, ()),
        (Verdict.RIG_FAULT, camera),
    ]
    assert [finding.fault for finding in run.findings()] == ["dark"]


def test_a_value_read_from_dice_as_laid_stays_the_cameras():
    """Fails if a misreading is explained away where the dice lay as they were laid."""
    run = a_run()
    run.check(Verdict.RIG_FAULT, "read as (2, 4, 5)", part=("camera:dice",), fault="misread")
    assert [finding.part for finding in run.findings()] == [("camera:dice",)]
