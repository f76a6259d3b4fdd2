"""Healthy rounds on an emulated rig at a high time scale: dice laid, read, entered, lamps compared.

usage: python -m tests.long.soak [ROUNDS]     Ends with 1 at the first verdict that is not PASS.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

from harness.bdd.benches import facts_of, limits_of, terminal_of
from harness.dealing.entry import EntryTaker
from harness.dealing.look import Eyes
from harness.diagnosis import diagnose
from harness.observations import Entry
from harness.rig.bench import open_bench
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig
from harness.rules.books import load_book
from harness.rules.judgement import judge_entry
from harness.verdicts import Verdict
from harness.vision.reader import DiceReader

ROUNDS = 20_000
TOGETHER = 500
"""Entries that are diagnosed together."""
MOST_RETAKES = 2
TELL_EVERY = 1000
RIG = """include = ["{rig}"]
title = "Soak"

[emulator]
program = ["{{python}}", "-m", "harness.emulator"]
time_scale = 10.0

[keys]
press_ms = 2
gap_ms = 2
"""


def main(rounds: int) -> int:
    import cv2

    cv2.setNumThreads(1)
    book = load_book("ny-5324.51")
    options = book.in_force()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "soak.toml"
        path.write_text(RIG.format(rig=find_rig("emulated").resolve()), encoding="utf-8")
        (Path(folder) / "paytables").symlink_to(find_rig("emulated").resolve().parent / "paytables")
        rig = load_rig(path, book.areas)
        with open_bench(rig) as bench:
            return _rounds(bench, book, options, rounds)


def _rounds(bench, book, options, rounds: int) -> int:
    rig = bench.rig
    limits, facts = limits_of(rig), facts_of(rig)
    eyes = Eyes(bench.dice_cameras, DiceReader())
    taker = EntryTaker(
        bench.keys,
        bench.lamps,
        terminal_of(rig),
        book=book.id,
        rig=rig.name,
        winning=lambda dice: book.winning_areas(dice, options),
    )
    draw = random.Random(2026)
    entries: list[Entry] = []
    retakes, began = 0, time.monotonic()
    for number in range(1, rounds + 1):
        dice = tuple(draw.randint(1, 6) for _ in range(3))
        for attempt in range(1 + MOST_RETAKES):
            bench.presenter.present(dice)
            seen = eyes.look(time.monotonic(), moved=attempt == 0 and number > 1).seen
            if seen.reason is None:
                break
            retakes += 1
        if seen.reason is not None:
            print(f"round {number}: {dice} refused {1 + MOST_RETAKES} times: {seen.reason}")
            return 1
        keys = [str(value) for value in dice]
        entry = taker.enter(number, keys, mode="presented", shown=dice, seen=seen)
        judged = judge_entry(entry, book, options, limits)
        if judged.verdict is not Verdict.PASS:
            print(f"round {number}: {dice}: {judged.verdict}: {judged.what}")
            return 1
        entries.append(entry)
        if len(entries) == TOGETHER:
            findings = diagnose(entries, book, facts, options).findings
            if findings:
                print(f"round {number}: healthy entries were explained: {findings}")
                return 1
            entries.clear()
        if number % TELL_EVERY == 0:
            rate = number / (time.monotonic() - began)
            print(f"{number} rounds, no alarm, {retakes} retakes, {rate:.1f}/s", flush=True)
    seconds = time.monotonic() - began
    print(f"{rounds} healthy rounds in {seconds:.0f} s: no false alarm, {retakes} retakes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
