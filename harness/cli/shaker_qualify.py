"""`sicbo-hil shaker qualify`: toss, read and decide, showing how it stands."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness.cli.shaker_decision import EXIT, row_names, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.campaign.qualify import Qualification, Settings, State
    from harness.campaign.qualify_record import QualificationRecord
    from harness.evidence.keys import SigningKey
    from harness.rig.sections import Rig

_LINE_EVERY_S = 5.0
_INTERRUPTED = 130


@click.command()
@click.argument("rig", required=False)
@click.option("--alpha", type=float, help="Error rate of the decision [default: 0.01].")
@click.option("--tolerance", type=float, help="How far a face may be off 1/6 [default: 0.02].")
@click.option("--level", type=float, help="Of the fixed tests together [default: 0.99].")
@click.option("--most", type=int, help="Tosses to be read at most [default: 100000].")
@click.option(
    "--dice",
    "told_by",
    type=click.Choice(["alike", "colour", "place"]),
    help="How dice are told apart: not at all, by colour, by the chamber they lie in "
    "[default: alike].",
)
@click.option("--reference", "references", multiple=True, help="What is qualified: serial numbers.")
@click.option("--out", help="Folder for the record; a new one under runs/ by default.")
@click.option("--resume", type=click.Path(path_type=Path), help="Folder to be taken up again.")
@click.option("--fault", "faults", multiple=True, help="Fault for the emulated bench.")
def qualify(
    rig: str | None,
    alpha: float | None,
    tolerance: float | None,
    level: float | None,
    most: int | None,
    told_by: str | None,
    references: tuple[str, ...],
    out: str | None,
    resume: Path | None,
    faults: tuple[str, ...],
) -> None:
    """Toss on RIG until the dice are found fair or biased. Exit 0 fair, 1 biased, 3 undecided.

    Stops at a decision or after --most tosses. What was tossed is kept whenever it stops, and
    --resume takes it up again (there only --most may be given anew).
    """
    given = {
        "alpha": alpha,
        "tolerance": tolerance,
        "level": level,
        "most": most,
        "told_by": told_by,
    }
    asked = {name: value for name, value in given.items() if value is not None}
    if resume is not None:
        fixed = [rig, out, *references, *faults, *(set(asked) - {"most"})]
        if any(fixed):
            raise click.UsageError("with --resume only --most may be given anew")
        sys.exit(_go_on(resume, asked))
    if rig is None:
        raise click.UsageError("name a rig, or a folder to --resume")
    sys.exit(_begin(rig, asked, references, out, faults))


def _begin(
    rig: str,
    asked: dict[str, Any],
    references: Sequence[str],
    out: str | None,
    faults: Sequence[str],
) -> int:
    from harness.campaign.qualify import Settings
    from harness.campaign.qualify_record import INSPECTION, QualificationRecord
    from harness.cli.run_manifest import dut_of, instruments_of, new_folder, rig_facts
    from harness.dealing.calibrations import load_calibrations
    from harness.evidence.keys import load_signing_key
    from harness.evidence.manifest import Manifest
    from harness.evidence.profile import load_profile
    from harness.rig.find import find_rig
    from harness.rig.rigfile import load_rig

    settings = Settings(**asked)
    settings.check()
    loaded = load_rig(find_rig(rig))
    key = load_signing_key()
    laboratory = loaded.laboratory
    manifest = Manifest(
        rigs=[rig_facts(loaded.name, loaded)],
        books=[],
        invocation={
            "rig": str(loaded.path.resolve()),
            "settings": _plain(settings),
            "faults": list(faults),
        },
        inspection=INSPECTION,
        instruments=instruments_of(loaded),
        operator=laboratory.operator if laboratory is not None else None,
        dut={loaded.name: {**dut_of(loaded), "references": list(references)}},
        profile=load_profile()
        | (laboratory.model_dump(mode="json") if laboratory is not None else {}),
    ).to_json() | {"calibrations": {loaded.name: load_calibrations(loaded).to_json()}}
    folder = Path(out) if out is not None else new_folder(str(manifest["run_id"]))
    record = QualificationRecord.create(folder, manifest)
    return _carry_out(loaded, settings, record, key, faults)


def _go_on(folder: Path, asked: dict[str, Any]) -> int:
    from harness.campaign.qualify import Settings
    from harness.campaign.qualify_record import QualificationRecord, manifest_of_qualification
    from harness.cli.unchanged import refuse_changed_rig
    from harness.evidence.keys import load_signing_key
    from harness.rig.rigfile import load_rig

    key = load_signing_key()
    manifest = manifest_of_qualification(folder)
    was = manifest["invocation"]
    rig = load_rig(Path(was["rig"]))
    refuse_changed_rig(manifest, rig)
    settings = Settings(**{**was["settings"], **asked})
    settings.check()
    return _carry_out(rig, settings, QualificationRecord.resume(folder), key, was["faults"])


def _plain(settings: Settings) -> dict[str, object]:
    from dataclasses import asdict

    return asdict(settings)


def _carry_out(
    rig: Rig,
    settings: Settings,
    record: QualificationRecord,
    key: SigningKey | None,
    faults: Sequence[str],
) -> int:
    from harness.campaign.qualify import Qualification
    from harness.cli.main import say_error

    qualification = Qualification(rig, settings, record, faults)
    state = qualification.state()
    click.echo(f"record: {record.folder.path}", err=True)
    click.echo(
        f"{state.read:,} tosses so far; half of all fair dice are declared fair within "
        f"{settings.tolerance:g} by toss {state.fair_after:,}",
        err=True,
    )
    why = ""
    interrupted = False
    try:
        with _Display() as display:
            qualification.run(display.show)
    except KeyboardInterrupt:
        interrupted, why = True, "interrupted"
    broken = qualification.broken
    if broken is not None:
        why = str(broken)
    status = _finish(rig, settings, record, qualification, key, why)
    if broken is not None:
        say_error(str(broken))
    if interrupted or broken is not None:
        say_error(f"go on with `sicbo-hil shaker qualify --resume {record.folder.path}`")
    return _INTERRUPTED if interrupted else status


def _finish(
    rig: Rig,
    settings: Settings,
    record: QualificationRecord,
    qualification: Qualification,
    key: SigningKey | None,
    why: str,
) -> int:
    from harness.campaign.qualify_outcome import outcome_of

    outcome = outcome_of(rig.name, settings, record, qualification)
    record_files = outcome.files(record)
    for finding in outcome.findings:
        record.finding(finding.to_json(), rig.name)
    record.verdict(rig.name, outcome.verdict, outcome.what)
    record.finish(complete=not why, why=why, files=record_files, key=key)
    show(outcome.analysis)
    for rate in outcome.state.rates:
        if rate.count:
            click.echo(
                f"{rate.name}: {rate.count} of {outcome.state.tosses:,} tosses, "
                f"{rate.per_1000:.2f} per 1,000 ({rate.low:.2f} to {rate.high:.2f})"
            )
    if qualification.too_many_missed:
        click.echo("undecided: too many tosses could not be read or told apart by the camera")
    click.echo(f"report: {record.folder.html}")
    return outcome.status if outcome.status is not None else EXIT[outcome.state.decision]


class _Display:
    """How a qualification stands, on standard error: a table on a terminal, else plain lines."""

    def __init__(self) -> None:
        from rich.live import Live

        from harness.cli.console import console

        shown = console(stderr=True)
        self._live = Live(console=shown, refresh_per_second=4) if shown.is_terminal else None
        self._told_at = time.monotonic()

    def __enter__(self) -> _Display:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, state: State) -> None:
        """Show it, if it is time to."""
        if self._live is not None:
            self._live.update(_table(state))
            return
        now = time.monotonic()
        if now - self._told_at >= _LINE_EVERY_S:
            self._told_at = now
            click.echo(_line(state), err=True)


def _line(state: State) -> str:
    low, high = state.intervals[..., 0], state.intervals[..., 1]
    widest = float((high - low).max())
    left = state.hours_left
    bad = ", ".join(f"{rate.count} {rate.name}" for rate in state.rates if rate.count)
    return (
        f"{state.read:,} of at most {state.settings.most:,} tosses"
        + ("" if state.cycle_s is None else f", {state.cycle_s:.2f} s each")
        + f"; faces {float(low.min()):.4f} to {float(high.max()):.4f}, widest interval "
        + f"{widest:.4f} (wanted {2 * state.settings.tolerance:g})"
        + f"; evidence against fair 10^{state.log10_e:.2f}"
        + (f"; {bad}" if bad else "")
        + ("" if left is None else f"; about {left:.2f} h left")
    )


def _table(state: State) -> RenderableType:
    from rich.table import Table

    table = Table(title=_line(state), title_justify="left")
    for head in ("", *(f"face {face}" for face in range(1, 7))):
        table.add_column(head)
    names = row_names(len(state.intervals) == 1)
    for name, row in zip(names, state.intervals, strict=True):
        table.add_row(name, *(f"{low:.4f}-{high:.4f}" for low, high in row))
    return table
