"""An emulated bench that outlives the runs made on it: faults are armed over its control channel.

A run finds it through a rig file of its own, which takes in the original one and names a program
that tells the running emulator's endpoints.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.campaign.own_rigs import write_rig_file
from harness.rig.launch import standin
from harness.rig.sections import Rig
from harness.verdicts import ConfigurationError, HarnessError

_CONTROL_LIMIT_S = 20.0
_ANSWER_S = 10.0
"""How long an operator is waited for who answers at once or never."""


class ControlError(HarnessError):
    """The emulator did not do what it was asked over its control channel."""


class EmulatedBench:
    """One running emulator. `rig_file` is what runs are to be given."""

    def __init__(self, rig: Rig, folder: Path) -> None:
        if rig.emulator is None:
            raise ConfigurationError(
                f"rig {rig.name}",
                expected="an emulated rig",
                found="a rig file without [emulator]",
                remedy="run the campaign on an emulated rig",
            )
        self._rig = rig
        self._folder = folder
        self._stack = ExitStack()
        self._control: socket.socket | None = None
        self._replies = b""
        self.rig_file = folder / f"{rig.name}.toml"

    def __enter__(self) -> Self:
        emulator = self._rig.emulator
        assert emulator is not None
        program = self._stack.enter_context(standin(emulator.program, self._rig.path.resolve(), ()))
        if program.control is None:
            self._stack.close()
            raise ControlError(
                f"rig {self._rig.name}",
                expected="an emulator with a control channel",
                found="none",
                remedy="use an emulator that has one",
            )
        host, _, port = program.control.rpartition(":")
        self._control = self._stack.enter_context(
            socket.create_connection((host, int(port)), _CONTROL_LIMIT_S)
        )
        self._folder.mkdir(parents=True, exist_ok=True)
        endpoints = self._folder / f"{self._rig.name}.endpoints.json"
        told = {"endpoints": dict(program.endpoints), "control": program.control}
        endpoints.write_text(json.dumps(told) + "\n", encoding="utf-8")
        command = ["{python}", "-m", "harness.campaign.attach", str(endpoints.resolve())]
        desk = self._rig.roles.operator
        asked = "" if desk is None else f"[devices.{desk}]\nanswer_s = {_ANSWER_S}\n\n"
        write_rig_file(
            self._rig,
            self._folder,
            f"[emulator]\nprogram = {json.dumps(command)}\n\n{asked}",
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the emulator."""
        self._stack.close()

    def arm(self, fault: str, values: Mapping[str, str]) -> None:
        """Arm one fault. Raises ControlError where this bench cannot have it."""
        self._ask({"do": "arm", "fault": fault, "with": dict(values)})

    def make_good(self) -> None:
        """Take every fault back and leave the table dark, its cover off, for the next run.

        Raises ControlError where the table stays without power, as after a fault of its restart.
        """
        self._ask({"do": "disarm"})
        if self._ask({"do": "state"}).get("powered") is False:
            raise ControlError(
                f"emulator of rig {self._rig.name}",
                expected="a table with power",
                found="none",
                remedy="start the emulator again",
            )
        if self._rig.roles.cover is not None:
            self._ask({"do": "cover", "on": False})
        if self._rig.keys is not None and "clear" in self._rig.keys.map:
            self._ask({"do": "press", "key": "clear", "ms": 150})

    def _ask(self, request: Mapping[str, object]) -> Mapping[str, object]:
        control = self._control
        assert control is not None
        try:
            control.sendall(json.dumps(request).encode() + b"\n")
            while b"\n" not in self._replies:
                arrived = control.recv(65536)
                if not arrived:
                    raise ConnectionError("it closed the connection")
                self._replies += arrived
        except OSError as error:
            raise ControlError(
                f"emulator of rig {self._rig.name}",
                expected=f"a reply to {request['do']!r}",
                found=str(error) or type(error).__name__,
                remedy="see whether the emulator still runs",
            ) from error
        line, _, self._replies = self._replies.partition(b"\n")
        reply: dict[str, object] = json.loads(line)
        if not reply.get("ok"):
            raise ControlError(
                f"emulator of rig {self._rig.name}",
                expected=f"{request['do']!r} done",
                found=str(reply.get("why")),
                remedy="correct the fault's number or parameters",
            )
        return reply
