"""The older Cucumber JSON, derived from the messages.

It knows fewer statuses: what is ambiguous or unknown there is `undefined` here, never `passed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_STATUS = {
    "PASSED": "passed",
    "FAILED": "failed",
    "SKIPPED": "skipped",
    "PENDING": "pending",
    "AMBIGUOUS": "undefined",
    "UNDEFINED": "undefined",
    "UNKNOWN": "undefined",
}


def cucumber_json(envelopes: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Give the features with their scenarios as run; of several attempts the last one."""
    documents: dict[str, Mapping[str, Any]] = {}
    pickles: dict[str, Mapping[str, Any]] = {}
    cases: dict[str, Mapping[str, Any]] = {}
    begun: dict[str, str] = {}
    elements: dict[str, dict[str, Any]] = {}
    features: dict[str, dict[str, Any]] = {}
    for envelope in envelopes:
        for kind, body in envelope.items():
            match kind:
                case "gherkinDocument":
                    documents[body["uri"]] = body
                case "pickle":
                    pickles[body["id"]] = body
                case "testCase":
                    cases[body["id"]] = body
                case "testCaseStarted":
                    case = cases[body["testCaseId"]]
                    pickle = pickles[case["pickleId"]]
                    begun[body["id"]] = case["id"]
                    elements[case["id"]] = _element(pickle, case, documents[pickle["uri"]])
                    feature = features.setdefault(pickle["uri"], _feature(documents[pickle["uri"]]))
                    feature["elements"][case["id"]] = elements[case["id"]]
                case "testStepFinished":
                    case_id = begun[body["testCaseStartedId"]]
                    number = int(body["testStepId"].rpartition(".")[2])
                    elements[case_id]["steps"][number]["result"] = _result(body["testStepResult"])
                case "attachment":
                    case_id = begun[body["testCaseStartedId"]]
                    number = int(body["testStepId"].rpartition(".")[2])
                    step = elements[case_id]["steps"][number]
                    step.setdefault("output", []).append(body["body"])
                case "testRunFinished":
                    told = body.get("message", "")
                    if not body["success"] and (_WHY in told or _all_well(elements.values())):
                        features["run"] = _of_run(told)
    return [
        {**feature, "elements": list(feature["elements"].values())} for feature in features.values()
    ]


_WHY = ": "
"""What parts the verdict of a run from its own reasons, in the message of its end."""


def _all_well(elements: Iterable[Mapping[str, Any]]) -> bool:
    steps = (step for element in elements for step in element["steps"])
    return all(step["result"]["status"] in ("passed", "skipped", "pending") for step in steps)


def _of_run(told: str) -> dict[str, Any]:
    """Give a feature for what kept the run from passing beside its scenarios.

    This format knows no outcome of a run: without it a run that lacks scenarios would look passed.
    """
    step = {
        "keyword": "Then ",
        "name": "the run is whole and nothing speaks against its verdict",
        "line": 3,
        "match": {"location": "run:3"},
        "result": {"status": "undefined", "duration": 0, "error_message": told},
    }
    element = {
        "id": "the-run-itself;the-run",
        "keyword": "Scenario",
        "type": "scenario",
        "name": "The run",
        "description": "",
        "line": 2,
        "tags": [],
        "steps": [step],
    }
    return {
        "uri": "run",
        "id": "the-run-itself",
        "keyword": "Feature",
        "name": "The run itself",
        "description": "",
        "line": 1,
        "tags": [],
        "elements": {"run": element},
    }


def _feature(document: Mapping[str, Any]) -> dict[str, Any]:
    feature = document["feature"]
    return {
        "uri": document["uri"],
        "id": _slug(feature["name"]),
        "keyword": feature["keyword"],
        "name": feature["name"],
        "description": feature["description"],
        "line": feature["location"]["line"],
        "tags": [{"name": tag["name"], "line": tag["location"]["line"]} for tag in feature["tags"]],
        "elements": {},
    }


def _element(
    pickle: Mapping[str, Any], case: Mapping[str, Any], document: Mapping[str, Any]
) -> dict[str, Any]:
    lines, keywords = {}, {}
    for step in _steps(document["feature"]):
        lines[step["id"]], keywords[step["id"]] = step["location"]["line"], step["keyword"]
    return {
        "id": f"{_slug(document['feature']['name'])};{_slug(pickle['name'])};{case['id']}",
        "keyword": "Scenario",
        "type": "scenario",
        "name": pickle["name"],
        "description": "",
        "line": pickle["location"]["line"],
        "tags": [{"name": tag["name"]} for tag in pickle["tags"]],
        "steps": [
            {
                "keyword": keywords[step["astNodeIds"][0]],
                "name": step["text"],
                "line": lines[step["astNodeIds"][0]],
                "match": {"location": f"{pickle['uri']}:{lines[step['astNodeIds'][0]]}"},
                "result": {"status": "skipped"},
            }
            for step in pickle["steps"]
        ],
    }


def _steps(node: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    for child in node["children"]:
        for kind, inner in child.items():
            if kind == "rule":
                yield from _steps(inner)
            else:
                yield from inner["steps"]


def _result(result: Mapping[str, Any]) -> dict[str, Any]:
    duration = result["duration"]
    told = {
        "status": _STATUS[result["status"]],
        "duration": duration["seconds"] * 1_000_000_000 + duration["nanos"],
    }
    return {**told, "error_message": result["message"]} if result.get("message") else told


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
