"""What all outcomes of a campaign together say: a row for each fault, and the totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.campaign.trial import Outcome, Score, score
from harness.campaign.trials import NotObservable
from harness.rig.sections import Rig
from harness.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Scored:
    """An outcome with its score."""

    outcome: Outcome
    score: Score


@dataclass(frozen=True, slots=True)
class Row:
    """One fault over all its seeds: how many trials, and of how many each thing is true.

    `rigs`: on which rigs it was tried, and how often on each.
    """

    fault: str
    what: str
    rigs: Mapping[str, int]
    trials: int
    detected: int
    verdict_right: int
    located: int
    innocents: tuple[str, ...]
    took_s: float

    @property
    def where(self) -> str:
        """Name the rigs, with the number of trials where there are several."""
        if len(self.rigs) == 1:
            return next(iter(self.rigs))
        return ", ".join(f"{rig} {trials}" for rig, trials in self.rigs.items())


@dataclass(frozen=True, slots=True)
class Tally:
    """A campaign's figures."""

    rows: tuple[Row, ...]
    pairs: tuple[Scored, ...]
    healthy: tuple[Outcome, ...]
    singles: tuple[Scored, ...]
    not_observable: tuple[NotObservable, ...]

    @property
    def false_alarms(self) -> list[Outcome]:
        """Give the healthy runs that were no PASS."""
        return [each for each in self.healthy if each.verdict is not Verdict.PASS]

    @property
    def bad_pairs(self) -> list[Scored]:
        """Give the pairs that passed or for which something healthy was blamed."""
        return [each for each in self.pairs if not each.score.detected or each.score.innocents]

    def share(self, what: Literal["detected", "verdict_right", "located"]) -> float:
        """Give the share of single faults of which that is true; 0 where there were none."""
        true = sum(1 for each in self.singles if getattr(each.score, what))
        return true / max(1, len(self.singles))

    @property
    def good(self) -> bool:
        """Tell whether the harness may be trusted by this campaign."""
        return (
            self.share("detected") == 1
            and self.share("verdict_right") == 1
            and self.share("located") >= 0.98
            and not any(each.score.innocents for each in self.singles)
            and not self.bad_pairs
            and not self.false_alarms
        )

    def to_json(self) -> dict[str, object]:
        """Give all figures, and every trial."""
        return {
            "good": self.good,
            "single": {
                "trials": len(self.singles),
                "detected": self.share("detected"),
                "verdict_right": self.share("verdict_right"),
                "located": self.share("located"),
                "innocents": sum(bool(each.score.innocents) for each in self.singles),
            },
            "pairs": {"trials": len(self.pairs), "bad": len(self.bad_pairs)},
            "healthy": {"trials": len(self.healthy), "false_alarms": len(self.false_alarms)},
            "faults": [
                {
                    "fault": row.fault,
                    "what": row.what,
                    "rigs": dict(row.rigs),
                    "trials": row.trials,
                    "detected": row.detected,
                    "verdict_right": row.verdict_right,
                    "located": row.located,
                    "innocents": list(row.innocents),
                    "seconds": round(row.took_s, 1),
                }
                for row in self.rows
            ],
            "not_observable": [
                {
                    "fault": each.fault.number,
                    "what": each.fault.what,
                    "lacks": {rig: list(lacks) for rig, lacks in each.lacks.items()},
                }
                for each in self.not_observable
            ],
            "trials": [_trial(each.outcome, each.score) for each in (*self.singles, *self.pairs)]
            + [_trial(each, None) for each in self.healthy],
        }


def _trial(outcome: Outcome, scored: Score | None) -> dict[str, object]:
    trial = outcome.trial
    return {
        "number": trial.number,
        "faults": [armed.text for armed in trial.armed],
        "rig": trial.rig,
        "book": trial.book,
        "inspection": trial.inspection,
        "seed": trial.seed,
        "verdict": outcome.verdict.value if outcome.verdict else None,
        "findings": [finding.to_json() for finding in outcome.findings],
        "trouble": outcome.trouble,
        "seconds": round(outcome.took_s, 1),
        "score": None
        if scored is None
        else {
            "detected": scored.detected,
            "verdict_right": scored.verdict_right,
            "located": scored.located,
            "innocents": list(scored.innocents),
        },
    }


def tally(
    outcomes: Sequence[Outcome],
    rigs: Mapping[str, Rig],
    not_observable: Sequence[NotObservable] = (),
) -> Tally:
    """Score all outcomes."""
    scored = [Scored(o, score(o, rigs[o.trial.rig])) for o in outcomes if o.trial.armed]
    singles = [each for each in scored if len(each.outcome.trial.armed) == 1]
    by_fault: dict[str, list[Scored]] = {}
    for each in singles:
        by_fault.setdefault(each.outcome.trial.armed[0].fault.number, []).append(each)
    return Tally(
        tuple(_row(each) for each in by_fault.values()),
        tuple(each for each in scored if len(each.outcome.trial.armed) > 1),
        tuple(each for each in outcomes if not each.trial.armed),
        tuple(singles),
        tuple(not_observable),
    )


def _row(scored: Sequence[Scored]) -> Row:
    fault = scored[0].outcome.trial.armed[0].fault
    return Row(
        fault.number,
        fault.what,
        Counter(each.outcome.trial.rig for each in scored),
        len(scored),
        sum(each.score.detected for each in scored),
        sum(each.score.verdict_right for each in scored),
        sum(each.score.located for each in scored),
        tuple(dict.fromkeys(i for each in scored for i in each.score.innocents)),
        sum(each.outcome.took_s for each in scored),
    )
