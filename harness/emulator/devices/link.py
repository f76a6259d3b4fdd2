"""The link between a device and whoever asks it, and what can go wrong on it.

Every device has one `Link`, whatever its wire is, so that a link fault is armed the same way on a
serial bus, a socket or an instrument, and touches nothing but the replies.
"""

from __future__ import annotations

from collections.abc import Callable

Mangle = Callable[[bytes, bytes], bytes]
"""From a request and its reply to what is sent instead; empty for nothing at all."""


class Link:
    """State of one device's link; sound until a fault is armed."""

    def __init__(self) -> None:
        self.silent = False
        self.late_s = 0.0
        self.baud: int | None = None
        self.mangles: list[Mangle] = []
        self.exception: int | None = None

    def outgoing(self, request: bytes, reply: bytes) -> bytes:
        """Give what really goes out for a reply."""
        if self.silent:
            return b""
        for mangle in self.mangles:
            if reply:
                reply = mangle(request, reply)
        return reply
