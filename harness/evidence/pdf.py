"""The printed report: A4, each page numbered n of m with the report's id, a clear end mark."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    Image,
    KeepTogether,
    LongTable,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

from harness.evidence.html import MODES
from harness.evidence.report_data import BookView, ReportData, ResultView, ScenarioView
from harness.evidence.report_items import ONLY_THE_ITEM, when
from harness.evidence.run_folder import RunFolder
from harness.evidence.summary import parts_text
from harness.evidence.table_picture import WIDTH, TablePicture, draw_table
from harness.evidence.thumbnails import thumbnails
from harness.verdicts import Verdict

MOST_PICTURED = 60
_MARGIN = 16 * mm
_INNER = A4[0] - 2 * _MARGIN
_BASE = getSampleStyleSheet()
_TEXT = ParagraphStyle("text", parent=_BASE["BodyText"], fontSize=9, leading=11.5, spaceBefore=2)
_SMALL = ParagraphStyle("small", parent=_TEXT, fontSize=7.5, leading=9, spaceBefore=0)
_HEAD = ParagraphStyle(
    "head", parent=_BASE["Heading2"], fontSize=13, spaceBefore=12, spaceAfter=4, keepWithNext=1
)
_SUB = ParagraphStyle(
    "sub", parent=_BASE["Heading3"], fontSize=10.5, spaceBefore=8, spaceAfter=3, keepWithNext=1
)
_TITLE = ParagraphStyle("title", parent=_BASE["Title"], alignment=0, fontSize=20, spaceAfter=8)
_END = ParagraphStyle("end", parent=_TEXT, alignment=1, spaceBefore=18)
_MISSING = '<font color="#8a1c1c"><i>missing</i></font>'
_LIT, _DARK = colors.HexColor("#ffd84d"), colors.HexColor("#14452f")
_BAD, _GREY, _DOUBT = (colors.HexColor(c) for c in ("#9b1220", "#c9d1d6", "#4b3d8f"))
_GRID = TableStyle(
    [
        ("GRID", (0, 0), (-1, -1), 0.4, colors.HexColor("#b9c2c8")),
        ("FONT", (0, 0), (-1, -1), "Helvetica", 7.5),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("TOPPADDING", (0, 0), (-1, -1), 1.5),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 1.5),
    ]
)

_HEADED = TableStyle(
    [
        ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor("#eef2f4")),
        ("FONT", (0, 0), (-1, 0), "Helvetica-Bold", 7.5),
    ]
)


def pdf_report(report: ReportData, folder: RunFolder) -> bytes:
    """Give a run's report as PDF; the same record gives the same bytes."""
    out = io.BytesIO()
    document = BaseDocTemplate(
        out,
        pagesize=A4,
        title=f"{report.title} {report.report_id}",
        author=str(report.parts[0].items[0].text or ""),
        invariant=1,
    )
    frame = Frame(_MARGIN, 20 * mm, _INNER, A4[1] - 36 * mm, 0, 0, 0, 0)
    document.addPageTemplates(PageTemplate(frames=[frame]))
    document.build(list(_story(report, folder)), canvasmaker=_numbered(report.report_id))
    return out.getvalue()


def _numbered(report_id: str) -> type[Canvas]:
    """Make a canvas that knows on each page how many pages there are."""

    class NumberedCanvas(Canvas):  # type: ignore[misc]  # reportlab is not typed
        """Keeps each page back until their number is known."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._kept: list[dict[str, Any]] = []

        def showPage(self) -> None:  # noqa: N802  # reportlab's name
            """Keep the page instead of writing it."""
            self._kept.append(dict(self.__dict__))
            self._startPage()

        def save(self) -> None:
            """Write every page with its number."""
            for number, page in enumerate(self._kept, start=1):
                self.__dict__.update(page)
                self.setFont("Helvetica", 7.5)
                self.drawString(_MARGIN, 12 * mm, f"Report {report_id}")
                self.drawRightString(
                    A4[0] - _MARGIN, 12 * mm, f"page {number} of {len(self._kept)}"
                )
                super().showPage()
            super().save()

    return NumberedCanvas


def _story(report: ReportData, folder: RunFolder) -> Iterator[Flowable]:
    yield from _cover(report)
    yield from _findings(report)
    for book in report.books:
        yield from _book_results(report, book)
    yield from _pictured(report, folder)
    yield from _scenarios(report)
    yield from _clauses(report)
    yield from _readings(report)
    yield from _rig(report)
    yield Paragraph(f"End of report {escape(report.report_id)}", _END)


def _cover(report: ReportData) -> Iterator[Flowable]:
    yield Paragraph(escape(report.title), _TITLE)
    verdict = report.verdict.value.replace("_", " ")
    yield Paragraph(f"<b>Report {escape(report.report_id)}</b>", _TEXT)
    if report.amends:
        original = report.amends
        yield Paragraph(
            f"Amends report {escape(str(original.get('run_id')))}, seal "
            f"{escape(str(original.get('seal_sha256')))}: {escape(str(original.get('why')))}",
            _TEXT,
        )
    yield Paragraph(f"Verdict: <b>{verdict}</b>", _TEXT)
    for why in report.summary["inconclusive"]:
        yield Paragraph(f"Inconclusive: {escape(why)}", _TEXT)
    yield Paragraph(
        f"Digest of the evidence (SHA-256), which the seal holds: {report.record_sha256}", _TEXT
    )
    yield Paragraph(ONLY_THE_ITEM, _TEXT)
    yield Spacer(1, 6)
    rows = [["Rule book", "Passed", "Recorded", "Asked for", "Mode"]]
    rows += [
        [
            _cell(f"{book.book}: {book.title}"),
            str(book.passed),
            str(book.recorded),
            str(book.checked),
            _cell(f"{book.mode}: {MODES[book.mode]}"),
        ]
        for book in report.books
    ]
    yield _table(rows, [62, 16, 18, 18, 64])
    counts = ", ".join(f"{n} {v.replace('_', ' ')}" for v, n in report.summary["counts"].items())
    if left := report.summary["left"]:
        counts += f"; {left} of {report.summary['planned']} planned not concluded"
    yield Paragraph(
        f"Only PASS counts as passed. Scenarios: {counts or 'none'}. Errors of the rig: "
        f"{report.rig_faults}. Retakes: {report.retakes}. Repeated reads: {report.repeated_reads}.",
        _TEXT,
    )
    for part in report.parts:
        rows = [
            [_cell(item.label), _cell(item.text) if item.text else Paragraph(_MISSING, _SMALL)]
            for item in part.items
        ]
        yield KeepTogether(
            [Paragraph(escape(part.heading), _SUB), _table(rows, [52, 126], headed=False)]
        )
    yield PageBreak()


def _findings(report: ReportData) -> Iterator[Flowable]:
    yield Paragraph("Findings", _HEAD)
    if not report.summary["findings"]:
        yield Paragraph("Nothing was found.", _TEXT)
        return
    rows: list[list[Any]] = [["Verdict", "Part", "Fault", "What", "Clauses, readings, evidence"]]
    for finding in report.summary["findings"]:
        parts = parts_text(finding)
        if not isinstance(finding["part"], str):
            parts = f"of {parts}"
        evidence = finding["evidence"][:8]
        more = len(finding["evidence"]) - len(evidence)
        told = [
            *finding["clauses"],
            *(f"depends on {reading}" for reading in finding["depends_on"]),
            *evidence,
            *([f"and {more} more"] if more else []),
        ]
        rows.append(
            [
                finding["verdict"].replace("_", " "),
                _cell(parts),
                _cell(finding["fault"]),
                _cell(finding["what"]),
                _cell(", ".join(told)),
            ]
        )
    yield _table(rows, [24, 36, 24, 50, 44])


def _book_results(report: ReportData, book: BookView) -> Iterator[Flowable]:
    views = [view for view in report.results if view.book == book.book]
    alone = [view for view in views if not view.within]
    further = [view for view in views if view.within]
    if alone:
        yield Paragraph(escape(f"Results: {book.title}"), _HEAD)
        yield _result_table(alone)
    if further:
        yield Paragraph(escape(f"Further entries, within scenarios: {book.title}"), _HEAD)
        yield _result_table(further, within=True)


def _result_table(views: Sequence[ResultView], *, within: bool = False) -> Flowable:
    rows: list[list[Any]] = [
        ["Result", "Camera", "Keyed", "Lit", "Missing", "Extra", "Settled", "Verdict"]
    ]
    rows += [
        [
            view.dice,
            view.seen if len(view.seen) < 14 else _cell(view.seen),
            view.keyed,
            f"{len(view.lit)} areas",
            _cell(", ".join(view.missing)) if view.missing else "none",
            _cell(", ".join(view.extra)) if view.extra else "none",
            _settled(view.settle_ms),
            view.verdict.value.replace("_", " "),
        ]
        for view in views
    ]
    if not within:
        return _table(rows, [17, 25, 17, 18, 30, 30, 18, 23])
    for row, name in zip(rows, ["Scenario", *(_cell(view.within) for view in views)], strict=True):
        row.append(name)
    return _table(rows, [14, 22, 14, 15, 20, 20, 15, 18, 40])


def _settled(ms: float | None) -> str:
    if ms is None:
        return ""
    return f"{ms:.1f} ms" if ms else "first look"


def _pictured(report: ReportData, folder: RunFolder) -> Iterator[Flowable]:
    """Show each result that did not pass with the layout and the dice."""
    views = [view for view in report.results if view.verdict is not Verdict.PASS]
    if not views:
        return
    yield Paragraph("Results that did not pass", _HEAD)
    if len(views) > MOST_PICTURED:
        yield Paragraph(
            f"The first {MOST_PICTURED} of {len(views)}; the page report.html shows all.", _TEXT
        )
    shown = views[:MOST_PICTURED]
    pictures = {book.book: draw_table("t", book.areas) for book in report.books}
    thumbs = thumbnails(folder.frames, [view.frames[-1] for view in shown if view.frames])
    for view in shown:
        head = f"{view.dice}, {view.book}, {view.rig}: {view.verdict.value.replace('_', ' ')}"
        dice: Flowable = Spacer(40 * mm, 1)
        if view.frames and view.frames[-1] in thumbs:
            dice = _dice_picture(thumbs[view.frames[-1]])
        both = Table(
            [[dice, _Layout(pictures[view.book], view, _INNER - 46 * mm)]],
            [44 * mm, _INNER - 44 * mm],
        )
        both.setStyle(TableStyle([("LEFTPADDING", (0, 0), (-1, -1), 0)]))
        yield KeepTogether(
            [
                Paragraph(escape(head), _SUB),
                both,
                Paragraph(escape(f"{_read(view)}; keyed {view.keyed}. {view.what}"), _SMALL),
            ]
        )


def _read(view: ResultView) -> str:
    """Say what the cameras read, each by its name where that is known."""
    if not view.each_saw:
        return f"Camera {view.seen}"
    each = "; ".join(f"camera {camera} {saw}" for camera, saw in view.each_saw)
    together = f"; together {view.seen}" if len(view.each_saw) > 1 else ""
    return each[0].upper() + each[1:] + together


def _dice_picture(uri: str) -> Flowable:
    data = io.BytesIO(base64.b64decode(uri.partition(",")[2]))
    return Image(data, width=40 * mm, height=30 * mm, kind="proportional")


class _Layout(Flowable):  # type: ignore[misc]  # reportlab is not typed
    """The table's layout with its lamps as they were sensed."""

    def __init__(self, picture: TablePicture, view: ResultView, width: float) -> None:
        super().__init__()
        self._picture, self._view = picture, view
        self._scale = width / WIDTH
        self.width, self.height = width, picture.height * self._scale

    def draw(self) -> None:
        """Draw every area in the colour of its state; missing and extra ones have a thick rim."""
        view, canvas = self._view, self.canv
        canvas.scale(self._scale, self._scale)
        canvas.setFont("Helvetica", 10)
        for cell in self._picture.cells:
            fill, text, rim, width = _DARK, colors.white, _DARK, 0.5
            if cell.area in view.missing:
                fill, text, rim, width = colors.white, _BAD, _BAD, 3
            elif cell.area in view.extra:
                fill, text, rim, width = _BAD, colors.white, colors.black, 3
            elif cell.area in view.unknown:
                fill, text = _GREY, colors.black
            elif cell.area in view.doubtful:
                fill, text = _DOUBT, colors.white
            elif cell.area in view.lit:
                fill, text = _LIT, colors.black
            canvas.setFillColor(fill)
            canvas.setStrokeColor(rim)
            canvas.setLineWidth(width)
            bottom = self._picture.height - cell.y - cell.height
            canvas.rect(cell.x, bottom, cell.width, cell.height, fill=1)
            canvas.setFillColor(text)
            canvas.drawCentredString(cell.x + cell.width / 2, bottom + 7, cell.label)


def _scenarios(report: ReportData) -> Iterator[Flowable]:
    """List the scenarios that are not one result that passed: those stand above."""
    views = [
        view
        for view in report.scenarios
        if not (view.entries and view.outcome.verdict is Verdict.PASS and view.outcome.results)
    ]
    if not views:
        return
    yield Paragraph("Scenarios", _HEAD)
    rows: list[list[Any]] = [["Scenario", "Rule book, rig", "Verdict", "What", "Clauses"]]
    for view in views:
        body = view.outcome.body
        told = [
            view.outcome.what,
            *(f"deviation {d['clause']}: {d['what']}" for d in view.deviations),
            *(f"operator, {a['prompt']}: {a['answer'] or 'no answer'}" for a in _untold(view)),
            *(_measured(measured) for measured in view.measurements),
        ]
        rows.append(
            [
                _cell(body["name"]),
                _cell(f"{body['book']}, {body['rig']}"),
                _cell(view.outcome.verdict.value.replace("_", " ")),
                _cell("; ".join(filter(None, told))),
                _cell(", ".join(body["clauses"])),
            ]
        )
    yield _table(rows, [48, 26, 22, 56, 26])


def _untold(view: ScenarioView) -> list[Mapping[str, Any]]:
    """Give the operator's answers that what is said of the scenario does not hold already."""
    told = view.outcome.what
    return [a for a in view.answers if _statement(a["prompt"]) not in told]


def _statement(prompt: str) -> str:
    return prompt.removeprefix("Is it so: ").removesuffix("?")


def _measured(told: Any) -> str:
    if told["value"] is None:
        return f"{told['name']}: not measured"
    return (
        f"{told['name']}: {told['value']} {told['unit']} ± {told['uncertainty']} {told['unit']} "
        f"(k = 2), limits {told['low']} to {told['high']}: {told['verdict']}"
    )


def _clauses(report: ReportData) -> Iterator[Flowable]:
    yield Paragraph("Clause matrix", _HEAD)
    for book in report.books:
        yield Paragraph(escape(f"{book.title}: {book.source}, {book.edition}"), _SUB)
        rows: list[list[Any]] = [
            ["Clause", "Paraphrase", "Testable", "Verdict", "Scenarios, or why not"]
        ]
        for row in book.clauses:
            names = [
                name if verdict is Verdict.PASS else f"{name} ({verdict.value.replace('_', ' ')})"
                for _, name, verdict in row.scenarios[:3]
            ]
            more = len(row.scenarios) - len(names)
            by = "; ".join([*names, *([f"and {more} more"] if more > 0 else [])])
            if len(row.scenarios) > 1:
                passed = sum(verdict is Verdict.PASS for _, _, verdict in row.scenarios)
                by = f"{len(row.scenarios)} scenarios, {passed} passed: {by}"
            if row.left:
                by = f"{by}; planned and not concluded: {row.left}".removeprefix("; ")
            rows.append(
                [
                    _cell(f"{row.clause} ({row.tag})"),
                    _cell(row.says),
                    row.testable,
                    _cell(row.verdict.value.replace("_", " ") if row.verdict else "not tested"),
                    _cell(by or row.why_not),
                ]
            )
        yield _table(rows, [30, 62, 16, 22, 48])


def _readings(report: ReportData) -> Iterator[Flowable]:
    yield Paragraph("Readings in force", _HEAD)
    for book in report.books:
        if not book.readings:
            continue
        yield Paragraph(escape(book.title), _SUB)
        rows: list[list[Any]] = [["Reading", "Value", "Basis", "What it says"]]
        rows += [
            [
                _cell(reading["name"]),
                _cell("as stated" if reading["value"] is None else str(reading["value"])),
                _cell(str(reading["source"])),
                _cell(str(reading["note"])),
            ]
            for reading in book.readings
        ]
        yield _table(rows, [42, 24, 18, 94])


def _rig(report: ReportData) -> Iterator[Flowable]:
    yield Paragraph("Rig, instruments and record", _HEAD)
    for rig in report.manifest["rigs"]:
        verified = rig["map_verified"]
        how = (
            "; ".join(f"{name} {told}" for name, told in verified.items())
            if verified
            else "not verified: a wrong lamp may be a wrong wire of the rig"
        )
        held = f" Risk of a held key: {rig['hold_risk']}." if rig.get("hold_risk") else ""
        yield Paragraph(
            escape(f"{rig['name']} ({rig['file']}, SHA-256 {rig['sha256']}). Map: {how}.{held}"),
            _TEXT,
        )
    rows: list[list[Any]] = [["Device", "What", "Serial", "Calibrated", "Due", "Certificate"]]
    rows += [
        [
            _cell(part["device"]),
            _cell(part["what"]),
            *(
                _cell(part[name]) if part[name] else Paragraph(_MISSING, _SMALL)
                for name in ("serial", "calibrated", "due", "certificate")
            ),
        ]
        for part in report.manifest["instruments"]
    ]
    yield _table(rows, [40, 36, 26, 24, 24, 28])
    if report.calibrations:
        yield Spacer(1, 6)
        rows = [["Camera", "Profile made", "SHA-256 of the profile"]]
        rows += [
            [
                _cell(f"{told.rig}/{told.camera}"),
                *(
                    _cell(text) if text else Paragraph(_MISSING, _SMALL)
                    for text in (told.made, told.sha256)
                ),
            ]
            for told in report.calibrations
        ]
        yield _table(rows, [40, 30, 108])
    for told in report.facts:
        good = {True: "good", False: "NOT good", None: "noted"}[told["good"]]
        yield Paragraph(
            escape(f"{told['rig']}, {told['topic']}, {told['part']}: {told['what']} ({good})"),
            _SMALL,
        )
    for told in report.errors:
        error = told["error"]
        yield Paragraph(
            escape(
                f"Error of the rig: {error['subject']}: expected {error['expected']}, "
                f"found {error['found']}"
            ),
            _SMALL,
        )
    for told in report.breaks:
        yield Paragraph(
            escape(
                f"Break after line {told['after_line']} ({when(told['after_utc'])}), taken up "
                f"{when(told['utc'])}: {told['why']}"
            ),
            _SMALL,
        )
    for line, by in report.clock_steps:
        yield Paragraph(
            escape(
                f"Before line {line} the host's clock went {by:+.1f} s against its monotonic "
                "clock: it was set, or the host slept"
            ),
            _SMALL,
        )
    versions = ", ".join(f"{name} {v}" for name, v in report.manifest["versions"].items())
    yield Paragraph(escape(f"Versions: {versions}."), _SMALL)


def _cell(text: str | None) -> Flowable:
    return Paragraph(escape(text or ""), _SMALL)


def _table(
    rows: Sequence[Sequence[Any]], widths: Sequence[float], *, headed: bool = True
) -> Flowable:
    whole = sum(widths)
    columns = [_INNER * width / whole for width in widths]
    table = LongTable([list(row) for row in rows], columns, repeatRows=int(headed))
    table.setStyle(_GRID)
    if headed:
        table.setStyle(_HEADED)
    return table
