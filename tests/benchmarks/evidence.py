"""What evidence costs: time to record, to finish and to verify, and the sizes of what is kept.

usage: python -m tests.benchmarks.evidence [RESULTS]

RESULTS (default 1080, the five books) are recorded with three frames each, as a run does, into a
folder on the disk of the current folder, then sealed and verified.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from harness.evidence.finish import finish_run
from harness.evidence.record import RunRecord
from harness.evidence.run_folder import RunFolder
from harness.evidence.verify import verify_run
from tests.evidence.synthetic import (
    ALL_RESULTS,
    BOOK,
    FEATURE,
    manifest,
    write_result,
)

PICTURES = Path(__file__).parents[2] / "fixtures" / "dice"
RUN_S = 60.0
"""How long a run of one book, 216 results, may take."""


def main() -> None:
    """Print the figures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1080
    pictures = [path.read_bytes() for path in sorted(PICTURES.glob("*.jpg"))]
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".evidence-") as top:
        folder = RunFolder(Path(top) / "run")
        spent = _record(folder, count, pictures)
        began = time.perf_counter()
        finish_run(folder)
        finishing = time.perf_counter() - began
        began = time.perf_counter()
        answer = verify_run(folder.path)
        verifying = time.perf_counter() - began
        assert answer.intact, answer
        kept = sum(path.stat().st_size for path in folder.path.rglob("*") if path.is_file())
        page = folder.html.stat().st_size
    books = count / 216
    share = (spent + finishing) / (RUN_S * books)
    print(
        f"{count} results, 3 frames of {sum(map(len, pictures)) / len(pictures) / 1e3:.0f} kB each"
    )
    print(f"  recording, flushed  {spent:7.2f} s  ({spent / count * 1e3:.1f} ms a result)")
    print(f"  reports and seal    {finishing:7.2f} s")
    print(f"  share of a run      {share:7.1%}  of {RUN_S:.0f} s for each 216 results (goal 15%)")
    print(f"  verify              {verifying:7.2f} s  (goal 3 s for 1080 results)")
    print(f"  folder              {kept / 1e6:7.1f} MB")
    print(f"  page                {page / 1e6:7.2f} MB (goal 20 MB)")


def _record(folder: RunFolder, count: int, pictures: list[bytes]) -> float:
    """Record results; gives the time spent inside the record (s)."""
    asked = {BOOK: {"checked": min(count, 216), "mode": "presented"}}
    with RunRecord.create(folder.path, manifest().to_json(), asked) as record:  # type: ignore[arg-type]
        rows = "".join(f"      | {','.join(map(str, dice))} |\n" for dice in ALL_RESULTS)
        record.feature("features/toy/results.feature", FEATURE + rows)
        for n in range(count):
            frames = [
                pictures[(n + k) % len(pictures)] + (3 * n + k).to_bytes(4, "big") for k in range(3)
            ]
            write_result(record, ALL_RESULTS[n % 216], n, pictures=frames, rig=f"bench-{n // 216}")
        record.run_finished()
        return record.spent_s


if __name__ == "__main__":
    main()
