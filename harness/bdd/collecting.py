"""Feature files as pytest collects them: parsed, checked, expanded, bound to steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import pytest
from pytest_bdd import scenario
from pytest_bdd.exceptions import GherkinParseError
from pytest_bdd.feature import features as parsed_features
from pytest_bdd.parser import Examples, Feature, FeatureParser, ScenarioTemplate, Step
from pytest_bdd.scenario import (
    find_fixturedefs_for_step,
    get_python_name_generator,
    scenario_wrapper_template_registry,
)
from pytest_bdd.steps import step_function_context_registry

from harness.bdd.capabilities import TAG_PREFIX, needed_by
from harness.bdd.inspection import EVERY_RESULT, expand_rows, written
from harness.bdd.strict import StepMatch, document_problems, read_document, step_problems
from harness.observations import Dice
from harness.verdicts import InvalidFileError, Problem

if TYPE_CHECKING:
    from harness.rules.books import RuleBook


class ScenarioFacts(NamedTuple):
    """What is known of a collected scenario before it runs.

    `clauses` are the clause tags it carries, sorted; `needs` the capabilities that its tags and
    steps ask for; `example` the row of its outline (empty without one); `result` the one of
    `each of 216` that it stands for.
    """

    feature: str
    name: str
    path: Path
    line: int
    clauses: tuple[str, ...]
    needs: frozenset[str]
    irregular: bool
    example: dict[str, str]
    result: str | None


class FeatureFile(pytest.Module):
    """One `.feature` file, collected without a test module of its own."""

    book: RuleBook
    results: tuple[Dice, ...]
    _example_tags: dict[tuple[str, tuple[str, ...]], set[str]]
    _asked: dict[str, frozenset[str]]
    _result_of: dict[tuple[str, tuple[str, ...]], str]

    @classmethod
    def of(
        cls, parent: pytest.Collector, path: Path, book: RuleBook, results: tuple[Dice, ...]
    ) -> FeatureFile:
        """Make the collector of one file for one rule book and the results of its inspection."""
        file: FeatureFile = cls.from_parent(parent, path=path)
        file.book, file.results = book, results
        file._example_tags = {}
        file._asked = {}
        file._result_of = {}
        return file

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Collect the scenarios, or refuse the file with every mistake in it."""
        try:
            return super().collect()
        except InvalidFileError as error:
            raise self.CollectError(str(error)) from None

    def _getobj(self) -> ModuleType:
        feature = self._parsed()
        module = ModuleType(self.path.stem)
        for template in feature.scenarios.values():
            bound = scenario(feature.filename, template.name, features_base_dir="")(_nothing_more)
            for name in get_python_name_generator(template.name):
                if not hasattr(module, name):
                    bound.__name__ = name
                    setattr(module, name, bound)
                    break
        return module

    def _parsed(self) -> Feature:
        try:
            document = read_document(self.path)
        except GherkinParseError as error:
            problem = Problem(f"line {error.line}", "a feature in Gherkin", error.message)
            raise InvalidFileError(str(self.path), [problem]) from None
        clauses = frozenset(clause.tag for clause in self.book.clauses)
        problems = list(document_problems(document, clauses))
        feature = FeatureParser(str(self.path.parent), self.path.name).parse()
        for template in feature.scenarios.values():
            for examples in template.examples:
                # One result stands for all of them here: they differ in the values alone.
                problems += self._step_problems(template, examples, self.results[:1])
            if not template.examples:
                problems += step_problems(template, [{}], self._matches)
        if problems:
            raise InvalidFileError(str(self.path), problems)
        for template in feature.scenarios.values():
            for examples in template.examples:
                self._expand(template, examples)
                self._take_tags(template, examples)
        parsed_features[feature.filename] = feature
        return feature

    def _step_problems(
        self, template: ScenarioTemplate, examples: Examples, results: tuple[Dice, ...]
    ) -> Iterator[Problem]:
        rows = expand_rows(examples.examples, results)
        contexts = [dict(zip(examples.example_params, row, strict=True)) for row in rows]
        return step_problems(template, contexts, self._matches)

    def _expand(self, template: ScenarioTemplate, examples: Examples) -> None:
        rows: list[Sequence[str]] = []
        for row in examples.examples:
            made = expand_rows([row], self.results)
            if EVERY_RESULT in row:
                for one, dice in zip(made, self.results, strict=True):
                    self._result_of[template.name, tuple(one)] = written(dice)
            rows += made
        examples.examples = rows

    def _take_tags(self, template: ScenarioTemplate, examples: Examples) -> None:
        # pytest-bdd would turn the tags of a table into pytest marks; ours name clauses.
        for row in examples.as_contexts():
            self._example_tags[template.name, tuple(row.values())] = examples.tags
        examples.tags = set()

    def _matches(self, step: Step) -> list[StepMatch]:
        manager = self.session._fixturemanager
        return [
            StepMatch(step_function_context_registry[fixture.func].step_func)
            for fixture in find_fixturedefs_for_step(step, manager, self)
        ]

    def facts(self, item: pytest.Function) -> ScenarioFacts:
        """Give what is known of one of this file's scenarios."""
        template, example = _outline(item)
        name = template.render(example).name
        if example and name == template.name:
            name = f"{name} ({'; '.join(example.values())})"
        tags = set(template.tags) | template.feature.tags
        tags |= template.rule.tags if template.rule else set()
        tags |= self._example_tags.get((template.name, tuple(example.values())), set())
        clauses = {clause.tag for clause in self.book.clauses}
        return ScenarioFacts(
            feature=template.feature.name,
            name=name,
            path=self.path,
            line=template.line_number,
            clauses=tuple(sorted(tags & clauses)),
            needs=self._needs_of_steps(template, example)
            | {tag.removeprefix(TAG_PREFIX) for tag in tags if tag.startswith(TAG_PREFIX)},
            irregular="irregular" in tags,
            example=example,
            result=self._result_of.get((template.name, tuple(example.values()))),
        )

    def _needs_of_steps(
        self, template: ScenarioTemplate, example: dict[str, str]
    ) -> frozenset[str]:
        if template.name not in self._asked:
            steps = template.render(example).steps
            functions = [match.function for step in steps for match in self._matches(step)]
            self._asked[template.name] = frozenset().union(*map(needed_by, functions))
        return self._asked[template.name]


def item_steps(item: pytest.Item) -> list[Step]:
    """Give the steps of a collected scenario, its background's first."""
    assert isinstance(item, pytest.Function)
    template, example = _outline(item)
    return template.render(example).steps


def _outline(item: pytest.Function) -> tuple[ScenarioTemplate, dict[str, str]]:
    callspec = getattr(item, "callspec", None)
    example = dict(callspec.params["_pytest_bdd_example"]) if callspec else {}
    return scenario_wrapper_template_registry[item.function], example


def _nothing_more() -> None:
    """Do nothing: a scenario is its steps."""
