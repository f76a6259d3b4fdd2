"""What goes wrong between senses while a round is dealt."""

from __future__ import annotations

from harness.rig.errors import RigError
from harness.verdicts import HarnessError, Verdict


class SenseError(HarnessError):
    """A sensor of our own that tells what cannot be; `part` and `fault` locate it."""

    fault = "rig-fault"

    def to_json(self) -> dict[str, object]:
        """Give the error with its located part."""
        return {**super().to_json(), "part": self.subject, "fault": self.fault}


class CoverSwitchError(SenseError):
    """The cover's switch does not follow the cover."""

    fault = "stuck"


class ShakeSensorError(SenseError):
    """The shake sensor shows no difference between rest and shake."""

    fault = "no-contrast"


class NoMotionError(SenseError):
    """A machine reported a toss and the dice did not move: the table's fault."""

    fault = "no-motion"
    verdict = Verdict.DUT_FAIL


class UnreadablePictureError(SenseError):
    """Dice at rest whose picture cannot be read: our side's failing."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "camera:dice",
            expected="a picture of the dice that can be read",
            found=reason,
            remedy="look at the kept pictures; check light, focus and position of the camera",
        )
        self.fault = reason


class UnknownStateError(RigError):
    """An error of ours left the table in a state that a clear did not end."""

    fault = "unknown-state"

    def to_json(self) -> dict[str, object]:
        """Give the error; its part is the rig as a whole."""
        return {**super().to_json(), "part": "rig"}


class RestlessDiceError(HarnessError):
    """Dice that did not come to rest within the limit: there is no result."""

    verdict = Verdict.NO_RESULT

    def __init__(self, limit_s: float) -> None:
        super().__init__(
            "dice",
            expected=f"dice at rest within {limit_s:g} s",
            found="dice still moving",
            remedy="find out what keeps them moving",
        )

    def to_json(self) -> dict[str, object]:
        """Give the error with its located part."""
        return {**super().to_json(), "part": "dice", "fault": "moving"}
