"""Replay of what the whole run says: diagnosis is done again from the record alone."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
from click.testing import CliRunner

from harness.bdd.benches import facts_of, limits_of
from harness.bdd.case import check_body
from harness.bdd.closing import Closing
from harness.bdd.scenario_run import Check
from harness.cli.replay import command
from harness.dealing.selfcheck import CONTROL_DICE, CONTROL_KEYED, control_proof
from harness.diagnosis.plan import plan_cover
from harness.evidence.canonical import canonical
from harness.evidence.finish import write_summary
from harness.evidence.journal_lines import read_records
from harness.evidence.record import RunRecord
from harness.evidence.records import Scenario, Step, outside
from harness.evidence.run_folder import RunFolder
from harness.evidence.seal import seal_run
from harness.evidence.summary import findings, outcomes, summarise
from harness.observations import DiceSeen, Entry, LampSample, StagedSample
from harness.rig.find import find_rig
from harness.rig.rigfile import load_rig
from harness.rules.books import load_book
from harness.rules.judgement import judge_entry
from harness.verdicts import Verdict
from tests.evidence.rewriting import rewrite
from tests.evidence.synthetic import manifest

NY, RIG, CAMERA_CHECK = "ny-5324.51", "emulated", "the dice were read"


@pytest.fixture(scope="module")
def book():
    return load_book(NY)


@pytest.fixture(scope="module")
def rig(book):
    return load_rig(find_rig(RIG), book.areas)


@pytest.fixture(scope="module")
def cover(book):
    return sorted(plan_cover(book).results)


def swapped(areas):
    """The lamps of a table whose small and big are exchanged."""
    return frozenset({"small": "big", "big": "small"}.get(area, area) for area in areas)


def entered(book, rig, dice, index, lit):
    at, (path, *_) = 10.0 * index, facts_of(rig).sense_paths
    stages = ("before", "after-1", "after-2", "lit", "cleared")
    return Entry(
        book=NY,
        rig=RIG,
        index=index,
        mode="entered",
        shown=None,
        seen=None,
        keyed=tuple(map(str, dice)),
        lamps=tuple(
            StagedSample(stage, LampSample(at + n, path, lit if stage == "lit" else frozenset()))
            for n, stage in enumerate(stages)
        ),
        started=at,
        ended=at + 5.0,
        settle_s=0.01,
    )


def write(record, book, rig, dice, index, lit):
    """One scenario as the engine records it, with a check beside its entry."""
    name = ",".join(map(str, dice))
    item = Scenario(f"{NY}/{RIG}/{name}", "features/ny/lamps.feature", name, NY, RIG, ("@ny.e.4",))
    made, limits = entered(book, rig, dice, index, lit), limits_of(rig)
    judged = judge_entry(made, book, book.in_force(), limits)
    record.scenario_started(item)
    line = record.entry(made, judged, scenario=item.id, options=book.in_force(), limits=limits)
    record.scenario_finished(
        item,
        judged.verdict,
        judged.what,
        started=made.started,
        ended=made.ended,
        steps=[Step("Then", "the winning areas are lit", judged.verdict, judged.what)],
        results={name: judged.verdict},
        mode="entered",
        evidence=[f"journal:{line}"],
        checks=[check_body(Check(Verdict.PASS, CAMERA_CHECK))],
    )


def begin(path, cover):
    facts = manifest(dut={RIG: {"shaker": "manual", "cover": "opaque"}}, invocation={})
    return RunRecord.create(path, facts.to_json(), {NY: {"checked": len(cover), "mode": "entered"}})


def end(record, book, rig):
    Closing(book, rig, RIG, record).explain(None, None)
    record.run_finished()
    record.close()
    write_summary(record.folder)
    seal_run(record.folder, None)


def control(record, book, rig):
    """The deliberate mismatch before a run, caught, on a table of exchanged lamps."""
    lit = swapped(book.winning_areas(CONTROL_KEYED))
    made = replace(
        entered(book, rig, CONTROL_KEYED, 100, lit),
        mode="presented",
        shown=CONTROL_DICE,
        seen=DiceSeen(CONTROL_DICE, None, 0.99),
    )
    limits = limits_of(rig)
    record.entry(
        made,
        judge_entry(made, book, book.in_force(), limits),
        scenario=outside(NY, RIG, "negative-control"),
        options=book.in_force(),
        limits=limits,
        provoked=True,
    )
    proof = control_proof(made, book, book.in_force(), limits)
    record.rig_fact(RIG, "negative-control", proof.part, proof.what, good=proof.held)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory, book, rig, cover):
    """A run on a table whose small and big lamps are exchanged."""
    record = begin(tmp_path_factory.mktemp("faulty") / "run", cover)
    control(record, book, rig)
    for index, dice in enumerate(cover, 1):
        write(record, book, rig, dice, index, swapped(book.winning_areas(dice)))
    end(record, book, rig)
    return record.folder.path


@pytest.fixture
def copy(faulty, tmp_path):
    return shutil.copytree(faulty, tmp_path / "copy")


def replayed(path, *options):
    done = CliRunner().invoke(command, [str(path), "--json", *options], standalone_mode=False)
    assert done.exception is None, done.exception
    answer = json.loads(done.stdout)
    assert done.return_value == (0 if answer["same"] else 1)
    return answer["differences"]


def line_of(path, kind):
    return next(r.line for r in read_records(path / "journal.jsonl") if r.kind == kind)


def test_the_diagnosis_is_done_again_and_agrees(faulty):
    (finding,) = findings(read_records(faulty / "journal.jsonl"))
    assert finding["fault"] == "swapped"
    assert replayed(faulty) == []


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("fault", "dead"),
        ("part", "lamp:small"),
        ("verdict", "RIG_FAULT"),
        ("what", "nothing much"),
        ("results", []),
        ("evidence", []),
        ("clauses", ["ny.a"]),
    ],
)
def test_a_changed_finding_is_told_at_its_line(copy, member, value):
    """Fails if a record's own findings are believed, the summary mended along with them."""

    def change(record):
        if record["kind"] == "finding":
            assert record["body"][member] != value
            record["body"][member] = value

    rewrite(copy, change)
    told = [one for one in replayed(copy) if one["file"] == "journal.jsonl"]
    assert line_of(copy, "finding") in [one["line"] for one in told]
    assert all("finding" in one["what"] for one in told)


@pytest.mark.parametrize("kind", ["finding", "diagnosis"])
def test_what_was_left_out_is_told(copy, kind):
    """Fails if a conclusion taken out of the record goes unnoticed."""
    rewrite(copy, lambda record: record["kind"] != kind)
    assert any(kind in one["what"] for one in replayed(copy))


def test_a_verdict_changed_after_diagnosis_is_told(copy):
    """Fails if a table can be acquitted by one more line."""
    journal = copy / "journal.jsonl"
    failed = next(
        scenario
        for scenario, one in outcomes(read_records(journal)).items()
        if one.verdict is Verdict.DUT_FAIL
    )
    with RunRecord.attach(copy) as record:
        name = failed.rpartition("/")[2]
        record.rejudged(failed, Verdict.PASS, "fine", "so it is", {name: Verdict.PASS})
    (copy / "summary.json").write_bytes(canonical(summarise(read_records(journal))) + b"\n")
    told = [one for one in replayed(copy) if one["what"].startswith("diagnosed")]
    assert {one["scenario"] for one in told} == {failed}


def test_a_changed_lamp_sample_changes_the_diagnosis_too(copy):
    """Fails if only the entry is judged again: with one more lamp it is another fault."""

    def change(record):
        for sample in record["body"].get("lamps", ()):
            sample["lit"] = sorted({*sample["lit"], "total-9"})

    rewrite(copy, change)
    assert any("finding" in one["what"] for one in replayed(copy))


def test_another_oracle_is_told_wherever_it_matters(copy, tmp_path, book):
    """Fails if diagnosis rests on the book of old: by this one small and big are exchanged."""
    folder = shutil.copytree(book.folder, tmp_path / "books" / NY)
    text = (folder / "book.toml").read_text(encoding="utf-8")
    small, big = "totals = [4, 10]", "totals = [11, 17]"
    assert text.count(small) == text.count(big) == 1
    changed = text.replace(small, "\0").replace(big, small).replace("\0", big)
    (folder / "book.toml").write_text(changed, encoding="utf-8")
    told = replayed(copy, "--rules-path", str(tmp_path / "books"))
    assert {one["what"] for one in told} >= {"verdict", "finding", "diagnosed verdict"}


def test_a_run_taken_up_again_is_diagnosed_as_one(tmp_path, book, rig, cover):
    """Fails if what was entered before a break keeps the verdict that it had by itself."""
    path, half = tmp_path / "run", len(cover) // 2
    with begin(path, cover) as record:
        for index, dice in enumerate(cover[:half], 1):
            write(record, book, rig, dice, index, swapped(book.winning_areas(dice)))
    record = RunRecord.resume(path, "killed")
    for index, dice in enumerate(cover[half:], half + 1):
        write(record, book, rig, dice, index, swapped(book.winning_areas(dice)))
    end(record, book, rig)
    records = read_records(path / "journal.jsonl")
    (finding,) = findings(records)
    wrong = [name for name, one in outcomes(records).items() if one.verdict is Verdict.DUT_FAIL]
    assert finding["fault"] == "swapped"
    assert len(finding["evidence"]) == len(wrong) > half
    assert replayed(path) == []


def test_findings_of_an_earlier_diagnosis_count_no_more(tmp_path, book, rig, cover):
    """Fails if a run diagnosed twice keeps a cause that the whole record does not bear."""
    dice = next(each for each in cover if "small" in book.winning_areas(each))
    others = [each for each in cover if each != dice]
    with begin(tmp_path / "run", cover) as record:
        write(record, book, rig, dice, 1, swapped(book.winning_areas(dice)))
        Closing(book, rig, RIG, record).explain(None, None)
        (early,) = findings(read_records(record.folder.journal))
        for index, each in enumerate(others, 2):
            write(record, book, rig, each, index, swapped(book.winning_areas(each)))
        end(record, book, rig)
    (late,) = findings(read_records(record.folder.journal))
    assert late["fault"] != early["fault"] or late["part"] != early["part"]
    assert json.loads(RunFolder(tmp_path / "run").summary.read_bytes())["findings"] == [late]
    assert replayed(tmp_path / "run") == []


def test_a_deliberate_mismatch_is_seen_to_be_caught_again(copy):
    """Fails if the negative control before a run is believed."""

    def change(record):
        if record["kind"] == "rig-fact":
            assert record["body"]["good"]
            record["body"]["what"] = "all was well"

    assert replayed(copy) == []
    rewrite(copy, change)
    (told,) = replayed(copy)
    assert (told["line"], told["what"]) == (line_of(copy, "rig-fact"), "negative control")
