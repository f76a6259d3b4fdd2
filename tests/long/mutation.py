"""Mutation of what judges: a seeded sample of mutants of the rules, the monitor and diagnosis.

usage: python -m tests.long.mutation [MUTANTS]     in an environment that has mutmut

Works on a copy of the committed files. Prints how many mutants the tests kill, and each survivor;
ends with 1 if fewer than 90% are killed.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

SAMPLE = 500
SEED = 536
WANTED = 0.9
ROOT = Path(__file__).resolve().parents[2]
SETTINGS = """
[tool.mutmut]
source_paths = ["harness"]
only_mutate = ["harness/rules/*", "harness/diagnosis/*"]
also_copy = ["features", "fixtures", "rigs", "README.md", "LICENSE", "CHANGELOG.md"]
pytest_add_cli_args = ["-p", "no:cacheprovider", "-q", "--hypothesis-profile=ci"]
pytest_add_cli_args_test_selection = ["tests/rules", "tests/diagnosis"]
use_setproctitle = false
"""
KILLED, SURVIVED, NO_TESTS = (1, 3), (0,), (5, 33)
"""Exit codes that mutmut keeps for each mutant."""


def main(sample: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        subprocess.run(
            ["git", "clone", "-q", "--depth", "1", ROOT.as_uri(), str(project)], check=True
        )
        with (project / "pyproject.toml").open("a", encoding="utf-8") as file:
            file.write(SETTINGS)
        names = _sampled(project, sample)
        _mutmut(project, "run", "--max-children", str(os.cpu_count() or 1), *names)
        return _told({name: code for name, code in _codes(project).items() if name in set(names)})


def _sampled(project: Path, sample: int) -> list[str]:
    """Make all mutants, run none, and draw the sample."""
    make = "import mutmut.__main__ as m; m.create_mutants(2)"
    subprocess.run([sys.executable, "-c", make], cwd=project, check=True, stdout=subprocess.DEVNULL)
    every = sorted(_codes(project))
    print(f"{len(every)} mutants, {min(sample, len(every))} drawn with seed {SEED}", flush=True)
    return sorted(random.Random(SEED).sample(every, min(sample, len(every))))


def _codes(project: Path) -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    for meta in sorted((project / "mutants").rglob("*.meta")):
        found |= json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
    return found


def _mutmut(project: Path, *arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "mutmut", *arguments],
        cwd=project,
        check=False,
        stdout=subprocess.DEVNULL,
    )


def _told(codes: dict[str, int | None]) -> int:
    survivors = [name for name, code in codes.items() if code in SURVIVED + NO_TESTS]
    unknown = [name for name, code in codes.items() if code is None]
    killed = len(codes) - len(survivors) - len(unknown)
    for name in survivors:
        print(f"survived: {name}")
    print(
        f"{killed} of {len(codes)} mutants killed ({killed / max(1, len(codes)):.1%}), "
        f"{len(survivors)} survived, {len(unknown)} not run"
    )
    return 0 if killed >= WANTED * len(codes) else 1


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE))
