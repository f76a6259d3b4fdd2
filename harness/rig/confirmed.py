"""Readings over links whose replies carry no checksum: what is new is believed once it repeats.

Modbus/TCP, SCPI and some modules' text protocols leave that to what carries them, and a converter
between a serial bus and the network may pass a flipped bit on. Such a reply is well formed: it
reads as a contact or a lamp that changed. So a reading unlike the one before is taken again until
two in a row are alike, three on a link that spoilt replies before; each counts as an exchange.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from harness.rig.device import LinkRecord
from harness.rig.errors import CorruptReplyError

MOST_READINGS = 8
"""What is still unlike after so many changes by itself, and is given as it was read last."""
BOUNCE_S = 0.1
"""A stray reading of a channel that changes within this time was the channel bouncing."""
_STRAYED = 2
"""Strays on so many channels are the link's; those of one channel may be the channel's own."""

T = TypeVar("T")
Value = TypeVar("Value", bound=float)


def until_alike(read: Callable[[], T], alike: Callable[[T, T], bool]) -> T:
    """Read until two readings in a row are alike, twice at least."""
    latest = read()
    for _ in range(MOST_READINGS - 1):
        before, latest = latest, read()
        if alike(before, latest):
            break
    return latest


@dataclass(frozen=True, slots=True)
class Confirmed(Generic[Value]):
    """What channels read, and when (monotonic s) the first of the readings alike had come."""

    values: Mapping[str, Value]
    at: float


class Confirmation:
    """What is believed of one device's channels, and how its readings strayed.

    tolerance: two levels (V) no further apart are alike.
    """

    def __init__(self, device: str, link: LinkRecord, tolerance: float = 0.0) -> None:
        self._device = device
        self._link = link
        self._tolerance = tolerance
        self._believed: dict[str, float] = {}
        self._fresh_strays: list[tuple[float, str]] = []
        self._strays: dict[str, int] = {}

    def read(self, read: Callable[[], Mapping[str, Value]]) -> Confirmed[Value]:
        """Read channels: once if they are as before, else until they repeat."""
        told, at = read(), time.monotonic()
        changed = self._unlike(self._believed, told)
        if not changed:
            return Confirmed(told, at)
        repeated = 0
        for _ in range(MOST_READINGS - 1):
            before, told = told, read()
            if self._unlike(before, told):
                repeated, at = 0, time.monotonic()
            else:
                repeated += 1
            if repeated >= (2 if self.doubted else 1):
                break
        self._judge_strays(changed, self._unlike(self._believed, told))
        self._believed.update(told)
        return Confirmed(told, at)

    @property
    def doubted(self) -> bool:
        """Tell whether the link spoilt replies before, or may have."""
        return bool(self._link.failures or self._fresh_strays or self._strays)

    def _unlike(self, one: Mapping[str, float], other: Mapping[str, float]) -> frozenset[str]:
        return frozenset(
            channel
            for channel, value in other.items()
            if channel not in one
            or not math.isclose(one[channel], value, rel_tol=0.0, abs_tol=self._tolerance)
        )

    def _judge_strays(self, first: frozenset[str], at_last: frozenset[str]) -> None:
        """Count as spoilt what strayed in one channel and came back, if that is the link's doing.

        One bit of one reply is what a link flips. A contact that bounces changes soon after, and
        what is loose at a channel strays there alone.
        """
        now = time.monotonic()
        self._fresh_strays = [
            (at, channel)
            for at, channel in self._fresh_strays
            if not (channel in at_last and now - at <= BOUNCE_S)
        ]
        while self._fresh_strays and now - self._fresh_strays[0][0] > BOUNCE_S:
            self._count_stray(self._fresh_strays.pop(0)[1])
        strayed = first - at_last
        if len(strayed) == 1:
            self._fresh_strays.append((now, next(iter(strayed))))

    def _count_stray(self, channel: str) -> None:
        self._strays[channel] = self._strays.get(channel, 0) + 1
        if len(self._strays) < _STRAYED:
            return
        for _ in range(sum(self._strays.values())):
            self._link.failed(
                CorruptReplyError(
                    self._device,
                    expected="readings that repeat",
                    found="single readings that strayed, now in one channel, now in another",
                    remedy="check the cable, and converters between a serial bus and the network",
                )
            )
        self._strays = dict.fromkeys(self._strays, 0)
