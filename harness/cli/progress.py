"""How a run shows itself on standard error: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
from rich.progress import Progress as Bars

from harness.cli.console import console

_LINE_EVERY_S = 5.0


class Progress:
    """What is being tested, how far it is, and the time left, for each worker."""

    def __init__(self, show: Console | None = None) -> None:
        self._console = show or console(stderr=True)
        self._rows: dict[str, _Row] = {}
        self._bars: Bars | None = None
        if self._console.is_terminal:
            self._bars = Bars(
                TextColumn("{task.fields[job]}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[left]}"),
                TextColumn("{task.description}", style="dim"),
                console=self._console,
                refresh_per_second=5,
            )

    def __enter__(self) -> Progress:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def expect(self, job: str) -> None:
        """Show a job that waits."""
        bar = None
        if self._bars is not None:
            bar = self._bars.add_task("waits", total=None, job=job, left="")
        self._rows[job] = _Row(bar)

    def collected(self, job: str, total: int) -> None:
        """Show how many scenarios a job has."""
        row = self._rows[job]
        row.total, row.began = total, time.monotonic()
        if self._bars is not None and row.bar is not None:
            self._bars.update(row.bar, total=total, description="starts")
        else:
            self._say(f"{job}: {total} scenarios")

    def doing(self, job: str, name: str) -> None:
        """Show the scenario that runs."""
        row = self._rows[job]
        row.name = name
        if self._bars is not None and row.bar is not None:
            self._bars.update(row.bar, description=name)

    def done(self, job: str, verdict: str) -> None:
        """Show that one more scenario has ended."""
        row = self._rows[job]
        row.count += 1
        row.verdicts[verdict] = row.verdicts.get(verdict, 0) + 1
        now = time.monotonic()
        if self._bars is not None and row.bar is not None:
            self._bars.update(row.bar, completed=row.count, left=row.left(now))
        elif now - row.told_at >= _LINE_EVERY_S:
            row.told_at = now
            self._say(f"{job}: {row.count} of {row.total}, {row.left(now)}: {row.name}")

    def note(self, line: str) -> None:
        """Say something at once."""
        self._say(line)

    def ended(self, job: str) -> None:
        """Show that a job is through."""
        row = self._rows[job]
        told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(row.verdicts.items()))
        if self._bars is not None and row.bar is not None:
            self._bars.update(row.bar, description=told or "nothing run", left="")
        else:
            self._say(f"{job}: ended: {told or 'nothing run'}")

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, soft_wrap=True)


class _Row:
    def __init__(self, bar: TaskID | None) -> None:
        self.bar = bar
        self.total = 0
        self.count = 0
        self.name = ""
        self.began = time.monotonic()
        self.told_at = time.monotonic()
        self.verdicts: dict[str, int] = {}

    def left(self, now: float) -> str:
        if not self.count or self.count >= self.total:
            return ""
        seconds = (now - self.began) / self.count * (self.total - self.count)
        return (
            f"about {seconds:.0f} s left" if seconds < 90 else f"about {seconds / 60:.0f} min left"
        )
