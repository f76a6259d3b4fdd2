"""What one entry alone says: the lamps that were seen against the areas that must win.

Pure: the same recorded observations give the same judgement, today in the run and years later in a
replay. Diagnosis, which sees the whole run, may place the blame more exactly afterwards; what it
may not do is see more here than was observed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from harness.observations import Dice, Entry, StagedSample
from harness.rules.areas import Options
from harness.verdicts import Verdict

NO_READING = frozenset({"leaning", "stacked", "missing", "extra", "moving"})
"""Refusals that are about how the dice lie, or that they do not; others are about the picture."""


class WinningAreas(Protocol):
    """What a judgement needs of a rule book."""

    def winning_areas(self, dice: Dice, options: Options | None = None) -> frozenset[str]:
        """Give the areas that win on these dice under these readings."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What an entry is judged against beside the lamps.

    `settle_s` is the longest time from the committing key to steady lamps (None: not limited).
    `map_verified`: which relay and input belong to which key and lamp was proved; without that a
    wrong lamp may be a wrong wire of ours. `early_stages` are the stages at which no lamp may be
    lit yet; `clear_required`: the lamps must be dark after the clear key.
    """

    settle_s: float | None = None
    map_verified: bool = False
    clear_required: bool = True
    early_stages: tuple[str, ...] = ("before", "after-1", "after-2", "after-3")

    def to_json(self) -> dict[str, object]:
        """Give the limits as a record holds them."""
        return {
            "settle_s": self.settle_s,
            "map_verified": self.map_verified,
            "clear_required": self.clear_required,
            "early_stages": list(self.early_stages),
        }


def read_limits(body: Mapping[str, object]) -> Limits:
    """Read limits back from a record; what is absent has its default."""
    settle, early = body.get("settle_s"), body.get("early_stages")
    return Limits(
        settle_s=float(settle) if isinstance(settle, int | float) else None,
        map_verified=body.get("map_verified") is True,
        clear_required=body.get("clear_required") is not False,
        early_stages=tuple(str(stage) for stage in early)
        if isinstance(early, list | tuple)
        else Limits().early_stages,
    )


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of one entry and what it rests on; area ids.

    `expected` must be lit for the dice `judged`; `missing` were dark, `extra` lit. `unknown` could
    not be sensed, `disputed` were sensed lit over one path and dark over another, `split` have
    lamps that disagree, `flicker` were not steady. `early` were lit before the entry was complete,
    `lingering` after the clear key; `late` came right only after the limit.
    """

    verdict: Verdict
    what: str
    judged: Dice | None = None
    expected: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    extra: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()
    disputed: frozenset[str] = frozenset()
    split: frozenset[str] = frozenset()
    flicker: frozenset[str] = frozenset()
    early: frozenset[str] = frozenset()
    lingering: frozenset[str] = frozenset()
    late: frozenset[str] = frozenset()

    def to_json(self) -> dict[str, object]:
        """Give the judgement as a record holds it."""
        return {
            "verdict": self.verdict.value,
            "what": self.what,
            "judged": None if self.judged is None else list(self.judged),
            "expected": sorted(self.expected),
            "missing": sorted(self.missing),
            "extra": sorted(self.extra),
            "unknown": sorted(self.unknown),
            "disputed": sorted(self.disputed),
            "split": sorted(self.split),
            "flicker": sorted(self.flicker),
            "early": sorted(self.early),
            "lingering": sorted(self.lingering),
            "late": sorted(self.late),
        }


def judge_entry(
    entry: Entry,
    book: WinningAreas,
    options: Options | None = None,
    limits: Limits | None = None,
) -> Judgement:
    """Judge one entry by itself.

    In this order, because an earlier point takes the ground from a later one: errors of our side;
    dice without a reading; dice that are not those presented; keys that are not the dice (a
    person's slip: the table is not blamed, but its lamps are compared with what was keyed); lamps
    that could not be sensed or on which two sense paths disagree; lamps missing, extra, early,
    lingering, unsteady or late.
    """
    limits = limits or Limits()
    if entry.faults:
        return Judgement(Verdict.RIG_FAULT, _first_fault(entry.faults))
    blocked = _dice_blocked(entry)
    if blocked:
        return blocked
    if entry.travelled is not None and (jammed := _less(entry.keyed, entry.travelled)):
        return Judgement(
            Verdict.RIG_FAULT, f"keys {_spoken(jammed)} were driven and did not go down"
        )
    if entry.echoed is not None and sorted(entry.echoed) != sorted(entry.keyed):
        return Judgement(
            Verdict.DUT_FAIL if limits.map_verified else Verdict.AMBIGUOUS,
            f"keys {_spoken(entry.keyed)} were pressed, the terminal shows {_spoken(entry.echoed)}",
        )
    keyed = _keyed_dice(entry)
    if keyed is None:
        return Judgement(
            Verdict.RIG_FAULT, f"{_spoken(entry.keyed)} were driven: not one key for each die"
        )
    compared = _compare(entry, keyed, book.winning_areas(keyed, options), limits)
    true_dice = entry.seen.values if entry.seen is not None else entry.shown
    if true_dice is not None and sorted(true_dice) != sorted(keyed):
        slip = f"the dice are {_spoken(true_dice)}, entered were {_spoken(keyed)}"
        return _with(compared, Verdict.PROCEDURE_FAIL, slip)
    return compared


def _first_fault(faults: Collection[Mapping[str, object]]) -> str:
    fault = next(iter(faults))
    text = f"{fault.get('subject', 'the rig')}: expected {fault.get('expected')}, "
    text += f"found {fault.get('found')}"
    return text if len(faults) == 1 else f"{text} (and {len(faults) - 1} more)"


def _dice_blocked(entry: Entry) -> Judgement | None:
    seen = entry.seen
    if seen is None:
        if entry.mode == "entered":
            return None
        return Judgement(Verdict.RIG_FAULT, f"dice were {entry.mode} and no camera read them")
    if seen.reason is not None:
        if seen.reason in NO_READING:
            return Judgement(Verdict.NO_RESULT, f"the dice have no reading: {seen.reason}")
        return Judgement(Verdict.RIG_FAULT, f"the picture cannot be read: {seen.reason}")
    if entry.shown is not None and sorted(seen.values) != sorted(entry.shown):
        return Judgement(
            Verdict.AMBIGUOUS,
            f"{_spoken(entry.shown)} were presented, the camera read {_spoken(seen.values)}: "
            "a wrong die, the presenter or the camera",
        )
    return None


def _less(driven: Collection[str], travelled: Collection[str]) -> list[str]:
    """Give the presses that were driven and not sensed, each as often as it is missing."""
    return sorted((Counter(driven) - Counter(travelled)).elements())


def _keyed_dice(entry: Entry) -> Dice | None:
    if len(entry.keyed) != 3 or not all(
        key in {"1", "2", "3", "4", "5", "6"} for key in entry.keyed
    ):
        return None
    first, second, third = (int(key) for key in entry.keyed)
    return (first, second, third)


def _compare(entry: Entry, dice: Dice, expected: frozenset[str], limits: Limits) -> Judgement:
    at_lit = _last_of_each_path(entry.lamps, "lit")
    if not at_lit:
        return Judgement(Verdict.RIG_FAULT, "no lamps were sensed", dice, expected)
    samples = [staged.sample for staged in at_lit]
    sensed_by_none = frozenset.intersection(*(sample.unknown for sample in samples))
    lit = frozenset[str]().union(*(sample.lit for sample in samples))
    dark_somewhere = frozenset(
        area for area in lit for sample in samples if area not in sample.lit | sample.unknown
    )
    split = frozenset[str]().union(*(sample.split for sample in samples))
    disputed = (lit & dark_somewhere) - split
    flicker = frozenset[str]().union(*(sample.flicker for sample in samples))
    early = _lit_at(entry.lamps, _early_stages(limits))
    lingering = _lit_at(entry.lamps, ("cleared",)) if _must_clear(entry, limits) else frozenset()
    missing = expected - lit - sensed_by_none - split
    extra = lit - expected - disputed - split
    verdict, what = _weigh(
        missing=missing,
        extra=extra,
        unknown=sensed_by_none,
        disputed=disputed,
        split=split,
        flicker=flicker,
        early=early,
        lingering=lingering,
        dark_twice=any(
            sum(area not in sample.unknown for sample in samples) > 1 for area in missing
        ),
        late=_late(entry, limits),
        unsensed_clear=_must_clear(entry, limits)
        and not _last_of_each_path(entry.lamps, "cleared"),
        verified=limits.map_verified,
    )
    return Judgement(
        verdict,
        what,
        dice,
        expected,
        missing,
        extra,
        sensed_by_none,
        disputed,
        split,
        flicker,
        early,
        lingering,
        entry.late,
    )


def _weigh(
    *,
    missing: frozenset[str],
    extra: frozenset[str],
    unknown: frozenset[str],
    disputed: frozenset[str],
    split: frozenset[str],
    flicker: frozenset[str],
    early: frozenset[str],
    lingering: frozenset[str],
    dark_twice: bool,
    late: str | None,
    unsensed_clear: bool,
    verified: bool,
) -> tuple[Verdict, str]:
    told = [
        f"{word} {', '.join(sorted(areas))}"
        for word, areas in (
            ("dark that must be lit:", missing),
            ("lit that must be dark:", extra),
            ("lamps of one area disagree:", split),
            ("unsteady:", flicker),
            ("lit before the entry was complete:", early),
            ("lit after clear:", lingering),
            ("not sensed:", unknown),
            ("two sense paths disagree on:", disputed),
        )
        if areas
    ]
    if late:
        told.append(late)
    if unsensed_clear:
        told.append("the lamps were not sensed after clear")
    what = "; ".join(told)
    # A lamp sensed lit was driven; one sensed dark over a single path may be our own input.
    if flicker or late:  # whichever lamp the input belongs to, it is unsteady or late
        return Verdict.DUT_FAIL, what
    if extra or split or early or lingering or dark_twice:
        return (Verdict.DUT_FAIL if verified else Verdict.AMBIGUOUS), what
    if unknown or unsensed_clear:
        return Verdict.RIG_FAULT, what
    if missing or disputed:
        return Verdict.AMBIGUOUS, what
    return Verdict.PASS, "lit exactly the winning areas"


def _late(entry: Entry, limits: Limits) -> str | None:
    if entry.late:
        return f"right only after the limit: {', '.join(sorted(entry.late))}"
    if limits.settle_s is None or entry.settle_s is None or entry.settle_s <= limits.settle_s:
        return None
    return (
        f"lamps settled after {entry.settle_s * 1e3:.0f} ms, limit {limits.settle_s * 1e3:.0f} ms"
    )


def _must_clear(entry: Entry, limits: Limits) -> bool:
    return limits.clear_required and entry.cleared_by_key


def _early_stages(limits: Limits) -> tuple[str, ...]:
    """Without a clear the last result may stay lit until the first key of the next."""
    if limits.clear_required:
        return limits.early_stages
    return tuple(stage for stage in limits.early_stages if stage != "before")


def _last_of_each_path(lamps: Collection[StagedSample], stage: str) -> list[StagedSample]:
    last = {staged.sample.path: staged for staged in lamps if staged.stage == stage}
    return list(last.values())


def _lit_at(lamps: Collection[StagedSample], stages: Collection[str]) -> frozenset[str]:
    return frozenset[str]().union(
        *(staged.sample.lit for stage in stages for staged in _last_of_each_path(lamps, stage))
    )


def _with(compared: Judgement, verdict: Verdict, what: str) -> Judgement:
    lamps = "" if compared.verdict is Verdict.PASS else f"; lamps: {compared.what}"
    return Judgement(
        verdict,
        what + lamps,
        compared.judged,
        compared.expected,
        compared.missing,
        compared.extra,
        compared.unknown,
        compared.disputed,
        compared.split,
        compared.flicker,
        compared.early,
        compared.lingering,
        compared.late,
    )


def _spoken(values: Collection[object]) -> str:
    return ",".join(str(value) for value in values) or "nothing"
