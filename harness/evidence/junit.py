"""JUnit XML, the form every CI system reads.

A `failure` is the table's or a person's; an `error` is ours or undecided; what could not be tested
on this rig or lacks a ruling is `skipped`, with its name. Properties carry the clauses.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from typing import Any

from harness.evidence.summary import ScenarioOutcome
from harness.verdicts import Verdict

_FAILURES = frozenset({Verdict.DUT_FAIL, Verdict.PROCEDURE_FAIL})
_SKIPPED = frozenset({Verdict.NOT_APPLICABLE, Verdict.PENDING})
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(
    run_id: str, started: str | None, scenarios: Iterable[ScenarioOutcome], inconclusive: list[str]
) -> bytes:
    """Give the JUnit document; `inconclusive` are the run's own errors, outside any scenario."""
    suites = ET.Element("testsuites", name="sicbo-hil")
    by_feature: dict[str, list[ScenarioOutcome]] = {}
    for outcome in scenarios:
        by_feature.setdefault(outcome.body["feature"], []).append(outcome)
    for feature, group in by_feature.items():
        suite = ET.SubElement(suites, "testsuite", name=_clean(feature), id=run_id)
        if started:
            suite.set("timestamp", started.removesuffix("Z"))
        for outcome in group:
            suite.append(_case(outcome))
        _count(suite)
    if inconclusive:
        suite = ET.SubElement(suites, "testsuite", name="the run itself", id=run_id)
        for what in inconclusive:
            case = ET.SubElement(suite, "testcase", classname="sicbo-hil.run", name=_clean(what))
            case.set("time", "0")
            ET.SubElement(case, "error", type="RIG_FAULT", message=_clean(what))
        _count(suite)
    for name in ("tests", "failures", "errors", "skipped"):
        suites.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    suites.set("time", f"{sum(float(suite.get('time', '0')) for suite in suites):.3f}")
    ET.indent(suites)
    document: bytes = ET.tostring(suites, "utf-8")
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + document + b"\n"


def _case(outcome: ScenarioOutcome) -> ET.Element:
    body: Mapping[str, Any] = outcome.body
    case = ET.Element(
        "testcase",
        classname=_clean(body["feature"]),
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
