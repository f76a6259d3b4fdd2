"""Whether reading keeps memory flat: `python -m tests.benchmarks.dice_memory FOLDER [--frames N]`.

Reads the folder's pictures over and over and prints the process's resident memory at intervals.
Exits with 1 if it grew by more than 8 MB from the second interval to the last.
"""

from __future__ import annotations

import argparse
import os
import time
from itertools import cycle, islice
from pathlib import Path

import cv2

from harness.vision.pictures import SUFFIXES, read_file
from harness.vision.reader import DiceReader

MOST_GROWTH_MB = 8.0


def resident_mb() -> float:
    """Give the resident memory of this process, from /proc (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def run(folder: Path, frames: int, intervals: int = 10) -> list[float]:
    """Read `frames` pictures; gives the resident memory (MB) after each interval."""
    files = sorted(p for p in folder.iterdir() if p.suffix.lower() in SUFFIXES)
    pictures = [p for p in (read_file(f)[0] for f in files) if p is not None]
    if not pictures:
        raise SystemExit(f"{folder}: expected pictures, found none")
    reader = DiceReader()
    endless, sizes = cycle(pictures), []
    for n in range(intervals):
        began = time.process_time()
        share = frames * (n + 1) // intervals - frames * n // intervals
        for picture in islice(endless, share):
            reader.read(picture)
        sizes.append(resident_mb())
        ms = (time.process_time() - began) / max(share, 1) * 1000
        print(f"{frames * (n + 1) // intervals} frames: {sizes[-1]:.1f} MB, {ms:.1f} ms a frame")
    return sizes


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--frames", type=int, default=100_000)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    sizes = run(options.folder, options.frames)
    growth = sizes[-1] - sizes[1]
    print(f"growth from the second interval on: {growth:+.1f} MB")
    raise SystemExit(int(growth > MOST_GROWTH_MB))


if __name__ == "__main__":
    main()
