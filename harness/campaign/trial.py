"""One trial of a campaign: what is armed, where, and how it came out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.campaign.fault import Armed, Inspection
from harness.rig.sections import Rig
from harness.verdicts import Finding, Verdict


@dataclass(frozen=True, slots=True)
class Trial:
    """A run with these faults armed, on one rig and one book; without any: a healthy one."""

    number: int
    rig: str
    book: str
    inspection: Inspection
    armed: tuple[Armed, ...] = ()
    seed: int = 0

    @property
    def name(self) -> str:
        """Give what is armed, as on the command line."""
        return " + ".join(armed.text for armed in self.armed) or "healthy"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a trial's run came out: its verdict and findings, or why there was none.

    `took_s`: wall time of the run.
    """

    trial: Trial
    verdict: Verdict | None
    findings: tuple[Finding, ...]
    took_s: float
    trouble: str = ""
    verdicts: Mapping[str, int] = field(default_factory=dict)


def read_outcome(trial: Trial, folder: Path, took_s: float, said: str) -> Outcome:
    """Read a run folder's summary; `said` is what the run printed, for where there is none."""
    try:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        findings = tuple(_finding(each) for each in summary["findings"])
        verdict = Verdict(summary["verdict"])
    except (OSError, ValueError, KeyError) as error:
        last = said.strip().splitlines()[-1:] or [type(error).__name__]
        return Outcome(trial, None, (), took_s, f"no summary: {last[0]}")
    return Outcome(trial, verdict, findings, took_s, "", summary["counts"])


def _finding(body: Mapping[str, object]) -> Finding:
    part = body["part"]
    parts: Sequence[object] = part if isinstance(part, list) else [part]
    return Finding(
        Verdict(str(body["verdict"])),
        tuple(map(str, parts)),
        str(body["fault"]),
        str(body.get("what", "")),
    )


@dataclass(frozen=True, slots=True)
class Score:
    """What a report was worth: see `score`."""

    detected: bool
    verdict_right: bool
    located: bool
    innocents: tuple[str, ...]

    @property
    def good(self) -> bool:
        """Tell whether nothing is to be wished for."""
        return self.detected and self.verdict_right and self.located and not self.innocents


MOST_CANDIDATES = 3
_BLAMING = (Verdict.DUT_FAIL, Verdict.PROCEDURE_FAIL, Verdict.RIG_FAULT)


def score(outcome: Outcome, rig: Rig) -> Score:
    """Score a single fault's report, or a pair's.

    Detected: the run is no PASS. Verdict right: it is the class that the catalogue demands (of a
    pair: of one of the two). Located: a finding of that class names the guilty part, or a candidate
    set of at most three with the guilty one in it. Innocents: parts that a verdict of blame names
    and that were healthy, and candidate sets without a guilty part.
    """
    truths = [armed.fault.truth(armed.values, rig) for armed in outcome.trial.armed]
    guilty = frozenset[str]().union(*(truth.parts for truth in truths))
    wanted = frozenset[Verdict]().union(*(truth.verdicts for truth in truths))
    located = all(
        any(_locates(finding, truth.parts, truth.all_of) for finding in outcome.findings)
        for truth in truths
    )
    innocents: list[str] = []
    for finding in outcome.findings:
        if finding.verdict in _BLAMING:
            innocents += [part for part in finding.part if part not in guilty]
        elif finding.verdict is Verdict.AMBIGUOUS and not guilty & set(finding.part):
            innocents.append(" | ".join(finding.part))
    return Score(
        detected=outcome.verdict is not None and outcome.verdict is not Verdict.PASS,
        verdict_right=outcome.verdict in wanted,
        located=located,
        innocents=tuple(dict.fromkeys(innocents)),
    )


def _locates(finding: Finding, parts: frozenset[str], all_of: frozenset[str]) -> bool:
    named = set(finding.part)
    if not named & parts or not all_of <= named:
        return False
    sides = {part.partition(":")[2] or part for part in named}
    return named <= parts or len(sides) <= MOST_CANDIDATES
