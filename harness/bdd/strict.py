"""What a feature file must satisfy before anything is driven.

pytest-bdd lets five mistakes through in silence: an asynchronous step passes without running, of
two scenarios with one name only the last stays, of two matching steps the last wins, an undefined
step is found only when it is reached, and a tag is never checked. Each is an error here, and every
mistake of a file is told at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_bdd.gherkin_parser import (
    Child,
    GherkinDocument,
    Tag,
    get_gherkin_document,
)
from pytest_bdd.gherkin_parser import Scenario as GherkinScenario
from pytest_bdd.parser import ScenarioTemplate, Step

from harness.bdd.capabilities import CAPABILITIES, TAG_PREFIX
from harness.verdicts import Problem

FREE_TAGS = frozenset({"irregular"})
"""Tags that are neither a clause nor a capability: `irregular` marks a provoked irregularity."""


@dataclass(frozen=True, slots=True)
class StepMatch:
    """A step definition that matches a step: its function and where it stands."""

    function: Callable[..., object]

    @property
    def place(self) -> str:
        """Give `module:line` of the definition."""
        code = inspect.unwrap(self.function).__code__
        return f"{self.function.__module__}:{code.co_firstlineno}"


FindMatches = Callable[[Step], list[StepMatch]]


def read_document(path: Path) -> GherkinDocument:
    """Parse one feature file; any syntax error is pytest-bdd's `GherkinParseError`."""
    return get_gherkin_document(str(path), "utf-8")


def document_problems(document: GherkinDocument, clauses: Collection[str]) -> Iterator[Problem]:
    """Yield what is wrong in a file by itself: names, tags, empty tables and scenarios."""
    feature = document.feature
    seen: dict[str, int] = {}
    yield from _tag_problems(feature.tags, clauses)
    for scenario, tags in _scenarios(feature.children):
        line = scenario.location.line
        yield from _tag_problems(tags, clauses)
        if scenario.name in seen:
            yield Problem(
                f"line {line}",
                "a name of its own for each scenario",
                f"{scenario.name!r}, which line {seen[scenario.name]} has already",
                "rename one of them",
            )
        seen.setdefault(scenario.name, line)
        if not scenario.steps:
            yield Problem(f"line {line}", "a step", f"none in {scenario.name!r}", "write its steps")
        for examples in scenario.examples:
            yield from _tag_problems(examples.tags, clauses)
            if examples.table_header is None or not examples.table_body:
                yield Problem(
                    f"line {examples.location.line}",
                    "a row of examples",
                    "an empty table",
                    "fill it or remove it",
                )


def step_problems(
    template: ScenarioTemplate, rows: Iterable[dict[str, str]], matches: FindMatches
) -> Iterator[Problem]:
    """Yield undefined, ambiguous and asynchronous steps of one scenario, for each of its rows."""
    told: set[tuple[int, str]] = set()
    for row in rows:
        for step in template.render(row).steps:
            found = matches(step)
            problem = _step_problem(step, found)
            if problem is not None and (step.line_number, problem.expected) not in told:
                told.add((step.line_number, problem.expected))
                yield problem


def _step_problem(step: Step, found: list[StepMatch]) -> Problem | None:
    where = f"line {step.line_number}"
    if not found:
        return Problem(
            where,
            "a step that is defined",
            f"undefined step {step.type.capitalize()} {step.name!r}",
            "define it or correct its wording",
        )
    if len(found) > 1:
        places = " and ".join(sorted(match.place for match in found))
        return Problem(
            where,
            "one definition for a step",
            f"ambiguous step {step.name!r}, defined at {places}",
            "make one of them more particular",
        )
    function = found[0].function
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return Problem(
            where,
            "a step that runs",
            f"asynchronous step {step.name!r} at {found[0].place}, which would pass unrun",
            "define it without async",
        )
    return None


def _scenarios(children: Iterable[Child]) -> Iterator[tuple[GherkinScenario, list[Tag]]]:
    for child in children:
        if child.scenario is not None:
            yield child.scenario, child.scenario.tags
        if child.rule is not None:
            for number, (scenario, tags) in enumerate(_scenarios(child.rule.children)):
                yield scenario, [*(child.rule.tags if number == 0 else []), *tags]


def _tag_problems(tags: Iterable[Tag], clauses: Collection[str]) -> Iterator[Problem]:
    for tag in tags:
        name = tag.name.lstrip("@")
        if name in clauses or name in FREE_TAGS:
            continue
        where = f"line {tag.location.line}"
        if name.startswith(TAG_PREFIX):
            if name.removeprefix(TAG_PREFIX) not in CAPABILITIES:
                known = ", ".join(sorted(CAPABILITIES))
                yield Problem(where, f"a capability of a bench ({known})", f"tag @{name}")
        else:
            yield Problem(where, "a clause of this rule book or @needs-…", f"unknown tag @{name}")
