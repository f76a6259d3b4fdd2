"""The person at the rig, asked over a desk: a terminal, or a program at the end of a TCP line.

Our own protocol, JSON lines: `{"ask": TEXT, "clause": TAG}` is answered by `{"answer": "yes"}`,
`"no"` or `"cannot tell"`. An answer that does not come in time is `NoAnswerError`; nothing is
assumed. A person can also be the hands of a small rig: lay dice, shake, cover.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from typing import ClassVar, Self, cast

from pydantic import Field

from harness.observations import Dice
from harness.rig.device import Capability, DeviceSettings, LinkRecord, Surroundings
from harness.rig.errors import (
    CorruptReplyError,
    NoAnswerError,
    NoReplyError,
    NotCapableError,
    NotThereError,
)
from harness.rig.json_channel import JsonChannel
from harness.rig.roles import Answer, Pose, Press

CONSOLE = "console"
_ANSWERS: dict[str, Answer] = {
    "yes": "yes",
    "y": "yes",
    "no": "no",
    "n": "no",
    "cannot tell": "cannot tell",
    "?": "cannot tell",
}


class OperatorSettings(DeviceSettings):
    """Section of an `operator`: `console` (this terminal) or an address; time for an answer."""

    location_field: ClassVar[str | None] = "address"

    address: str = CONSOLE
    answer_s: float = Field(default=120.0, gt=0)

    @property
    def shareable(self) -> bool:
        """A console belongs to whoever runs there."""
        return self.address == CONSOLE


class OperatorDesk:
    """The desk, opened."""

    settings_type: ClassVar[type[DeviceSettings]] = OperatorSettings
    provides: ClassVar[frozenset[Capability]] = frozenset(
        {"operator", "presenter", "shaker", "cover", "keys"}
    )

    def __init__(self, name: str, desk: JsonChannel | _Console, answer_s: float) -> None:
        self.name = name
        self.link = LinkRecord(name)
        self._desk = desk
        self._answer_s = answer_s

    @classmethod
    def open(cls, name: str, settings: DeviceSettings, around: Surroundings) -> Self:
        """Reach the desk; nothing is asked yet."""
        own = cast("OperatorSettings", settings)
        desk: JsonChannel | _Console
        if own.address == CONSOLE:
            desk = _Console(name)
        else:
            desk = JsonChannel(own.address, name, around.open_limit_s)
        return cls(name, desk, own.answer_s)

    def identify(self) -> str | None:
        """A person is named in the record of the run, not by the desk."""
        return None

    def confirm(self, prompt: str, clause: str) -> Answer:
        """Ask one question; the answer is the operator's."""
        self.link.exchanges += 1
        try:
            message = self._desk.ask({"ask": prompt, "clause": clause}, self._answer_s)
        except NoReplyError as error:
            self.link.failed(error)
            raise NoAnswerError(
                self.name,
                expected=f"an answer within {self._answer_s:g} s to: {prompt}",
                found="none",
                remedy="have somebody at the desk; nothing was assumed",
                received=error.received,
            ) from error
        answer = _ANSWERS.get(str(message.get("answer", "")).strip().lower())
        if answer is None:
            raise CorruptReplyError(
                self.name,
                expected="yes, no or cannot tell",
                found=repr(message.get("answer"))[:80],
                remedy="correct the program at the desk",
            )
        return answer

    def _have_done(self, what: str) -> None:
        if self.confirm(f"{what} Done?", "") != "yes":
            raise NotCapableError(
                self.name,
                expected=what,
                found="the operator did not do it",
                remedy="scenarios that need it are not applicable in this run",
            )

    def present(self, dice: Dice, pose: Pose = "flat") -> None:
        """Have the operator lay the dice."""
        faces = ", ".join(map(str, dice))
        self._have_done(f"Lay the dice {pose} with {faces} up.")

    def shake(self, strokes: int) -> None:
        """Have the operator shake."""
        self._have_done(f"Shake the shaker {strokes} times and set it down.")

    def activate(self, by: str) -> None:
        """Have the machine activated."""
        self._have_done(f"Have the {by} activate the shaker once and wait until it stops.")

    def put_on(self) -> None:
        """Have the cover put on."""
        self._have_done("Put the cover on the shaker.")

    def take_off(self) -> None:
        """Have the cover taken off."""
        self._have_done("Take the cover off the shaker.")

    def press(self, key: str) -> Press:
        """Have one key pressed; the times are those of question and answer."""
        asked = time.monotonic()
        self._have_done(f"Press the key {key} on the terminal once.")
        return Press(key, asked, time.monotonic(), by_hand=True)

    def release_all(self) -> None:
        """Fingers need no opening."""

    def close(self) -> None:
        """Leave the desk."""
        self._desk.close()


class _Console:
    """The controlling terminal as a desk."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._turn = threading.Lock()
        try:
            self._tty: int | None = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        except OSError as error:
            raise NotThereError(
                name,
                expected="a terminal to ask the operator on",
                found=(error.strerror or str(error)).lower(),
                remedy="run in a terminal, or give the desk an address in the rig file",
            ) from error

    def ask(self, question: dict[str, object], limit_s: float) -> dict[str, object]:
        """Show the question and read a line."""
        tty = cast("int", self._tty)
        with self._turn:
            clause = f" [{question['clause']}]" if question.get("clause") else ""
            os.write(tty, f"\n{question['ask']}{clause}\n(yes / no / cannot tell) > ".encode())
            deadline = time.monotonic() + limit_s
            line = b""
            while not line.endswith(b"\n"):
                left = deadline - time.monotonic()
                if left <= 0 or not select.select([tty], [], [], left)[0]:
                    raise NoReplyError(
                        self._name,
                        expected="an answer",
                        found="none",
                        remedy="answer at the terminal",
                        received=line,
                    )
                line += os.read(tty, 256)
            return {"answer": line.decode(errors="replace").strip()}

    def close(self) -> None:
        """Give the terminal back."""
        tty, self._tty = self._tty, None
        if tty is not None:
            with contextlib.suppress(OSError):
                os.close(tty)
