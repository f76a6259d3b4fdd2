"""Which scenarios carry which clause: the feature files of a book, listed by tag, nothing run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gherkin.errors import CompositeParserException, ParserError
from gherkin.parser import Parser

from harness.bdd.features import embedded_features, feature_uri
from harness.verdicts import InvalidFileError, Problem


@dataclass(frozen=True, slots=True, order=True)
class Scenario:
    """A scenario, an outline counting as one: its file as `features/BOOK/FILE`, and its name."""

    feature: str
    name: str


def scenarios_by_tag(book_id: str, folder: Path | None = None) -> dict[str, list[Scenario]]:
    """Give the scenarios of a book by each tag they carry (without the `@`), files in name order.

    folder: where the book's features lie (see `features_of`); without it, those of an embedded
    book. A scenario carries its own tags and those of its feature, its rule and its tables of
    examples. A folder that is not there has no scenarios. Raises InvalidFileError for a file that
    is no Gherkin.
    """
    folder = folder or embedded_features() / book_id
    found: dict[str, list[Scenario]] = {}
    for file in sorted(folder.glob("**/*.feature")):
        uri = feature_uri(file, folder)
        for name, tags in _scenarios(file):
            scenario = Scenario(uri, name)
            for tag in sorted(tags):
                if scenario not in found.setdefault(tag, []):
                    found[tag].append(scenario)
    return found


def _scenarios(file: Path) -> Iterator[tuple[str, set[str]]]:
    try:
        document = Parser().parse(file.read_text(encoding="utf-8"))
    except CompositeParserException as error:
        raise InvalidFileError(str(file), [_problem(one) for one in error.errors]) from error
    except ParserError as error:
        raise InvalidFileError(str(file), [_problem(error)]) from error
    except (OSError, UnicodeDecodeError) as error:
        problem = Problem("(file)", "a feature in UTF-8", str(error))
        raise InvalidFileError(str(file), [problem]) from error
    feature = document.get("feature")
    if feature:
        yield from _within(feature["children"], _tags(feature))


def _problem(error: Exception) -> Problem:
    line = getattr(error, "location", {}).get("line", 1)
    return Problem(f"line {line}", "a feature in Gherkin", str(error))


def _within(
    children: Iterable[Mapping[str, Any]], inherited: set[str]
) -> Iterator[tuple[str, set[str]]]:
    for child in children:
        if "rule" in child:
            yield from _within(child["rule"]["children"], inherited | _tags(child["rule"]))
        elif "scenario" in child:
            scenario = child["scenario"]
            tables = [_tags(examples) for examples in scenario["examples"]]
            yield scenario["name"], inherited.union(_tags(scenario), *tables)


def _tags(node: Mapping[str, Any]) -> set[str]:
    return {str(tag["name"]).removeprefix("@") for tag in node["tags"]}
