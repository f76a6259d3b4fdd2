"""The decision of a qualification made again from its recorded tosses, and compared.

Readings of tosses whose pictures were not kept are what was observed; pictures that were kept (of
tosses that were not read) are read anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.campaign.qualify import Settings, decision_of, findings, rates, study_of
from harness.campaign.qualify_outcome import VERDICTS, rates_json
from harness.campaign.qualify_record import INSPECTION, csv_of, json_of, read_recorded
from harness.campaign.qualify_toss import outcome_of_reason
from harness.evidence.canonical import canonical
from harness.evidence.journal_lines import Record, read_records
from harness.evidence.replay import Difference
from harness.evidence.replay_pictures import Pictures
from harness.evidence.run_folder import RunFolder
from harness.fairness.decision import Decision
from harness.verdicts import Finding, Verdict

_FILE = "qualification.json"


def is_qualification(manifest: Mapping[str, Any]) -> bool:
    """Tell whether a run is the qualification of a shaker."""
    return manifest.get("inspection") == INSPECTION


def compare_decision(folder: RunFolder) -> Iterator[Difference]:
    """Derive decision, findings and figures again; give what comes out otherwise.

    Raises UnreadableRecordError where a toss is missing from the record.
    """
    records = read_records(folder.journal)
    settings = Settings(**folder.read_manifest()["invocation"]["settings"])
    recorded = read_recorded(folder)
    study = study_of(settings, recorded)
    decision, analysis = decision_of(study, settings, recorded), study.analysis()
    yield from _compare_pictures(folder, records)
    ends = [record for record in records if record.kind == "scenario-finished"]
    if not ends:
        return
    yield from _compare_verdict(ends[-1], records, decision, study.tosses)
    found = findings(analysis) if decision == "biased" else ()
    yield from _compare_findings(records, found, ends[-1].line)
    figures = {
        "decision": decision,
        "tosses": recorded.number,
        "read": study.tosses,
        "rates_per_1000": rates_json(rates(recorded)),
        "analysis": analysis.to_json(),
    }
    yield from _compare_figures(folder, figures)
    csv = folder.path / "tosses.csv"
    if csv.is_file() and csv.read_bytes() != csv_of(recorded.tosses):
        yield Difference("tosses.csv", None, None, None, "tosses", "others", "those of the journal")


def _compare_pictures(folder: RunFolder, records: Sequence[Record]) -> Iterator[Difference]:
    """Read kept pictures of dice at rest anew; when dice come to rest is a matter of time."""
    pictures = Pictures(folder)
    rig = folder.read_manifest()["rigs"][0]["name"]
    for record in records:
        if record.kind != "toss" or not record.body["frames"]:
            continue
        toss = f"toss {record.body['number']}"
        looked = pictures.look_at(record.body["frames"], rig)
        for name, what in looked.broken:
            yield Difference(f"frames/{name}", None, None, toss, "picture", None, what)
        if looked.seen is None or record.body["outcome"] == "restless":
            continue
        derived, was = outcome_of_reason(looked.seen.reason), record.body["outcome"]
        if derived != ("read" if was == "unidentified" else was):
            yield Difference("journal.jsonl", record.line, None, toss, "outcome", was, derived)


def _compare_verdict(
    end: Record, records: Sequence[Record], decision: Decision, read: int
) -> Iterator[Difference]:
    """Hold the verdict against the decision; a bench or a table that broke decides nothing."""
    derived, was = VERDICTS[decision], Verdict(end.body["verdict"])
    broke = any(record.kind == "error" for record in records)
    if was is not derived and (not broke or was is Verdict.PASS or derived is Verdict.DUT_FAIL):
        yield _differs(end.line, "verdict", was.value, derived.value)
    told = f"{decision} after {read} tosses"
    if end.body["what"].partition(";")[0] != told:
        yield _differs(end.line, "decision", end.body["what"], told)


def _compare_findings(
    records: Sequence[Record], found: Sequence[Finding], line: int
) -> Iterator[Difference]:
    """Compare findings about the dice; one of a table that broke is not of the tosses."""
    recorded = {canonical(_bare(r.body)): r for r in records if r.kind == "finding"}
    derived = {canonical(one.to_json()): one for one in found}
    broke = any(record.kind == "error" for record in records)
    for said, record in recorded.items():
        if said not in derived and (derived or not broke):
            yield _differs(record.line, "finding", record.body.get("what"), None)
    for said, finding in derived.items():
        if said not in recorded:
            yield _differs(line, "finding", None, finding.what)


def _bare(finding: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in finding.items() if name not in ("book", "rig")}


def _compare_figures(folder: RunFolder, derived: Mapping[str, object]) -> Iterator[Difference]:
    path = folder.path / _FILE
    if not path.is_file():
        return
    try:
        recorded = json.loads(path.read_bytes())
    except ValueError:
        recorded = None
    if not isinstance(recorded, dict):
        yield Difference(_FILE, 1, None, None, "figures", "not JSON", derived["decision"])
        return
    for name, value in json.loads(json_of(derived)).items():
        if recorded.get(name) != value:
            yield Difference(_FILE, 1, None, None, name, recorded.get(name), value)


def _differs(line: int, what: str, recorded: object, derived: object) -> Difference:
    return Difference("journal.jsonl", line, None, None, what, recorded, derived)
