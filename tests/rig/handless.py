"""The emulated bench without its hands: all devices as ever, a control channel that refuses.

usage: handless.py RIGFILE [--fault TEXT]...
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.rig.peers import TcpPeer, lines_of


def refuse(link) -> None:
    for line in lines_of(link):
        told = {"ok": False, "why": f"no {json.loads(line)['do']} here"}
        link.sendall(json.dumps(told).encode() + b"\n")


def main() -> None:
    command = [sys.executable, "-m", "harness.emulator", *sys.argv[1:]]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as bench,
        TcpPeer(refuse) as hands,
    ):
        assert bench.stdin is not None
        assert bench.stdout is not None
        said = json.loads(bench.stdout.readline())
        said["control"] = said["endpoints"]["hand"] = hands.address
        print(json.dumps(said), flush=True)
        sys.stdin.read()
        bench.stdin.close()


main()
