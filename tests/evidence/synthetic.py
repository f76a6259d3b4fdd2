"""Runs made up for these tests: entries over synthetic observations, written as a real run is."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from harness.evidence.manifest import BookFacts, Instrument, Manifest, RigFacts
from harness.evidence.record import RunRecord
from harness.evidence.records import KeptFrame, Scenario, Step
from harness.observations import Dice, DiceSeen, Entry, LampSample, StagedSample
from harness.rules.judgement import Judgement, Limits, judge_entry
from harness.rules.timeline import Event
from harness.verdicts import Verdict

BOOK = "toy"
RIG = "bench"
LIMITS = Limits(settle_s=0.1, map_verified=True)
ALL_RESULTS: tuple[Dice, ...] = tuple(itertools.product(range(1, 7), repeat=3))  # type: ignore[arg-type]
FEATURE = """@toy
Feature: Every result lights its winning areas

  Scenario Outline: Result <dice>
    Given the lamps are dark
    When <dice> is entered
    Then exactly the winning areas are lit

    Examples:
      | dice |
"""


class ToyBook:
    """A book that knows singles and totals: small enough to check by eye."""

    id = BOOK

    def winning_areas(
        self, dice: Dice, options: Mapping[str, bool | str] | None = None
    ) -> frozenset[str]:
        return frozenset({f"single-{face}" for face in dice}) | {f"total-{sum(dice)}"}


def jpeg(seed: int, size: int = 64) -> bytes:
    """A JPEG of random blocks."""
    blocks = np.random.default_rng(seed).integers(0, 256, (size // 8, size // 8, 3), np.uint8)
    done, data = cv2.imencode(".jpg", cv2.resize(blocks, (size, size)))
    assert done
    return data.tobytes()


def manifest(**changes: object) -> Manifest:
    facts: dict[str, object] = {
        "rigs": [RigFacts(RIG, "rigs/bench.toml", "0" * 64, "A bench", {"by": "J. Doe"})],
        "books": [
            BookFacts(
                BOOK,
                "Toy rules",
                "nowhere",
                "1st",
                "2026-01-01",
                "1" * 64,
                readings=[{"name": "double", "value": "wins", "source": "reading", "note": ""}],
                clauses=[
                    {"tag": "toy.a", "clause": "(a)", "testable": "yes", "says": "lamps"},
                    {"tag": "toy.b", "clause": "(b)", "testable": "no", "why_not": "conduct"},
                ],
                areas=[f"single-{n}" for n in range(1, 7)] + [f"total-{n}" for n in range(4, 18)],
            )
        ],
        "invocation": {"rigs": ["rigs/bench.toml"], "rules": [BOOK], "inspection": "full"},
        "instruments": [Instrument("inputs", "64 inputs", "SN-1", "2026-01-02", "2027-01-02")],
        "dut": {"serial": "T-100", "firmware": "1.2"},
        **changes,
    }
    return Manifest(**facts)  # type: ignore[arg-type]


def entry(
    dice: Dice,
    index: int,
    lit: frozenset[str] | None = None,
    values: Sequence[int] | None = None,
) -> Entry:
    """An entry as a healthy bench gives it, or with other lamps lit or other values read."""
    right = ToyBook().winning_areas(dice)
    at = 100.0 + index
    dark: frozenset[str] = frozenset()

    def sample(offset: float, areas: frozenset[str]) -> LampSample:
        return LampSample(at + offset, "inputs", areas)

    return Entry(
        book=BOOK,
        rig=RIG,
        index=index,
        mode="presented",
        shown=dice,
        seen=DiceSeen(tuple(sorted(values or dice)), None, 0.999),
        keyed=tuple(str(face) for face in dice),
        lamps=(
            StagedSample("before", sample(0.0, dark)),
            StagedSample("after-1", sample(0.02, dark)),
            StagedSample("after-2", sample(0.04, dark)),
            StagedSample("lit", sample(0.07, right if lit is None else lit)),
            StagedSample("cleared", sample(0.1, dark)),
        ),
        started=at,
        ended=at + 0.12,
        settle_s=0.011,
    )


def scenario(dice: Dice, rig: str = RIG) -> Scenario:
    name = ",".join(map(str, dice))
    uri = "features/toy/results.feature"
    return Scenario(
        f"{uri}:{name}@{rig}", uri, f"Result {name}", BOOK, rig, ("@toy.a",), ("toy.a",)
    )


def write_result(
    record: RunRecord,
    dice: Dice,
    index: int,
    *,
    frames: int = 3,
    lit: frozenset[str] | None = None,
    pictures: Sequence[bytes] = (),
    rig: str = RIG,
) -> Judgement:
    """Write everything that one result leaves in a record."""
    item = scenario(dice, rig)
    made = replace(entry(dice, index, lit), rig=rig)
    judgement = judge_entry(made, ToyBook(), None, LIMITS)
    record.scenario_started(item)
    events = [
        Event(made.started, "round-start", {}),
        *(Event(made.started + 0.01 * n, "key", {"value": face}) for n, face in enumerate(dice)),
        Event(made.started + 0.07, "lamps", {"lit": sorted(made.lit("lit") or ())}),
        Event(made.ended, "clear", {}),
    ]
    data = pictures or [jpeg(index * 10 + n) for n in range(frames)]
    line = record.entry(
        made,
        judgement,
        scenario=item.id,
        frames=[KeptFrame(picture, made.started) for picture in data],
        limits=LIMITS,
        events=events,
    )
    record.scenario_finished(
        item,
        judgement.verdict,
        judgement.what,
        started=made.started,
        ended=made.ended,
        steps=[
            Step("Given ", "the lamps are dark", Verdict.PASS),
            Step("When ", f"{','.join(map(str, dice))} is entered", Verdict.PASS),
            Step("Then ", "exactly the winning areas are lit", judgement.verdict, judgement.what),
        ],
        results={",".join(map(str, dice)): judgement.verdict},
        mode="presented",
        evidence=[f"journal:{line}"],
    )
    return judgement


def make_run(
    path: Path,
    count: int = 216,
    *,
    frames: int = 3,
    wrong: Mapping[Dice, frozenset[str]] | None = None,
    asked: int | None = None,
    finish: bool = True,
    seed: int = 0,
    **changes: object,
) -> RunRecord:
    """Make a run folder of `count` results; `wrong` gives lamps that were lit instead."""
    results = [ALL_RESULTS[n % 216] for n in range(count)]
    random.Random(seed).shuffle(results)
    record = RunRecord.create(
        path,
        manifest(**changes).to_json(),
        {BOOK: {"checked": count if asked is None else asked, "mode": "presented"}},
    )
    table = "".join(f"      | {','.join(map(str, dice))} |\n" for dice in results)
    record.feature("features/toy/results.feature", FEATURE + table)
    record.rig_fact(RIG, "self-check", "inputs", "references as wired", good=True)
    for index, dice in enumerate(results):
        write_result(record, dice, index, frames=frames, lit=(wrong or {}).get(dice))
    if finish:
        record.run_finished()
    return record
