"""JUnit XML, the form every CI system reads.

A `failure` is the table's or a person's; an `error` is ours or undecided; what could not be tested
on this rig or lacks a ruling is `skipped`, with its name. Properties carry the clauses.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.evidence.summary import ScenarioOutcome, parts_text, rigs_of_books
from harness.verdicts import Verdict

_FAILURES = frozenset({Verdict.DUT_FAIL, Verdict.PROCEDURE_FAIL})
_SKIPPED = frozenset({Verdict.NOT_APPLICABLE, Verdict.PENDING})
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(
    run_id: str,
    started: str | None,
    scenarios: Sequence[ScenarioOutcome],
    inconclusive: Sequence[str],
    findings: Sequence[Mapping[str, Any]] = (),
) -> bytes:
    """Give the JUnit document; `inconclusive` are the run's own errors, outside any scenario.

    Of `findings` those are told that no scenario shows: a link that failed now and then, say.
    """
    suites = ET.Element("testsuites", name="sicbo-hil")
    for name, group in _by_suite(scenarios).items():
        suite = ET.SubElement(suites, "testsuite", name=name, id=run_id)
        if started:
            suite.set("timestamp", started.removesuffix("Z"))
        for outcome in group:
            suite.append(_case(outcome, name))
        _count(suite)
    of_run = [(Verdict.RIG_FAULT, what) for what in dict.fromkeys(inconclusive)]
    of_run += [found for found in _not_shown(findings, scenarios) if found not in of_run]
    if of_run:
        suite = ET.SubElement(suites, "testsuite", name="the run itself", id=run_id)
        for verdict, what in of_run:
            case = ET.SubElement(suite, "testcase", classname="sicbo-hil.run", name=_clean(what))
            case.set("time", "0")
            tag = "failure" if verdict in _FAILURES else "error"
            ET.SubElement(case, tag, type=verdict.value, message=_clean(what))
        _count(suite)
    for name in ("tests", "failures", "errors", "skipped"):
        suites.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    suites.set("time", f"{sum(float(suite.get('time', '0')) for suite in suites):.3f}")
    ET.indent(suites)
    document: bytes = ET.tostring(suites, "utf-8")
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + document + b"\n"


def _not_shown(
    findings: Sequence[Mapping[str, Any]], scenarios: Sequence[ScenarioOutcome]
) -> Iterator[tuple[Verdict, str]]:
    """Give findings of which no scenario of their book and rig bears the verdict."""
    borne = {(o.verdict, o.body["book"], o.body["rig"]) for o in scenarios}
    for found in findings:
        verdict = Verdict(found["verdict"])
        if (verdict, found.get("book"), found.get("rig")) not in borne:
            of = ", ".join(filter(None, (found.get("book"), found.get("rig"))))
            yield (
                verdict,
                f"{parts_text(found)}: {found['fault']}: {found['what']}"
                + (f" ({of})" if of else ""),
            )


def _by_suite(scenarios: Sequence[ScenarioOutcome]) -> dict[str, list[ScenarioOutcome]]:
    """Group scenarios by book and feature, and by rig where a book ran on several.

    Readers of JUnit take cases of one class and name for one test: no two here may be.
    """
    rigs = rigs_of_books(scenarios)
    suites: dict[str, list[ScenarioOutcome]] = {}
    for outcome in scenarios:
        body = outcome.body
        of = f"{body['book']} on {body['rig']}" if len(rigs[body["book"]]) > 1 else body["book"]
        suites.setdefault(_clean(f"{of}: {body['feature']}"), []).append(outcome)
    return suites


def _case(outcome: ScenarioOutcome, suite: str) -> ET.Element:
    body: Mapping[str, Any] = outcome.body
    case = ET.Element(
        "testcase",
        classname=suite,
        name=_clean(body["name"]),
        time=f"{max(0.0, body['ended'] - body['started']):.3f}",
    )
    properties = ET.SubElement(case, "properties")
    for name, values in (
        ("clause", body["clauses"]),
        ("book", [body["book"]]),
        ("rig", [body["rig"]]),
        ("verdict", [outcome.verdict.value]),
        ("mode", [body["mode"]] if body["mode"] else []),
        ("depends_on", body["depends_on"]),
        ("evidence", [f"journal:{outcome.line}", *body["evidence"]]),
        ("attempt", [str(body["attempt"])]),
    ):
        for value in values:
            ET.SubElement(properties, "property", name=name, value=_clean(value))
    verdict, what = outcome.verdict, _clean(outcome.what)
    if verdict in _FAILURES:
        ET.SubElement(case, "failure", type=verdict.value, message=what).text = what
    elif verdict in _SKIPPED:
        ET.SubElement(case, "skipped", message=f"{verdict.value}: {what}")
    elif verdict is not Verdict.PASS:
        ET.SubElement(case, "error", type=verdict.value, message=what).text = what
    return case


def _count(suite: ET.Element) -> None:
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")


def _clean(text: str) -> str:
    """Take out what XML 1.0 cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
