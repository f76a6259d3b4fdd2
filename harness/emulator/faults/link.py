"""Faults of the link between a device and who asks it."""

from __future__ import annotations

from harness.emulator.bench import Bench
from harness.emulator.devices.link import Link, Mangle
from harness.emulator.faults.parameters import Parameters, Undo


def silent(bench: Bench, given: Parameters) -> Undo:
    """Give a device that hears and never answers."""
    link = _link(bench, given)
    link.silent = True

    def undo() -> None:
        link.silent = False

    return undo


def corrupt(bench: Bench, given: Parameters) -> Undo:
    """Flip a bit in some of the replies: on average `rate` of them."""
    rate, rng = given.number("rate", 0, 1), bench.rng

    def mangle(request: bytes, reply: bytes) -> bytes:
        if rng.random() >= rate:
            return reply
        at, bit = rng.randrange(len(reply)), rng.randrange(7)
        return reply[:at] + bytes([reply[at] ^ 1 << bit]) + reply[at + 1 :]

    return _mangle(_link(bench, given), mangle)


def lost_after_press(bench: Bench, given: Parameters) -> Undo:
    """Lose the reply to one press, the `nth` from now, after it took effect."""
    link, nth = _link(bench, given), given.whole("nth", 1)
    presses = 0

    def mangle(request: bytes, reply: bytes) -> bytes:
        nonlocal presses
        if link.is_press(request):
            presses += 1
            if presses == nth:
                return b""
        return reply

    return _mangle(link, mangle)


def late(bench: Bench, given: Parameters) -> Undo:
    """Let every reply come late, whatever was asked in between."""
    link = _link(bench, given)
    link.late_s = given.seconds("ms")

    def undo() -> None:
        link.late_s = 0.0

    return undo


def wrong_reply(bench: Bench, given: Parameters) -> Undo:
    """Answer as another unit, to another function, or with a frame cut short."""
    link = _link(bench, given)
    if not link.disguises:
        raise given.wrong("device", "a device whose replies name what they answer")
    disguise = link.disguises[given.word("kind", tuple(link.disguises))]
    return _mangle(link, lambda request, reply: disguise(reply))


def refusal(bench: Bench, given: Parameters) -> Undo:
    """Refuse every request with an exception code."""
    link = _link(bench, given)
    if not link.takes_refusal:
        raise given.wrong("device", "a device whose protocol has exception replies")
    link.refusal = given.whole("code", 1, 255)

    def undo() -> None:
        link.refusal = None

    return undo


def wrong_baud(bench: Bench, given: Parameters) -> Undo:
    """Let the device run at another baud rate than the rig file says."""
    link = _link(bench, given)
    if not link.has_baud:
        raise given.wrong("device", "a device on a serial port")
    link.baud = given.whole("baud", 300, 1_000_000)

    def undo() -> None:
        link.baud = None

    return undo


def replugged(bench: Bench, given: Parameters) -> Undo:
    """Unplug the device after so many replies, and plug it in again `back_ms` later."""
    name = given.device("device")
    if name not in bench.unplug:
        raise given.wrong("device", "a device that can be unplugged")
    after, back_s = given.whole("after", 1), given.seconds("back_ms")
    timeline, replies = bench.timeline, 0

    def mangle(request: bytes, reply: bytes) -> bytes:
        nonlocal replies
        replies += 1
        if replies == after:
            timeline.after(0.0, bench.unplug[name])
            timeline.after(back_s, bench.plug[name])
            return b""
        return reply

    return _mangle(bench.links[name], mangle)


def occupied(bench: Bench, given: Parameters) -> Undo:
    """Hold the device's port as another program would."""
    occupy = _link(bench, given).occupy
    if occupy is None:
        raise given.wrong("device", "a device on a serial port")
    occupy(True)
    return lambda: occupy(False)


def _link(bench: Bench, given: Parameters) -> Link:
    return bench.links[given.device("device")]


def _mangle(link: Link, mangle: Mangle) -> Undo:
    link.mangles.append(mangle)
    return lambda: link.mangles.remove(mangle)
