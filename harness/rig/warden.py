"""Runs a program and ends it when whoever started this is gone. Standard library only.

usage: warden.py PROGRAM [ARGUMENT]...

Ends when its own standard input does (the starter closed it or died, a kill -9 included) or on
SIGTERM or SIGINT: the program's standard input is closed, then its process group is terminated,
then killed. Ends with the program's status.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys

_POLITE_S = 1.0


def _end(program: subprocess.Popen[bytes]) -> None:
    if program.stdin is not None:
        with contextlib.suppress(OSError):
            program.stdin.close()
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.wait(_POLITE_S)
        with contextlib.suppress(OSError):
            os.killpg(program.pid, number)
    program.wait()


def main(arguments: list[str]) -> int:
    """Run until the program ends or standard input does."""
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    try:
        program = subprocess.Popen(arguments, stdin=subprocess.PIPE, start_new_session=True)
    except OSError as error:
        print(f"{arguments[0]}: {error.strerror}", file=sys.stderr)
        return 127
    watched = [0, wake_read]
    while program.poll() is None:
        ready, _, _ = select.select(watched, [], [])
        stopping = False
        if wake_read in ready:
            stopping = any(number != signal.SIGCHLD for number in os.read(wake_read, 64))
        if 0 in ready and not os.read(0, 4096):
            stopping = True
        if stopping:
            _end(program)
    # whatever it left behind in its group goes too
    with contextlib.suppress(OSError):
        os.killpg(program.pid, signal.SIGKILL)
    return program.returncode if program.returncode >= 0 else 128 - program.returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
