"""Mutation of what judges: a seeded sample of mutants of the rules, the monitor and diagnosis.

usage: python -m tests.long.mutation [MUTANTS [JOBS]]     in an environment that has mutmut

Works on copies of the committed files. mutmut makes the mutants that are drawn; each is put into a
plain copy and meets the tests that reach its line until one fails: first those that killed another
mutant of its file, then the quickest. Prints how many are killed, and each survivor as a diff; ends
with 1 if fewer than 90% are killed.
"""

from __future__ import annotations

import difflib
import json
import math
import multiprocessing
import os
import queue
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

SAMPLE = 500
SEED = 536
WANTED = 0.9
ROOT = Path(__file__).resolve().parents[2]
MAKER = Path(__file__).with_name("mutants.py")
ROOMS = ("rules", "diagnosis")
FEW = 12
"""Tests that reach a line; where there are no more, the whole room's are run too: what is loaded
once and kept is reached by the first test alone."""
LEAST_LIMIT_S, TIMES_AS_LONG = 60.0, 5.0
"""Processor time that a mutant's tests may take, at least and by what they take when sound."""
STANDSTILL_S = 1800.0
"""A mutant whose tests have not ended by then stands still; a busy host is not that slow."""
FIRST, MOST = 40, 400
"""Tests of the first try, and of the second."""
SETTINGS = '\n[tool.mutmut]\nsource_paths = ["harness"]\n'
PYTEST = ("-q", "-p", "no:cacheprovider", "--hypothesis-profile=ci")
LOADED_ONCE = ("numpy", "scipy.optimize", "hypothesis", "pydantic", "pytest_bdd", "xdist", "pytest")


@dataclass(frozen=True)
class Mutant:
    """A mutant: where, the whole changed file, its first changed line, and the change as a diff."""

    name: str
    path: str
    text: str
    line: int
    diff: str


@dataclass(frozen=True)
class Reach:
    """Which tests reach which line of which file, and how long each takes, s."""

    by_line: dict[tuple[str, int], set[str]]
    seconds: dict[str, float]

    def tests(self, mutant: Mutant) -> list[str]:
        """Give the tests that may kill a mutant, the quickest first."""
        mine = self.by_line.get((mutant.path, mutant.line), set())
        ordered = sorted(mine, key=lambda test: self.seconds.get(test, 0.0))
        if len(ordered) > FEW:
            return ordered
        room = f"tests/{Path(mutant.path).parts[1]}/"
        others = [test for test in self.seconds if test.startswith(room) and test not in mine]
        return ordered + sorted(others, key=lambda test: self.seconds[test])


def main(sample: int, jobs: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        subprocess.run(
            ["git", "clone", "-q", "--depth", "1", ROOT.as_uri(), str(project)], check=True
        )
        copies = [Path(folder) / f"copy-{n}" for n in range(jobs)]
        for copy in copies:
            shutil.copytree(project, copy, ignore=shutil.ignore_patterns(".git"))
        mutants = make(project, sample)
        reach = measure(copies[0])
        print(f"{len(reach.seconds)} tests, {sum(reach.seconds.values()):.0f} s", flush=True)
        return told(mutants, judge(mutants, reach, copies))


def make(project: Path, sample: int) -> list[Mutant]:
    """Draw the sample out of every mutant."""
    with (project / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write(SETTINGS)
    out = project / "sample.json"
    subprocess.run(
        [sys.executable, str(MAKER), str(out), str(sample), str(SEED)]
        + [f"harness/{room}" for room in ROOMS],
        cwd=project,
        check=True,
    )
    found = json.loads(out.read_text(encoding="utf-8"))
    print(f"{found['every']} mutants, {len(found['made'])} drawn with seed {SEED}", flush=True)
    return [_mutant(project, **each) for each in found["made"]]


def _mutant(project: Path, name: str, path: str, text: str) -> Mutant:
    sound = (project / path).read_text(encoding="utf-8").splitlines()
    changed = text.splitlines()
    diff = "\n".join(difflib.unified_diff(sound, changed, path, path, n=1, lineterm=""))
    same = difflib.SequenceMatcher(None, sound, changed, autojunk=False).get_matching_blocks()[0]
    first = same.a + same.size + 1 if same.a == 0 else 1
    return Mutant(name, path, text, min(first, len(sound)), diff)


def measure(copy: Path) -> Reach:
    """Run the tests once, sound, and note which lines each reaches."""
    settings, results = copy / "coverage.cfg", copy / "results.xml"
    settings.write_text(
        f"[run]\nsource = {','.join(f'harness/{room}' for room in ROOMS)}\n",
        encoding="utf-8",
    )
    rooms = [f"tests/{room}" for room in ROOMS]
    run = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest"]
    subprocess.run(
        [*run, *PYTEST, "-p", "tests.long.contexts", *rooms, f"--junitxml={results}"],
        cwd=copy,
        env=_environment(copy),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    seconds: dict[str, float] = {}
    for case in ET.parse(results).iter("testcase"):
        module, name = str(case.get("classname")), str(case.get("name"))
        test = f"{module.replace('.', '/')}.py::{name.partition('[')[0]}"
        seconds[test] = seconds.get(test, 0.0) + float(case.get("time") or 0.0)
    return Reach(_reached(copy), seconds)


def _reached(copy: Path) -> dict[tuple[str, int], set[str]]:
    from coverage import CoverageData  # only this environment has it

    data = CoverageData(str(copy / ".coverage"))
    data.read()
    by_line: dict[tuple[str, int], set[str]] = {}
    for file in data.measured_files():
        path = str(Path(file).relative_to(copy))
        for line, contexts in data.contexts_by_lineno(file).items():
            by_line[path, line] = {each for each in contexts if each}
    return by_line


def _environment(copy: Path) -> dict[str, str]:
    more = {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    return {**os.environ, **more}


def judge(mutants: list[Mutant], reach: Reach, copies: list[Path]) -> dict[str, bool]:
    """Tell of each mutant whether a test killed it; each copy serves one at a time."""
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    for mutant in random.Random(SEED).sample(mutants, len(mutants)):
        waiting.put(mutant)
    killed: dict[str, bool] = {}
    killers: dict[str, Counter[str]] = defaultdict(Counter)

    def work(copy: Path) -> None:
        while True:
            try:
                mutant = waiting.get_nowait()
            except queue.Empty:
                return
            killer = _killer(mutant, reach, copy, killers[mutant.path])
            killed[mutant.name] = killer is not None
            if killer:
                killers[mutant.path][killer] += 1
            fate = "SURVIVED" if killer is None else f"killed by {killer or 'its not ending'}"
            print(f"{len(killed)}/{len(mutants)} {mutant.name} {fate}", flush=True)

    workers = [threading.Thread(target=work, args=(copy,)) for copy in copies]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return killed


def _killer(mutant: Mutant, reach: Reach, copy: Path, killers: Counter[str]) -> str | None:
    """Give the test that killed a mutant; "" if the tests did not end, None if it lives."""
    able = reach.tests(mutant)
    tried = [test for test, _ in killers.most_common() if test in able]
    tests = tried + [test for test in able if test not in killers]
    file = copy / mutant.path
    sound = file.read_text(encoding="utf-8")
    file.write_text(mutant.text, encoding="utf-8")
    try:
        for some in (tests[:FIRST], tests[FIRST:MOST]):
            killer = _first_failing(copy, some, reach) if some else None
            if killer is not None:
                return killer
        return None
    finally:
        file.write_text(sound, encoding="utf-8")


def _first_failing(copy: Path, tests: list[str], reach: Reach) -> str | None:
    """Run tests up to the first that fails; those that do not end have failed, without a name."""
    usual_s = sum(reach.seconds.get(test, 0.0) for test in tests)
    limit_s = max(LEAST_LIMIT_S, TIMES_AS_LONG * usual_s)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(LOADED_ONCE))
    ours, theirs = context.Pipe(duplex=False)
    run = context.Process(target=_run_tests, args=(copy, tests, limit_s, theirs))
    run.start()
    theirs.close()
    run.join(STANDSTILL_S)
    if run.exitcode is None:
        run.kill()
        run.join()
    if run.exitcode == 0:
        return None
    try:
        return str(ours.recv())
    except EOFError:
        return ""


def _run_tests(copy: Path, tests: list[str], limit_s: float, found: Connection) -> None:
    """Run tests in a process of its own, which has what is not the project's loaded already."""
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit_s), math.ceil(limit_s)))
    os.chdir(copy)
    os.environ.update(_environment(copy))
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(copy))
    for name in [name for name in sys.modules if name.partition(".")[0] in {"harness", "tests"}]:
        del sys.modules[name]
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    import pytest  # only this process needs it

    class Failures:
        def pytest_collectreport(self, report: pytest.CollectReport) -> None:
            if report.failed:
                found.send(report.nodeid)

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                found.send(report.nodeid.partition("[")[0])

    # Plugins loaded before pytest sees them keep their asserts as they are, which is no matter.
    quiet = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
    sys.exit(pytest.main([*PYTEST, *quiet, "-x", "--no-header", *tests], plugins=[Failures()]))


def told(mutants: list[Mutant], killed: dict[str, bool]) -> int:
    """Print the figures and each survivor."""
    for mutant in mutants:
        if not killed[mutant.name]:
            print(f"\nsurvived: {mutant.name}\n{mutant.diff}")
    dead = sum(killed.values())
    print(f"\n{dead} of {len(mutants)} mutants killed ({dead / max(1, len(mutants)):.1%})")
    return 0 if dead >= WANTED * len(mutants) else 1


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    cpus = os.cpu_count() or 1
    raise SystemExit(main(*(given + [SAMPLE, cpus][len(given) :])))
