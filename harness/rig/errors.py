"""What can go wrong between us and a part of the bench, told apart."""

from __future__ import annotations

from typing import ClassVar

from harness.verdicts import HarnessError, Verdict


class RigError(HarnessError):
    """A fault of our own bench. `fault` is the word of diagnosis, `subject` the device's name."""

    fault: ClassVar[str] = "rig-fault"

    def to_json(self) -> dict[str, object]:
        """Give the error with its located part, as it is written to the journal."""
        part = self.subject if ":" in self.subject else f"device:{self.subject}"
        return {**super().to_json(), "part": part, "fault": self.fault}


class NotThereError(RigError):
    """A port, camera, address or program that is not there, or does not open in time."""

    fault = "not-there"


class PortBusyError(RigError):
    """A port that another program holds."""

    fault = "in-use"


class RigBusyError(RigError):
    """Another harness drives this rig."""

    fault = "in-use"

    def to_json(self) -> dict[str, object]:
        """Give the error; its part is the rig as a whole."""
        return {**super().to_json(), "part": "rig"}


class LinkLostError(RigError):
    """The port or connection vanished while in use."""

    fault = "link-lost"


class ReplyError(RigError):
    """An exchange that gave no usable answer. `received` holds what had arrived."""

    fault = "bad-reply"


class NoReplyError(ReplyError):
    """Silence until the time limit."""

    fault = "no-reply"


class LateReplyError(ReplyError):
    """A reply after its time limit; it was thrown away, never used."""

    fault = "late-reply"


class ShortReplyError(ReplyError):
    """A reply that broke off, or whose length is not what was asked for."""

    fault = "short-reply"


class CorruptReplyError(ReplyError):
    """A reply whose checksum or form is wrong."""

    fault = "corrupt-reply"


class WrongUnitError(ReplyError):
    """A sound reply of another unit."""

    fault = "wrong-unit"


class WrongFunctionError(ReplyError):
    """A sound reply to another function."""

    fault = "wrong-function"


class WrongEchoError(ReplyError):
    """A sound reply to another question: address, value or sequence number differ."""

    fault = "wrong-reply"


class DeviceRefusalError(ReplyError):
    """The device answered that it will not: an exception reply. `code` is its number, if any."""

    fault = "refused"

    def __init__(
        self,
        subject: str,
        *,
        expected: str,
        found: str,
        remedy: str,
        received: bytes | None = None,
        code: int | None = None,
    ) -> None:
        super().__init__(subject, expected=expected, found=found, remedy=remedy, received=received)
        self.code = code

    def to_json(self) -> dict[str, object]:
        """Give the error with its code."""
        return {**super().to_json(), "code": self.code}


class OutputsNotOpenError(RigError):
    """Outputs that read back as driven when they must be open."""

    fault = "outputs-not-open"


class PressUnknownError(RigError):
    """A press whose reply was lost: it may have taken effect. It is not sent again.

    `state` is what the output read back afterwards (None where that failed too).
    """

    fault = "press-unknown"

    def __init__(self, subject: str, *, key: str, state: bool | None, cause: HarnessError) -> None:
        shown = {None: "not readable", True: "closed", False: "open"}[state]
        super().__init__(
            subject,
            expected=f"a confirmed press of key {key}",
            found=f"{cause.found} (the output now reads {shown})",
            remedy="the press is not sent again; clear the entry, check the link to the device",
            received=cause.received,
        )
        self.key = key
        self.state = state
        self.cause = cause

    def to_json(self) -> dict[str, object]:
        """Give the error with the key, the state read afterwards and the cause's word."""
        cause = self.cause.fault if isinstance(self.cause, RigError) else "rig-fault"
        return {**super().to_json(), "key": self.key, "state": self.state, "cause": cause}


class HostLagError(RigError):
    """This host was too busy to look often enough: what was sensed meanwhile is no measurement."""

    fault = "host-lag"


class NoFrameError(RigError):
    """No camera frame in time."""

    fault = "no-frame"


class StaleFrameError(RigError):
    """Frames came, but every one was exposed before its stimulus."""

    fault = "stale-frame"


class CorruptFrameError(RigError):
    """Frames came, but none could be decoded."""

    fault = "corrupt-frame"


class NoAnswerError(RigError):
    """The operator did not answer in time; nothing is assumed."""

    fault = "no-answer"


class NotCapableError(HarnessError):
    """This rig cannot do what the scenario needs: `NOT_APPLICABLE`, by name."""

    verdict = Verdict.NOT_APPLICABLE
