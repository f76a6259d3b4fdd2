"""Faults with scenarios of their own: wrong and loaded dice, a full disk, a killed harness."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from harness.campaign.trial import Outcome, Trial
from harness.fairness.decision import Watch
from harness.fairness.hypotheses import Hypothesis
from harness.verdicts import Finding, Verdict

RUN = "import sys; from harness.cli.main import main; sys.argv[0] = 'sicbo-hil'; main()"
ALPHA = 0.01
MOST_TOSSES = 200_000
BATCH = 2_000
DISK_BYTES = 60_000
LIMIT_S = 600.0
Scenario = Callable[[Trial, Path, Path], Outcome]
"""Makes a trial: with the trial, the rig file and a folder that is not there yet."""


def wrong_die(trial: Trial, _rig: Path, _folder: Path) -> Outcome:
    """Toss, simulated, a die that has a face twice and its opposite not at all."""
    die, face = _die(trial), 1 + trial.seed % 6
    chances = np.full(6, 1 / 6)
    chances[face - 1], chances[6 - face] = 2 / 6, 0.0
    return _tossed(trial, die, chances)


def loaded_die(trial: Trial, _rig: Path, _folder: Path) -> Outcome:
    """Toss, simulated, a die of which one face is likelier by the parameter `by`."""
    values = trial.armed[0].values
    face, by = int(values["face"]), float(values["by"])
    chances = np.full(6, 1 / 6 - by / 5)
    chances[face - 1] = 1 / 6 + by
    return _tossed(trial, _die(trial), chances)


def _die(trial: Trial) -> int:
    return int(trial.armed[0].values["die"])


def _tossed(trial: Trial, die: int, chances: NDArray[np.float64]) -> Outcome:
    """Watch tosses until the decision falls; `biased` is the table's failing, else nothing is."""
    began = time.monotonic()
    random = np.random.default_rng([trial.seed, die])
    watch = Watch(ALPHA)
    made = 0
    while made < MOST_TOSSES and not watch.rejected():
        tosses = random.integers(1, 7, (BATCH, 3)).astype(np.uint8)
        tosses[:, die - 1] = random.choice(6, size=BATCH, p=chances) + 1
        watch.feed(tosses)
        made += BATCH
    rejected = watch.rejected()
    dice = [
        {d + 1 for d in each.hypothesis.dice}
        for each in rejected
        if isinstance(each.hypothesis, Hypothesis)
    ]
    single = next((named for named in dice if len(named) == 1), None)
    findings: tuple[Finding, ...] = ()
    if rejected:
        parts = tuple(f"die:{d}" for d in sorted(single or dice[0]))
        seen = watch.counts[die - 1]
        absent = [str(n + 1) for n in range(6) if not seen[n]]
        what = f"after {made} tosses: {rejected[0].hypothesis.null}: rejected at alpha {ALPHA:g}"
        if absent:
            what += f"; it never showed {', '.join(absent)}"
        findings = (Finding(Verdict.DUT_FAIL, parts, "wrong" if absent else "loaded", what),)
    verdict = Verdict.DUT_FAIL if rejected else Verdict.PASS
    return Outcome(trial, verdict, findings, time.monotonic() - began)


def disk_full(trial: Trial, rig: Path, folder: Path) -> Outcome:
    """Run with no room for more than some of the record, then take the run up with room.

    The run must end as inconclusive and say so; what it recorded must be whole afterwards.
    """
    began = time.monotonic()
    run = _start(
        ["--rig", str(rig), "--rules", trial.book, *_where(trial, folder)], folder, full=True
    )
    said, _ = run.communicate(timeout=LIMIT_S)
    stopped_safe = run.returncode == _INCONCLUSIVE and "Traceback" not in said
    kept = _taken_up(folder)
    return _of_host(trial, began, stopped_safe=stopped_safe, kept=kept, said=said)


def killed(trial: Trial, rig: Path, folder: Path) -> Outcome:
    """Kill the run outright at a random moment, then take it up."""
    began = time.monotonic()
    run = _start(["--rig", str(rig), "--rules", trial.book, *_where(trial, folder)], folder)
    time.sleep(float(trial.armed[0].values["after"]))
    os.killpg(run.pid, signal.SIGKILL)
    said, _ = run.communicate()
    kept = _taken_up(folder)
    return _of_host(trial, began, stopped_safe=True, kept=kept, said=said)


_INCONCLUSIVE = 3


def _where(trial: Trial, folder: Path) -> list[str]:
    return ["--inspection", trial.inspection, "--out", str(folder)]


def apart(runs: Path) -> dict[str, str]:
    """Give the environment of a campaign's runs: their history, beside them, is none of a user's.

    Where no bytecode is to be written beside sources, it is beside the runs too: hundreds of
    processes would else compile the harness again, which takes them longer than to import it.

    runs: the folder that holds their run folders.
    """
    environment = {**os.environ, "XDG_DATA_HOME": str(runs.resolve().with_name("data"))}
    if environment.pop("PYTHONDONTWRITEBYTECODE", ""):
        environment["PYTHONPYCACHEPREFIX"] = str(runs.resolve().with_name("bytecode"))
    return environment


def _start(arguments: Sequence[str], folder: Path, *, full: bool = False) -> subprocess.Popen[str]:
    def no_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (DISK_BYTES, DISK_BYTES))

    environment = apart(folder.parent)
    if full:  # Python would keep bytecode of which a part is written, and run on it ever after
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return subprocess.Popen(
        [sys.executable, "-c", RUN, "run", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        env=environment,
        preexec_fn=no_room if full else None,  # noqa: PLW1509  no thread of ours holds a lock
    )


def _taken_up(folder: Path) -> str:
    """Take a run up and tell what is wrong with its record then; nothing if it is whole."""
    if not (folder / "journal.jsonl").exists():
        return ""
    again = subprocess.run(
        [sys.executable, "-c", RUN, "run", "--resume", str(folder)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LIMIT_S,
        env=apart(folder.parent),
        check=False,
    )
    try:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        last = again.stderr.strip().splitlines()[-1:] or ["nothing said"]
        return f"not taken up: {last[0]}"
    if summary["verdict"] != Verdict.PASS:
        return f"taken up and {summary['verdict']}"
    wanting = [
        f"{book}: {each['passed']} of {each['checked']}"
        for book, each in summary["results"].items()
        if each["passed"] != each["checked"]
    ]
    return "; ".join([*wanting, *_twice(folder)])


def _twice(folder: Path) -> list[str]:
    """Give the scenarios that the journal finished more than once."""
    finished: Counter[str] = Counter()
    for line in (folder / "journal.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record.get("kind") == "scenario-finished":
            finished[str(record["body"].get("scenario"))] += 1
    return [f"{name} kept {times} times" for name, times in finished.items() if times > 1]


def _of_host(trial: Trial, began: float, *, stopped_safe: bool, kept: str, said: str) -> Outcome:
    good = stopped_safe and not kept
    last = said.strip().splitlines()[-1:] or [""]
    findings = (Finding(Verdict.RIG_FAULT, ("host",), "run-broken-off", last[0]),) if good else ()
    return Outcome(
        trial,
        Verdict.RIG_FAULT if good else None,
        findings,
        time.monotonic() - began,
        kept or ("" if stopped_safe else f"did not stop safe: {last[0]}"),
    )


def moment(random: Random) -> str:
    """Draw when a run is killed, s after its start."""
    return f"{random.uniform(1.0, 25.0):.2f}"


SCENARIOS: dict[str, Scenario] = {
    "F56": wrong_die,
    "F57": loaded_die,
    "F66": disk_full,
    "F67": killed,
}
"""By the fault's number."""
