"""Scenarios listed by the clause tags they carry."""

from pathlib import Path

import pytest

from harness.bdd.catalogue import Scenario, scenarios_by_tag
from harness.verdicts import InvalidFileError

FEATURE = """\
@a.feature
Feature: dealing

  @a.own
  Scenario: plain
    Given a table

  @a.rule
  Rule: covered

    @a.within
    Scenario Outline: many
      Given the result <dice>

      @a.table
      Examples:
        | dice  |
        | 1,1,2 |
        | 1,1,3 |
"""


def test_tags_come_from_feature_rule_scenario_and_examples(tmp_path: Path):
    (tmp_path / "dealing.feature").write_text(FEATURE)
    plain = Scenario(f"features/{tmp_path.name}/dealing.feature", "plain")
    many = Scenario(f"features/{tmp_path.name}/dealing.feature", "many")
    assert scenarios_by_tag("book", tmp_path) == {
        "a.feature": [plain, many],
        "a.own": [plain],
        "a.rule": [many],
        "a.within": [many],
        "a.table": [many],
    }


def test_a_book_without_features_has_none(tmp_path: Path):
    assert scenarios_by_tag("nothing") == {}
    assert scenarios_by_tag("book", tmp_path / "nowhere") == {}


def test_an_empty_file_has_none(tmp_path: Path):
    (tmp_path / "empty.feature").write_text("")
    assert scenarios_by_tag("book", tmp_path) == {}


@pytest.mark.parametrize("content", [b"Scenario: x\n", b"\xff\xfe"])
def test_a_file_that_is_no_gherkin_is_refused(tmp_path: Path, content: bytes):
    (tmp_path / "bad.feature").write_bytes(content)
    with pytest.raises(InvalidFileError, match=r"bad\.feature"):
        scenarios_by_tag("book", tmp_path)


def test_the_embedded_features_are_found():
    """Fails when the features are looked for where they are not."""
    assert scenarios_by_tag("ny-5324.51")["ny.b.1"]
