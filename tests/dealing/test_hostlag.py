"""A host that stood still says so, and what it timed meanwhile is no measurement."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, cast

import pytest

from harness.bdd.sitting import Sitting
from harness.observations import Entry
from harness.rules.judgement import Limits

if TYPE_CHECKING:
    from harness.dealing.entry import EntryTaker
    from harness.dealing.hostlag import HostLag

CHILD = """
import sys, time
from harness.dealing.hostlag import HostLag
lag = HostLag()
began = time.monotonic()
for line in sys.stdin:
    print(lag.worst_since(began), flush=True)
"""


def test_a_stop_of_the_host_is_noted() -> None:
    """Stopped for 0.4 s by the system, as a laptop's sleep or a busy host would."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("\n")
    child.stdin.flush()
    child.stdout.readline()
    child.send_signal(signal.SIGSTOP)
    time.sleep(0.4)
    child.send_signal(signal.SIGCONT)
    time.sleep(0.2)
    out, _ = child.communicate("\n", timeout=20)
    assert float(out) > 0.3


class Lag:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def worst_since(self, _at: float) -> float:
        return self.seconds


class Taker:
    def __init__(self, *too_slow: str) -> None:
        self.too_slow = frozenset(too_slow)


def sitting_of(taker: Taker, lag_s: float) -> Sitting:
    sitting = Sitting.__new__(Sitting)
    sitting.limits = Limits(settle_s=0.1)
    sitting.lag = cast("HostLag", Lag(lag_s))
    sitting._taker = cast("EntryTaker", taker)
    sitting.timed = sitting.untimed = 0
    sitting.slow_paths = Counter()
    return sitting


@pytest.mark.parametrize(
    ("settle_s", "lag_s", "kept"),
    [
        (0.09, 0.5, True),  # in time, however slow the host was
        (0.15, 0.005, True),  # late, and the host was not: below a tenth of the limit
        (0.15, 0.03, False),  # late by less than the host's lag may have made
        (0.50, 0.05, True),  # late by more than that
    ],
)
def test_a_lag_above_a_tenth_of_the_limit_takes_a_late_time_back(settle_s, lag_s, kept) -> None:
    """Fails if the table is blamed for this host's lag, or let off for a small one."""
    sitting = sitting_of(Taker(), lag_s)
    entry = Entry("b", "r", 1, "entered", None, None, ("1",), (), 0.0, 1.0, settle_s=settle_s)
    fair = sitting._fairly_timed(entry)
    assert fair.settle_s == (settle_s if kept else None)
    assert (sitting.timed, sitting.untimed) == (1, 0 if kept else 1)


@pytest.mark.parametrize(("lag_s", "slow"), [(0.0, {"inputs": 1}), (0.5, {})])
def test_looks_too_far_apart_time_nothing(lag_s, slow) -> None:
    """Fails if lamps that may have been late pass as in time because nobody looked meanwhile, or if
    a path is called slow when this host was."""
    sitting = sitting_of(Taker("inputs"), lag_s)
    entry = Entry("b", "r", 1, "entered", None, None, ("1",), (), 0.0, 1.0, settle_s=0.0)
    assert sitting._fairly_timed(entry).settle_s is None
    assert (sitting.timed, sitting.untimed) == (1, 1)
    assert sitting.slow_paths == slow
