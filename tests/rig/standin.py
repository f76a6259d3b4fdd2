"""A bench that is not our emulator: one RTU unit on a pty, a control channel that refuses.

usage: standin.py RIGFILE [--fault TEXT]...   Faults: `refuse`, `silent-start`, `deaf` (does not end
when its standard input does), `die`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.rig.peers import PtyPeer, RelaysAndInputs, TcpPeer, lines_of


def control(link) -> None:
    for line in lines_of(link):
        act = json.loads(line)["do"]
        link.sendall(json.dumps({"ok": False, "why": f"no {act} here"}).encode() + b"\n")


def main() -> None:
    faults = sys.argv[3::2]
    if "refuse" in faults:
        print("no such fault: refuse", file=sys.stderr)
        raise SystemExit(2)
    if "die" in faults:
        print("out of order", file=sys.stderr)
        raise SystemExit(7)
    if "silent-start" in faults:
        time.sleep(60)
    unit = RelaysAndInputs()
    unit.inputs[63] = True
    with PtyPeer(unit) as peer, TcpPeer(control) as server:
        endpoints = {"keys": peer.path, "inputs": peer.path, "hand": server.address}
        pid_file = Path(sys.argv[1]).with_suffix(".pid")
        pid_file.write_text(str(os.getpid()))
        print(json.dumps({"endpoints": endpoints, "control": server.address}), flush=True)
        if "deaf" in faults:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                time.sleep(60)
        sys.stdin.read()


main()
