"""The page: one file, asks nothing of anyone, tells everything, readable and operable by all."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import socketserver
import subprocess
import threading
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from harness.evidence.finish import finish_run
from harness.evidence.html import html_page
from harness.evidence.report_data import gather
from harness.evidence.reports import report_bytes, write_report
from harness.evidence.run_folder import RunFolder
from harness.evidence.table_picture import draw_table, label_of
from harness.rules.books import load_book
from harness.verdicts import ConfigurationError, Finding, Measurement, Verdict
from tests.evidence.synthetic import BOOK, RIG, make_run, scenario

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
OF_THE_BROWSER = {
    f"{name}.{domain}"
    for name in ("update", "optimizationguide-pa", "content-autofill", "safebrowsing", "clients2")
    for domain in ("googleapis.com", "google.com")
} | {"accounts.google.com", "www.google.com", "redirector.gvt1.com", "android.clients.google.com"}
"""Hosts that the browser asks by itself on an empty page, too."""
EVIL = '<script src="https://example.org/x.js"></script><img src="//example.org/i.png">'


class Page(HTMLParser):
    """A page taken apart: its tags in order and the text outside style and script."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self._in = [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._in.append(tag)
        self.text += " " if tag in {"dd", "td", "li", "p"} else ""

    def handle_endtag(self, tag):
        if tag in self._in:
            while self._in.pop() != tag:
                pass

    def handle_data(self, data):
        if not {"style", "script"} & set(self._in):
            self.text += data

    def all(self, *names):
        return [(tag, attrs) for tag, attrs in self.tags if tag in names]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run with a missing and an extra lamp, a finding, an answer, hostile texts and a break."""
    path = tmp_path_factory.mktemp("html") / "run"
    record = make_run(
        path,
        12,
        wrong={(1, 1, 2): frozenset({"single-1", "total-4", "total-9"})},
        finish=False,
        dut={"serial": EVIL, "firmware": "1.2"},
        profile={"laboratory": {"name": "Testing House"}, "method": {"deviations": []}},
    )
    item = scenario((6, 6, 6))
    record.scenario_started(item)
    record.operator(item.id, RIG, prompt="Is the shaker sealed?", clause="toy.a", answer="yes")
    record.deviation(item.id, RIG, "toy.a", EVIL, 3.0)
    record.measurement(item.id, Measurement("settle", "ms", 0.0, 100.0, 11.0, 2.0))
    record.scenario_finished(item, Verdict.PENDING, "a ruling is missing", started=0, ended=1)
    record.finding(Finding(Verdict.AMBIGUOUS, ("lamp:x", "input:x"), "dead", EVIL), book=BOOK)
    record.error(ConfigurationError("camera", expected="a picture", found=EVIL, remedy="x"))
    record.close()
    with record.resume(path, "power cut") as again:
        again.rig_fact(RIG, "reads", "inputs", "read again", count=3)
        again.run_finished()
    finish_run(RunFolder(path))
    return RunFolder(path)


@pytest.fixture(scope="module")
def page(folder):
    return Page(folder.html.read_text("utf-8"))


def test_nothing_in_the_page_refers_to_anywhere_else(page, folder):
    """Fails if any address leads out of the run folder, or a text of the run becomes markup."""
    for tag, attrs in page.tags:
        for name in ("src", "href", "srcset", "action", "poster", "data", "xlink:href"):
            value = attrs.get(name)
            if value is None:
                continue
            inside = value.startswith(("#", "data:")) or (folder.path / value).is_file()
            assert inside, (tag, name, value)
    assert len(page.all("script")) == len(page.all("style")) == 1
    assert not page.all("iframe", "object", "embed")
    assert "url(" not in folder.html.read_text("utf-8")
    assert not [a for _, a in page.tags if any(n.startswith("on") or n == "style" for n in a)]


def test_the_policy_forbids_every_request(page):
    (policy,) = (a["content"] for t, a in page.all("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert "unsafe" not in policy


def test_hostile_texts_are_shown_as_texts(page):
    assert page.text.count(EVIL) >= 4


def test_every_statement_is_there_and_what_is_missing_says_so(page):
    text = re.sub(r"\s+", " ", page.text)
    for label in (
        "Laboratory Testing House",
        "Address missing",
        "Customer missing",
        "Received missing",
        "Authorised by missing",
        "exclusions of the method none",
        "Results from others missing",
        "The results relate only to the items tested.",
        "Negative control before this run missing",
        "closed loop",
    ):
        assert label in text, label
    assert "power cut" in text
    assert "Repeated reads: 3" in text
    assert "settle: 11.0 ms ± 2.0 ms (k = 2)" in text
    assert "Is the shaker sealed?" in text


def test_the_report_s_id_is_in_title_head_and_end(page, folder):
    run_id = json.loads(folder.manifest.read_bytes())["run_id"]
    assert page.text.count(run_id) >= 3
    assert f"End of report {run_id}" in page.text


def test_missing_and_extra_lamps_are_drawn_and_said(page):
    (label,) = [
        attrs["aria-label"]
        for _, attrs in page.all("svg")
        if "Missing: single-2." in attrs.get("aria-label", "")
    ]
    assert "Extra: total-9." in label
    uses = [attrs["class"] for _, attrs in page.all("use") if attrs.get("class")]
    assert uses.count("missing") == uses.count("extra") == 1


def test_the_page_can_be_used_by_everyone(page):
    """Fails on what an automatic accessibility check would refuse."""
    assert ("html", {"lang": "en"}) in page.tags
    for tag, attrs in page.tags:
        if tag == "img":
            assert attrs.get("alt")
        if tag == "svg":
            assert attrs.get("aria-hidden") == "true" or (
                attrs.get("role") == "img" and attrs.get("aria-label")
            )
        if tag == "th":
            assert attrs.get("scope") in ("row", "col")
    levels = [int(tag[1]) for tag, _ in page.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in page.all("a"):
        assert not attrs["href"].startswith("#") or attrs["href"][1:] in ids
    for _, attrs in page.all("use"):
        assert attrs["href"][1:] in ids
    assert len(page.all("main")) == 1


def _luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    digits = "".join(2 * d for d in digits) if len(digits) == 3 else digits
    parts = [int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_texts_stand_out_from_their_ground(folder):
    """Fails below a contrast of 4.5 to 1 (WCAG 2.2, 1.4.3), for badges and areas alike."""
    style = re.search(r"<style>(.*?)</style>", folder.html.read_text("utf-8"), re.DOTALL)[1]
    pairs = re.findall(r"\{[^}]*background: (#\w+); color: (#\w+)", style)
    pairs += re.findall(r"--f: (#\w+);[^}]*--t: (#\w+)", style)
    assert len(pairs) >= 12
    for ground, text in pairs:
        light, dark = sorted((_luminance(ground), _luminance(text)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (ground, text)


def test_the_same_record_gives_the_same_page(folder):
    assert html_page(gather(folder), folder).encode() == folder.html.read_bytes()


def test_an_amended_report_names_the_original(folder):
    amends = {"run_id": "the-original", "seal_sha256": "ab" * 32, "why": "customer's name"}
    report = gather(folder, amends=amends)
    text = Page(html_page(report, folder)).text
    assert "Amended test report" in text
    assert "the-original" in text
    assert "customer's name" in text
    other = gather(folder, amends={**amends, "why": "address"})
    ids = {report.report_id, other.report_id, gather(folder, profile={}).report_id}
    assert len(ids | {gather(folder).report_id}) == 4
    assert "-amended-" in report.report_id


@pytest.mark.parametrize("wanted", ["html", "messages"])
def test_a_report_elsewhere_still_leads_to_the_pictures(folder, tmp_path, wanted):
    """Fails if a link of a report beside the run folder, or far from it, leads nowhere."""
    run = tmp_path / "runs" / "a run"
    shutil.copytree(folder.path, run)
    (tmp_path / "far").mkdir()
    beside = write_report(run, wanted, profile={"laboratory": {"name": "X"}})
    far = write_report(run, wanted, out=tmp_path / "far" / "report")
    for report in {beside, far, write_report(run, wanted)}:
        links = set(
            re.findall(
                r'[^\s"\\]*frames/[0-9a-f]+\.jpg', report.read_text("utf-8").replace("\\n", " ")
            )
        )
        assert links
        assert all((report.parent / unquote(link)).is_file() for link in links)


def test_a_report_made_later_says_when_it_was_issued(folder, monkeypatch):
    """Fails if a report with another profile than the run's bears the run's date of issue."""
    own = {item.label: item.text for part in gather(folder).parts for item in part.items}
    later = gather(folder, profile={}, issued="2031-05-06T07:08:09Z")
    told = {item.label: item.text for part in later.parts for item in part.items}
    assert told["Issued"] == "2031-05-06 07:08:09 UTC"
    assert told["Tested"] == own["Tested"]
    assert own["Issued"] != told["Issued"]
    made = report_bytes(folder, "html", profile={}).decode()
    assert f"Issued</dt><dd>{datetime.now(UTC):%Y-%m-%d}" in made


def test_a_page_of_1080_results_stays_within_20_mb(tmp_path):
    """A tenth of it, with frames of the size a camera gives: thumbnails are the bulk."""
    picture = (Path(__file__).parents[2] / "fixtures" / "dice" / "dev_0002.jpg").read_bytes()
    import tests.evidence.synthetic as made

    record = make_run(tmp_path / "run", 0, finish=False, asked=216)
    for n in range(108):
        made.write_result(
            record, made.ALL_RESULTS[n % 216], n, pictures=[picture + n.to_bytes(2, "big")]
        )
    record.run_finished()
    page = html_page(gather(record.folder), record.folder)
    assert len(page.encode()) < 2_000_000


def test_every_area_of_a_book_has_a_place_of_its_own():
    for book, paths in (("ny-5324.51", ()), ("example-106", (_books(),))):
        areas = list(load_book(book, paths).areas)
        picture = draw_table("t", areas)
        assert sorted(cell.area for cell in picture.cells) == sorted(areas)
        boxes = [(c.x, c.y, c.x + c.width, c.y + c.height) for c in picture.cells]
        for n, (left, top, right, bottom) in enumerate(boxes):
            assert 0 <= left < right <= 400
            assert 0 <= top < bottom <= picture.height
            for other in boxes[n + 1 :]:
                assert (
                    right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
                )


def _books():
    return Path(__file__).parents[2] / "fixtures" / "books"


def test_areas_are_labelled_as_people_know_them():
    labels = [
        label_of(a) for a in ("small", "any-triple", "double-3", "triple-6", "total-9", "pair-1-2")
    ]
    assert labels == ["small", "any triple", "3 3", "6 6 6", "9", "1·2"]


# -- in a real browser --------------------------------------------------------------------------


def chromium(url, *options):
    command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", *options]
    command += ["--virtual-time-budget=5000", "--dump-dom", url]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    return done.stdout


@pytest.mark.system("chromium")
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_the_page_opens_in_chromium_without_a_request(folder, tmp_path):
    """A proxy that every request but a file's would go through sees none; the filters work."""
    asked = []

    class Proxy(socketserver.StreamRequestHandler):
        def handle(self):
            asked.append(self.rfile.readline())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        options = (
            f"--proxy-server=127.0.0.1:{proxy.server_address[1]}",
            "--proxy-bypass-list=<-loopback>",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            "--disable-features=OptimizationHints,MediaRouter",
        )
        dom = chromium(folder.html.as_uri(), *options)
        proxy.shutdown()
    targets = [line.split()[1].decode() for line in asked]
    hosts = {urlsplit(t if "://" in t else f"//{t}").hostname for t in targets}
    assert hosts <= OF_THE_BROWSER, hosts
    assert "12 of 12 results shown" in dom


@pytest.mark.system("chromium")
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_nothing_is_wider_than_a_phone(folder, tmp_path):
    measured = tmp_path / "measured.html"
    script = (
        "<script>document.title='wide '+(document.documentElement.scrollWidth"
        "-document.documentElement.clientWidth)</script></body>"
    )
    text = re.sub(r'<meta http-equiv="Content-Sec[^>]*>', "", folder.html.read_text("utf-8"))
    measured.write_text(text.replace("</body>", script))
    frame = tmp_path / "frame.html"
    frame.write_text(
        '<iframe src="measured.html" width="360" height="800" onload="document.title=this.'
        'contentDocument.title"></iframe>'
    )
    dom = chromium(frame.as_uri(), "--allow-file-access-from-files")
    assert "<title>wide 0</title>" in dom


@pytest.mark.system("chromium")
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [1280, 500])
def test_the_accessibility_checker_axe_finds_nothing(folder, tmp_path, width):
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    got = subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", "--prefix", tmp_path, "axe-core@4"],
        check=False,
        capture_output=True,
        timeout=300,
    )
    if got.returncode:
        pytest.skip("npm cannot fetch axe-core")
    axe = (tmp_path / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")
    run = (
        "axe.run(document).then(r => {document.body.textContent = 'violations: '"
        " + JSON.stringify(r.violations.map(v => [v.id, v.nodes[0].html]))})"
    )
    text = re.sub(r'<meta http-equiv="Content-Sec[^>]*>', "", folder.html.read_text("utf-8"))
    checked = tmp_path / "checked.html"
    checked.write_text(
        text.replace("</body>", f"<script>{axe}</script><script>{run}</script></body>"), "utf-8"
    )
    assert "violations: []" in chromium(checked.as_uri(), f"--window-size={width},900")
