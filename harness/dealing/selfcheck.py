"""What a bench must show before it may judge: fresh pictures fit to read, and a mismatch caught."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.observations import Dice, Entry
from harness.rules.judgement import Limits, WinningAreas, judge_entry
from harness.verdicts import Verdict

if TYPE_CHECKING:
    from harness.dealing.look import Look
    from harness.rules.areas import Options

CONTROL_DICE: Dice = (2, 3, 5)
CONTROL_KEYED: Dice = (2, 3, 6)
"""The deliberate mismatch: these are entered while those lie there."""

OTHER_DICE: Dice = (1, 4, 6)
"""Laid first, so that a camera whose picture stands still is found out."""

SPOILT = ("blurred", "dark", "overexposed", "not-an-image")
"""Refusals that are about the picture, whatever lies in it."""


@dataclass(frozen=True, slots=True)
class Proof:
    """One point of the self-check: did it hold, and what was seen."""

    part: str
    what: str
    held: bool
    fault: str = ""


def picture_proof(look: Look, laid: Dice | None) -> Proof:
    """Tell whether the dice cameras' pictures are fresh, fit to read and of the dice laid.

    laid: how the dice were laid, if they were. That dice have no reading, or could not be told
    apart, is not the camera's failing.
    """
    reason = look.seen.reason
    if reason is None and laid is not None and look.seen.values != tuple(sorted(laid)):
        read = ",".join(map(str, look.seen.values))
        told = f"dice laid at {','.join(map(str, laid))} are seen as {read}"
        return Proof("camera:dice", told, held=False, fault="misread")
    numbers = {frame.number for frame in look.frames}
    if reason in SPOILT:
        return Proof("camera:dice", f"the picture is {reason}", held=False, fault=str(reason))
    if len(numbers) < 2:
        return Proof("camera:dice", "no new picture came", held=False, fault="frozen")
    return Proof("camera:dice", f"{len(look.frames)} fresh pictures fit to read", held=True)


def aim_proof(misaimed: tuple[str, str] | None) -> Proof:
    """Tell whether the dice cameras show the whole place where dice were laid.

    misaimed: the camera that does not, and what shows it.
    """
    if misaimed is None:
        return Proof("camera:dice", "no die is cut off by the border of the picture", held=True)
    camera, seen = misaimed
    return Proof(f"camera:{camera}", seen, held=False, fault="moved")


def control_proof(entry: Entry, book: WinningAreas, options: Options, limits: Limits) -> Proof:
    """Tell whether a deliberate mismatch was caught, by the dice and by the lamps.

    entry: `CONTROL_KEYED` entered while `CONTROL_DICE` lie there. Judged as it was, the keys are
    not the dice. The lamps cannot be right both for the dice and for the keys: against one of them
    they are found missing or in excess (against the keys where the table exchanged these, which is
    the table's failing and no reason not to judge it). Dice that had no reading leave it to the
    lamps, and that is said.
    """
    if entry.faults:
        fault = entry.faults[0]
        return Proof(
            str(fault.get("part") or fault["subject"]),
            f"the negative control broke off: {fault['found']}",
            held=False,
            fault=str(fault.get("fault") or "rig-fault"),
        )
    as_it_was = judge_entry(replace(entry, shown=CONTROL_DICE), book, options, limits)
    lamps_alone = replace(entry, mode="entered", seen=None, shown=None, travelled=None, echoed=None)
    by_lamps = [
        judge_entry(replace(lamps_alone, keyed=tuple(map(str, claimed))), book, options, limits)
        for claimed in (CONTROL_DICE, CONTROL_KEYED)
    ]
    caught = as_it_was.verdict is not Verdict.PASS and any(
        judged.verdict is not Verdict.PASS and judged.missing | judged.extra for judged in by_lamps
    )
    if not caught:
        told = "a deliberate mismatch was not caught"
    elif entry.seen is not None and entry.seen.reason is not None:
        told = f"a deliberate mismatch was caught by the lamps alone: {as_it_was.what}"
    else:
        told = f"a deliberate mismatch was caught: {as_it_was.what}"
    return Proof(
        "harness",
        told,
        held=caught,
        fault="" if caught else "negative-control-missed",
    )
