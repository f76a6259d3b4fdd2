"""One worker process of a run: one rule book on one rig, pytest inside.

usage: python -m harness.bdd.worker JOB

JOB is a job as JSON. Messages for the run go to standard output, a line each; whatever else would
be printed goes to standard error. The worker ends by itself once its standard input does: then the
run that started it is gone.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from harness.bdd.job import Job, Teller

THROUGH = 0
REFUSED = 2
INTERRUPTED = 130
_GRACE_S = 8.0
_PR_SET_PDEATHSIG = 1


def main(arguments: Sequence[str]) -> int:
    """Run one job; give the exit status: 0 through, 2 refused, 130 interrupted."""
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    from harness.bdd.job import Job, Teller

    teller = Teller(stream)
    try:
        _end_with_parent()
        status = _run(Job.load(arguments[0]), teller)
    except KeyboardInterrupt:
        status = INTERRUPTED
    teller.tell("ended", status=status)
    return status


def _run(job: Job, teller: Teller) -> int:
    # What the user's own pytest is told in the environment would leave out scenarios of ours.
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        del os.environ[name]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    import cv2
    import pytest

    from harness.bdd.run_plugin import RunPlugin
    from harness.evidence.record import RunRecord
    from harness.evidence.resume import recorded_results
    from harness.rig.rigfile import load_rig
    from harness.rules.books import load_book
    from harness.verdicts import ConfigurationError

    cv2.setNumThreads(1)
    try:
        book = load_book(job.book, job.rules_paths())
        rig = load_rig(Path(job.rig))
        with RunRecord.attach(Path(job.out)) as record:
            recorded = recorded_results(record.folder.journal) if job.resumed else None
            running = RunPlugin(job, book, rig, record=record, recorded=recorded, teller=teller)
            ended = pytest.main(_pytest_arguments(job), plugins=[running])
    except ConfigurationError as error:
        teller.tell("refused", lines=str(error).splitlines())
        return REFUSED
    if running.refused or ended == pytest.ExitCode.USAGE_ERROR:
        lines = running.refused or ["the features could not be collected"]
        teller.tell("refused", lines=lines)
        return REFUSED
    if running.stopped:
        teller.tell("stopped", lines=running.stopped)
    return INTERRUPTED if ended == pytest.ExitCode.INTERRUPTED else THROUGH


def _pytest_arguments(job: Job) -> list[str]:
    further = [word for folder in job.rules_path for word in ("--rules-path", folder)]
    return [
        *job.features,
        *("-p", "pytest_bdd.plugin", "-p", "harness.bdd.plugin"),
        *("-p", "no:cacheprovider", "-p", "no:terminal", "-p", "no:logging"),
        # These collect garbage ten times over at the end, seconds of a worker's time.
        *("-p", "no:unraisableexception", "-p", "no:threadexception"),
        *("-c", os.devnull, "--rootdir", str(Path(job.features[0]).parent)),
        *("--book", job.book, "--inspection", job.inspection, *further),
    ]


def _end_with_parent() -> None:
    """Have the worker unwind, bench and all, on SIGTERM and once the run that started it is gone.

    A run killed outright closes our standard input and, on Linux, has the kernel signal us. What
    does not unwind in time is ended; whatever stands in for the bench then goes by itself.
    """

    def unwind(number: int, frame: FrameType | None) -> NoReturn:
        del number, frame
        for quiet in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(quiet, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, unwind)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    # A descriptor of its own: pytest puts /dev/null in the place of standard input, and a read that
    # is taken up again after the process was stopped and continued would be one of that.
    parent = os.dup(0)
    threading.Thread(target=_follow, args=(parent,), name="parent", daemon=True).start()


def _follow(parent: int) -> None:
    while os.read(parent, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE_S)
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
