"""Stands in an emulator's place for one that runs already: tells its endpoints, waits to be ended.

usage: python -m harness.campaign.attach ENDPOINTS RIGFILE

ENDPOINTS is a file that holds the line the running emulator printed. So a run drives an emulator
that is armed over its control channel and outlives the run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str]) -> int:
    """Print the endpoints, then wait for the end of standard input."""
    print(Path(arguments[0]).read_text(encoding="utf-8").strip(), flush=True)
    while os.read(0, 4096):
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
