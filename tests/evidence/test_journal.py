"""The journal: what was acknowledged is there, whole, in order and chained, whatever happens."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.evidence.canonical import sha256_hex
from harness.evidence.errors import EvidenceError
from harness.evidence.journal import Journal
from harness.evidence.journal_lines import check_lines, read_records

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)
bodies = st.dictionaries(st.text(st.characters(codec="utf-8")), json_values, max_size=4)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


@given(written=st.lists(st.tuples(st.sampled_from(["event", "entry"]), bodies), max_size=8))
@settings(max_examples=60, deadline=None)
def test_what_is_read_is_what_was_written(tmp_path_factory, written):
    """Fails if any body comes back changed, out of order or unchained."""
    path = tmp_path_factory.mktemp("j") / "journal.jsonl"
    with Journal(path) as journal:
        lines = [journal.append(kind, body) for kind, body in written]
    assert lines == list(range(1, len(written) + 1))
    assert [(r.kind, r.body) for r in read_records(path)] == written
    assert not written or list(check_lines(path.read_bytes())) == []


def test_each_line_carries_the_hash_of_the_line_before(path):
    with Journal(path) as journal:
        for n in range(5):
            journal.append("event", {"n": n, "text": "Würfel\u2028"})
    lines = path.read_bytes().splitlines(keepends=True)
    before = "0" * 64
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], start=1):
        record = json.loads(line)
        assert (record["n"], record["prev"]) == (number, before)
        before = sha256_hex(line)
    assert len(lines) == 5


def test_a_second_writer_chains_on_the_first(path):
    """Fails if a writer trusts what it remembers of the end instead of the file."""
    with Journal(path) as one, Journal(path) as two:
        assert [
            one.append("a", {}),
            two.append("b", {}),
            one.append("c", {}),
            two.append("d", {}),
        ] == [1, 2, 3, 4]
    assert list(check_lines(path.read_bytes())) == []


def _write_many(path: Path, who: int, count: int) -> None:
    with Journal(path) as journal:
        for n in range(count):
            journal.append_all([("event", {"who": who, "n": n}), ("event", {"who": who, "n": n})])


def test_several_processes_append_to_one_journal(path):
    """Fails if lines of two processes mix, get lost or break the chain."""
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_write_many, args=(path, who, 40)) for who in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    records = read_records(path)
    assert list(check_lines(path.read_bytes())) == []
    for who in range(4):
        mine = [r.body["n"] for r in records if r.body["who"] == who]
        assert mine == sorted(list(range(40)) * 2)


def test_a_journal_carried_over_a_fork_still_locks(path):
    """Fails if parent and child share one lock, as file descriptors over a fork do."""
    context = multiprocessing.get_context("fork")
    with Journal(path) as journal:
        journal.append("event", {"who": "parent"})

        def child() -> None:
            for n in range(100):
                journal.append("event", {"who": "child", "n": n})

        process = context.Process(target=child)
        process.start()
        for n in range(100):
            journal.append("event", {"who": "parent", "n": n})
        process.join()
    assert process.exitcode == 0
    assert len(read_records(path)) == 201
    assert list(check_lines(path.read_bytes())) == []


@given(cut=st.integers(min_value=1), junk=st.binary(max_size=40).filter(lambda b: b"\n" not in b))
@settings(max_examples=80, deadline=None)
def test_a_half_written_last_line_is_set_aside_and_recorded(tmp_path_factory, cut, junk):
    """Fails if a torn end breaks the journal, is thrown away, or goes unmentioned."""
    path = tmp_path_factory.mktemp("j") / "journal.jsonl"
    with Journal(path) as journal:
        for n in range(4):
            journal.append("event", {"n": n})
    whole = path.read_bytes()
    last = whole[whole.rfind(b"\n", 0, -1) + 1 :]
    torn = last[: 1 + cut % (len(last) - 1)] + junk
    path.write_bytes(whole + torn)
    with Journal(path) as journal:
        journal.append("event", {"n": "after"})
    records = read_records(path)
    assert [r.kind for r in records] == ["event"] * 4 + ["torn", "event"]
    assert list(check_lines(path.read_bytes())) == []
    assert (path.parent / records[4].body["file"]).read_bytes() == torn


def test_a_torn_end_set_aside_before_a_second_power_cut_is_recorded_later(path):
    with Journal(path) as journal:
        journal.append("event", {})
    (path.parent / "journal.torn-0123456789abcdef").write_bytes(b'{"bo')
    with Journal(path):
        pass
    with Journal(path):
        pass
    assert [r.kind for r in read_records(path)] == ["event", "torn"]


def test_another_program_s_file_is_not_taken_for_a_torn_journal(path):
    path.write_text("not a journal\nat all\n")
    with pytest.raises(EvidenceError, match="none of its records"):
        Journal(path)
    assert path.read_text() == "not a journal\nat all\n"


def test_a_writer_whose_journal_was_cut_short_stops(path):
    with Journal(path) as journal:
        journal.append("event", {})
        journal.append("event", {})
        os.truncate(path, path.stat().st_size - 10)
        with pytest.raises(EvidenceError, match="cannot go on"):
            journal.append("event", {})


def test_what_json_cannot_hold_is_refused_and_leaves_no_trace(path):
    with Journal(path) as journal:
        journal.append("event", {})
        with pytest.raises(ValueError, match="JSON compliant"):
            journal.append("event", {"volts": float("nan")})
        assert journal.append("event", {}) == 2
    assert list(check_lines(path.read_bytes())) == []


_WRITER = """
import sys
from pathlib import Path
from harness.evidence.journal import Journal
with Journal(Path(sys.argv[1])) as journal:
    n = 0
    while True:
        print(journal.append("entry", {"n": n, "text": "x" * 9000}), flush=True)
        n += 1
"""


def test_a_full_disk_leaves_whole_lines_and_says_so(path):
    """Fails if a write that the system cuts short leaves half a line or passes in silence."""
    program = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n" + _WRITER
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "EvidenceError" in done.stderr
    acknowledged = len(done.stdout.split())
    assert len(read_records(path)) == acknowledged == 5
    assert list(check_lines(path.read_bytes())) == []


@pytest.mark.parametrize("seed", range(12))
def test_kill_9_while_appending_loses_nothing_acknowledged(path, seed):
    """Fails if a line reported as written is gone, or the journal cannot be taken up again."""
    writer = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    writer.stdout.readline()
    time.sleep(random.Random(seed).uniform(0.0, 0.05))
    writer.send_signal(signal.SIGKILL)
    rest = writer.stdout.read()
    writer.stdout.close()
    writer.wait()
    acknowledged = 1 + len([line for line in rest.splitlines() if line])
    with Journal(path) as journal:
        journal.append("run-resumed", {})
    records = [r for r in read_records(path) if r.kind == "entry"]
    assert [r.body["n"] for r in records] == list(range(len(records)))
    assert acknowledged <= len(records) <= acknowledged + 1
    assert list(check_lines(path.read_bytes())) == []
