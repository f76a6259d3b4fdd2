"""1,000,000 random or mutated strings for each parser of the rig; prints strings a second.

usage: python -m tests.long.fuzz [COUNT] [PARSER]...   Ends with 1 at the first surprise.
"""

from __future__ import annotations

import random
import sys
import time
import traceback

from tests.rig.fuzz import PARSERS, strings

COUNT = 1_000_000
SLOWEST_S = 1.0


def main(arguments: list[str]) -> int:
    count = int(arguments[0]) if arguments else COUNT
    names = arguments[1:] or list(PARSERS)
    for name in names:
        parser, taken, slowest = PARSERS[name], 0, 0.0
        seed = f"{name} {count}"
        began = time.perf_counter()
        for n, data in enumerate(strings(parser.sound, count, random.Random(seed))):
            at = time.perf_counter()
            try:
                taken += parser.survives(data)
            except Exception:
                traceback.print_exc()
                print(f"{name}: string {n} of seed {seed!r}: {data!r}")
                return 1
            slowest = max(slowest, time.perf_counter() - at)
        seconds = time.perf_counter() - began
        print(
            f"{name:24} {count} strings, {taken} taken, {count / seconds:,.0f}/s, "
            f"slowest {slowest * 1000:.1f} ms",
            flush=True,
        )
        if slowest > SLOWEST_S:
            print(f"{name}: one string took {slowest:.1f} s")
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
