"""The rig file: what is on the bench, typed, frozen, and checked as a whole.

TOML. Every mistake is reported at once, with its file and key path; nothing is guessed. Included
files (`include`, paths relative to the including file) are merged under the including file, table
by table. Its sections are the classes in `harness.rig.sections`; `[devices.NAME]` is what the
device's driver says.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.rig.includes import Merged
from harness.rig.rigfile_check import Check
from harness.rig.sections import Rig


def load_rig(path: Path, areas: Iterable[str] | None = None) -> Rig:
    """Read and check a rig file.

    areas: the ids of every area the rule book can light; each must have a lamp in the lamp map, if
    the file has one, and the map may name no other. Raises ConfigurationError if there is no such
    file, InvalidFileError with every mistake in it.
    """
    path = Path(path)
    merged = Merged(path)
    return Check(merged, None if areas is None else frozenset(areas)).rig()
