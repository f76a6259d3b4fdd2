"""The emulator as a process: it comes up, says where everything is, and goes away for sure."""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import signal
import stat
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from harness.emulator.bench import Bench
from harness.emulator.camera_ports import install_cameras
from harness.emulator.control import Control
from harness.emulator.devices.ports import install, is_emulated
from harness.emulator.devices.tcp_server import line_server
from harness.emulator.faults.catalogue import Armoury, UnknownFaultError, parse
from harness.emulator.rigfile import RigFileError, read_rig_file

STANDALONE = "SICBO_HIL_STANDALONE"
"""Set in the environment by whoever starts an emulator that is to outlive it."""
_PR_SET_PDEATHSIG = 1
_LOOK_AT_PARENT_S = 0.5
_INTERRUPTED = 130


def main(arguments: Sequence[str]) -> int:
    """Run until stopped; give the exit status.

    0 stopped, 2 the file or a fault is wrong, 130 interrupted from the keyboard.
    """
    parser = argparse.ArgumentParser(
        prog="harness.emulator", description="Emulate the bench of a rig file."
    )
    parser.add_argument("rig", metavar="RIGFILE", type=Path)
    parser.add_argument("--fault", action="append", default=[], metavar="ID[:NAME=VALUE,...]")
    options = parser.parse_args(arguments)
    stop = threading.Event()
    signals = _stop_on_signals(stop)
    try:
        bench = Bench(read_rig_file(options.rig))
    except RigFileError as error:
        return _refuse(error)
    with contextlib.closing(bench):
        try:
            install(bench)
            shown = install_cameras(bench)
            armoury = Armoury(bench)
            _arm(armoury, options.fault)
        except (RigFileError, UnknownFaultError) as error:
            return _refuse(error)
        control = line_server("control", Control(bench, armoury, shown).reply)
        bench.on_close(control.close)
        _name_control(bench, control.address)
        bench.timeline.run_on_time()
        print(json.dumps({"endpoints": bench.endpoints, "control": control.address}), flush=True)
        _wait(stop)
    return _INTERRUPTED if signal.SIGINT in signals else 0


def _arm(armoury: Armoury, faults: Sequence[str]) -> None:
    """Arm faults; raises `UnknownFaultError` with all that will not do."""
    refused = []
    for text in faults:
        try:
            armoury.arm(*parse(text))
        except UnknownFaultError as error:
            refused.append(str(error))
    if refused:
        raise UnknownFaultError("; ".join(refused))


def _refuse(error: Exception) -> int:
    print(f"harness.emulator: {error}", file=sys.stderr, flush=True)
    return 2


def _wait(stop: threading.Event) -> None:
    """Wait for a signal or, unless standing alone, for the parent's death or the end of stdin."""
    if os.environ.get(STANDALONE):
        stop.wait()
        return
    parent = os.getppid()
    _ask_for_signal_at_parents_death()
    if stat.S_ISFIFO(os.fstat(0).st_mode) or stat.S_ISSOCK(os.fstat(0).st_mode):
        threading.Thread(target=_until_eof, args=(stop,), name="stdin", daemon=True).start()
    while not stop.wait(_LOOK_AT_PARENT_S):
        if os.getppid() != parent:
            return


def _ask_for_signal_at_parents_death() -> None:
    """Have Linux wake us when the thread that started us ends; `_wait` looks who is left.

    The signal comes at that thread's end too, while its process may live on, so it only wakes.
    """
    if sys.platform == "linux":
        signal.signal(signal.SIGUSR1, lambda number, frame: None)
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGUSR1)


def _until_eof(stop: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    stop.set()


def _name_control(bench: Bench, address: str) -> None:
    for device in bench.rig.devices.values():
        if device.driver == "emulator-control" and is_emulated(device):
            bench.endpoints[device.name] = address


def _stop_on_signals(stop: threading.Event) -> list[int]:
    """Stop on a signal; give the list of those that come."""
    came: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        came.append(number)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, handle)
    return came
