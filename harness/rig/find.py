"""Rig files by path, or embedded ones by name."""

from __future__ import annotations

from pathlib import Path

import harness
from harness.rig.channels import did_you_mean
from harness.verdicts import ConfigurationError


def embedded_folder() -> Path:
    """Give the folder of the embedded rig files: packaged, or the project's own."""
    package = Path(harness.__file__).parent
    packaged = package / "_rigs"
    return packaged if packaged.is_dir() else package.parent / "rigs"


def embedded_rigs() -> list[str]:
    """Give the names of the embedded rigs that need no hardware."""
    return sorted(path.stem for path in embedded_folder().glob("emulated*.toml"))


def find_rig(name: str) -> Path:
    """Give the path of a rig file: as given, or of the embedded rig of that name.

    Raises ConfigurationError if there is neither.
    """
    path = Path(name)
    if path.suffix == ".toml" or path.parent != Path() or path.exists():
        if path.is_file():
            return path
        found = "a folder" if path.is_dir() else "nothing"
    else:
        embedded = embedded_folder() / f"{name}.toml"
        if embedded.is_file():
            return embedded
        found = f"{name!r}{did_you_mean(name, embedded_rigs())}"
    raise ConfigurationError(
        f"rig {name}",
        expected=f"a rig file, or one of {', '.join(embedded_rigs())}",
        found=found,
        remedy="give the path of a rig file",
    )
