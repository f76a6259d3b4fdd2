"""The end of a book: what its entries together say, and which verdicts that changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.bdd.benches import facts_of
from harness.bdd.scenario_run import KeptEntry, ScenarioRun
from harness.diagnosis.diagnose import Diagnosis, diagnose
from harness.observations import Entry
from harness.verdicts import Finding, HarnessError, Verdict

if TYPE_CHECKING:
    from harness.bdd.sitting import Sitting
    from harness.evidence.record import RunRecord
    from harness.rig.device import LinkRecord
    from harness.rig.rigfile import Rig
    from harness.rules.books import RuleBook

MOST_FURTHER_TESTS = 3


class Closing:
    """Diagnoses one book on one rig and records findings and changed verdicts."""

    def __init__(self, book: RuleBook, rig: Rig, rig_name: str, record: RunRecord) -> None:
        self._book = book
        self._rig = rig
        self._rig_name = rig_name
        self._record = record

    def explain(
        self,
        scenarios: Sequence[ScenarioRun],
        earlier: Sequence[Entry],
        sitting: Sitting | None,
        broken: HarnessError | None,
    ) -> None:
        """Join everything seen into causes.

        scenarios: those of this worker. earlier: entries that the record held before a break.
        """
        made = [one for run in scenarios for one in run.entries if one.diagnosed]
        kept = [one for one in made if not one.provoked]
        control = sitting.control_entry if sitting is not None else None
        entries = [*earlier, *([control] if control else []), *(one.entry for one in made)]
        diagnosis = self._diagnose(entries)
        if sitting is not None and broken is None:
            diagnosis = self._try_further(diagnosis, entries, sitting)
        by_index = {
            entry.index: verdict
            for entry, verdict in zip(entries, diagnosis.verdicts, strict=False)
        }
        diagnosed = {
            one.entry.index: _joined(one.judgement.verdict, by_index[one.entry.index])
            for one in kept
        }
        before = [run.verdict() for run in scenarios]
        for run in scenarios:
            run.explain_checks(by_index)
        if self._camera_at_fault(scenarios, diagnosis, broken):
            for run in scenarios:
                run.distrust_camera()
        self._rejudge(scenarios, before, diagnosed)
        lines = {one.entry.index: one.line for one in made}
        told = diagnosis.findings
        if sitting is not None and broken is None:
            told = tuple(self._measured(finding, sitting) for finding in told)
        found = [self._completed(finding, lines) for finding in told]
        found += _of_judgements(kept, by_index)
        found += [finding for run in scenarios for finding in run.findings()]
        if broken is not None:
            found.append(_of_error(broken))
        if sitting is not None:
            found += _of_links(sitting.bench.links, found)
            found += self._of_lag(sitting)
        for finding in _distinct(found):
            self._record.finding(finding, book=self._book.id, rig=self._rig_name)

    def _diagnose(self, entries: Sequence[Entry]) -> Diagnosis:
        return diagnose(entries, self._book, facts_of(self._rig), self._book.in_force())

    def _try_further(
        self, diagnosis: Diagnosis, entries: Sequence[Entry], sitting: Sitting
    ) -> Diagnosis:
        """Make the tests that split candidate sets, where this bench can."""
        further: list[Entry] = []
        for _ in range(MOST_FURTHER_TESTS):
            if not diagnosis.next_tests:
                break
            test = diagnosis.next_tests[0]
            try:
                further.append(sitting.enter_further(test.keyed, test.shown))
            except HarnessError as error:
                self._record.error(error, rig=self._rig_name)
                break
            diagnosis = self._diagnose([*entries, *further])
        return diagnosis

    def _measured(self, finding: Finding, sitting: Sitting) -> Finding:
        """Measure what a finding leaves open: the shortest press, the time of an entry."""
        faults = finding.fault.split(" or ")
        try:
            if "no-entry" in faults:
                return sitting.measure_press(finding)
            if "entry-timeout" in faults:
                return sitting.measure_timeout(finding)
        except HarnessError as error:
            self._record.error(error, rig=self._rig_name)
        return finding

    def _camera_at_fault(
        self,
        scenarios: Sequence[ScenarioRun],
        diagnosis: Diagnosis,
        broken: HarnessError | None,
    ) -> bool:
        found = [*diagnosis.findings, *(one for run in scenarios for one in run.findings())]
        parts = {part for one in found if one.verdict is Verdict.RIG_FAULT for part in one.part}
        if broken is not None:
            parts.update(_of_error(broken).part)
        cameras = {f"device:{name}" for name in self._rig.roles.dice_camera}
        return any(part in cameras or part.startswith("camera:") for part in parts)

    def _of_lag(self, sitting: Sitting) -> list[Finding]:
        """Tell in how many entries this host was too late to time the lamps."""
        if not sitting.untimed:
            return []
        told = f"in {sitting.untimed} of {sitting.timed} entries this host lagged too much"
        told += " to time the lamps"
        self._record.rig_fact(self._rig_name, "host-lag", "host", told, count=sitting.untimed)
        if sitting.untimed * 2 <= sitting.timed:
            return []
        return [Finding(Verdict.RIG_FAULT, ("host",), "lag", f"{told}: the limit is not judged")]

    def _rejudge(
        self,
        scenarios: Sequence[ScenarioRun],
        verdicts: Sequence[Verdict],
        diagnosed: Mapping[int, Verdict],
    ) -> None:
        for run, before in zip(scenarios, verdicts, strict=True):
            after = run.verdict(diagnosed)
            if after is not before:
                self._record.rejudged(
                    run.record.id,
                    after,
                    run.what(diagnosed),
                    f"all entries together say {after.value}, this one alone {before.value}",
                    run.results(diagnosed),
                )

    def _completed(self, finding: Finding, lines: Mapping[int, int]) -> Finding:
        """Name the journal's lines for entries, and the clauses of the areas concerned."""
        clauses = finding.clauses or tuple(
            sorted(
                {
                    self._book.areas[area].clause
                    for kind, _, area in (part.partition(":") for part in finding.part)
                    if kind == "lamp" and area in self._book.areas
                }
            )
        )
        evidence = [_line(reference, lines) for reference in finding.evidence]
        return replace(finding, clauses=clauses, evidence=tuple(filter(None, evidence)))


def _line(reference: str, lines: Mapping[int, int]) -> str | None:
    kind, _, number = reference.partition(":")
    if kind != "entry":
        return reference
    return f"journal:{lines[int(number)]}" if int(number) in lines else None


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
    areas |= judgement.flicker | judgement.split
    return " ".join(f"lamp:{area}" for area in sorted(areas)) or "lamps"


def _of_error(error: HarnessError) -> Finding:
    told = error.to_json()
    return Finding(
        Verdict.RIG_FAULT,
        (str(told.get("part") or error.subject),),
        str(told.get("fault") or "rig-fault"),
        str(error),
    )


def _of_links(links: Sequence[LinkRecord], found: Sequence[Finding]) -> list[Finding]:
    """Give a finding for each device whose link failed now and then, and that none is about yet.

    A read that was repeated gave its answer, and the result stands on it; but a link that spoils
    replies is a fault of our bench, and the run says so.
    """
    named = {part for finding in found for part in finding.part}
    return [
        Finding(
            Verdict.RIG_FAULT,
            (f"device:{link.device}",),
            " and ".join(sorted(link.failures)),
            f"{sum(link.failures.values())} of {link.exchanges} exchanges failed, "
            f"{link.repeats} reads were repeated: "
            + ", ".join(f"{count} {fault}" for fault, count in sorted(link.failures.items())),
        )
        for link in links
        if link.failures and f"device:{link.device}" not in named
    ]


def _distinct(findings: Sequence[Finding]) -> list[Finding]:
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
    return list(joined.values())
