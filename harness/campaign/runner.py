"""Makes the trials of a campaign, several side by side, each a run of its own like any other."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from harness.campaign.bench import EmulatedBench
from harness.campaign.own import SCENARIOS, apart
from harness.campaign.own_rigs import (
    calibrated,
    copy_calibration,
    has_cameras,
    start_calibration,
    write_rig_file,
)
from harness.campaign.trial import Outcome, Trial, read_outcome
from harness.campaign.warm import WarmCommand
from harness.rig.sections import Rig
from harness.verdicts import HarnessError

Arming = Literal["control", "command-line"]
_RUN_LIMIT_S = 900.0


class Runner:
    """Runs trials. arming: over the control channel of an emulator that goes on running, or by the
    run's own `--fault`, with an emulator for each run.

    `restarts` counts emulators that had to be started again. `calibrations` tells, by rig, each
    camera's name, role and the hash of the calibration by which its trials read.
    """

    def __init__(self, rigs: Mapping[str, Rig], out: Path, arming: Arming) -> None:
        self._rigs = rigs
        self._out = out
        self._arming = arming
        self._stop = threading.Event()
        self._running: set[WarmCommand] = set()
        self.restarts = 0
        self.calibrations: dict[str, Sequence[Mapping[str, str]]] = {}
        self._files = {name: write_rig_file(rig, out / "rigs") for name, rig in rigs.items()}

    def run(
        self, trials: Sequence[Trial], jobs: int, done: Callable[[Outcome], None]
    ) -> list[Outcome]:
        """Make all trials; `done` is called with each outcome as it comes.

        Cameras of the rigs that are tried are calibrated before. Raises UncalibratedRigError.
        """
        self._calibrate({trial.rig: trial.book for trial in trials}, jobs)
        waiting: queue.SimpleQueue[Trial] = queue.SimpleQueue()
        for trial in trials:
            waiting.put(trial)
        outcomes: queue.SimpleQueue[Outcome | BaseException] = queue.SimpleQueue()
        workers = [
            threading.Thread(target=self._work, args=(number, waiting, outcomes), daemon=True)
            for number in range(min(jobs, len(trials)))
        ]
        for worker in workers:
            worker.start()
        made: list[Outcome] = []
        try:
            while len(made) < len(trials):
                outcome = outcomes.get()
                if isinstance(outcome, BaseException):
                    raise outcome
                made.append(outcome)
                done(outcome)
        finally:
            self._stop.set()
            for run in list(self._running):
                run.end()
            for worker in workers:
                worker.join(30.0)
        return sorted(made, key=lambda outcome: outcome.trial.number)

    def rig_file(self, rig: str) -> Path:
        """Give the campaign's own file of a rig, with its calibration beside it."""
        return self._files[rig]

    def _calibrate(self, books: Mapping[str, str], jobs: int) -> None:
        """Calibrate the cameras of these rigs, each with its rule book, `jobs` at a time."""
        wanted = [rig for rig in books if has_cameras(self._rigs[rig])]

        def calibrate(rig: str) -> Sequence[Mapping[str, str]]:
            if self._stop.is_set():
                return ()
            run = start_calibration(self._files[rig], books[rig], self._out / "runs")
            self._await(run)
            return calibrated(rig, run.status, run.printed)

        with ThreadPoolExecutor(jobs) as workers:
            try:
                self.calibrations = dict(zip(wanted, workers.map(calibrate, wanted), strict=True))
            except BaseException:
                self._stop.set()
                for run in list(self._running):
                    run.end()
                raise

    def _work(
        self,
        number: int,
        waiting: queue.SimpleQueue[Trial],
        outcomes: queue.SimpleQueue[Outcome | BaseException],
    ) -> None:
        try:
            with ExitStack() as stack:
                folder = self._out / f"worker-{number}"
                benches = _Benches(self._rigs, self._files, folder, stack)
                while not self._stop.is_set():
                    try:
                        trial = waiting.get_nowait()
                    except queue.Empty:
                        return
                    outcomes.put(self._make(trial, benches))
        except BaseException as error:
            outcomes.put(error)

    def _make(self, trial: Trial, benches: _Benches) -> Outcome:
        folder = self._out / "runs" / f"{trial.number:04d}"
        own = SCENARIOS.get(trial.armed[0].fault.number) if trial.armed else None
        if own is not None:
            return own(trial, self._files[trial.rig], folder)
        command = ["--rules", trial.book, "--inspection", trial.inspection, "--out", str(folder)]
        if self._arming == "command-line":
            faults = [word for armed in trial.armed for word in ("--fault", armed.text)]
            rig_file = str(self._files[trial.rig])
            return self._run(trial, folder, ["--rig", rig_file, *command, *faults])
        try:
            bench = benches.ready(trial.rig)
        except HarnessError:
            bench = benches.again(trial.rig)
            self.restarts += 1
        try:
            for armed in trial.armed:
                bench.arm(armed.fault.number, armed.values)
        except HarnessError as error:
            return Outcome(trial, None, (), 0.0, str(error))
        return self._run(trial, folder, ["--rig", str(bench.rig_file), *command])

    def _run(self, trial: Trial, folder: Path, arguments: Sequence[str]) -> Outcome:
        folder.parent.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        run = WarmCommand(["run", *arguments], folder.with_suffix(".txt"), apart(folder.parent))
        in_time = self._await(run)
        said = run.printed if in_time else f"no end within {_RUN_LIMIT_S:g} s"
        return read_outcome(trial, folder, time.monotonic() - started, said)

    def _await(self, run: WarmCommand) -> bool:
        """Wait until a command has ended; tells whether it did so in time and by itself."""
        self._running.add(run)
        try:
            if not self._stop.is_set() and run.wait(_RUN_LIMIT_S):
                return True
            run.end()
            return False
        finally:
            self._running.discard(run)


class _Benches:
    """One worker's emulators, started when first needed."""

    def __init__(
        self, rigs: Mapping[str, Rig], files: Mapping[str, Path], folder: Path, stack: ExitStack
    ) -> None:
        self._rigs = rigs
        self._files = files
        self._folder = folder
        self._stack = stack
        self._open: dict[str, EmulatedBench] = {}

    def ready(self, rig: str) -> EmulatedBench:
        """Give a rig's bench, without a fault."""
        if rig not in self._open:
            bench = self._stack.enter_context(EmulatedBench(self._rigs[rig], self._folder))
            copy_calibration(self._files[rig], bench.rig_file)
            self._open[rig] = bench
        self._open[rig].make_good()
        return self._open[rig]

    def again(self, rig: str) -> EmulatedBench:
        """Give a new emulator for a rig whose own will not do any more."""
        self._open.pop(rig).close()
        return self.ready(rig)
