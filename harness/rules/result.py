"""What is known of a round's dice, their announcement and their entry, and whether they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness.observations import Dice
from harness.rules.constraints import Rule
from harness.rules.timeline import Event


@dataclass(slots=True)
class Result:
    """What is known of the dice and of the entry in this round."""

    rest: tuple[int, ...] | None = None
    unreadable: bool = False
    announced: list[int] = field(default_factory=list)
    total: int | None = None
    digits: list[int] = field(default_factory=list)

    @property
    def truth(self) -> tuple[int, ...] | None:
        """Give the dice as they lie; else as announced."""
        if self.rest is not None:
            return self.rest
        return tuple(self.announced) if len(self.announced) == 3 else None

    def entries(self) -> list[Dice]:
        """Give what the terminal may hold: the first three digits, or the last three."""
        if len(self.digits) < 3:
            return []
        first, last = self.digits[:3], self.digits[-3:]
        return [(first[0], first[1], first[2]), (last[0], last[1], last[2])]


def derived_acts(event: Event, result: Result) -> list[str]:
    """Work out the acts behind an event and keep what it says of the dice and the entry."""
    match event.name:
        case "key":
            value = event.data.get("value")
            if value == "clear":
                result.digits.clear()
                return ["cleared"]
            if not isinstance(value, int):
                return []
            result.digits.append(value)
            return ["digit", "entered"] if len(result.digits) == 3 else ["digit"]
        case "clear":
            result.digits.clear()
            return ["cleared"]
        case "lamps":
            return ["lit"] if event.data.get("lit") or len(result.digits) >= 3 else []
        case "announce":
            return _announce(event, result)
        case "dice-at-rest":
            result.unreadable = "state" in event.data
            values = event.data.get("values")
            result.rest = tuple(values) if isinstance(values, list | tuple) else None
            return ["at-rest"] if result.unreadable else ["at-rest", "flat"]
        case _:
            return []


def _announce(event: Event, result: Result) -> list[str]:
    values = event.data.get("values")
    if len(result.announced) >= 3:
        result.announced, result.total = [], None
    if isinstance(values, list | tuple):
        result.announced += values
    total = event.data.get("total")
    if isinstance(total, int):
        result.total = total
    return ["announced"] if len(result.announced) >= 3 else []


def wrong_announcement(rule: Rule, acts: Sequence[str], result: Result) -> str | None:
    """Say what is wrong with what was called, or None: values, their order, their total."""
    said = result.announced
    if len(said) < 3:
        return None
    if len(said) > 3:
        return f"{len(said)} values announced"
    if result.rest is not None and sorted(said) != sorted(result.rest):
        return f"announced {_dice(said)} on dice {_dice(result.rest)}"
    if "announced" not in acts:
        return None
    if rule.ascending and said != sorted(said):
        return f"announced {_dice(said)}"
    if rule.total and result.total != sum(said):
        return f"total announced as {'nothing' if result.total is None else result.total}"
    return None


def wrong_entry(result: Result) -> str | None:
    """Say what is wrong with what was entered so far, or None."""
    keyed = result.digits
    if len(keyed) > 3:
        return f"{len(keyed)} values entered"
    truth = result.truth
    if truth is not None and Counter(keyed) - Counter(truth):
        return f"entered {_dice(keyed)} on dice {_dice(truth)}"
    return None


def _dice(values: Sequence[int]) -> str:
    return ",".join(str(value) for value in values)


def wrong_lamps(
    result: Result, event: Event, winning: Callable[[Dice], frozenset[str]]
) -> str | None:
    """Say which lamps are wrong, or None.

    Lamps that show the entry are right even where the entry is not the dice's: then the entry is
    the breach. Lamps on an incomplete entry are not judged.
    """
    entries = result.entries()
    given = event.data.get("lit")
    if not entries or not isinstance(given, list | tuple | set | frozenset):
        return None
    lit = frozenset(str(area) for area in given)
    truth = result.truth
    accepted = ([(truth[0], truth[1], truth[2])] if truth else []) + entries
    wanted = [winning(dice) for dice in accepted]
    if lit in wanted:
        return None
    missing, extra = sorted(wanted[0] - lit), sorted(lit - wanted[0])
    return "; ".join(
        f"{word} {', '.join(areas)}"
        for word, areas in (("dark", missing), ("lit without winning", extra))
        if areas
    )
