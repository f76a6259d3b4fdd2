"""The worker processes of a run: started side by side, listened to, and gone at the end."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from harness.bdd.job import Job, heard
from harness.cli.progress import Progress

_STOP_LIMIT_S = 10.0
_TOLD_NOTHING = "ended without a word"


class Workers:
    """Runs jobs in processes of their own, at most `side_by_side` at a time.

    Jobs on one real bench run one after the other.

    `refused` holds the lines of what was asked for wrongly, `lost` says which worker ended without
    having finished. What a worker prints goes to a file in `logs`, if it prints anything. `lock`:
    the descriptor of the run's lock, which the workers hold, too.
    """

    def __init__(self, jobs: Sequence[Job], progress: Progress, logs: Path, lock: int) -> None:
        self.refused: list[str] = []
        self.lost: list[str] = []
        self._waiting = list(jobs)
        self._progress = progress
        self._logs = logs
        self._lock = lock
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._busy: set[str] = set()
        self._ended: dict[str, int] = {}
        self._mail: queue.Queue[tuple[Job, Mapping[str, object] | None]] = queue.Queue()

    def run(self) -> None:
        """Run every job to its end."""
        for job in self._waiting:
            self._progress.expect(job.name)
        while self._waiting or self._running:
            while (ready := self._next_job()) is not None:
                self._start(ready)
            job, message = self._mail.get()
            if message is None:
                self._reap(job)
            else:
                self._take(job, message)

    def _next_job(self) -> Job | None:
        """Take the first waiting job that may start now."""
        if len(self._running) >= side_by_side():
            return None
        free = next(
            (job for job in self._waiting if job.emulated or job.rig not in self._busy), None
        )
        if free is not None:
            self._waiting.remove(free)
        return free

    def stop(self) -> None:
        """End what runs: each worker unwinds, opening its outputs; one that will not is killed."""
        self._waiting.clear()
        for worker in self._running.values():
            with contextlib.suppress(OSError):
                worker.terminate()
            if worker.stdin is not None:
                with contextlib.suppress(OSError):
                    worker.stdin.close()
        for worker in self._running.values():
            try:
                worker.wait(_STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        self._running.clear()

    def _start(self, job: Job) -> None:
        self._logs.mkdir(exist_ok=True)
        log = self._log(job).open("wb")
        with log:
            worker = subprocess.Popen(
                [sys.executable, "-m", "harness.bdd.worker", job.dump()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
                pass_fds=(self._lock,),
            )
        self._running[job.name] = worker
        self._busy.add(job.rig)
        assert worker.stdout is not None
        threading.Thread(
            target=self._listen, args=(job, worker.stdout), name=job.name, daemon=True
        ).start()

    def _log(self, job: Job) -> Path:
        return self._logs / f"{job.book}.{Path(job.rig_name).stem}.txt"

    def _listen(self, job: Job, stream: IO[bytes]) -> None:
        try:
            for line in stream:
                message = heard(line.decode("utf-8", "replace"))
                if message is not None:
                    self._mail.put((job, message))
        finally:
            self._mail.put((job, None))

    def _take(self, job: Job, message: Mapping[str, object]) -> None:
        match message["told"]:
            case "collected":
                self._progress.collected(job.name, int(str(message["total"])))
            case "doing":
                self._progress.doing(job.name, str(message["name"]))
            case "done":
                self._progress.done(job.name, str(message["verdict"]))
            case "broken":
                self._progress.note(f"{job.name}: {_lines(message)[0]}")
            case "refused":
                self.refused += _lines(message)
            case "stopped":
                self.lost += _lines(message)
            case "ended":
                self._ended[job.name] = int(str(message["status"]))

    def _reap(self, job: Job) -> None:
        worker = self._running.pop(job.name)
        self._busy.discard(job.rig)
        with contextlib.suppress(OSError):
            if worker.stdin is not None:
                worker.stdin.close()
        status = worker.wait()
        if job.name not in self._ended:
            how = f"was killed by signal {-status}" if status < 0 else _TOLD_NOTHING
            self.lost.append(f"{job.name}: the worker {how}; its results are incomplete")
        elif self._ended[job.name] == 130:
            self.lost.append(f"{job.name}: the worker was interrupted")
        log = self._log(job)
        if log.exists() and log.stat().st_size == 0:
            log.unlink()
            with contextlib.suppress(OSError):
                self._logs.rmdir()
        self._progress.ended(job.name)


def side_by_side() -> int:
    """Give how many benches run at once: three a CPU, as each mostly waits on its wires."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return 3 * (cpus or 1)


def _lines(message: Mapping[str, object]) -> list[str]:
    lines = message.get("lines")
    return (
        [str(line) for line in lines] if isinstance(lines, list) and lines else ["no reason given"]
    )
