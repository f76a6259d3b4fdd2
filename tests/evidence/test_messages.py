"""Cucumber Messages and the older JSON: valid, complete, and never kinder than the verdict."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from cucumber_messages import Envelope, message_converter
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from harness.evidence.cucumber_json import cucumber_json
from harness.evidence.messages import messages, messages_ndjson
from harness.evidence.records import Scenario, Step
from harness.evidence.run_folder import RunFolder
from harness.verdicts import Verdict
from tests.evidence.synthetic import BOOK, RIG, jpeg, make_run, scenario, write_result

PACKAGES = "@cucumber/html-formatter@24", "@cucumber/message-streams@5", "@cucumber/messages@34"
FEATURE = """Feature: Verdicts

  Background:
    Given a bench

  Rule: one for each

    Scenario Outline: it ends in <verdict>
      When it is tried
      And it is looked at
      Then it ends

      Examples:
        | verdict     |
        | each of all |
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Results with frames, and one scenario for each verdict: rejudged, retried, not begun."""
    path = tmp_path_factory.mktemp("messages") / "run"
    record = make_run(path, 3, wrong={(1, 1, 2): frozenset()}, finish=False)
    record.feature("features/toy/verdicts.feature", FEATURE)
    for verdict in Verdict:
        item = Scenario(
            f"v/{verdict}", "Verdicts", f"it ends in {verdict}", BOOK, RIG, ("@toy.a",), line=8
        )
        for attempt in (1, 2) if verdict is Verdict.NO_RESULT else (1,):
            record.scenario_started(item)
            record.scenario_finished(
                item,
                verdict,
                f"because {verdict}",
                started=1.0,
                ended=2.5,
                attempt=attempt,
                steps=()
                if verdict is Verdict.NOT_APPLICABLE
                else (
                    Step("Given", "a bench", Verdict.PASS, line=4, started=1.0, ended=1.5),
                    Step("When", "it is tried", verdict, "own", line=9, started=1.5, ended=2.0),
                    Step("And", "it is looked at", None, line=10),
                    Step("Then", "it ends", None, line=11),
                ),
            )
    record.rejudged("v/DUT_FAIL", Verdict.AMBIGUOUS, "a lamp or our input", "one path")
    record.run_finished()
    return RunFolder(path)


@pytest.fixture(scope="module")
def sent(folder):
    return messages(folder)


def of(sent, kind):
    return [envelope[kind] for envelope in sent if kind in envelope]


def statuses(sent, name):
    """Give the statuses of each attempt of the scenario of a name."""
    pickle = next(p["id"] for p in of(sent, "pickle") if p["name"] == name)
    case = next(c["id"] for c in of(sent, "testCase") if c["pickleId"] == pickle)
    starts = [s["id"] for s in of(sent, "testCaseStarted") if s["testCaseId"] == case]
    return [
        [
            f["testStepResult"]["status"]
            for f in of(sent, "testStepFinished")
            if f["testCaseStartedId"] == start
        ]
        for start in starts
    ]


def test_each_line_is_an_envelope_of_the_library(folder, sent):
    lines = messages_ndjson(folder).decode().splitlines()
    assert [json.loads(line) for line in lines] == sent
    for envelope in sent:
        again = message_converter.to_dict(message_converter.from_dict(envelope, Envelope))
        assert again == envelope


def test_every_reference_leads_to_a_message_sent_before(sent):
    """Fails if a stream reader meets an id that it does not know yet."""
    known = set()

    def ids(node):
        if isinstance(node, dict):
            if "id" in node:
                known.add(node["id"])
            for value in node.values():
                ids(value)
        elif isinstance(node, list):
            for value in node:
                ids(value)

    for envelope in sent:
        ((kind, body),) = envelope.items()
        references = []
        if kind == "pickle":
            references += body["astNodeIds"]
            references += [i for step in body["steps"] for i in step["astNodeIds"]]
        for name in (
            "pickleId",
            "testCaseId",
            "testCaseStartedId",
            "testStepId",
            "testRunStartedId",
        ):
            references += [body[name]] if name in body else []
        assert set(references) <= known, kind
        ids(body)


def test_each_result_is_a_pickle_of_its_own_with_links_to_its_frames(sent, folder):
    names = [pickle["name"] for pickle in of(sent, "pickle")]
    assert len(names) == len(set(names)) == 3 + len(Verdict)
    links = [a["body"] for a in of(sent, "attachment") if a["mediaType"] == "text/uri-list"]
    assert len(links) == 3
    for link in "\n".join(links).split("\n"):
        assert (folder.path / link).is_file()
    assert "missing: single-1, single-2, total-4" in "\n".join(
        a["body"] for a in of(sent, "attachment")
    )


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        ("PASS", "PASSED"),
        ("DUT_FAIL", "AMBIGUOUS"),  # rejudged
        ("PROCEDURE_FAIL", "FAILED"),
        ("RIG_FAULT", "UNKNOWN"),
        ("AMBIGUOUS", "AMBIGUOUS"),
        ("NO_RESULT", "UNKNOWN"),
        ("PENDING", "PENDING"),
    ],
)
def test_the_worst_step_bears_the_verdict_that_counts(sent, verdict, status):
    """Fails if a verdict that is no pass can be read as passed, or a fault of ours as failed."""
    for made in statuses(sent, f"it ends in {verdict}"):
        assert made == ["PASSED", status, "SKIPPED", "SKIPPED"]


def test_a_scenario_that_never_began_is_skipped_and_says_why(sent):
    assert statuses(sent, "it ends in NOT_APPLICABLE") == [["SKIPPED"] * 4]
    told = [f["testStepResult"].get("message", "") for f in of(sent, "testStepFinished")]
    assert "NOT_APPLICABLE: because NOT_APPLICABLE" in told


def test_retries_are_told(sent):
    assert len(statuses(sent, "it ends in NO_RESULT")) == 2
    assert [f["willBeRetried"] for f in of(sent, "testCaseFinished")].count(True) == 1
    assert of(sent, "testRunFinished")[0]["success"] is False


def test_steps_of_background_and_rule_keep_their_kinds(sent):
    pickle = next(p for p in of(sent, "pickle") if p["name"] == "it ends in PASS")
    assert [(s["text"], s["type"]) for s in pickle["steps"]] == [
        ("a bench", "Context"),
        ("it is tried", "Action"),
        ("it is looked at", "Action"),
        ("it ends", "Outcome"),
    ]
    assert pickle["location"]["line"] == 15
    assert [tag["name"] for tag in of(sent, "pickle")[0]["tags"]] == ["@toy"]


def test_the_older_json_says_the_same_and_no_more_passes(sent):
    features = cucumber_json(sent)
    told = {
        element["name"]: [step["result"]["status"] for step in element["steps"]]
        for feature in features
        for element in feature["elements"]
    }
    assert len(told) == 3 + len(Verdict)
    assert told["it ends in RIG_FAULT"] == ["passed", "undefined", "skipped", "skipped"]
    assert told["it ends in PROCEDURE_FAIL"][1] == "failed"
    passed = {name for name, made in told.items() if set(made) == {"passed"}}
    counted = {
        p["name"]
        for p in of(sent, "pickle")
        if {s for made in statuses(sent, p["name"])[-1:] for s in made} == {"PASSED"}
    }
    assert passed == counted
    assert json.dumps(features)


def test_scenarios_whose_feature_is_not_in_the_record_are_told_all_the_same(tmp_path):
    record = make_run(tmp_path / "run", 0, finish=False)
    for name in ("one\n two", "three"):
        item = Scenario(name, "Lost feature", name, BOOK, RIG, line=3)
        step = Step("Given", "something", Verdict.DUT_FAIL, "bad", line=4)
        record.scenario_finished(item, Verdict.DUT_FAIL, "", started=0, ended=1, steps=[step])
    sent = messages(record.folder)
    assert [p["name"] for p in of(sent, "pickle")] == ["one\n two", "three"]
    assert len({p["astNodeIds"][0] for p in of(sent, "pickle")}) == 2
    assert statuses(sent, "three") == [["FAILED"]]


def test_a_result_entered_again_keeps_its_row(tmp_path):
    record = make_run(tmp_path / "run", 2, finish=False)
    write_result(record, (1, 1, 1), 9, pictures=[jpeg(1)])
    record.run_finished()
    sent = messages(record.folder)
    name = scenario((1, 1, 1)).name
    (pickle,) = [p for p in of(sent, "pickle") if p["name"] == name]
    row = next(
        row
        for document in of(sent, "gherkinDocument")
        for child in document["feature"]["children"]
        for table in child["scenario"]["examples"]
        for row in table["tableBody"]
        if row["cells"][0]["value"] == "1,1,1"
    )
    assert pickle["astNodeIds"][1] == row["id"]


# -- with what others read it with --------------------------------------------------------------


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """The formatter and the schema as their makers publish them."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    folder = tmp_path_factory.mktemp("node")
    (folder / "package.json").write_text("{}")
    got = subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", *PACKAGES],
        cwd=folder,
        check=False,
        capture_output=True,
        timeout=300,
    )
    if got.returncode:
        pytest.skip(f"npm cannot fetch {', '.join(PACKAGES)}")
    return folder


@pytest.mark.system("node")
def test_messages_are_valid_against_the_published_schema(modules, sent):
    path = modules / "node_modules" / "@cucumber" / "messages" / "messages.schema.json"
    schema = json.loads(path.read_bytes())
    registry = Registry().with_resources(
        (name, Resource.from_contents({"$id": name, **part}))
        for name, part in schema["$defs"].items()
    )
    validator = Draft202012Validator(schema, registry=registry)
    for envelope in sent:
        validator.validate(envelope)


@pytest.mark.system("node")
def test_the_html_formatter_reads_the_messages(modules, folder, tmp_path):
    """Fails if cucumber's own formatter cannot make its page of our stream."""
    (tmp_path / "messages.ndjson").write_bytes(messages_ndjson(folder))
    script = modules / "format.mjs"
    script.write_text(
        "import fs from 'fs'; import {pipeline} from 'stream/promises';\n"
        "import {CucumberHtmlStream} from '@cucumber/html-formatter';\n"
        "import {NdjsonToMessageStream} from '@cucumber/message-streams';\n"
        "await pipeline(fs.createReadStream(process.argv[2]), new NdjsonToMessageStream(),\n"
        "  new CucumberHtmlStream(), fs.createWriteStream(process.argv[3]));\n"
    )
    page = tmp_path / "page.html"
    subprocess.run(
        ["node", script, tmp_path / "messages.ndjson", page],
        cwd=modules,
        check=True,
        capture_output=True,
        timeout=120,
    )
    text = page.read_text("utf-8")
    assert "it ends in PROCEDURE_FAIL" in text
    assert Path(page).stat().st_size > 100_000


def test_cucumber_json_of_a_run_that_lacks_scenarios_does_not_look_passed(tmp_path):
    """Fails if what keeps a run from passing, beside its scenarios, is lost in the older format."""
    for asked, expected in ((2, {"passed"}), (3, {"passed", "undefined"})):
        folder = make_run(tmp_path / f"run-{asked}", 2, frames=0, asked=asked).folder
        features = cucumber_json(messages(folder))
        steps = [s for f in features for e in f["elements"] for s in e["steps"]]
        assert {step["result"]["status"] for step in steps} == expected
    assert "no record of 1 of 3 results" in steps[-1]["result"]["error_message"]
