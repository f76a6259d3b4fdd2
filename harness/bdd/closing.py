"""The end of a book: what its entries together say, and which verdicts that changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.bdd.case import Case, Premises, judged_as_recorded, read_case
from harness.bdd.conclusion import conclude, diagnosis_of, lag_told
from harness.diagnosis.diagnose import Diagnosis
from harness.evidence.journal_lines import Record, read_records
from harness.evidence.summary import outcomes

if TYPE_CHECKING:
    from harness.bdd.sitting import Sitting
    from harness.evidence.record import RunRecord
    from harness.rig.device import LinkRecord
    from harness.rig.sections import Rig
    from harness.rules.books import RuleBook

MOST_FURTHER_TESTS = 6


class Closing:
    """Diagnoses one book on one rig and records findings and changed verdicts.

    What is concluded is drawn from the record as it then stands, so that `replay` can draw it
    again.
    """

    def __init__(self, book: RuleBook, rig: Rig, rig_name: str, record: RunRecord) -> None:
        self._book = book
        self._premises = Premises.of(rig)
        self._options = book.in_force()
        self._rig_name = rig_name
        self._record = record

    def explain(self, sitting: Sitting | None, broken: int | None) -> None:
        """Join everything that the record holds of this book on this rig into causes.

        broken: the line of the error that ended the work on the bench.
        """
        diagnosis = self._diagnose(broken)
        records = read_records(self._record.folder.journal)
        if sitting is not None:
            self._keep_links(sitting.bench.links)
            self._keep_lag(sitting)
        self._record.diagnosis(
            self._book.id,
            self._rig_name,
            options=self._options,
            premises=self._premises.to_json(),
            broken=broken,
        )
        records += read_records(self._record.folder.journal, after=records[-1].line)
        self._conclude(records, diagnosis)

    def try_further(self, sitting: Sitting) -> None:
        """Make the tests that split candidate sets, where this bench can; then measure limits.

        Raises what fails on the way: nothing more is done on the table then.
        """
        diagnosis = self._diagnose()
        for _ in range(MOST_FURTHER_TESTS):
            if not diagnosis.next_tests:
                break
            sitting.enter_further(diagnosis.next_tests[0])
            diagnosis = self._diagnose()
        self._measure(diagnosis, sitting)

    def _case(self, records: Sequence[Record], broken: int | None) -> Case:
        return read_case(
            records,
            self._book.id,
            self._rig_name,
            judged_as_recorded(self._book),
            () if broken is None else (broken,),
        )

    def _conclude(self, records: Sequence[Record], diagnosis: Diagnosis) -> None:
        case = self._case(records, None)
        conclusion = conclude(case, diagnosis, self._book, self._premises)
        in_force = outcomes(records)
        for scenario, told in conclusion.scenarios.items():
            before = in_force[scenario]
            if (told.verdict, told.results) != (before.verdict, before.results):
                self._record.rejudged(
                    scenario,
                    told.verdict,
                    told.what,
                    f"all entries together say {told.verdict.value}, "
                    f"this one alone {told.alone.value}",
                    told.results,
                )
        for finding in conclusion.findings:
            self._record.finding(finding, book=self._book.id, rig=self._rig_name)

    def _diagnose(self, broken: int | None = None) -> Diagnosis:
        """Explain what the record now holds."""
        case = self._case(read_records(self._record.folder.journal), broken)
        return diagnosis_of(case, self._book, self._premises, self._options)

    def _measure(self, diagnosis: Diagnosis, sitting: Sitting) -> None:
        """Measure what findings leave open: the shortest press, the time of an entry."""
        faults = {fault for one in diagnosis.findings for fault in one.fault.split(" or ")}
        if "no-entry" in faults:
            self._keep_measured("press", sitting.shortest_press(), "the shortest press taken")
        if diagnosis.may_forget:
            self._keep_measured("timeout", sitting.forgotten_after(), "how long an entry lasts")

    def _keep_measured(
        self, limit: str, found: tuple[float, float | None] | None, what: str
    ) -> None:
        if found is None:
            return
        low, high = found
        upto = "more" if high is None else f"{high * 1e3:.0f}"
        self._record.rig_fact(
            self._rig_name,
            "measured",
            "keys",
            f"{what}: {low * 1e3:.0f} to {upto} ms",
            data={"book": self._book.id, "limit": limit, "low_s": low, "high_s": high},
        )

    def _keep_links(self, links: Sequence[LinkRecord]) -> None:
        """Record which links failed now and then; a read that was repeated is counted."""
        for link in links:
            if link.failures or link.repeats:
                failed = sum(link.failures.values())
                self._record.rig_fact(
                    self._rig_name,
                    "reads",
                    f"device:{link.device}",
                    f"{failed} of {link.exchanges} exchanges failed",
                    count=link.repeats,
                    data={
                        "book": self._book.id,
                        "exchanges": link.exchanges,
                        "failures": dict(link.failures),
                    },
                )

    def _keep_lag(self, sitting: Sitting) -> None:
        if sitting.untimed:
            self._record.rig_fact(
                self._rig_name,
                "host-lag",
                "host",
                lag_told(sitting.timed, sitting.untimed),
                count=sitting.untimed,
                data={
                    "book": self._book.id,
                    "timed": sitting.timed,
                    "untimed": sitting.untimed,
                    "slow": {
                        f"device:{path}"
                        if path in sitting.bench.rig.devices
                        else f"path:{path}": count
                        for path, count in sorted(sitting.slow_paths.items())
                    },
                },
            )
