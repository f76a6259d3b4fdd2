"""Seal and verify: every change is found where it is, and nothing else is blamed."""

from __future__ import annotations

import json
import random
import shutil
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.evidence.canonical import canonical, sha256_hex
from harness.evidence.errors import UnreadableRecordError
from harness.evidence.finish import finish_run
from harness.evidence.journal import seal_line
from harness.evidence.keys import KeyFileError, load_public_key, load_signing_key, make_key
from harness.evidence.record import RunRecord
from harness.evidence.run_folder import RunFolder
from harness.evidence.seal import digested_part, seal_run
from harness.evidence.verify import verify_run
from tests.evidence.synthetic import make_run


@pytest.fixture(scope="module")
def key_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("keys") / "lab.pem"
    make_key(path)
    return path


def signed_run(path: Path, results: int, key_file: Path) -> Path:
    make_run(path, results)
    finish_run(RunFolder(path), load_signing_key(key_file))
    return path


@pytest.fixture(scope="module")
def sealed(tmp_path_factory, key_file):
    """A signed run of 30 results; tests that change it put it back."""
    return signed_run(tmp_path_factory.mktemp("sealed") / "run", 30, key_file)


@pytest.fixture(scope="module")
def small(tmp_path_factory, key_file):
    """A signed run of few results, soon verified; tests that change it put it back."""
    return signed_run(tmp_path_factory.mktemp("small") / "run", 6, key_file)


@pytest.fixture
def copy(sealed, tmp_path):
    return Path(shutil.copytree(sealed, tmp_path / "copy"))


def places(path: Path) -> set[tuple[str, int | None]]:
    return {(problem.file, problem.line) for problem in verify_run(path).problems}


def change_one_byte(top: Path, rng: random.Random) -> None:
    """Change one byte of one file, verify, and put it back."""
    files = sorted(p for p in top.rglob("*") if p.is_file())
    # half of the changes by bytes, half by files, so that small files get their share
    chosen = (
        rng.choice(files)
        if rng.random() < 0.5
        else rng.choices(files, [p.stat().st_size for p in files])[0]
    )
    data = chosen.read_bytes()
    at = rng.randrange(len(data))
    byte = rng.choice([b for b in range(256) if b != data[at]])
    chosen.write_bytes(data[:at] + bytes([byte]) + data[at + 1 :])
    try:
        answer = verify_run(top)
    finally:
        chosen.write_bytes(data)
    name = chosen.relative_to(top).as_posix()
    text = chosen.suffix in {".json", ".jsonl", ".xml", ".html", ".ndjson"}
    line = 1 + data.count(b"\n", 0, at) if text else None
    assert (name, line) in {(p.file, p.line) for p in answer.problems}, (name, at, byte, answer)
    assert {p.file for p in answer.problems} == {name}, (name, at, byte, answer)
    near = {line, line + 1} if line else {None}  # a changed line end is seen on both sides of it
    assert {p.line for p in answer.problems} <= near, (name, at, byte, answer)


def test_an_untouched_run_is_intact(sealed, key_file):
    answer = verify_run(sealed, load_public_key(key_file.with_suffix(".pub")))
    assert answer.to_json()["problems"] == []
    assert answer.intact
    assert answer.finished
    assert answer.complete
    assert answer.signed_by == load_signing_key(key_file).fingerprint


@pytest.mark.parametrize("seed", range(10))
def test_single_byte_changes_are_found_where_they_are(sealed, seed):
    """Fails if one is missed, or if another file or a line further off is blamed for it."""
    rng = random.Random(seed)
    for _ in range(30):
        change_one_byte(sealed, rng)
    assert verify_run(sealed).intact


@pytest.mark.long
def test_ten_thousand_single_byte_changes(small):
    rng = random.Random(20_24)
    for _ in range(10_000):
        change_one_byte(small, rng)


def test_every_byte_of_the_seal_counts(sealed):
    """Fails if a byte of the seal may change unseen: white space, signature, key, note."""
    seal = sealed / "seal.json"
    data = seal.read_bytes()
    marks = [data.index(f'"{name}":'.encode()) for name in json.loads(data)]
    spots = {mark + offset for mark in marks for offset in range(0, 90, 7)}
    spots |= set(range(len(data) - 200, len(data), 3)) | {len(data) - 1}
    try:
        for at in sorted(spot for spot in spots if spot < len(data)):
            for byte in (data[at] ^ 1, data[at] ^ 0x20):
                seal.write_bytes(data[:at] + bytes([byte]) + data[at + 1 :])
                assert places(sealed) == {("seal.json", 1)}, at
        seal.write_bytes(json.dumps(json.loads(data), indent=1).encode())
        assert places(sealed) == {("seal.json", 1)}
        seal.write_bytes(data + b"\n")
        assert places(sealed) == {("seal.json", 1)}
    finally:
        seal.write_bytes(data)


@given(st.data())
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_lines_deleted_swapped_and_doubled_are_located(sealed, data):
    """Fails if an edit of whole lines is missed, or located elsewhere than at the edited lines."""
    journal = sealed / "journal.jsonl"
    before = journal.read_bytes()
    lines = before.splitlines(keepends=True)
    a = data.draw(st.integers(0, len(lines) - 2))
    b = data.draw(st.integers(a + 1, len(lines) - 1))
    edit = data.draw(st.sampled_from(["delete", "swap", "double", "move"]))
    match edit:
        case "delete":
            changed = lines[:a] + lines[a + 1 :]
            near = {a + 1}
        case "swap":
            changed = [*lines[:a], lines[b], *lines[a + 1 : b], lines[a], *lines[b + 1 :]]
            near = set(range(a + 1, b + 2))
        case "double":
            changed = [*lines[: b + 1], lines[a], *lines[b + 1 :]]
            near = {b + 2}
        case _:
            changed = lines[:a] + lines[a + 1 : b + 1] + [lines[a]] + lines[b + 1 :]
            near = set(range(a + 1, b + 2))
    try:
        journal.write_bytes(b"".join(changed))
        answer = verify_run(sealed)
    finally:
        journal.write_bytes(before)
    told = {p.line for p in answer.problems if p.file == "journal.jsonl"}
    assert told & near
    assert {p.file for p in answer.problems} == {"journal.jsonl"}


def test_removed_added_and_swapped_files_are_named(copy):
    frames = sorted((copy / "frames").iterdir())
    one, two = frames[0].read_bytes(), frames[1].read_bytes()
    frames[0].write_bytes(two)
    frames[1].write_bytes(one)
    frames[2].unlink()
    (copy / "frames" / "extra.jpg").write_bytes(one)
    (copy / "notes.txt").write_text("looks fine")
    (copy / "manifest.json").unlink()
    assert places(copy) == {
        *((f"frames/{frame.name}", None) for frame in frames[:3]),
        ("frames/extra.jpg", None),
        ("notes.txt", None),
        ("manifest.json", None),
    }


def test_a_file_replaced_by_a_link_to_the_same_bytes_is_told(copy, tmp_path):
    frame = next((copy / "frames").iterdir())
    shutil.move(frame, tmp_path / "elsewhere.jpg")
    frame.symlink_to(tmp_path / "elsewhere.jpg")
    assert places(copy) == {(f"frames/{frame.name}", None)}


def _reseal(copy: Path, key: object = None) -> None:
    seal_run(RunFolder(copy), key)  # type: ignore[arg-type]


def test_a_changed_picture_is_found_even_when_the_folder_is_sealed_anew(copy):
    """Fails if verify trusts the seal alone: the journal holds the pictures' digests too."""
    frame = next((copy / "frames").iterdir())
    frame.write_bytes(frame.read_bytes() + b"\0")
    _reseal(copy)
    assert places(copy) == {(f"frames/{frame.name}", None)}


def test_only_the_trusted_key_counts(copy, key_file, tmp_path):
    make_key(tmp_path / "other.pem")
    trusted = load_public_key(key_file.with_suffix(".pub"))
    _reseal(copy, load_signing_key(tmp_path / "other.pem"))
    assert verify_run(copy).intact
    assert not verify_run(copy, trusted).intact
    _reseal(copy)
    unsigned = verify_run(copy)
    assert unsigned.intact
    assert unsigned.signed_by is None
    assert "not who sealed" in json.loads((copy / "seal.json").read_bytes())["note"]
    assert not verify_run(copy, trusted).intact


def test_a_seal_with_another_s_signature_is_no_seal(copy, key_file):
    """Fails if the digest is mended and the old signature still counts."""
    seal = json.loads((copy / "seal.json").read_bytes())
    seal["sealed"] = "2020-01-01T00:00:00.000Z"
    seal["seal_sha256"] = sha256_hex(digested_part(seal))
    (copy / "seal.json").write_bytes(canonical(seal) + b"\n")
    answer = verify_run(copy)
    assert answer.signed_by is None
    assert [p.file for p in answer.problems] == ["seal.json"]


def test_a_line_forged_with_a_right_hash_breaks_the_chain(copy):
    journal = copy / "journal.jsonl"
    lines = journal.read_bytes().split(b"\n")
    record = json.loads(lines[9])
    del record["hash"]
    record["utc"] = "2020-01-01T00:00:00.000000Z"
    lines[9] = seal_line(record)
    journal.write_bytes(b"\n".join(lines))
    assert {("journal.jsonl", 10), ("journal.jsonl", 11)} <= places(copy)


def test_an_unfinished_run_says_so(tmp_path):
    make_run(tmp_path / "run", 3, finish=False)
    answer = verify_run(tmp_path / "run")
    assert not answer.intact
    assert not answer.finished
    whats = " ".join(problem.what for problem in answer.problems)
    assert "unfinished" in whats
    assert "not sealed" in whats


def test_a_run_taken_up_again_is_unfinished_until_its_new_end(tmp_path):
    path = tmp_path / "run"
    with make_run(path, 3, finish=False) as record:
        record.run_finished(complete=False, why="interrupted")
    finish_run(RunFolder(path))
    assert verify_run(path).intact
    assert not verify_run(path).complete
    with RunRecord.resume(path) as record:
        assert not verify_run(path).finished
        record.run_finished()
    finish_run(RunFolder(path))
    assert verify_run(path).complete
    with pytest.raises(UnreadableRecordError, match="complete and sealed"):
        RunRecord.resume(path)
    assert verify_run(path).intact


def test_no_run_at_all_is_a_wrong_argument(tmp_path):
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(UnreadableRecordError):
            verify_run(path)


def test_a_key_is_for_its_owner_alone_and_never_overwritten(tmp_path):
    path = tmp_path / "data" / "key.pem"
    make_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(KeyFileError, match="no key there yet"):
        make_key(path)
    path.chmod(0o640)
    with pytest.raises(KeyFileError, match="0640"):
        load_signing_key(path)


@pytest.mark.parametrize("content", [b"", b"junk", b"-----BEGIN PRIVATE KEY-----\nAAAA\n"])
def test_a_file_that_is_no_key_is_told(tmp_path, content):
    path = tmp_path / "key.pem"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(KeyFileError):
        load_signing_key(path)
    with pytest.raises(KeyFileError):
        load_public_key(path)
