"""A run folder in bad company: links, clocks that are set, places that cannot be written."""

from __future__ import annotations

import contextlib
import json
import os
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.report import command as report
from harness.cli.verify import command
from harness.evidence.errors import (
    SealedFolderError,
    UnreadableRecordError,
    UnwritableFolderError,
    as_schema_has_it,
)
from harness.evidence.finish import finish_run
from harness.evidence.replay import replay_run
from harness.evidence.report_data import gather
from harness.evidence.reports import write_report
from harness.evidence.run_folder import RunFolder
from harness.evidence.verify import verify_run
from tests.evidence.rewriting import rewrite
from tests.evidence.synthetic import ToyBook, make_run


@pytest.fixture
def sealed(tmp_path):
    record = make_run(tmp_path / "run", 2)
    finish_run(record.folder)
    record.close()
    return tmp_path / "run"


def problems(path):
    return {problem.file: problem.what for problem in verify_run(path).problems}


def test_a_folder_of_pictures_that_became_a_link_is_told(sealed, tmp_path):
    """Fails if pictures may lie outside the run, where they can be exchanged afterwards."""
    (sealed / "frames").rename(tmp_path / "elsewhere")
    (sealed / "frames").symlink_to(tmp_path / "elsewhere")
    told = problems(sealed)
    assert told["frames"] == "added: a link or a device"
    assert sum(what == "removed" for what in told.values()) == 6


def test_a_name_that_breaks_the_line_is_told_in_one(sealed):
    (sealed / "a\nb").touch()
    said = CliRunner().invoke(command, [str(sealed)], standalone_mode=False).output
    assert r"'a\nb': added: the seal does not know it" in said.splitlines()


@pytest.mark.parametrize("seconds", [-3600.0, 90.0])
def test_a_clock_that_was_set_during_a_run_stands_in_the_report(sealed, seconds):
    """Fails if a report's times are given as if nobody had touched the clock."""
    assert gather(RunFolder(sealed)).clock_steps == ()
    first = json.loads((sealed / "journal.jsonl").read_bytes().splitlines()[0])["utc"]

    def change(record):
        if record["n"] >= 5:
            utc = datetime.fromisoformat(record["utc"]) + timedelta(seconds=seconds)
            record["utc"] = utc.isoformat(timespec="microseconds").replace("+00:00", "Z")

    rewrite(sealed, change)
    assert first.endswith("Z")
    ((line, by),) = gather(RunFolder(sealed)).clock_steps
    assert (line, round(by)) == (5, seconds)
    finish_run(RunFolder(sealed))
    assert f"before line 5 the host's clock went {seconds:+.1f} s" in (
        (sealed / "report.html").read_text("utf-8").replace("&#39;", "'")
    )
    assert verify_run(sealed).intact


def test_no_report_is_written_into_a_sealed_folder(sealed, tmp_path):
    """Fails if `report --out` may break the seal of the run that it is of."""
    (tmp_path / "way").symlink_to(sealed)
    for out in (sealed / "own.html", sealed / "frames" / "own.html", tmp_path / "way" / "x.html"):
        with pytest.raises(SealedFolderError):
            write_report(sealed, "html", out=out)
    assert verify_run(sealed).intact
    assert write_report(sealed, "html", out=tmp_path / "own.html").is_file()


def test_a_run_asked_for_where_nothing_can_be_written_is_a_mistake_of_the_asker(tmp_path):
    """Fails if a wrong --out is told as a fault of the bench (exit status 3, not 2)."""
    (tmp_path / "file").touch()
    places = [tmp_path / "file" / "run", tmp_path / ("x" * 300)]
    if Path("/proc/self").is_dir():
        places.append(Path("/proc/self/no-such-folder/run"))
    if os.geteuid() != 0:
        (tmp_path / "closed").mkdir(mode=0o500)
        places.append(tmp_path / "closed" / "run")
    for place in places:
        with pytest.raises(UnwritableFolderError) as refusal:
            make_run(place, 1)
        assert refusal.value.exit_status == 2


@pytest.mark.parametrize("member", ["lamps", "judgement", "scenario", "frames"])
def test_a_record_without_a_member_of_its_schema_is_told_in_a_line(sealed, member):
    """Fails if a thorough forger gets an internal error out of a command, hashes mended."""

    def change(record):
        if record["kind"] == "entry":
            record["body"].pop(member)

    with contextlib.suppress(KeyError):
        rewrite(sealed, change)
    done = CliRunner().invoke(report, [str(sealed), "--format", "html"], standalone_mode=False)
    assert done.exception is None or isinstance(done.exception, UnreadableRecordError)
    with pytest.raises(UnreadableRecordError), as_schema_has_it(sealed):
        replay_run(sealed, lambda _: ToyBook())
