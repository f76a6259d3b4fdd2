"""Cucumber Messages of a run: newline-delimited JSON, one envelope a line.

Pickles are made from the features as they were run; one row of an outline may stand for many
results, each a pickle of its own. Frames are attached as links into the run folder.

Verdicts and statuses: PASS passed; DUT_FAIL and PROCEDURE_FAIL failed; AMBIGUOUS ambiguous;
RIG_FAULT and NO_RESULT unknown (nobody is blamed and nothing passed); NOT_APPLICABLE skipped;
PENDING pending; a step that was not reached skipped. The message of a step begins with the verdict.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import metadata
from typing import Any

from cucumber_messages import (
    Attachment,
    AttachmentContentEncoding,
    Duration,
    Envelope,
    GherkinDocument,
    Location,
    Meta,
    Pickle,
    PickleStep,
    PickleStepType,
    PickleTag,
    Product,
    Source,
    SourceMediaType,
    TestCase,
    TestCaseFinished,
    TestCaseStarted,
    TestRunFinished,
    TestRunStarted,
    TestStep,
    TestStepFinished,
    TestStepResult,
    TestStepResultStatus,
    TestStepStarted,
    Timestamp,
    message_converter,
)
from gherkin.ast_builder import AstBuilder
from gherkin.parser import Parser
from gherkin.stream.id_generator import IdGenerator
from gherkin.token_scanner import TokenScanner

from harness.evidence.journal_lines import Record, read_records
from harness.evidence.records import dice_text, named_frames
from harness.evidence.run_folder import RunFolder
from harness.evidence.summary import finished_attempts, outcomes, summarise
from harness.verdicts import Verdict

RUN = "run"
_STATUS = {
    Verdict.PASS: TestStepResultStatus.passed,
    Verdict.DUT_FAIL: TestStepResultStatus.failed,
    Verdict.PROCEDURE_FAIL: TestStepResultStatus.failed,
    Verdict.RIG_FAULT: TestStepResultStatus.unknown,
    Verdict.AMBIGUOUS: TestStepResultStatus.ambiguous,
    Verdict.NO_RESULT: TestStepResultStatus.unknown,
    Verdict.NOT_APPLICABLE: TestStepResultStatus.skipped,
    Verdict.PENDING: TestStepResultStatus.pending,
}


def messages(folder: RunFolder, where: str = "") -> list[dict[str, Any]]:
    """Give a run's envelopes as JSON objects, in the order in which a stream must hold them.

    where: what leads from the place of the messages to the run folder, as part of a URI (`run/`).
    """
    return [message_converter.to_dict(envelope) for envelope in _envelopes(folder, where)]


def messages_ndjson(folder: RunFolder, where: str = "") -> bytes:
    """Give a run's messages as the bytes of `messages.ndjson`; `where` as in `messages`."""
    told = messages(folder, where)
    lines = (json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in told)
    return "".join(f"{line}\n" for line in lines).encode("utf-8")


def _envelopes(folder: RunFolder, where: str) -> Iterator[Envelope]:
    records = read_records(folder.journal)
    manifest = folder.read_manifest()
    yield Envelope(meta=_meta(manifest))
    texts = _Features()
    for record in records:
        if record.kind == "feature":
            yield from texts.add(record.body)
    attempts = finished_attempts(records)
    final = outcomes(records)
    for body in _stand_ins([made[-1][-1].body for made in attempts.values()], texts):
        yield from texts.add(body, stand_in=True)
    cases = []
    for number, (scenario, made) in enumerate(attempts.items(), start=1):
        pickle = texts.pickle(f"p{number}", made[-1][-1].body)
        cases.append(_Case(number, pickle, made, final[scenario].verdict, final[scenario].what))
    yield from (Envelope(pickle=case.pickle) for case in cases)
    yield Envelope(test_run_started=TestRunStarted(id=RUN, timestamp=_stamp(_utc(records[0].utc))))
    yield from (Envelope(test_case=case.test_case) for case in cases)
    for case in cases:
        yield from case.run(where)
    summary = summarise(records)
    yield Envelope(
        test_run_finished=TestRunFinished(
            test_run_started_id=RUN,
            success=summary["verdict"] == Verdict.PASS.value,
            message=f"{summary['verdict']}: " + "; ".join(summary["inconclusive"])
            if summary["inconclusive"]
            else str(summary["verdict"]),
            timestamp=_stamp(_utc(records[-1].utc)),
        )
    )


def _meta(manifest: Mapping[str, Any]) -> Meta:
    versions = manifest["versions"]
    return Meta(
        protocol_version=metadata.version("cucumber-messages"),
        implementation=Product(name="sicbo-hil", version=versions.get("sicbo-hil")),
        runtime=Product(name=platform.python_implementation(), version=versions.get("python")),
        os=Product(name=str(manifest["host"]["system"])),
        cpu=Product(name=str(manifest["host"]["machine"])),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """A scenario of a feature: the parts of its document that a pickle refers to."""

    uri: str
    language: str
    tags: Sequence[Mapping[str, Any]]
    node: Mapping[str, Any]
    steps: Sequence[Mapping[str, Any]]
    rows: Sequence[Mapping[str, Any]]
    stand_in: bool


class _Features:
    """The features of a run, parsed; ids are unique over all of them."""

    def __init__(self) -> None:
        self._ids = IdGenerator()
        self._scenarios: list[tuple[str, _Found]] = []
        self._stand_ins: set[str] = set()

    def add(self, body: Mapping[str, Any], *, stand_in: bool = False) -> Iterator[Envelope]:
        """Take in one feature's text; gives its source and its document.

        Lines of a `stand_in` mean nothing.
        """
        uri, text = body["uri"], body["text"]
        if stand_in:
            self._stand_ins.add(uri)
        yield Envelope(
            source=Source(
                uri=uri, data=text, media_type=SourceMediaType.text_x_cucumber_gherkin_plain
            )
        )
        document = {"uri": uri, **Parser(AstBuilder(self._ids)).parse(TokenScanner(text))}
        yield Envelope(gherkin_document=message_converter.from_dict(document, GherkinDocument))
        feature = document.get("feature")
        if feature:
            self._walk(uri, feature, feature["children"], feature["tags"], [])

    def _walk(
        self,
        uri: str,
        feature: Mapping[str, Any],
        children: Sequence[Mapping[str, Any]],
        tags: Sequence[Mapping[str, Any]],
        background: Sequence[Mapping[str, Any]],
    ) -> None:
        steps = list(background)
        for child in children:
            if "background" in child:
                steps += child["background"]["steps"]
            elif "rule" in child:
                rule = child["rule"]
                self._walk(uri, feature, rule["children"], [*tags, *rule["tags"]], steps)
            else:
                node = child["scenario"]
                rows = [row for table in node["examples"] for row in table["tableBody"]]
                found = _Found(
                    uri,
                    feature["language"],
                    [*tags, *node["tags"]],
                    node,
                    [*steps, *node["steps"]],
                    rows,
                    uri in self._stand_ins,
                )
                self._scenarios.append((feature["name"], found))

    def pickle(self, name: str, body: Mapping[str, Any]) -> Pickle:
        """Make the pickle of a scenario as it was run."""
        found = self.find(body)
        assert found is not None, body["feature"]
        row = self._row(found, body)
        of_row = [row["id"]] if row else []
        return Pickle(
            id=name,
            uri=found.uri,
            name=body["name"],
            language=found.language,
            location=Location(**(row or found.node)["location"]),
            ast_node_ids=[found.node["id"], *of_row],
            steps=[
                PickleStep(
                    id=f"{name}.{number}",
                    text=text,
                    ast_node_ids=[step["id"], *of_row],
                    type=_kind(step, found.steps[:number]),
                )
                for number, (step, text) in enumerate(_texts(found.steps, body["steps"]))
            ],
            tags=[PickleTag(ast_node_id=tag["id"], name=tag["name"]) for tag in found.tags],
        )

    def find(self, body: Mapping[str, Any]) -> _Found | None:
        """Find a scenario by its feature (path or name), its book's folder and its line."""
        known = [
            found
            for feature, found in self._scenarios
            if body["feature"] in (found.uri, feature)
            and (found.stand_in or body["line"] in (None, found.node["location"]["line"]))
        ]
        mine = [found for found in known if f"/{body['book']}/" in found.uri] or known
        name = " ".join(body["name"].split())
        named = [found for found in mine if found.node["name"] == name]
        return next(iter(named or mine), None)

    @staticmethod
    def _row(found: _Found, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Find the row of an outline that a scenario came from: the one whose cells it shows."""
        told = " ".join([body["name"], *(step["text"] for step in body["steps"])])

        def shown(row: Mapping[str, Any]) -> int:
            return sum(len(c["value"]) for c in row["cells"] if c["value"] and c["value"] in told)

        return max(found.rows, key=shown, default=None)


def _stand_ins(
    bodies: Sequence[Mapping[str, Any]], texts: _Features
) -> Iterator[Mapping[str, Any]]:
    """Make a text for scenarios whose feature the record does not hold, from what it says of them.

    A run that broke off early may lack the text; its scenarios must be told all the same.
    """
    lacking: dict[str, list[str]] = {}
    for body in bodies:
        if texts.find(body) is None:
            lines = lacking.setdefault(body["feature"], [])
            lines += ["", f"  Scenario: {' '.join(body['name'].split())}"]
            lines += [f"    * {' '.join(step['text'].split())}" for step in body["steps"]]
            if not body["steps"]:
                lines.append("    * it runs")
    for feature, lines in lacking.items():
        name = " ".join(feature.split())
        yield {"uri": feature, "text": "\n".join([f"Feature: {name}", *lines, ""])}


def _kind(step: Mapping[str, Any], before: Sequence[Mapping[str, Any]]) -> PickleStepType:
    """Give a step's kind; `And` and `But` go on with what stands before."""
    kinds = [s.get("keywordType") for s in (*before, step)]
    kind = next((k for k in reversed(kinds) if k != "Conjunction"), None) or "Unknown"
    return PickleStepType(kind)


def _texts(
    steps: Sequence[Mapping[str, Any]], run: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Pair a feature's steps with their texts as run, by line where it was recorded."""
    by_line = {step["line"]: step["text"] for step in run if step["line"] is not None}
    in_order = [step["text"] for step in run] if len(run) == len(steps) else []
    for number, step in enumerate(steps):
        ordered = in_order[number] if in_order else step["text"]
        yield step, by_line.get(step["location"]["line"], ordered)


@dataclass(frozen=True, slots=True)
class _Case:
    """One scenario: its pickle, the attempts that came to an end, and what counts in the end."""

    number: int
    pickle: Pickle
    attempts: Sequence[Sequence[Record]]
    verdict: Verdict
    what: str

    @property
    def test_case(self) -> TestCase:
        """The test case: one test step for each step of the pickle."""
        return TestCase(
            id=f"c{self.number}",
            pickle_id=self.pickle.id,
            test_run_started_id=RUN,
            test_steps=[
                TestStep(id=f"c{self.number}.{n}", pickle_step_id=step.id)
                for n, step in enumerate(self.pickle.steps)
            ],
        )

    def run(self, where: str) -> Iterator[Envelope]:
        """Give the messages of every attempt; `where` leads to the run folder."""
        for attempt, records in enumerate(self.attempts):
            last = attempt == len(self.attempts) - 1
            yield from self._attempt(attempt, records, where, last=last)

    def _attempt(
        self, attempt: int, records: Sequence[Record], where: str, *, last: bool
    ) -> Iterator[Envelope]:
        end = records[-1]
        body = end.body
        verdict, what = (
            (self.verdict, self.what) if last else (Verdict(body["verdict"]), body["what"])
        )
        started = f"c{self.number}.a{attempt}"

        def at(mono: float | None) -> Timestamp:
            return _stamp(_utc(end.utc) - (end.mono - (body["ended"] if mono is None else mono)))

        yield Envelope(
            test_case_started=TestCaseStarted(
                id=started,
                test_case_id=f"c{self.number}",
                attempt=attempt,
                worker_id=str(end.pid),
                timestamp=at(body["started"]),
            )
        )
        results = _results(self.pickle.steps, body["steps"], verdict, what)
        reached = [n for n, (told, _) in enumerate(results) if told is not None]
        for number, (told, result) in enumerate(results):
            step = f"c{self.number}.{number}"
            begun, done = (told["started"], told["ended"]) if told else (None, None)
            yield Envelope(
                test_step_started=TestStepStarted(
                    test_case_started_id=started, test_step_id=step, timestamp=at(begun)
                )
            )
            if number == (reached[-1] if reached else 0):
                yield from _attachments(started, step, records, where)
            yield Envelope(
                test_step_finished=TestStepFinished(
                    test_case_started_id=started,
                    test_step_id=step,
                    test_step_result=result,
                    timestamp=at(done),
                )
            )
        yield Envelope(
            test_case_finished=TestCaseFinished(
                test_case_started_id=started,
                will_be_retried=not last,
                timestamp=at(body["ended"]),
            )
        )


def _results(
    steps: Sequence[PickleStep], run: Sequence[Mapping[str, Any]], verdict: Verdict, what: str
) -> list[tuple[Mapping[str, Any] | None, TestStepResult]]:
    """Give each step's record (None if it was not reached) and result.

    The worst result of a case is what readers take for its status, so a step that did not pass
    bears the verdict that counts, which diagnosis may have changed; if every step passed by itself
    and the scenario did not, the last step reached bears it.
    """
    told = [run[n] if n < len(run) and run[n]["verdict"] else None for n in range(len(steps))]
    reached = [n for n, one in enumerate(told) if one is not None]
    bearers = {n for n in reached if Verdict(run[n]["verdict"]) is not Verdict.PASS}
    if not bearers and verdict is not Verdict.PASS:
        bearers = {reached[-1] if reached else 0}
    results = []
    for number in range(len(steps)):
        one = told[number]
        if number in bearers:
            status, message = _STATUS[verdict], f"{verdict.value}: {what}"
            own = one["verdict"] if one else verdict.value
            if one and own != verdict.value:
                message += f" (this step by itself: {own}, {one['what']})"
        elif one is not None:
            status, message = TestStepResultStatus.passed, None
        else:
            status, message = TestStepResultStatus.skipped, "not reached"
        results.append(
            (one, TestStepResult(status=status, message=message, duration=_duration(one)))
        )
    return results


def _attachments(
    started: str, step: str, records: Sequence[Record], where: str
) -> Iterator[Envelope]:
    for record in records:
        body = record.body
        if record.kind == "look":
            yield from _links(started, step, body, where)
        if record.kind != "entry":
            continue
        judgement = body["judgement"]
        lines = [
            f"journal: line {record.line}",
            f"camera: {_seen(body['seen'])}",
            *(
                f"camera {told['camera']}: {_seen(told)}"
                for told in (body["seen"] or {}).get("cameras", ())
            ),
            f"keyed: {','.join(body['keyed']) or 'nothing'}",
            *(
                f"{name}: {', '.join(judgement.get(name) or ()) or 'none'}"
                for name in ("expected", "missing", "extra")
            ),
        ]
        yield _attach(started, step, "text/plain", "\n".join(lines))
        yield from _links(started, step, body, where)


def _links(started: str, step: str, body: Mapping[str, Any], where: str) -> Iterator[Envelope]:
    """Refer to pictures; a comment (RFC 2483) names the camera of each."""
    links = [
        (f"# camera {frame['camera']}\n" if "camera" in frame else "")
        + f"{where}frames/{frame['name']}"
        for frame in named_frames(body)
    ]
    if links:
        yield _attach(started, step, "text/uri-list", "\n".join(links))


def _seen(seen: Mapping[str, Any] | None) -> str:
    if seen is None:
        return "not looked at"
    return str(seen["reason"] or dice_text(seen["values"]))


def _attach(started: str, step: str, media_type: str, body: str) -> Envelope:
    return Envelope(
        attachment=Attachment(
            body=body,
            content_encoding=AttachmentContentEncoding.identity,
            media_type=media_type,
            test_case_started_id=started,
            test_step_id=step,
        )
    )


def _utc(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def _stamp(seconds: float) -> Timestamp:
    whole = int(seconds)
    return Timestamp(seconds=whole, nanos=int((seconds - whole) * 1e9))


def _duration(step: Mapping[str, Any] | None) -> Duration:
    if step is None or step["started"] is None or step["ended"] is None:
        return Duration(seconds=0, nanos=0)
    span = max(0.0, step["ended"] - step["started"])
    return Duration(seconds=int(span), nanos=int((span - int(span)) * 1e9))
