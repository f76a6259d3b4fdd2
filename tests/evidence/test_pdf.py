"""The printed report: numbered pages, its id on each, a clear end, the digest."""

from __future__ import annotations

import re
import shutil
import subprocess
import zlib
from base64 import a85decode

import pytest

from harness.evidence.pdf import pdf_report
from harness.evidence.report_data import gather
from harness.evidence.run_folder import RunFolder
from harness.evidence.seal import seal_run
from harness.verdicts import Finding, Verdict
from tests.evidence.synthetic import BOOK, make_run

RUN_ID = "11111111-2222-3333-4444-555555555555"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("pdf") / "run"
    record = make_run(
        path,
        150,
        frames=1,
        wrong={(1, 1, 2): frozenset({"single-1", "total-9"})},
        finish=False,
        run_id=RUN_ID,
    )
    record.finding(Finding(Verdict.DUT_FAIL, ("lamp:x",), "dead", "<b>&dark"), book=BOOK)
    record.run_finished()
    return RunFolder(path)


def page_texts(pdf: bytes) -> list[str]:
    """Give the texts of each page, decoded from its content stream."""
    texts = []
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL):
        try:
            content = zlib.decompress(a85decode(stream.strip(), adobe=False))
        except ValueError:
            try:
                content = zlib.decompress(a85decode(b"<~" + stream.strip(), adobe=True))
            except (ValueError, zlib.error):
                continue
        except zlib.error:
            continue
        if b" Tf" in content:
            shown = re.findall(rb"\(((?:[^()\\]|\\.)*)\)", content)
            texts.append(re.sub(r"\\([()\\])", r"\1", b" ".join(shown).decode("latin-1")))
    return texts


@pytest.fixture(scope="module")
def pages(folder):
    return page_texts(pdf_report(gather(folder), folder))


def test_every_page_bears_the_report_s_id_and_its_number(pages):
    assert len(pages) >= 4
    for number, text in enumerate(pages, start=1):
        assert f"page {number} of {len(pages)}" in text
        assert f"Report {RUN_ID}" in text


def test_the_end_is_marked_once_on_the_last_page(pages):
    assert [f"End of report {RUN_ID}" in text for text in pages] == [False] * (len(pages) - 1) + [
        True
    ]


def test_the_cover_shows_the_digest_that_the_seal_holds(pages, folder):
    digest = seal_run(folder, None)["record_sha256"]
    folder.seal.unlink()
    assert digest in pages[0]
    assert "missing" in pages[0]
    assert "closed loop" in pages[0]


def test_every_result_is_listed(pages):
    text = " ".join(pages)
    assert text.count("PASS") >= 149
    assert "total-9" in text
    assert "<b>&dark" in text.replace(" ", "")


def test_the_same_record_gives_the_same_print(folder):
    assert pdf_report(gather(folder), folder) == pdf_report(gather(folder), folder)


@pytest.mark.system("pdftotext")
@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext is not installed")
def test_another_reader_finds_the_same(folder, tmp_path, pages):
    (tmp_path / "report.pdf").write_bytes(pdf_report(gather(folder), folder))
    done = subprocess.run(
        ["pdftotext", "-layout", tmp_path / "report.pdf", "-"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert f"page {len(pages)} of {len(pages)}" in done.stdout
    assert f"End of report {RUN_ID}" in done.stdout
