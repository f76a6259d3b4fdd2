"""Contacts we close and open: keys of the terminal, start buttons. A press is sent once, ever."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

from harness.rig.device import Inputs, Outputs
from harness.rig.errors import (
    DeviceRefusalError,
    NotCapableError,
    OutputsNotOpenError,
    PressUnknownError,
    RigError,
)
from harness.rig.roles import Press


class Contact:
    """One output that is pressed.

    press_s: how long it stays closed. step_s: the step in which the device times that itself, None
    where the host times it.
    """

    def __init__(
        self, key: str, outputs: Outputs, channel: str, press_s: float, *, step_s: float | None
    ) -> None:
        self.key = key
        self.outputs = outputs
        self.channel = channel
        self._press_s = press_s
        self._step_s = step_s

    def press(self, for_s: float | None = None) -> Press:
        """Close and open the contact once.

        for_s: how long, if not as long as usual; a device that times it closes for the next whole
        number of its steps. The times given are those driven.

        Raises DeviceRefusalError if the device said no, PressUnknownError if its reply was lost:
        the press may have taken effect, and it is not sent again.
        """
        closed_s = self._press_s if for_s is None else for_s
        timed = self._step_s is not None
        if self._step_s is not None:
            closed_s = max(1, math.ceil(closed_s / self._step_s - 1e-6)) * self._step_s
        try:
            if timed:
                self.outputs.pulse(self.channel, closed_s)
            else:
                self.outputs.switch(self.channel, on=True)
            closed_at = time.monotonic()
            time.sleep(closed_s)
            if not timed:
                self.outputs.switch(self.channel, on=False)
        except DeviceRefusalError:
            self._let_go()
            raise
        except RigError as error:
            raise PressUnknownError(
                self.outputs.name, key=self.key, state=self._let_go(), cause=error
            ) from error
        return Press(self.key, closed_at, time.monotonic())

    def _let_go(self) -> bool | None:
        """Read the output again and see that it opens; give what it read, None if unreadable.

        Opening is no press: it may be sent when the output still reads closed.
        """
        try:
            state = self.outputs.states()[self.channel]
            if state and self._step_s is None:
                self.outputs.switch(self.channel, on=False)
        except RigError:
            return None
        return state


class RelayKeys:
    """The terminal's keys, each on a contact; a `KeyPresser`.

    readback: inputs on the relays' second contacts, by key.
    """

    def __init__(
        self,
        contacts: Mapping[str, Contact],
        gap_s: float,
        readback: Mapping[str, tuple[Inputs, str, bool]],
    ) -> None:
        self._contacts = dict(contacts)
        self._gap_s = gap_s
        self._readback = dict(readback)
        self._free_at = 0.0

    @property
    def keys(self) -> tuple[str, ...]:
        """Give the keys that can be pressed."""
        return tuple(self._contacts)

    def press(self, key: str, for_s: float | None = None) -> Press:
        """Press one key; the gap is kept before the next press, and may be used for reading.

        for_s: how long, if not for the rig's press time.
        """
        contact = self._contacts.get(key)
        if contact is None:
            raise NotCapableError(
                "keys",
                expected=f"an output for key {key}",
                found=f"outputs for {', '.join(self._contacts)}",
                remedy="scenarios that need this key are not applicable on this rig",
            )
        time.sleep(max(0.0, self._free_at - time.monotonic()))
        try:
            return contact.press(for_s)
        finally:
            self._free_at = time.monotonic() + self._gap_s

    def closed_contacts(self) -> frozenset[str]:
        """Give the keys whose relay's second contact reads closed (empty without readback)."""
        return frozenset(
            key
            for key, (inputs, channel, invert) in self._readback.items()
            if inputs.read([channel])[channel] != invert
        )

    def release_all(self) -> None:
        """Open every output of the keys' devices and verify by reading back that it is open."""
        devices = {id(c.outputs): c.outputs for c in self._contacts.values()}
        for outputs in devices.values():
            open_and_verify(outputs)
        self._free_at = time.monotonic() + self._gap_s
        self.verify_contacts_open()

    def verify_contacts_open(self) -> None:
        """Raise OutputsNotOpenError if a relay's second contact reads closed."""
        welded = self.closed_contacts()
        if welded:
            raise OutputsNotOpenError(
                ", ".join(f"relay:{key}" for key in sorted(welded)),
                expected="contacts open, as their coils read",
                found="second contacts that read closed",
                remedy="a relay is welded or its read-back wire is wrong: replace or rewire it",
            )


def open_and_verify(outputs: Outputs) -> None:
    """Open every output of a device; raise OutputsNotOpenError if one still reads closed."""
    outputs.all_open()
    closed = sorted(channel for channel, on in outputs.states().items() if on)
    if closed:
        raise OutputsNotOpenError(
            outputs.name,
            expected="every output open",
            found=f"closed: {', '.join(closed)}",
            remedy="switch the device off and on; if it stays, replace it",
        )
