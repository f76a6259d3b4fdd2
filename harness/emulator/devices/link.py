"""The link between a device and whoever asks it, and what can go wrong on it.

Every device has one `Link`, whatever its wire is, so that a link fault is armed the same way on a
serial bus, a socket or an instrument, and touches nothing but the replies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

Mangle = Callable[[bytes, bytes], bytes]
"""From a request and its reply to what is sent instead; empty for nothing at all."""


class Link:
    """State of one device's link; sound until a fault is armed.

    `silent` links say nothing, `late_s` is how late replies come, `baud` the device's own rate
    where it is not the rig file's, `refusal` the code with which it refuses every request.

    What a fault has to know of the protocol is set by the device's server: `is_press` tells whether
    a request closes a contact, `disguises` give, by what is wrong with it, a reply that is well
    formed and not what was asked for. `takes_refusal` is false where a protocol has no codes,
    `has_baud` where the wire has no rate.
    """

    def __init__(self) -> None:
        self.silent = False
        self.late_s = 0.0
        self.baud: int | None = None
        self.refusal: int | None = None
        self.mangles: list[Mangle] = []
        self.is_press: Callable[[bytes], bool] = lambda request: False
        self.disguises: Mapping[str, Callable[[bytes], bytes]] = {}
        self.takes_refusal = False
        self.has_baud = False
        self.occupy: Callable[[bool], None] | None = None

    def outgoing(self, request: bytes, reply: bytes) -> bytes:
        """Give what really goes out for a reply."""
        if self.silent:
            return b""
        for mangle in self.mangles:
            if reply:
                reply = mangle(request, reply)
        return reply
