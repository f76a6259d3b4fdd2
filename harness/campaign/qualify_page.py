"""The page of a qualification or of recorded tosses: one file that opens offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from harness.campaign import qualify_charts as charts
from harness.campaign.qualify import Rate
from harness.evidence.html import own_file, policy_hash
from harness.fairness.analysis import Analysis
from harness.fairness.decision import Decision

_BADGES: Mapping[Decision, str] = {
    "biased": "DUT_FAIL",
    "fair-within-tolerance": "PASS",
    "undecided": "AMBIGUOUS",
}


def page(
    title: str,
    analysis: Analysis,
    facts: Sequence[tuple[str, str]],
    *,
    decision: Decision | None = None,
    rates: Sequence[Rate] = (),
    fixed_length: bool = True,
) -> str:
    """Give the page; the same tosses and facts give the same bytes.

    facts: what the summary lists first. decision: where it differs from the analysis' own. rates:
    of tosses without a result. fixed_length: the number of tosses was settled beforehand, so that
    p-values of the fixed tests mean what they say.
    """
    decided = decision or analysis.decision
    style = own_file("report.css")
    names = ["all dice"] if analysis.alike else ["die 1", "die 2", "die 3"]
    sections = [
        ("summary", "Summary"),
        ("intervals", "Faces over time"),
        ("pictures", "Counts, totals, time"),
        *([("rates", "Tosses without a result")] if rates else []),
        ("sequential", "Sequential tests"),
        ("fixed", "Fixed-sample tests"),
    ]
    return _template().render(
        title=title,
        a=analysis,
        decision=decided,
        badge=_BADGES[decided],
        claim=claim(analysis, decided),
        facts=[*facts, *_facts(analysis)],
        sections=sections,
        intervals=[
            (name, [(float(low), float(high)) for low, high in row])
            for name, row in zip(names, analysis.faces, strict=True)
        ],
        rejected={r.hypothesis.name for r in analysis.rejected},
        rates=rates,
        fixed_length=fixed_length,
        style=Markup(style),  # noqa: S704  # our own file
        style_hash=policy_hash(style),
        charts={
            "intervals": Markup(charts.intervals_over_time(analysis)),  # noqa: S704  # numbers only
            "evidence": Markup(charts.evidence_over_time(analysis)),  # noqa: S704
            "totals": Markup(charts.totals(analysis)),  # noqa: S704
            "counts": Markup(charts.face_counts(analysis)),  # noqa: S704
            "correlation": Markup(charts.autocorrelation(analysis)),  # noqa: S704
            "wear": Markup(charts.wear(analysis)),  # noqa: S704
        },
    )


def claim(analysis: Analysis, decision: Decision) -> str:
    """Say in a sentence what a decision claims, and at what error rate."""
    alpha = f"{100 * analysis.alpha:g}%"
    if decision == "biased":
        return (
            "These dice, or the shaker, are not fair. For fair ones this would be said wrongly in "
            f"at most {alpha} of qualifications, however often they are looked at."
        )
    if decision == "fair-within-tolerance":
        what = (
            "The mean over the three dice of every face, and of every pair, is within "
            f"{analysis.tolerance:g} of a fair one's; biases of single dice that cancel out cannot "
            "be seen, since the dice were not told apart."
            if analysis.alike
            else f"Every face of every die is within {analysis.tolerance:g} of 1/6, and every pair "
            f"of faces within {analysis.tolerance:g} of what independent dice give."
        )
        return f"{what} Said wrongly in at most {alpha} of qualifications of dice that are not so."
    return "Nothing can be said yet: neither a bias nor its absence within the tolerance is proved."


def _facts(analysis: Analysis) -> list[tuple[str, str]]:
    decided = f" (reached at toss {analysis.decided_at:,})" if analysis.decided_at else ""
    return [
        ("Tosses read", f"{analysis.tosses:,}{decided}"),
        ("Error rate (alpha)", f"{analysis.alpha:g}"),
        ("Tolerance", f"{analysis.tolerance:g} of a probability"),
        (
            "Dice",
            "could not be told apart: tests on sorted values, which are weaker"
            if analysis.alike
            else "told apart",
        ),
        ("Evidence against fair dice", f"10^{analysis.log10_e:.2f}"),
    ]


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("harness.campaign"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("qualify.html.j2")
