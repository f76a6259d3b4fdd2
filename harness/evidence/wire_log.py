"""What passed on a rig's wires, kept until the next record is written."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Protocol

_JOINED_S = 0.05
"""Bytes of one direction that follow within this time belong together."""


class Passed(Protocol):
    """Bytes that passed on a device's link at `at` (monotonic s), `sent` by us or received."""

    @property
    def at(self) -> float: ...  # noqa: D102
    @property
    def device(self) -> str: ...  # noqa: D102
    @property
    def sent(self) -> bool: ...  # noqa: D102
    @property
    def data(self) -> bytes: ...  # noqa: D102


class WireLog:
    """Collects what passes, from any thread; a listener of `harness.rig.wire`."""

    def __init__(self, rig: str) -> None:
        self._rig = rig
        self._lock = Lock()
        self._kept: list[tuple[float, str, bool, bytearray]] = []
        self._last: dict[str, tuple[float, str, bool, bytearray]] = {}

    def __call__(self, passed: Passed) -> None:
        """Take in what passed; what a device sends in several parts is joined."""
        with self._lock:
            last = self._last.get(passed.device)
            if last is not None and last[2] == passed.sent and passed.at - last[0] < _JOINED_S:
                last[3].extend(passed.data)
                return
            new = (passed.at, passed.device, passed.sent, bytearray(passed.data))
            self._last[passed.device] = new
            self._kept.append(new)

    def taken(self, scenario: str | None) -> Mapping[str, object] | None:
        """Give what passed since the last time as a `WireBody`; None if nothing did."""
        with self._lock:
            kept, self._kept = self._kept, []
            self._last.clear()
        if not kept:
            return None
        passed = [
            [round(at, 6), device, "sent" if sent else "received", data.hex(" ")]
            for at, device, sent, data in kept
        ]
        return {"scenario": scenario, "rig": self._rig, "passed": passed}
