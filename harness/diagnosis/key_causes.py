"""Single faults of keys, their actuators and the entry logic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations

from harness.diagnosis.cause import Cause
from harness.diagnosis.facts import FourthKey, RigFacts
from harness.diagnosis.terminal import DIGITS, KeyFault
from harness.verdicts import Verdict

_SEVERAL = 2
_FOURTH: tuple[FourthKey, ...] = ("ignored", "last-three", "error")


def key_causes(facts: RigFacts) -> Iterator[Cause]:
    """Give every single key fault of the model: dead, held, bouncing, exchanged, shorted, late."""
    commands = _commands(facts)
    for key in DIGITS:
        yield _dead(key)
        yield Cause(
            (f"key:{key}",),
            "stuck-closed",
            f"key {key} stays closed: it enters {key} with every relay open",
            held=key,
        )
        yield Cause(
            (f"key:{key}",),
            "bounce",
            f"one press of key {key} is taken twice",
            key=_replacing({key: (key, key)}),
        )
    for key in commands:
        yield Cause(
            (f"key:{key}",),
            "dead",
            f"the {key} key does nothing: the earlier state persists",
            key=_replacing({key: ()}),
        )
    if "enter" in commands:
        yield Cause(
            ("key:enter",),
            "stuck-closed",
            "the enter key stays closed: no press of it is seen",
            held="enter",
        )
    for a, b in combinations(DIGITS, 2):
        yield Cause(
            (f"key:{a}", f"key:{b}"),
            "swapped",
            f"keys {a} and {b} are exchanged",
            rig_part=(f"relay:{a}", f"relay:{b}"),
            excluded_by=("map",),
            key=_replacing({a: (b,), b: (a,)}),
        )
        for first, second in (
            ((a, b), (a, b)),
            ((b, a), (b, a)),
            ((a, b), (b, a)),
            ((b, a), (a, b)),
        ):
            yield Cause(
                (f"key:{a}", f"key:{b}"),
                "shorted",
                f"a press of key {a} or key {b} enters both",
                rig_part=(f"relay:{a}", f"relay:{b}"),
                excluded_by=("map", "paths"),
                key=_replacing({a: first, b: second}),
            )
    for a, b in permutations(DIGITS, 2):
        yield Cause(
            (f"key:{a}",),
            "enters-other",
            f"key {a} enters {b}",
            rig_part=(f"relay:{a}",),
            excluded_by=("map",),
            key=_replacing({a: (b,)}),
        )
    yield from _besides(commands)
    yield from _slow_keys()
    yield Cause(
        ("keys",),
        "no-entry",
        "no key press is taken: terminal dead, its link open, or its keys need a longer press",
        verdict=Verdict.AMBIGUOUS,
        rig_part=("device:keys",),
        key=lambda _pressed: (),
    )
    for policy in _FOURTH:
        if policy != facts.fourth_key:
            yield Cause(
                ("rule:fourth-key",),
                "fourth-key",
                f"a fourth key is handled as '{policy}', required is '{facts.fourth_key}'",
                fourth_key=policy,
            )


def erratic_key_causes(facts: RigFacts) -> Iterator[Sequence[Cause]]:
    """Give keys that do not do the same each time, the plainest kind first.

    Each explains much, so they come later than what always does the same. A key that enters itself
    again and again explains nearly everything: seen directly or not, it is no more than suspected.
    """
    yield [
        Cause(
            (f"key:{key}",),
            "unreliable",
            f"of the presses of key {key} some are taken twice or not at all",
            rig_part=(f"relay:{key}",),
            excluded_by=("key-travel",),
            unreliable=key,
        )
        for key in (*DIGITS, *_commands(facts))
    ]
    yield [
        Cause(
            (f"key:{key}",),
            "misreads",
            f"of the presses of key {key} some enter another digit",
            verdict=Verdict.AMBIGUOUS,
            rig_part=(f"relay:{key}",),
            misreads=key,
        )
        for key in DIGITS
    ]
    yield [
        Cause(
            (f"key:{key}",),
            "stuck-closed",
            f"key {key} enters {key} again and again with every relay open",
            verdict=Verdict.AMBIGUOUS,
            loose=key,
        )
        for key in DIGITS
    ]


def keys_entering(taken: Mapping[str, str | None]) -> Cause | None:
    """Give the cause 'these keys enter other digits, or none', as entries of one key alone show.

    taken: for each key what three presses of it entered; None: nothing. None if fewer than two keys
    are wrong, two are dead, or all: other causes say that better.
    """
    wrong = {key: digit for key, digit in taken.items() if digit != key}
    dead = [key for key, digit in wrong.items() if digit is None]
    if len(wrong) < _SEVERAL or len(dead) == len(DIGITS):
        return None
    if len(dead) == len(wrong) == _SEVERAL:
        return None
    return Cause(
        tuple(f"key:{key}" for key in sorted(wrong)),
        "dead" if len(dead) == len(wrong) else "permuted",
        "; ".join(f"key {key} enters {digit or 'nothing'}" for key, digit in sorted(wrong.items())),
        rig_part=tuple(f"relay:{key}" for key in sorted(wrong)),
        excluded_by=("key-travel",) if dead else ("map",),
        key=_replacing({key: (digit,) if digit else () for key, digit in wrong.items()}),
    )


def _commands(facts: RigFacts) -> tuple[str, ...]:
    """Give the keys of the terminal that are no digits."""
    enter = ("enter",) if facts.commit == "entry-key" else ()
    return (*enter, "clear") if facts.clear == "required" else enter


def _replacing(arrivals: Mapping[str, tuple[str, ...]]) -> KeyFault:
    return lambda pressed: arrivals.get(pressed, (pressed,))


def _besides(commands: Sequence[str]) -> Iterator[Cause]:
    """Give the keys of which one press enters a further digit, before or after what it should."""
    for a, b in permutations(DIGITS, 2):
        for both in ((a, b), (b, a)):
            yield Cause(
                (f"key:{a}",),
                "enters-more",
                f"a press of key {a} enters {both[0]} and {both[1]}",
                rig_part=(f"relay:{a}",),
                excluded_by=("map",),
                key=_replacing({a: both}),
            )
    for key in commands:
        for digit in DIGITS:
            yield Cause(
                (f"key:{key}",),
                "enters-more",
                f"a press of the {key} key enters {digit} too",
                rig_part=(f"relay:{key}",),
                excluded_by=("map",),
                key=_replacing({key: (key, digit)}),
            )


def _slow_keys() -> Iterator[Cause]:
    """Give the keys of which a second press right after the first is lost: all, or one."""
    for deaf_to in (1, 2):
        yield Cause(
            ("keys",),
            "repeat-not-taken",
            "a key pressed again right away is not taken: they need longer between two presses",
            rig_part=("device:keys",),
            slow=frozenset(DIGITS),
            deaf_to=deaf_to,
        )
        for key in DIGITS:
            yield Cause(
                (f"key:{key}",),
                "repeat-not-taken",
                f"key {key} pressed again right away is not taken",
                rig_part=(f"relay:{key}",),
                slow=frozenset({key}),
                deaf_to=deaf_to,
            )


def _dead(key: str) -> Cause:
    return Cause(
        (f"key:{key}",),
        "dead",
        f"key {key} or its actuator does nothing: every result that uses it stays dark",
        rig_part=(f"relay:{key}",),
        excluded_by=("key-travel",),
        key=_replacing({key: ()}),
    )
