"""10,000 exchanges with random faults on the line; ends with 1 if a wrong answer was taken."""

from __future__ import annotations

import sys
import time

from tests.rig.noise import run

if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    began = time.perf_counter()
    ended = run(count)
    print(f"{count} exchanges in {time.perf_counter() - began:.0f} s, no wrong answer taken:")
    for fault, times in ended.most_common():
        print(f"  {fault:16} {times}")
