"""From all observations of a run to findings: who is answerable, located."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.diagnosis.areamask import AreaMask
from harness.diagnosis.cause import Cause, CauseSet
from harness.diagnosis.collected import Collected, evidence_of, listed, results_of
from harness.diagnosis.facts import RigFacts
from harness.diagnosis.layout import Layout
from harness.diagnosis.next_test import NextTest, next_test, only_wrong_entry
from harness.diagnosis.search import by_results, closest, explain
from harness.diagnosis.set_aside import may_forget, set_aside
from harness.diagnosis.simulate import Prediction
from harness.observations import Dice, Entry
from harness.verdicts import Finding, Measurement, Verdict, overall

_MOST_TOGETHER = 3
_PAIR = 2
_FEW_LAMPS = 6
_ANYTHING = ("keys", "rule:results")
_NO_READING = frozenset({"leaning", "stacked", "missing", "extra", "moving"})


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Causes found, the verdict of each entry (in their order), and the tests that would split.

    `may_forget`: entries stayed dark, and it is not ruled out that the terminal drops half-made
    entries too soon; how soon should be measured.
    """

    findings: tuple[Finding, ...]
    verdicts: tuple[Verdict, ...]
    next_tests: tuple[NextTest, ...] = ()
    may_forget: bool = False


def diagnose(
    entries: Sequence[Entry],
    book: Layout,
    facts: RigFacts,
    options: Mapping[str, bool | str] | None = None,
) -> Diagnosis:
    """Explain a run's entries (in time order, one book, one rig).

    Entries that a terminal measured to forget too soon may have dropped say nothing else of the
    table, nor do those that stayed dark and were made slower than it must remember.
    An entry during which our own link or camera failed is `RIG_FAULT` and takes no part in judging
    the table. Each other entry whose samples differ from what the book demands gets the verdict of
    the cause that explains it.
    """
    collected = Collected()
    _rig_faults(entries, collected)
    _readings(entries, collected)
    _wrong_entries(entries, collected)
    _unsensed(entries, facts, collected)
    _unsteady(entries, collected)
    _dim(entries, facts, collected)

    sound = [i for i in range(len(entries)) if not entries[i].faults and entries[i].lamps]
    aside = set_aside(entries, sound, book, facts, options, collected)
    sound = [i for i in sound if i not in aside]
    areas = AreaMask(sorted(book.areas))
    masks: dict[Dice, int] = {}

    def winning(dice: Dice) -> int:
        if dice not in masks:
            masks[dice] = areas.mask(book.winning_areas(dice, options))
        return masks[dice]

    prediction = Prediction([entries[i] for i in sound], facts, areas, winning)
    tests, at_keys = _equipment(prediction, sound, collected, facts)
    if not at_keys:  # else an entry came late, and the lamps with it
        _late(entries, facts, collected)
    verdicts = tuple(
        overall(collected.verdicts[i]) if i in collected.verdicts else Verdict.PASS
        for i in range(len(entries))
    )
    forgets = facts.memory_s is None and may_forget(entries, sound, collected.findings)
    return Diagnosis(tuple(collected.findings), verdicts, tests, forgets)


def _rig_faults(entries: Sequence[Entry], collected: Collected) -> None:
    by_cause: dict[tuple[str, str], list[int]] = {}
    first: dict[tuple[str, str], Mapping[str, object]] = {}
    for i, entry in enumerate(entries):
        for fault in entry.faults:
            key = (str(fault["subject"]), str(fault["error"]))
            by_cause.setdefault(key, []).append(i)
            first.setdefault(key, fault)
    for (subject, error), numbers in by_cause.items():
        fault = first[subject, error]
        collected.add(
            Finding(
                Verdict.RIG_FAULT,
                (subject if ":" in subject else f"device:{subject}",),
                str(fault.get("fault") or error),
                f"expected {fault['expected']}, found {fault['found']}; {fault['remedy']}",
                evidence=evidence_of(entries, numbers),
            ),
            numbers,
        )


def _readings(entries: Sequence[Entry], collected: Collected) -> None:
    unread: dict[str, list[int]] = {}
    misread: list[int] = []
    for i, entry in enumerate(entries):
        if entry.seen is None:
            continue
        if entry.seen.reason is not None:
            unread.setdefault(entry.seen.reason, []).append(i)
        elif entry.shown is not None and tuple(sorted(entry.shown)) != entry.seen.values:
            misread.append(i)
    astray = not _NO_READING.isdisjoint(unread)  # dice do not lie as they should anyhow
    for reason, numbers in unread.items():
        # of dice that lean, pictures may disagree: that is no failing of the camera
        dice = reason in _NO_READING or (astray and reason == "disagreement")
        collected.add(
            Finding(
                Verdict.NO_RESULT if dice else Verdict.RIG_FAULT,
                ("dice",) if dice else ("camera:dice",),
                reason,
                f"the dice were not read: {reason}",
                evidence=evidence_of(entries, numbers),
            ),
            numbers,
        )
    if misread:
        entry = entries[misread[0]]
        read = listed(entry.seen.values if entry.seen else ())
        collected.add(
            Finding(
                Verdict.AMBIGUOUS if astray else Verdict.RIG_FAULT,
                ("camera:dice", "dice") if astray else ("camera:dice",),
                "misread",
                f"dice set to {listed(entry.shown or ())} were read as {read}",
                evidence=evidence_of(entries, misread),
            ),
            misread,
        )


def _wrong_entries(entries: Sequence[Entry], collected: Collected) -> None:
    """Find keys that were driven for other values than the camera read: the entry was wrong."""
    for i, entry in enumerate(entries):
        if entry.seen is None or entry.mode == "entered" or not entry.seen.values:
            continue
        keyed = tuple(sorted(int(k) for k in entry.keyed if k.isdigit()))
        if len(keyed) == 3 and keyed != entry.seen.values:
            shown = listed(entry.seen.values)
            collected.add(
                Finding(
                    Verdict.PROCEDURE_FAIL,
                    ("dealer",),
                    "wrong-entry",
                    f"{listed(keyed)} was entered while the dice showed {shown}",
                    evidence=evidence_of(entries, [i]),
                    results=(shown,),
                ),
                [i],
            )


def _unsensed(entries: Sequence[Entry], facts: RigFacts, collected: Collected) -> None:
    unknown: dict[str, set[int]] = {}
    for i, entry in enumerate(entries):
        for staged in entry.lamps:
            for area in staged.sample.unknown:
                unknown.setdefault(area, set()).add(i)
    by_device: dict[str, set[str]] = {}
    for area in unknown:
        by_device.setdefault(facts.lamp_channels.get(area, "inputs").partition(":")[0], set()).add(
            area
        )
    for device, areas in by_device.items():
        numbers = sorted(set().union(*(unknown[a] for a in areas)))
        collected.add(
            Finding(
                Verdict.RIG_FAULT,
                (f"device:{device}",),
                "not-sensed",
                f"{', '.join(sorted(areas))} could not be sensed: unknown, not dark",
                evidence=evidence_of(entries, numbers),
            ),
            numbers,
        )


def _unsteady(entries: Sequence[Entry], collected: Collected) -> None:
    """Find lamps that do not stay as they are: in entries where all lit ones do not, one cause."""
    for fault, said in (
        ("flicker", "{} does not stay as it is: it flickers, or changes while no key is pressed"),
        ("split", "{} has lamps that disagree"),
    ):
        by_part: dict[str, set[int]] = {}
        for i, entry in enumerate(entries):
            samples = [staged.sample for staged in entry.lamps if staged.stage == "lit"]
            lit = frozenset[str]().union(*(sample.lit for sample in samples))
            found = frozenset[str]().union(*(getattr(s.sample, fault) for s in entry.lamps))
            at_once = fault == "flicker" and len(found) > 1 and found >= lit
            for part in ("lamps",) if at_once else (f"lamp:{area}" for area in found):
                by_part.setdefault(part, set()).add(i)
        for part, numbers in sorted(by_part.items()):
            what = "whatever is lit" if part == "lamps" else part.removeprefix("lamp:")
            collected.add(
                Finding(
                    Verdict.DUT_FAIL,
                    (part,),
                    fault,
                    said.format(what),
                    evidence=evidence_of(entries, sorted(numbers)),
                ),
                numbers,
            )


def _late(entries: Sequence[Entry], facts: RigFacts, collected: Collected) -> None:
    """Find lamps that lit late: in entries where all of them did, that is one cause."""
    lit = [entry.lit("lit") for entry in entries]
    at_once = [
        i for i, entry in enumerate(entries) if entry.late and entry.late >= (lit[i] or set())
    ]
    by_area: dict[str, list[int]] = {}
    for i, entry in enumerate(entries):
        for area in entry.late if i not in at_once else ():
            by_area.setdefault(area, []).append(i)
    together: dict[tuple[int, ...], list[str]] = {}
    for area, numbers in sorted(by_area.items()):
        together.setdefault(tuple(numbers), []).append(area)
    found = [(areas, tuple(f"lamp:{a}" for a in areas), nos) for nos, areas in together.items()]
    if at_once:
        every = sorted(frozenset[str]().union(*(entries[i].late for i in at_once)))
        found.insert(0, (every, ("lamps",), tuple(at_once)))
    limit = "" if facts.settle_s is None else f", limit {facts.settle_s * 1e3:.0f} ms"
    for areas, part, concerned in found:
        longest = max(entries[i].settle_s or 0.0 for i in concerned)
        collected.add(
            Finding(
                Verdict.DUT_FAIL,
                part,
                "late",
                f"{', '.join(areas)} not settled {longest * 1e3:.0f} ms after the last key{limit}",
                evidence=evidence_of(entries, concerned),
                results=results_of(entries, concerned),
            ),
            concerned,
        )


def _dim(entries: Sequence[Entry], facts: RigFacts, collected: Collected) -> None:
    """Judge the measured levels of lamps that some path sensed lit."""
    if facts.lamp_level_min is None:
        return
    darkest = facts.dark_level_max or 0.0
    # A lamp that flickers has no level of its own.
    unsteady = {a for entry in entries for staged in entry.lamps for a in staged.sample.flicker}
    measured: dict[str, list[tuple[float, int]]] = {}
    for i, entry in enumerate(entries):
        at_lit = [staged.sample for staged in entry.lamps if staged.stage == "lit"]
        lit = frozenset[str]().union(*(sample.lit for sample in at_lit))
        for sample in at_lit:
            for area, level in (sample.levels or {}).items():
                if area in lit - unsteady and level > darkest:
                    measured.setdefault(area, []).append((level, i))
    for area, found in sorted(measured.items()):
        least = min(found)[0]
        measurement = Measurement(
            f"level of {area}",
            "of a good lamp",
            low=facts.lamp_level_min,
            value=least,
            uncertainty=facts.level_uncertainty,
        )
        if measurement.verdict is Verdict.PASS:
            continue
        good = facts.lamp_level_min + facts.level_uncertainty
        numbers = sorted({i for level, i in found if level < good})
        marginal = "marginal: " if measurement.verdict is Verdict.AMBIGUOUS else ""
        collected.add(
            Finding(
                measurement.verdict,
                (f"lamp:{area}",),
                "dim",
                f"{marginal}{area} gives {least:.2f} of a good lamp, at least "
                f"{facts.lamp_level_min:g} required (+/- {facts.level_uncertainty:g})",
                evidence=evidence_of(entries, numbers),
            ),
            numbers,
        )


def _equipment(
    prediction: Prediction, numbers: Sequence[int], collected: Collected, facts: RigFacts
) -> tuple[tuple[NextTest, ...], bool]:
    """Explain what the lamps showed; tells too whether a fault at the keys is part of it."""
    wrong = prediction.mismatches(())
    if not wrong:
        return (), False
    samples = prediction.samples
    candidates = explain(prediction)
    witnesses = _witnesses(prediction)
    concerned = sorted({samples[n].entry for n in wrong})
    if not candidates:
        finding = _unexplained(prediction, facts, wrong, concerned, witnesses)
        collected.add(finding, [numbers[i] for i in concerned])
        return (), False
    test = next_test(prediction, candidates)
    if len(candidates) > 1 or len(candidates[0]) == 1:
        finding = _joined(prediction, candidates, facts, concerned, test, witnesses)
        convicts = finding.verdict in (Verdict.DUT_FAIL, Verdict.PROCEDURE_FAIL)
        if convicts and only_wrong_entry(prediction, candidates):
            told = f"{finding.what}; in one entry only, which may be one press that failed"
            finding = replace(finding, verdict=Verdict.AMBIGUOUS, what=told)
        collected.add(finding, [numbers[i] for i in concerned])
    elif not _sure(prediction, candidates[0]):
        candidates += [*by_results(prediction), *((cause,) for cause in closest(prediction))]
        finding = _joined(prediction, candidates, facts, concerned, test, witnesses)
        told = f"not explained by one cause; perhaps: {finding.what}"
        finding = replace(finding, verdict=Verdict.AMBIGUOUS, what=told)
        collected.add(finding, [numbers[i] for i in concerned])
    else:
        _separately(prediction, candidates[0], numbers, collected, facts, witnesses)
    at_keys = any(cause.at_keys for causes in candidates for cause in causes)
    return (() if test is None else (test,)), at_keys


def _sure(prediction: Prediction, causes: CauseSet) -> bool:
    """Tell whether several causes at once are each borne out, so that each may be blamed.

    They are few, none is a catch-all, and each makes a difference to more than one result; what
    shows on one result alone may be due to something else that is wrong besides.
    """
    return len(causes) <= _MOST_TOGETHER and all(
        not (cause.wild or cause.ignored or cause.rows)
        and len(prediction.borne_out(cause, causes)) > 1
        for cause in causes
    )


def _separately(
    prediction: Prediction,
    causes: CauseSet,
    numbers: Sequence[int],
    collected: Collected,
    facts: RigFacts,
    witnesses: _Witnesses,
) -> None:
    """Give each of several causes the entries that would differ through it alone."""
    samples = prediction.samples
    healthy = prediction.trace(())
    for cause in causes:
        states = prediction.trace((cause,))
        touched = sorted(
            {
                s.entry
                for s in samples
                if prediction.lit(states[s.entry, s.stage], (cause,), s.path)
                != prediction.lit(healthy[s.entry, s.stage], (), s.path)
            }
        )
        finding = _joined(prediction, [(cause,)], facts, touched, None, witnesses)
        collected.add(finding, [numbers[i] for i in touched])


@dataclass(frozen=True, slots=True)
class _Witnesses:
    """What bears witness beside the lamps over one path.

    `paths`: for each area the paths that ever sensed it. `moved` and `unmoved`: keys that were
    sensed going down when driven, and that never were.
    """

    paths: Mapping[str, frozenset[str]]
    moved: frozenset[str]
    unmoved: frozenset[str]

    def seen_twice(self, cause: Cause) -> bool:
        """Tell whether every lamp that a cause is about was sensed over more than one path."""
        named = {
            part.partition(":")[2]
            for part in (*cause.part, *cause.rig_part)
            if part.startswith(("lamp:", "input:"))
        }
        areas = named or self.paths.keys()
        return bool(areas) and all(len(self.paths.get(area, ())) > 1 for area in areas)


def _witnesses(prediction: Prediction) -> _Witnesses:
    by_area: dict[str, set[str]] = {}
    for path in {seen.path for seen in prediction.samples}:
        known = 0
        for seen in prediction.samples:
            if seen.path == path:
                known |= seen.known
        for area in prediction.areas.names(known):
            by_area.setdefault(area, set()).add(path)
    entries = prediction.entries
    driven = {key for entry in entries if entry.travelled is not None for key in entry.keyed}
    moved = frozenset(key for entry in entries for key in entry.travelled or ())
    paths = {area: frozenset(found) for area, found in by_area.items()}
    return _Witnesses(paths, moved, frozenset(driven - moved))


def _judged(
    cause: Cause, facts: RigFacts, witnesses: _Witnesses
) -> tuple[Verdict, tuple[str, ...]]:
    """Give a cause's verdict and parts once what our side could have done is weighed."""
    travelled = False
    if cause.rig_part and "key-travel" in cause.excluded_by:
        keys = {part.removeprefix("key:") for part in cause.part}
        if keys <= witnesses.unmoved:
            return Verdict.RIG_FAULT, cause.rig_part
        travelled = keys <= witnesses.moved
    excluded = {
        "map": facts.map_verified,
        "paths": "paths" in cause.excluded_by and witnesses.seen_twice(cause),
        "key-travel": travelled,
    }
    if not cause.rig_part or any(excluded[by] for by in cause.excluded_by):
        return cause.verdict, cause.part
    return Verdict.AMBIGUOUS, cause.part + cause.rig_part


def _joined(
    prediction: Prediction,
    candidates: Sequence[CauseSet],
    facts: RigFacts,
    concerned: Sequence[int],
    test: NextTest | None,
    witnesses: _Witnesses,
) -> Finding:
    judged = [_judged(cause, facts, witnesses) for causes in candidates for cause in causes]
    verdicts = {verdict for verdict, _ in judged}
    parts = tuple(dict.fromkeys(part for _, found in judged for part in found))
    flat = [cause for causes in candidates for cause in causes]
    located = len(candidates) == 1 or _one_place([_subjects(cause) for cause in flat])
    return Finding(
        verdicts.pop() if len(verdicts) == 1 and located else Verdict.AMBIGUOUS,
        parts,
        " or ".join(dict.fromkeys(cause.fault for cause in flat)),
        "; or ".join(dict.fromkeys(cause.what for cause in flat)),
        depends_on=tuple(dict.fromkeys(d for cause in flat for d in cause.depends_on)),
        evidence=evidence_of(prediction.entries, concerned),
        results=results_of(prediction.entries, concerned),
        next_test=str(test) if test else _look(judged),
    )


def _subjects(cause: Cause) -> frozenset[str]:
    """Give what a cause is about, whichever side of it is at fault: areas, keys."""
    return frozenset(part.partition(":")[2] or part for part in cause.part)


def _one_place(subjects: Sequence[frozenset[str]]) -> bool:
    """Tell whether candidates are about the same, or some about a thing and others about it and
    one more: two areas of which one wins whenever the other does cannot be told apart."""
    everything = frozenset[str]().union(*subjects)
    return len(set(subjects)) == 1 or (
        len(everything) <= _PAIR and bool(frozenset.intersection(*subjects))
    )


def _look(judged: Sequence[tuple[Verdict, tuple[str, ...]]]) -> str | None:
    if all(verdict is not Verdict.AMBIGUOUS for verdict, _ in judged):
        return None
    first = judged[0][1][0]
    return {
        "lamp": "look at the lamp by eye or with a layout camera while it should be lit",
        "key": "press the key by hand and look whether the terminal takes it",
    }.get(first.partition(":")[0], "exchange our part for a known good one and repeat")


def _unexplained(
    prediction: Prediction,
    facts: RigFacts,
    wrong: Sequence[int],
    concerned: Sequence[int],
    witnesses: _Witnesses,
) -> Finding:
    states = prediction.trace(())
    mask = 0
    for n in wrong:
        seen = prediction.samples[n]
        expected = prediction.lit(states[seen.entry, seen.stage], (), seen.path)
        mask |= (expected ^ seen.lit) & seen.known
    names = prediction.areas.names(mask)
    near = closest(prediction)
    parts = [part for cause in near for part in _judged(cause, facts, witnesses)[1]]
    lamps = [f"lamp:{a}" for a in names]
    lamps += ["inputs"] if len(facts.sense_paths) == 1 else []
    lamps += _ANYTHING if len(names) > _FEW_LAMPS else ()
    said = f"; nearest comes: {' or '.join(cause.what for cause in near)}" if near else ""
    return Finding(
        Verdict.AMBIGUOUS,
        tuple(dict.fromkeys([*parts, *lamps])),
        "unexplained",
        f"{', '.join(names)} differ from the rule in a way that no known fault explains{said}",
        evidence=evidence_of(prediction.entries, concerned),
        results=results_of(prediction.entries, concerned),
        next_test="repeat the results named, one at a time",
    )
