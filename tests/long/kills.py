"""kill -9 at random moments of cover runs, each taken up again until it is through.

usage: python -m tests.long.kills [KILLS]     Ends with 1 if a record is not whole afterwards.

Whole: the run that was taken up ends with PASS, every result kept once, its record intact.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

KILLS = 100
LONGEST_S = 14.0
LIMIT_S = 600.0
CLI = "import sys; from harness.cli.main import main; sys.argv[0] = 'sicbo-hil'; main()"
BOOK = "ny-5324.51"


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CLI, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def broken(folder: Path) -> str:
    """Give what is wrong with a finished record; nothing if it is whole."""
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    if summary["verdict"] != "PASS":
        return f"the run is {summary['verdict']}: {summary['findings']}"
    result = summary["results"][BOOK]
    if result["passed"] != result["checked"]:
        return f"{result['passed']} of {result['checked']} results"
    done: Counter[str] = Counter()
    for line in (folder / "journal.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["kind"] == "scenario-finished":
            body = record["body"]
            done[
                f"{body['rig']} {body['feature']} {body['name']} {body['line']} "
                f"{sorted(body['results'])} attempt {body['attempt']}"
            ] += 1
    twice = [name for name, times in done.items() if times > 1]
    if twice:
        return f"kept twice: {twice[0]}"
    verified = subprocess.run(
        [sys.executable, "-c", CLI, "verify", str(folder), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if json.loads(verified.stdout)["intact"] else f"not intact: {verified.stdout}"


def main(kills: int) -> int:
    moments = random.Random(67)
    killed = runs = 0
    began = time.monotonic()
    while killed < kills:
        with tempfile.TemporaryDirectory() as parent:
            folder = Path(parent) / "run"
            whole = ["run", "--rules", BOOK, "--inspection", "cover", "--out", str(folder)]
            run = start(*whole)
            while True:
                begun = (folder / "manifest.json").exists()
                left = moments.uniform(0.3, LONGEST_S) if killed < kills else LIMIT_S
                try:
                    said, _ = run.communicate(timeout=left)
                except subprocess.TimeoutExpired:
                    if killed >= kills:
                        print(f"run {runs + 1} does not end")
                        return 1
                    os.killpg(run.pid, signal.SIGKILL)
                    run.communicate()
                    killed += 1
                else:
                    if run.returncode == 0:
                        break
                    print(f"run {runs + 1}: ended with {run.returncode}: {said[-500:]}")
                    return 1
                time.sleep(0.2)
                begun = begun or (folder / "manifest.json").exists()
                if begun and (folder / "journal.jsonl").exists():
                    run = start("run", "--resume", str(folder))
                else:  # killed before there was a record
                    subprocess.run(["rm", "-rf", str(folder)], check=True)
                    run = start(*whole)
            wrong = broken(folder)
            runs += 1
            if wrong:
                print(f"run {runs}, {killed} kills: {wrong}")
                return 1
            print(
                f"{killed} kills, {runs} runs whole, {time.monotonic() - began:.0f} s", flush=True
            )
    print(f"{killed} kills in {runs} runs, each record whole, {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else KILLS))
