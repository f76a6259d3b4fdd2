"""What a qualification came to: verdict, findings, and the files that follow from its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from harness.campaign.qualify import Qualification, Rate, Settings, State, findings
from harness.campaign.qualify_page import page
from harness.campaign.qualify_record import QualificationRecord, csv_of, json_of
from harness.fairness.analysis import Analysis
from harness.fairness.decision import Decision
from harness.verdicts import Finding, HarnessError, Verdict, exit_status

VERDICTS: Mapping[Decision, Verdict] = {
    "biased": Verdict.DUT_FAIL,
    "fair-within-tolerance": Verdict.PASS,
    "undecided": Verdict.AMBIGUOUS,
}


def rates_json(rates: Sequence[Rate]) -> dict[str, object]:
    """Give rates as `qualification.json` holds them."""
    return {
        rate.name: {
            "count": rate.count,
            "rate": rate.per_1000,
            "low": rate.low,
            "high": rate.high,
        }
        for rate in rates
    }


@dataclass(frozen=True, slots=True)
class QualificationOutcome:
    """A qualification's end. `status`: exit status that a broken bench or table forces, or None."""

    rig: str
    settings: Settings
    verdict: Verdict
    state: State
    analysis: Analysis
    findings: tuple[Finding, ...]
    broken: HarnessError | None

    @property
    def status(self) -> int | None:
        """Give the exit status where no decision was reached for a reason of its own."""
        if self.broken is None:
            return None
        return exit_status([self.verdict])

    def to_json(self) -> dict[str, object]:
        """Give `qualification.json`: what was asked, the rates, and all that the tosses say."""
        return {
            "rig": self.rig,
            "mode": "tossed",
            "settings": asdict(self.settings),
            "decision": self.state.decision,
            "verdict": self.verdict.value,
            "tosses": self.state.tosses,
            "read": self.state.read,
            "rates_per_1000": rates_json(self.state.rates),
            "analysis": self.analysis.to_json(),
        }

    @property
    def what(self) -> str:
        """Say in a sentence how it came out."""
        ended = "" if self.broken is None else f"; ended by {self.broken}"
        return f"{self.state.decision} after {self.state.read} tosses{ended}"

    def files(self, record: QualificationRecord) -> dict[str, bytes]:
        """Give the files that follow from the record, by name."""
        started, ended = record.span()
        manifest = record.folder.read_manifest()
        facts = [
            ("Run", str(manifest["run_id"])),
            ("Rig", self.rig),
            ("From", started),
            ("To", ended),
            ("Tosses made", f"{self.state.tosses:,}"),
        ]
        if self.state.cycle_s is not None:
            facts.append(("A toss takes", f"{self.state.cycle_s:.2f} s"))
        references = manifest["dut"][self.rig].get("references", [])
        facts += [("Qualified", reference) for reference in references]
        if self.broken is not None:
            facts.append(("Ended by", str(self.broken)))
        shown = page(
            "Qualification of a shaker and its dice",
            self.analysis,
            facts,
            decision=self.state.decision,
            rates=self.state.rates,
            fixed_length=self.state.read >= self.settings.most,
        )
        return {
            "qualification.json": json_of(self.to_json()),
            "tosses.csv": csv_of(record.recorded.tosses),
            "report.html": shown.encode(),
        }


def outcome_of(
    rig: str, settings: Settings, record: QualificationRecord, qualification: Qualification
) -> QualificationOutcome:
    """Give what a qualification came to; a bias found stands whatever ended it."""
    analysis, state, broken = qualification.analysis(), qualification.state(), qualification.broken
    found = findings(analysis) if state.decision == "biased" else ()
    verdict = VERDICTS[state.decision]
    if broken is not None and verdict is not Verdict.DUT_FAIL:
        verdict = broken.verdict
        if verdict is Verdict.DUT_FAIL:
            told = broken.to_json()
            part = str(told.get("part", broken.subject))
            found = (Finding(verdict, (part,), str(told.get("fault", "failed")), str(broken)),)
    return QualificationOutcome(rig, settings, verdict, state, analysis, found, broken)
