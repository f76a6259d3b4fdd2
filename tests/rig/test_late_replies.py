"""A reply that comes after we gave up is never the answer to the next question, on any protocol."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

import pytest

from harness.rig.device import Surroundings
from harness.rig.drivers import driver_class
from harness.rig.errors import LateReplyError, NoReplyError
from tests.rig.peers import PtyPeer

LIMITS = {"reply_ms": 80, "late_ms": 120, "read_repeats": 0}


class SlowModule:
    """Answers with its input's level at the time of the question; one answer is held back."""

    def __init__(self, say: Callable[[bytes, bool], bytes | None]) -> None:
        self.level = False
        self.hold_s = 0.0
        self._say = say
        self.peer = PtyPeer(self.answer)

    def answer(self, heard: bytes) -> bytes | None:
        reply = self._say(heard, self.level)
        if reply is None or not self.hold_s:
            return reply
        hold, self.hold_s = self.hold_s, 0.0
        # in order, as a slow module does: nothing else is answered meanwhile
        threading.Event().wait(hold)
        return reply


def adam(heard: bytes, level: bool) -> bytes | None:
    answers = []
    for command in heard.split(b"\r")[:-1]:
        if command == b"$016":
            answers.append(b"!%02X0000\r" % level)
        elif command == b"$015":
            answers.append(b"!010\r")
    return b"".join(answers) or None


def numato(heard: bytes, level: bool) -> bytes | None:
    answers = b""
    for command in heard.split(b"\r")[:-1]:
        answers += command + b"\n\r"
        if command == b"gpio readall":
            answers += b"%02x\n\r" % level
        elif command == b"ver":
            answers += b"00000001\n\r"
        answers += b">"
    return answers or None


@pytest.mark.parametrize(
    ("driver", "say", "settings", "channel"),
    [
        ("adam-4000", adam, {"model": "4052", "module": 1}, "0"),
        ("numato", numato, {"gpios": 8}, "gpio-0"),
    ],
)
@pytest.mark.parametrize("hold_s", [0.2, 0.45])
def test_the_next_answer_is_its_own(driver, say, settings, channel, hold_s) -> None:
    """Held back for less, and for more, than we wait; fails if a level of before is believed."""
    module = SlowModule(say)
    around = Surroundings()
    try:
        kind = driver_class(driver)
        own = kind.settings_type(driver=driver, port=module.peer.path, **settings, **LIMITS)
        device = kind.open("part", own, around)
        assert device.read([channel]) == {channel: False}  # type: ignore[attr-defined]
        module.hold_s = hold_s
        with pytest.raises((NoReplyError, LateReplyError)):
            device.read([channel])  # type: ignore[attr-defined]
        module.level = True
        threading.Event().wait(0.01)
        answered = 0
        for _ in range(8):
            with contextlib.suppress(NoReplyError, LateReplyError):
                assert device.read([channel]) == {channel: True}  # type: ignore[attr-defined]
                answered += 1
        assert answered >= 3
    finally:
        around.close()
        module.peer.close()
