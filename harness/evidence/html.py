"""The page: one file that opens offline, from the run's record alone."""

from __future__ import annotations

from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from harness.evidence.journal_lines import read_records
from harness.evidence.run_folder import RunFolder
from harness.evidence.summary import outcomes, summarise


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


def html_page(folder: RunFolder) -> str:
    """Give the report of a run as one HTML page."""
    records = read_records(folder.journal)
    return _template().render(
        manifest=folder.read_manifest(),
        summary=summarise(records),
        scenarios=list(outcomes(records).values()),
    )
