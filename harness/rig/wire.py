"""A tap on the wires: the bytes that a bench's links send and receive, as they go.

Links tell it; nothing listens unless a run records its wires. Pictures of cameras are not among
it, nor what opens a connection (addresses, user names). Standard library only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passed:
    """Bytes that passed on a device's link at `at` (monotonic s), `sent` by us or received."""

    at: float
    device: str
    sent: bool
    data: bytes


Listener = Callable[[Passed], None]

_listeners: list[Listener] = []


def sent(device: str, data: bytes | bytearray) -> None:
    """Tell what was just sent to a device."""
    if _listeners and data:
        _tell(Passed(time.monotonic(), device, True, bytes(data)))


def received(device: str, data: bytes | bytearray) -> None:
    """Tell what just came from a device, used or thrown away."""
    if _listeners and data:
        _tell(Passed(time.monotonic(), device, False, bytes(data)))


@contextmanager
def tapped(listener: Listener) -> Iterator[None]:
    """Have `listener` told of all that passes; it is called from whatever thread has the link."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _tell(passed: Passed) -> None:
    for listener in tuple(_listeners):
        listener(passed)
