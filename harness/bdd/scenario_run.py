"""One scenario while it runs: what was checked, and the verdict that follows."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from harness.bdd.collecting import ScenarioFacts
from harness.bdd.inspection import written
from harness.evidence.records import Scenario, Step
from harness.observations import Entry
from harness.rules.judgement import Judgement
from harness.verdicts import CHECKS_WORST_FIRST, Finding, Verdict

_DICE_ASTRAY = ("misread", "disagreement")
"""What a sound camera does with dice that lie otherwise than it may expect."""


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Give the verdict of one scenario from its checks: it passes only if every check passed."""
    seen = set(verdicts)
    return next((verdict for verdict in CHECKS_WORST_FIRST if verdict in seen), Verdict.PENDING)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing a step found. `part` and `fault` locate it where it is not PASS.

    `by_camera`: it was seen by the dice camera, and stands only if that is sound. `entry`: the
    index of the entry that it judges, which a cause found for the whole run may explain.
    """

    verdict: Verdict
    what: str
    part: tuple[str, ...] = ()
    fault: str = ""
    clauses: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    by_camera: bool = False
    entry: int | None = None


@dataclass(frozen=True, slots=True)
class KeptEntry:
    """An entry as recorded: its judgement by itself and the journal line it stands on.

    An entry that was wrong on purpose is `provoked`: its scenario alone judges it. One that is not
    `diagnosed` was made under conditions that diagnosis does not know.
    """

    entry: Entry
    judgement: Judgement
    line: int
    scenario: str
    provoked: bool = False
    diagnosed: bool = True

    @property
    def result(self) -> str:
        """Give the result it was made for, as written; empty if there was none."""
        if self.entry.shown is not None:
            return written(self.entry.shown)
        return ",".join(self.entry.keyed)


@dataclass(slots=True)
class ScenarioRun:
    """A scenario's checks, entries and steps as they come."""

    facts: ScenarioFacts
    record: Scenario
    started: float = field(default_factory=time.monotonic)
    checks: list[Check] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    entries: list[KeptEntry] = field(default_factory=list)

    def check(
        self,
        verdict: Verdict,
        what: str,
        *,
        part: tuple[str, ...] = (),
        fault: str = "",
        clauses: tuple[str, ...] | None = None,
        depends_on: tuple[str, ...] = (),
        by_camera: bool = False,
        entry: int | None = None,
    ) -> None:
        """Add one check; without `clauses` it concerns those that the scenario carries."""
        concerned = self.facts.clauses if clauses is None else clauses
        self.checks.append(
            Check(verdict, what, part, fault, concerned, depends_on, by_camera, entry)
        )

    def verdict(self, diagnosed: Mapping[int, Verdict] | None = None) -> Verdict:
        """Give the verdict; `diagnosed` holds better verdicts of entries by index, once known."""
        return worst([*(check.verdict for check in self.checks), *self._of_entries(diagnosed)])

    def what(self, diagnosed: Mapping[int, Verdict] | None = None) -> str:
        """Say what decided the verdict."""
        decided = self.verdict(diagnosed)
        said = [check.what for check in self.checks if check.verdict is decided]
        said += [kept.judgement.what for kept in self._judged() if kept.judgement.what]
        return "; ".join(dict.fromkeys(said)) or "nothing was checked"

    def distrust_camera(self) -> None:
        """Take back what the camera alone held against the table: the camera was at fault."""
        self.checks = [
            replace(
                check,
                verdict=Verdict.RIG_FAULT,
                what=f"not determined, the camera was at fault: {check.what}",
                part=(),
            )
            if check.by_camera and check.verdict is Verdict.DUT_FAIL
            else check
            for check in self.checks
        ]

    def distrust_laying(self) -> None:
        """Take back what was held against the camera: dice did not lie as they were laid."""
        self.checks = [
            replace(
                check,
                verdict=Verdict.NO_RESULT,
                what=f"not determined, dice did not lie as they were laid: {check.what}",
                part=(),
            )
            if check.fault in _DICE_ASTRAY and check.verdict is Verdict.RIG_FAULT
            else check
            for check in self.checks
        ]

    def explain_checks(self, diagnosed: Mapping[int, Verdict]) -> None:
        """Give checks of entries that a cause explains that cause's verdict; it is the finding."""
        self.checks = [
            replace(check, verdict=diagnosed[check.entry], part=())
            if check.entry is not None
            and check.verdict is not Verdict.PASS
            and diagnosed.get(check.entry, Verdict.PASS) is not Verdict.PASS
            else check
            for check in self.checks
        ]

    def results(self, diagnosed: Mapping[int, Verdict] | None = None) -> dict[str, Verdict]:
        """Give each result that the scenario answers for its verdict."""
        result = self.facts.result
        return {} if result is None else {result: self.verdict(diagnosed)}

    def depends_on(self) -> list[str]:
        """Give the readings that the verdict depends on."""
        return sorted({reading for check in self.checks for reading in check.depends_on})

    def findings(self) -> list[Finding]:
        """Give a finding for each located check that did not pass."""
        evidence = tuple(f"journal:{kept.line}" for kept in self.entries)
        return [
            Finding(
                check.verdict,
                check.part,
                check.fault or "not-as-required",
                check.what,
                clauses=check.clauses,
                depends_on=check.depends_on,
                evidence=evidence,
            )
            for check in self.checks
            if check.part and check.verdict is not Verdict.PASS
        ]

    def _judged(self) -> list[KeptEntry]:
        return [kept for kept in self.entries if not kept.provoked]

    def _of_entries(self, diagnosed: Mapping[int, Verdict] | None) -> list[Verdict]:
        known = diagnosed or {}
        return [known.get(kept.entry.index, kept.judgement.verdict) for kept in self._judged()]
