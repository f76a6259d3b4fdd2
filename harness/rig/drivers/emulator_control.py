"""The hands at an emulated table: an emulator's control channel (JSON lines over TCP).

One reply to each line, `{"ok": true, ...}` or `{"ok": false, "why": ...}`. What the program at the
other end does not offer is `NotCapableError`: the scenario that needs it is not applicable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self, cast

from harness.observations import Dice
from harness.rig.device import (
    EMULATED,
    AddressSettings,
    Capability,
    DeviceSettings,
    LinkRecord,
    Surroundings,
)
from harness.rig.errors import NotCapableError, RigError
from harness.rig.json_channel import JsonChannel
from harness.rig.roles import Pose


class EmulatorControlSettings(AddressSettings):
    """Section of an `emulator-control`."""

    address: str = EMULATED
    reply_ms: int = 10_000


class EmulatorControl:
    """The channel, opened: presents dice, shakes, moves the cover."""

    settings_type: ClassVar[type[DeviceSettings]] = EmulatorControlSettings
    provides: ClassVar[frozenset[Capability]] = frozenset({"presenter", "shaker", "cover"})

    def __init__(self, name: str, channel: JsonChannel, limit_s: float) -> None:
        self.name = name
        self.link = LinkRecord(name)
        self._channel = channel
        self._limit_s = limit_s

    @classmethod
    def open(cls, name: str, settings: DeviceSettings, around: Surroundings) -> Self:
        """Connect; nothing is asked yet."""
        own = cast("EmulatorControlSettings", settings)
        channel = JsonChannel(own.address, name, around.open_limit_s)
        return cls(name, channel, own.reply_ms / 1000)

    def identify(self) -> str | None:
        """The channel does not say what it is."""
        return None

    def do(self, act: str, **fields: object) -> Mapping[str, object]:
        """Have one thing done. Raises NotCapableError if the other end will not."""
        self.link.exchanges += 1
        try:
            answer = self._channel.ask({"do": act, **fields}, self._limit_s)
        except RigError as error:
            self.link.failed(error)
            raise
        if answer.get("ok") is not True:
            raise NotCapableError(
                self.name,
                expected=f"the emulated bench to do {act!r}",
                found=str(answer.get("why", "a refusal")),
                remedy="scenarios that need it are not applicable on this rig",
            )
        return answer

    def present(self, dice: Dice, pose: Pose = "flat") -> None:
        """Lay the dice; returns once they lie."""
        self.do("present", dice=list(dice), pose=pose)

    def shake(self, strokes: int) -> None:
        """Make strokes by hand, one after the other."""
        for _ in range(strokes):
            self.do("shake")

    def activate(self, by: str) -> None:
        """Activate the machine once."""
        self.do("shake", by=by)

    def put_on(self) -> None:
        """Put the cover on."""
        self.do("cover", on=True)

    def take_off(self) -> None:
        """Take the cover off."""
        self.do("cover", on=False)

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()
