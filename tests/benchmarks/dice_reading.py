"""How well dice are read: `python -m tests.benchmarks.dice_reading FOLDER [--curve FILE.png]`.

FOLDER holds pictures with `labels.jsonl` (expected outcomes), or lies beside a table `photos.tsv`
or `FOLDER.tsv` (file, top_values, n_dice). Prints the outcome counts, the confusion matrix, the
refusals by reason, the risk-coverage curve, the times, and the bound that goes with the misreads.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from harness.vision.pictures import read_file
from harness.vision.reader import DiceReader
from harness.vision.readings import DiceReading

STANDS_FOR = {"moving": "blurred", "glare": "obstructed"}
"""Reasons that may stand for another."""


@dataclass
class Expected:
    """What a picture shows: values, or the reason for none; what else is right to say."""

    file: Path
    values: tuple[int, ...] | None
    reason: str | None
    may_refuse: bool
    count: int | None
    dice: list[dict] = field(default_factory=list)


@dataclass
class Score:
    """What came out over a set of pictures."""

    readable: int = 0
    exact: int = 0
    misread: list[str] = field(default_factory=list)
    refused: Counter = field(default_factory=Counter)
    refused_files: list[str] = field(default_factory=list)
    unreadable: int = 0
    caught: int = 0
    right_reason: int = 0
    wrong_reason: list[str] = field(default_factory=list)
    confusion: np.ndarray = field(default_factory=lambda: np.zeros((6, 7), int))
    sure: list[tuple[float, bool]] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)

    @property
    def pictures(self) -> int:
        """How many pictures were looked at."""
        return len(self.ms)


def expectations(folder: Path) -> list[Expected]:
    """Read what each picture of a folder shows."""
    labels = folder / "labels.jsonl"
    if labels.exists():
        out = []
        for line in labels.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            expected = entry["expected"]
            values = tuple(expected["values"]) if expected["outcome"] == "values" else None
            out.append(
                Expected(
                    folder / entry["file"],
                    values,
                    expected.get("reason"),
                    values is None or "no-result" in entry.get("accept", []),
                    entry.get("count", 3),
                    entry.get("dice", []),
                )
            )
        return out
    for table in (folder / "photos.tsv", folder.with_suffix(".tsv")):
        if table.exists():
            with table.open(encoding="utf-8") as rows:
                return [
                    Expected(
                        folder / row["file"],
                        tuple(sorted(int(v) for v in row["top_values"].split(","))),
                        None,
                        False,
                        int(row["n_dice"]),
                    )
                    for row in csv.DictReader(rows, delimiter="\t")
                ]
    raise SystemExit(f"{folder}: expected labels.jsonl or a table of photographs, found neither")


def score(expected: list[Expected], reader: DiceReader) -> Score:
    """Read every picture and score it."""
    result = Score()
    for want in expected:
        picture, trouble = read_file(want.file)
        assert picture is not None, f"{want.file}: {trouble}"
        began, used = time.perf_counter(), time.thread_time()
        got = reader.read(picture, want.count)
        result.ms.append((time.perf_counter() - began) * 1000)
        result.cpu_ms.append((time.thread_time() - used) * 1000)
        _score_one(result, want, got)
        _score_dice(result, want, got)
    return result


def _score_one(result: Score, want: Expected, got: DiceReading) -> None:
    name = want.file.name
    right = got.verdict == "values" and got.values == want.values
    if got.verdict == "values":
        result.sure.append((got.confidence, right))
        if not right:
            result.misread.append(f"{name}: {want.values or want.reason} read as {got.values}")
    if want.values is not None:
        if not want.may_refuse:
            result.readable += 1
            result.exact += right
            if got.verdict != "values":
                result.refused[got.reason] += 1
                result.refused_files.append(f"{name}: {want.values} refused, {got.reason}")
        return
    result.unreadable += 1
    if got.verdict != "values":
        result.caught += 1
        said = got.reason or ""
        good = want.reason in (said, STANDS_FOR.get(said))
        result.right_reason += good
        if not good:
            result.wrong_reason.append(f"{name}: {want.reason} said to be {said}")


def _score_dice(result: Score, want: Expected, got: DiceReading) -> None:
    """Count each labelled die under what was read of it (7th column: no value)."""
    for die in want.dice:
        if die["value"] is None:
            continue
        near = [
            d
            for d in got.dice
            if np.hypot(*np.subtract(d.centre_px, die["centre_px"])) < 0.35 * die["edge_px"]
        ]
        value = near[0].value if near else None
        result.confusion[die["value"] - 1, 6 if value is None else value - 1] += 1


def bound(misreads: int, n: int) -> str:
    """Say what is known of the misread rate: for none in n, 3/n at 95 % (rule of three)."""
    if n == 0:
        return "nothing was read: no bound"
    if misreads == 0:
        return f"0 misreads in {n}: the rate is below {3 / n:.2%} (3/n, 95 %)"
    return f"{misreads} misreads in {n}: {misreads / n:.2%}"


def risk_coverage(result: Score) -> list[tuple[float, float]]:
    """Give (coverage, risk) as ever less confident readings are taken."""
    ordered = sorted(result.sure, key=lambda s: -s[0])
    wrong = np.cumsum([not right for _, right in ordered]) if ordered else np.zeros(0)
    n = max(result.readable, 1)
    return [((k + 1) / n, float(wrong[k]) / (k + 1)) for k in range(len(ordered))]


def draw_curve(curve: list[tuple[float, float]], path: Path) -> None:
    """Draw the risk-coverage curve as a PNG."""
    w, h, m = 520, 360, 50
    picture = np.full((h, w, 3), 255, np.uint8)
    top = max([0.02, *(risk for _, risk in curve)])
    cv2.rectangle(picture, (m, 20), (w - 20, h - m), (0, 0, 0), 1)
    points = [
        (int(m + min(c, 1.05) / 1.05 * (w - 20 - m)), int(h - m - r / top * (h - m - 20)))
        for c, r in curve
    ]
    cv2.polylines(picture, [np.array(points, np.int32)], False, (200, 60, 0), 2, cv2.LINE_AA)
    for text, at in (
        ("coverage of readable pictures (0 to 1.05)", (m + 60, h - 15)),
        (f"risk (top {top:.3f})", (m + 6, 14)),
    ):
        cv2.putText(picture, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.45, (0, 0, 0), 1, cv2.LINE_AA)
    cv2.imwrite(str(path), picture)


def report(result: Score, verbose: bool) -> None:
    """Print everything."""
    if result.readable:
        part = result.exact / result.readable
        print(f"readable: {result.exact} of {result.readable} exact ({part:.1%})")
    if result.unreadable:
        print(
            f"no result: {result.caught} of {result.unreadable} refused, "
            f"{result.right_reason} with the right reason "
            f"({result.right_reason / result.unreadable:.1%})"
        )
    print(bound(len(result.misread), result.pictures))
    print("refusals of readable pictures:", dict(result.refused.most_common()) or "none")
    print("dice, value by row, read as 1 to 6 or not read:")
    for value, row in enumerate(result.confusion, 1):
        print(f"  {value}: " + " ".join(f"{n:5d}" for n in row))
    curve = risk_coverage(result)
    if curve:
        steps = [*curve[:: max(1, len(curve) // 8)], curve[-1]]
        print("risk at coverage:", ", ".join(f"{r:.4f} at {c:.2f}" for c, r in steps))
    for name, times in (("time", result.ms), ("processor time", result.cpu_ms)):
        median, high = np.percentile(times, [50, 95])
        print(f"{name}: median {median:.1f} ms, 95th percentile {high:.1f} ms")
    lines = result.misread + (result.refused_files + result.wrong_reason if verbose else [])
    for line in lines:
        print(" ", line)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--curve", type=Path, help="where to draw the risk-coverage curve")
    parser.add_argument("-v", "--verbose", action="store_true", help="name every refusal")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    reader = DiceReader()
    for folder in options.folder:
        print(f"== {folder}")
        result = score(expectations(folder), reader)
        report(result, options.verbose)
        if options.curve:
            target = options.curve.with_stem(f"{options.curve.stem}-{folder.name}")
            draw_curve(risk_coverage(result), target)
            print("curve drawn:", target)


if __name__ == "__main__":
    main()
