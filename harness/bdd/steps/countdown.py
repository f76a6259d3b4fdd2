"""The betting countdown: started, timed, and binding for the toss."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor

from pytest_bdd import then, when

from harness.bdd.capabilities import needs
from harness.bdd.sitting import Sitting
from harness.rig.errors import HostLagError
from harness.rig.wired import ShakerStuckError
from harness.verdicts import Measurement, Verdict

POLL_S = 0.01
BEFORE_END_S = 0.4
MOST_OVERTIME = 2.0
"""A countdown is waited for at most this many times its set length."""


@when("the countdown starts")
@needs("countdown")
def countdown_starts(sitting: Sitting) -> None:
    """Start the countdown and see it run."""
    countdown = sitting.bench.countdown
    assert countdown is not None
    sitting.countdown.asked_at = time.monotonic()
    countdown.start()
    sitting.countdown.started_at = time.monotonic()
    if not countdown.running():
        sitting.scenario.check(
            Verdict.DUT_FAIL,
            "the countdown was started and does not run",
            part=("countdown",),
            fault="does-not-run",
        )
        return
    sitting.round.note("countdown-start")


@when("the countdown has ended")
@needs("countdown")
def countdown_ended(sitting: Sitting) -> None:
    """Wait for zero and measure how long it took."""
    countdown = sitting.bench.countdown
    assert countdown is not None
    watch = sitting.countdown
    longest_s = MOST_OVERTIME * (sitting.bench.rig.table.countdown_s or 60.0)
    last_running = watch.started_at
    while countdown.running():
        last_running = time.monotonic()
        if last_running - watch.started_at > longest_s:
            sitting.scenario.check(
                Verdict.DUT_FAIL,
                f"the countdown still runs after {longest_s:g} s",
                part=("countdown",),
                fault="never-ends",
            )
            return
        time.sleep(POLL_S)
    ended_at = time.monotonic()
    sitting.round.note("countdown-end")
    least, most = last_running - watch.started_at, ended_at - watch.asked_at
    watch.took_s, watch.uncertainty_s = (least + most) / 2, (most - least) / 2


@then("the countdown lasted as long as it is set")
@needs("countdown")
def countdown_length(sitting: Sitting) -> None:
    """Judge the measured length by guarded acceptance.

    Raises HostLagError where this host looked too seldom for any length to be accepted.
    """
    rig = sitting.bench.rig
    set_s = rig.table.countdown_s
    tolerance = rig.limits.countdown_tolerance_percent
    if set_s is None or tolerance is None:
        sitting.scenario.check(Verdict.PENDING, "the rig file sets no length for the countdown")
        return
    measured = Measurement(
        "countdown",
        "s",
        low=set_s * (1 - tolerance / 100),
        high=set_s * (1 + tolerance / 100),
        value=sitting.countdown.took_s,
        uncertainty=sitting.countdown.uncertainty_s + rig.limits.uncertainty_ms / 1000,
    )
    looked_within_s = sitting.countdown.uncertainty_s
    if measured.verdict is Verdict.AMBIGUOUS and looked_within_s > set_s * tolerance / 200:
        raise HostLagError(
            "countdown",
            expected=f"a measurement within {set_s * tolerance * 5:.0f} ms",
            found=f"± {looked_within_s * 1000:.0f} ms",
            remedy="ease the host",
        )
    sitting.record.measurement(sitting.scenario.record.id, measured)
    sitting.scenario.check(
        measured.verdict,
        f"the countdown took {measured.value:.3f} s ± {measured.uncertainty:.3f} s, "
        f"set {set_s:g} s ± {tolerance:g} %",
        part=("countdown",),
        fault="wrong-length",
    )


@when("the dealer presses the button shortly before the countdown ends")
@needs("countdown", "shaker", "shake-sense", "puncher")
def early_press(sitting: Sitting) -> None:
    """Press too early on purpose; the table must not toss.

    A toss is early if it was sensed and the countdown was then seen to run still. Raises
    HostLagError where a toss came that was not seen to be early: the press was late.
    """
    bench, watch = sitting.bench, sitting.countdown
    countdown, sense, shaker = bench.countdown, bench.shake_sense, bench.shaker
    assert countdown is not None
    assert sense is not None
    assert shaker is not None
    set_s = bench.rig.table.countdown_s or 60.0
    time.sleep(max(0.0, watch.started_at + set_s - BEFORE_END_S - time.monotonic()))
    before = sense.strokes()
    watch.early_by_s = watch.started_at + set_s - time.monotonic()
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="button") as hand:
        pressed = hand.submit(shaker.activate, "dealer")
        while not (watch.early_tosses or pressed.done()):
            tossed = sense.strokes() - before
            if not countdown.running():
                break
            watch.early_tosses = tossed
            time.sleep(POLL_S)
        refused = _refused(pressed)
    if not refused and not watch.early_tosses:
        raise HostLagError(
            "button",
            expected=f"a press {BEFORE_END_S * 1000:.0f} ms before the countdown's end",
            found="a toss after its end",
            remedy="ease the host",
        )


def _refused(pressed: Future[None]) -> bool:
    try:
        pressed.result()
    except ShakerStuckError as error:
        if error.phase != "start":
            raise
        return True
    return False


@then("the table did not toss the dice")
@needs("countdown", "shake-sense")
def not_tossed(sitting: Sitting) -> None:
    """Judge what the shake sensor counted."""
    watch = sitting.countdown
    tossed = watch.early_tosses > 0
    sitting.scenario.check(
        Verdict.DUT_FAIL if tossed else Verdict.PASS,
        f"a toss asked for {watch.early_by_s * 1000:.0f} ms before the countdown's end was "
        + ("made" if tossed else "refused"),
        part=("countdown",),
        fault="toss-before-end",
    )
