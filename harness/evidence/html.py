"""The page: one file that opens offline, from the run's record alone."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from harness.evidence.charts import result_grid, settle_bars, verdict_bars
from harness.evidence.report_data import WORST_FIRST, ReportData
from harness.evidence.report_items import ONLY_THE_ITEM, when
from harness.evidence.run_folder import RunFolder
from harness.evidence.table_picture import TablePicture, draw_table
from harness.evidence.thumbnails import thumbnails

MODES = {
    "presented": "dice set by the rig, read by camera, entered: closed loop.",
    "tossed": "dice as they fell, read by camera, entered: closed loop.",
    "entered": "keys and lamps only, no dice: not closed loop.",
    "not tested": "no result of this book was asked for.",
}
MOST_EXCHANGES = 60
"""Exchanges on the wires that the page shows of one result; the journal holds all."""


def html_page(report: ReportData, folder: RunFolder, where: str = "") -> str:
    """Give a run's report as one page; the same record gives the same bytes.

    where: what leads from the page's place to the run folder, as part of a URI (`run/`).
    The page asks nothing of anyone: its policy allows only its own style, script and pictures.
    """
    style, script = own_file("report.css") + _print_footer(report.report_id), own_file("report.js")
    pictures = _pictures(report)
    areas = sorted({area for book in report.books for area in book.areas})
    return _template().render(
        report=report,
        where=where,
        style=Markup(style),  # noqa: S704  # our own files
        script=Markup(script),  # noqa: S704
        style_hash=policy_hash(style),
        script_hash=policy_hash(script),
        modes=MODES,
        only_the_item=ONLY_THE_ITEM,
        pictures=list({picture.key: picture for picture in pictures.values()}.values()),
        picture_of=pictures,
        thumbs=thumbnails(
            folder.frames, [view.frames[-1] for view in report.results if view.frames]
        ),
        lines={f"journal:{view.line}": (view.anchor, view.dice) for view in report.results}
        | {
            f"journal:{view.outcome.line}": (view.anchor, view.outcome.body["name"])
            for view in report.scenarios
        },
        when=when,
        most_exchanges=MOST_EXCHANGES,
        verdict_bars=verdict_bars(report.summary["counts"]),
        grids=[
            (book, result_grid(book, report.results, WORST_FIRST))
            for book in report.books
            if book.recorded
        ],
        settle_bars=settle_bars(report.results),
        filter_verdicts=sorted({view.verdict.value for view in report.results}),
        filter_clauses=sorted({tag for view in report.results for tag in view.clauses}),
        filter_areas=areas,
    )


def _pictures(report: ReportData) -> dict[str, TablePicture]:
    """Give each book's layout; books with the same areas share one drawing."""
    drawn: dict[tuple[str, ...], TablePicture] = {}
    for book in report.books:
        drawn.setdefault(book.areas, draw_table(f"t{len(drawn)}", book.areas))
    return {book.book: drawn[book.areas] for book in report.books}


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("harness.evidence"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2")


def own_file(name: str) -> str:
    """Give a file of the pages' own: `report.css`, `report.js`."""
    return resources.files("harness.evidence").joinpath("templates", name).read_text("utf-8")


def _print_footer(report_id: str) -> str:
    """Give the style that prints the report's id and the page's number on every page."""
    plain = re.sub(r"[^A-Za-z0-9-]", "", report_id)
    return (
        f'@page {{ @bottom-left {{ content: "Report {plain}"; font-size: 8pt }} '
        '@bottom-right { content: "page " counter(page) " of " counter(pages); font-size: 8pt } }\n'
    )


def policy_hash(text: str) -> str:
    """Give a source expression of the Content Security Policy (W3C CSP 3) for an inline block."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
