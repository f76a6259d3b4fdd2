"""What a run hands to a worker, and what a worker tells while it works: JSON, a line a message."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Literal

from harness.bdd.inspection import Inspection

Told = Literal["collected", "doing", "done", "refused", "broken", "stopped", "ended"]


@dataclass(frozen=True, slots=True)
class Job:
    """One rule book on one rig.

    `rig` is the rig file, `rig_name` its name in the record, `features` the files or folders to
    collect, `out` the run folder, `faults` goes unread to the emulator. `resumed`: the run folder
    holds a part of this job already. `emulated`: the bench is made for this job
    alone; a real one is shared by every job that names its rig file. `record_wire`: what passes on
    the bench's wires is recorded.
    """

    book: str
    rig: str
    rig_name: str
    features: Sequence[str]
    out: str
    rules_path: Sequence[str] = ()
    inspection: Inspection = "full"
    faults: Sequence[str] = ()
    resumed: bool = False
    emulated: bool = True
    record_wire: bool = False

    @property
    def name(self) -> str:
        """Give the job's name: book and rig."""
        return f"{self.book} on {self.rig_name}"

    def dump(self) -> str:
        """Write the job for the worker's command line."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Job:
        """Read a job back."""
        return cls(**json.loads(text))

    def rules_paths(self) -> list[Path]:
        """Give the folders of further rule books."""
        return [Path(folder) for folder in self.rules_path]


class Teller:
    """A worker's side of the pipe to its run."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def tell(self, what: Told, **fields: object) -> None:
        """Tell the run something; a run that is gone is not told."""
        try:
            self._stream.write(json.dumps({"told": what, **fields}) + "\n")
            self._stream.flush()
        except (BrokenPipeError, ValueError):
            return


def heard(line: str) -> Mapping[str, object] | None:
    """Read one message of a worker; None if it is none."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) and "told" in message else None
