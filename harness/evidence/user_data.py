"""Where things that outlive a run are kept: the user's data folder (XDG base directories 0.8)."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """Give the folder for keys and the history of runs; it need not exist yet."""
    named = os.environ.get("XDG_DATA_HOME", "")
    base = Path(named) if Path(named).is_absolute() else Path.home() / ".local" / "share"
    return base / "sicbo-hil"
