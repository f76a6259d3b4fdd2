"""kill -9 at random moments of cover runs, each taken up again until it is through.

usage: python -m tests.long.kills [KILLS [SEED]]     Ends with 1 if a record is not whole.

The bench is an emulated one that stands by itself and outlives every kill, as a real one does. The
first run is left alone, to know how long one takes on this host. Of four kills one takes the run's
own process, one its worker, one everything of it at once, as a power cut does, and one everything
at a moment at which a key's relay is closed.

Whole: whatever was recorded at a kill is the beginning of the record in the end; outputs are found
or made open on the next start, before anything is driven; the run that was taken up ends with PASS,
every scenario and every result kept once; the seal holds; a replay comes to the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.rig.find import find_rig

KILLS = 100
SHORTEST_S, LONGEST_S = 0.3, 25.0
LIMIT_S = 300.0
AIM_S = 6.0
CLI = "import sys; from harness.cli.main import main; sys.argv[0] = 'sicbo-hil'; main()"
BOOK = "ny-5324.51"
HOW = ("run", "worker", "all", "relay")


class NotWholeError(Exception):
    """What a record lacks."""


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CLI, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


class Stand:
    """A bench that stands: an emulator, and a rig file that knows where it is."""

    def __init__(self, folder: Path) -> None:
        usual = find_rig("emulated").resolve()
        # Over a pipe, so that it goes with this program, however this one ends.
        self._emulator = subprocess.Popen(
            [sys.executable, "-m", "harness.emulator", str(usual)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self._emulator.stdout is not None
        told = json.loads(self._emulator.stdout.readline())
        host, _, port = told["control"].partition(":")
        self._control = socket.create_connection((host, int(port)), timeout=10)
        self._lines = self._control.makefile("rwb")
        self.rig = folder / "standing.toml"
        shutil.copytree(usual.parent / "paytables", folder / "paytables")
        self.rig.write_text(_standing(usual.read_text("utf-8"), told["endpoints"]), "utf-8")

    def closed(self) -> list[str]:
        """Give the keys whose relays are closed."""
        self._lines.write(b'{"do": "state"}\n')
        self._lines.flush()
        answer: dict[str, Any] = json.loads(self._lines.readline())
        return list(answer["keys_closed"])

    def close(self) -> None:
        self._control.close()
        self._emulator.communicate()  # ends at the end of its standard input


def _standing(text: str, endpoints: dict[str, str]) -> str:
    """Give a rig file without its emulator, its devices where the standing one has them.

    The host times its pulses, so that a kill may leave a relay closed.
    """
    text = re.sub(r"(?ms)^\[emulator[^\n]*\n.*?(?=^\[)", "", text)
    text = text.replace("[keys]", '[keys]\nhold_risk = "accepted"', 1)
    for device, endpoint in endpoints.items():
        head = re.escape(f"[devices.{device}]")
        text = re.sub(rf'(?s)({head}.*?= )"emulated"', rf'\g<1>"{endpoint}"', text, count=1)
    return text


def offspring(pid: int) -> list[int]:
    """Give the processes that a process started, and those that they started."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                after_name = (entry / "stat").read_text().rpartition(")")[2].split()
                parents.setdefault(int(after_name[1]), []).append(int(entry.name))
    found, left = [], [pid]
    while left:
        children = parents.get(left.pop(), [])
        found += children
        left += children
    return found


def kill(run: subprocess.Popen[str], how: str, stand: Stand) -> int:
    """Kill a run, or a part of it; give how many relays were left closed."""
    targets = [run.pid]
    if how == "worker":
        targets = offspring(run.pid) or targets
    elif how in ("all", "relay"):
        targets = [run.pid, *offspring(run.pid)]
    if how == "relay":
        until = time.monotonic() + AIM_S
        while run.poll() is None and time.monotonic() < until and not stand.closed():
            targets = [run.pid, *offspring(run.pid)]
    for target in targets:  # stopped first, so that none sees another go
        with contextlib.suppress(OSError):
            os.kill(target, signal.SIGSTOP)
    for target in targets:
        with contextlib.suppress(OSError):
            os.kill(target, signal.SIGKILL)
    if how != "worker":
        run.communicate()
    return len(stand.closed()) if how in ("all", "relay") else 0


def records(folder: Path) -> list[dict[str, Any]]:
    data = (folder / "journal.jsonl").read_bytes()
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


def whole_lines(folder: Path) -> bytes:
    journal = folder / "journal.jsonl"
    data = journal.read_bytes() if journal.exists() else b""
    return data[: data.rfind(b"\n") + 1]


def answer(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", CLI, *arguments, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def check(folder: Path, kept: list[bytes]) -> None:
    """See that a finished record is whole; kept: what it held at each kill."""
    journal = (folder / "journal.jsonl").read_bytes()
    for number, held in enumerate(kept, start=1):
        if not journal.startswith(held):
            raise NotWholeError(f"what was recorded at kill {number} is not there any more")
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    if summary["verdict"] != "PASS":
        raise NotWholeError(f"the run is {summary['verdict']}: {summary['findings']}")
    result = summary["results"][BOOK]
    if not result["passed"] == result["checked"] == result["recorded"]:
        raise NotWholeError(f"{result['passed']} of {result['checked']} results")
    if sum(summary["counts"].values()) != summary["planned"]:
        raise NotWholeError(f"{summary['counts']} of {summary['planned']} scenarios")
    made = records(folder)
    ends = [r["body"] for r in made if r["kind"] == "scenario-finished"]
    done = Counter((body["scenario"], body["attempt"]) for body in ends)
    results = Counter(dice for body in ends if body["attempt"] == 1 for dice in body["results"])
    for name, times in (*done.items(), *results.items()):
        if times > 1:
            raise NotWholeError(f"kept twice: {name}")
    opened = True
    for record in made:
        body = record["body"]
        if record["kind"] in ("run-started", "run-resumed"):
            opened = False
        elif record["kind"] == "rig-fact" and "outputs open" in body["what"]:
            opened = body["good"]
        elif record["kind"] == "entry" and not opened:
            raise NotWholeError(f"line {record['n']}: driven before outputs were seen open")
    verified = answer("verify", str(folder))
    if not verified["intact"]:
        raise NotWholeError(f"not intact: {verified['problems']}")
    again = answer("replay", str(folder))
    if not again["same"]:
        raise NotWholeError(f"a replay differs: {again['differences'][:3]}")


@dataclass
class Tally:
    """What was done so far."""

    kills: Counter[str] = field(default_factory=Counter)
    before_a_record: int = 0
    left_closed: int = 0
    runs: int = 0
    whole_s: float = 0.0
    """How long the first run took, which nobody killed."""

    def __str__(self) -> str:
        how = ", ".join(f"{count} {name}" for name, count in sorted(self.kills.items()))
        return (
            f"{self.kills.total()} kills ({how}; {self.before_a_record} before there was a "
            f"record, {self.left_closed} with a relay left closed), {self.runs} runs whole"
        )


def one_run(stand: Stand, folder: Path, moments: random.Random, tally: Tally, wanted: int) -> None:
    """Run, kill, take up again, until a run is through; then see that its record is whole."""
    begin = ["run", "--rig", str(stand.rig), "--rules", BOOK, "--inspection", "cover"]
    begin += ["--out", str(folder)]
    began, run, kept = time.monotonic(), start(*begin), list[bytes]()
    try:
        while True:
            over = tally.kills.total() >= wanted or not tally.whole_s
            try:
                said, _ = run.communicate(
                    timeout=LIMIT_S
                    if over
                    else moments.uniform(SHORTEST_S, min(LONGEST_S, tally.whole_s))
                )
            except subprocess.TimeoutExpired:
                if over:
                    kill(run, "all", stand)
                    raise NotWholeError("the run does not end") from None
                how = HOW[tally.kills.total() % len(HOW)]
                tally.left_closed += bool(kill(run, how, stand))
                tally.kills[how] += 1
                if how == "worker":  # its run goes on without it, says so and ends
                    said, _ = run.communicate(timeout=LIMIT_S)
                    if run.returncode not in (0, 3, -signal.SIGKILL):
                        raise NotWholeError(f"ended with {run.returncode}: {said[-500:]}") from None
            else:
                if run.returncode != 0:
                    raise NotWholeError(f"ended with {run.returncode}: {said[-500:]}")
            if (folder / "seal.json").exists() and not _broken_off(folder):
                tally.whole_s = tally.whole_s or time.monotonic() - began
                check(folder, kept)
                tally.runs += 1
                return
            if (folder / "manifest.json").exists():
                kept.append(whole_lines(folder))
                run = start("run", "--resume", str(folder))
            else:
                tally.before_a_record += 1
                run = start(*begin)
    except (SystemExit, KeyboardInterrupt):
        kill(run, "all", stand)
        raise


def _broken_off(folder: Path) -> bool:
    end = records(folder)[-1]
    return end["kind"] != "run-finished" or not end["body"]["complete"]


def main(kills: int = KILLS, seed: int = 67) -> int:
    moments, tally, began = random.Random(seed), Tally(), time.monotonic()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    with tempfile.TemporaryDirectory() as parent:
        os.environ["XDG_DATA_HOME"] = str(Path(parent) / "data")  # no run of a user's history
        stand = Stand(Path(parent))
        try:
            while tally.kills.total() < kills:
                folder = Path(parent) / f"run-{tally.runs + 1}"
                try:
                    one_run(stand, folder, moments, tally, kills)
                except NotWholeError as wrong:
                    print(f"seed {seed}, run {tally.runs + 1}, {tally}: {wrong}")
                    kept = Path(tempfile.mkdtemp(prefix="kills-")) / "run"
                    if folder.exists():
                        shutil.copytree(folder, kept)
                        print(f"record kept in {kept}")
                    return 1
                shutil.rmtree(folder)
                print(f"{tally}, {time.monotonic() - began:.0f} s", flush=True)
        finally:
            stand.close()
    print(f"each record whole: {tally}, {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    given = [int(number) for number in sys.argv[1:]]
    raise SystemExit(main(*given[:2]))
