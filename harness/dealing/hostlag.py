"""How late this host was: a time measured while it lagged is no measurement."""

from __future__ import annotations

import threading
import time
from collections import deque

NAP_S = 0.008
KEPT = 2500
"""Naps remembered: some twenty seconds."""


class HostLag:
    """Naps in a thread of its own and notes how late it wakes.

    Whatever keeps this thread from running in time keeps the one that measures from it too.
    """

    def __init__(self) -> None:
        self._late: deque[tuple[float, float]] = deque(maxlen=KEPT)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._nap, name="host lag", daemon=True)
        self._thread.start()

    def worst_since(self, at: float) -> float:
        """Give the worst lateness (s) noted since a monotonic time."""
        return max((late for woke, late in list(self._late) if woke >= at), default=0.0)

    def close(self) -> None:
        """End the thread."""
        self._stop.set()
        self._thread.join()

    def _nap(self) -> None:
        while not self._stop.is_set():
            slept_at = time.monotonic()
            time.sleep(NAP_S)
            woke_at = time.monotonic()
            self._late.append((woke_at, max(0.0, woke_at - slept_at - NAP_S)))
