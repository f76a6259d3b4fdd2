"""Qualifies a shaker and its dice: tosses, reads, records and decides after every toss."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from harness.campaign.qualify_identity import Identity, ToldBy
from harness.campaign.qualify_record import QualificationRecord, Recorded
from harness.campaign.qualify_toss import Outcome, Tosser
from harness.dealing.calibrations import eyes_of, load_calibrations
from harness.fairness.analysis import Analysis, Study
from harness.fairness.confidence import interval
from harness.fairness.decision import Decision, Rejected
from harness.fairness.hypotheses import Hypothesis
from harness.fairness.sample_size import tosses_to_fair
from harness.rig.bench import open_bench
from harness.rig.errors import NotThereError
from harness.rig.sections import Rig
from harness.verdicts import ConfigurationError, Finding, HarnessError, Verdict

RATES: tuple[Outcome, ...] = (
    "leaning",
    "stacked",
    "missing",
    "extra",
    "restless",
    "unread",
    "unidentified",
)
_OWN_FAILURES: tuple[Outcome, ...] = ("unread", "unidentified")
_RATE_ALPHA = 0.05
_RATE_CENTRE = 0.01
_MOST_IN_A_ROW = 12
_PAUSES_S = (1.0, 5.0, 20.0, 60.0)
"""Waits before a bench that failed is opened again, as long as no toss is read in between."""


class NothingReadError(HarnessError):
    """Toss after toss without a result."""

    def __init__(self, outcomes: Sequence[str]) -> None:
        last = ", ".join(dict.fromkeys(outcomes))
        if not set(outcomes) & set(_OWN_FAILURES):
            self.verdict = Verdict.NO_RESULT
        super().__init__(
            "dice",
            expected="dice that can be read after a toss",
            found=f"{len(outcomes)} tosses in a row without a result: {last}",
            remedy="look at the kept pictures, put it right, then take the qualification up again",
        )


@dataclass(frozen=True, slots=True)
class Settings:
    """What is asked: error rate, tolerance of a probability, most tosses, level of fixed tests."""

    alpha: float = 0.01
    tolerance: float = 0.02
    most: int = 100_000
    told_by: ToldBy = "alike"
    level: float = 0.99

    def check(self) -> None:
        """Refuse what means nothing; raises ConfigurationError."""
        Study(self.alpha, self.tolerance)
        if self.most < 1:
            raise ConfigurationError(
                "--most", expected="at least one toss", found=str(self.most), remedy="correct it"
            )


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something happened, per 1,000 tosses, with an interval.

    The interval holds at every toss at once with 95% (Beta-mixture confidence sequence, Robbins
    1970), while the rate stays what it is.
    """

    name: str
    count: int
    per_1000: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class State:
    """How a qualification stands.

    `tosses` made, `read` of them, `fair_after`: tosses by which half of all fair dice are declared
    fair; `cycle_s` a toss takes (median of the last hundred), `hours_left` until then.
    """

    settings: Settings
    tosses: int
    read: int
    decision: Decision
    log10_e: float
    intervals: np.ndarray
    rates: tuple[Rate, ...]
    cycle_s: float | None
    fair_after: int

    @property
    def hours_left(self) -> float | None:
        """Give the hours until fair dice are likely declared so, or until the last toss allowed."""
        if self.cycle_s is None:
            return None
        until = self.fair_after if self.read < self.fair_after else self.settings.most
        return max(0, min(until, self.settings.most) - self.read) * self.cycle_s / 3600


class Qualification:
    """One qualification, begun or taken up: `record` holds what was tossed before."""

    def __init__(
        self, rig: Rig, settings: Settings, record: QualificationRecord, faults: Sequence[str] = ()
    ) -> None:
        self._rig = rig
        self._settings = settings
        self._record = record
        self._faults = faults
        self.broken: HarnessError | None = None
        """What ended it before a decision, if anything did."""
        self._study = study_of(settings, record.recorded)
        self._fair_after = tosses_to_fair(
            settings.tolerance, settings.alpha, 0.5, alike=settings.told_by == "alike"
        )

    @property
    def over(self) -> bool:
        """Tell whether nothing is left to be tossed."""
        return self.decision != "undecided" or self._study.tosses >= self._settings.most

    @property
    def decision(self) -> Decision:
        """Decide on what was read, unless too much of what lay there could not be read."""
        return decision_of(self._study, self._settings, self._record.recorded)

    @property
    def too_many_missed(self) -> bool:
        """Tell whether more tosses were missed by our own eyes than the tolerance allows."""
        return too_many_missed(self._settings, self._record.recorded)

    def run(self, show: Callable[[State], None]) -> None:
        """Toss until it is decided, or as often as allowed; `show` is told after each toss.

        A bench that fails is opened again, four times without a toss read in between; after that,
        when the table fails, and when a part is not there from the start, `broken` says why it
        ended. Everything is recorded first.
        """
        breaks, begun = 0, self._study.tosses
        calibrations = load_calibrations(self._rig)
        while not self.over:
            read = self._study.tosses
            try:
                with open_bench(self._rig, self._faults) as bench:
                    identity = self._identity()
                    tosser = Tosser(bench, eyes_of(bench, calibrations), identity)
                    self._toss(tosser, identity, show)
            except ConfigurationError:
                raise
            except HarnessError as error:
                self._record.error(error, self._rig.name)
                breaks = 0 if self._study.tosses > read else breaks
                absent = isinstance(error, NotThereError) and self._study.tosses == begun
                ours = error.verdict is Verdict.RIG_FAULT
                again = ours and not absent and not isinstance(error, NothingReadError)
                if not again or breaks == len(_PAUSES_S):
                    self.broken = error
                    return
                time.sleep(_PAUSES_S[breaks])
                breaks += 1

    def _identity(self) -> Identity | None:
        by = self._settings.told_by
        return None if by == "alike" else Identity(by, self._record.recorded.marks)

    def _toss(
        self, tosser: Tosser, identity: Identity | None, show: Callable[[State], None]
    ) -> None:
        in_a_row: list[str] = []
        while not self.over:
            toss = tosser.toss()
            if identity is not None and self._record.recorded.marks is None:
                marks = identity.marks
                if marks is not None:
                    self._record.marks(self._settings.told_by, marks)
            self._record.toss(toss)
            if toss.values is not None:
                in_a_row = []
                self._study.feed(np.array([toss.values], np.uint8))
            else:
                in_a_row.append(toss.outcome)
                if len(in_a_row) >= _MOST_IN_A_ROW:
                    raise NothingReadError(in_a_row)
            show(self.state())

    def state(self) -> State:
        """Give how it stands."""
        recorded = self._record.recorded
        return State(
            self._settings,
            recorded.number,
            self._study.tosses,
            self.decision,
            self._study.watch.log10_e,
            self._study.watch.intervals(),
            rates(recorded),
            median(recorded.took_s) if recorded.took_s else None,
            self._fair_after,
        )

    def analysis(self) -> Analysis:
        """Give what the read tosses say."""
        return self._study.analysis()


def study_of(settings: Settings, recorded: Recorded) -> Study:
    """Begin a study with the tosses that a record holds."""
    study = Study(
        settings.alpha,
        settings.tolerance,
        alike=settings.told_by == "alike",
        level=settings.level,
    )
    study.feed(recorded.tosses)
    return study


def too_many_missed(settings: Settings, recorded: Recorded) -> bool:
    """Tell whether more tosses were missed by our own eyes than the tolerance allows.

    They may hide what the dice do (sixes may be harder to read), so if they are more than half the
    tolerance, nothing is decided.
    """
    missed = sum(recorded.outcomes.get(each, 0) for each in _OWN_FAILURES)
    return missed > settings.tolerance / 2 * recorded.number


def decision_of(study: Study, settings: Settings, recorded: Recorded) -> Decision:
    """Decide on what was read, unless too much of what lay there could not be read."""
    return "undecided" if too_many_missed(settings, recorded) else study.watch.decision


def rates(recorded: Recorded) -> tuple[Rate, ...]:
    """Give the rates of everything but results, of unmoved dice and of strokes not sensed."""
    tosses = recorded.number
    counted: list[tuple[str, int]] = [(name, recorded.outcomes.get(name, 0)) for name in RATES]
    counted += [("unmoved", recorded.unmoved), ("unsensed", recorded.unsensed)]
    low, high = interval([count for _, count in counted], tosses, _RATE_ALPHA, _RATE_CENTRE)
    return tuple(
        Rate(name, count, 1000 * count / max(1, tosses), 1000 * float(lo), 1000 * float(hi))
        for (name, count), lo, hi in zip(counted, low, high, strict=True)
    )


def findings(analysis: Analysis) -> tuple[Finding, ...]:
    """Give what is wrong with dice or shaker, a finding for each rejected hypothesis."""
    found = []
    for rejected in analysis.rejected:
        part, fault = _located(rejected)
        found.append(
            Finding(
                Verdict.DUT_FAIL,
                (part,),
                fault,
                f"{rejected.found}; error rate {analysis.alpha:g} however often looked at, "
                f"e-value 10^{rejected.log10_e:.1f} after {rejected.at} tosses "
                f"(null: {rejected.hypothesis.null})",
                next_test=None
                if not analysis.alike
                else "qualify again with dice that can be told apart, to find which die it is",
            )
        )
    return tuple(found)


def _located(rejected: Rejected) -> tuple[str, str]:
    """Give part and fault; what a rejection leaves open stays open: `unfair`, of the `dice`."""
    if rejected.face is not None:
        return ("dice" if rejected.die is None else f"die:{rejected.die}"), "loaded"
    if not isinstance(rejected.hypothesis, Hypothesis) or rejected.hypothesis.kind == "joint":
        return "dice", "unfair"
    if rejected.hypothesis.kind == "drift":
        return f"die:{rejected.die}", "drifting"
    return "shaker", "dependent"
