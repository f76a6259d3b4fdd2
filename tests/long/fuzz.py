"""1,000,000 random or mutated strings for each parser of the rig, then noisy exchanges by link.

usage: python -m tests.long.fuzz [COUNT] [PARSER]...   Ends with 1 at the first surprise. With
parsers named, the exchanges with random faults on the link are left out.
"""

from __future__ import annotations

import random
import sys
import time
import traceback
from collections import Counter

from tests.rig import noise, noise_unsummed
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
        for n, data in enumerate(strings(parser, count, random.Random(seed))):
            at = time.thread_time()  # a busy host is no hang
            try:
                taken += parser.survives(data)
            except Exception:
                traceback.print_exc()
                print(f"{name}: string {n} of seed {seed!r}: {data!r}")
                return 1
            slowest = max(slowest, time.thread_time() - at)
        seconds = time.perf_counter() - began
        print(
            f"{name:24} {count} strings, {taken} taken, {count / seconds:,.0f}/s, "
            f"slowest {slowest * 1000:.1f} ms",
            flush=True,
        )
        if slowest > SLOWEST_S:
            print(f"{name}: one string took {slowest:.1f} s")
            return 1
    if not arguments[1:]:
        exchanges = count // 100
        _tell("modbus-rtu", f"{exchanges} exchanges", noise.run(exchanges))
        for link in noise_unsummed.LINKS:
            _tell(link, f"{exchanges} exchanges", noise_unsummed.run(link, exchanges))
    return 0


def _tell(link: str, made: str, ended: Counter[str]) -> None:
    told = ", ".join(f"{fault} {times}" for fault, times in ended.most_common())
    print(f"{link}: {made} with random faults, nothing wrong taken: {told}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
