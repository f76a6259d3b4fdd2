"""`python -m harness.emulator RIGFILE [--fault ID[:name=value,...]]...`."""

from __future__ import annotations

import sys

from harness.emulator.process import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
