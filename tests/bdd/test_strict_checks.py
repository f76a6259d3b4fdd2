"""What pytest-bdd lets through in silence must be an error here, before anything runs."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

pytest_plugins = ("pytester",)

BOOK = "ny-5324.51"
FEATURE = """
    Feature: A table
      Scenario: One
        Given a step that is known
    """
STEPS = """
    from pathlib import Path
    from pytest_bdd import given, parsers, then, when

    @given("a step that is known")
    def known():
        Path("ran").write_text("yes")
    """


@pytest.fixture
def collect(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Run a feature with step definitions beside it in a process of its own."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(feature: str, steps: str = STEPS, *options: str) -> pytest.RunResult:
        folder = pytester.path / "features" / BOOK
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "table.feature").write_text(textwrap.dedent(feature))
        (folder / "conftest.py").write_text(textwrap.dedent(steps))
        return pytester.runpytest_subprocess(
            "-p", "pytest_bdd.plugin", "-p", "harness.bdd.plugin", *options, str(folder)
        )

    return run


def refused(result: pytest.RunResult, *said: str) -> None:
    """Assert that collection failed with these words and that no step ran."""
    assert result.ret == pytest.ExitCode.INTERRUPTED
    for words in said:
        result.stdout.fnmatch_lines([f"*{words}*"])
    assert not Path("ran").exists()


def test_a_sound_feature_runs(collect):
    """Fails if the checks refuse what is right: every refusal below would then prove nothing."""
    result = collect(FEATURE)
    result.assert_outcomes(passed=1)
    assert Path("ran").read_text() == "yes"


def test_undefined_step_is_refused_before_anything_runs(collect):
    """Fails if an undefined step is found only when it is reached."""
    result = collect(
        """
        Feature: A table
          Scenario: One
            Given a step that is known
            When nobody defined this
        """
    )
    refused(result, "line 5: *undefined step When 'nobody defined this'")


def test_ambiguous_step_is_refused(collect):
    """Fails if, of two matching definitions, one wins in silence."""
    result = collect(
        FEATURE,
        STEPS
        + """
    @given(parsers.parse("a step that is {what}"))
    def vague(what):
        pass
    """,
    )
    refused(result, "ambiguous step 'a step that is known'*conftest:*and*conftest:")


def test_one_text_defined_twice_is_ambiguous(collect):
    """Fails if the second of two equal definitions replaces the first in silence."""
    result = collect(
        FEATURE,
        STEPS
        + """
    @given("a step that is known")
    def known_again():
        pass
    """,
    )
    refused(result, "ambiguous step")


@pytest.mark.parametrize("body", ["pass", "yield"])
def test_asynchronous_step_is_refused(collect, body):
    """Fails if an `async def` step passes without having run."""
    steps = f"""
    from pytest_bdd import given

    @given("a step that is known")
    async def known():
        {body}
    """
    refused(collect(FEATURE, steps), "asynchronous step 'a step that is known'")


def test_two_scenarios_of_one_name_are_refused(collect):
    """Fails if the first of two scenarios with one name vanishes."""
    result = collect(
        """
        Feature: A table
          Scenario: One
            Given a step that is known

          Rule: Another
            Scenario: One
              Given a step that is known
        """
    )
    refused(result, "line 7: *'One', which line 3 has already")


@pytest.mark.parametrize(
    ("place", "tag", "said"),
    [
        ("feature", "@ny.e.99", "unknown tag @ny.e.99"),
        ("scenario", "@nj.c", "unknown tag @nj.c"),
        ("examples", "@slow", "unknown tag @slow"),
        ("rule", "@needs-magic", "a capability of a bench*tag @needs-magic"),
    ],
)
def test_unknown_tag_is_refused_wherever_it_stands(collect, place, tag, said):
    """Fails if a misspelt clause would count as tested."""
    tags = {name: tag if name == place else "" for name in ("feature", "scenario", "examples")}
    rule = f"{tag}\n  Rule: R" if place == "rule" else ""
    feature = f"""{tags["feature"]}
Feature: A table
  {rule}
  {tags["scenario"]}
  Scenario Outline: One <what>
    Given a step that is <what>

    {tags["examples"]}
    Examples:
      | what  |
      | known |
"""
    refused(collect(feature), said)


def test_known_tags_are_taken(collect):
    """Fails if clauses of the book or capabilities of a bench are refused."""
    result = collect(
        """
        @ny.e.1
        Feature: A table
          @ny.e.3 @needs-manual-shaker @irregular
          Scenario Outline: One
            Given a step that is <what>

            @ny.d.1.row-1
            Examples:
              | what  |
              | known |
        """
    )
    result.assert_outcomes(passed=1)


def test_every_mistake_is_told_at_once(collect):
    """Fails if only the first mistake of a file is told."""
    result = collect(
        """
        Feature: A table
          @wrong
          Scenario: One
            Given nobody defined this

          Scenario: One
            Given nor this

          Scenario Outline: Two
            Given a step that is <what>
            Examples:
              | what |
        """
    )
    refused(
        result,
        "unknown tag @wrong",
        "'One', which line 4 has already",
        "an empty table",
        "undefined step Given 'nor this'",
    )


def test_steps_are_checked_for_every_row(collect):
    """Fails if only the first row of a table is looked at."""
    result = collect(
        """
        Feature: A table
          Scenario Outline: One <what>
            Given a step that is <what>
            Examples:
              | what    |
              | known   |
              | unknown |
        """
    )
    refused(result, "undefined step Given 'a step that is unknown'")


def test_syntax_error_is_one_line_with_its_place(collect):
    """Fails if a broken feature ends in a traceback."""
    result = collect("Feature: A table\n  Scenario: One\n    Nonsense\n    Given x\nFeature: B\n")
    refused(result, "line *a feature in Gherkin")
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize(("inspection", "count"), [("full", 216), ("cover", 17), ("minimum", 1)])
def test_each_of_216_becomes_one_item_for_each_result(collect, inspection, count):
    """Fails if an inspection collects more or fewer results than it says, or shares an item."""
    steps = """
    from pytest_bdd import given, parsers

    @given(parsers.re(r"dice (?P<dice>[1-6],[1-6],[1-6])"))
    def lie(dice):
        with open("dice", "a") as kept:
            kept.write(dice + "\\n")
    """
    feature = """
        Feature: A table
          Scenario Outline: <result> is tried
            Given dice <result>
            Examples:
              | result      |
              | each of 216 |
        """
    result = collect(feature, steps, "--inspection", inspection)
    result.assert_outcomes(passed=count)
    tried = Path("dice").read_text().split()
    assert len(tried) == len(set(tried)) == count
    if inspection == "full":
        assert tried == sorted(tried)
