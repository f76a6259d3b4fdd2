"""Findings as a diagnosis collects them, each with the entries that it explains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness.observations import Entry
from harness.verdicts import Finding, Verdict


@dataclass
class Collected:
    """Findings so far; `verdicts`: by an entry's place in the run, those of what explains it."""

    findings: list[Finding] = field(default_factory=list)
    verdicts: dict[int, set[Verdict]] = field(default_factory=dict)

    def add(self, finding: Finding, entries: Iterable[int]) -> None:
        """Add a finding that explains these entries."""
        self.findings.append(finding)
        for i in entries:
            self.verdicts.setdefault(i, set()).add(finding.verdict)


def evidence_of(entries: Sequence[Entry], numbers: Iterable[int]) -> tuple[str, ...]:
    """Give the references of the entries at these places, as a finding names its evidence."""
    return tuple(f"entry:{entries[i].index}" for i in numbers)


def results_of(entries: Sequence[Entry], numbers: Iterable[int]) -> tuple[str, ...]:
    """Give the results keyed in the entries at these places, each once, sorted."""
    keyed = {listed(k for k in entries[i].keyed if k.isdigit()) for i in numbers}
    return tuple(sorted(keyed))


def listed(values: Iterable[object]) -> str:
    """Write keys or dice as a result is written: `1,2,3`."""
    return ",".join(map(str, values))
