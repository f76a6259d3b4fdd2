"""The part of a worker's pytest that drives a bench and keeps the record.

Verdicts come from what scenarios checked and from diagnosis of the whole book, never from pytest's
own passed and failed.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pytest_bdd.parser import Scenario as BddScenario
from pytest_bdd.parser import Step as BddStep

from harness.bdd.benches import capabilities_of, limits_of, setup_of, terminal_of
from harness.bdd.capabilities import CAPABILITIES, CLOSED_LOOP
from harness.bdd.case import check_body
from harness.bdd.closing import Closing
from harness.bdd.collecting import FeatureFile, ScenarioFacts, item_steps
from harness.bdd.conclusion import finding_of_error
from harness.bdd.features import feature_uri, features_of
from harness.bdd.job import Job, Teller
from harness.bdd.proving import prove
from harness.bdd.scenario_run import ScenarioRun, worst
from harness.bdd.sitting import Sitting
from harness.bdd.steps.wording import dice
from harness.dealing.errors import UnknownStateError
from harness.evidence.errors import EvidenceError
from harness.evidence.records import Scenario, Step
from harness.observations import Dice, Mode
from harness.rig.errors import HostLagError, NotCapableError, RigError
from harness.verdicts import ConfigurationError, HarnessError, Verdict

if TYPE_CHECKING:
    from harness.evidence.record import RunRecord
    from harness.evidence.resume import Recorded
    from harness.rig.sections import Rig
    from harness.rules.books import RuleBook


MOST_ATTEMPTS = 3
"""Runs of one scenario, where this host was too busy to watch the bench."""


class BrokenBenchError(HarnessError):
    """The bench broke earlier; what was left is not run and says the first cause."""


class RunPlugin:
    """Runs the collected scenarios of one book on one rig.

    The first error of our own bench latches: what is left is not run, and is a RIG_FAULT with that
    cause.
    """

    def __init__(
        self,
        job: Job,
        book: RuleBook,
        rig: Rig,
        *,
        record: RunRecord,
        recorded: Recorded | None,
        teller: Teller,
    ) -> None:
        self._job = job
        self._book = book
        self._rig = rig
        self._record = record
        self._recorded = recorded
        self._teller = teller
        self._capabilities = capabilities_of(rig)
        self._sitting: Sitting | None = None
        self._broken: HarnessError | None = None
        self._broken_line: int | None = None
        self._running: ScenarioRun | None = None
        self._steps_left: list[BddStep] = []
        self._step_started = 0.0
        self._checks_before = 0
        self._texts: set[str] = set(recorded.features) if recorded else set()
        self.refused: list[str] = []
        self.stopped: list[str] = []
        self._attempt = 1
        self._broke_off = False
        self._lagged = False

    @pytest.fixture
    def sitting(self) -> Sitting:
        """The book on the open bench."""
        assert self._sitting is not None
        return self._sitting

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep why a file was refused, a line each."""
        if report.failed:
            self.refused += str(report.longrepr).splitlines()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Record what is planned; leave out what the record holds already: each is kept once."""
        self._teller.tell("collected", total=len(items))
        if self.refused:
            return
        planned = [self._scenario(_facts(item)) for item in items]
        try:
            self._record.planned(self._book.id, self._job.rig_name, planned)
            for item in items:  # a run that is taken up again must go on with the same text
                self._keep_text(_facts(item).path)
        except EvidenceError as error:
            self.stopped = str(error).splitlines()
        if self._recorded is None:
            return
        left = []
        for item, scenario in zip(items, planned, strict=True):
            done = self._recorded.scenarios.get(scenario.id)
            if done is None:
                left.append(item)
            else:
                self._teller.tell("done", verdict=done.verdict.value)
        items[:] = left

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Open the bench around the scenarios, and explain what they saw once they are through."""
        if session.testsfailed:
            return None  # pytest's own loop stops here: the features were refused
        if self.stopped:
            return True
        # Pytest's own account of an error, sources and all, goes nowhere: the record has the error.
        session.config.option.tbstyle = "native"
        try:
            try:
                self._run_all(session)
            except EvidenceError:
                raise
            except HarnessError as error:  # the bench on its way out: outputs not seen open
                sound_so_far = self._broken is None
                self._break(error)
                if sound_so_far:  # all entries are explained by then: it has no other finding
                    found = finding_of_error(error.to_json())
                    self._record.finding(found, rig=self._job.rig_name)
        except EvidenceError as error:  # without a record there is no verdict: stop, bench safe
            self.stopped = str(error).splitlines()
        return True

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Keep an error of this program outside any step: the run goes no further, and says so."""
        said = " ".join(str(excinfo.value).split()) or "no message"
        self.stopped = [
            f"{self._job.name}: internal error, nothing further was run: "
            f"{type(excinfo.value).__name__}: {said}"
        ]

    def _run_all(self, session: pytest.Session) -> None:
        with ExitStack() as open_parts:
            self._open(open_parts)
            if self.refused:
                return
            for number, (item, following) in enumerate(pairwise([*session.items, None])):
                assert item is not None
                if self._broken is not None:
                    self._leave(session.items[number:])
                    break
                self._run(item, following)
            self._close()

    def _run(self, item: pytest.Item, following: pytest.Item | None) -> None:
        """Run one scenario; one that this host was too busy to watch is run again, and counted."""
        assert isinstance(item, pytest.Function)
        made = 0
        if self._recorded is not None:
            made = self._recorded.attempts.get(self._id(_facts(item)), 0)
        for self._attempt in range(made + 1, MOST_ATTEMPTS + 1):
            self._lagged = False
            if self._attempt > made + 1:
                item._initrequest()  # fixtures of an item serve one run of it
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if not self._lagged:
                return

    def _open(self, open_parts: ExitStack) -> None:
        from harness.bdd.calibrated import keep_calibrations
        from harness.dealing.calibrations import eyes_of, layout_lamps_of, load_calibrations
        from harness.rig.bench import open_bench
        from harness.rig.wire import tapped

        if self._book.variant(setup_of(self._rig)) is None:
            return
        try:
            calibrations = load_calibrations(self._rig)
            if self._job.record_wire:
                open_parts.enter_context(tapped(self._record.record_wire(self._job.rig_name)))
            bench = open_parts.enter_context(open_bench(self._rig, self._job.faults))
            bench.lamps += layout_lamps_of(bench, calibrations, frozenset(self._book.areas))
            eyes = eyes_of(bench, calibrations) if bench.dice_cameras else None
            keep_calibrations(self._record, self._job.rig_name, bench, calibrations)
            self._sitting = Sitting(
                self._book,
                bench,
                self._record,
                rig=self._job.rig_name,
                setup=setup_of(self._rig),
                terminal=terminal_of(self._rig),
                limits=limits_of(self._rig),
                eyes=eyes,
                first_index=1 + (self._recorded.last_index if self._recorded else 0),
            )
            open_parts.callback(self._sitting.close)
            prove(self._sitting)
        except ConfigurationError as error:
            self.refused += str(error).splitlines()
        except HarnessError as error:
            self._break(error)

    def _break(self, error: HarnessError) -> None:
        self._latch(error, self._record.error(error, rig=self._job.rig_name))
        self._teller.tell("broken", lines=str(error).splitlines())

    def _latch(self, error: HarnessError, line: int) -> None:
        """Keep the first error of our bench, and the line that records it."""
        if self._broken is None:
            self._broken, self._broken_line = error, line

    def _close(self) -> None:
        closing = Closing(self._book, self._rig, self._job.rig_name, self._record)
        if self._sitting is not None and self._broken is None:
            try:
                closing.try_further(self._sitting)
            except EvidenceError:
                raise
            except HarnessError as error:
                self._break(error)
        closing.explain(self._sitting, self._broken_line)
        self._record.concluded(self._book.id, self._job.rig_name)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        """Keep the record of one scenario."""
        facts = _facts(item)
        scenario = self._scenario(facts)
        run = ScenarioRun(facts, scenario)
        self._running = run
        self._steps_left = []
        self._broke_off = False
        self._teller.tell("doing", name=facts.name)
        self._record.scenario_started(scenario)
        if self._sitting is not None:
            self._sitting.begin(run)
            self._sitting.look_ahead = lambda: self._next_result(item, nextitem)
        outcome = yield
        if self._sitting is not None:
            try:
                self._sitting.end(broke_off=self._broke_off)
            except Exception as error:  # whatever it is, the run must account for it
                self._take(error, run)
                if not isinstance(error, HarnessError):
                    self._break(_not_put_right(error))
        self._finish(run)
        return outcome

    def _finish(self, run: ScenarioRun) -> None:
        again = self._lagged and self._attempt < MOST_ATTEMPTS
        run.steps += [_not_reached(step) for step in self._steps_left]
        self._record.scenario_finished(
            run.record,
            run.verdict(),
            run.what(),
            started=run.started,
            ended=time.monotonic(),
            steps=run.steps,
            results=run.results(),
            mode=run.entries[-1].entry.mode if run.entries else self._mode(),
            depends_on=run.depends_on(),
            evidence=[f"journal:{kept.line}" for kept in run.entries],
            attempt=self._attempt,
            checks=[check_body(check) for check in run.checks],
            again=again,
        )
        self._running = None
        if again:
            told = f"{run.record.name}: {run.what()}"
            self._record.rig_fact(self._job.rig_name, "retakes", "host", told)
            return
        self._teller.tell("done", verdict=run.verdict().value)

    def _mode(self) -> Mode:
        return "presented" if self._capabilities >= CLOSED_LOOP else "entered"

    def _leave(self, items: Sequence[pytest.Item]) -> None:
        """Record what a broken bench leaves undone: a fault of ours with the first cause."""
        left = []
        for item in items:
            facts = _facts(item)
            refusal = self._refusal(facts)
            assert refusal is not None
            steps = [_not_reached(step) for step in item_steps(item)]
            results = {} if facts.result is None else {facts.result: refusal.verdict}
            left.append((self._scenario(facts), refusal.verdict, str(refusal), steps, results))
        self._record.scenarios_not_run(left, self._mode())
        for _, verdict, *_ in left:
            self._teller.tell("done", verdict=verdict.value)

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Refuse what this bench cannot do, by name."""
        refusal = self._refusal(_facts(item))
        if refusal is not None:
            raise refusal

    def _refusal(self, facts: ScenarioFacts) -> HarnessError | None:
        if self._book.variant(setup_of(self._rig)) is None:
            return NotCapableError(
                self._job.rig_name,
                expected=f"equipment that {self._book.id} allows",
                found=f"shaker {self._rig.table.shaker}, cover {self._rig.table.cover}",
                remedy="run this book on a rig with equipment that it allows",
            )
        needed = facts.needs
        if facts.result is not None and not self._capabilities >= CLOSED_LOOP:
            needed -= CLOSED_LOOP
        lacking = sorted(needed - self._capabilities)
        if lacking:
            return NotCapableError(
                self._job.rig_name,
                expected=" and ".join(CAPABILITIES[name] for name in lacking),
                found="no such part",
                remedy="run the scenario on a rig that has it",
            )
        if self._broken is not None:
            return BrokenBenchError(
                self._job.rig_name,
                expected="a bench in order",
                found=f"a fault: {self._broken.subject}: {self._broken.found}",
                remedy=self._broken.remedy,
            )
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Take an error that ended a scenario into its verdict."""
        report = yield
        run = self._running
        if call.excinfo is not None and run is not None:
            self._take(call.excinfo.value, run)
        return report

    def _take(self, error: BaseException, run: ScenarioRun) -> None:
        self._broke_off = True
        if isinstance(error, HarnessError):
            self._take_expected(error, run)
        elif isinstance(error, pytest.skip.Exception):
            run.check(Verdict.NOT_APPLICABLE, str(error))
        elif isinstance(error, Exception):
            said = " ".join(str(error).split()) or "no message"
            run.check(
                Verdict.RIG_FAULT,
                f"internal error, nothing was concluded: {type(error).__name__}: {said}",
                part=("harness",),
                fault="internal-error",
            )

    def _take_expected(self, error: HarnessError, run: ScenarioRun) -> None:
        told = error.to_json()
        ours = isinstance(error, RigError | BrokenBenchError | NotCapableError)
        run.check(
            error.verdict,
            str(error),
            part=() if ours else (str(told.get("part") or error.subject),),
            fault=str(told.get("fault") or ""),
        )
        if isinstance(error, HostLagError):
            self._lagged = True
            return  # one measurement is lost; devices and links are as sound as before
        if isinstance(error, RigError):  # a device or its link: the bench is not to be trusted
            line = self._record.error(error, scenario=run.record.id, rig=self._job.rig_name)
            self._latch(error, line)
            self._teller.tell("broken", lines=str(error).splitlines())

    def pytest_bdd_before_scenario(self, scenario: BddScenario) -> None:
        """Know the steps that lie ahead."""
        self._steps_left = list(scenario.steps)

    def pytest_bdd_before_step(self, step: BddStep) -> None:
        """Note when a step begins."""
        assert self._running is not None
        self._step_started = time.monotonic()
        self._checks_before = len(self._running.checks)
        self._steps_left = self._steps_left[1:]

    def pytest_bdd_after_step(self, step: BddStep) -> None:
        """Keep a step that went through, with what it found."""
        self._keep_step(step, None)

    def pytest_bdd_step_error(self, step: BddStep, exception: Exception) -> None:
        """Keep a step that ended the scenario."""
        self._keep_step(step, exception)

    def _keep_step(self, step: BddStep, error: Exception | None) -> None:
        run = self._running
        assert run is not None
        made = run.checks[self._checks_before :]
        verdict = worst([check.verdict for check in made] or [Verdict.PASS])
        what = "; ".join(dict.fromkeys(check.what for check in made if check.verdict is verdict))
        if isinstance(error, HarnessError):
            verdict, what = error.verdict, str(error)
        elif error is not None:
            verdict, what = Verdict.RIG_FAULT, f"internal error: {type(error).__name__}"
        run.steps.append(
            Step(
                step.keyword.strip(),
                step.name,
                verdict,
                what,
                step.line_number,
                self._step_started,
                time.monotonic(),
            )
        )

    def _scenario(self, facts: ScenarioFacts) -> Scenario:
        return Scenario(
            id=self._id(facts),
            feature=facts.feature,
            name=facts.name,
            book=self._book.id,
            rig=self._job.rig_name,
            tags=tuple(f"@{clause}" for clause in facts.clauses),
            clauses=facts.clauses,
            line=facts.line,
        )

    def _id(self, facts: ScenarioFacts) -> str:
        row = "; ".join(facts.example.values())
        place = f"{facts.path.stem}:{facts.line}" + (f"({row})" if row else "")
        return f"{self._book.id}/{self._job.rig_name}/{place}"

    def _keep_text(self, path: Path) -> None:
        uri = feature_uri(path, features_of(self._book))
        if uri not in self._texts:
            self._texts.add(uri)
            self._record.feature(uri, path.read_text(encoding="utf-8"))

    def _next_result(self, item: pytest.Item, nextitem: pytest.Item | None) -> Dice | None:
        assert isinstance(item, pytest.Function)
        if not isinstance(nextitem, pytest.Function) or nextitem.function is not item.function:
            return None
        result = _facts(nextitem).result
        laid_by_row = self._sitting is not None and self._sitting.shown is not None
        return dice(result) if result is not None and laid_by_row else None


def _facts(item: pytest.Item) -> ScenarioFacts:
    assert isinstance(item, pytest.Function)
    assert isinstance(item.parent, FeatureFile)
    return item.parent.facts(item)


def _not_put_right(error: Exception) -> UnknownStateError:
    """Say that an internal error left the table as it was: what follows would be laid to it."""
    return UnknownStateError(
        "the table",
        expected="a table put right for the next scenario",
        found=f"an internal error before that was done: {type(error).__name__}",
        remedy="clear the table by hand, report the error, and run again",
    )


def _not_reached(step: BddStep) -> Step:
    return Step(step.keyword.strip(), step.name, None, "", step.line_number)
