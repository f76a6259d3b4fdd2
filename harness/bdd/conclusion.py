"""What a book's record on one rig says as a whole: causes, and the verdicts that they change.

A pure function of the record, so that a replay years later draws it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.bdd.case import Case, Premises
from harness.bdd.scenario_run import KeptEntry
from harness.diagnosis.diagnose import Diagnosis, diagnose
from harness.rules.areas import Options
from harness.rules.books import RuleBook
from harness.verdicts import Finding, Verdict


@dataclass(frozen=True, slots=True)
class Concluded:
    """A scenario's verdict and those of its results in the light of all entries.

    `alone`: what it says by itself.
    """

    verdict: Verdict
    what: str
    results: Mapping[str, Verdict]
    alone: Verdict


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Findings, each cause once, and what is concluded of each scenario by its id."""

    findings: tuple[Finding, ...]
    scenarios: Mapping[str, Concluded]


def diagnosis_of(
    case: Case, book: RuleBook, premises: Premises, options: Options | None
) -> Diagnosis:
    """Explain a case's entries, in the light of what was measured."""
    facts = replace(premises.facts, memory_s=case.measured.get("timeout"))
    return diagnose(case.observed, book, facts, options)


def conclude(case: Case, diagnosis: Diagnosis, book: RuleBook, premises: Premises) -> Conclusion:
    """Join everything seen into causes.

    diagnosis: of the case's entries. The scenarios' checks are changed where a cause explains them.
    """
    by_index = {
        kept.entry.index: verdict
        for kept, verdict in zip(case.entries, diagnosis.verdicts, strict=True)
    }
    made = [one for run in case.scenarios for one in run.entries if one.diagnosed]
    kept = [one for one in made if not one.provoked]
    diagnosed = {
        one.entry.index: _joined(one.judgement.verdict, by_index[one.entry.index]) for one in kept
    }
    broken = [finding_of_error(error) for error in case.broken]
    alone = [run.verdict() for run in case.scenarios]
    for run in case.scenarios:
        run.explain_checks(by_index)
    of_checks = [finding for run in case.scenarios for finding in run.findings()]
    if _camera_at_fault([*diagnosis.findings, *of_checks, *broken], premises):
        for run in case.scenarios:
            run.distrust_camera()
    if any(finding.part == ("dice",) for finding in diagnosis.findings):
        for run in case.scenarios:
            run.distrust_laying()
    lines = {one.entry.index: one.line for one in case.entries}
    found = [
        _completed(_measured(finding, case, premises), book, lines)
        for finding in diagnosis.findings
    ]
    found += _of_judgements(kept, by_index)
    found += [finding for run in case.scenarios for finding in run.findings()]
    found += broken
    found += _of_links(case, found)
    found += _of_lag(case)
    return Conclusion(
        _distinct(found),
        {
            run.record.id: Concluded(
                run.verdict(diagnosed), run.what(diagnosed), run.results(diagnosed), before
            )
            for run, before in zip(case.scenarios, alone, strict=True)
        },
    )


def _camera_at_fault(found: Sequence[Finding], premises: Premises) -> bool:
    parts = {part for one in found if one.verdict is Verdict.RIG_FAULT for part in one.part}
    cameras = {f"device:{name}" for name in premises.cameras}
    return any(part in cameras or part.startswith("camera:") for part in parts)


def _measured(finding: Finding, case: Case, premises: Premises) -> Finding:
    """Put what was measured afterwards into the finding that left it open.

    A longer press that is taken shows that the table needs one; no press taken leaves it open, and
    so does a shorter one: then it was not for their length that presses were not taken.
    """
    faults = finding.fault.split(" or ")
    low, high = case.measured.get("press", (0.0, 0.0))
    if "no-entry" in faults and high is not None and high * 1e3 > premises.press_ms:
        limit_ms = premises.press_limit_ms or premises.press_ms
        return replace(
            finding,
            verdict=Verdict.DUT_FAIL,
            part=("keys",),
            fault="needs-longer-press",
            what=f"keys take a press of {high * 1e3:.0f} ms and none of {low * 1e3:.0f} ms; "
            f"pressed for {premises.press_ms:g} ms, to be taken: {limit_ms:g} ms",
            next_test=None,
        )
    low, high = case.measured.get("timeout", (0.0, None))
    if "entry-timeout" in faults and high is not None:
        wanted_ms = premises.entry_timeout_ms
        required = "" if wanted_ms is None else f"; required: {wanted_ms:g} ms"
        return replace(
            finding,
            what=f"a half-made entry is dropped when the next key comes {low * 1e3:.0f} to "
            f"{high * 1e3:.0f} ms later{required}",
        )
    return finding


def _completed(finding: Finding, book: RuleBook, lines: Mapping[int, int]) -> Finding:
    """Name the journal's lines for entries, and the clauses of the areas concerned."""
    clauses = finding.clauses or tuple(
        sorted(
            {
                book.areas[area].clause
                for kind, _, area in (part.partition(":") for part in finding.part)
                if kind == "lamp" and area in book.areas
            }
        )
    )
    evidence = [_line(reference, lines) for reference in finding.evidence]
    return replace(finding, clauses=clauses, evidence=tuple(evidence))


def _line(reference: str, lines: Mapping[int, int]) -> str:
    kind, _, number = reference.partition(":")
    return f"journal:{lines[int(number)]}" if kind == "entry" else reference


def _joined(own: Verdict, diagnosed: Verdict) -> Verdict:
    """Give an entry the verdict of the cause that explains it, else what it says by itself."""
    return own if diagnosed is Verdict.PASS else diagnosed


def _of_judgements(kept: Sequence[KeptEntry], by_index: Mapping[int, Verdict]) -> list[Finding]:
    """Give a finding for what entries say by themselves and no cause explains."""
    alone = [
        one
        for one in kept
        if one.judgement.verdict is not Verdict.PASS and by_index[one.entry.index] is Verdict.PASS
    ]
    grouped: dict[tuple[Verdict, str], list[KeptEntry]] = {}
    for one in alone:
        grouped.setdefault((one.judgement.verdict, _parts_of(one)), []).append(one)
    return [
        Finding(
            verdict,
            tuple(parts.split()),
            "not-as-required",
            ones[0].judgement.what,
            evidence=tuple(f"journal:{one.line}" for one in ones),
            results=tuple(sorted({one.result for one in ones})),
        )
        for (verdict, parts), ones in grouped.items()
    ]


def _parts_of(one: KeptEntry) -> str:
    judgement = one.judgement
    areas = judgement.missing | judgement.extra | judgement.early | judgement.lingering
    areas |= judgement.flicker | judgement.split | judgement.late
    entry = one.entry
    if not areas and judgement.verdict is Verdict.RIG_FAULT and entry.travelled is not None:
        jammed = Counter(entry.keyed) - Counter(entry.travelled)
        if jammed:
            return " ".join(f"relay:{key}" for key in sorted(jammed))
    return " ".join(f"lamp:{area}" for area in sorted(areas)) or "lamps"


def finding_of_error(error: Mapping[str, Any]) -> Finding:
    """Give the finding of an error of our bench, as it stands in the record."""
    return Finding(
        Verdict.RIG_FAULT,
        (str(error.get("part") or error["subject"]),),
        str(error.get("fault") or "rig-fault"),
        f"{error['subject']}: expected {error['expected']}, found {error['found']}; "
        f"{error['remedy']}",
    )


def _of_links(case: Case, found: Sequence[Finding]) -> list[Finding]:
    """Give a finding for each device whose link failed now and then, and that none is about yet.

    A read that was repeated gave its answer, and the result stands on it; but a link that spoils
    replies is a fault of our bench, and the run says so.
    """
    named = {part for finding in found for part in finding.part}
    return [
        Finding(
            Verdict.RIG_FAULT,
            (f"device:{device}",),
            " and ".join(sorted(link.failures)),
            f"{sum(link.failures.values())} of {link.exchanges} exchanges failed, "
            f"{link.repeats} reads were repeated: "
            + ", ".join(f"{count} {fault}" for fault, count in sorted(link.failures.items())),
        )
        for device, link in case.links.items()
        if link.failures and f"device:{device}" not in named
    ]


def lag_told(timed: int, untimed: int) -> str:
    """Say in how many entries the lamps could not be timed."""
    return f"in {untimed} of {timed} entries the looks at the lamps came too late to time them"


def _of_lag(case: Case) -> list[Finding]:
    if not case.untimed or case.untimed * 2 <= case.timed:
        return []
    if any(link.failures for link in case.links.values()):
        return []  # a link that is found at fault explains late looks
    told = f"{lag_told(case.timed, case.untimed)}: the limit is not judged"
    slow = tuple(part for part, count in case.slow.items() if count * 2 > case.untimed)
    if slow:
        return [Finding(Verdict.RIG_FAULT, slow, "slow", told)]
    return [Finding(Verdict.RIG_FAULT, ("host",), "lag", told)]


def _distinct(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Join findings of one cause; the first says what, each adds its evidence and clauses."""
    joined: dict[tuple[Verdict, tuple[str, ...], str], Finding] = {}
    for finding in findings:
        cause = (finding.verdict, finding.part, finding.fault)
        first = joined.get(cause)
        joined[cause] = (
            finding
            if first is None
            else replace(
                first,
                clauses=tuple(dict.fromkeys((*first.clauses, *finding.clauses))),
                depends_on=tuple(dict.fromkeys((*first.depends_on, *finding.depends_on))),
                evidence=tuple(dict.fromkeys((*first.evidence, *finding.evidence))),
                results=tuple(dict.fromkeys((*first.results, *finding.results))),
            )
        )
    return tuple(joined.values())
