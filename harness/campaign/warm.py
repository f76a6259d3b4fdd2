"""Commands forked from a process that has imported the harness already: a second less of computing.

Each is a process of its own all the same, with its own session, environment, signals and output.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from harness.verdicts import HarnessError

_FORKS = multiprocessing.get_context("forkserver")
_COMMAND = "harness.cli.main"
_IMPORTED = (
    "harness.campaign.own_session",
    _COMMAND,
    "harness.cli.run_jobs",
    "harness.cli.run_manifest",
    "harness.cli.run_outcome",
    "harness.cli.run_workers",
    "harness.evidence.finish",
    "harness.evidence.history",
    "harness.evidence.html",
    "harness.evidence.messages",
    "harness.evidence.pdf",
    "scipy.optimize",
)
"""What a run imports, or most of it. One that is not there any more would only cost time."""
_UNWIND_S = 15.0
_ABANDONED = 255
"""Status that is read where the process that would have told it is gone. No command ends so."""
_TURN = threading.Lock()
"""Beginning a process collects every one that has ended; an exit status can be read only once."""


class WarmProcessError(HarnessError):
    """The process that commands are forked from is gone."""


class WarmCommand:
    """A command of `sicbo-hil` with its arguments, begun at once; what it prints goes to a file."""

    def __init__(
        self, arguments: Sequence[str], printed: Path, environment: Mapping[str, str]
    ) -> None:
        self._printed = printed
        self._process: ForkServerProcess = _FORKS.Process(
            target=_carry_out,
            args=(tuple(arguments), printed, dict(environment)),
            daemon=True,
        )
        with _TURN:
            _FORKS.set_forkserver_preload(list(_IMPORTED))
            self._process.start()

    def wait(self, limit_s: float) -> bool:
        """Wait for its end, at most so long; tells whether it has ended.

        Raises WarmProcessError where nothing can be known of it any more; it is ended then.
        """
        if not wait([self._process.sentinel], limit_s):
            return False
        if self.status == _ABANDONED:
            self.end()
            raise WarmProcessError(
                "the process that commands are forked from",
                expected="one that lives as long as the campaign",
                found="none",
                remedy="see whether memory ran short, and start the campaign again",
            )
        return True

    @property
    def status(self) -> int | None:
        """Give the exit status; None while it goes on."""
        with _TURN:
            return self._process.exitcode

    @property
    def printed(self) -> str:
        """Give what it has printed so far, errors too."""
        try:
            return self._printed.read_text("utf-8", "replace")
        except FileNotFoundError:
            return ""

    def end(self) -> None:
        """Have it unwind, bench and all; kill it if it will not."""
        if self.status not in (None, _ABANDONED):
            return
        give_up = time.monotonic() + _UNWIND_S
        self._signal(signal.SIGTERM)
        while self._lives() and time.monotonic() < give_up:
            time.sleep(0.02)
        self._signal(signal.SIGKILL)

    def _lives(self) -> bool:
        pid = self._process.pid
        assert pid is not None
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True

    def _signal(self, number: signal.Signals) -> None:
        """Signal all its session; the process alone where it has none of its own yet."""
        pid = self._process.pid
        assert pid is not None
        try:
            os.killpg(pid, number)
        except ProcessLookupError:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def _carry_out(arguments: Sequence[str], printed: Path, environment: Mapping[str, str]) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    out = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    for end in (1, 2):
        os.dup2(out, end)
    sys.argv = ["sicbo-hil", *arguments]
    import_module(_COMMAND).main()
