"""Starts the program that stands in for the bench, and sees that it is gone afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harness.rig import warden
from harness.rig.errors import NotThereError
from harness.verdicts import ConfigurationError

SUBJECT = "emulator"
"""What errors name: the rig file's table, whatever program it starts."""
START_LIMIT_S = 15.0
_END_LIMIT_S = 4.0
_USAGE = 2


@dataclass(frozen=True, slots=True)
class Standin:
    """A started program: where it serves each device, and its control channel."""

    endpoints: Mapping[str, str]
    control: str | None
    process: subprocess.Popen[bytes]


def program_words(program: Sequence[str], rig_file: Path) -> list[str]:
    """Give the words of `[emulator] program`; one that names a file beside the rig file is it."""
    folder = rig_file.parent
    words = [word.replace("{python}", sys.executable) for word in program]
    # Not resolved: an interpreter of a virtual environment is a link, and means where it lies.
    return [str((folder / w).absolute()) if w and (folder / w).is_file() else w for w in words]


@contextmanager
def standin(program: Sequence[str], rig_file: Path, faults: Sequence[str]) -> Iterator[Standin]:
    """Run `PROGRAM RIGFILE [--fault TEXT]...` for as long as the block runs.

    Raises NotThereError if it does not give its endpoints in time, ConfigurationError if it
    ends with status 2 (usage).
    """
    command = program_words(program, rig_file)
    command.append(str(rig_file))
    for fault in faults:
        command += ["--fault", fault]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", warden.__file__, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            start_new_session=True,
        )
        try:
            line = _first_line(process, time.monotonic() + START_LIMIT_S)
            endpoints, control = _endpoints(line, process, program, said)
            _drain(process)
            yield Standin(endpoints, control, process)
        finally:
            _end(process)


def _first_line(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    assert process.stdout is not None
    line = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                break
            chunk = os.read(process.stdout.fileno(), 1)
            if not chunk:
                break
            line += chunk
    return line


def _endpoints(
    line: bytes, process: subprocess.Popen[bytes], program: Sequence[str], said: IO[bytes]
) -> tuple[dict[str, str], str | None]:
    named = " ".join(program)
    try:
        message = json.loads(line) if line else None
        endpoints = message["endpoints"] if isinstance(message, dict) else None
    except (ValueError, KeyError):
        endpoints = None
    if isinstance(endpoints, dict) and all(isinstance(v, str) for v in endpoints.values()):
        assert isinstance(message, dict)
        control = message.get("control")
        return endpoints, control if isinstance(control, str) else None
    status = None
    if not line:
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = process.wait(0.5)
    said.seek(0)
    last = said.read()[-2000:].decode(errors="replace").strip().splitlines()[-1:]
    told = f": {last[0]}" if last else ""
    if status == _USAGE:
        raise ConfigurationError(
            SUBJECT,
            expected="settings and faults it accepts",
            found=f"a refusal{told}",
            remedy="correct the rig file or the fault",
        )
    if line:
        found = f"{line[:80]!r} as its first line"
    elif status is not None:
        found = f"it ended with status {status}{told}"
    else:
        found = f"no line within {START_LIMIT_S:g} s{told}"
    raise NotThereError(
        SUBJECT,
        expected=f'a first line {{"endpoints": {{...}}}} of `{named}`',
        found=found,
        remedy="run the program by hand to see what it says",
    )


def _drain(process: subprocess.Popen[bytes]) -> None:
    """Read away what the program still prints, so that it never blocks on a full pipe."""
    stdout = process.stdout
    assert stdout is not None

    def away() -> None:
        with contextlib.suppress(OSError, ValueError):
            while stdout.read(65536):
                pass

    threading.Thread(target=away, name="stand-in output", daemon=True).start()


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        process.wait(_END_LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        with contextlib.suppress(OSError):
            process.stdout.close()
